"""Agents whose contexts, words, states and actions come while they run."""

import random
from dataclasses import replace

import numpy as np
import pytest
from interrupting import interrupted
from open_worlds import EPISODES, MENUS, known_shop, open_shop, play_shop

from tacit.agent import Agent
from tacit.baselines.feedback_as_reward import FeedbackAsReward
from tacit.baselines.last_step_igl import LastStepExploration
from tacit.baselines.uniform import Uniform
from tacit.checks import saved
from tacit.decoding.decoder import DecoderSettings
from tacit.decoding.judgement import HETEROGENEOUS
from tacit.learning.settings import Settings
from tacit.learning.stage import Setup
from tacit.problem.layout import Layout
from tacit.problem.spaces import OTHER, Finite

PAPER = Settings(DecoderSettings(theta=0.9, M=1.3), recipe="paper")


@pytest.fixture(autouse=True)
def _no_disk(monkeypatch):
    monkeypatch.setattr("os.fsync", lambda descriptor: None)


def test_who_meets_everything_one_by_one_learns_as_well_as_who_was_told():
    told, met = (play_shop(Agent(layout, seed=1), EPISODES) for layout in (known_shop(), open_shop()))
    late = np.mean(told[-1000:]), np.mean(met[-1000:])
    assert min(late) > 0.75
    assert late[1] > late[0] - 0.03
    assert np.mean(met) > np.mean(told) - 0.05


@pytest.mark.filterwarnings("ignore:feedback-tells-nothing")
def test_words_that_mean_nothing_teach_nothing():
    assert np.mean(play_shop(Agent(open_shop(), seed=1), EPISODES, told=False)[-1000:]) < 0.45


def test_growing_is_as_if_it_had_been_known():
    """Contexts and words that come one by one leave the agent that an agent is that knew them from the beginning."""

    def play(agent):
        chance = random.Random(0)
        for t in range(1200):
            episode = agent.begin(f"person {t // 30}" if t % 2 else "regular")
            agent.act(episode, "door")
            good = agent.act(episode, "books") == "y"
            word = f"word {2 * chance.randrange(1 + t // 60) + good}"
            agent.end(episode, None if good and t % 3 == 0 else word)
        return agent

    def shop(contexts, feedback):
        return replace(
            known_shop(), contexts=Finite(contexts, open=True), feedback=Finite(feedback, open=True)
        )

    met = play(Agent(shop(("regular",), ("word 0",)), seed=3))
    contexts, words = met.layout.contexts.labels, met.layout.feedback.labels
    assert (len(contexts), len(words)) == (41, 40)  # more than there was room for, twice
    told = play(Agent(shop(contexts, words), seed=3))
    assert saved(met) == saved(told)
    assert any(judgement.kind == HETEROGENEOUS for judgement in told.stage.places.judgements.values())


class Twins:
    """Two agents that are told the same, of whom the second is saved and loaded now and then, and a shop they know."""

    def __init__(self, seed, path):
        self.chance, self.path, self.refused = random.Random(seed), path, 0
        layout = open_shop(
            states=(("door",), ("games",), ("till",)),
            actions=((("left",),), (("w",),), (("pay", "run"),)),
            ends="anywhere" if seed % 2 else None,
            contexts=Finite(("a",), open=True, most=9),
            feedback=Finite(("hmm",), open=True, most=20),
        )
        self.agents = [Agent(layout, seed=seed) for _ in range(2)]
        self.menus = {("door", 0): ["left"], ("games", 1): ["w"], ("till", 2): ["pay", "run"]}
        self.numbers = []

    def both(self, call):
        """Return what both answer, which must be the same; a refusal changes nothing."""
        answers = []
        for agent in self.agents:
            before = saved(agent) if self.chance.random() < 0.15 else None
            try:
                answers.append((call(agent), None))
            except ValueError as error:
                answers.append((None, str(error)))
                self.refused += before is not None
                assert before in (None, saved(agent))
        assert answers[0] == answers[1]
        return answers[0]

    def one_of(self, do):
        """Return the number of an open episode for a call, mostly one for which it makes sense; None without any."""
        taken = {n: len(self.agents[0].episode(n).actions) for n in self.numbers[-12:]}
        fits = [n for n in taken if (taken[n] == 3) == (do == "end")]
        return (
            self.chance.choice(fits if fits and self.chance.random() < 0.9 else list(taken))
            if taken
            else None
        )

    def begin(self):
        """Begin an episode, with somebody who may be new."""
        person = self.chance.choices(("a", f"person {self.chance.randrange(14)}"), (5, 1))[0]
        self.numbers.append(self.both(lambda agent: agent.begin(person).id)[0])

    def act(self, number):
        """Take a step, in a state that may be new, with actions some of which may be."""
        taken = len(self.agents[0].episode(number).actions)
        if taken == 3:
            return
        rooms = (["door"], ["games"] * 9 + ["books", "toys", "till"], ["till"] * 9 + ["games"])[taken]
        room = self.chance.choice(rooms)
        menu = self.menus.setdefault((room, taken), ["w", "x"])
        if self.chance.random() < 0.01:
            menu.append(f"new {len(menu)}")
        self.both(lambda agent: agent.act(agent.episode(number), room, list(menu), step=taken + 1))

    def end(self, number):
        """End an episode, if that can be, with a word that may be new."""
        actions = self.agents[0].episode(number).actions
        word = "fine" if actions and actions[-1] == 0 else self.chance.choice(("hmm", None))
        if self.chance.random() < 0.2:
            word = f"word {self.chance.randrange(30)}"
        if self.both(lambda agent: agent.end(agent.episode(number), word))[1] is None:
            self.numbers.remove(number)

    def abandon(self, number):
        """Break an episode off."""
        self.both(lambda agent: agent.abandon(agent.episode(number)))
        self.numbers.remove(number)

    def retire(self):
        """Retire an action, if every state has another."""
        ware = self.chance.choice([ware for menu in self.menus.values() for ware in menu])
        if self.both(lambda agent: agent.retire(ware))[1] is None:
            for menu in self.menus.values():
                menu[:] = [each for each in menu if each != ware]

    def reload(self):
        """Put a copy that was saved and loaded into the place of the second."""
        self.agents[1].save(self.path)
        self.agents[1] = Agent.load(self.path)
        assert saved(self.agents[0]) == saved(self.agents[1])


@pytest.mark.filterwarnings("ignore:drift")
@pytest.mark.parametrize("seed", [0, 2, 3, 4])  # of 8 in 6 feedback is understood somewhere
def test_episodes_that_are_open_while_everything_grows(seed, tmp_path):
    """Random calls, allowed and not, on many open episodes: what is saved and loaded goes on as what was not."""
    twins = Twins(seed, tmp_path / "agent")
    for _ in range(1500):
        do = twins.chance.choices(
            ("act", "end", "begin", "abandon", "retire", "reload"), (60, 20, 20, 1, 0.4, 0.6)
        )[0]
        if do in ("begin", "retire", "reload"):
            getattr(twins, do)()
        elif (number := twins.one_of(do)) is not None:
            getattr(twins, do)(number)
    twins.reload()
    agent = twins.agents[0]
    assert twins.refused > 0
    assert OTHER in agent.layout.contexts.labels
    assert len(agent.layout.feedback.labels) > 15  # more than there was room for
    assert len(agent.layout.states[1]) == 4
    assert any(judgement.kind == HETEROGENEOUS for judgement in agent.stage.places.judgements.values())


def test_what_comes_beyond_the_most_shares_a_place(tmp_path):
    agent = Agent(open_shop(contexts=Finite(("a",), open=True, most=3)), seed=0)
    for person in "abcdefgh":
        episode = agent.begin(person)
        agent.act(episode, "door", MENUS["door"])
    assert agent.layout.contexts.labels == ("a", "b", "c", OTHER)
    assert [each.context for each in agent.open_episodes] == ["a", "b", "c"] + [OTHER] * 5
    agent.save(tmp_path / "agent")
    assert saved(Agent.load(tmp_path / "agent")) == saved(agent)


def test_asking_for_a_policy_takes_nothing_in():
    agent = Agent(open_shop(), seed=0)
    before = saved(agent)
    assert agent.policy("nobody") == {"door": {"left": 1.0}, "games": {"w": 1.0}}
    assert saved(agent) == before


def test_silence_is_told_again_when_its_place_has_moved():
    agent = Agent(open_shop(), seed=0)
    first = agent.begin("a")
    agent.act(first, "door")
    agent.act(first, "games")
    agent.end(first, None)
    for n in range(20):
        episode = agent.begin("a")
        agent.act(episode, "door")
        agent.act(episode, "games")
        agent.end(episode, f"word {n}")
    agent.end(first, None)
    for other in ("word 14", "never heard"):  # the 15th word has the number that silence had
        with pytest.raises(ValueError, match="has ended with feedback None"):
            agent.end(first, other)
    assert "never heard" not in agent.layout.feedback.labels


def test_retired_actions_are_taken_no_more_and_offered_again_when_they_come():
    agent = Agent(known_shop(), seed=2)
    play_shop(agent, 400)
    under_way = [agent.begin("a") for _ in range(40)]
    for episode in under_way[:20]:
        agent.act(episode, "door")
    agent.retire("x")
    agent.retire("left", state="door")
    assert {agent.act(episode, "door") for episode in under_way[20:]} == {"right"}
    assert "x" not in {agent.act(episode, room) for room in ("books",) for episode in under_way}
    assert agent.policy("a")["books"]["x"] == 0.0
    episode = agent.begin("b")
    assert agent.act(episode, "door") == "right"
    assert episode.probability == 1.0
    with pytest.raises(ValueError, match="'right' is the last of state 'door'"):
        agent.retire("right")
    shop = Agent(open_shop(), seed=0)
    episode = shop.begin("a")
    shop.act(episode, "door", ("left", "right"))
    shop.retire("left")
    assert {shop.act(shop.begin("a"), "door", ("right",)) for _ in range(5)} == {"right"}
    seen = {shop.act(shop.begin("a"), "door", ("left", "right")) for _ in range(40)}
    assert seen == {"left", "right"}


def test_a_place_is_judged_without_what_was_retired_before_it_was_known():
    agent = Agent(known_shop(), seed=2)
    play_shop(agent, EPISODES)
    settled = agent.stage.places.settled.copy()
    shop = Agent(
        replace(known_shop(), actions=((MENUS["door"],), ((*MENUS["books"], "new"), MENUS["games"]))), seed=2
    )
    shop.retire("new")
    play_shop(shop, EPISODES)
    assert settled.any()
    assert shop.stage.places.settled.mean() > 0.8 * settled.mean()
    assert "actions-never-tried" not in {finding.code for finding in shop.diagnose().findings}


def play_until_the_best_is_retired(episodes):
    """Return an agent that knew p (0.95) and n (0.7) in a bar and b (0.5) beside it, and what it earned without p."""
    actions = ((("l", "r"),), (("a", "b", "c"), ("m", "n", "o", "p")))
    states, chance, earned = (("door",), ("tea", "bar")), random.Random(0), []
    agent = Agent(Layout(states, actions, Finite(("ann",)), Finite(("yes", "no"))), seed=0)
    for t in range(2500 + episodes):
        if t == 2500:
            agent.retire("p")
        episode = agent.begin("ann")
        room = "tea" if agent.act(episode, "door") == "l" else "bar"
        pleased = {"b": 0.5, "p": 0.95, "n": 0.7}.get(agent.act(episode, room), 0.05)
        agent.end(episode, "yes" if chance.random() < pleased else "no")
        earned.append(pleased)
    return agent, earned[2500:]


def test_what_is_left_keeps_its_worth_when_the_best_action_is_retired(tmp_path):
    agent, earned = play_until_the_best_is_retired(1500)
    assert np.mean(earned[500:]) > 0.66  # 0.5 is all that is to be had beside
    assert agent.policy("ann")["bar"]["n"] > 0.9
    places = agent.stage.places
    assert max(places.best.max(), places.hope.max()) < 0.85  # nothing is hoped for that is not on offer
    agent.save(tmp_path / "a.tacit")
    again = Agent.load(tmp_path / "a.tacit")
    assert np.array_equal(again.stage.places.worth, places.worth)
    assert np.array_equal(again.stage.places.hope, places.hope)
    rewards = [each.stage.places.judgements[1, 0].rewards for each in (agent, again)]
    assert np.array_equal(*rewards)


def test_a_new_action_is_tried_and_found_to_be_the_best():
    agent = Agent(replace(known_shop(), open=True), seed=2)
    chance, taken = random.Random(0), []
    for t in range(3000):
        episode = agent.begin("a")
        agent.act(episode, "door")
        ware = agent.act(episode, "books", (*MENUS["books"], "gold") if t >= 1500 else MENUS["books"])
        good = chance.random() < {"gold": 0.95, "y": 0.4}.get(ware, 0.05)
        agent.end(episode, "thanks" if good else "no")
        taken.append(ware)
    assert taken[1200:1500].count("y") > 250
    assert taken[-300:].count("gold") > 250


def test_a_call_that_is_interrupted_while_it_grows_is_finished_when_it_is_repeated():
    agent, twin = Agent(open_shop(), seed=0), Agent(open_shop(), seed=0)

    def call(which, n, step):
        episode = which.episode(n) if n in {each.id for each in which.open_episodes} else None
        if step == "begin":
            return which.begin(f"person {n}") if which.next_episode == n else episode
        if step == "door":
            return which.act(episode, "door", ("left", "right"), step=1)
        if step == "room":
            return which.act(episode, f"room {n % 7}", ("w", f"ware {n % 7}"), step=2)
        return None if episode is None else which.end(episode, f"word {n}")

    at = 1
    for n in range(18):
        for step in ("begin", "door", "room", "end"):
            call(twin, n, step)
            while interrupted(lambda n=n, step=step: call(agent, n, step), at):
                at += 41
            at = 1 + (at * 3) % 11
        assert saved(agent) == saved(twin)


def test_the_paper_and_baselines_keep_to_what_there_is():
    for layout in (open_shop(), replace(known_shop(), retired=((0, 0, 0),))):
        with pytest.raises(ValueError, match=r"the paper's recipe learns what the layout has.*recipe='fast'"):
            Agent(layout, PAPER)
        for baseline in (Uniform, FeedbackAsReward, LastStepExploration):
            with pytest.raises(ValueError, match="learns what the layout has"):
                baseline(Setup(layout, PAPER))
    closed = Agent(known_shop(), stage=Uniform(Setup(known_shop(), Settings())))
    with pytest.raises(
        ValueError, match="actions retired, by the fast recipe, the agent is in stage 'uniform'"
    ):
        closed.retire("x")


def test_closed_layouts_refuse_and_name_the_remedy():
    agent = Agent(known_shop(), seed=0)
    with pytest.raises(ValueError, match=r"tacit.Finite\(..., open=True\)"):
        agent.begin("somebody else")
    episode = agent.begin("a")
    with pytest.raises(ValueError, match=r"leave them out, or let .*Layout\(..., open=True\)"):
        agent.act(episode, "door", ("left", "right"))
    with pytest.raises(ValueError, match=r"Layout\(..., open=True\)"):
        agent.act(episode, "roof")
    opened = Agent(open_shop(), seed=0)
    with pytest.raises(ValueError, match="come with its actions"):
        opened.act(opened.begin("a"), "roof")


def test_places_with_one_action_are_judged():
    layout = Layout.regular([1, 2], n_actions=1, n_contexts=1, n_feedback=2)
    agent = Agent(layout)
    for n in range(40):
        episode = agent.begin(0)
        agent.act(episode, 0)
        agent.act(episode, 1 + n % 2)
        agent.end(episode, n % 2)
    assert agent.stage.places.settled.all()
