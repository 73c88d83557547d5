"""The agent: begin, act, end. The one object every driver talks to, whatever it is shown and however it learns."""

from __future__ import annotations

import os
import threading
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tacit.base.changes import Changes, assign, commit
from tacit.base.checkpoint import CheckpointError, Still
from tacit.base.randomness import EpisodeDraws, draw_index
from tacit.base.saved import open_saved
from tacit.baselines.stages import STAGES
from tacit.learning.episode import (
    Episode,
    Step,
    check_open,
    check_ours,
    check_told_the_same,
    find_open,
    read_outcome,
    read_taken,
    refuse_step,
)
from tacit.learning.layered import EncoderOf, Layered, world_of
from tacit.learning.open_episodes import keep_episode, take_up
from tacit.learning.settings import Settings
from tacit.learning.stage import LayeredStage, Lesson, Stage
from tacit.learning.world import World, check_over
from tacit.planning.transition import TransitionCounts, TransitionEstimate
from tacit.problem.growth import without_action
from tacit.problem.layout import Layout
from tacit.problem.records import TextEncoder
from tacit.problem.spaces import Label
from tacit.text.bundled import MissingModelError
from tacit.text.conversations import Conversations
from tacit.text.model import RestoreModel
from tacit.text.sentences import encoder_of
from tacit.text.stages import TextExploration, TextLearning
from tacit.trust.anchors import Anchor
from tacit.trust.findings import Diagnosis

KIND = "agent"
Ending = tuple[object, Any | None, int | None, bool]
"""How an episode ends: feedback as it was given, as stages see it, the outcome, and whether it was abandoned."""


class Agent:
    """Learns from feedback over whole episodes; see `begin`, `act` and `end`.

    It owns no loop and sees no environment. Episodes are handles: many can be open at once, and feedback may
    come late, in any order, twice or never. `problem` is a layout, learned by `settings`, or another world such as
    `tacit.text.Conversations`; `stage` defaults to the one that the world begins with.

    Any number of threads may drive one agent: a lock lets one call in at a time, `save` among them. What is learned
    depends on the order in which episodes end, so a run is exact if that order is. Learning is worked out first and
    written down then: a call that is interrupted (Ctrl-C) has done nothing, or is finished by the next call; repeat it.

    >>> layout = Layout.regular([1, 2], n_actions=3, n_contexts=2, n_feedback=2)
    >>> agent = Agent(layout, seed=1)
    >>> episode = agent.begin(0)
    >>> first, last = agent.act(episode, 0), agent.act(episode, 2)
    >>> agent.end(episode, 1)
    >>> episode
    Episode(id=0, stage='fast learning', steps=2, ended)
    >>> agent.diagnose().verdict
    'not known yet'
    """

    def __init__(
        self,
        problem: Layout | World,
        settings: Settings | None = None,
        seed: int = 0,
        stage: Stage | None = None,
    ) -> None:
        self.world = world_of(problem, settings, encoder_of)
        self.stage: Stage = stage if stage is not None else self.world.first_stage()
        self._draws = EpisodeDraws(seed, self.world.plan_draws + self.world.horizon)  # plan, then steps
        self._next_id = 0
        self._open: dict[int, Episode] = {}
        self._lock = threading.RLock()
        self._pending: Changes = ()  # what is decided and may not be made yet
        self._untold: tuple[str, ...] = ()
        self._asks_next = True  # whether the stage may be done

    @property
    def layout(self) -> Layout:
        """Return the layout of a layered problem."""
        return self._layered.layout

    @property
    def settings(self) -> Settings:
        """Return the settings by which a layered problem is learned."""
        return self._layered.settings

    @property
    def seed(self) -> int:
        """Return the seed that all chance in the agent's episodes follows from."""
        return self._draws.seed

    @property
    def open_episodes(self) -> tuple[Episode, ...]:
        """Return the episodes that have begun and not ended, oldest first."""
        with self._lock:
            self._settle()
            return tuple(self._open.values())

    def episode(self, number: int) -> Episode:
        """Return the open episode with that id."""
        with self._lock:
            self._settle()
            return find_open(self._open, number)

    @property
    def next_episode(self) -> int:
        """Return the id that the next episode will have: how many have begun."""
        with self._lock:
            self._settle()
            return self._next_id

    def begin(self, context: object, uniform: bool = False) -> Episode:
        """Return the handle of a new episode; the present stage plans it, nothing is learned.

        A `uniform` one takes every action with the same chance, to compare with; it teaches as others do. One that an
        interrupt kept from being returned is the last of `open_episodes`, or never began.
        """
        with self._lock:
            if self._pending or self._asks_next:
                self._settle()
                self._go_on()
            world, number = self.world.meet_context(context), self._next_id
            encoded, draws = world.read_context(context), self._draws.row(number)
            stage, grown = self._grow(world)
            plan = world.uniform_plan(stage) if uniform else stage.plan(encoded, draws[0])
            episode = Episode(self, number, world.context_label(context, encoded), encoded, plan, draws)
            self._make([*grown, (_open_episode, self, number, episode)])
            return episode

    def act(
        self, episode: Episode, state: object, actions: Sequence[str] | None = None, step: int | None = None
    ) -> Label:
        """Return the action for `state`; asked again for the same state, the same action.

        `actions` are what can be done, where the world does not know it beforehand: in conversations the candidates, in
        an open layout all that the state offers, with those that are new, or of a state that is.
        A state that can be shown at two steps in a row is taken for that of the next; say which `step` is meant, 1 for
        the first, wherever a call may be repeated.
        """
        with self._lock:
            if self._pending:
                self._settle()
            check_ours(self, episode)
            if len(episode.states) > len(episode.chances):
                episode.drop_torn_step()
            world, taken = self.world, len(episode.actions)
            if actions is not None:
                world = world.meet_state(episode, state, actions, step)
            at, shown = world.read_state(episode, state, actions, step)
            if at == taken - 1 and episode.states[at] == shown:
                return world.offered(at, shown)[episode.actions[at]]
            check_open(episode)
            if at != taken or at == world.horizon:
                refuse_step(episode, at, world.horizon, state)
            if world is not self.world:
                self._make(self._grow(world)[1])
            chances = episode.plan.chances(at, shown)
            action = draw_index(chances, episode.draws.item(world.plan_draws + at))
            episode.states.append(shown)
            episode.actions.append(action)
            episode.chances.append(chances.item(action))  # now it is taken
            return world.offered(at, shown)[action]

    def took(
        self,
        episode: Episode,
        state: object,
        action: Label,
        probability: float | None = None,
        actions: Sequence[str] | None = None,
    ) -> None:
        """Take in that somebody else acted in `state`, the next of the episode: a program whose ways are to be learned.

        `probability` is their chance of it. Without, what else they went by would be mistaken for what the action does.
        """
        with self._lock:
            self._take_up(episode)
            check_open(episode)
            world, step = self.world, len(episode.actions) + 1
            world = world if actions is None else world.meet_state(episode, state, actions, step)
            at, shown = world.read_state(episode, state, actions, step)
            index, chance = read_taken(world.offered(at, shown), action, probability)
            if world is not self.world:
                self._make(self._grow(world)[1])
            episode.plan = world.followed(episode.plan, at, shown, index, chance)
            episode.states.append(shown)
            episode.actions.append(index)
            episode.chances.append(chance)  # now it is taken

    def end(self, episode: Episode, feedback: object, outcome: object = None) -> None:
        """Learn from the feedback of a finished episode, and hand over to the next stage when it is time.

        An episode is finished after its last step, or after an earlier one in a state in which it can end. Feedback
        None is silence: the person was there and said nothing. `outcome`, 0 or 1, is the reward where this once it is
        known. The same again does nothing. `episode.decoded_reward` is what it was taken to mean, None if unknown.
        """
        with self._lock:
            self._take_up(episode)
            world, known = self.world.meet_feedback(feedback), read_outcome(outcome)
            encoded = world.read_feedback(feedback)
            if episode.open or episode.abandoned:
                check_open(episode)
                check_over(world, episode)
                self._close(episode, (feedback, encoded, known, False), world)
            else:
                check_told_the_same(episode, feedback, encoded, known)
            self._go_on()

    def abandon(self, episode: Episode) -> None:
        """Close an episode that broke off, so that nobody could react; its transitions are still learned from."""
        with self._lock:
            self._take_up(episode)
            if not episode.abandoned:
                check_open(episode)
                self._close(episode, (None, None, None, True), self.world)
            self._go_on()

    def retire(self, action: Label, state: Label | None = None) -> None:
        """Offer an action no more, in one state or in all that have it; what is known of it stays.

        Episodes that are open do not take it from now on. A state must be left another action. In an open layout it is
        offered again when it comes among the `actions` of `act`.
        """
        with self._lock:
            self._settle()
            world = self._layered.laid_out(without_action(self.layout, action, state))
            self._make(self._grow(world)[1])

    def policy(self, context: object) -> Mapping[Label, Mapping[Label, float]]:
        """Return, state by state, the probability of each action that the agent takes to be best for a context.

        What it would do if it did not explore: for a look, or to deploy. Nothing is learned.

        >>> layout = Layout.regular([1], n_actions=2, n_contexts=1, n_feedback=2)
        >>> Agent(layout).policy(0)
        {0: {0: 0.5, 1: 0.5}}
        """
        with self._lock:
            self._settle()
            world = self.world.meet_context(context)
            return world.policy(self._grow(world)[0], world.read_context(context))

    def diagnose(self, anchors: Sequence[Anchor] = ()) -> Diagnosis:
        """Return whether what was learned can be trusted; `anchors` are episodes whose outcome is known."""
        with self._lock:
            self._settle()
            return Diagnosis(self.stage.diagnose([self.world.read_anchor(anchor) for anchor in anchors]))

    def read_steps(self, episode: Episode) -> tuple[Step, ...]:
        """Return the steps of an episode in the user's own words."""
        with self._lock:
            self._settle()
            if len(episode.states) > len(episode.chances):
                episode.drop_torn_step()
            rows = enumerate(zip(episode.states, episode.actions, episode.chances, strict=True))
            return tuple(
                Step(self.world.state_label(step, shown), offered[action], offered, chance)
                for step, (shown, action, chance) in rows
                if (offered := self.world.offered(step, shown))
            )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything to one file, open episodes included; `load` continues bit for bit."""
        self.still().save(path)

    def still(self) -> Still:
        """Return what `save` writes, as it is now: it can be written later, while the agent goes on."""
        with self._lock:
            self._settle()
            world, stage = self.world, self.stage
            tree = {"world": world.name, "world_state": world.to_state(), "seed": self.seed}
            tree |= {"next_id": self._next_id, "stage": stage.name, "stage_state": stage.to_state()}
            tree["open"] = [keep_episode(world, episode) for episode in self._open.values()]
            return Still(KIND, tree)

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        stages: Mapping[str, type[LayeredStage]] = STAGES,
        dynamics: Callable[[Layout], TransitionEstimate] = TransitionCounts,
        model: RestoreModel | None = None,
        encoder: TextEncoder | None = None,
    ) -> Agent:
        """Return the agent that `save` wrote, or raise CheckpointError: what loads plays as what was saved.

        What was injected must be given again: the classes that it may be in by name (`stages`), the `dynamics`, what
        rebuilds the `model` of conversations where their settings do not name one, the `encoder` of text.
        """
        finder: EncoderOf = encoder_of if encoder is None else lambda layout: encoder
        with open_saved(path, KIND, passing=(MissingModelError,)) as saved:
            kept, world, known = saved.part("stage_state"), saved.text("world"), (*stages,)
            if world == Layered.name:
                layered = Layered.from_state(saved.part("world_state"), dynamics, finder)
                stage = layered.restore_stage(saved.text("stage"), kept, stages)
                agent = cls(layered, None, saved["seed"], stage)
            elif world == Conversations.name:
                talk = Conversations.from_state(saved.part("world_state"), kept.part("model"), model)
                agent = cls(talk, None, saved["seed"], talk.restore_stage(saved.text("stage"), kept))
                known = (TextExploration.name, TextLearning.name)
            else:
                raise CheckpointError(
                    f"the agent in {os.fspath(path)!r} is of the world {world!r}, known are {Layered.name!r} and "
                    f"{Conversations.name!r}; load it with the program that made its world"
                )
            agent._next_id = saved.whole("next_id")
            agent._open = take_up(agent, agent.world, agent.stage, saved, agent._draws, known)
        return agent

    def __getstate__(self) -> dict[str, Any]:
        """Return what a copy or a pickle is made of, while no other thread drives the agent: all but the lock."""
        with self._lock:
            self._settle()
            return {name: value for name, value in vars(self).items() if name != "_lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, _lock=threading.RLock())

    @property
    def _layered(self) -> Layered:
        if isinstance(self.world, Layered):
            return self.world
        raise ValueError(f"a layered problem has a layout and settings, this one is of {self.world.name!r}")

    def _make(self, changes: Changes) -> None:
        """Make changes, all of them even if that is interrupted: then whoever comes next makes them again."""
        self._pending = changes
        self._settle()

    def _settle(self) -> None:
        """Make what an interrupted call had decided; every call begins with this."""
        if self._pending:
            commit(self._pending)
            self._pending = ()

    def _take_up(self, episode: Episode) -> None:
        """Finish what an interrupted call left, of the agent and of an episode, before that is closed."""
        if self._pending or self._asks_next:
            self._settle()
            self._go_on()
        check_ours(self, episode)
        episode.drop_torn_step()

    def _grow(self, world: World) -> tuple[Stage, Changes]:
        """Return the stage as it is in a world that may have grown, and what makes the agent one of that world."""
        if world is self.world:
            return self.stage, ()
        stage, changes = world.carry_over(self.world, self.stage, self._open.values())
        return stage, [assign(self, "world", world), assign(self, "stage", stage), *changes]

    def _close(self, episode: Episode, told: Ending, world: World) -> None:
        stage, grown = self._grow(world)
        lesson: Lesson = stage.learn(episode, told[1], told[2])
        self._make([*grown, *lesson.changes, (_close_episode, self, episode, (told, lesson))])

    def _go_on(self) -> None:
        """Tell what was remarked, and hand over to the next stage if it is time; asked again if it is interrupted."""
        while self._asks_next:
            self._tell()
            following = self.stage.next()
            if following is self.stage:
                self._asks_next = False
            else:
                self._make([assign(self, "_untold", following.remarks), assign(self, "stage", following)])

    def _tell(self) -> None:
        remarks, self._untold = self._untold, ()  # once, even where warnings are errors
        for remark in remarks:
            warnings.warn(remark, stacklevel=4)


def _open_episode(agent: Agent, number: int, episode: Episode) -> None:
    """Write down that an episode has begun; a change, so done twice it does no more."""
    agent._open[number] = episode
    agent._next_id = number + 1


def _close_episode(agent: Agent, episode: Episode, ended: tuple[Ending, Lesson]) -> None:
    """Write down how an episode ended; a change, so done twice it does no more."""
    (episode.feedback, episode.told, episode.outcome, episode.abandoned), lesson = ended
    episode.decoded_reward, episode.decoded_interval = lesson.decoded_reward, lesson.decoded_interval
    episode.open = False  # last: who reads the handle in another thread finds the rest
    agent._open.pop(episode.id, None)
    agent._untold, agent._asks_next = lesson.remarks, True
