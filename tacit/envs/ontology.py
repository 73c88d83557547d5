"""Booking tasks of our own making, in the shape of the corpora's, so that everything runs with no data at all.

Places, cuisines and times are common knowledge; films and theatres are invented. Requests are worded by the
grammars below: an opening and the details that the user gives at once, in any order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random

from tacit.base.randomness import check_seed
from tacit.envs.corpora import SLOTS, BookingTask
from tacit.envs.grammar import draw_wording
from tacit.envs.phrasing import say

SIZE = 3768
"""Tasks that stand in for the corpora where they are not there: as many as the corpora have."""

RESTAURANTS = 0.8
"""The part of the tasks that are about restaurants, as in the corpora."""

VALUES: Mapping[str, Sequence[str]] = {
    "cuisine": (
        "italian",
        "french",
        "indian",
        "thai",
        "greek",
        "mexican",
        "japanese",
        "korean",
        "spanish",
        "turkish",
        "lebanese",
        "vietnamese",
        "ethiopian",
        "peruvian",
        "moroccan",
        "polish",
    ),
    "city": (
        "lisbon",
        "vienna",
        "oslo",
        "dublin",
        "prague",
        "athens",
        "helsinki",
        "warsaw",
        "kyoto",
        "boston",
        "toronto",
        "lima",
        "cairo",
        "nairobi",
        "hanoi",
        "brussels",
    ),
    "party": (
        "two",
        "three",
        "four",
        "five",
        "six",
        "seven",
        "eight",
    ),
    "price": ("cheap", "moderate", "expensive"),
    "movie": (
        "the paper lighthouse",
        "seven quiet rivers",
        "midnight at the bakery",
        "a crown of nettles",
        "the last tram home",
        "orbit of sparrows",
        "copper and rain",
        "the clockmaker's niece",
        "no map for winter",
        "harbour lights",
        "the silent carousel",
        "dust on the piano",
        "a letter to mars",
        "the glass orchard",
        "runaway comet",
        "brothers of the tide",
        "the velvet hour",
        "ghosts of platform nine",
        "sugar and smoke",
        "the honest forger",
        "under borrowed stars",
        "the beekeeper's code",
        "wild geese calling",
        "a dance for strangers",
        "the iron violin",
        "paper tigers",
        "the lemon season",
        "echo valley",
        "the accidental mayor",
        "salt of the north",
    ),
    "theatre": (
        "the majestic",
        "odessa hall",
        "riverside screens",
        "the blue lantern",
        "palace nine",
        "old mill cinema",
        "the corner picture house",
        "starlight drive-in",
        "northgate cinemas",
        "the golden reel",
        "union square theater",
        "harlequin",
        "the velvet curtain",
        "park avenue screens",
        "silver moon",
        "the foundry",
    ),
    "date": (
        "tonight",
        "tomorrow",
        "monday",
        "tuesday",
        "wednesday",
        "thursday",
        "friday",
        "saturday",
        "sunday",
        "next tuesday",
        "next friday",
    ),
    "time": tuple(
        f"{time} pm"
        for time in ("1:00", "2:30", "4:15", "5:00", "6:00", "6:45", "7:00", "7:30", "8:15", "9:00", "9:40")
    ),
    "tickets": tuple("123456"),
}
"""The values of every slot."""

OPENINGS = {
    "restaurant": (
        "[i'd like|i want|we want|i need] [to book|to reserve] a table",
        "[can|could] you [find|get|book] [me|us] a [table|restaurant]",
        "[hello, |hi, |]we [need|are looking for] a restaurant",
        "please [book|reserve|arrange] a [table|dinner]",
        "[i am|we are] [looking for|trying to find] a place to [eat|have dinner]",
        "help me [find|choose] a restaurant",
        "a [table|dinner reservation][, please,|]",
        "[is there|do you have] a free table",
    ),
    "movie": (
        "[i'd like|i want|we want|i need] [to buy|to get|to book] {}",
        "[can|could] you [buy|get|book] [me|us] {}",
        "[hello, |hi, |]we [need|are looking for] {}",
        "please [book|buy|order] {}",
        "[purchase|get me|order] {}",
        "{}[, please,|]",
        "[i am|we are] after {}",
        "help me [buy|get] {}",
    ),
}
"""How a request begins; `{}` is the tickets."""

GIVEN = {
    "cuisine": "[ with {} food| serving {} dishes| with {} cuisine]",
    "city": "[ in {}| somewhere in {}]",
    "party": "[ for {}| for {} people]",
    "price": "[ in the {} price range| with {} prices| at {} prices]",
    "movie": "[ for {}| to see {}| for the movie {}]",
    "theatre": "[ at {}| playing at {}]",
    "date": " {}",
    "time": "[ at {}| for the {} show]",
}
"""How a request gives a detail."""


def generate_tasks(n: int, seed: int) -> tuple[BookingTask, ...]:
    """Return `n` tasks of our own; each follows from the seed and its number alone.

    >>> task = generate_tasks(3, seed=0)[1]
    >>> task.id, set(task.given) < set(task.slots)
    ('generated-2', True)
    """
    if isinstance(n, bool) or not isinstance(n, int) or n < 1:
        raise ValueError(f"the number of tasks must be a whole number above 0, got {n!r}")
    check_seed(seed)
    return tuple(_generate(seed, i) for i in range(1, n + 1))


def _generate(seed: int, number: int) -> BookingTask:
    random = Random(f"{seed}/{number}")
    domain = "restaurant" if random.random() < RESTAURANTS else "movie"
    slots = {slot: random.choice(VALUES[slot]) for slot in SLOTS[domain]}
    # Always something is left to ask for.
    given = set(random.sample(SLOTS[domain], random.randrange(len(slots))))
    return BookingTask(
        domain,
        f"generated-{number}",
        _request(domain, slots, given, random),
        slots,
        tuple(slot for slot in slots if slot in given),
    )


def _request(domain: str, slots: Mapping[str, str], given: set[str], random: Random) -> str:
    opening = draw_wording(random.choice(OPENINGS[domain]), random)
    tickets = say("tickets", slots["tickets"]) if "tickets" in given else "[some |]movie tickets"
    details = sorted(given - {"tickets"})
    pieces = [
        draw_wording(GIVEN[slot], random).format(say(slot, slots[slot]))
        for slot in random.sample(details, len(details))
    ]
    request = opening.format(draw_wording(tickets, random)) + "".join(pieces)
    return request.rstrip(",").lower()
