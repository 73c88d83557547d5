"""Audits the lock file: does a package have a vulnerability that is known? `make audit` runs it; it needs the network.

pip-audit says that nothing is known, and ends well, also where the service could not tell it of a single package. Here
an audit is well only if every package was looked up.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from typing import Any, NamedTuple

from lock import LOCK

WELL, VULNERABLE, UNKNOWN = 0, 1, 2
"""Exit codes: nothing known against any package; something known; not every package was looked up."""


class Audit(NamedTuple):
    """What came of an audit, as a line each, and the exit code."""

    lines: list[str]
    code: int


def run_pip_audit(program: str) -> subprocess.CompletedProcess[str]:
    """Return what pip-audit says of the lock file, which is complete, so that nothing is resolved or installed."""
    options = ["--no-deps", "--disable-pip", "--progress-spinner", "off", "--format", "json"]
    command = [program, "--requirement", str(LOCK), *options]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def judge_audit(stdout: str, stderr: str) -> Audit:
    """Return what to say of an audit.

    >>> judge_audit('{"dependencies": [{"name": "a", "version": "1", "vulns": []}]}', "")
    Audit(lines=['1 packages were looked up; nothing is known against them.'], code=0)
    """
    try:
        packages: list[Mapping[str, Any]] = json.loads(stdout)["dependencies"]
    except (ValueError, KeyError):
        said = (stderr.strip().splitlines() or ["pip-audit said nothing"])[-1]
        return Audit(
            [f"error: no package was looked up, as the service did not answer ({said}); {REMEDY}"], UNKNOWN
        )
    found = [_tell(package, each) for package in packages for each in package.get("vulns", ())]
    skipped = [package["name"] for package in packages if "skip_reason" in package]
    if skipped:
        some = ", ".join(skipped[:5]) + (", ..." if len(skipped) > 5 else "")
        found.append(
            f"error: {len(skipped)} of {len(packages)} packages were not looked up ({some}); {REMEDY}"
        )
        return Audit(found, VULNERABLE if len(found) > 1 else UNKNOWN)
    if found:
        return Audit(found, VULNERABLE)
    return Audit([f"{len(packages)} packages were looked up; nothing is known against them."], WELL)


REMEDY = "run it again where the index that pip uses tells of vulnerabilities"


def _tell(package: Mapping[str, Any], vulnerability: Mapping[str, Any]) -> str:
    mended = ", ".join(vulnerability.get("fix_versions", ())) or "no version"
    return f"error: {package['name']} {package['version']} has {vulnerability['id']}; mended in {mended}"


def main() -> None:
    """Audit with the program that is given, say what came of it, and end with its code."""
    done = run_pip_audit(sys.argv[1])
    lines, code = judge_audit(done.stdout, done.stderr)
    print("\n".join(lines))
    sys.exit(code)


if __name__ == "__main__":
    main()
