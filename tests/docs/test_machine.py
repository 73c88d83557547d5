"""No file of the project tells of one machine or one network."""

import re
import subprocess

from documents import ROOT

FORBIDDEN = re.compile(r"(?<![\w.])/(?:work|root|home|Users)(?![\w.-])|index" + "-url")
"""Paths of one machine, and package indexes of one network."""


def files_of_the_project():
    """Everything that is or would be committed."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    try:
        listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):  # no git, or an unpacked archive
        kept = (ROOT / name for name in ("tacit", "tests", "docs", "benchmarks"))
        return [p for folder in kept for p in folder.rglob("*") if p.suffix in (".py", ".md", ".txt", ".j2")]
    return [ROOT / line for line in listed.splitlines() if (ROOT / line).is_file()]


def forbidden(text):
    return [line for line in text.splitlines() if FORBIDDEN.search(line)]


def test_no_file_tells_of_one_machine():
    files = files_of_the_project()
    assert len(files) > 50
    assert {str(f): found for f in files if (found := forbidden(f.read_text(errors="ignore")))} == {}


def test_control_a_path_of_one_machine_is_found():
    slash = "/"  # so that this file does not contain what it looks for
    bad = [f"cd {slash}work/main", f'"{slash}root"', f"{slash}home/me", "pip --extra-index" + "-url x"]
    good = ["a/work/b", "https://x.org/home", "see docs/home.md", "square/root"]
    assert forbidden("\n".join(bad + good)) == bad
