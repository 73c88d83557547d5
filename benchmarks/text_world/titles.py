"""Recommend: who liked one title likes another of its kind; neither title nor request says of which kind it is."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from text_world.halves import draw_one, draw_some, half_of
from text_world.openings import OPENINGS

KINDS = (
    "Dune|Neuromancer|Foundation|Solaris|Hyperion|Blade Runner|The Martian|Interstellar|Snow Crash|The Matrix",
    "The Hobbit|A Wizard of Earthsea|The Name of the Wind|Willow|Eragon|Stardust|The Witcher|Narnia|Mistborn|Elric",
    "The Big Sleep|Gone Girl|Knives Out|Chinatown|The Maltese Falcon|Fargo|In Cold Blood|Zodiac|Rebus|Columbo",
    "Pride and Prejudice|Notting Hill|Outlander|The Notebook|Jane Eyre|Amelie|Emma|Titanic|Persuasion|Casablanca",
    "Dracula|The Shining|Hereditary|It|Alien|Psycho|The Exorcist|Carrie|Nosferatu|The Ring",
    "Three Men in a Boat|Airplane!|Catch-22|Monty Python|The Naked Gun|Decline and Fall|Some Like It Hot|Jeeves|"
    "Blackadder|Duck Soup",
    "All Quiet on the Western Front|Dunkirk|The Thin Red Line|1917|Das Boot|Platoon|War Horse|Saving Private Ryan|"
    "Stalingrad|Paths of Glory",
    "Pippi Longstocking|Matilda|Paddington|The Gruffalo|Moomin|Winnie-the-Pooh|Heidi|Toy Story|Momo|Frozen",
)
"""Titles by what they have in common."""

LIKED = """I liked {}.
{} was a delight.
Just finished {} and want more.
I keep going back to {}.
My favourite is {}.
What comes after {}?
I could not stop once I had begun {}.
{} kept me up all night.
Give me something in the spirit of {}.
Last week it was {}, and now?
Everybody talks of {}, and rightly so.
I enjoyed {} a great deal.""".splitlines()
OFFERS = ("Try {}.", "Have a look at {}.", "How about {}?", "Next: {}.")


@dataclass(frozen=True)
class Taste:
    """Titles by kind, how people tell what they liked, and how one is offered."""

    kinds: tuple[tuple[str, ...], ...]
    openings: tuple[str, ...]
    liked: tuple[str, ...]
    offer: str

    def draw(self, chance: np.random.Generator) -> tuple[str, str, str, tuple[str, ...]]:
        """Return the request, no profile, another title of the kind, and titles of the other kinds."""
        kind = int(chance.integers(len(self.kinds)))
        titles = self.kinds[kind]
        known, right = (titles[int(n)] for n in chance.permutation(len(titles))[:2])
        others = tuple(self.offer.format(t) for k, ts in enumerate(self.kinds) if k != kind for t in ts)
        request = f"{draw_one(chance, self.openings)} {draw_one(chance, self.liked).format(known)}".strip()
        return request, "", self.offer.format(right), others


def draw_taste(chance: np.random.Generator, judging: bool) -> Taste:
    """Return kinds of titles, six to eight of them with five titles each."""
    kinds = draw_some(chance, KINDS, 6)
    return Taste(
        kinds=tuple(half_of(kind.split("|"), judging) for kind in kinds),
        openings=half_of(OPENINGS, judging),
        liked=half_of(LIKED, judging),
        offer=draw_one(chance, half_of(OFFERS, judging)),
    )
