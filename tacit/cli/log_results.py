"""What the commands for logs print of their results."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table
from rich.text import Text

from tacit.cli.terminal import say

if TYPE_CHECKING:
    from tacit.logs.convert import Conversion
    from tacit.logs.problems import Problems
    from tacit.offline.evaluation import Evaluation
    from tacit.trust.certificate import Certificate
    from tacit.trust.findings import Finding


UNKNOWN = ("cannot be computed", "none")
"""What stands for an estimate, and for its interval, that there is not."""


def show_verdict(console: Console, verdict: str, findings: Iterable[Finding]) -> None:
    """Print a verdict, what it rests on, and the findings that need attention."""
    from tacit.trust.findings import rests_on, stated

    findings = tuple(findings)
    console.print(Text(verdict, style="bold"))
    if basis := rests_on(findings):
        say(console, basis)
    for finding in stated(findings):
        say(console, finding, "finding")


def show_certificate(console: Console, certificate: Certificate) -> None:
    """Print what a model rests on."""
    from tacit.trust.findings import rests_on, stated

    console.print(Text(certificate.verdict, style="bold"))
    if basis := rests_on(certificate.findings):
        say(console, basis)
    left_out = "".join(f"; {n:,} left out ({why})" for why, n in certificate.left_out.items())
    say(
        console,
        f"{certificate.tuples:,} of {certificate.episodes:,} episodes used, worth {certificate.effective:,.0f} with "
        f"uniform actions{left_out}",
    )
    loss, uniform = certificate.losses
    say(console, f"validation loss {loss:.4f}, of uniform guessing {uniform:.4f}")
    for name, (value, low, high) in (certificate.constants or {}).items():
        say(console, f"{name} = {value:.3f} [{low:.3f}, {high:.3f}]")
    kinds = [place.kind for place in certificate.places]
    if kinds:
        say(console, "places: " + ", ".join(f"{kinds.count(kind)} {kind}" for kind in dict.fromkeys(kinds)))
    for finding in stated(certificate.findings):
        say(console, finding, "finding")


def show_evaluation(console: Console, found: Evaluation) -> None:
    """Print the estimates and what speaks against them."""
    title = f"Value of {found.policy}, from {found.episodes:,} episodes worth {found.effective:,.0f}"
    table = Table(title=Text(title))
    for heading in ("estimator", "value", "95 % interval", "lower bound (decoded reward)"):
        table.add_column(heading)
    for name, each in found.estimates.items():
        lower = found.lower_bounds[name]
        value, interval = (
            UNKNOWN if each is None else (f"{each.value:.4f}", f"{each.low:.4f} to {each.high:.4f}")
        )
        table.add_row(name, value, interval, UNKNOWN[0] if lower is None else f"{lower.value:.4f}")
    console.print(table)
    for warning in found.warnings:
        say(console, warning, "warning")
    for finding in found.findings:
        if finding.severity == "info":
            say(console, finding, "note")


def show_conversion(console: Console, done: Conversion) -> None:
    """Print how much was converted, how many episodes went without a row or a cost and why, and how many are silent."""
    what = "events" if done.to == "dsjson" else "rows"
    form = "" if done.form is None else f", {done.form}"
    say(console, f"{done.episodes:,} episodes read, {done.rows:,} {what} written{form}.")
    if done.left_out:
        how = "without a cost to learn from" if done.to == "dsjson" else "left out"
        reasons = ", ".join(f"{reason}: {n:,}" for reason, n in done.left_out.items())
        say(console, f"{sum(done.left_out.values()):,} episodes {how} ({reasons}).")
    if done.silent:
        hint = (
            ""
            if done.silent < done.episodes
            else "; where events have a cost alone, say --feedback-from cost"
        )
        say(console, f"{done.silent:,} episodes have no feedback, which is silence{hint}.")


def show_problems(console: Console, problems: Problems, failed: bool = False) -> None:
    """Print how many episodes were set aside, if any, why, where the first is and where they are kept.

    Where a command failed, the error tells of the first.
    """
    if not problems.total:
        return
    if problems.unwritten is not None:
        where = f" They are kept nowhere: {problems.unwritten}; say where to keep them with --rejected PLACE"
    elif problems.written == problems.total:
        where = f" All are in {problems.side}"
    elif problems.written:
        where = f" All but those that had been read before are in {problems.side}"
    else:
        where = ""
    first = "" if failed else f", the first in {problems.first[0]}"
    say(console, f"{problems.total:,} episodes set aside ({problems.reasons}){first}.{where}", "warning")
