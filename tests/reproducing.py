"""`tacit reproduce` as tests call it, and what they read of what it says."""

import json
import re

import pytest
from typer.testing import CliRunner

from tacit.cli.main import app

FEW = pytest.mark.filterwarnings("ignore:the feedback is not shown to be more than noise")
"""So few conversations may well say nothing; what an agent says then is tested with the agent."""


def invoke(*arguments):
    return CliRunner().invoke(app, ["reproduce", *map(str, arguments)])


def said(result):
    return " ".join(re.split(r"[\s│]+", result.output))  # messages stand wrapped in a box


def read_summary(out):
    return json.loads((out / "booking" / "summary.json").read_text())
