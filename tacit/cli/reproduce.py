"""`tacit reproduce`: makes a figure, its numbers, curves, picture and report."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from tacit.cli.exit_codes import FAILED
from tacit.cli.terminal import guarded, say

if TYPE_CHECKING:
    from tacit.experiments.study import Request, Runs, Study

FAILURES = "failures.log"
"""Where the tracebacks of failed runs go, until all runs have succeeded."""

Name = Annotated[
    str,
    typer.Argument(
        help="The figure: decoder, synthetic, variants, regret, exploration, digits, booking or satisfaction."
    ),
]
Seeds = Annotated[int | None, typer.Option(help="Seeds, 0 to N - 1.  [default: the figure's, 3 to 20]")]
Fraction = Annotated[float, typer.Option(help="The part of the figure's budget to run, in (0, 1].")]
Out = Annotated[Path, typer.Option(help="Directory for results; finished runs in it are used.")]
Jobs = Annotated[int | None, typer.Option(help="Processes at once.  [default: one for each core]")]
TextModelName = Annotated[
    str | None, typer.Option(help="booking: small, smol, paper or a model of the hub.  [default: small]")
]
Setting = Annotated[
    str | None,
    typer.Option(
        help="booking: paper, hard, personal or all.  [default: hard]  digits: digits or mnist.  [default: digits]"
    ),
]
Data = Annotated[
    Path | None,
    typer.Option(
        help="booking: directory of the corpora.  [default: the user's, else generated tasks]  satisfaction: directory "
        "of the rated dialogues.  [default: the user's]"
    ),
]
Dialogues = Annotated[Path | None, typer.Option(help="booking: a file of dialogues of your own.")]
SkipBroken = Annotated[
    bool, typer.Option("--skip-broken", help="booking: leave out broken lines of --dialogues.")
]


def reproduce(
    name: Name,
    seeds: Seeds = None,
    fraction: Fraction = 1.0,
    out: Out = Path("results"),
    engine: Annotated[str, typer.Option(help="What runs the tasks: local or ray.")] = "local",
    jobs: Jobs = None,
    model: TextModelName = None,
    setting: Setting = None,
    data: Data = None,
    dialogues: Dialogues = None,
    skip_broken: SkipBroken = False,
) -> None:
    """Make a figure of the paper: its numbers, curves, picture and report.

    Finished runs are kept. Interrupted, the same command goes on where it stopped.
    """
    console = Console()
    with guarded(console, "What was finished is kept: give the same command to go on."):
        options = {"model": model, "setting": setting, "data": data, "dialogues": dialogues}
        study = _study(name, options | {"skip_broken": skip_broken})
        request = _request(study, seeds, fraction, out, engine, jobs)
        _check_results(request, dialogues)
        if not _reproduce(request, console):
            raise typer.Exit(FAILED)


def _study(name: str, options: dict[str, str | Path | bool | None]) -> Study:
    """Return the study with the options given, or raise a usage error that says why there is none such."""
    from tacit.experiments.catalogue import order_study

    try:
        return order_study(name, {option: value for option, value in options.items() if value})
    except (ValueError, ImportError, RuntimeError) as error:
        raise typer.BadParameter(str(error)) from None


def _request(
    study: Study, seeds: int | None, fraction: float, out: Path, engine: str, jobs: int | None
) -> Request:
    """Return the request, or raise a usage error that says what is wrong with it."""
    from tacit.experiments.study import Request

    try:
        return Request(study, out, seeds, fraction, engine, jobs)
    except (ValueError, ImportError) as error:
        raise typer.BadParameter(str(error)) from None


def _check_results(request: Request, dialogues: Path | None) -> None:
    """Raise if results would replace the dialogues that they are made from."""
    from tacit.base.files import check_distinct
    from tacit.experiments.publish import FILES

    written = [request.directory / file for file in (*FILES, FAILURES)]
    check_distinct(written, [dialogues] if dialogues else [])


def _reproduce(request: Request, console: Console) -> bool:
    """Perform, publish and show a study; return whether all went well."""
    from tacit.experiments.lock import hold
    from tacit.experiments.publish import publish
    from tacit.experiments.run import perform

    try:
        with hold(request.directory):
            runs = perform(request, console)
            if runs.failures:
                _tell_failures(runs, console)
                return False
            summary = publish(runs)
            (request.directory / FAILURES).unlink(missing_ok=True)
    except OSError as error:
        raise OSError(f"results cannot be written ({error}); choose another --out or make room") from None
    for table in runs.study.tables(runs, summary):
        console.print(table)
    _tell_remarks(runs, console)
    for file in ("report.html", "figure.png"):
        say(console, request.directory / file)
    return True


def _tell_remarks(runs: Runs, console: Console) -> None:
    from tacit.experiments.manifest import warned

    for line in runs.study.remarks(runs):
        kind, _, words = line.partition(": ")
        say(console, words, kind)
    for warning in warned(runs):
        say(console, warning, "warning")
    say(console, f"{runs.computed} runs computed, {len(runs.results) - runs.computed} taken from before.")


def _tell_failures(runs: Runs, console: Console) -> None:
    from tacit.base.files import write_atomically

    log = runs.request.directory / FAILURES
    told = "\n".join(f"{f.task.label}: {f.reason}\n{f.details}" for f in runs.failures)
    write_atomically(log, told.encode("utf-8", "backslashreplace"))
    say(
        console,
        f"{len(runs.failures)} of {len(runs.failures) + len(runs.results)} runs failed, so no figure was made; details "
        f"are in {log}. The others are kept: give the same command to try again.",
        "error",
    )
