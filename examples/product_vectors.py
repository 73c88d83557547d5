"""Contexts and feedback as vectors from a product: what an app knows of a visitor, and what it measures afterwards.

No visitor comes twice, so what was learned from one must hold for others: Tacit's own recipe does that by itself, and is
told nothing. The same seconds mean something else of each visitor, and which ones mean that they were helped it finds
out from how they follow what was offered.

    python examples/product_vectors.py
"""

import random

import tacit

OFFERS = ("tour", "template", "import", "video", "nothing")
LAYOUT = tacit.Layout(
    states=(("opened the app",), ("empty project", "old project")),
    actions=((("new", "open"),), (OFFERS, OFFERS)),
    contexts=tacit.Vectors(3, ("days_since_signup", "projects", "speed")),
    feedback=tacit.Vectors(2, ("seconds", "clicks")),
)


class Visitor:
    """Somebody who opens the app: slow or fast, and the same seconds mean something else of each."""

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        self.fast = chance.random() < 0.5
        self.context = {
            "days_since_signup": chance.uniform(0, 30),
            "projects": float(chance.randrange(5)),
            "speed": chance.gauss(1.0 if self.fast else -1.0, 0.2),
        }
        self.helped = False

    def open(self, action: tacit.Label) -> str:
        """Return the state after the first choice."""
        as_asked = self._chance.random() < 0.9
        return "empty project" if (action == "new") == as_asked else "old project"

    def measure(self, state: str, offer: tacit.Label) -> dict[str, float]:
        """Return what is measured afterwards; a template helps in an empty project, in an old one nothing does."""
        self.helped = state == "empty project" and offer == "template" and self._chance.random() < 0.9
        long = self.helped != self.fast  # slow readers stay when they are helped, fast ones are gone
        seconds, clicks = (60, 5) if long else (10, 3)
        return {"seconds": self._chance.gauss(seconds, 8), "clicks": self._chance.gauss(clicks, 1)}


def run(visits: int = 4000) -> tuple[tacit.Agent, list[bool]]:
    """Return the agent after so many visits, and whether each visitor was helped: for us, not for the agent."""
    chance, agent = random.Random(0), tacit.Agent(LAYOUT, seed=0)
    helped = []
    for _ in range(visits):
        visitor = Visitor(chance)
        episode = agent.begin(visitor.context)
        state = visitor.open(agent.act(episode, "opened the app"))
        agent.end(episode, visitor.measure(state, agent.act(episode, state)))
        helped.append(visitor.helped)
    return agent, helped


if __name__ == "__main__":
    agent, helped = run()
    print(
        f"helped: {sum(helped[:200]) / 200:.0%} of the first 200 visitors, {sum(helped[-200:]) / 200:.0%} of the last"
    )
    print(f"stage: {agent.stage.name}")
    print(agent.diagnose())
