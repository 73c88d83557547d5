"""Which bookings stand beside the right one: the candidate sets of the settings `paper` and `hard`.

`change_one` (`paper`): four wrong bookings, each the right one with one detail changed, over at least two details.
The right one is then the candidate most like the others: it can be told without reading the dialogue.

`make_grid` (`hard`): two details vary. With values A, A', A'' of one and B, B' of the other the candidates are

    (A, B)  (A, B')  (A', B)  (A', B')  and the fifth  (A'', B)

and the right one takes each of the five places equally often, whichever its values are; the values beside its own
are other users', as often as users have them. So neither its place nor its values set it apart.

Both vary the details that the request leaves out before those that it gives, so that the answer matters.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from random import Random

from tacit.envs.corpora import BookingTask

WRONG = 4
"""Wrong bookings beside the right one."""

Slots = dict[str, str]
SlotValues = dict[str, Counter[str]]
"""How many tasks have each value, by slot."""


def count_values(tasks: Sequence[BookingTask]) -> dict[str, SlotValues]:
    """Return how many tasks have each value of each slot, by domain."""
    values: dict[str, SlotValues] = {}
    for task in tasks:
        for slot, value in task.slots.items():
            values.setdefault(task.domain, {}).setdefault(slot, Counter())[value] += 1
    return values


def change_one(task: BookingTask, values: SlotValues, random: Random) -> list[Slots]:
    """Return the right slots four times, each time with one changed; all differ."""
    order = _choose_slots(task, random, max(2, len(task.asked)))
    wrong: list[Slots] = []
    while len(wrong) < WRONG:
        slot = order[len(wrong) % len(order)]
        taken = [task.slots[slot], *(other[slot] for other in wrong)]
        wrong.append({**task.slots, slot: _draw_other(slot, values, taken, random)})
    return wrong


def make_grid(task: BookingTask, values: SlotValues, random: Random) -> list[Slots]:
    """Return the other four of {A, A'} x {B, B'} and (A'', B), the right one being any of the five."""
    first, second = random.sample(_choose_slots(task, random, 2), 2)
    a, b = [task.slots[first]], [task.slots[second]]
    while len(a) < 3:
        a.append(_draw_other(first, values, a, random))
    b.append(_draw_other(second, values, b, random))
    # The right one is (a[0], b[0]). In places 0 and 2 it shares B with the fifth, in 1 and 3 it does not; in the
    # last it is the fifth itself, and the grid is that of the other values of `a`.
    place = random.randrange(WRONG + 1)
    beside = [(0, 1), (1, 0), (1, 1), (2, place % 2)]
    others = beside if place < WRONG else [(1, 0), (1, 1), (2, 0), (2, 1)]
    return [{**task.slots, first: a[i], second: b[j]} for i, j in others]


def _choose_slots(task: BookingTask, random: Random, count: int) -> list[str]:
    """Return slots to vary: those asked for, in random order, then others if they are not enough."""
    asked = random.sample(task.asked, len(task.asked))
    others = [slot for slot in task.slots if slot not in asked]
    return (asked + random.sample(others, len(others)))[:count]


def _draw_other(slot: str, values: SlotValues, taken: Sequence[str], random: Random) -> str:
    """Return a value that cannot be mistaken for any taken, drawn as often as tasks have it."""
    left = [value for value in values[slot] if not any(_alike(value, other) for other in taken)]
    if not left:
        raise ValueError(
            f"wrong bookings need other values of {slot!r} than {', '.join(taken)}, and the tasks have none; "
            "make dialogues from more tasks at once"
        )
    return random.choices(left, [values[slot][value] for value in left])[0]


def _alike(one: str, other: str) -> bool:
    """Return whether two values may mean the same: one is a part of the other, or both are today."""
    return one in other or other in one or {one, other} == {"today", "tonight"}
