"""A small shop whose people, words, rooms and wares come one by one, and a driver that plays agents in it."""

import random

from tacit.problem.layout import Layout
from tacit.problem.spaces import Finite

PEOPLE = "abcdefgh"
MENUS = {"door": ("left", "right"), "books": ("x", "y", "z", "v"), "games": ("w", "x", "q")}
PLEASED, OTHERS = ("thanks", "great", "ok!"), ("hmm", "no", "bad")
EPISODES = 3000


def known_shop():
    """Return the layout of somebody who knows everything beforehand."""
    return Layout(
        states=(("door",), ("books", "games")),
        actions=((MENUS["door"],), (MENUS["books"], MENUS["games"])),
        contexts=Finite(tuple(PEOPLE)),
        feedback=Finite(PLEASED + OTHERS),
    )


def open_shop(**changes):
    """Return the layout of somebody who knows one of each."""
    told = {
        "states": (("door",), ("games",)),
        "actions": ((("left",),), (("w",),)),
        "contexts": Finite(("a",), open=True),
        "feedback": Finite(("hmm",), open=True),
        "open": True,
    }
    return Layout(**{**told, **changes})


def likes(person, room):
    """Return the ware that a person likes in a room."""
    return MENUS[room][PEOPLE.index(person) % len(MENUS[room])]


def play_shop(agent, episodes, seed=0, told=True):
    """Return who was pleased in so many episodes; people come one by one. If not `told`, words mean nothing."""
    chance, pleased = random.Random(seed), []
    for t in range(episodes):
        person = chance.choice(PEOPLE[: 1 + min(t // 40, len(PEOPLE) - 1)])
        episode = agent.begin(person)
        way = agent.act(episode, "door", *offer(agent, "door"))
        room = "books" if (way == "left") == (chance.random() < 0.9) else "games"
        ware = agent.act(episode, room, *offer(agent, room))
        good = chance.random() < (0.9 if ware == likes(person, room) else 0.1)
        heard = good if told else chance.random() < 0.3
        word = chance.choice(PLEASED if heard else OTHERS)
        agent.end(episode, word if chance.random() < 0.8 else None)
        pleased.append(good)
    return pleased


def offer(agent, state):
    """Return what `act` takes beside the state."""
    return (MENUS[state],) if agent.layout.open else ()
