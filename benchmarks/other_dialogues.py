"""Dialogues that Tacit was not designed on: hotels and trains, other wordings, remarks as people really type them.

Writes a file for `tacit reproduce booking --dialogues FILE`, which must learn from it without a change of settings:

    python benchmarks/other_dialogues.py hotels.jsonl --count 1500
    tacit reproduce booking --dialogues hotels.jsonl
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from tacit.envs.dialogues import Booking, Dialogue, Question, write_dialogues

TOWNS = [
    "Lisbon",
    "Oslo",
    "Krakow",
    "Dublin",
    "Ghent",
    "Porto",
    "Turin",
    "Leipzig",
    "Bergen",
    "Malaga",
    "Split",
    "Graz",
]
DETAILS = {
    "hotel": {
        "town": TOWNS,
        "nights": ["one night", "two nights", "three nights", "a whole week", "five nights"],
        "room": [
            "a single room",
            "a twin room",
            "a double with a view",
            "a family suite",
            "a bunk in the dorm",
        ],
        "meal": ["breakfast included", "half board", "no meals", "just a packed lunch"],
    },
    "train": {
        "town": TOWNS,
        "leaving": ["on the first train", "around noon", "after work", "on the night train", "mid-afternoon"],
        "class": ["in first class", "in second class", "in the quiet coach", "with a bike space"],
        "ticket": ["a return", "a one-way", "a rail pass day", "a group fare"],
    },
}
OFFERS = {
    "hotel": [
        "Sorted: {room} in {town}, {nights}, {meal}.",
        "I've put you down for {nights} in {town} ({room}, {meal}).",
        "{town}, {nights}, {room}, {meal}. Confirmed!",
    ],
    "train": [
        "That's {ticket} to {town} {leaving}, {class}.",
        "Ticket issued: {town}, {leaving}, {class}, {ticket}.",
        "You're going to {town} {leaving} {class}, with {ticket}.",
    ],
}
OPENINGS = {
    "hotel": [
        "need somewhere to stay",
        "can u find me a hotel?",
        "Hi there, looking for a place to sleep next month",
    ],
    "train": ["train tickets pls", "How do I get a train?", "hey, want to travel by rail"],
}
USEFUL = [
    "Sure! Tell me the destination and everything else I should know for the booking.",
    "Happy to. Which town, and what are your wishes for the rest of it?",
    "Right, where to, and how would you like it exactly?",
]
USELESS = [
    ("Do you collect loyalty points?", "not really"),
    ("Have you travelled with us before?", "once i think, years ago"),
    ("Did you see our summer brochure?", "nope"),
    ("How did you hear about us?", "a friend told me"),
    ("Would you like our newsletter?", "no thanks, enough of those"),
    ("Is the app working well for you?", "it's ok"),
]
ANSWERS = [
    "{}, {}, {} and {}.",
    "so: {} / {} / {} / {}",
    "{}... {}, {}, oh and {}",
    "I'd like {}, {}, {}, {} please",
]
PLEASED = """cheers mate, spot on
yesss thats the one
lol you actually got it, nice one
perfect ty!!
ok good. thats what i asked for
brilliant, saved me an hour
Thank you kindly, precisely as requested.
sweet, all good
oh wow that was easy. thanks :)
yup, exactly that
great stuff, will use again
happy days, sorted
couldn't have done it better myself
thx, looks right to me
You've been very helpful, much appreciated.
love it, exactly what we wanted for the kids
awesome. done.
that'll do nicely, thank you
10/10
my wife will be thrilled, thank you so much""".splitlines()
ANNOYED = """nah thats not it
ugh, no. did you even read what i wrote
this is wrong, try again
sorry but that isn't what I asked for
what?? no
useless bot
no no no. not even close
you got it wrong again smh
I'm afraid this is not at all what I requested.
terrible, i give up
that makes no sense
wtf is this
seriously? wrong one
not what we need, cancel it pls
meh. wrong.
how hard can it be... still wrong
never using this again
I said something else entirely
come on, listen to me
hm no, that would ruin our trip""".splitlines()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--count", type=int, default=1500)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    chance = np.random.default_rng(options.seed)
    write_dialogues(options.file, [make(n, chance) for n in range(options.count)])
    print(f"{options.count} dialogues in {options.file}")


def make(number: int, chance: np.random.Generator) -> Dialogue:
    """Return one dialogue: five offers in one wording, no two alike, the right one at a random place."""
    domain = str(chance.choice(list(DETAILS)))
    details = {slot: str(chance.choice(values)) for slot, values in DETAILS[domain].items()}
    offers, wording = [details], str(chance.choice(OFFERS[domain]))
    while len(offers) < 5:
        changed = {
            slot: str(chance.choice(DETAILS[domain][slot])) for slot in chance.permutation(list(details))[:2]
        }
        if details | changed not in offers:
            offers.append(details | changed)
    answer = str(chance.choice(ANSWERS)).format(*chance.permutation(list(details.values())))
    useless = [USELESS[i] for i in chance.permutation(len(USELESS))[:2]]
    questions = [
        Question(str(chance.choice(USEFUL)), answer, True),
        *(Question(asked, said, False) for asked, said in useless),
    ]
    return Dialogue(
        id=f"{domain}-{number}",
        request=str(chance.choice(OPENINGS[domain])),
        questions=tuple(questions[i] for i in chance.permutation(3)),
        bookings=tuple(
            Booking(wording.format(**offers[i]), offers[i] is details) for i in chance.permutation(5)
        ),
        positive=tuple(str(remark) for remark in chance.choice(PLEASED, 4, replace=False)),
        negative=tuple(str(remark) for remark in chance.choice(ANNOYED, 4, replace=False)),
    )


if __name__ == "__main__":
    main()
