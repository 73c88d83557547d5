"""Policy learning from logs: an agent that has seen them, and goes on from there online.

The dynamics are those of the logs, all of whose episodes count; rewards are what the model decodes. The agent is in
the stage of Tacit's own recipe that its contexts call for, as if the tuples and the logs' paths had been its own: few
labels are judged anew, each by itself, as tuples come in (`tacit.learning.fast`); all else goes on from what the model
understood (`tacit.learning.generalising`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from tacit.agent import Agent
from tacit.base.changes import commit
from tacit.decoding.people import VectorPeople
from tacit.decoding.reading import thin_to_uniform
from tacit.decoding.tuples import Tuples, TupleStore
from tacit.decoding.understanding import Understanding, fit_understanding
from tacit.learning.fast import FastLearning
from tacit.learning.generalising import GeneralisingLearning
from tacit.learning.layered import Layered
from tacit.learning.stage import Setup, Stage
from tacit.logs.encoding import EncodedEpisode
from tacit.logs.problems import Problems
from tacit.logs.reading import LogSource, Progress
from tacit.logs.record import LogError
from tacit.offline.passes import read_through
from tacit.offline.tables.gathering import Gathered
from tacit.offline.tables.meanings import TableMeanings
from tacit.planning.transition import TransitionEstimate, extend_to_ended
from tacit.problem.layout import Layout
from tacit.text.sentences import encoder_of
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
    episodes = read_through(source, meanings.reader.read, problems, progress, meanings.ahead)
    world = Layered(meanings.layout, meanings.settings, encoder=encoder_of(meanings.layout))
    if isinstance(meanings.reading, Understanding):
        check_minority(meanings)
        stage: Stage = learn_generalising(meanings, meanings.reading, world.setup, episodes)
    else:
        stage = learn_fast(meanings, world.setup, episodes)
    return Agent(world, None, seed, stage)


def check_minority(meanings: TableMeanings) -> None:
    """Raise where a policy would be learned upside down: what is understood cannot be told of known outcomes."""
    turned = sum(judgement.turned for judgement in meanings.judgements.values())
    if turned:
        raise LogError(
            f"an agent takes rewarding actions to be the minority where contexts or feedback are vectors, text or many "
            f"labels, known outcomes showed otherwise in {turned} states and groups of contexts; report success as "
            "failure and failure as success there, and fit again"
        )


def learn_generalising(
    meanings: TableMeanings, known: Understanding, setup: Setup, episodes: Iterable[EncodedEpisode]
) -> GeneralisingLearning:
    """Return the stage that generalises after the tuples and the paths of the episodes.

    Tuples of unknown probability are taken as they are for a fit; what the model understood is fitted to all of them.
    """
    gathered, dynamics, n = Gathered.empty(meanings.layout, False), setup.dynamics(setup.layout), 0
    for episode in episodes:
        gathered.add(episode)
        n += learn_path(dynamics, meanings.layout, episode)
    gathered.accept_unknown()
    tuples = Tuples.from_rows(gathered.teaching.known.take())
    if not len(tuples):
        return GeneralisingLearning.from_tuples(setup, TupleStore(setup.layout), dynamics, n, known)
    marked = thin_to_uniform(tuples, np.random.default_rng([len(tuples), 5]))
    understood = fit_understanding(setup.layout, marked, meanings.c, known if known.is_sure else None)
    if isinstance(
        understood.people, VectorPeople
    ):  # the others were looked at, too: it was held against them
        looked = np.bincount(marked.states[marked.weights == 1], minlength=setup.layout.endings.size)
        model = replace(understood.people.model, looked=looked, steady=True)
        understood = replace(understood, people=VectorPeople(model))
    store = TupleStore(setup.layout, marked.to_rows())
    return GeneralisingLearning.from_tuples(setup, store, dynamics, n, understood)


def learn_fast(meanings: TableMeanings, setup: Setup, episodes: Iterable[EncodedEpisode]) -> FastLearning:
    """Return the fast recipe's stage after the tuples, the known outcomes and the paths of the episodes."""
    dynamics = setup.dynamics(setup.layout)
    n = sum(learn_path(dynamics, meanings.layout, episode) for episode in episodes)
    return FastLearning.from_counts(setup, meanings.counts.rounded(), dynamics, n, meanings.outcomes)


def learn_path(dynamics: TransitionEstimate, layout: Layout, episode: EncodedEpisode) -> bool:
    """Have the dynamics learn the path of an episode; return whether it ended."""
    path = episode.states if episode.abandoned else extend_to_ended(layout, episode.states)
    commit(dynamics.learn(episode.context, path, episode.actions))
    return not episode.abandoned
