"""How often each finding is raised: on healthy problems, as a false alarm, and on sick ones, where it has power.

It reads what `real_feedback.py` has played of the families `healthy` and `sick`, and plays nothing itself:

    python benchmarks/real_feedback.py --choose --families healthy sick --seeds 20 --out FILE
    python benchmarks/verdicts.py FILE

A row for each verdict and each finding that is more than a remark, a column for each kind of problem: percent of runs.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tacit.trust.findings import VERDICTS

HEALTHY, SICK = "healthy", "sick"
WORSE = ("cannot work", "not known yet")
"""Verdicts that a healthy problem should not be given."""
LEARNED = 0.95
"""The share of the way to the optimum from which on it is wrong to say that it cannot work."""


def group_runs(rows: Sequence[Mapping[str, Any]]) -> dict[str, list[Mapping[str, Any]]]:
    """Return the runs of Tacit on healthy and sick problems by family."""
    runs: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for row in rows:
        if row["family"].partition(".")[0] in (HEALTHY, SICK) and row["learner"] == "tacit":
            runs[row["family"]].append(row)
    return dict(sorted(runs.items()))


def raised_codes(row: Mapping[str, Any]) -> set[str]:
    """Return the findings of a run that are more than remarks.

    >>> raised_codes({"findings": ["error: a", "info: b", "caution: c"]}) == {"a", "c"}
    True
    """
    pairs = (finding.split(": ", 1) for finding in row["findings"])
    return {code for severity, code in pairs if severity != "info"}


def write_rates(runs: Mapping[str, Sequence[Mapping[str, Any]]]) -> str:
    """Return the table of percentages."""
    codes = sorted({code for rows in runs.values() for row in rows for code in raised_codes(row)})
    columns = "".join(f"{name.replace('healthy.', '+').replace('sick.', '-')[:9]:>10}" for name in runs)
    lines = [f"{'':<28}{columns}", _row("runs", [len(rows) for rows in runs.values()])]
    for verdict in VERDICTS.values():
        lines.append(
            _row(verdict, [_percent([row["verdict"] == verdict for row in rows]) for rows in runs.values()])
        )
    for code in codes:
        lines.append(
            _row(code, [_percent([code in raised_codes(row) for row in rows]) for rows in runs.values()])
        )
    return "\n".join([*lines, "", *judge_rates(runs)])


def judge_rates(runs: Mapping[str, Sequence[Mapping[str, Any]]]) -> list[str]:
    """Return whether too many sick problems were said to work, or healthy ones not to."""
    said = []
    for name, rows in runs.items():
        wrong = [
            row["verdict"] == "works" if name.startswith(SICK) else row["verdict"] in WORSE for row in rows
        ]
        if _percent(wrong) > 5:
            said.append(f"{name}: {_percent(wrong)} % of the verdicts are wrong, of 5 % that may be MISSED")
    learned = [row for rows in runs.values() for row in rows if (row.get("last") or 0.0) >= LEARNED]
    refused = sum(row["verdict"] == "cannot work" for row in learned)
    return [*said, f"cannot work: said of {refused} of {len(learned)} runs that got above {LEARNED}"]


def _row(name: str, numbers: Sequence[int]) -> str:
    return f"{name:<28}" + "".join(f"{number or '.':>10}" for number in numbers)


def _percent(answers: Sequence[bool]) -> int:
    return round(100 * sum(answers) / max(len(answers), 1))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("results", type=Path, help="what real_feedback.py wrote")
    print(write_rates(group_runs(json.loads(parser.parse_args().results.read_text())["results"])))


if __name__ == "__main__":
    main()
