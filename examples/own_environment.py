"""A Gymnasium environment of your own, played by `tacit.play`: a thermostat that is judged by grumbles alone.

The observation holds `context` and `state`, the last `info` holds `feedback`: that is all an environment must do. Where
it knows the true reward it may say so under `evaluation`; the agent never sees it, `tacit.play` writes it down.

    python examples/own_environment.py
"""

from typing import Any

import gymnasium as gym

import tacit

SETTINGS = ("off", "low", "medium", "high")
LAYOUT = tacit.Layout(
    states=(("evening",), ("night, windows shut", "night, windows open"), ("morning, dry", "morning, damp")),
    actions=(
        (("air the rooms", "keep them shut"),),
        (("heat", "do not heat"), ("heat", "do not heat")),
        (SETTINGS, SETTINGS),
    ),
    contexts=tacit.Finite(("says what they feel", "grumbles when happy")),
    feedback=tacit.Finite(("hums", "grumbles", "says nothing")),
)


class Thermostat(gym.Env[dict[str, str], str]):
    """Three decisions, then somebody gets up. Dry rooms at a medium setting please; damp ones please nobody."""

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[dict[str, str], dict[str, Any]]:
        """Return the evening."""
        super().reset(seed=seed)
        self.person = LAYOUT.contexts.labels[int(self.np_random.integers(2))]
        self.step_number = 0
        return self._see("evening"), {}

    def step(self, action: str) -> tuple[dict[str, str], float, bool, bool, dict[str, Any]]:
        """Return what is seen after a decision; after the third, how the person reacted. The reward is always 0."""
        self.step_number += 1
        if self.step_number == 1:
            return self._see(f"night, windows {'open' if action == 'air the rooms' else 'shut'}"), 0.0, False, False, {}
        if self.step_number == 2:
            dry = 0.9 if self.state == "night, windows open" and action == "heat" else 0.1
            return self._see(f"morning, {'dry' if self.np_random.random() < dry else 'damp'}"), 0.0, False, False, {}
        pleased = self.state == "morning, dry" and action == "medium" and self.np_random.random() < 0.95
        info = {"feedback": self._react(pleased), "evaluation": {"reward": int(pleased)}}
        return self._see(self.state), 0.0, True, False, info

    def _see(self, state: str) -> dict[str, str]:
        self.state = state
        return {"context": self.person, "state": state}

    def _react(self, pleased: bool) -> str:
        if pleased == (self.person == "says what they feel"):
            return "hums"
        return "grumbles" if self.np_random.random() < 0.7 else "says nothing"


def run(episodes: int = 3000) -> tuple[tacit.Agent, list[float]]:
    """Return the agent after so many nights, and the true reward of each."""
    agent = tacit.Agent(LAYOUT, seed=0)
    return agent, tacit.play(agent, Thermostat(), episodes).rewards


if __name__ == "__main__":
    agent, rewards = run()
    print(f"pleased: {sum(rewards[:200]) / 200:.2f} of the first 200 mornings, {sum(rewards[-1000:]) / 1000:.2f} of the last 1000")
    for state, actions in agent.policy("grumbles when happy").items():
        best = max(actions, key=actions.get)
        print(f"{state}: {best} ({actions[best]:.2f})")
    print(agent.diagnose())
