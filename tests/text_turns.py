"""Conversations of two turns of which the first decides whether anything pleases."""

import numpy as np

from tacit.text.conversation import Choice, Conversation, Exchange, Reaction, TextContext

WANTED = ("lamps", "boats", "shoes", "cakes")
PLACES = ("attic", "pier", "cobbler", "oven")
DOORS = {wanted: f"Let us go to the {place}" for wanted, place in zip(WANTED, PLACES, strict=True)}
ENDS = ("Take the first", "Take the second", "Take the third")


def draw(n, seed=0, meant=True):
    """Return reactions of two turns: the first decides whether anything pleases, the last never matters."""
    chance = np.random.default_rng(seed)
    reactions = []
    for _ in range(n):
        wanted = WANTED[chance.integers(4)]
        doors = tuple(DOORS[WANTED[k]] for k in chance.permutation(4)[:3])
        first = int(chance.integers(3))
        right = doors[first] == DOORS[wanted] if meant else chance.random() < 0.25
        begun = Conversation(TextContext(f"I want {wanted}"))
        talk = begun._replace(exchanges=(Exchange(doors[first], "And now?"),))
        said = ("good", "great", "lovely") if right else ("bad", "awful", "wrong")
        last = Choice(talk, ENDS, int(chance.integers(3)), 1 / 3)
        reactions.append(Reaction(last, str(chance.choice(said)), (Choice(begun, doors, first, 1 / 3),)))
    return reactions
