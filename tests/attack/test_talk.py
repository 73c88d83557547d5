"""Agents told strange things: refused at once with nothing changed, or taken, and then everything goes on.

What is taken counts: the agent plays, learns, hands over to its next stage, saves and loads with it inside.
"""

import warnings

import numpy as np
from attack_subjects import learner_of
from campaign import SEED, Outcome, changed, is_ours, listed, locate, lost, raw, sampled
from text_samples import SHORT, HashingEncoder, small_model

from tacit.agent import Agent
from tacit.checks import saved
from tacit.experiments.text_learners import TEXT_LEARNERS

STRANGE = (
    *(
        "\ud800",
        "a \udfff b",
        "\x00",
        "",
        " ",
        "\n",
        "\U0001f600",
        "x" * 20_000,
        "\u202e",
        "\ufeff",
        "$$",
        "<|endoftext|>",
    ),
    *(
        None,
        0,
        -1,
        2**70,
        1.5,
        float("nan"),
        float("inf"),
        True,
        b"bytes",
        [],
        [1],
        {},
        {"request": "\ud800"},
        object(),
    ),
    *(
        {"request": "hi", "profile": "\ud800"},
        {"request": 1},
        {"request": "hi", "more": 1},
        np.array([1.0, np.nan]),
    ),
    *(np.int64(1), np.float64("nan"), np.str_("red"), ("a", "b"), {1, 2}, Ellipsis, "0", 10**400),
)
MENU = ("red paint", "blue paint", "how are you", "a brush")
WHERE = ("context", "state", "feedback", "candidates")
NAMES = ("text", "tacit_fast", "tacit", "feedback_as_reward", "vectors")
AFTER = {"text": 45, "vectors": 3}
"""Episodes played afterwards: of text enough to fit the model to all it was told, of vectors few, for they are slow."""


class StrictEncoder(HashingEncoder):
    """Refuses what is no text, as the tokenizers of real encoders do."""

    def _words(self, text):
        text.encode()
        return super()._words(text)


def new_agent(name):
    if name != "text":
        return learner_of(name)[0]
    return TEXT_LEARNERS["tacit"].make(SHORT, 0, small_model(encoder=StrictEncoder()))


def cases():
    """Return half letters told to a text agent, and some of everything else told to everybody."""
    every = [
        (f"{name}: {where} {ascii(word)[:40]}", (name, where, word))
        for name in NAMES
        for where in WHERE
        for word in STRANGE
        if where != "candidates" or name == "text"
    ]
    halves = [case for case in every if case[1][0] == "text" and "\\ud" in ascii(case[1][2])]
    return halves + sampled([case for case in every if case not in halves], 30)


def context_of(agent, chance):
    if agent.world.name != "layered":
        return "some paint"
    return plain(agent.layout.contexts, chance)


def plain(space, chance):
    labels = getattr(space, "labels", None)
    return labels[chance.integers(len(labels))] if labels else chance.random(space.dimension)


def play(agent, chance, where=None, word=None):
    """Play an episode in which one thing is strange."""
    text = agent.world.name != "layered"
    context = word if where == "context" else context_of(agent, chance)
    episode = agent.begin(context)
    for step in range(agent.world.horizon):
        if text:
            state = episode.context["request"] if step == 0 else f"the {step}. thing said"
        else:
            layer = agent.layout.states[step]
            state = layer[chance.integers(len(layer))]
        strange = step == agent.world.horizon - 1
        shown = word if strange and where == "state" else state
        offered = (MENU if where != "candidates" or not strange else (*MENU, word),) if text else ()
        agent.act(episode, shown, *offered)
        if len(episode.actions) != step + 1:
            raise changed(f"the {step + 1}. turn was taken for another")
    feedback = chance.choice(["lovely", "wrong"]).item() if text else plain(agent.layout.feedback, chance)
    agent.end(episode, word if where == "feedback" else feedback)


def judge_in(folder):
    def judge(given):
        name, where, word = given
        agent, chance = new_agent(name), np.random.default_rng(SEED)
        for _ in range(3):
            play(agent, chance)
        refused = tell(agent, where, word, chance)
        for episode in agent.open_episodes:
            agent.abandon(episode)
        go_on(agent, folder, chance, AFTER.get(name, 10))
        return Outcome.REFUSED if refused else Outcome.SOUND

    return judge


def tell(agent, where, word, chance):
    """Tell an agent something strange; return whether it refused."""
    try:
        play(agent, chance, where, word)
    except Exception as error:
        if not is_ours(error):
            raise
        return True
    return False


def go_on(agent, folder, chance, episodes):
    """Raise unless an agent goes on as if nothing had been."""
    before = agent.next_episode
    try:
        for _ in range(episodes):
            play(agent, chance)
        agent.diagnose()
        agent.save(folder / "agent")
        again = saved(Agent.load(folder / "agent"))
    except Exception as error:
        raise raw(f"it was taken, and later: {locate(error)}") from error
    if agent.next_episode != before + episodes:
        raise lost(f"{episodes} episodes were played, {agent.next_episode - before} counted")
    if again != saved(agent):
        raise changed("what is loaded is not what was saved")


def test_what_is_strange_is_refused_or_taken_for_good(attack, tmp_path):
    attack("agents, strange words", listed(cases()), judge_in(tmp_path))


def test_control_plain_words_are_taken(tmp_path):
    for name in NAMES:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            go_on(new_agent(name), tmp_path, np.random.default_rng(0), AFTER.get(name, 10))
