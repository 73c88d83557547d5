"""The world of layered problems: states and actions known beforehand (section 2), or open ones.

Contexts and feedback may be labels, vectors, records or text; stages see labels and vectors (`tacit.problem.seen`).
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

from tacit.base.changes import Changes, assign
from tacit.base.checkpoint import CheckpointError
from tacit.base.saved import Saved
from tacit.base.validation import check_whole
from tacit.learning.episode import Episode, Plan
from tacit.learning.fast import FastLearning
from tacit.learning.generalising import GeneralisingLearning, is_counted
from tacit.learning.homing import Homing
from tacit.learning.regrowth import regrow_plan
from tacit.learning.settings import Settings
from tacit.learning.stage import (
    LayeredStage,
    PolicyPlan,
    Setup,
    Stage,
    best_policy,
    policy_plan,
    restore_plan,
)
from tacit.learning.world import World
from tacit.planning.transition import TransitionCounts, TransitionEstimate
from tacit.problem.growth import with_actions, with_context, with_state, with_word
from tacit.problem.layout import Layout
from tacit.problem.records import TextEncoder, dimension_of, encode_value, has_text
from tacit.problem.seen import reads_text, seen_layout
from tacit.problem.silence import encode_feedback
from tacit.problem.spaces import Encoded, Finite, Label, Vectors
from tacit.trust.anchors import Anchor

EncoderOf = Callable[[Layout], TextEncoder | None]
"""Gives the encoder of a layout: None where nothing is text."""


class Layered:
    """A layout with the settings to learn it by; see `tacit.learning.world.World`.

    `dynamics` makes the estimate of the dynamics that the stages plan with; `encoder` reads text, where there is some.
    `layout` is the user's, that of `setup` as stages see it.
    """

    name: ClassVar[str] = "layered"
    plan_draws: ClassVar[int] = 1

    def __init__(
        self,
        layout: Layout,
        settings: Settings | None = None,
        dynamics: Callable[[Layout], TransitionEstimate] = TransitionCounts,
        encoder: TextEncoder | None = None,
    ) -> None:
        self.layout, self.encoder = layout, encoder
        self.settings = settings if settings is not None else Settings()
        self.setup = Setup(seen_layout(layout, encoder), self.settings, dynamics)

    @property
    def horizon(self) -> int:
        """Return the number of layers."""
        return self.layout.horizon

    def first_stage(self) -> LayeredStage:
        """Return the stage that the recipe begins with: homing for the paper's Algorithm 1."""
        if self.settings.recipe == "paper":
            return Homing(self.setup)
        return FastLearning(self.setup) if is_counted(self.layout) else GeneralisingLearning(self.setup)

    def restore_stage(
        self, name: str, state: Mapping[str, Any], stages: Mapping[str, type[LayeredStage]]
    ) -> Stage:
        """Return the stage that was saved under a name; `stages` are the classes that it may be of."""
        if name not in stages:
            raise CheckpointError(
                f"the agent is in stage {name!r}, known are {sorted(stages)}; pass the stage's class in `stages`"
            )
        return stages[name].from_state(self.setup, state)

    def carry_over(self, before: World, stage: Stage, episodes: Iterable[Episode]) -> tuple[Stage, Changes]:
        """Return the stage in this layout, which has grown out of that before; open episodes have plans for it."""
        assert isinstance(before, Layered)
        old, new = before.layout, self.layout
        if not isinstance(stage, FastLearning):
            raise ValueError(
                f"labels are taken in, and actions retired, by the fast recipe, the agent is in stage {stage.name!r}; "
                "use Settings(recipe='fast'), or name all labels in the layout"
            )
        menus = new.actions is old.actions and new.retired == old.retired
        plans = () if menus else [(each, policy_plan(each), len(each.chances)) for each in episodes]
        changes = [assign(each, "plan", regrow_plan(plan, taken, old, new)) for each, plan, taken in plans]
        return stage.grown(self.setup), changes

    def laid_out(self, layout: Layout) -> Layered:
        """Return the world with another layout, itself if it is the one that it has."""
        if layout is self.layout:
            return self
        return Layered(layout, self.settings, self.setup.dynamics, self.encoder)

    def meet_context(self, context: object) -> Layered:
        """Return the world that can read a context: one with a label more, where contexts are open."""
        if not self.layout.contexts.open:
            return self
        return self.laid_out(with_context(self.layout, context))

    def meet_feedback(self, feedback: object) -> Layered:
        """Return the world that can read feedback: one with a word more, where feedback is open."""
        if not self.layout.feedback.open:
            return self
        return self.laid_out(with_word(self.layout, feedback))

    def meet_state(
        self, episode: Episode, state: object, actions: Sequence[Label], step: int | None
    ) -> Layered:
        """Return the world that can read a state and the actions that it offers: a larger one, if the layout is open.

        The state of the last step, if it is not one of the next, is asked for again, unless `step` says otherwise.
        """
        layout, taken = self.layout, len(episode.actions)
        if not layout.open or not episode.open or taken == layout.horizon or step not in (None, taken + 1):
            return self
        known = layout.find(state, taken)
        if known is not None:
            return self.laid_out(with_actions(layout, taken, known, actions))
        if step is None and taken and layout.find(state, taken - 1) == episode.states[-1]:
            return self  # asked again
        return self.laid_out(with_state(layout, taken, state, actions))

    def uniform_plan(self, stage: Stage) -> PolicyPlan:
        """Return the plan that takes every action that is offered with the same chance."""
        return PolicyPlan(self.setup.layout.uniform_policy, stage.name, uniform_last=True)

    def followed(self, plan: Plan, step: int, shown: int, action: int, chance: float) -> PolicyPlan:
        """Return the plan with the chance of an action that somebody else took; the others share what is left."""
        assert isinstance(plan, PolicyPlan)
        policy, K = plan.policy.copy(), len(self.layout.actions[step][shown])
        policy[step, shown, :K] = (1 - chance) / max(K - 1, 1)
        policy[step, shown, action] = chance
        return plan._replace(policy=policy, uniform_last=False, target=-1)

    def read_context(self, context: object) -> Encoded:
        """Return a context as stages see it."""
        return encode_value(self.layout.contexts, context, "context", self.encoder)

    def read_feedback(self, feedback: object) -> Encoded | None:
        """Return feedback as stages see it, silence (None) too; None where that is missing."""
        return encode_feedback(self.layout, feedback, encoder=self.encoder)

    def read_anchor(self, anchor: Anchor) -> Anchor:
        """Return an anchor whose context and feedback are vectors wherever stages see vectors."""
        layout, seen = self.layout, self.setup.layout
        context, feedback = anchor.context, anchor.feedback
        if seen.contexts is not layout.contexts:
            context = encode_value(layout.contexts, context, "an anchor's context", self.encoder)
        if feedback is not None and seen.feedback is not layout.feedback:
            feedback = encode_value(layout.feedback, feedback, "an anchor's feedback", self.encoder)
        return replace(anchor, context=context, feedback=feedback)

    def read_state(
        self, episode: Episode, state: object, actions: Sequence[str] | None, step: int | None
    ) -> tuple[int, int]:
        """Return (layer, index in the layer); the actions are the layout's, and given only to an open one.

        A label that stands in several layers is that of the next step if it can be, otherwise of the last one taken.
        """
        if actions is not None and not self.layout.open:
            raise ValueError(
                f"the layout says which actions a state offers, got {actions!r} with {state!r}; leave them out, or let "
                "it take in states and actions while the agent runs: Layout(..., open=True)"
            )
        layout, taken = self.layout, len(episode.actions)
        if step is not None:
            check_whole("step", step, 1, layout.horizon)
            return layout.locate(state, step - 1)
        if taken < layout.horizon and episode.open and (s := layout.find(state, taken)) is not None:
            return taken, s
        if taken and layout.find(state, taken - 1) == episode.states[-1]:
            return taken - 1, episode.states[-1]
        layers = layout.layers_of(state)
        h = next((h for h in layers if h >= taken), layers[-1])
        return h, layout.locate(state, h)[1]

    def can_end(self, step: int, shown: int) -> bool:
        """Return whether the layout says so."""
        return self.layout.can_end[step][shown]

    def offered(self, step: int, shown: int) -> tuple[Label, ...]:
        """Return the labels of a state's actions."""
        return self.layout.actions[step][shown]

    def context_label(self, context: object, encoded: Encoded) -> Any:
        """Return the label of a context, the numbers of its vector, the fields of a record, or the text itself."""
        space = self.layout.contexts
        if isinstance(space, Finite | Vectors):
            return space.decode(encoded)
        return space.plain(context, "context")

    def state_label(self, step: int, shown: int) -> Label:
        """Return the label of a state."""
        return self.layout.states[step][shown]

    def policy(self, stage: Stage, context: Encoded) -> dict[Label, dict[Label, float]]:
        """Return the probability of each action in each state, told apart by its step if it has the label of others."""
        policy, layout = best_policy(stage, context), self.layout
        return {
            layout.key(h, s): dict(zip(offered, policy[h, s].tolist(), strict=False))
            for h, layer in enumerate(layout.actions)
            for s, offered in enumerate(layer)
        }

    def save_episode(self, episode: Episode) -> dict[str, Any]:
        """Return plan and states as plain values and arrays, and the vector of a context with text."""
        kept = {"plan": policy_plan(episode)._asdict(), "states": episode.states}
        return kept | {"encoded": episode.encoded} if has_text(self.layout.contexts) else kept

    def restore_context(self, state: Mapping[str, Any]) -> Encoded:
        """Return the context of a saved episode as stages see it; text is not encoded again, for it was exact."""
        if not has_text(self.layout.contexts):
            return self.read_context(state["context"])
        size, most = dimension_of(self.layout.contexts, self.encoder), sys.float_info.max
        return Saved.of(state).floats("encoded", (size,), -most, most)

    def restore_episode(self, stage: Stage, state: Mapping[str, Any]) -> tuple[Plan, list[int]]:
        """Return (plan, states) that `save_episode` described."""
        saved, layout = Saved.of(state), self.layout
        plan = restore_plan(layout, saved.part("plan"))
        states, actions, chances = (saved.entries(name) for name in ("states", "actions", "chances"))
        taken = len(states)
        whole = taken == len(actions) == len(chances) <= layout.horizon
        saved.check(whole, "states", "as many as actions and chances, and no more than layers")
        path = [states.whole(str(h), most=len(layout.states[h]) - 1) for h in range(taken)]
        for h, s in enumerate(path):
            a = actions.whole(str(h), most=int(layout.n_actions[h, s]) - 1)
            played = 0 < chances.number(str(h), 0, 1) == plan.policy[h, s, a]
            saved.check(played, "chances", "those of the plan, and above 0")
        return plan, path

    def to_state(self) -> dict[str, Any]:
        """Return the layout and the settings, and by what encoder text is read."""
        state = {"layout": self.layout.to_json(), "settings": self.settings.to_json()}
        if self.encoder is None or not reads_text(self.layout):
            return state
        return state | {"encoder": {"name": self.encoder.name, "dimension": self.encoder.dimension}}

    @classmethod
    def from_state(
        cls,
        state: Mapping[str, Any],
        dynamics: Callable[[Layout], TransitionEstimate] = TransitionCounts,
        encoder_of: EncoderOf | None = None,
    ) -> Layered:
        """Return the world that `to_state` described; `encoder_of` gives the encoder that it had, if there is text."""
        saved = Saved.of(state)
        layout, settings = Layout.from_json(saved.part("layout")), Settings.from_json(saved.part("settings"))
        encoder = None if encoder_of is None else encoder_of(layout)
        if reads_text(layout):
            _check_encoder(saved.part("encoder"), encoder)
        return cls(layout, settings, dynamics, encoder)


def _check_encoder(saved: Saved, encoder: TextEncoder | None) -> None:
    """Raise CheckpointError unless an encoder is the one that was saved by name."""
    known = saved.text("name"), saved.whole("dimension", 1)
    given = None if encoder is None else (encoder.name, encoder.dimension)
    if given != known:
        raise CheckpointError(
            f"the agent reads text by the encoder {known[0]!r} of {known[1]} numbers, got {given}; pass that one as "
            "`encoder`"
        )


def world_of(
    problem: Layout | World, settings: Settings | None, encoder_of: EncoderOf | None = None
) -> World:
    """Return a layout with its settings as a world, or the world that was given; `encoder_of` it reads its text."""
    if isinstance(problem, Layout):
        encoder = None if encoder_of is None else encoder_of(problem)
        return Layered(problem, settings, encoder=encoder)
    if settings is not None:
        raise ValueError("settings go with a layout, a world has its own; give them to the world")
    return problem
