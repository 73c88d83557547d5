"""The table of the benchmark: one row for each family, means over seeds with 95 % intervals, and what was asked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from real_world.table import FEW, show

from context_world.families import FAMILIES
from context_world.playing import CEILING
from tacit.reports.intervals import mean_interval, plus_minus

Row = dict[str, Any]

PROMPT = 1.0
"""Milliseconds that 99 of 100 decisions may take at most, on a machine that does nothing else."""
LONGEST = 110
"""Characters of what a learner raised that stand in the table; all of them stand in the file of results."""
UNTOLD = 0.01
"""Of the last tenth: what may be lost against another version before it is more than chance."""
HEAD = (
    f"{'family':<28}{'seeds':>5}  {'last tenth':<13}{'all':<13}{'sees reward: last':<18}{'all':<13}"
    f"{'of it: last':<13}{'all':<13}{'explored':>8}{'p99 ms':>8}{'slowest':>9}{'in end':>7}{'threads':>8}"
    "  verdicts; what was asked"
)


def write_table(rows: Sequence[Row], earlier: Sequence[Row] = ()) -> str:
    """Return the table of all rows, family by family; `earlier` are what another version played of the same."""
    lines = [HEAD]
    for family in FAMILIES:
        if rows_of(rows, family, "tacit") or rows_of(rows, family, CEILING):
            lines.append(write_row(family, rows, earlier))
    return "\n".join(lines)


def rows_of(rows: Sequence[Row], family: str | None, learner: str) -> list[Row]:
    """Return the rows of a family and learner."""
    return [row for row in rows if row["family"] == family and row["learner"] == learner]


def write_row(family: str, rows: Sequence[Row], earlier: Sequence[Row]) -> str:
    """Return the row of a family."""
    ours, ceiling = rows_of(rows, family, "tacit"), rows_of(rows, family, CEILING)
    asked = "; ".join([*count_verdicts(ours), *check_row(family, rows, earlier)])
    ratios = [plus_minus(mean_interval(ratios_of(ours, ceiling, name)), 3) for name in ("last", "all")]
    explored, late = largest(ours, "explored", np.mean), largest(ours, "end_share", np.mean)
    return (
        f"{family:<28}{len(ours):>5}  {show(ours, 'last'):<13}{show(ours, 'all'):<13}"
        f"{show(ceiling, 'last'):<18}{show(ceiling, 'all'):<13}{ratios[0]:<13}{ratios[1]:<13}"
        f"{explored:>8,.0f}{largest(ours, 'p99_ms'):>8.2f}{largest(ours, 'slowest_ms'):>9.1f}"
        f"{late:>7.0%}{largest(ours, 'other_threads', np.mean):>8.0%}  {asked}"
    )


def largest(rows: Sequence[Row], name: str, of: Any = np.max) -> float:
    """Return the largest of a number over seeds, or another summary of it; NaN where nobody has it."""
    values = [row[name] for row in rows if name in row]
    return float(of(values)) if values else np.nan


def ratios_of(ours: Sequence[Row], others: Sequence[Row], name: str) -> list[float]:
    """Return ours as a share of what others have on the same problem, seed by seed."""
    theirs = {row["seed"]: row[name] for row in others if name in row}
    return [row[name] / theirs[row["seed"]] for row in ours if name in row and row["seed"] in theirs]


def losses_of(ours: Sequence[Row], others: Sequence[Row]) -> list[float]:
    """Return what others have more in the last tenth of as many episodes of the same problem, seed by seed."""
    theirs = {(row["seed"], row["episodes"]): row["last"] for row in others if "last" in row}
    pairs = [(theirs.get((row["seed"], row["episodes"])), row["last"]) for row in ours]
    return [other - own for other, own in pairs if other is not None]


def count_verdicts(rows: Sequence[Row]) -> Iterator[str]:
    """Yield how often each verdict was given, and what learners raised in its place."""
    verdicts = Counter(row["verdict"] for row in rows if "failed" not in row)
    if verdicts:
        yield " ".join(f"{name} {n}" for name, n in verdicts.most_common())
    reasons = Counter(row["failed"] for row in rows if "failed" in row)
    if reasons:
        yield f"FAILED {reasons.total()}: {reasons.most_common(1)[0][0][:LONGEST]}"


def check_row(name: str, rows: Sequence[Row], earlier: Sequence[Row]) -> Iterator[str]:
    """Yield what a family was asked, each with whether it shows it; a run that failed shows nothing."""
    family, ours = FAMILIES[name], rows_of(rows, name, "tacit")
    if not ours:
        return
    if any("failed" in row for row in ours):
        yield "MISSED"
        return
    if family.asks == "sick":
        works = sum(row["verdict"] == "works" for row in ours)
        yield _passed("works", works, works <= FEW * len(ours) / 100)
        return
    yield from check_ratios(family.ratios, ours, rows_of(rows, name, CEILING))
    if family.last is not None:
        mean = float(np.mean([row["last"] for row in ours]))
        yield _passed(f"last >= {family.last}", f"{mean:.3f}", mean >= family.last)
    for against, others, most in (
        (family.like, rows_of(rows, family.like, "tacit"), family.loses),
        ("the other version", rows_of(earlier, name, "tacit"), UNTOLD),
    ):
        if most is not None and (lost := losses_of(ours, others)):
            yield _passed(f"lost against {against}", f"{np.mean(lost):.3f}", float(np.mean(lost)) <= most)
    slow, worked = largest(ours, "p99_ms"), largest(ours, "p99_worked_ms")
    yield _passed("p99 of decisions", f"{slow:.2f} ms, {worked:.2f} of them working", slow <= PROMPT)


def check_ratios(
    least: tuple[float, float] | None, ours: Sequence[Row], ceiling: Sequence[Row]
) -> Iterator[str]:
    """Yield whether enough is earned of what the learner earns that sees the reward: mean over mean."""
    if least is None or not ceiling or any("failed" in row for row in ceiling):
        return
    for name, wanted in zip(("last", "all"), least, strict=True):
        ratio = sum(row[name] for row in ours) / sum(row[name] for row in ceiling) * len(ceiling) / len(ours)
        yield _passed(f"{name} >= {wanted:.0%} of it", f"{ratio:.1%}", ratio >= wanted)


def _passed(what: str, value: object, passed: bool) -> str:
    return f"{what}: {value}{'' if passed else ' MISSED'}"
