"""Vowpal Wabbit's side of benchmarks/convert.py: its decisions are logged as dsjson; it learns from dsjson.

Its Python package reads dsjson but does not write it. So events are put together here from its own decisions, key for
key as the log converter of its reinforcement learning client (C++, not on PyPI) does, and it reads each of them back.
Run with the Python of the peers: python benchmarks/peers/vw_events.py make FILE EVENTS, or learn FILE
"""

import json
import random
import sys

import vowpalwabbit

PARTS, SKIES = ("morning", "noon", "evening"), ("blue", "grey")
DRINKS = {"cocoa": "hot", "juice": "cold", "water": "cold", "green tea": "hot", "lemonade": "cold"}


def make(path, events):
    chance = random.Random(0)
    workspace = vowpalwabbit.Workspace("--cb_explore_adf --epsilon 0.4 -q :: --dsjson --quiet")
    with open(path, "w") as file:
        for number in range(events):
            context = draw_context(chance)
            asked = workspace.parse(json.dumps({"a": list(range(1, len(DRINKS) + 1)), "c": context}))
            chances = workspace.predict(asked)
            workspace.finish_example(asked)
            line = json.dumps(event(number, context, chances, chance))
            file.write(line + "\n")
            read = workspace.parse(line)
            workspace.learn(read)
            workspace.finish_example(read)
    print(f"vowpalwabbit {vowpalwabbit.__version__} decided {events} times, and learnt from as many events")


def draw_context(chance):
    return {
        "Visit": [{"part": chance.choice(PARTS), "sky": chance.choice(SKIES)}],
        "_multi": [
            {"_tag": name, "i": {"constant": 1, "id": name}, "j": [{"type": kind}]}
            for name, kind in DRINKS.items()
        ],
    }


def event(number, context, chances, chance):
    """The event of a decision; its outcome follows a hidden liking for one drink in each context."""
    ranking = list(range(len(chances)))
    taken = chance.choices(ranking, chances)[0]
    ranking.remove(taken)
    ranking = [taken, *sorted(ranking, key=lambda k: -chances[k])]
    features = context["Visit"][0]
    liked = (PARTS.index(features["part"]) + SKIES.index(features["sky"])) % len(DRINKS) == taken
    outcome = float(chance.random() < (0.9 if liked else 0.1))
    name = f"{number:032x}"
    return {
        "_label_cost": -outcome,
        "_label_probability": chances[taken],
        "_label_Action": taken + 1,
        "_labelIndex": taken,
        "o": [{"v": outcome, "EventId": name, "ActionTaken": False}],
        "Timestamp": "2026-02-04T16:31:29.5000000Z",
        "Version": "1",
        "EventId": name,
        "a": [k + 1 for k in ranking],
        "c": context,
        "p": [chances[k] for k in ranking],
        "VWState": {"m": "N/A"},
        "_original_label_cost": -outcome,
    }


def learn(path):
    workspace = vowpalwabbit.Workspace(
        f"--cb_explore_adf --epsilon 0.1 --dsjson -d {path}", enable_logging=True
    )
    workspace.finish()
    said = [line for line in workspace.get_log() if line.startswith(("number of examples", "average loss"))]
    wrong = [line for line in workspace.get_log() if "error" in line or "warning" in line]
    print(json.dumps({"said": [line.strip() for line in said], "wrong": wrong}))


if __name__ == "__main__":
    make(sys.argv[2], int(sys.argv[3])) if sys.argv[1] == "make" else learn(sys.argv[2])
