"""Whether what the kept agents learned can be trusted, and why."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from tacit.agent import Agent
from tacit.experiments.layered.playing import KEPT_AGENTS
from tacit.experiments.study import Runs
from tacit.trust.findings import Finding, raised, verdict


@dataclass(frozen=True)
class Trust:
    """The diagnosis of a learner's agent, as the page shows it."""

    learner: str
    verdict: str
    findings: tuple[Finding, ...]


def load_kept(runs: Runs, variant: str, learner: str) -> Agent | None:
    """Return the agent of seed 0 that was kept, None where there is none."""
    task = runs.task(variant, learner, 0)
    return None if task is None else Agent.load(runs.request.store.agent_path(task))


def assess_kept(runs: Runs, variant: str) -> Trust | None:
    """Return the diagnosis of the kept agent of seed 0: tacit_fast's where there is one, it keeps its counts."""
    for learner in reversed(KEPT_AGENTS):
        agent = load_kept(runs, variant, learner)
        if agent is not None:
            findings = agent.diagnose().findings
            return Trust(learner, verdict(findings), findings)
    return None


def list_raised(variants: Iterable[str], runs: Runs) -> list[str]:
    """Return what was found against trusting each environment's result, a line each."""
    assessed = {variant: assess_kept(runs, variant) for variant in variants}
    return [
        f"finding: {trust.learner} on {variant}: {finding}"
        for variant, trust in assessed.items()
        if trust is not None
        for finding in raised(trust.findings)
    ]
