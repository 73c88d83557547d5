"""Many threads, one agent: no id twice, no episode lost, files whole. Threads take turns every few bytecodes."""

import copy
import pickle
import sys
import threading
import time
from dataclasses import replace

import numpy as np
import pytest
from text_samples import SHORT, HashingEncoder, TrustingModel, shop_env, small_model

from tacit.agent import Agent
from tacit.envs.synthetic import synthetic
from tacit.experiments.text_learners import TEXT_LEARNERS
from tacit.learning.layered import Layered
from tacit.planning.transition import TransitionCounts
from tacit.simulate import play
from tacit.text.small.cache import EncodingCache

THREADS, EPISODES = 4, 400


class Yielding(Layered):
    """A world that lets other threads in where they would do most harm: while an episode takes its id."""

    def context_label(self, context, encoded):
        time.sleep(0)
        return super().context_label(context, encoded)


class YieldingCounts(TransitionCounts):
    """Dynamics that let other threads in between working out what is learned and writing it down."""

    def learn(self, context, states, actions):
        changes = super().learn(context, states, actions)
        time.sleep(0)
        return changes


@pytest.fixture(autouse=True)
def _hurried():
    """Let threads take turns as often as they can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def at_once(*work):
    """Do all of it in threads of their own; raise what one of them raises."""
    errors = []

    def attempt(each):
        try:
            each()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=attempt, args=(each,)) for each in work]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


def drive(agent, seed, ids, episodes=EPISODES):
    """Play episodes, some of them abandoned, and keep their ids."""
    chance = np.random.default_rng(seed)
    for n in range(episodes):
        episode = agent.begin(n % 2)
        ids.append(episode.id)
        for first, states in ((0, 1), (1, 2), (3, 2)):
            agent.act(episode, first + int(chance.integers(states)))
        assert len(episode.steps) == 3
        if n % 20:
            agent.end(episode, int(chance.integers(2)))
        else:
            agent.abandon(episode)


@pytest.mark.filterwarnings("ignore")
def test_every_episode_of_every_thread_has_its_own_id_and_is_counted_once():
    agent, ids = Agent(Yielding(synthetic().layout, dynamics=YieldingCounts)), []
    at_once(*(lambda seed=seed: drive(agent, seed, ids) for seed in range(THREADS)))
    played, told = THREADS * EPISODES, THREADS * EPISODES * 19 // 20
    assert sorted(ids) == list(range(played))
    assert agent.next_episode == played
    assert agent.open_episodes == ()
    assert agent.stage.episodes == played
    assert agent.stage.dynamics.visits.sum() == 2 * played
    assert agent.stage.places.counts.seen().total == told


@pytest.mark.filterwarnings("ignore")
def test_an_agent_is_saved_by_many_while_others_drive_it(tmp_path):
    agent, path = Agent(synthetic().layout), tmp_path / "agent"

    def save():
        for _ in range(15):
            agent.save(path)
            found = Agent.load(path)
            ended = found.next_episode - len(found.open_episodes)
            assert found.stage.episodes == ended
            assert found.stage.dynamics.visits.sum() == 2 * ended

    drivers = (lambda seed=seed: drive(agent, seed, [], 400) for seed in range(2))
    at_once(*drivers, save, save, save)
    assert agent.stage.episodes == 800
    assert [file.name for file in tmp_path.iterdir()] == ["agent"]


def test_one_episode_is_taken_one_step_at_a_time():
    """Drivers that ask for the same step at once get the same action, and one step is taken."""
    agent = Agent(synthetic().layout)
    for _ in range(200):
        episode, answers = agent.begin(0), []
        at_once(*(lambda e=episode, a=answers: a.append(agent.act(e, 0)) for _ in range(3)))
        assert len(set(answers)) == 1
        assert len(episode.steps) == 1
        at_once(*(lambda e=episode: agent.abandon(e) for _ in range(3)))
    assert agent.open_episodes == ()


@pytest.mark.filterwarnings("ignore:the feedback is not shown to be more than noise")
def test_conversations_are_held_in_threads_with_one_file_of_encodings(tmp_path):
    cache = EncodingCache(tmp_path / "encodings.sqlite")
    learner = TEXT_LEARNERS["tacit"]
    agent = learner.make(replace(SHORT, exploration=20), 0, small_model(cache=cache, kind=TrustingModel))

    def talk(seed):
        source = learner.source(shop_env())
        for n in range(12):
            context, state = source.begin(seed, n)
            episode = agent.begin(context)
            while state is not None:
                state = source.step(agent.act(episode, state, *source.offer))
            agent.end(episode, source.feedback)
            cache.forget()

    at_once(*(lambda seed=seed: talk(seed) for seed in range(THREADS)))
    assert agent.next_episode == THREADS * 12
    assert agent.stage.name == "policy learning"
    assert 20 <= agent.stage.learned <= THREADS * 12 == len(agent.stage.reactions)
    agent.save(tmp_path / "agent")
    restore = lambda state: TrustingModel.from_state(state, HashingEncoder(), cache)  # noqa: E731
    assert Agent.load(tmp_path / "agent", model=restore).stage.learned == agent.stage.learned


def test_a_copied_agent_has_a_lock_of_its_own():
    env = synthetic()
    agent = Agent(env.layout, seed=3)
    play(agent, env, 30)
    for twin in (copy.deepcopy(agent), pickle.loads(pickle.dumps(agent))):
        with agent._lock:  # whoever holds the one does not keep the other waiting
            at_once(lambda twin=twin: play(twin, synthetic(), 5))
        assert (agent.next_episode, twin.next_episode) == (30, 35)
