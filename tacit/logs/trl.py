"""Labelled logs as a Hugging Face dataset for TRL: prompts, completions, and what the feedback meant.

- `trl-reward`: columns prompt, completion, reward (float): the decoded reward.
- `trl-kto`: columns prompt, completion, label (bool): TRL's unpaired preference, which `KTOTrainer` takes.

A row is an episode: all before the last action is the prompt, the last action the completion; or a row is a step. The
feedback is in neither: it came after. TRL has two forms. Conversational: the context is the system's message, states
are the user's, actions the assistant's. Text: `context: ...`, then `state: ...` and `action: ...`, line by line.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from tacit.base.files import new_folder
from tacit.logs.episode import LoggedEpisode
from tacit.logs.files import dump_json
from tacit.logs.labels import DECODED, MIN_CONFIDENCE, LabelledRow, why_not
from tacit.logs.record import LogError

TRL_FORMATS = ("trl-reward", "trl-kto")
FORMS = ("auto", "conversational", "text")
LOOKED_AT = 1000
"""Episodes by which the form is chosen."""


@dataclass(frozen=True)
class Export:
    """What is written: which columns, in which form, a row for each step or each episode, and which labels count."""

    format: str = "trl-reward"
    form: str = "auto"
    every_step: bool = False
    threshold: float = 0.5
    """The decoded reward from which an action counts as liked (`trl-kto`)."""
    min_confidence: float = MIN_CONFIDENCE

    def __post_init__(self) -> None:
        if self.format not in TRL_FORMATS:
            raise ValueError(f"the format must be one of {TRL_FORMATS}, got {self.format!r}")
        if self.form not in FORMS:
            raise ValueError(f"the form must be one of {FORMS}, got {self.form!r}")
        if not 0 <= self.min_confidence <= 1:
            raise ValueError(f"the least confidence must lie in [0, 1], got {self.min_confidence}")

    def leaves_out(self, row: LabelledRow | None) -> str | None:
        """Return why an episode with this label is left out, None if it is not."""
        if row is None:
            return "no label"
        if self.format == "trl-kto" and row["reason"] != DECODED:
            return row["reason"]
        return why_not(row, self.min_confidence)


def choose_form(episodes: Iterable[LoggedEpisode]) -> str:
    """Return the form that suits logs: conversational if states and actions are sentences, else text.

    Sentences: in the first 1,000 episodes all are strings, and at least half of either hold a space.

    >>> from tacit.logs.episode import LoggedStep
    >>> choose_form([LoggedEpisode(1, "new", (LoggedStep("Hello there.", "What would you like?"),), "Thanks!")])
    'conversational'
    >>> choose_form([LoggedEpisode(1, "new", (LoggedStep("start", "ask"),), "Thanks!")])
    'text'
    """
    steps = [step for episode in islice(episodes, LOOKED_AT) for step in episode.steps]
    for values in ([step.state for step in steps], [step.action for step in steps]):
        if not all(isinstance(value, str) for value in values):
            return "text"
        if 2 * sum(" " in value for value in values) < len(values) or not values:
            return "text"
    return "conversational"


def dataset_rows(
    labelled: Iterable[tuple[LoggedEpisode, LabelledRow | None]], export: Export, left_out: Counter[str]
) -> Iterator[dict[str, Any]]:
    """Yield the rows of labelled episodes; those whose label does not count are counted by reason.

    >>> from tacit.logs.episode import LoggedStep
    >>> from tacit.logs.labels import Decoded, label_row
    >>> steps = (LoggedStep("start", "ask"), LoggedStep("asked", "book"))
    >>> label = label_row(1, Decoded(1.0, 0.99, "heterogeneous", "decoded"))
    >>> pair = (LoggedEpisode(1, "new", steps, "lovely"), label)
    >>> [row] = dataset_rows([pair], Export("trl-kto", "text"), Counter())
    >>> row["prompt"], row["completion"], row["label"]
    ('context: new\\nstate: start\\naction: ask\\nstate: asked\\naction:', ' book', True)
    """
    write = chat_row if export.form == "conversational" else text_row
    for episode, label in labelled:
        reason = export.leaves_out(label)
        if reason is not None:
            left_out[reason] += 1
            continue
        reward = label["decoded_reward"] if label is not None else None
        assert reward is not None
        if export.format == "trl-kto":
            meaning: dict[str, Any] = {"label": reward >= export.threshold}
        else:
            meaning = {"reward": float(reward)}
        n = len(episode.steps)
        for step in range(n) if export.every_step else (n - 1,):
            yield write(episode, step) | meaning


def chat_row(episode: LoggedEpisode, step: int) -> dict[str, Any]:
    """Return the prompt and the completion of a step as messages."""
    messages = [{"role": "system", "content": as_text(episode.context)}]
    for seen in episode.steps[: step + 1]:
        messages.append({"role": "user", "content": as_text(seen.state)})
        messages.append({"role": "assistant", "content": as_text(seen.action)})
    return {"prompt": messages[:-1], "completion": messages[-1:]}


def text_row(episode: LoggedEpisode, step: int) -> dict[str, Any]:
    """Return the prompt and the completion of a step as text; the completion begins with its space, as TRL's do."""
    lines = [f"context: {as_text(episode.context)}"]
    for seen in episode.steps[: step + 1]:
        lines += [f"state: {as_text(seen.state)}", f"action: {as_text(seen.action)}"]
    return {"prompt": "\n".join([*lines[:-1], "action:"]), "completion": lines[-1].removeprefix("action:")}


def as_text(value: Any) -> str:
    """Return a context, state or action as text: a string as it is, anything else as JSON."""
    return value if isinstance(value, str) else dump_json(value).decode()


def write_dataset(rows: Iterable[dict[str, Any]], export: Export, out: str | os.PathLike[str]) -> int:
    """Write rows to a directory that `datasets.load_from_disk` reads, whole or not at all; return how many.

    Rows go through files beside `out`, so memory holds a batch of them.
    """
    out = check_directory(out)
    datasets = datasets_module()
    from datasets.arrow_writer import ArrowWriter  # type: ignore[import-untyped]

    with new_folder(out) as made:
        file = made.with_name("rows.arrow")  # beside it, and gone with what was around both
        with ArrowWriter(path=str(file), features=_columns(datasets, export)) as writer:
            for row in rows:
                writer.write(row)
            n = int(writer.finalize()[0])
        if not n:
            raise LogError(
                "a dataset must have rows, got none: no label counts; lower --min-confidence, or look at the labels"
            )
        with _quiet(datasets):
            datasets.Dataset.from_file(str(file)).save_to_disk(str(made))
    return n


def check_directory(out: str | os.PathLike[str]) -> Path:
    """Return the directory of a dataset; raise `LogError` if something is there already."""
    out = Path(out)
    if out.is_file() or (out.is_dir() and any(out.iterdir())):
        raise LogError(
            f"a dataset must go to a new directory, {str(out)!r} is there; remove it or give another name"
        )
    return out


def datasets_module() -> Any:
    """Return datasets, or say what to install."""
    try:
        import datasets  # type: ignore[import-untyped]
    except ImportError:
        raise LogError("exports for TRL need the package datasets; install tacit[trl]") from None
    return datasets


def _columns(datasets: Any, export: Export) -> Any:
    text = datasets.Value("string")
    part = [{"role": text, "content": text}] if export.form == "conversational" else text
    meaning = (
        {"label": datasets.Value("bool")}
        if export.format == "trl-kto"
        else {"reward": datasets.Value("float64")}
    )
    return datasets.Features({"prompt": part, "completion": part, **meaning})


@contextmanager
def _quiet(datasets: Any) -> Iterator[None]:
    """Keep the progress bars of datasets away: the command has its own."""
    shown = datasets.is_progress_bar_enabled()
    datasets.disable_progress_bars()
    try:
        yield
    finally:
        if shown:
            datasets.enable_progress_bars()
