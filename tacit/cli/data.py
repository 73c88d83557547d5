"""The commands of `tacit data`: download the corpora, write dialogue files."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, MofNCompleteColumn, Progress, TaskID, TextColumn

from tacit.cli.terminal import guarded, say

if TYPE_CHECKING:
    from tacit.envs.candidates import SlotValues
    from tacit.envs.corpora import BookingTask
    from tacit.envs.dialogues import Dialogue
    from tacit.envs.writers import Writer

CACHE = ".written.jsonl"
"""Added to a dialogue file's name: what a language model has written so far."""

data_app = typer.Typer(
    help="Get the booking corpora, write dialogue files.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


@data_app.command()
def booking(
    out: Annotated[
        Path | None, typer.Option(help="Directory for the corpora.  [default: the user's data directory]")
    ] = None,
) -> None:
    """Download Dialog bAbI (task 1) and Sim-M from their original homes, and check them.

    What has arrived is kept: interrupted, the same command goes on where it stopped.
    """
    from tacit.envs.corpora import read_corpora
    from tacit.envs.corpus_files import data_directory

    console, directory = Console(), out or data_directory()
    with guarded(console, "What has arrived is kept: give the same command to go on."):
        downloaded = _download(directory, console)
        tasks = len(read_corpora(directory).tasks)
        hint = "" if out is None else f" Use it with --data {directory}, or set TACIT_DATA."
        say(console, f"{downloaded} files downloaded, {tasks:,} dialogues in {directory}.{hint}")


@data_app.command()
def dialogues(
    out: Annotated[Path, typer.Option(help="The dialogue file to write, one JSON object a line.")],
    setting: Annotated[str, typer.Option(help="paper, hard or personal.")] = "hard",
    data: Annotated[
        Path | None,
        typer.Option(help="Directory of the corpora.  [default: the user's, else generated tasks]"),
    ] = None,
    seed: Annotated[int, typer.Option(help="All chance follows from it.")] = 0,
    count: Annotated[int | None, typer.Option(help="Dialogues, drawn at random.  [default: all]")] = None,
    part: Annotated[str, typer.Option(help="Wordings: seen, or held_out.")] = "seen",
    endpoint: Annotated[
        str | None,
        typer.Option(help="Let a model behind an OpenAI-compatible URL write (key: TACIT_LLM_KEY)."),
    ] = None,
    model: Annotated[str | None, typer.Option(help="The name of the endpoint's model.")] = None,
    local_model: Annotated[
        str | None, typer.Option(help="Let a local transformers model write; smollm2 is bundled.")
    ] = None,
    workers: Annotated[int, typer.Option(help="Dialogues that an endpoint writes at once.")] = 4,
) -> None:
    """Write a dialogue file, by our grammar or by a language model.

    What a model has written is kept beside the file: interrupted, the same command goes on where it stopped.
    """
    console = Console()
    with guarded(console, "What was written is kept: give the same command to go on."):
        _check_place(out, data)
        order = _order(out, setting, data, seed, count, part)
        if endpoint or model or local_model:
            writer = _writer(endpoint, model, local_model)
            made = _reword(order, writer, 1 if local_model else workers, console)
        else:
            made = _make(order)
        _write(out, made)
        say(console, f"{len(made):,} dialogues ({setting}, tasks: {order.source}) in {out}")


def _check_place(out: Path, data: Path | None) -> None:
    """Raise if a dialogue file would replace one of the corpora."""
    from tacit.base.files import check_distinct
    from tacit.envs.corpus_files import data_directory

    corpora = [file for file in (data or data_directory()).rglob("*") if file.is_file()]
    check_distinct([out, out.with_name(out.name + CACHE)], corpora)


class _Order(NamedTuple):
    """What dialogues are wanted: the tasks, the values of all tasks, where they come from, and how to write them."""

    out: Path
    tasks: tuple[BookingTask, ...]
    values: dict[str, SlotValues]
    source: str
    setting: str
    seed: int
    part: str


def _order(out: Path, setting: str, data: Path | None, seed: int, count: int | None, part: str) -> _Order:
    from tacit.envs.booking import check_setting, load_tasks
    from tacit.envs.candidates import count_values
    from tacit.envs.grammar import check_part

    check_setting(setting)
    check_part(part)
    tasks, source = load_tasks(data)
    values = count_values(tasks)
    if count is not None:
        if not 1 <= count <= len(tasks):
            raise ValueError(f"--count must be from 1 to {len(tasks)}, the number of tasks, got {count}")
        tasks = tuple(Random(seed).sample(tasks, count))
    return _Order(out, tasks, values, source, setting, seed, part)


def _make(order: _Order) -> tuple[Dialogue, ...]:
    from tacit.envs.booking import make_dialogues

    return make_dialogues(order.tasks, order.setting, order.seed, order.part, order.values)


def _writer(endpoint: str | None, model: str | None, local_model: str | None) -> Writer:
    from tacit.envs.writers import EndpointWriter, LocalWriter

    if local_model and (endpoint or model):
        raise ValueError(
            "dialogues have one writer, got an endpoint and a local model; leave out one of them"
        )
    return LocalWriter(local_model) if local_model else EndpointWriter(endpoint, model)


def _reword(order: _Order, writer: Writer, workers: int, console: Console) -> tuple[Dialogue, ...]:
    from tacit.envs.rewording import reword_dialogues
    from tacit.envs.writers import CachedWriter

    cached = CachedWriter(writer, order.out.with_name(order.out.name + CACHE))
    with Progress(TextColumn("writing"), BarColumn(), MofNCompleteColumn(), console=console) as bar:
        row = bar.add_task("", total=len(order.tasks))
        made = reword_dialogues(
            order.tasks,
            order.setting,
            order.seed,
            cached,
            order.part,
            order.values,
            workers,
            progress=lambda done, total: bar.update(row, completed=done),
        )
    left = ", ".join(f"{number} of kind {kind}" for kind, number in sorted(made.fallbacks.items()))
    say(
        console,
        f"{cached.calls} calls of {cached.name}; of {made.texts} texts the grammar wrote "
        f"{left or 'none'}, where the model's did not pass the checks.",
    )
    return made.dialogues


def _write(out: Path, made: tuple[Dialogue, ...]) -> None:
    from tacit.envs.dialogues import write_dialogues

    write_dialogues(out, made)


def _download(directory: Path, console: Console) -> int:
    from tacit.envs.corpus_files import download_corpora

    rows: dict[str, TaskID] = {}
    with Progress(
        TextColumn("{task.description}"), BarColumn(), DownloadColumn(), console=console, transient=True
    ) as bar:

        def show(name: str, received: int, total: int | None) -> None:
            if name not in rows:
                rows[name] = bar.add_task(name, total=total)
            bar.update(rows[name], completed=received)

        return download_corpora(directory, show)
