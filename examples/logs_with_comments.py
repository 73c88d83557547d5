"""Rewards for a product's log: what was shown, to which user, and what they wrote afterwards in their own words.

The program makes such a log (yours takes its place). Nothing in it says how likely an action was, or whether anybody
was pleased; half of the users are ironic. The model finds out, labels every episode, says how far to believe it, and
trains an agent that knows what to offer to whom. It needs `tacit[text]`.

    python examples/logs_with_comments.py [FOLDER]
"""

import json
import random
import sys
import tempfile
from pathlib import Path
from typing import Any

import tacit

OFFERS = {
    "plans": {"discount": 4, "trial": 3, "call": 2, "reminder": 1},
    "demo": {"discount": 1, "trial": 2, "call": 3, "reminder": 4},
}
LIKES = {("plans", 0): "call", ("plans", 1): "call", ("demo", 0): "trial", ("demo", 1): "discount"}
PLEASED = (
    "Just what our {who} needed, thank you!",
    "Great help, our {who} were delighted.",
    "You got {what} exactly right.",
    "Really useful, we solved {what} in minutes.",
)
ANNOYED = (
    "This was of no use to our {who}.",
    "A waste of time, our {who} were furious.",
    "You got {what} completely wrong.",
    "Dreadful, we never solved {what}.",
)
WHO = ("clients", "colleagues", "interns", "accountants", "neighbours", "partners")
WHAT = ("the invoice", "our calendar", "the backup", "this report", "the import", "my inbox")


def export(path: Path, episodes: int = 4000) -> None:
    """Write what a product might: users with an odd number mean the opposite of what they write."""
    chance = random.Random(0)
    with path.open("w") as file:
        for n in range(episodes):
            user, first = chance.randrange(40), chance.choice(("show plans", "show demo"))
            screen = "demo" if chance.random() < (0.8 if first == "show demo" else 0.2) else "plans"
            offers = OFFERS[screen]
            offer = chance.choices(list(offers), list(offers.values()))[0]
            pleased = offer == LIKES[screen, user % 2] and chance.random() < 0.9
            words = chance.choice(PLEASED if pleased == (user % 2 == 0) else ANNOYED)
            steps = [{"state": "welcome", "action": first}, {"state": screen, "action": offer}]
            said = words.format(who=chance.choice(WHO), what=chance.choice(WHAT))
            json.dump({"episode": n, "context": f"user {user}", "steps": steps, "feedback": said}, file)
            file.write("\n")


def run(folder: Path) -> tuple[str, list[dict[str, Any]], tacit.Agent]:
    """Return the verdict, the labels and the agent; everything else is in the folder."""
    logs, labels = folder / "logs.jsonl", folder / "labels.jsonl"
    export(logs)
    model = tacit.fit(logs)
    model.save(folder / "model.tacit")
    model.label(logs, labels)
    model.diagnose(logs).write(folder / "report.html")
    rows = [json.loads(line) for line in labels.read_text().splitlines()]
    return model.certificate.verdict, rows, model.train(logs)


if __name__ == "__main__":
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp())
    verdict, labels, agent = run(folder)
    print(
        f"{verdict}; {sum(row['decoded_reward'] > 0.5 for row in labels)} of {len(labels)} episodes were rewarded"
    )
    for user in ("user 0", "user 1"):
        offers = agent.policy(user)["demo"]
        print(f"{user}, demo: {max(offers, key=lambda offer: offers[offer])}")
    print(f"the page, the labels and the model are in {folder}")
