"""Actions that somebody else took, and episodes that stay uniform, to compare with."""

import numpy as np
import pytest

import tacit
from tacit.envs.synthetic import synthetic
from tacit.text import Conversations, TextSettings

LAYOUT = tacit.Layout.regular([1, 2], n_actions=3, n_contexts=2, n_feedback=2)


def test_what_others_do_teaches_what_the_agent_would_have_learned():
    """A program that acts uniformly is as good a teacher as the agent's own exploration; one that always does the same,
    whatever comes, teaches nothing of the rest."""

    def shadow(choose, seed):
        env = synthetic()
        agent, generator = tacit.Agent(env.layout, seed=seed), np.random.default_rng(seed)
        observed, _ = env.reset(seed=seed)
        for _ in range(3000):
            episode, over = agent.begin(observed["context"]), False
            while not over:
                state = observed["state"]
                action, chance = choose(generator, env.layout, int(state))
                agent.took(episode, state, action, chance)
                observed, _, over, _, info = env.step(action)
            agent.end(episode, info["feedback"])
            observed, _ = env.reset()
        return agent

    def uniform(generator, layout, state):
        return int(generator.integers(5)), 0.2

    agent = shadow(uniform, 1)
    best = max(agent.policy(0)[tacit_last(agent)].values())
    assert best > 0.5
    stubborn = shadow(lambda *told: (0, None), 1)
    assert stubborn.diagnose().verdict == "not known yet"


def tacit_last(agent):
    """Return the last state that most episodes should end in: the one whose policy is the least uniform."""
    policy = agent.policy(0)
    return max(policy, key=lambda state: max(policy[state].values()))


def test_what_others_took_is_saved_and_goes_on(tmp_path):
    agent = tacit.Agent(LAYOUT, seed=1)
    episode = agent.begin(0)
    agent.took(episode, 0, 2, 0.7)
    assert episode.probability == 0.7
    agent.save(tmp_path / "agent")
    twin = tacit.Agent.load(tmp_path / "agent")
    taken_up = twin.episode(0)
    assert [(step.action, step.probability) for step in taken_up.steps] == [(2, 0.7)]
    for each, handle in ((agent, episode), (twin, taken_up)):
        each.act(handle, 1)
        each.end(handle, 1)
    agent.save(tmp_path / "one")
    twin.save(tmp_path / "two")
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def test_what_could_not_have_been_taken_is_refused():
    agent = tacit.Agent(LAYOUT)
    episode = agent.begin(0)
    for action, chance, words in (
        (7, None, "is one of 0, 1, 2, got 7"),
        (1, 0.0, "from 1e-06 to 1, got 0.0"),
        (1, 1.5, "from 1e-06 to 1, got 1.5"),
        (1, float("nan"), "got nan"),
    ):
        with pytest.raises(ValueError, match=words):
            agent.took(episode, 0, action, chance)
    with pytest.raises(ValueError, match=r"step 1 needs a state of layer 1|state"):
        agent.took(episode, 1, 0)
    assert episode.steps == ()
    talk = tacit.Agent(Conversations(TextSettings(horizon=1)))
    handle = talk.begin("tea or coffee?")
    with pytest.raises(ValueError, match="only choices of the agent's own"):
        talk.took(handle, "tea or coffee?", "tea", 0.5, ["tea", "coffee", "milk"])


def test_uniform_episodes_stay_uniform_whatever_was_learned():
    env = synthetic()
    agent = tacit.Agent(env.layout, seed=2)
    tacit.play(agent, env, episodes=2000)
    assert max(agent.policy(0)[0].values()) > 0.5
    episode = agent.begin(0, uniform=True)
    agent.act(episode, 0)
    assert episode.probability == pytest.approx(1 / 5)


def test_others_may_bring_what_is_new_to_an_open_layout():
    people = tacit.Finite(("ann",), open=True)
    open_layout = tacit.Layout(
        (("start",), ("cart",)), ((("ask",),), (("show",),)), people, tacit.Finite(("yes", "no")), open=True
    )
    agent = tacit.Agent(open_layout, seed=1)
    episode = agent.begin("bob")
    with pytest.raises(ValueError, match=r"is one of .ask., .wait., got .sing."):
        agent.took(episode, "start", "sing", 0.5, ["ask", "wait"])
    assert agent.layout.actions[0] == (("ask",),)  # what is refused is not taken in
    agent.took(episode, "start", "wait", 0.5, ["ask", "wait"])
    agent.took(episode, "list", "pick", None, ["pick", "leave"])
    agent.end(episode, "yes")
    assert [step.action for step in episode.steps] == ["wait", "pick"]
    assert agent.layout.actions[0] == (("ask", "wait"),)
