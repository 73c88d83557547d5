"""Dialogues of real tasks whose every reply people rated: the User Satisfaction Simulation collection.

A part of it (Sun et al., SIGIR 2021) is a text file: role, text, dialogue act and ratings from 1 to 5 (one of each
annotator, by commas) with tabs between them, a blank line between dialogues. A rating stands beside what the user said
next: it says how satisfied they seem with the reply before. Tacit does not pass the collection on.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tacit.envs.corpus_files import CorporaError, data_directory

HOME = "https://github.com/sunnweiwei/user-satisfaction-simulation"
FOLDER = "satisfaction"
"""Where the files are looked for within the user's data directory."""
OVERALL = "OVERALL"
"""In place of a text: the rating of the whole dialogue."""
FIELDS = 4


@dataclass(frozen=True)
class RatedReply:
    """A reply and what came of it: the user's words and act before, the reply and its act, their words after."""

    dialogue: int
    request: str
    asked: str
    reply: str
    act: str
    said: str
    rating: float
    """The mean over annotators, held back."""


def find_parts(directory: str | Path | None = None) -> dict[str, Path]:
    """Return the files of a directory by the name of their part, or of the user's data directory where none is given.

    Raise CorporaError, saying where to get them, if there are none.
    """
    folder = data_directory() / FOLDER if directory is None else Path(directory)
    inner = folder / FOLDER
    found = {
        path.stem: path
        for path in sorted((inner if inner.is_dir() else folder).glob("*.txt"))
        if path.is_file()
    }
    if not found:
        raise CorporaError(
            f"the study of satisfaction needs files such as SGD.txt or MWOZ.txt in {folder}, where there are none; "
            f"get them from {HOME} (its folder `dataset`) and name theirs with `--data DIR`"
        )
    return found


def read_places(path: Path) -> tuple[RatedReply, ...]:
    """Return every rated reply of a part; raise CorporaError with the line of what is not in its form.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "small.txt"
    ...     lines = ["USER\\tA table.\\tINFORM\\t3", "SYSTEM\\tWhere?\\tREQUEST\\t", "USER\\tIn Bath.\\tINFORM\\t3,4"]
    ...     _ = path.write_text("\\n".join(lines))
    ...     [place] = read_places(path)
    >>> place.reply, place.said, place.rating
    ('Where?', 'In Bath.', 3.5)
    """
    return tuple(
        RatedReply(number, before[1], before[2], reply[1], reply[2], after[1], _mean(after[3], path))
        for number, dialogue in enumerate(_dialogues(path))
        for before, reply, after in zip(dialogue, dialogue[1:], dialogue[2:], strict=False)
        if (before[0], reply[0], after[0]) == ("USER", "SYSTEM", "USER")
        and OVERALL not in (before[1], after[1])
        and after[3]
        and all((before[1], reply[1], after[1]))
    )


def _dialogues(path: Path) -> Iterator[list[Sequence[str]]]:
    dialogue: list[Sequence[str]] = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        if not line.strip():
            if dialogue:
                yield dialogue
            dialogue = []
            continue
        fields = [field.strip() for field in line.split("\t")]
        if len(fields) != FIELDS or fields[0] not in ("USER", "SYSTEM"):
            raise CorporaError(
                f"a line of {path.name} has role, text, act and ratings with tabs between them, got {line[:60]!r} in "
                f"line {number}; get the file from {HOME}"
            )
        dialogue.append(fields)
    if dialogue:
        yield dialogue


def _mean(ratings: str, path: Path) -> float:
    try:
        numbers = [int(rating) for rating in ratings.split(",") if rating.strip()]
    except ValueError:
        numbers = []
    if not numbers or not all(1 <= number <= 5 for number in numbers):
        raise CorporaError(
            f"ratings in {path.name} are 1 to 5 with commas between them, got {ratings!r}; see {HOME}"
        )
    return sum(numbers) / len(numbers)
