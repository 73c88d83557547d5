"""A support bot with labels: it asks one question, proposes one remedy, and learns from the button that people press.

Nobody tells it whether the remedy helped. Half of the customers mean what they press; the other half are ironic and
press "great, thanks" when nothing is solved. Many chats are open at once, buttons are pressed late, and one customer in
ten presses none. The customers are simulated below; in a product they are real, and only `Customer` goes away.

    python examples/support_bot.py
"""

import random
from collections import deque

import tacit

QUESTIONS = ("order number?", "photo?", "which device?")
REMEDIES = ("refund", "replace", "restart", "manual", "escalate")
KINDS = ("consumer, plain", "consumer, ironic", "business, plain", "business, ironic")
LAYOUT = tacit.Layout(
    states=(("asked for help",), ("problem clear", "problem vague")),
    actions=((QUESTIONS,), (REMEDIES, REMEDIES)),
    contexts=tacit.Finite(KINDS),
    feedback=tacit.Finite(("great, thanks", "ok", "hm", "oh well")),
)
OPEN = 20
"""Chats that wait for their button at any time."""


class Customer:
    """Somebody who needs help: what they show, and whether they are helped, which nobody is ever told."""

    def __init__(self, chance: random.Random) -> None:
        self.kind = chance.choice(("consumer", "business"))
        self.ironic = chance.random() < 0.5
        self.context = f"{self.kind}, {'ironic' if self.ironic else 'plain'}"
        self._chance = chance
        self.helped = False

    def answer(self, question: tacit.Label) -> str:
        """Return the state after a question: the right one usually makes the problem clear."""
        clear = 0.9 if question == "which device?" else 0.2
        return "problem clear" if self._chance.random() < clear else "problem vague"

    def press(self, state: str, remedy: tacit.Label) -> str | None:
        """Return the button that they press, or None; once the problem is clear one remedy mostly helps."""
        right = "restart" if self.kind == "consumer" else "replace"
        self.helped = state == "problem clear" and remedy == right and self._chance.random() < 0.9
        if self._chance.random() < 0.1:
            return None
        pleased = self.helped != self.ironic
        return self._chance.choice(("great, thanks", "ok") if pleased else ("hm", "oh well"))


def run(chats: int = 4000) -> tuple[tacit.Agent, list[bool]]:
    """Return the bot after so many chats, and whether each was solved: for us to look at, not for the bot."""
    chance, agent = random.Random(0), tacit.Agent(LAYOUT, seed=0)
    waiting: deque[tuple[tacit.Episode, str | None]] = deque()
    solved = []
    for _ in range(chats):
        customer = Customer(chance)
        episode = agent.begin(customer.context)
        state = customer.answer(agent.act(episode, "asked for help"))
        waiting.append((episode, customer.press(state, agent.act(episode, state))))
        solved.append(customer.helped)
        if len(waiting) == OPEN:
            ended, button = waiting.popleft()
            agent.abandon(ended) if button is None else agent.end(ended, button)
    return agent, solved


if __name__ == "__main__":
    agent, solved = run()
    print(
        f"solved: {sum(solved[:200]) / 200:.0%} of the first 200 chats, {sum(solved[-200:]) / 200:.0%} of the last"
    )
    for kind in KINDS:
        remedies = agent.policy(kind)["problem clear"]
        print(f"{kind}: {max(remedies, key=lambda remedy: remedies[remedy])}")
    print(agent.diagnose())
