"""The commands for logs: fit, label, diagnose, evaluate, train, convert. They translate arguments and print results."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
)

from tacit.cli.csv_options import AsString, Column, Delimiter, Encoding, with_columns
from tacit.cli.log_results import (
    show_certificate,
    show_conversion,
    show_evaluation,
    show_problems,
    show_verdict,
)
from tacit.cli.terminal import guarded, say

if TYPE_CHECKING:
    from tacit.logs.problems import Problems
    from tacit.offline.model import RewardModel
    from tacit.problem.layout import Layout

logs_app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)

LogFiles = Annotated[
    list[Path], typer.Argument(help="Log files or directories: .jsonl, .csv (.gz, .zst) or .parquet.")
]
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
Silence = Annotated[
    str | None,
    typer.Option(help="Episodes without feedback: counts, or missing at random.  [default: counts]"),
]


@logs_app.command()
def fit(
    logs: LogFiles,
    out: Annotated[Path, typer.Option(help="Where to write the model.")],
    c: Reward = 0.0,
    layout: LayoutFile = None,
    assume_uniform: AssumeUniform = False,
    silence: Silence = None,
    anchors: Annotated[
        bool,
        typer.Option("--anchors", help="Let rewards in the logs settle which way round the decoding is."),
    ] = False,
    engine: Engine = "local",
    column: Column = None,
    string: AsString = None,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    strict: Strict = False,
    rejected: Rejected = None,
) -> None:
    """Fit a model of what feedback means to logged episodes whose last action was random."""
    given = [layout] if layout else []
    with session(logs, strict, rejected, out, given) as (console, problems, progress):
        from tacit.offline.fit import fit as fit_model

        model = fit_model(
            with_columns(logs, column, string, delimiter, encoding),
            c,
            read_layout(layout),
            assume_uniform,
            "settle" if anchors else "ignore",
            problems,
            progress,
            engine=engine,
            silence=silence,
        )
        model.save(out)
        show_certificate(console, model.certificate)
        say(console, out)


@logs_app.command()
def label(
    logs: LogFiles,
    model: Model,
    out: Annotated[Path, typer.Option(help="Labels, .jsonl (.gz, .zst) or .parquet by the ending.")],
    processes: Annotated[
        int | None, typer.Option(help="Processes at once.  [default: one for each core]")
    ] = None,
    engine: Engine = "local",
    column: Column = None,
    string: AsString = None,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    strict: Strict = False,
    rejected: Rejected = None,
) -> None:
    """Write what each episode's feedback means: one row an episode."""
    with session(logs, strict, rejected, out, [model]) as (console, problems, progress):
        given = with_columns(logs, column, string, delimiter, encoding)
        done = load(model).label(given, out, problems, progress, processes, engine)
        say(console, f"{done.rows:,} episodes labelled, {done.rejected:,} set aside.")
        say(console, out)


@logs_app.command()
def diagnose(
    logs: LogFiles,
    out: Annotated[Path, typer.Option(help="Where to write the page.")] = Path("report.html"),
    c: Reward = 0.0,
    layout: LayoutFile = None,
    assume_uniform: AssumeUniform = False,
    silence: Silence = None,
    engine: Engine = "local",
    column: Column = None,
    string: AsString = None,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    strict: Strict = False,
    rejected: Rejected = None,
) -> None:
    """Say whether logs can be decoded, why, and where more exploration is needed, on one page."""
    given = [layout] if layout else []
    with session(logs, strict, rejected, out, given) as (console, problems, progress):
        from tacit.offline.fit import diagnose_logs

        read = with_columns(logs, column, string, delimiter, encoding)
        found = diagnose_logs(
            read, c, read_layout(layout), assume_uniform, problems, progress, engine, silence
        )
        found.write(out)
        show_verdict(console, found.verdict, found.findings)
        say(console, out)


@logs_app.command()
def evaluate(
    logs: LogFiles,
    model: Model,
    policy: Annotated[
        str, typer.Option(help="logged, uniform, a saved agent, or a table in .json.")
    ] = "logged",
    out: Annotated[Path | None, typer.Option(help="Where to write the numbers in JSON.")] = None,
    column: Column = None,
    string: AsString = None,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    strict: Strict = False,
    rejected: Rejected = None,
) -> None:
    """Estimate what a policy would have earned in place of the logged one."""
    with session(logs, strict, rejected, out, [model, Path(policy)]) as (console, problems, progress):
        given = with_columns(logs, column, string, delimiter, encoding)
        found = load(model).evaluate(given, policy, problems, progress)
        show_evaluation(console, found)
        if out is not None:
            found.write(out)
            say(console, out)


@logs_app.command()
def train(
    logs: LogFiles,
    model: Model,
    out: Annotated[Path, typer.Option(help="Where to write the agent.")],
    seed: Annotated[int, typer.Option(help="The seed of the agent's own chance.")] = 0,
    column: Column = None,
    string: AsString = None,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    strict: Strict = False,
    rejected: Rejected = None,
) -> None:
    """Learn a policy from logs and write it as an agent that goes on learning online."""
    with session(logs, strict, rejected, out, [model]) as (console, problems, progress):
        given = with_columns(logs, column, string, delimiter, encoding)
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            agent = load(model).train(given, seed, problems, progress)
        agent.save(out)
        for warning in told:
            say(console, warning.message, "warning")
        say(console, out)


@logs_app.command()
def convert(
    source: Annotated[Path, typer.Argument(metavar="IN", help="Logs, CSV or dsjson: a file or a directory.")],
    out: Annotated[Path, typer.Argument(help="A file; for TRL a new directory.")],
    to: Annotated[
        str | None, typer.Option(help="logs, dsjson, trl-reward or trl-kto.  [default: by the ending]")
    ] = None,
    source_format: Annotated[
        str | None, typer.Option("--from", help="logs (CSV too) or dsjson.  [default: by the ending]")
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
    column: Column = None,
    string: AsString = None,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    strict: Strict = False,
    rejected: Rejected = None,
) -> None:
    """Convert CSV to logs, logs from and to Vowpal Wabbit's dsjson, and labelled logs to datasets for TRL."""
    with session([source], strict, rejected) as (console, problems, progress):
        from tacit.logs.convert import convert as convert_logs
        from tacit.logs.dsjson import EventSettings
        from tacit.logs.trl import Export

        events = EventSettings(feedback_from, reward_from, window)
        export = Export("trl-reward", form, every_step, threshold, min_confidence)
        given = with_columns([source], column, string, delimiter, encoding)
        read = source if isinstance(given, list) else given
        done = convert_logs(read, out, to, labels, events, export, source_format, problems, progress)
        show_conversion(console, done)
        say(console, out)


@contextmanager
def session(
    logs: list[Path],
    strict: bool,
    rejected: Path | None,
    out: Path | None = None,
    inputs: Sequence[Path] = (),
) -> Iterator[tuple[Console, Problems, Callable[[int], None]]]:
    """Give a command its console, problems and progress; afterwards tell what was set aside, or what went wrong.

    Before anything is done, nothing that is written may be one of the logs or `inputs`, and `out` must be a place that
    can be written. (A conversion, whose logs may be of another format, gives neither and sees to its own.)
    """
    console = Console()
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        MofNCompleteColumn(),
        BarColumn(),
        TimeElapsedColumn(),
    )
    with guarded(console, "Nothing was written."):
        problems = open_problems(logs, strict, rejected)
        if out is not None or inputs:
            check_places(logs, out, problems, inputs)
        try:
            with problems, Progress(*columns, console=console, transient=True) as bar:
                task = bar.add_task("episodes", total=None)
                yield console, problems, lambda n: bar.advance(task, n)
        except Exception:
            show_problems(console, problems, failed=True)
            raise
        show_problems(console, problems)
        clear_stale(logs, problems)


def open_problems(logs: list[Path], strict: bool, rejected: Path | None) -> Problems:
    """Return where what is wrong goes: to a place that was asked for, or beside the logs if that can be."""
    from tacit.base.files import check_writable
    from tacit.logs.problems import Problems
    from tacit.logs.side_files import is_side_file, side_file

    if strict:
        return Problems(strict)
    if rejected is not None:
        check_writable(rejected)
        return Problems(side=rejected, go_on=True)
    place = side_file(logs)
    if place.exists() and not is_side_file(place):
        return Problems(unwritten=f"{str(place)!r} is not a side file that Tacit wrote, and stays as it is")
    return Problems(side=place, go_on=True, unasked=True)


def check_places(logs: list[Path], out: Path | None, problems: Problems, inputs: Sequence[Path]) -> None:
    """Raise unless all that is written can be, and replaces nothing that is read."""
    from tacit.base.files import check_distinct, check_writable
    from tacit.logs.files import find_logs

    check_distinct((out, problems.side), [*find_logs(logs), *inputs])
    if out is not None:
        check_writable(out)


def clear_stale(logs: list[Path], problems: Problems) -> None:
    """Remove the side file of an earlier command over the same logs, or in the same place: nothing is wrong now."""
    from tacit.logs.side_files import remove_stale, side_file

    if not problems.written and problems.unwritten is None:
        remove_stale(Path(problems.side or side_file(logs)))


def read_layout(path: Path | None) -> Layout | None:
    """Return the layout in a JSON file, None without a file."""
    from tacit.logs.files import check_file
    from tacit.logs.record import LogError
    from tacit.problem.layout import Layout

    if path is None:
        return None
    check_file(path)
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
