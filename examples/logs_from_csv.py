"""Rewards for logs in a CSV file: one row a step, with a comment at the end of each episode, and no reward anywhere.

The program makes such a file (your export takes its place), writes it as log lines, and then does what there is to do with
logs: fit a model of what comments mean, label every episode, write a page that says whether to believe it, train an agent.
The export must say, or you must know, with which probability actions were drawn: here the app chose uniformly.

    python examples/logs_from_csv.py [FOLDER]
"""

import csv
import json
import random
import sys
import tempfile
from itertools import groupby
from pathlib import Path

import tacit

ACTIONS = {
    "welcome": ("show plans", "show demo", "ask a question"),
    "plans": ("discount", "trial", "call", "reminder"),
    "demo": ("discount", "trial", "call", "reminder"),
}
COLUMNS = ("episode", "user_kind", "screen", "action", "comment")


def export(path: Path, episodes: int = 4000) -> None:
    """Write what a product might export: at a demo a trial pleases, and agencies say the opposite of what they mean."""
    chance = random.Random(0)
    with path.open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(COLUMNS)
        for n in range(episodes):
            kind, first = chance.choice(("shop", "agency")), chance.choice(ACTIONS["welcome"])
            screen = "demo" if chance.random() < (0.8 if first == "show demo" else 0.2) else "plans"
            last = chance.choice(ACTIONS[screen])
            pleased = screen == "demo" and last == "trial" and chance.random() < 0.9
            says = chance.choice(("good", "fine") if pleased == (kind == "shop") else ("meh", "no"))
            table.writerows(([n, kind, "welcome", first, ""], [n, kind, screen, last, says]))


def read_rows(path: Path) -> list[dict[str, object]]:
    """Return the episodes of the CSV file as records of the log format."""
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    episodes = []
    for name, group in groupby(rows, key=lambda row: row["episode"]):
        steps = list(group)
        episodes.append(
            {
                "episode": name,
                "context": steps[0]["user_kind"],
                "steps": [
                    {"state": s["screen"], "action": s["action"], "actions": offered, "probability": 1 / len(offered)}
                    for s in steps
                    if (offered := ACTIONS[s["screen"]])
                ],
                "feedback": steps[-1]["comment"],
            }
        )
    return episodes


def run(folder: Path) -> tuple[str, list[dict[str, object]], tacit.Agent]:
    """Return the verdict, the labels and the agent; everything else is in the folder."""
    export(folder / "export.csv")
    logs = folder / "logs.jsonl"
    logs.write_text("".join(json.dumps(episode) + "\n" for episode in read_rows(folder / "export.csv")))
    model = tacit.fit(logs)
    model.save(folder / "model.tacit")
    model.label(logs, folder / "labels.jsonl")
    diagnosis = tacit.diagnose(logs)
    diagnosis.write(folder / "report.html")
    labels = [json.loads(line) for line in (folder / "labels.jsonl").read_text().splitlines()]
    return diagnosis.verdict, labels, model.train(logs)


if __name__ == "__main__":
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp())
    verdict, labels, agent = run(folder)
    rewarded = sum(label["decoded_reward"] == 1 for label in labels)
    print(f"{verdict}; {rewarded} of {len(labels)} episodes were rewarded")
    for kind in ("shop", "agency"):
        print(kind, {screen: max(chances, key=chances.get) for screen, chances in agent.policy(kind).items()})
    print(f"the page, the labels and the model are in {folder}")
