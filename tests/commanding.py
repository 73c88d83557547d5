"""Commands as users give them, judged as users see them: what they print, how they end, what they leave."""

import json
import re

from campaign import Outcome, changed, locate, raw
from typer.testing import CliRunner

from tacit.cli.main import app

USAGE = 2
"""The exit code with which typer refuses options."""


def invoke(*words):
    """Return what a command printed and how it ended."""
    return CliRunner().invoke(app, [str(word) for word in words])


def run(*words):
    """Return the same, after a look at whether a command may end so."""
    result = invoke(*words)
    check_ending(result)
    return result


def outcome(result):
    """Return what an ending means."""
    return Outcome.SOUND if result.exit_code == 0 else Outcome.REFUSED


def check_ending(result):
    """Raise unless a command ended well, or with a line that says what to do."""
    error = result.exception
    if error is not None and not isinstance(error, SystemExit):
        raise raw(locate(error))
    check_words(result.exit_code, result.output)


def check_words(code, output):
    """Raise unless what was printed fits how the command ended."""
    if "Traceback" in output or re.search(r"^\S*:\d+: \w*Warning", output, re.M):
        raise raw(f"it prints {output[-200:]!r}")
    if code not in (0, USAGE) and not re.search(r"^error: \S+ \S+", output, re.M):
        raise raw(f"it ends with code {code} and no line that says why: {output[-200:]!r}")
    if re.search(r"^error: \[Errno", output, re.M):
        raise raw(f"it prints the system's own words alone: {output[-200:]!r}")


def read_json(text):
    """Return a JSON text; raise if it is none by the standard, which has no NaN and no Infinity."""

    def refuse(word):
        raise changed(f"the JSON that was written holds {word}, which is none")

    return json.loads(text, parse_constant=refuse)
