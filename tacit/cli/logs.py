"""The commands for logs: fit, label, diagnose, evaluate, train, convert. They translate arguments and print results."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
)
from rich.table import Table

if TYPE_CHECKING:
    from tacit.logs.convert import Conversion
    from tacit.logs.problems import Problems
    from tacit.offline.evaluation import Evaluation
    from tacit.offline.model import RewardModel
    from tacit.problem.layout import Layout
    from tacit.trust.certificate import Certificate

INTERRUPTED = 130
"""The exit code of a program that Ctrl-C ended: 128 + SIGINT."""

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)

Logs = Annotated[list[Path], typer.Argument(help="Log files or directories: .jsonl (.gz, .zst) or .parquet.")]
Strict = Annotated[bool, typer.Option("--strict", help="Stop at the first bad episode.")]
Rejected = Annotated[
    Path | None, typer.Option(help="Where bad episodes go.  [default: beside the logs, .rejected.jsonl]")
]
Model = Annotated[Path, typer.Option(help="A model that `tacit fit` wrote.")]
Reward = Annotated[
    float, typer.Option(help="What a state is worth in which no action is better than another.")
]
LayoutFile = Annotated[Path | None, typer.Option(help="The layout in JSON, in place of what the logs show.")]
AssumeUniform = Annotated[
    bool, typer.Option("--assume-uniform", help="Take actions without a probability for uniform.")
]

Engine = Annotated[str, typer.Option(help="What does the work: local, or ray on Parquet.")]


@app.command()
def fit(
    logs: Logs,
    out: Annotated[Path, typer.Option(help="Where to write the model.")],
    c: Reward = 0.0,
    layout: LayoutFile = None,
    assume_uniform: AssumeUniform = False,
    anchors: Annotated[
        bool,
        typer.Option("--anchors", help="Let rewards in the logs settle which way round the decoding is."),
    ] = False,
    engine: Engine = "local",
    strict: Strict = False,
    rejected: Rejected = None,
) -> None:
    """Fit a model of what feedback means to logged episodes whose last action was random."""
    from tacit.offline.fit import fit as fit_model

    with session(logs, strict, rejected) as (console, problems, progress):
        model = fit_model(
            logs,
            c,
            read_layout(layout),
            assume_uniform,
            "settle" if anchors else "ignore",
            problems,
            progress,
            engine=engine,
        )
        model.save(out)
        problems.close()
        show_certificate(console, model.certificate)
        console.print(f"{out}", soft_wrap=True, highlight=False)


@app.command()
def label(
    logs: Logs,
    model: Model,
    out: Annotated[Path, typer.Option(help="Labels, .jsonl (.gz, .zst) or .parquet by the ending.")],
    processes: Annotated[
        int | None, typer.Option(help="Processes at once.  [default: one for each core]")
    ] = None,
    engine: Engine = "local",
    strict: Strict = False,
    rejected: Rejected = None,
) -> None:
    """Write what each episode's feedback means: one row an episode."""
    with session(logs, strict, rejected) as (console, problems, progress):
        done = load(model).label(logs, out, problems, progress, processes, engine)
        console.print(f"{done.rows:,} episodes labelled, {done.rejected:,} set aside.", highlight=False)
        console.print(f"{out}", soft_wrap=True, highlight=False)


@app.command()
def diagnose(
    logs: Logs,
    out: Annotated[Path, typer.Option(help="Where to write the page.")] = Path("report.html"),
    c: Reward = 0.0,
    layout: LayoutFile = None,
    assume_uniform: AssumeUniform = False,
    engine: Engine = "local",
    strict: Strict = False,
    rejected: Rejected = None,
) -> None:
    """Say whether logs can be decoded, why, and where more exploration is needed, on one page."""
    from tacit.offline.fit import diagnose_logs
    from tacit.trust.findings import raised

    with session(logs, strict, rejected) as (console, problems, progress):
        found = diagnose_logs(logs, c, read_layout(layout), assume_uniform, problems, progress, engine)
        found.write(out)
        console.print(f"[bold]{found.verdict}[/bold]")
        for finding in raised(found.findings):
            console.print(
                f"[yellow]finding:[/yellow] {escape(str(finding))}", soft_wrap=True, highlight=False
            )
        console.print(f"{out}", soft_wrap=True, highlight=False)


@app.command()
def evaluate(
    logs: Logs,
    model: Model,
    policy: Annotated[
        str, typer.Option(help="logged, uniform, a saved agent, or a table in .json.")
    ] = "logged",
    out: Annotated[Path | None, typer.Option(help="Where to write the numbers in JSON.")] = None,
    strict: Strict = False,
    rejected: Rejected = None,
) -> None:
    """Estimate what a policy would have earned in place of the logged one."""
    from tacit.base.checkpoint import write_atomically

    with session(logs, strict, rejected) as (console, problems, progress):
        found = load(model).evaluate(logs, policy, problems, progress)
        show_evaluation(console, found)
        if out is not None:
            write_atomically(out, json.dumps(found.to_json(), indent=2).encode() + b"\n")
            console.print(f"{out}", soft_wrap=True, highlight=False)


@app.command()
def train(
    logs: Logs,
    model: Model,
    out: Annotated[Path, typer.Option(help="Where to write the agent.")],
    seed: Annotated[int, typer.Option(help="The seed of the agent's own chance.")] = 0,
    strict: Strict = False,
    rejected: Rejected = None,
) -> None:
    """Learn a policy from logs and write it as an agent that goes on learning online."""
    import warnings

    with session(logs, strict, rejected) as (console, problems, progress):
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            agent = load(model).train(logs, seed, problems, progress)
        agent.save(out)
        for warning in told:
            console.print(
                f"[yellow]warning:[/yellow] {escape(str(warning.message))}", soft_wrap=True, highlight=False
            )
        console.print(f"{out}", soft_wrap=True, highlight=False)


@app.command()
def convert(
    source: Annotated[Path, typer.Argument(metavar="IN", help="Logs or dsjson: a file or a directory.")],
    out: Annotated[Path, typer.Argument(help="A file; for TRL a new directory.")],
    to: Annotated[str, typer.Option(help="logs, dsjson, trl-reward or trl-kto.")],
    source_format: Annotated[
        str | None, typer.Option("--from", help="logs or dsjson.  [default: by the ending]")
    ] = None,
    labels: Annotated[Path | None, typer.Option(help="Labels of these logs, from `tacit label`.")] = None,
    min_confidence: Annotated[float, typer.Option(help="The confidence from which a label counts.")] = 0.8,
    feedback_from: Annotated[str, typer.Option(help="Feedback in dsjson: outcome or cost.")] = "outcome",
    reward_from: Annotated[str, typer.Option(help="A known reward in dsjson: none, or cost.")] = "none",
    window: Annotated[int, typer.Option(help="Events that may pass within an episode in dsjson.")] = 20_000,
    form: Annotated[str, typer.Option(help="Of a TRL dataset: auto, conversational or text.")] = "auto",
    every_step: Annotated[
        bool, typer.Option("--every-step", help="A row for each step, not each episode.")
    ] = False,
    threshold: Annotated[float, typer.Option(help="The reward from which trl-kto says True.")] = 0.5,
    strict: Strict = False,
    rejected: Rejected = None,
) -> None:
    """Convert logs from and to Vowpal Wabbit's dsjson, and labelled logs to datasets for TRL."""
    from tacit.logs.convert import convert as convert_logs
    from tacit.logs.dsjson import EventSettings
    from tacit.logs.trl import Export

    with session([source], strict, rejected) as (console, problems, progress):
        events = EventSettings(feedback_from, reward_from, window)
        export = Export("trl-reward", form, every_step, threshold, min_confidence)
        done = convert_logs(source, out, to, labels, events, export, source_format, problems, progress)
        show_conversion(console, done, to)
        console.print(f"{out}", soft_wrap=True, highlight=False)


@contextmanager
def session(logs: list[Path], strict: bool, rejected: Path | None) -> Iterator[tuple[Console, Problems, Any]]:
    """Give a command its console, problems and progress; afterwards tell what was set aside, or what went wrong."""
    from tacit.logs.problems import Problems
    from tacit.logs.record import LogError

    console = Console()
    side = rejected if rejected is not None else side_file(logs[0])
    problems = Problems(strict, None if strict else side)
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        MofNCompleteColumn(),
        BarColumn(),
        TimeElapsedColumn(),
    )
    try:
        with problems, Progress(*columns, console=console, transient=True) as bar:
            task = bar.add_task("episodes", total=None)
            yield console, problems, lambda n: bar.advance(task, n)
    except KeyboardInterrupt:
        console.print("\n[yellow]Interrupted.[/yellow] Nothing was written.")
        raise typer.Exit(INTERRUPTED) from None
    except (LogError, ValueError, OSError, ImportError) as error:
        console.print(f"[red]error:[/red] {escape(str(error))}", soft_wrap=True, highlight=False)
        raise typer.Exit(1) from None
    if problems.total:
        show_problems(console, problems)


def side_file(path: Path) -> Path:
    """Return where the bad episodes of a log go: `logs.rejected.jsonl` beside `logs.jsonl.gz`.

    >>> side_file(Path("day/logs.jsonl.gz")).as_posix()
    'day/logs.rejected.jsonl'
    """
    from tacit.logs.files import REJECTED

    return path.with_name(path.name.split(".")[0] + REJECTED)


def read_layout(path: Path | None) -> Layout | None:
    """Return the layout in a JSON file, None without a file."""
    from tacit.logs.record import LogError
    from tacit.problem.layout import Layout

    if path is None:
        return None
    try:
        return Layout.from_json(json.loads(path.read_text()))
    except (OSError, KeyError, TypeError, ValueError) as error:
        raise LogError(
            f"a layout must be the JSON that Layout.to_json writes, {str(path)!r} is not ({error!r})"
        ) from None


def load(path: Path) -> RewardModel:
    """Return a saved model."""
    from tacit.offline.loading import load_model

    return load_model(path)


def show_certificate(console: Console, certificate: Certificate) -> None:
    """Print what a model rests on."""
    from tacit.trust.findings import raised

    console.print(f"[bold]{certificate.verdict}[/bold]")
    left_out = "".join(f"; {n:,} left out ({why})" for why, n in certificate.left_out.items())
    console.print(
        f"{certificate.tuples:,} of {certificate.episodes:,} episodes used, worth {certificate.effective:,.0f} with "
        f"uniform actions{left_out}",
        highlight=False,
        soft_wrap=True,
    )
    console.print(
        f"validation loss {certificate.losses[0]:.4f}, of uniform guessing {certificate.losses[1]:.4f}",
        highlight=False,
    )
    for name, (value, low, high) in (certificate.constants or {}).items():
        console.print(f"{name} = {value:.3f} [{low:.3f}, {high:.3f}]", highlight=False, markup=False)
    kinds = [place.kind for place in certificate.places]
    counted = ", ".join(f"{kinds.count(kind)} {kind}" for kind in dict.fromkeys(kinds))
    if counted:
        console.print(f"places: {counted}", highlight=False)
    for finding in raised(certificate.findings):
        console.print(f"[yellow]finding:[/yellow] {escape(str(finding))}", soft_wrap=True, highlight=False)


def show_evaluation(console: Console, found: Evaluation) -> None:
    """Print the estimates and what speaks against them."""
    table = Table(
        title=f"Value of {found.policy}, from {found.episodes:,} episodes worth {found.effective:,.0f}"
    )
    for heading in ("estimator", "value", "95 % interval", "lower bound (decoded reward)"):
        table.add_column(heading)
    for name, each in found.estimates.items():
        lower = found.lower_bounds[name]
        table.add_row(name, f"{each.value:.4f}", f"{each.low:.4f} to {each.high:.4f}", f"{lower.value:.4f}")
    console.print(table)
    for warning in found.warnings:
        console.print(f"[yellow]warning:[/yellow] {escape(warning)}", soft_wrap=True, highlight=False)
    for finding in found.findings:
        if finding.severity == "info":
            console.print(f"note: {escape(str(finding))}", soft_wrap=True, highlight=False)


def show_conversion(console: Console, done: Conversion, to: str) -> None:
    """Print how much was converted, and how many episodes went without a row or a cost, and why."""
    what = "events" if to == "dsjson" else "rows"
    form = "" if done.form is None else f", {done.form}"
    console.print(f"{done.episodes:,} episodes read, {done.rows:,} {what} written{form}.", highlight=False)
    if done.left_out:
        how = "without a cost to learn from" if to == "dsjson" else "left out"
        reasons = ", ".join(f"{reason}: {n:,}" for reason, n in done.left_out.items())
        console.print(
            f"{sum(done.left_out.values()):,} episodes {how} ({escape(reasons)}).",
            soft_wrap=True,
            highlight=False,
        )


def show_problems(console: Console, problems: Problems) -> None:
    """Print how many episodes were set aside, why, where the first is and where they are kept."""
    kinds = ", ".join(f"{rule}: {n:,}" for rule, n in problems.by_rule.most_common())
    console.print(
        f"[yellow]{problems.total:,} episodes set aside[/yellow] ({escape(kinds)}), the first in "
        f"{escape(str(problems.first[0]))}. All are in {problems.side}",
        soft_wrap=True,
        highlight=False,
    )
