"""`manifest.json`: from which code, versions, seeds and options a study was made, and how long it took."""

from __future__ import annotations

import platform
import re
import subprocess
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from importlib.resources import files
from pathlib import Path
from typing import Any

from tacit.engines.local import available_cores
from tacit.experiments.study import Runs

VARYING = re.compile(r"'[^']*'|[0-9.]+")
"""What differs between warnings of one kind."""
PACKAGES = (
    "tacit",
    "numpy",
    "numba",
    "scipy",
    "torch",
    "gymnasium",
    "matplotlib",
    "transformers",
    "peft",
    "scikit-learn",
    "mlxtend",
)


def describe_runs(runs: Runs) -> dict[str, Any]:
    """Return what `manifest.json` holds: no host names and no paths."""
    request = runs.request
    return {
        "figure": runs.study.name,
        "command": command_line(runs),
        "options": {
            "seeds": request.n_seeds,
            "fraction": request.fraction,
            "engine": request.engine,
            "jobs": request.n_jobs,
        },
        **runs.study.origin,
        "commit": git_commit(),
        "versions": {"python": platform.python_version()} | {name: installed(name) for name in PACKAGES},
        "platform": f"{platform.system()} on {platform.machine()}, {available_cores()} cores",
        "seeds": list(range(request.n_seeds)),
        "runs": {"all": len(runs.results), "computed_now": runs.computed},
        "times": {
            "started": runs.started.isoformat(timespec="seconds"),
            "finished": datetime.now(UTC).isoformat(timespec="seconds"),
            "seconds": round(runs.seconds, 3),
            "seconds_of_all_runs": round(sum(result["seconds"] for result in runs.results.values()), 3),
        },
        "warnings": warned(runs),
    }


def command_line(runs: Runs) -> str:
    """Return the command that makes this again."""
    request = runs.request
    fraction = "" if request.fraction == 1 else f" --fraction {request.fraction:g}"
    return f"tacit reproduce {runs.study.name}{runs.study.arguments} --seeds {request.n_seeds}{fraction}"


def warned(runs: Runs) -> list[str]:
    """Return what runs warned of, one of each kind: the first, and how many more differ in names or numbers only."""
    kinds: dict[str, list[str]] = {}
    for task, result in runs.results.items():
        for message in result["warnings"]:
            kinds.setdefault(VARYING.sub("", message), []).append(f"{task.label}: {message}")
    return [
        f"{first} ({len(others)} more like this)" if others else first for first, *others in kinds.values()
    ]


def installed(package: str) -> str | None:
    """Return the version of a package, None where it is not installed."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def git_commit() -> str | None:
    """Return the commit that Tacit's own files are checked out from, marked if they were changed since."""
    package = Path(str(files("tacit")))
    if _git(package, "ls-files", "--error-unmatch", "__init__.py") is None:
        return None
    head = _git(package, "rev-parse", "HEAD")
    return f"{head} with changes" if head and _git(package, "status", "--porcelain", ".") else head


def _git(directory: Path, *arguments: str) -> str | None:
    try:
        done = subprocess.run(
            ["git", "-C", str(directory), *arguments], capture_output=True, text=True, timeout=10, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()
