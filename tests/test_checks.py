"""The contract, crossed with every learner; and the contract itself, on agents that are broken on purpose."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from counting_encoder import CountingEncoder
from learners import SMALL, SMALL_VECTORS, make_learner, source_for

from tacit.agent import Agent
from tacit.base.changes import commit
from tacit.checks import (
    CHECKS,
    ContractError,
    check_act_repeats,
    check_feedback_in_any_order,
    check_interleaving_changes_nothing,
    check_learning_is_committed,
    check_missing_feedback,
    check_planning_never_learns,
    check_refusals,
    check_save_and_load,
    check_seed_decides,
)
from tacit.decoding.decoder import DecoderSettings
from tacit.envs.gym_adapter import GymSource
from tacit.envs.synthetic import synthetic
from tacit.experiments.learners import LEARNERS
from tacit.learning.layered import Layered
from tacit.problem.records import Record, Text
from tacit.problem.spaces import Finite, Vectors

pytestmark = pytest.mark.filterwarnings(
    "ignore:.*is left out", "ignore:.*plays uniformly"
)  # budgets are tiny


@pytest.mark.parametrize("check", [*CHECKS, check_save_and_load], ids=lambda check: check.__name__)
@pytest.mark.parametrize("kind", ["synthetic", "ragged"])
@pytest.mark.parametrize("name", LEARNERS)
def test_every_learner_keeps_the_contract(name, kind, check):
    source = source_for(kind, name)
    settings = SMALL if kind == "synthetic" else replace(SMALL, decoder=DecoderSettings(theta=0.8, M=1.2))
    make = make_learner(name, source.layout, settings)
    check(make, source)


@pytest.mark.parametrize("check", [*CHECKS, check_save_and_load], ids=lambda check: check.__name__)
def test_an_agent_on_vectors_keeps_the_contract(check):
    source = source_for("vectors")
    check(make_learner("tacit", source.layout, SMALL_VECTORS), source)


SAID = {
    "text": ("thanks, lovely", "no, not that"),
    "record": ({"stars": 1, "note": "no"}, {"stars": 5, "note": "yes"}),
}


@pytest.mark.parametrize("said", SAID)
@pytest.mark.parametrize("check", [*CHECKS, check_save_and_load], ids=lambda check: check.__name__)
def test_an_agent_on_text_and_records_keeps_the_contract(check, said):
    """The paper's MDP, whose contexts are shown as records with text, and whose feedback as text or records."""
    contexts = Record({"country": Finite(("de",), open=True), "age": Vectors(1), "note": Text()})
    shown = ({"country": "de", "age": 41, "note": "likes it quiet"}, {"country": "fr", "age": 7, "note": ""})
    feedback = Text() if said == "text" else Record({"stars": Finite((1, 5)), "note": Text()})
    layout = replace(synthetic().layout, contexts=contexts, feedback=feedback)
    source = GymSource(
        synthetic(),
        layout,
        context_of=lambda seen, info: shown[seen["context"]],
        feedback_of=lambda seen, info: SAID[said][info["feedback"]],
    )
    settings = replace(SMALL_VECTORS, decoder=SMALL.decoder)

    def make(seed):
        return Agent(Layered(layout, settings, encoder=CountingEncoder()), seed=seed)

    if check is check_save_and_load:
        check(make, source, partial(Agent.load, encoder=CountingEncoder()))
    else:
        check(make, source)


def test_small_agents_pass_through_every_stage():
    """Without this the contract might never have seen policy learning."""
    from tacit.checks import EPISODES, Log

    source = source_for("synthetic")
    agent = make_learner("tacit", source.layout)(0)
    Log(source, agent, 0, EPISODES)
    assert agent.stage.name == "policy learning"


class LearnsInAct(Agent):
    def act(self, episode, state):
        self.stage._visits += 1
        return super().act(episode, state)


class SharedStream(Agent):
    """Draws from one generator in the order of calls."""

    stream = np.random.default_rng(0)

    def act(self, episode, state):
        episode.draws = self.stream.random(len(episode.draws))
        return super().act(episode, state)


class NeverRepeats(Agent):
    def act(self, episode, state):
        layer, _ = self.layout.locate(state)
        del episode.states[layer:], episode.actions[layer:]
        episode.draws = np.random.default_rng().random(len(episode.draws))
        return super().act(episode, state)


class LearnsTwice(Agent):
    def end(self, episode, feedback):
        if not episode.open:
            commit(self.stage.learn(episode, 0).changes)
        else:
            super().end(episode, feedback)


class LearnsAtOnce(Agent):
    """Its stage writes down what it learns without being told to."""

    def begin(self, context):
        if "learn" not in vars(self.stage):
            learn = self.stage.learn
            self.stage.learn = lambda *told: (lesson := learn(*told), commit(lesson.changes))[0]
        return super().begin(context)


class AddsTwice(Agent):
    """What its stage will change says what to add, not what there will be."""

    def begin(self, context):
        if "learn" not in vars(self.stage):
            learn = self.stage.learn
            self.stage.learn = lambda *told: (lesson := learn(*told))._replace(
                changes=[*lesson.changes, (lambda visits, *_: visits.__iadd__(1), self.stage._visits, 0, 0)]
            )
        return super().begin(context)


class TakesOtherFeedback(Agent):
    def end(self, episode, feedback):
        if episode.open:
            super().end(episode, feedback)


class NeverForgets(Agent):
    def abandon(self, episode):
        pass


class TakesAnything(Agent):
    def begin(self, context):
        return super().begin(context if context in (0, 1) else 0)


class HalfRefuses(Agent):
    """Refuses an unknown state, after having learned something from it."""

    def act(self, episode, state):
        if state not in range(5):
            for steps in (episode.states, episode.actions, episode.chances):
                steps.append(0)
        return super().act(episode, state)


class ForgetsItsOpenEpisodes(Agent):
    def save(self, path):
        open_episodes, self._open = self._open, {}
        self._next_id += 1
        super().save(path)
        self._next_id -= 1
        self._open = open_episodes


@pytest.mark.parametrize(
    ("broken", "check", "rule"),
    [
        (LearnsInAct, check_planning_never_learns, "must not learn"),
        (NeverRepeats, check_act_repeats, "must repeat"),
        (SharedStream, check_seed_decides, "must replay"),
        (SharedStream, check_interleaving_changes_nothing, "interleaving"),
        (LearnsAtOnce, check_learning_is_committed, "must change nothing itself"),
        (AddsTwice, check_learning_is_committed, "made twice"),
        (LearnsTwice, check_feedback_in_any_order, "twice with the same feedback"),
        (TakesOtherFeedback, check_feedback_in_any_order, "must be refused"),
        (NeverForgets, check_missing_feedback, "must not stay open"),
        (TakesAnything, check_refusals, "unknown context must be refused"),
        (HalfRefuses, check_refusals, "must leave the agent as it was"),
        (ForgetsItsOpenEpisodes, check_save_and_load, "must act as the saved one"),
    ],
)
def test_a_broken_agent_is_caught(broken, check, rule):
    source = source_for("synthetic")
    patient = replace(SMALL, homing=replace(SMALL.homing, episodes=50))
    with pytest.raises(ContractError, match=rule):
        check(lambda seed: broken(source.layout, patient, seed), source)
