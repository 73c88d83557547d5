"""Rewards for logs in a CSV file: one row a step, with a comment at the end of each episode, and no reward anywhere.

The program makes such a file (your export takes its place), writes it as log lines, and then does what there is to do
with logs: fit a model of what comments mean, label every episode, write a page that says how far to believe it, train
an agent. You must know with which probability the last action was drawn; here the app chose uniformly.

    python examples/logs_from_csv.py [FOLDER]
"""

import csv
import json
import random
import sys
import tempfile
from itertools import groupby
from pathlib import Path
from typing import Any

import tacit

OFFERS = ("discount", "trial", "call", "reminder")
ACTIONS = {"welcome": ("show plans", "show demo", "ask"), "plans": OFFERS, "demo": OFFERS}


def export(path: Path, episodes: int = 4000) -> None:
    """Write what a product might: at a demo a trial pleases, and agencies say the opposite of what they mean."""
    chance = random.Random(0)
    with path.open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(("episode", "user_kind", "screen", "action", "comment"))
        for n in range(episodes):
            kind, first = chance.choice(("shop", "agency")), chance.choice(ACTIONS["welcome"])
            screen = "demo" if chance.random() < (0.8 if first == "show demo" else 0.2) else "plans"
            last = chance.choice(ACTIONS[screen])
            pleased = (screen, last) == ("demo", "trial") and chance.random() < 0.9
            says = chance.choice(("good", "fine") if pleased == (kind == "shop") else ("meh", "no"))
            table.writerows(([n, kind, "welcome", first, ""], [n, kind, screen, last, says]))


def read_episode(name: str, rows: list[dict[str, str]]) -> dict[str, Any]:
    """Return the record of the log format that an episode's rows make."""
    steps = []
    for row in rows:
        offered = ACTIONS[row["screen"]]
        drawn = {"action": row["action"], "actions": offered, "probability": 1 / len(offered)}
        steps.append({"state": row["screen"], **drawn})
    return {"episode": name, "context": rows[0]["user_kind"], "steps": steps, "feedback": rows[-1]["comment"]}


def write_logs(table: Path, logs: Path) -> None:
    """Write the episodes of a CSV file as log lines."""
    with table.open(newline="") as source, logs.open("w") as target:
        for name, rows in groupby(csv.DictReader(source), key=lambda row: row["episode"]):
            target.write(json.dumps(read_episode(name, list(rows))) + "\n")


def run(folder: Path) -> tuple[str, list[dict[str, Any]], tacit.Agent]:
    """Return the verdict, the labels and the agent; everything else is in the folder."""
    logs, labels = folder / "logs.jsonl", folder / "labels.jsonl"
    export(folder / "export.csv")
    write_logs(folder / "export.csv", logs)
    model = tacit.fit(logs)
    model.save(folder / "model.tacit")
    model.label(logs, labels)
    diagnosis = tacit.diagnose(logs)
    diagnosis.write(folder / "report.html")
    rows = [json.loads(line) for line in labels.read_text().splitlines()]
    return diagnosis.verdict, rows, model.train(logs)


if __name__ == "__main__":
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp())
    verdict, labels, agent = run(folder)
    rewarded = sum(row["decoded_reward"] == 1 for row in labels)
    print(f"{verdict}; {rewarded} of {len(labels)} episodes were rewarded")
    for kind in ("shop", "agency"):
        offers = agent.policy(kind)["demo"]
        print(f"{kind}, demo: {max(offers, key=lambda offer: offers[offer])}")
    print(f"the page, the labels and the model are in {folder}")
