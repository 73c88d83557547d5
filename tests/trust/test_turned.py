"""What known outcomes overruled is said, by an agent and by a fit alike."""

import io
import random

import pytest
from rich.console import Console

from tacit.agent import Agent
from tacit.cli.log_results import show_certificate
from tacit.logs.episode import LoggedEpisode, LoggedStep
from tacit.offline.fit import fit
from tacit.problem.layout import Layout
from tacit.problem.spaces import Finite

ACTIONS = ("a", "b", "c", "d")
LAYOUT = Layout((("desk",),), ((ACTIONS,),), Finite(("ann", "bob")), Finite(("yes", "no")))


def draw(chance, action, worst=0.1):
    """Return whether one action in four fails to please."""
    return chance.random() < (worst if action == "b" else 0.95)


def served(outcomes, pleases=draw):
    """Return the diagnosis of an agent that was told so many outcomes."""
    agent, chance = Agent(LAYOUT, seed=0), random.Random(0)
    for t in range(800):
        person = chance.choice(("ann", "bob"))
        episode = agent.begin(person)
        pleased = pleases(chance, agent.act(episode, "desk"))
        word = "yes" if pleased == (person == "ann") else "no"
        agent.end(episode, word, outcome=int(pleased) if t % 10 == 0 and t < 10 * outcomes else None)
    return agent.diagnose()


def logged(anchors, pleases=draw):
    """Return the certificate of a fit to logs in which one outcome in fifty is known."""
    chance, logs = random.Random(0), []
    for t in range(1600):
        person, action = chance.choice(("ann", "bob")), chance.choice(ACTIONS)
        pleased = pleases(chance, action)
        word = "yes" if pleased == (person == "ann") else "no"
        steps = (LoggedStep("desk", action, ACTIONS, 0.25),)
        logs.append(LoggedEpisode(t, person, steps, word, reward=int(pleased) if t % 50 == 0 else None))
    return fit(logs, anchors=anchors).certificate


def by_code(found):
    return {finding.code: finding for finding in found.findings}


def few_please(chance, action):
    return not draw(chance, action)


@pytest.mark.parametrize("found", [lambda: served(20), lambda: logged("settle")], ids=["agent", "fit"])
def test_what_outcomes_overruled_is_said(found):
    said = by_code(found())
    turned = said["turned-by-outcomes"]
    assert turned.severity == "info"
    assert "context 'ann'" in turned.where
    assert "context 'bob'" in turned.where
    assert "known outcomes turned what feedback means in 2 states and contexts" in turned.evidence
    assert " to 1" in turned.evidence
    assert "by known outcomes: rewarding actions are not the minority" in said["understood"].evidence
    assert said["sigma-too-small"].severity == "info"  # M is large, which outcomes have shown
    assert "more actions that fail" not in said["sigma-too-small"].remedy


@pytest.mark.parametrize(
    "found",
    [
        lambda: served(0),
        lambda: served(20, few_please),
        lambda: logged("ignore"),
        lambda: logged("check"),
        lambda: logged("settle", few_please),
    ],
)
def test_nothing_is_said_to_be_overruled_where_outcomes_did_not(found):
    said = by_code(found())
    assert "turned-by-outcomes" not in said
    assert "if rewarding actions are the minority" in said["understood"].evidence


def test_a_fit_shows_the_numbers_of_the_reading_as_it_is_turned():
    plain, turned = logged("ignore"), logged("settle")
    assert plain.constants["M"][0] < 2 < turned.constants["M"][0]
    assert turned.constants["theta"][0] > 0.9
    for certificate, shown in ((plain, False), (turned, True)):
        console = Console(record=True, width=200, file=io.StringIO())
        show_certificate(console, certificate)
        assert ("turned-by-outcomes" in console.export_text()) == shown
