"""Open episodes in a file: what is kept of each, and how they are taken up again."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tacit.base.randomness import EpisodeDraws
from tacit.base.saved import Saved
from tacit.learning.episode import Episode, StepReader
from tacit.learning.stage import Stage
from tacit.learning.world import World


def keep_episode(world: World, episode: Episode) -> dict[str, Any]:
    """Return an open episode as plain values and arrays."""
    episode.drop_torn_step()
    taken = {"actions": episode.actions, "chances": episode.chances}
    return {"id": episode.id, "context": episode.context, **world.save_episode(episode), **taken}


def take_up(
    owner: StepReader, world: World, stage: Stage, saved: Saved, draws: EpisodeDraws, stages: Iterable[str]
) -> dict[int, Episode]:
    """Return the open episodes that were saved, by id: each begun once, before the next, in a stage that is known."""
    found: dict[int, Episode] = {}
    for state in saved.parts("open"):
        number = state.whole("id", most=saved.whole("next_id") - 1)
        state.check(number not in found, "id", "that of no other open episode")
        plan, states = world.restore_episode(stage, state)
        state.check(plan.stage in (*stages, stage.name), "plan", "of a stage that is known")
        encoded = world.restore_context(state)
        label = world.context_label(state["context"], encoded)
        episode = Episode(owner, number, label, encoded, plan, draws.row(number))
        episode.states, episode.actions = states, list(state["actions"])
        episode.chances = list(state["chances"])
        found[number] = episode
    return found
