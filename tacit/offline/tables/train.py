"""Policy learning from logs: an agent that has seen them, and goes on from there online.

The dynamics are those of the logs, all of whose episodes count; rewards are what the model decodes. For finite data the
agent is in the fast recipe's stage, as if the model's tuples and the logs' paths had been its own: it judges every
place anew as tuples come in. For vectors it is in the paper's policy learning (Algorithm 4), whose oracle has regressed
on the decoded reward of every logged episode.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import replace
from typing import overload

import numpy as np

from tacit.agent import Agent
from tacit.base.arrays import FloatArray, IntArray
from tacit.decoding.decoder import DecoderSettings, LipschitzDecoder, build_decoder
from tacit.decoding.reading import NeuralReading
from tacit.decoding.tuples import TupleCounts
from tacit.learning.episode import Episode
from tacit.learning.fast import FastLearning
from tacit.learning.policy_learning import Exploration, PolicyLearning
from tacit.learning.settings import Settings
from tacit.learning.stage import PolicyPlan, Setup, Stage
from tacit.logs.episodes import LogError, Problems
from tacit.logs.survey import LogReader, ReadEpisode
from tacit.offline.reward_model import Logs, Progress, RewardModel, TableModel, open_logs
from tacit.offline.tables.gathering import read_episodes
from tacit.planning.regression import OracleSettings
from tacit.planning.schedule import GammaSchedule
from tacit.planning.transition import TransitionCounts
from tacit.problem.layout import Layout
from tacit.trust.findings import raised


@overload
def train(
    logs: Logs,
    model: TableModel,
    seed: int = 0,
    problems: Problems | None = None,
    progress: Progress | None = None,
) -> Agent: ...


@overload
def train(
    logs: Logs,
    model: RewardModel,
    seed: int = 0,
    problems: Problems | None = None,
    progress: Progress | None = None,
) -> Agent: ...


def train(
    logs: Logs,
    model: RewardModel,
    seed: int = 0,
    problems: Problems | None = None,
    progress: Progress | None = None,
) -> Agent:
    """Return an agent that has learned from the logs what the model's rewards recommend; it saves as any other.

    For conversations it is a `TextAgent` in policy learning, with the policy that the model was fitted with.

    >>> from tacit.envs.drawn_logs import draw_logs
    >>> from tacit.envs.synthetic import synthetic_mdp
    >>> from tacit.offline.fit import fit
    >>> logs = list(draw_logs(synthetic_mdp(), 4000, seed=0))
    >>> agent = train(logs, fit(logs))
    >>> agent.begin(context=0).plan.policy[0, 0].argmax()
    np.int64(0)
    """
    warn_untrusted(model)
    if not isinstance(model, TableModel):
        from tacit.offline.text.reward_model import TextRewardModel
        from tacit.offline.text.train import train_text  # here, because what reads text is optional

        assert isinstance(model, TextRewardModel)
        return train_text(logs, model, seed, problems, progress)
    check_trainable(model)
    reader = LogReader(model.layout)
    episodes = read_episodes(open_logs(logs, problems)(), reader, problems, progress)
    if isinstance(model.reading, NeuralReading):
        settings = vector_settings(model)
        stage: Stage = learn_policy(model.layout, settings, model.reading, model.counts, episodes)
    else:
        settings = model.settings
        stage = resume_fast(model.layout, settings, model.counts, episodes)
    return Agent(model.layout, settings, seed, stage)


def check_trainable(model: TableModel) -> None:
    """Raise where a policy would be learned upside down."""
    if model.flipped.any():
        raise LogError(
            f"an agent takes rewarding actions to be the minority, anchors showed otherwise in "
            f"{np.count_nonzero(model.flipped)} states and contexts; report success as failure and failure as success "
            "there, and fit again"
        )


def warn_untrusted(model: RewardModel) -> None:
    """Warn where a policy would be learned from something else than rewards."""
    for finding in raised(model.certificate.findings):
        if finding.severity == "error":
            warnings.warn(f"the model cannot be trusted, and the policy no more: {finding}", stacklevel=3)


def resume_fast(
    layout: Layout, settings: Settings, counts: FloatArray, episodes: Iterable[ReadEpisode]
) -> FastLearning:
    """Return the fast recipe's stage after the model's tuples (S_H, X, Y, K) and the paths of the episodes."""
    transitions, n = TransitionCounts(layout), 0
    for n, episode in enumerate(episodes, 1):  # noqa: B007, n is how many there were
        transitions.add(episode.context, episode.states, episode.actions)
    whole = np.rint(counts)
    tuples = TupleCounts(whole, whole.copy(), whole.sum(axis=2))
    return FastLearning.from_counts(Setup(layout, settings), tuples, transitions, n)


def vector_settings(model: TableModel) -> Settings:
    """Return the settings of the paper's recipe with the constants that the model estimated.

    The least theta and the largest M that the tuples allow where that leaves room for a decoder, else the estimates.
    """
    constants = model.certificate.constants
    if constants is None:
        raise LogError(
            "a policy needs a place where feedback tells actions apart, the model found none; see its findings"
        )
    (theta, low, _), (M, _, high) = constants["theta"], constants["M"]
    fewest = int(model.layout.n_actions[-1, : model.layout.n_states[-1]].min())
    decoder = DecoderSettings(low, max(high, low), model.c)
    try:
        LipschitzDecoder(low, max(high, low), model.c, fewest)
    except ValueError:
        decoder = DecoderSettings(theta, max(M, theta), model.c)
    schedule = GammaSchedule(scale=model.settings.fast.gamma_scale)
    return replace(
        model.settings, decoder=decoder, oracle=OracleSettings("vaw"), schedule=schedule, recipe="paper"
    )


def learn_policy(
    layout: Layout,
    settings: Settings,
    reading: NeuralReading,
    counts: FloatArray,
    episodes: Iterable[ReadEpisode],
) -> PolicyLearning:
    """Return the stage of Algorithm 4 after all episodes, each with its decoded reward, off their own policy."""
    decoder = build_decoder(layout, reading.posterior, settings.decoder)
    tuples = np.rint(counts.sum(axis=(1, 2, 3))).astype(np.int64)
    stage = PolicyLearning(Setup(layout, settings), decoder, _found(np.zeros_like(tuples), tuples))
    visits = np.zeros_like(tuples)
    plan = PolicyPlan(layout.uniform_policy, PolicyLearning.name)
    for n, read in enumerate(episodes):
        episode = Episode(None, n, read.context, read.context, plan, np.empty(0))
        episode.states, episode.actions = read.states, read.actions
        stage.learn(episode, read.feedback)
        visits[read.states[-1]] += 1
    stage.exploration = _found(visits, tuples)
    return stage


def _found(visits: IntArray, tuples: IntArray) -> Exploration:
    frequency = visits / max(int(visits.sum()), 1)
    return Exploration(frequency, frequency, np.ones(len(visits)), tuples > 0, tuples, visits)
