"""Slow, obvious twins of what is computed of classes of labels."""

import math


def em_step_slowly(counts, pi, tables, pooled, n_words, strength=1.0):
    """Return (p(z | u), new pi, new tables) of one round of expectation maximisation, number by number."""
    chances = []
    for said in counts:
        logs = [
            math.log(pi[z]) + sum(n * math.log(tables[z][i]) for i, n in enumerate(said))
            for z in range(len(pi))
        ]
        total = sum(math.exp(each - max(logs)) for each in logs)
        chances.append([math.exp(each - max(logs)) / total for each in logs])
    heard = [u for u, said in enumerate(counts) if sum(said) > 0]
    new_pi, new_tables = [], []
    for z in range(len(pi)):
        new_pi.append((sum(chances[u][z] for u in heard) + 1) / (len(heard) + len(pi)))
        soft = [sum(chances[u][z] * counts[u][i] for u in heard) for i in range(len(pooled))]
        row = []
        for i in range(len(pooled)):
            first = i - i % n_words
            row.append((soft[i] + strength * pooled[i]) / (sum(soft[first : first + n_words]) + strength))
        new_tables.append(row)
    return chances, new_pi, new_tables
