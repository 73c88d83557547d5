"""A Gymnasium environment of your own, played by `tacit.play`: a thermostat that is judged by grumbles alone.

The observation holds `context` and `state`, the last `info` holds `feedback`: that is all an environment must do. Where
it knows the true reward it may say so under `evaluation`; the agent never sees it, `tacit.play` writes it down.

    python examples/own_environment.py
"""

from typing import Any

import gymnasium as gym

import tacit

PEOPLE = ("says what they feel", "grumbles when happy")
HEATING, LEVELS = ("heat", "do not heat"), ("off", "low", "medium", "high")
LAYOUT = tacit.Layout(
    states=(("evening",), ("night, shut", "night, aired"), ("morning, dry", "morning, damp")),
    actions=((("air", "keep shut"),), (HEATING, HEATING), (LEVELS, LEVELS)),
    contexts=tacit.Finite(PEOPLE),
    feedback=tacit.Finite(("hums", "grumbles", "says nothing")),
)
Seen = tuple[dict[str, str], float, bool, bool, dict[str, Any]]
"""Observation, reward (always 0), terminated, truncated, info."""


class Thermostat(gym.Env[dict[str, str], str]):
    """Three decisions, then somebody gets up. Dry rooms at a medium level please; damp ones please nobody."""

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, str], dict[str, Any]]:
        """Return the evening."""
        super().reset(seed=seed)
        self.person, self.state = PEOPLE[int(self.np_random.integers(2))], "evening"
        return {"context": self.person, "state": self.state}, {}

    def step(self, action: str) -> Seen:
        """Return what is seen after a decision; after the third, how the person reacted."""
        if self.state == "evening":
            return self._go_on("night, aired" if action == "air" else "night, shut")
        if self.state.startswith("night"):
            dry = 0.9 if (self.state, action) == ("night, aired", "heat") else 0.1
            return self._go_on("morning, dry" if self.np_random.random() < dry else "morning, damp")
        pleased = (self.state, action) == ("morning, dry", "medium") and self.np_random.random() < 0.95
        info = {"feedback": self._react(pleased), "evaluation": {"reward": int(pleased)}}
        return {"context": self.person, "state": self.state}, 0.0, True, False, info

    def _go_on(self, state: str) -> Seen:
        self.state = state
        return {"context": self.person, "state": state}, 0.0, False, False, {}

    def _react(self, pleased: bool) -> str:
        if pleased == (self.person == "says what they feel"):
            return "hums"
        return "grumbles" if self.np_random.random() < 0.7 else "says nothing"


def run(nights: int = 3000) -> tuple[tacit.Agent, list[float]]:
    """Return the agent after so many nights, and the true reward of each."""
    agent = tacit.Agent(LAYOUT, seed=0)
    return agent, tacit.play(agent, Thermostat(), nights).rewards


if __name__ == "__main__":
    agent, rewards = run()
    print(
        f"pleased: {sum(rewards[:200]) / 200:.0%} of 200 mornings, {sum(rewards[-200:]) / 200:.0%} of the last 200"
    )
    for state, chances in agent.policy("grumbles when happy").items():
        best = max(chances, key=lambda action: chances[action])
        print(f"{state}: {best} ({chances[best]:.2f})")
    print(agent.diagnose())
