"""Several turns: the first choice decides what can be reached later, and each later one what was just said.

Somebody comes with an errand. First they are led to a department: in a wrong one nothing will please them. (In four
turns: then a counter, of which only one can help.) There they say what they are unsure about; asked about just that,
they tell their wish, which four offers differ in. Asked about anything else they say nothing of use, and one of the
four offers pleases by luck.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from text_world.halves import draw_one, draw_several, half_of
from text_world.openings import OPENINGS
from text_world.remarks import Manners

DEPARTMENTS = """bicycle workshop|chain|My two wheels make an ugly noise.|I fell off on my ride and now it rattles.
kitchen studio|table|We eat standing up at home, it has to end.|Our family meals need a proper place.
garden centre|bench|I want to sit among the roses in summer.|There is an empty corner under the apple tree.
music shop|case|My violin travels without any protection.|The trumpet gets dents on the train.
sports store|jacket|I freeze on every run in winter.|The wind goes right through me on the slopes.
toy shop|puzzle|My niece turns seven and loves to fit things together.|The twins need something quiet for rainy days.
book binder|album|Our wedding pictures lie loose in a box.|Grandfather's letters should be kept together.
optician|frame|I cannot read the signs on the road any more.|I sat on my glasses this morning.
tailor|coat|I have nothing to wear to the opera.|My sleeves are too short since I grew.
pet shop|basket|The puppy sleeps on the cold floor.|Our cat has no place of its own.""".splitlines()
"""Each a department, what it sells, and two errands that lead there."""
COUNTERS = """repairs|It broke yesterday.|It used to work until last week.
rentals|I need it for one weekend only.|I do not want to own it, just borrow it.
sales|I want a new one of my own.|I have never had one.
returns|I bought it here and do not want it any more.|It was a gift that I cannot use.""".splitlines()
"""Each a counter and two ways to say that it is the right one."""
ASPECTS = """colour|Which colour do you prefer?|I am torn between shades.|It looks grey.|green,red,blue,yellow,black
size|How large should it be?|Is mine a big or a small one?|Space is a problem.|tiny,small,middling,large,huge
price|What may it cost?|My purse is thin.|I must not ruin myself.|ten-euro,fifty-euro,ninety-euro,thousand-euro,free
material|What should it be made of?|Some surfaces itch.|It has to feel right.|wooden,leather,steel,cotton,glass
delivery|When do you need it?|I cannot wait long.|There is a date to keep.|same-day,overnight,weekly,monthly,yearly
origin|From where should it come?|I care who makes things.|Which maker?|Danish,Italian,Japanese,Turkish,Thai
""".strip().splitlines()
"""Each an aspect, the question about it, two ways to be unsure about it, and five wishes."""
TELLS = (
    "Make it the {} one.",
    "{} would be lovely.",
    "Then {}, please.",
    "{}, I think.",
    "Rather {}.",
    "I vote for {}.",
)
PUZZLED = (
    "Hm, is this the right place?",
    "I am not sure what I am doing here.",
    "Well, if you say so.",
    "You are sure that this is where I belong?",
)
VAGUE = ("I could not say.", "Never thought about that.", "No idea, really.", "That does not matter to me.")
LEADS = (
    "Please come with me to the {}.",
    "I will connect you with the {}.",
    "The {} is over there.",
    "You want the {}.",
)
OFFERS = (
    "Here is the {1} {0}.",
    "What about a {1} {0}?",
    "We have one {1} {0} left.",
    "I can offer the {1} {0}.",
)


@dataclass(frozen=True)
class Sentences:
    """What is said in a half, and by whom."""

    openings: tuple[str, ...]
    tells: tuple[str, ...]
    puzzled: tuple[str, ...]
    vague: tuple[str, ...]
    lead: str
    offer: str


class Errand:
    """A visit of several turns; `path` are the right ways, `offers` what stands on offer at each turn."""

    def __init__(self, world: Errands, chance: np.random.Generator) -> None:
        self._world, self._chance, words = world, chance, world.sentences
        self.ironic = world.manners is not None and bool(chance.random() < 0.5)
        self.profile = world.manners.describe(chance, self.ironic) if world.manners is not None else ""
        self._departments = draw_several(chance, world.departments, 2)
        self._counters = draw_several(chance, world.counters, 2)
        self._aspects = draw_several(chance, world.aspects, 3)
        self._right = [int(chance.integers(n)) for n in (2, 2, 3)]
        aspect = self._aspects[self._right[2]]
        self._wishes = [str(wish) for wish in chance.permutation(aspect[4].split(","))[:4]]
        self._wish = int(chance.integers(4))
        errand = draw_one(chance, self._departments[self._right[0]][2:])
        self.request = self.heard = f"{draw_one(chance, words.openings)} {errand}".strip()
        self._turns = (
            ["department", "counter", "aspect", "wish"]
            if world.horizon == 4
            else ["department", "aspect", "wish"]
        )
        self._good, self._thing = True, ""
        self._turn = 0
        self.offer = self._offer()

    def step(self, choice: int) -> bool:
        """Take a choice; return whether it was the last."""
        kind, words = self._turns[self._turn], self._world.sentences
        if kind == "department":
            self._thing = self._departments[choice][1]
            self._good = choice == self._right[0]
            following = self._counters[self._right[1]] if self._world.horizon == 4 else None
            told = following[1:3] if following else self._aspects[self._right[2]][2:4]
            self.heard = draw_one(self._chance, told if self._good else words.puzzled)
        elif kind == "counter":
            self._good = self._good and choice == self._right[1]
            self.heard = draw_one(
                self._chance, self._aspects[self._right[2]][2:4] if self._good else words.puzzled
            )
        elif kind == "aspect":
            tells = self._good and choice == self._right[2]
            wish = draw_one(self._chance, words.tells).format(self._wishes[self._wish])
            self.heard = wish[0].upper() + wish[1:] if tells else draw_one(self._chance, words.vague)
        self._turn += 1
        if self._turn == len(self._turns):
            return True
        self.offer = self._offer()
        return False

    def rewards(self) -> tuple[int, ...]:
        """Return the reward of each choice on offer, if this is the last turn."""
        return tuple(int(self._good and n == self._wish) for n in range(len(self.offer)))

    def _offer(self) -> tuple[str, ...]:
        kind, words = self._turns[self._turn], self._world.sentences
        if kind == "department":
            return tuple(words.lead.format(department[0]) for department in self._departments)
        if kind == "counter":
            return tuple(words.lead.format(f"{counter[0]} counter") for counter in self._counters)
        if kind == "aspect":
            return tuple(aspect[1] for aspect in self._aspects)
        return tuple(words.offer.format(self._thing, wish) for wish in self._wishes)


@dataclass(frozen=True)
class Errands:
    """The world of errands, three or four turns long."""

    departments: tuple[Sequence[str], ...]
    counters: tuple[Sequence[str], ...]
    aspects: tuple[Sequence[str], ...]
    sentences: Sentences
    horizon: int
    manners: Manners | None = None

    @property
    def uniform(self) -> float:
        """Return what uniform play earns: the ways that must be right, and one offer of four."""
        return 1 / 8 if self.horizon == 3 else 1 / 16

    def draw_visit(self, chance: np.random.Generator) -> Errand:
        """Return somebody who comes."""
        return Errand(self, chance)


def draw_errands(
    chance: np.random.Generator, judging: bool, horizon: int, manners: Manners | None
) -> Errands:
    """Return a world of errands."""
    words = Sentences(
        half_of(OPENINGS, judging),
        half_of(TELLS, judging),
        half_of(PUZZLED, judging),
        half_of(VAGUE, judging),
        draw_one(chance, half_of(LEADS, judging)),
        draw_one(chance, half_of(OFFERS, judging)),
    )
    departments, counters, aspects = (
        tuple(line.split("|") for line in half_of(rows, judging)) for rows in (DEPARTMENTS, COUNTERS, ASPECTS)
    )
    return Errands(departments, counters, aspects, words, horizon, manners)
