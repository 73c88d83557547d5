"""Policy learning from logs: an agent that has seen them, and goes on from there online.

The dynamics are those of the logs, all of whose episodes count; rewards are what the model decodes. For finite data the
agent is in the fast recipe's stage, as if the model's tuples and the logs' paths had been its own: it judges every
place anew as tuples come in. For vectors it is in the paper's policy learning (Algorithm 4), whose oracle has regressed
on the decoded reward of every logged episode.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from tacit.agent import Agent
from tacit.base.arrays import IntArray
from tacit.base.changes import commit
from tacit.decoding.counts import SeenCounts
from tacit.decoding.decoder import DecoderSettings, LipschitzDecoder, build_decoder
from tacit.decoding.reading import NeuralReading
from tacit.learning.episode import Episode
from tacit.learning.fast import FastLearning
from tacit.learning.policy_learning import Exploration, PolicyLearning
from tacit.learning.settings import Settings
from tacit.learning.stage import PolicyPlan, Setup, Stage
from tacit.logs.encoding import EncodedEpisode, LogReader
from tacit.logs.problems import Problems
from tacit.logs.reading import LogSource, Progress
from tacit.logs.record import LogError
from tacit.offline.passes import read_through
from tacit.offline.tables.meanings import TableMeanings
from tacit.planning.regression import OracleSettings
from tacit.planning.schedule import GammaSchedule
from tacit.planning.transition import extend_to_ended
from tacit.problem.layout import Layout
from tacit.problem.seen import seen_layout
from tacit.trust.certificate import Certificate


def train_table(
    meanings: TableMeanings,
    certificate: Certificate,
    source: LogSource,
    seed: int,
    problems: Problems | None,
    progress: Progress | None,
) -> Agent:
    """Return an agent that has learned from the logs what the decoded rewards recommend; it saves as any other."""
    episodes = read_through(source, LogReader(meanings.layout).read, problems, progress)
    if isinstance(meanings.reading, NeuralReading):
        check_minority(meanings)
        settings = vector_settings(meanings, certificate)
        stage: Stage = learn_policy(meanings.layout, settings, meanings.reading, meanings.counts, episodes)
    else:
        settings = meanings.settings
        stage = learn_fast(meanings, episodes)
    return Agent(meanings.layout, settings, seed, stage)


def check_minority(meanings: TableMeanings) -> None:
    """Raise where a policy would be learned upside down: the paper's recipe cannot be told of known outcomes."""
    turned = sum(judgement.turned for judgement in meanings.judgements.values())
    if turned:
        raise LogError(
            f"an agent of the paper's recipe takes rewarding actions to be the minority, known outcomes showed "
            f"otherwise in {turned} states and contexts; report success as failure and failure as success there, and "
            "fit again"
        )


def learn_fast(meanings: TableMeanings, episodes: Iterable[EncodedEpisode]) -> FastLearning:
    """Return the fast recipe's stage after the tuples, the known outcomes and the paths of the episodes."""
    layout = meanings.layout
    setup = Setup(layout, meanings.settings)
    dynamics, n = setup.dynamics(layout), 0
    for episode in episodes:
        path = episode.states if episode.abandoned else extend_to_ended(layout, episode.states)
        commit(dynamics.learn(episode.context, path, episode.actions))
        n += not episode.abandoned
    return FastLearning.from_counts(setup, meanings.counts.rounded(), dynamics, n, meanings.outcomes)


def vector_settings(meanings: TableMeanings, certificate: Certificate) -> Settings:
    """Return the settings of the paper's recipe with the constants that the model estimated.

    The least theta and the largest M that the tuples allow where that leaves room for a decoder, else the estimates.
    """
    constants = certificate.constants
    if constants is None:
        raise LogError(
            "a policy needs a place where feedback tells actions apart, the model found none; see its findings"
        )
    (theta, low, _), (M, _, high) = constants["theta"], constants["M"]
    fewest = int(meanings.layout.endings.n_actions.min())
    decoder = DecoderSettings(low, max(high, low), meanings.c)
    try:
        LipschitzDecoder(low, max(high, low), meanings.c, fewest)
    except ValueError:
        decoder = DecoderSettings(theta, max(M, theta), meanings.c)
    schedule = GammaSchedule(scale=meanings.settings.fast.gamma_scale)
    return replace(
        meanings.settings, decoder=decoder, oracle=OracleSettings("vaw"), schedule=schedule, recipe="paper"
    )


def learn_policy(
    layout: Layout,
    settings: Settings,
    reading: NeuralReading,
    counts: SeenCounts,
    episodes: Iterable[EncodedEpisode],
) -> PolicyLearning:
    """Return the stage of Algorithm 4 after all episodes, each with its decoded reward, off their own policy."""
    decoder = build_decoder(layout, reading.posterior, settings.decoder)
    tuples = np.rint(counts.by_ending()).astype(np.int64)
    setup = Setup(seen_layout(layout), settings)
    stage = PolicyLearning(setup, decoder, _found(np.zeros_like(tuples), tuples))
    visits = np.zeros_like(tuples)
    plan = PolicyPlan(layout.uniform_policy, PolicyLearning.name)
    for n, read in enumerate(episodes):
        episode = Episode(None, n, read.context, read.context, plan, np.empty(0))
        episode.states, episode.actions = read.states, read.actions
        commit(stage.learn(episode, read.feedback).changes)
        if not read.abandoned:
            visits[read.ended] += 1
    stage.exploration = _found(visits, tuples)
    return stage


def _found(visits: IntArray, tuples: IntArray) -> Exploration:
    frequency = visits / max(int(visits.sum()), 1)
    return Exploration(frequency, frequency, np.ones(len(visits)), tuples > 0, tuples, visits)
