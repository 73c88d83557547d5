"""The text agent: the contract, what it learns, and controls that must fail."""

import numpy as np
import pytest
from text_samples import SHORT, HashingEncoder, TrustingModel, shop_env, small_model

from tacit.agent import Agent
from tacit.checks import CHECKS, EPISODES, Log, check_save_and_load, play_out, saved
from tacit.envs.booking import BookingEnv
from tacit.envs.gym_adapter import GymSource
from tacit.experiments.text_learners import TEXT_LEARNERS
from tacit.simulate import Simulation
from tacit.text.conversation import TextContext
from tacit.text.settings import TextSettings
from tacit.text.small.cache import EncodingCache

CACHE = EncodingCache()
"""One cache for all: encodings depend on the text alone."""


def make(name="tacit", settings=SHORT):
    return lambda seed: TEXT_LEARNERS[name].make(settings, seed, small_model(cache=CACHE, kind=TrustingModel))


def load(path):
    restore = lambda state: TrustingModel.from_state(state, HashingEncoder(), CACHE)  # noqa: E731
    return Agent.load(path, model=restore)


@pytest.mark.parametrize("check", [*CHECKS, check_save_and_load], ids=lambda check: check.__name__)
@pytest.mark.parametrize("name", TEXT_LEARNERS)
def test_every_text_learner_keeps_the_contract(name, check):
    source = TEXT_LEARNERS[name].source(shop_env())
    if check is check_save_and_load:
        check(make(name), source, load)
    else:
        check(make(name), source)


def test_small_text_agents_pass_through_both_stages():
    """Without this the contract might never have seen policy learning."""
    agent = make()(0)
    Log(GymSource(shop_env()), agent, 0, EPISODES)
    assert agent.stage.name == "policy learning"


def learn(name, personal=False, env=None, episodes=450, **settings):
    env = env or shop_env(personal=personal)
    learner = TEXT_LEARNERS[name]
    agent = learner.make(TextSettings(**settings), 3, small_model(cache=CACHE))
    trace = Simulation(agent, learner.source(env), 5).run(episodes)
    rewards, decoded, _, exploring = trace.arrays()
    return agent, rewards, decoded, exploring


def test_it_learns_what_feedback_means_and_what_to_do():
    """Of 15 ways through the shop one pleases; over all episodes, exploration included, it earns most of them."""
    _, rewards, decoded, exploring = learn("tacit")
    assert exploring.sum() < 250
    assert rewards[-200:].mean() > 0.95
    assert abs(decoded[-200:].mean() - rewards[-200:].mean()) < 0.05
    assert decoded[~exploring][rewards[~exploring] == 0].mean() < 0.25  # most of them when little was known


def test_half_of_the_people_mean_the_opposite():
    _, rewards, decoded, exploring = learn("tacit", personal=True, episodes=600)
    assert rewards[-200:].mean() > 0.9
    assert decoded[~exploring][rewards[~exploring] == 1].mean() > 0.8
    _, judged, _, _ = learn("universal_judge", personal=True)
    assert judged[-200:].mean() < 0.8


def test_the_ceiling_and_the_floors():
    assert learn("oracle_reward")[1][-200:].mean() > 0.95
    assert learn("last_step_igl")[1][-200:].mean() < 0.5
    assert learn("uniform", episodes=300)[1].mean() < 0.15


class Shuffled(BookingEnv):
    """Feedback that has nothing to do with what was done: drawn from an unrelated episode."""

    def _judge(self, booking):
        info = super()._judge(booking)
        chance = np.random.default_rng(self._episode)
        pools = (self._dialogue.positive, self._dialogue.negative)
        info["feedback"] = str(chance.choice(pools[int(chance.random() < 0.93)]))
        return info


def test_control_shuffled_feedback_is_never_acted_on_and_said():
    env = Shuffled(shop_env().dialogues)
    with pytest.warns(UserWarning, match="is not shown to be more than noise"):
        agent, _, decoded, exploring = learn("tacit", env=env, episodes=400)
    assert exploring.all()
    assert np.isnan(decoded).all()
    codes = [finding.code for finding in agent.diagnose().findings]
    assert codes[0] == "feedback-tells-nothing"
    assert agent.diagnose().verdict == "cannot work"


def test_reading_sharpens_and_a_wrong_turn_is_undone():
    """An agent that begins with a fit to shuffled feedback, and takes it for true, learns better while it plays."""
    settings, source = TextSettings(exploration=60), GymSource(Shuffled(shop_env().dialogues))
    agent = TEXT_LEARNERS["tacit"].make(settings, 3, small_model(cache=CACHE, kind=TrustingModel))
    Simulation(agent, source, 5).run(60)
    assert agent.stage.name == "policy learning"
    trace = Simulation(agent, GymSource(shop_env()), 6).run(300)
    assert np.mean(trace.rewards[:20]) < 0.3
    assert np.mean(trace.rewards[-100:]) > 0.9


def test_candidates_come_in_any_number_and_order():
    agent = make()(0)
    Log(GymSource(shop_env()), agent, 0, EPISODES)
    episode = agent.begin("i need paint for room 3")
    agent.act(episode, "i need paint for room 3", ["which colour shall it be", "how is the weather today"])
    chosen = agent.act(
        episode, "make it red", ["one tin of blue paint", "one tin of red paint", "two tins of grey"]
    )
    assert chosen in {"one tin of blue paint", "one tin of red paint", "two tins of grey"}


def test_two_candidates_are_enough_and_a_conversation_may_end_at_any_turn():
    agent = make(settings=TextSettings(horizon=3))(0)
    episode = agent.begin({"request": "hello", "profile": None})
    agent.act(episode, "hello", ["yes", "no"])
    agent.end(episode, "thanks")
    assert len(agent.stage.reactions) == 1
    whole = make(settings=TextSettings(horizon=3, ends_early=False))(0)
    episode = whole.begin("hello")
    whole.act(episode, "hello", ["yes", "no"])
    with pytest.raises(ValueError, match="step"):
        whole.end(episode, "thanks")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"horizon": 0}, "horizon must be a whole number of at least 1"),
        ({"exploration": 1}, "exploration must be a whole number of at least 2"),
        ({"gamma_scale": 0.0}, "gamma_scale must be a number above 0"),
        ({"judge": "mother"}, "judge must be one of"),
        ({"improves": "first"}, "improves must be one of"),
    ],
)
def test_wrong_settings(settings, message):
    with pytest.raises(ValueError, match=message):
        TextSettings(**settings)


def test_feedback_to_an_explored_episode_that_comes_late_is_decoded_and_teaches_no_policy():
    agent, source = make()(0), GymSource(shop_env())
    context, state = source.begin(0, 999)
    late = agent.begin(context)
    while state is not None:
        state = source.step(agent.act(late, state, *source.offer))
    feedback = source.feedback
    Log(source, agent, 0, EPISODES)
    learned = agent.stage.learned
    agent.end(late, feedback)
    assert late.decoded_reward is not None
    assert agent.stage.learned == learned


def test_a_menu_that_stays_is_a_new_step_when_the_person_says_something_else():
    agent = make(settings=TextSettings(horizon=2))(0)
    episode, menu = agent.begin("I am hungry"), ["Soup?", "Salad?", "Bread?"]
    first = agent.act(episode, "I am hungry", menu)
    assert agent.act(episode, "I am hungry", menu) == first
    agent.act(episode, "Not that.", menu)
    assert len(episode.actions) == 2
    assert [step.state for step in episode.steps] == ["I am hungry", "Not that."]


def test_a_first_state_other_than_the_request_is_refused_and_not_left_out():
    agent = make(settings=TextSettings(horizon=2))(0)
    episode = agent.begin("I am hungry")
    with pytest.raises(ValueError, match="is its request, got 'I am tired'"):
        agent.act(episode, "I am tired", ["Soup?", "Salad?", "Bread?"])
    assert not episode.steps


def test_an_abandoned_conversation_teaches_nothing_and_is_closed():
    agent, source = make()(0), GymSource(shop_env())
    Log(source, agent, 0, 5)
    kept = len(agent.stage.reactions)
    agent.abandon(agent.begin("I am hungry"))
    assert len(agent.stage.reactions) == kept
    assert not agent.open_episodes


def test_a_text_agent_diagnoses_itself_and_has_no_table():
    agent = make()(0)
    assert agent.diagnose().findings[0].code == "still-exploring"
    Log(GymSource(shop_env()), agent, 0, EPISODES)
    assert "feedback-tells" in [finding.code for finding in agent.diagnose().findings]
    with pytest.raises(ValueError, match="no end of states"):
        agent.policy("I am hungry")
    with pytest.raises(ValueError, match="has a layout"):
        _ = agent.layout


def test_the_first_state_is_the_request():
    agent = make()(0)
    episode = agent.begin("I am hungry")
    with pytest.raises(ValueError, match="is its request"):
        agent.act(episode, "I am thirsty", ["Soup?", "Tea?", "Bread?"])
    agent.act(episode, "I am hungry", ["Soup?", "Tea?", "Bread?"])


def test_a_model_of_ones_own_must_be_given_again(tmp_path):
    agent = make()(0)
    agent.world.model.name = "mine"
    agent.save(tmp_path / "agent")
    with pytest.raises(ValueError, match="a model of its own, 'mine'"):
        Agent.load(tmp_path / "agent")
    assert load(tmp_path / "agent").stage.name == "exploration"


LONE = "thanks \ud83d"
"""Text that was cut in the middle of an emoji."""


@pytest.mark.parametrize("stage", ["exploration", "policy learning"])
def test_text_that_cannot_be_written_down_is_refused_and_nothing_is_lost(stage, tmp_path):
    agent, twin = make()(0), make()(0)
    for one in (agent, twin):
        Simulation(one, GymSource(shop_env()), 0).run(5 if stage == "exploration" else 45)
    assert agent.stage.name == stage
    offered = ["red paint", "green paint", "blue paint"]
    refused = r'must be text that UTF-8 can hold, got .*; replace .*text.encode\("utf-8", "replace"\)'
    for context in (LONE, {"request": "paint", "profile": LONE}):
        with pytest.raises(ValueError, match=refused):
            agent.begin(context)
    with pytest.raises(ValueError, match=refused):
        agent.begin(TextContext("paint", LONE))
    episode, other = agent.begin("paint"), twin.begin("paint")
    for state, actions in [(LONE, offered), ("paint", [*offered, LONE])]:
        with pytest.raises(ValueError, match=refused):
            agent.act(episode, state, actions)
    for one, handle in ((agent, episode), (twin, other)):
        one.act(handle, "paint", offered)
        one.act(handle, "red", offered)
    with pytest.raises(ValueError, match=refused):
        agent.end(episode, LONE)
    for one, handle in ((agent, episode), (twin, other)):
        one.end(handle, LONE.encode("utf-8", "replace").decode())
        Simulation(one, GymSource(shop_env()), 1).run(3)
    agent.save(tmp_path / "agent")
    assert saved(load(tmp_path / "agent")) == saved(twin)


def test_where_only_happy_people_react_silence_is_a_remark_of_its_own():
    """The control: where silence is missing, reactions are few and say nothing, and exploration does not end."""
    happy = lambda seen, info: info["feedback"] if info["evaluation"]["reward"] else None  # noqa: E731
    ends = {}
    for silence in ("counts", "missing"):
        settings = TextSettings(silence=silence)
        agent = TEXT_LEARNERS["tacit"].make(settings, 3, small_model(cache=CACHE))
        trace = Simulation(agent, GymSource(shop_env(), feedback_of=happy), 5).run(450)
        ends[silence] = np.mean(trace.rewards[-150:])
    assert ends["counts"] > 0.9
    assert ends["missing"] < 0.2


def test_silence_in_conversations_survives_saving(tmp_path):
    agent = make()(0)
    for n, (episode, entry) in enumerate(play_out(agent, GymSource(shop_env()), 0, n) for n in range(6)):
        agent.end(episode, None if n % 2 else entry.feedback)
    agent.save(tmp_path / "agent")
    assert saved(load(tmp_path / "agent")) == saved(agent)
    assert [reaction.feedback == "" for reaction in agent.stage.reactions] == [False, True] * 3
    assert agent.stage.reactions[1].words == "(silence)"
