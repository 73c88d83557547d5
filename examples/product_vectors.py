"""Contexts and feedback as vectors from a product: what an app knows of a visitor, and what it measures afterwards.

Vectors cannot be counted, so today they are learned by the paper's recipe with its neural posterior (`tacit[neural]`).
That recipe must be told what Tacit's own estimates: `theta`, the least chance of a reward that the best action has in a
state where actions matter, and `M`, the most that the chances of all its actions add up to. It explores before it
learns, here in some 1,700 of 4,000 visits, and keeps no tuples afterwards, so its diagnosis can say less.

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
SETTINGS = tacit.Settings(
    tacit.DecoderSettings(theta=0.85, M=1.3),
    homing=tacit.HomingSettings(episodes=200, bonus_scale=0.05),
    collection=tacit.CollectionSettings(tuples=600),
    posterior=tacit.PosteriorSettings("neural", restarts=2),
    oracle=tacit.OracleSettings("vaw"),
    schedule=tacit.GammaSchedule(scale=12.0),
    recipe="paper",
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
    chance, agent = random.Random(0), tacit.Agent(LAYOUT, SETTINGS, seed=0)
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
