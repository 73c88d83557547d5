"""The command line: `tacit reproduce` makes a figure, `tacit doctor` checks an installation, `tacit data` gets corpora.

What a command needs is imported when it is called, so that `tacit --help` answers at once.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from tacit.cli.data import data_app
from tacit.cli.logs import app as logs_app

if TYPE_CHECKING:
    from tacit.experiments.study import Request, Runs, Study

INTERRUPTED = 130
"""The exit code of a program that Ctrl-C ended: 128 + SIGINT."""

FAILURES = "failures.log"
"""Where the tracebacks of failed runs go, until all runs have succeeded."""

app = typer.Typer(
    help="Learn what to do over several turns from how people react, with no reward ever observed.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.add_typer(data_app, name="data")
app.add_typer(logs_app)


def show_version(wanted: bool) -> None:
    """Print the version and stop, if wanted."""
    if wanted:
        from importlib.metadata import version

        typer.echo(f"tacit {version('tacit')}")
        raise typer.Exit


@app.callback()
def main(
    version: Annotated[
        bool, typer.Option("--version", callback=show_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Take the options that every command shares."""


@app.command()
def reproduce(
    name: Annotated[
        str, typer.Argument(help="The figure: decoder, synthetic, variants, regret, exploration or booking.")
    ],
    seeds: Annotated[
        int | None, typer.Option(help="Seeds, 0 to N - 1.  [default: the figure's, 5 to 20]")
    ] = None,
    fraction: Annotated[float, typer.Option(help="The part of the figure's budget to run, in (0, 1].")] = 1.0,
    out: Annotated[Path, typer.Option(help="Directory for results; finished runs in it are used.")] = Path(
        "results"
    ),
    engine: Annotated[str, typer.Option(help="What runs the tasks: local or ray.")] = "local",
    jobs: Annotated[int | None, typer.Option(help="Processes at once.  [default: one for each core]")] = None,
    model: Annotated[
        str | None,
        typer.Option(help="booking: small, smol, paper or a model of the hub.  [default: small]"),
    ] = None,
    setting: Annotated[
        str | None, typer.Option(help="booking: paper, hard, personal or all.  [default: hard]")
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option(help="booking: directory of the corpora.  [default: the user's, else generated tasks]"),
    ] = None,
    dialogues: Annotated[Path | None, typer.Option(help="booking: a file of dialogues of your own.")] = None,
    skip_broken: Annotated[
        bool, typer.Option("--skip-broken", help="booking: leave out broken lines of --dialogues.")
    ] = False,
) -> None:
    """Make a figure of the paper: its numbers, curves, picture and report.

    Finished runs are kept. Interrupted, the same command goes on where it stopped.
    """
    console = Console()
    try:
        study = _study(
            name, model=model, setting=setting, data=data, dialogues=dialogues, skip_broken=skip_broken
        )
        request = _request(study, seeds, fraction, out, engine, jobs)
        failed = _reproduce(request, console)
    except KeyboardInterrupt:
        console.print(
            "\n[yellow]Interrupted.[/yellow] What was finished is kept: give the same command to go on."
        )
        raise typer.Exit(INTERRUPTED) from None
    except OSError as error:
        console.print(
            f"[red]Cannot write results:[/red] {error}; choose another --out or make room", soft_wrap=True
        )
        raise typer.Exit(1) from None
    raise typer.Exit(int(failed))


@app.command()
def doctor() -> None:
    """Check the installation: packages, compiler, solver, a short run, a checkpoint."""
    from tacit.cli.doctor import examine

    console = Console()
    table = Table(title="Tacit's installation")
    for heading in ("", "check", "what was found"):
        table.add_column(heading, overflow="fold")
    findings = []
    with console.status("checking ..."):
        for finding in examine():
            findings.append(finding)
            table.add_row(
                f"[{finding.colour}]{finding.status}[/{finding.colour}]", finding.name, finding.detail
            )
    console.print(table)
    broken = [finding.name for finding in findings if finding.broken]
    console.print(
        f"[red]Needs attention:[/red] {', '.join(broken)}" if broken else "[green]All is well.[/green]"
    )
    raise typer.Exit(int(bool(broken)))


def _study(name: str, **options: str | Path | bool | None) -> Study:
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


def _reproduce(request: Request, console: Console) -> bool:
    """Perform, publish and show a study; return whether something failed."""
    from tacit.experiments.run import perform

    runs = perform(request, console)
    if runs.failures:
        _tell_failures(runs, console)
        return True
    from tacit.experiments.manifest import warned
    from tacit.experiments.publish import publish

    study, summary = runs.study, publish(runs)
    (request.directory / FAILURES).unlink(missing_ok=True)
    for table in study.tables(runs, summary):
        console.print(table)
    for line in study.remarks(runs):
        kind, _, words = line.partition(": ")
        console.print(f"[yellow]{kind}:[/yellow] {escape(words)}", soft_wrap=True, highlight=False)
    for warning in warned(runs):
        console.print(f"[yellow]warning:[/yellow] {escape(warning)}", soft_wrap=True, highlight=False)
    kept = len(runs.results) - runs.computed
    console.print(f"{runs.computed} runs computed, {kept} taken from before.", highlight=False)
    for file in ("report.html", "figure.png"):
        console.print(f"{request.directory / file}", soft_wrap=True, highlight=False)
    return False


def _tell_failures(runs: Runs, console: Console) -> None:
    log = runs.request.directory / FAILURES
    log.write_text("\n".join(f"{f.task.label}: {f.reason}\n{f.details}" for f in runs.failures))
    console.print(
        f"[red]{len(runs.failures)} of {len(runs.failures) + len(runs.results)} runs failed[/red], so no "
        f"figure was made; details are in {log}. The others are kept: give the same command to try again.",
        soft_wrap=True,
        highlight=False,
    )
