"""Rewards for logs in a CSV file: one row a step, with a comment at the end of each episode, and no reward anywhere.

The program makes such a file (your export takes its place), says which columns hold what, and then does what there is
to do with logs: fit a model of what comments mean, label every episode, write a page that says how far to believe it,
train an agent. The app chose uniformly, which the file does not say and this program does.

    python examples/logs_from_csv.py [FOLDER]
"""

import csv
import json
import random
import sys
import tempfile
from pathlib import Path
from typing import Any

import tacit
from tacit.logs.csv_columns import CsvSettings
from tacit.logs.reading import CsvLogs

OFFERS = ("discount", "trial", "call", "reminder")
COLUMNS = {
    "context": "user_kind",
    "state": "screen",
    "feedback": "comment",
}  # others are called as logs call them
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


def run(folder: Path) -> tuple[str, list[dict[str, Any]], tacit.Agent]:
    """Return the verdict, the labels and the agent; everything else is in the folder."""
    logs, labels = CsvLogs(folder / "export.csv", CsvSettings(COLUMNS)), folder / "labels.jsonl"
    export(folder / "export.csv")
    model = tacit.fit(logs, assume_uniform=True)
    model.save(folder / "model.tacit")
    model.label(logs, labels)
    diagnosis = tacit.diagnose(logs, assume_uniform=True)
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
