"""Ctrl-C at every line of begin, act, end and abandon, in every stage: a call that is repeated is made once.

Compared are saved agents, byte for byte: one that is interrupted all the time, and a twin that never is.
"""

import threading
import warnings
from dataclasses import replace

import pytest
from interrupting import interrupted, lines_of
from learners import SMALL, make_learner, source_for
from text_samples import SHORT, HashingEncoder, TrustingModel, shop_env, small_model

from tacit.agent import Agent
from tacit.checks import play_out, saved
from tacit.envs.gym_adapter import GymSource
from tacit.envs.synthetic import synthetic
from tacit.envs.unhealthy import shuffled
from tacit.experiments.learners import LEARNERS
from tacit.experiments.text_learners import TEXT_LEARNERS
from tacit.learning.settings import CollectionSettings, HomingSettings
from tacit.planning.regression import OracleSettings
from tacit.text.small.cache import EncodingCache

pytestmark = pytest.mark.filterwarnings(
    "ignore:.*is left out", "ignore:.*plays uniformly", "ignore:.*within its budget", "ignore:.*than noise"
)
LONG = replace(
    SMALL,
    homing=HomingSettings(episodes=60, bonus_scale=0.05),
    collection=CollectionSettings(tuples=60),
    oracle=OracleSettings("vaw"),
)
"""Each stage lasts for more episodes than a call has lines."""
CACHE = EncodingCache()


@pytest.fixture(autouse=True)
def _no_disk(monkeypatch):
    monkeypatch.setattr("os.fsync", lambda descriptor: None)


class Stopped:
    """An agent that is interrupted in every call: before line `at`, and once more before a line of the second try."""

    def __init__(self, agent):
        self.agent, self.at, self.longest, self.stages = agent, 0, 0, set()

    def through(self, call, again=None):
        """Make a call in three tries, the first two interrupted if they are long enough."""
        if not interrupted(call, self.at):
            return
        self.longest = max(self.longest, self.at)
        self.stages.add(self.agent.stage.name)
        self._check_unlocked()
        if not interrupted(again or call, 1 + self.at % 13):
            return
        (again or call)()

    def begin(self, context):
        """Begin an episode; if an interrupt kept its handle back, take it up."""
        number = self.agent.next_episode

        def again():
            if self.agent.next_episode == number:
                self.agent.begin(context)

        self.through(lambda: self.agent.begin(context), again)
        return self.agent.episode(number)

    def play(self, entry, ends):
        """Play what the twin has played."""
        episode = self.begin(entry.context)
        for shown in entry.shown:
            self.through(lambda shown=shown: self.agent.act(episode, *shown))
        if ends:
            self.through(lambda: self.agent.end(episode, entry.feedback))
        else:
            self.through(lambda: self.agent.abandon(episode))

    def _check_unlocked(self):
        """Another thread must find the lock free."""
        found = []
        thread = threading.Thread(target=lambda: found.append(self.agent.next_episode), daemon=True)
        thread.start()
        thread.join(10)
        assert found


def stop_everywhere(make, source, episodes, every=1):
    """Play episodes, each interrupted one line later than the one before, beside a twin; return who was stopped."""
    twin, stopped = make(), Stopped(make())
    for n in range(episodes):
        episode, entry = play_out(twin, source, 0, n)
        ends = n % 11 != 10
        twin.end(episode, entry.feedback) if ends else twin.abandon(episode)
        stopped.at = stopped.at + every if stopped.agent.stage.name in stopped.stages else 1
        if stopped.at > stopped.longest + 3 * every and stopped.at > 40:
            stopped.at = 1  # beyond the longest call: from the first line again
        stopped.play(entry, ends)
        if n % 10 == 0:
            assert saved(stopped.agent) == saved(twin), (n, stopped.at)
    assert saved(stopped.agent) == saved(twin)
    return stopped


@pytest.mark.parametrize("name", [name for name in LEARNERS if name != "tacit"])
def test_calls_interrupted_anywhere_and_repeated_are_made_once(name):
    source = source_for("synthetic", name)
    stopped = stop_everywhere(lambda: make_learner(name, source.layout, LONG)(0), source, 150)
    assert stopped.longest >= 30


def test_calls_interrupted_anywhere_in_every_stage_of_the_paper():
    source = source_for("synthetic")
    stopped = stop_everywhere(lambda: make_learner("tacit", source.layout, LONG)(0), source, 400)
    assert stopped.stages == {"homing", "collection", "policy learning"}
    assert stopped.longest >= 60


def test_conversations_interrupted_anywhere():
    learner = TEXT_LEARNERS["tacit"]
    source = learner.source(shop_env())
    settings = replace(SHORT, exploration=30)
    make = lambda: learner.make(settings, 3, small_model(cache=CACHE, kind=TrustingModel))  # noqa: E731
    stopped = stop_everywhere(make, source, 90, every=3)
    assert stopped.stages == {"exploration", "policy learning"}


def load_text(path):
    return Agent.load(path, model=lambda state: TrustingModel.from_state(state, HashingEncoder(), CACHE))


def before_hand_over(agent, source, stage, path):
    """Save an agent before an episode whose end makes it leave the stage; return the episode's number and feedback."""
    n = 0
    while agent.stage.name != stage:
        episode, entry = play_out(agent, source, 0, (n := n + 1))
        agent.end(episode, entry.feedback)
    while agent.stage.name == stage:
        episode, entry = play_out(agent, source, 0, (n := n + 1))
        agent.save(path)
        agent.end(episode, entry.feedback)
    return episode.id, entry


@pytest.mark.parametrize(
    ("name", "stage", "places"),
    [
        ("tacit", "homing", 40),
        ("tacit", "collection", 40),
        ("last_step_igl", "last-step exploration", 40),
        ("text", "exploration", 5),
    ],
)
def test_a_hand_over_interrupted_anywhere_is_made_by_the_next_call(name, stage, places, tmp_path):
    if name == "text":
        learner, load = TEXT_LEARNERS["tacit"], load_text
        source = learner.source(shop_env())
        agent = learner.make(replace(SHORT, exploration=12), 3, small_model(cache=CACHE, kind=TrustingModel))
    else:
        source, load = source_for("synthetic", name), Agent.load
        agent = make_learner(name, source.layout, SMALL)(0)
    path = tmp_path / "before"
    number, entry = before_hand_over(agent, source, stage, path)
    entered, measured = agent.stage.name, load(path)
    agent.begin(entry.context)
    known = measured.episode(number)
    lines = lines_of(lambda: measured.end(known, entry.feedback))
    for at in range(1, lines, lines // places):
        torn = load(path)
        episode = torn.episode(number)
        end = lambda torn=torn, episode=episode: torn.end(episode, entry.feedback)  # noqa: E731
        assert interrupted(end, at)
        assert torn.next_episode == number + 1  # a look finishes what was decided
        if episode.open and interrupted(end, lines // 2):
            end()
        torn.begin(entry.context)  # not told again: it hands over all the same
        assert torn.stage.name == entered
        assert saved(torn) == saved(agent), at


def test_a_remark_is_told_once_wherever_its_episode_was_interrupted(tmp_path):
    """The fast recipe's check of noise after 500 episodes: told at the first try or at the second."""
    source = GymSource(shuffled(synthetic().mdp))
    agent, n = Agent(synthetic().layout), 0
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        while not told:
            episode, entry = play_out(agent, source, 0, n)
            agent.save(tmp_path / "before")
            agent.end(episode, entry.feedback)
            n += 1
    counts = []
    measured = Agent.load(tmp_path / "before")
    with warnings.catch_warnings(record=True):
        warnings.simplefilter("always")
        lines = lines_of(lambda: measured.end(measured.episode(n - 1), entry.feedback))
    for at in range(lines - 23, lines + 1):  # from where the changes are made
        torn = Agent.load(tmp_path / "before")
        episode = torn.episode(n - 1)
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            interrupted(lambda episode=episode, torn=torn: torn.end(episode, entry.feedback), at)
            torn.end(episode, entry.feedback)
        counts.append(len(told))
    assert max(counts) == 1
    assert counts.count(0) <= 2  # between taking it up and telling it
