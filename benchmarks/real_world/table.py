"""The table of the benchmark: one row for each family, means over seeds with 95 % intervals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from real_world.families import FAMILIES, Family
from real_world.playing import CEILING
from tacit.reports.intervals import mean_interval, plus_minus

Row = dict[str, Any]

SHORT = {
    "works": "works",
    "works with caution": "caution",
    "cannot work": "cannot",
    "not known yet": "unknown",
}
"""Verdicts as they stand in the table."""
WORSE = ("cannot", "unknown")
"""What a healthy problem should not be told after so many episodes."""
SOON = 2_000
"""Episodes after a change within which an alarm is soon enough."""
LATER = 10
"""How many times the ceiling's episodes a learner may take."""
FEW = 5
"""Of a hundred, the wrong verdicts and false alarms that may be."""
LONGEST, LARGEST = 5.0, 500.0
"""Seconds and megabytes that a diagnosis may take."""
AGREES = 0.02
"""How far decoded and true reward may be apart where words overlap."""

HEAD = (
    f"{'family':<18}{'seeds':>5}  {'last tenth':<14}{'all':<14}{'sees reward: last':<18}{'all':<14}"
    f"{'decoded-true':<14}{'explored':>9}{'end() ms':>9}  verdicts; what was asked"
)


def write_table(rows: Sequence[Row]) -> str:
    """Return the table of all rows, family by family."""
    lines = [HEAD]
    for family in FAMILIES:
        ours = [row for row in rows if row["family"] == family and row["learner"] != CEILING]
        ceiling = [row for row in rows if row["family"] == family and row["learner"] == CEILING]
        if ours:
            lines.append(write_row(family, ours, ceiling))
    return "\n".join(lines)


def write_row(family: str, ours: Sequence[Row], ceiling: Sequence[Row]) -> str:
    """Return the row of a family."""
    verdicts = count_verdicts(ours)
    said = " ".join(f"{name} {n}" for name, n in verdicts.most_common())
    slowest = max((row.get("slowest", 0.0) for row in ours), default=0.0) * 1000
    explored = mean_interval([row.get("explored") for row in ours])["mean"]
    asked = "; ".join([said, *check_row(FAMILIES[family], ours, ceiling)])
    return (
        f"{family:<18}{len(ours):>5}  {show(ours, 'last'):<14}{show(ours, 'all'):<14}{show(ceiling, 'last'):<18}"
        f"{show(ceiling, 'all'):<14}{show(ours, 'gap'):<14}"
        f"{'-' if explored is None else f'{explored:,.0f}':>9}{slowest:>9.1f}  {asked}"
    )


def show(rows: Sequence[Row], name: str) -> str:
    """Return the mean of a number over seeds with half of its interval."""
    values = [row[name] for row in rows if row.get(name) is not None]
    return plus_minus(mean_interval(values), 3) if values else "-"


def count_verdicts(rows: Sequence[Row]) -> Counter[str]:
    """Return how often each verdict was given."""
    return Counter(str(SHORT.get(row["verdict"], row["verdict"])) for row in rows)


def check_row(family: Family, ours: Sequence[Row], ceiling: Sequence[Row]) -> Iterator[str]:
    """Yield what a family was asked, each with whether it shows it."""
    verdicts = count_verdicts(ours)
    if family.asks == "healthy":
        worse = sum(verdicts[name] for name in WORSE)
        yield _passed("worse than caution", worse, worse <= FEW * len(ours) / 100)
    elif family.asks == "sick":
        yield _passed("works", verdicts["works"], verdicts["works"] <= FEW * len(ours) / 100)
    elif family.asks == "alarms":
        alarmed = sum(bool(row["alarms"]) for row in ours)
        yield _passed("runs with false alarms", alarmed, alarmed <= FEW * len(ours) / 100)
    for name, least in (("last", family.last), ("all", family.over_all)):
        if least is not None and all(row.get(name) is not None for row in ours):
            mean = float(np.mean([row[name] for row in ours]))
            yield _passed(f"{name} >= {least}", f"{mean:.3f}", mean >= least)
    if family.asks == "limits":
        yield from check_limits(ours)
    if family.asks == "told":
        told = sum(row["names_outcomes"] for row in ours)
        yield _passed("names known outcomes", f"{told} of {len(ours)}", told == len(ours))
    yield from check_overlap(ours)
    yield from check_alarms(ours)
    yield from check_pace(ours, ceiling)


def check_limits(ours: Sequence[Row]) -> Iterator[str]:
    """Yield how long a diagnosis takes at most, and how much memory."""
    seconds = max(row["diagnose_seconds"] for row in ours)
    megabytes = max(row["diagnose_megabytes"] for row in ours)
    yield _passed("diagnose seconds", f"{seconds:.1f}", seconds <= LONGEST)
    yield _passed("diagnose MB", f"{megabytes:.0f}", megabytes <= LARGEST)


def check_overlap(ours: Sequence[Row]) -> Iterator[str]:
    """Yield in how many runs with overlapping words decoded and true reward agree, or an interval holds it."""
    rows = [row for row in ours if row["family"].startswith("overlap.") and row.get("gap") is not None]
    if rows:
        agree = sum(abs(row["gap"]) <= AGREES or bool(row["held"]) for row in rows)
        yield _passed("decoded within 0.02", f"{agree} of {len(ours)}", agree == len(ours))


def check_alarms(ours: Sequence[Row]) -> Iterator[str]:
    """Yield in how many runs that changed halfway an alarm came soon enough."""
    changed = [row for row in ours if "cost" in row]
    if changed:
        soon = sum(
            any(row["episodes"] // 2 <= n <= row["episodes"] // 2 + SOON for n in row["alarms"])
            for row in changed
        )
        yield _passed(f"alarm within {SOON:,}", f"{soon} of {len(changed)}", soon == len(changed))


def check_pace(ours: Sequence[Row], ceiling: Sequence[Row]) -> Iterator[str]:
    """Yield in how many locks the learner gets where the one that sees the reward does, in ten times its episodes."""
    reached = {row["seed"]: row["reached"] for row in ceiling if row["family"].startswith("lock.")}
    there = [row for row in ours if reached.get(row["seed"]) is not None]
    if there:
        paced = sum(
            row["last"] >= 0.95
            and row["reached"] is not None
            and row["reached"] <= LATER * reached[row["seed"]]
            for row in there
        )
        yield _passed("there in 10 times the ceiling's", f"{paced} of {len(there)}", paced == len(there))


def _passed(what: str, value: object, passed: bool) -> str:
    return f"{what}: {value}{'' if passed else ' MISSED'}"
