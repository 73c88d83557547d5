"""The table of the benchmark: a row for each family and length, means over seeds, and what was asked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from math import sqrt
from typing import Any

import numpy as np
from real_world.table import FEW, SHORT, show

from tacit.reports.intervals import mean_interval, plus_minus
from text_world.families import FAMILIES
from text_world.playing import CEILING, FRESH, OURS

Row = dict[str, Any]

NOISE_FOUND = ("feedback-tells-nothing", "control-found", "control-beats")
"""What says that feedback is no more than noise."""
AGREES, CALIBRATED = 0.05, 0.03
"""How far decoded and true reward may be apart in the last tenth, and confidence and what is right in any tenth."""
SURELY = 3.0
"""Standard errors below uniform play that are no longer chance."""
TRUSTED = ("works", "works with caution")
HEAD = (
    f"{'family':<30}{'episodes':>8}{'seeds':>6}  {'all':<13}{'last tenth':<13}{'fresh':<13}{'from logs':<13}"
    f"{'sees reward: all':<18}{'last':<13}{'fresh':<13}{'from logs':<13}{'uniform':>8}  {'decoded-true':<14}"
    f"{'labels right':<13}verdicts online | from logs; what was asked"
)


def write_table(rows: Sequence[Row]) -> str:
    """Return the table of all rows, family by family and length by length, and calibration by tenths."""
    lines = [HEAD]
    for family in FAMILIES:
        for episodes in sorted({row["episodes"] for row in rows if row["family"] == family}):
            lines.append(
                write_row(family, [r for r in rows if r["family"] == family and r["episodes"] == episodes])
            )
    return "\n".join([*lines, "", *write_calibration(rows), *write_warnings(rows)])


def write_row(family: str, rows: Sequence[Row]) -> str:
    """Return the row of a family and length."""
    online, logs, ceiling, above = (of(rows, learner) for learner in (*OURS, *CEILING))
    asked = "; ".join([f"{count_verdicts(online)} | {count_verdicts(logs)}", *check_row(family, rows)])
    return (
        f"{family:<30}{rows[0]['episodes']:>8,}{len({row['seed'] for row in rows}):>6}  "
        f"{show(online, 'all'):<13}{show(online, 'last'):<13}{show(online, 'fresh'):<13}{show(logs, 'fresh'):<13}"
        f"{show(ceiling, 'all'):<18}{show(ceiling, 'last'):<13}{show(ceiling, 'fresh'):<13}{show(above, 'fresh'):<13}"
        f"{rows[0]['uniform']:>8.3f}  {show(online, 'gap'):<14}{show(logs, 'right'):<13}{asked}"
    )


def of(rows: Sequence[Row], learner: str) -> list[Row]:
    """Return the rows of a learner."""
    return [row for row in rows if row["learner"] == learner]


def count_verdicts(rows: Sequence[Row]) -> str:
    """Return how often each verdict was given."""
    verdicts = Counter(SHORT.get(row["verdict"], row["verdict"]) for row in rows)
    return " ".join(f"{name} {n}" for name, n in verdicts.most_common()) or "-"


def check_row(family: str, rows: Sequence[Row]) -> Iterator[str]:
    """Yield what a family was asked, each with whether it shows it."""
    if FAMILIES[family].noise:
        yield from check_noise(rows)
        return
    least = FAMILIES[family].least.get(rows[0]["episodes"])
    for name, learner, ceiling, number in (
        ("last tenth", OURS[0], CEILING[0], "last"),
        ("fresh", OURS[0], CEILING[0], "fresh"),
        ("from logs", OURS[1], CEILING[1], "fresh"),
    ):
        shares = shares_of(of(rows, learner), of(rows, ceiling), number)
        if shares:
            mean, asked = float(np.mean(shares)), "" if least is None else f" >= {least}"
            yield _passed(
                f"{name} of the ceiling{asked}",
                plus_minus(mean_interval(shares), 3),
                least is None or mean >= least,
            )
    gaps = [row["gap"] for row in of(rows, OURS[0]) if row.get("gap") is not None]
    if gaps and least is not None:
        agree = sum(abs(gap) <= AGREES for gap in gaps)
        yield _passed(f"decoded within {AGREES}", f"{agree} of {len(gaps)}", agree == len(gaps))


def shares_of(ours: Sequence[Row], ceiling: Sequence[Row], number: str) -> list[float]:
    """Return ours as a share of what the learner earns that sees the reward, seed by seed."""
    theirs = {row["seed"]: row[number] for row in ceiling}
    return [row[number] / theirs[row["seed"]] for row in ours if row["seed"] in theirs]


def check_noise(rows: Sequence[Row]) -> Iterator[str]:
    """Yield in how many runs a learner fed with noise is no worse than uniform play, and says what it hears."""
    for learner in OURS:
        ours = of(rows, learner)
        if ours:
            fine = sum(not is_below(row) for row in ours)
            said = sum(row["verdict"] not in TRUSTED for row in ours)
            yield _passed(f"{learner}: not below uniform", f"{fine} of {len(ours)}", fine == len(ours))
            yield _passed(f"{learner}: said", f"{said} of {len(ours)}", said == len(ours))


def is_below(row: Row) -> bool:
    """Return whether a run earned less than uniform play, beyond chance, over all, at the end or on fresh requests."""
    chance = row["uniform"] * (1 - row["uniform"])
    sizes = {"all": row["episodes"], "last": max(row["episodes"] // 10, 1), "fresh": FRESH}
    return any(
        name in row and row[name] < row["uniform"] - SURELY * sqrt(chance / size)
        for name, size in sizes.items()
    )


def write_warnings(rows: Sequence[Row]) -> Iterator[str]:
    """Yield how often runs that can be learned were called noise."""
    for learner in OURS:
        healthy = [row for row in of(rows, learner) if not FAMILIES[row["family"]].noise]
        if healthy:
            cried = sum(any(f.endswith(NOISE_FOUND) for f in row["findings"]) for row in healthy)
            yield _passed(
                f"{learner}: called noise, of runs that are not",
                f"{cried} of {len(healthy)}",
                cried <= FEW * len(healthy) / 100,
            )


def write_calibration(rows: Sequence[Row]) -> Iterator[str]:
    """Yield, by tenth of confidence, how many labels there are, how sure they are on average, and how often right."""
    counted = [
        row["calibration"] for row in rows if "calibration" in row and not FAMILIES[row["family"]].noise
    ]
    if not counted:
        return
    totals = np.array(counted).sum(axis=0)  # (tenth, (labels, confidence, right))
    yield f"{'confidence':<14}{'labels':>9}{'sure':>8}{'right':>8}"
    for tenth, (labels, sure, right) in enumerate(totals):
        if labels:
            off = abs(sure - right) / labels
            bounds = f"{tenth / 10:.1f} to {(tenth + 1) / 10:.1f}"
            missed = (
                "" if off <= CALIBRATED else " MISSED" if is_off(labels, sure, right) else " too few to tell"
            )
            yield f"{bounds:<14}{labels:>9,.0f}{sure / labels:>8.3f}{right / labels:>8.3f}{missed}"


def is_off(labels: float, sure: float, right: float) -> bool:
    """Return whether confidence is further off than it may be, and by more than two standard errors of the labels."""
    mean = sure / labels
    return abs(sure - right) / labels > CALIBRATED + 2 * sqrt(mean * (1 - mean) / labels)


def _passed(what: str, value: object, passed: bool) -> str:
    return f"{what}: {value}{'' if passed else ' MISSED'}"
