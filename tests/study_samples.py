"""Studies small enough for tests, and what tests need to perform them."""

import io
from dataclasses import replace

from rich.console import Console

from tacit.engines.dealing import deal
from tacit.experiments import run
from tacit.experiments.catalogue import STUDIES
from tacit.experiments.run import perform
from tacit.experiments.study import Request

FRACTION = 0.001
QUIET = Console(file=io.StringIO())


def resweep(study, **changes):
    """Return a study with another sweep."""
    return replace(study, sweep=replace(study.sweep, **changes))


SMALL = resweep(STUDIES["synthetic"], learners=("tacit_fast", "uniform"))
"""Two learners of the synthetic study, one with an agent to keep; they need no torch, which takes seconds to load."""


def narrow(study, *environments, learners=("tacit", "tacit_fast", "uniform")):
    """Return a layered study with few environments and learners."""
    kept = {name: study.sweep.environments[name] for name in environments}
    return resweep(study, environments=kept, learners=learners)


def perform_small(out, **options):
    """Perform `SMALL` on two seeds and a thousandth of its budget."""
    return perform(Request(SMALL, out, **({"seeds": 2, "fraction": FRACTION, "jobs": 1} | options)), QUIET)


def stay_here(patch):
    """Let tasks run in this process: no time is lost in starting others, and what is patched here is known."""
    patch.setattr(run, "deal", lambda tasks, make, **given: deal(tasks, make, **given | {"jobs": 0}))


def ignore(amount, stage):
    """Report to nobody."""


def without_times(summary):
    """Return a summary without what differs between two runs."""
    if not isinstance(summary, dict):
        return summary
    return {key: without_times(value) for key, value in summary.items() if key != "episodes_per_second"}
