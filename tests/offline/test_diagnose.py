"""The diagnosis of logs: the right verdict for healthy and unhealthy ones, on one page without a network."""

import re
from dataclasses import replace

import numpy as np
import pytest

import tacit
from tacit.decoding.decoder import DecoderSettings
from tacit.envs.drawn_logs import draw_logs
from tacit.envs.gym_adapter import GymSource
from tacit.envs.random_mdp import random_mdp
from tacit.envs.synthetic import synthetic, synthetic_mdp
from tacit.envs.unhealthy import action_dependent, shuffled, small_sigma
from tacit.experiments.learners import LEARNERS
from tacit.learning.settings import Settings
from tacit.logs.episode import LoggedEpisode, LoggedStep
from tacit.logs.problems import Problem, Problems
from tacit.logs.writing import LogWriter
from tacit.offline.fit import diagnose_logs
from tacit.offline.page import ANSWERS
from tacit.simulate import Simulation
from tacit.trust.anchors import ANCHOR_CODES
from tacit.trust.findings import VERDICTS, raised

HEALTHY = {"synthetic": synthetic().mdp, "flipped": synthetic("flipped").mdp, "random": random_mdp(1).mdp}
UNHEALTHY = {
    "shuffled": (shuffled(synthetic_mdp()), "feedback-tells-nothing"),
    "small sigma": (small_sigma(), "sigma-too-small"),
    "action dependent": (action_dependent(random_mdp(1000).mdp), "feedback-depends-on-action"),
}


def uniform_logs(env, path, episodes=8000):
    agent = LEARNERS["uniform"].make(env.layout, Settings(DecoderSettings(0.9, 1.3)), 0)
    with LogWriter(path) as log:
        Simulation(agent, GymSource(env), seed=7, log=log).run(episodes)
    return path


@pytest.mark.parametrize("name", HEALTHY)
def test_healthy_logs_work(name):
    diagnosis = diagnose_logs(list(draw_logs(HEALTHY[name], 8000, seed=1)))
    assert diagnosis.verdict == "works"
    assert diagnosis.examination.meanings
    assert "anchors-agree" in {finding.code for finding in diagnosis.findings}


@pytest.mark.parametrize("name", UNHEALTHY)
def test_logs_that_cannot_work_are_told(name, tmp_path):
    env, code = UNHEALTHY[name]
    diagnosis = diagnose_logs(uniform_logs(env, tmp_path / "logs.jsonl"))
    readable = name == "action dependent"  # the reward can still be read off
    assert diagnosis.verdict == ("works with caution" if readable else "cannot work")
    assert code in {finding.code for finding in raised(diagnosis.findings)}
    if readable:
        assert diagnosis.examination.independence.words == "fails"


def test_few_episodes_ask_for_more():
    diagnosis = diagnose_logs(list(draw_logs(random_mdp(1).mdp, 120, seed=1)))
    assert diagnosis.verdict == "not known yet"
    assert diagnosis.examination.wanted
    assert all(each.more > 0 and each.episodes >= each.more for each in diagnosis.examination.wanted)
    assert "about" in diagnosis.page()


def test_nothing_to_learn_from_is_a_verdict_too():
    logs = [LoggedEpisode(n, 0, (LoggedStep("s", "a", ("a", "b"), 1.0),), n % 2) for n in range(50)]
    diagnosis = diagnose_logs(logs)
    assert diagnosis.verdict == "cannot work"
    page = diagnosis.page()
    assert "last action was random" in page
    assert diagnosis.examination.places == ()


def test_the_page_stands_alone_and_says_what_matters():
    problems = Problems()
    problems.add(Problem("a.jsonl", 3, "no-feedback", "an episode must end with feedback"), b"")
    found = diagnose_logs(list(draw_logs(random_mdp(1).mdp, 5000, seed=1)), problems=problems)
    assert found.title == "episodes in memory"
    diagnosis = replace(found, title="logs <of> today")
    page = diagnosis.page()
    assert page.count("data:image/png;base64,") == 2
    assert not re.search(r'(?:src|href)="(?!data:)', page)
    assert "<strong>works</strong>" in page
    assert "logs &lt;of&gt; today" in page
    assert "a.jsonl, line 3" in page
    assert "actions that succeed are the minority" in page
    assert page.count('class="map"') == len(diagnosis.examination.meanings)
    assert set(ANSWERS) == set(VERDICTS.values())


def test_outcomes_that_contradict_the_decoding_are_told():
    logs = [
        LoggedEpisode(each.episode, each.context, each.steps, each.feedback, reward=1 - each.reward)
        for each in draw_logs(synthetic_mdp(), 5000, seed=1)
    ]
    diagnosis = diagnose_logs(logs)
    assert diagnosis.verdict == "cannot work"
    assert "contradict" in diagnosis.page()


def test_distances_pass_chance_where_feedback_speaks_and_not_where_it_does_not():
    mdp = synthetic_mdp()
    for place in diagnose_logs(list(draw_logs(mdp, 8000, seed=1))).examination.places:
        assert (place.distance > place.chance) == (place.state == "3"), place
        assert np.isfinite(place.p_value)


def test_a_model_diagnoses_logs_by_the_outcomes_they_know(tmp_path):
    logs = list(draw_logs(synthetic_mdp(), 5000, seed=1))
    model = tacit.fit(logs)
    assert model.diagnose(logs).findings == tacit.diagnose(logs).findings
    assert model.diagnose(logs).page() == tacit.diagnose(logs).page()
    turned = [replace(each, reward=1 - each.reward) for each in logs]
    assert model.diagnose(turned).verdict == "cannot work"
    assert tacit.fit(turned, anchors="check").diagnose(logs).verdict == "works"
    silent = model.diagnose([replace(each, reward=None) for each in logs])
    assert not {finding.code for finding in silent.findings} & ANCHOR_CODES
    silent.write(tmp_path / "report.html")
    assert (tmp_path / "report.html").read_text() == silent.page()


def test_a_diagnosis_of_logs_is_read_in_sentences_as_that_of_an_agent():
    diagnosis = tacit.diagnose(list(draw_logs(synthetic_mdp(), 2000, seed=1)))
    verdict, *sentences = str(diagnosis).split("\n")
    assert verdict == diagnosis.verdict
    assert sentences == [str(finding) for finding in diagnosis.findings]
    assert diagnosis.basis in str(diagnosis)
    assert diagnosis.basis
