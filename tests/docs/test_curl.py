"""The page of curl commands: all of them are run, in their order, and answer what the page says."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from service_process import service_process

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "curl.md"

pytestmark = pytest.mark.skipif(shutil.which("curl") is None, reason="there is no curl")


def blocks(kind):
    """Return what stands in the fenced blocks of a kind."""
    return re.findall(rf"^```{kind}\n(.*?)^```", PAGE.read_text(), re.M | re.S)


def test_every_command_does_what_the_page_says(tmp_path):
    address, *commands = blocks("sh")
    assert address == "TACIT=http://127.0.0.1:8040\n"
    with service_process(tmp_path) as service:
        said = []
        for block in commands:
            script = f"set -e\nTACIT={service.url}\n" + re.sub(
                r"^(curl .*(?:\n .*)*)$", r"\1; echo", block, flags=re.M
            )
            done = subprocess.run(
                ["sh", "-c", script],
                capture_output=True,
                text=True,
                timeout=60,
                env=os.environ | {"TMPDIR": str(tmp_path)},
            )
            assert done.returncode == 0, (block, done.stdout, done.stderr)
            said.append(done.stdout.splitlines())
    (shown,) = blocks("json")
    assert said[1] == shown.splitlines()
    assert len([line for line in said[3] if line]) == 4  # status, policy, and two episodes
    more = [line for line in said[4] if line]
    assert more[5] == '{"anchors":1}'
    assert more[6] == '{"labels":[null]}'
    assert more[-1] == '{"loaded":3}'
    assert [line for line in said[-1] if line] == ['{"alive":true}', '{"ready":true}']
