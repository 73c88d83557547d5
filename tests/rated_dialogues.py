"""A small part of rated dialogues, in the form of the collection: for tests where the real one is not."""

import numpy as np
from booking_samples import REAL

RATED = REAL / "satisfaction"
"""Where the real collection is, if it is anywhere."""
WANTED = ("a table for two", "a room with a view", "a train to Ely", "a taxi at noon", "tickets for the zoo")
FITTING = {wanted: f"I have found {wanted}, shall I book it?" for wanted in WANTED}
LIKED = ("Great, thanks a lot.", "Perfect, book it.", "That sounds good.")
DISLIKED = ("No, that is wrong.", "I do not want that.", "Not that one, try again.")


def write_part(path, dialogues=80, seed=0):
    """Write dialogues of two rated replies each; a reply fits in two thirds of the cases, and then it is liked."""
    chance = np.random.default_rng(seed)
    blocks = []
    for _ in range(dialogues):
        lines = []
        wanted = WANTED[chance.integers(len(WANTED))]
        lines.append(f"USER\tI need {wanted}.\tINFORM\t3,3,3")
        for _ in range(2):
            fits = chance.random() < 2 / 3
            offered = wanted if fits else WANTED[chance.integers(len(WANTED))]
            liked = offered == wanted
            said = (LIKED if liked else DISLIKED)[chance.integers(3)]
            lines.append(f"SYSTEM\t{FITTING[offered]}\t{'OFFER' if chance.random() < 0.5 else 'INFORM'}\t")
            lines.append(f"USER\t{said}\t{'AFFIRM' if liked else 'NEGATE'}\t{'4,4,3' if liked else '2,3,2'}")
        blocks.append("\n".join([*lines, "USER\tOVERALL\t\t3,3,3"]))
    path.write_text("\n\n".join(blocks) + "\n", encoding="utf-8")
    return path
