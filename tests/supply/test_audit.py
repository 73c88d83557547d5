"""The audit: nothing is said to be well that was not looked up."""

import json
import subprocess
import sys

import pytest
from audit import UNKNOWN, VULNERABLE, WELL, judge_audit, run_pip_audit
from documents import ROOT

KNOWN = {"name": "a", "version": "1", "vulns": []}
BAD = {"name": "b", "version": "2", "vulns": [{"id": "CVE-1", "fix_versions": ["3"]}]}
SKIPPED = {"name": "c", "skip_reason": "not found, and could not be audited"}


@pytest.mark.parametrize(
    ("packages", "code", "said"),
    [
        ([KNOWN], WELL, "1 packages were looked up; nothing is known"),
        ([KNOWN, BAD], VULNERABLE, "b 2 has CVE-1; mended in 3"),
        ([KNOWN, SKIPPED], UNKNOWN, "1 of 2 packages were not looked up (c)"),
        ([SKIPPED, BAD], VULNERABLE, "b 2 has CVE-1"),
    ],
)
def test_an_audit_is_well_only_if_every_package_was_looked_up(packages, code, said):
    audit = judge_audit(json.dumps({"dependencies": packages}), "")
    assert audit.code == code
    assert said in "\n".join(audit.lines)


def test_a_service_that_cannot_be_reached_is_told():
    audit = judge_audit("", "Traceback\nConnectionError: no route")
    assert audit.code == UNKNOWN
    assert "did not answer (ConnectionError: no route)" in audit.lines[0]


def test_the_command_ends_with_the_code_of_the_audit(tmp_path):
    program = tmp_path / "pip-audit"
    program.write_text(f"#!{sys.executable}\nprint({json.dumps(json.dumps({'dependencies': [SKIPPED]}))})\n")
    program.chmod(0o755)
    assert "skip_reason" in run_pip_audit(str(program)).stdout
    command = [sys.executable, str(ROOT / "supply" / "audit.py"), str(program)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, "were not looked up" in done.stdout) == (UNKNOWN, True), done.stderr
