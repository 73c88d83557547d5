"""Notices that the world has moved: watches over what is said in each place, over types of words, and over dynamics.

What is heard after an action in a last state and context follows one law whatever the policy (Assumption 2.1), and so
does where an action leads: if either changes, the world has. Three kinds of draws are watched (`tacit.trust.watches`),
each with a third of the probability of a false alarm:

- words: what is said in each (ending, context), from the first tuple on;
- types, from three words on: those that were judged to tell of a reward against the others, as they were judged when
  the place was settled, from then on. Two types show a change that many words dilute;
- dynamics: the next state in each (layer, state).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from typing import Any

import numpy as np

from tacit.base.arrays import BoolArray
from tacit.base.changes import Change, Changes, assign, put, remove
from tacit.base.saved import Saved
from tacit.decoding.counts import PlaceIndex
from tacit.decoding.judgement import HETEROGENEOUS, Judgement
from tacit.decoding.tuples import counted_shape
from tacit.problem.layout import Layout
from tacit.problem.silence import feedback_word
from tacit.trust.diagnostics import find_drift
from tacit.trust.findings import Finding, name_place
from tacit.trust.watches import MOST_VALUES, Alarm, DriftSettings, Watches, read_alarm

WORDS, TYPES, DYNAMICS = "words", "types", "dynamics"
KINDS = (WORDS, TYPES, DYNAMICS)
"""What is watched."""
RECENT = 20
"""Tuples since a change with which a place of its context has shown for itself whether it has changed, too."""
PLEASED = 0.5
"""The phi from which a word is of the type that tells of a reward."""
REMEMBERED = 20
"""Changes that are kept to be told of."""

Noticing = tuple[list[Change], list[Alarm]]
"""What is to be written down, and the changes of the world that were noticed."""


class Vigilance:
    """The watches of an agent over the tuples and transitions of a layout."""

    def __init__(self, layout: Layout, settings: DriftSettings) -> None:
        self._layout = layout
        self._endings, self._groups, self._values, K = counted_shape(layout)
        sizes = {
            WORDS: (K, self._values),
            TYPES: (K, 2),
            DYNAMICS: (layout.max_actions, layout.max_states),
        }
        self._watches = {kind: Watches(kind, *sizes[kind], settings.alpha / len(KINDS)) for kind in KINDS}
        self._watches[DYNAMICS].learn(
            [((0, 0), 0, 0)], 0
        )  # compiled code is loaded now, not during an episode
        self._types: dict[PlaceIndex, BoolArray] = {}
        self.noticed: tuple[Alarm, ...] = ()

    def widened(self, layout: Layout) -> Vigilance:
        """Return the same watches in a layout with labels more; what is noticed by them is noticed by both."""
        wider = copy(self)
        wider._layout, wider._groups = layout, counted_shape(layout)[1]
        return wider

    def follow(self, states: Sequence[int], actions: Sequence[int], episode: int) -> Noticing:
        """Return what the transitions of a path teach, and the changes of dynamics that they show."""
        draws = [((h, states[h]), actions[h], following) for h, following in enumerate(states[1:])]
        return self._watches[DYNAMICS].learn(draws, episode)

    def hear(
        self, place: PlaceIndex, value: int, action: int, judgement: Judgement | None, episode: int
    ) -> Noticing:
        """Return what a tuple teaches, and the change that it shows; `judgement` is what the place is judged to be."""
        changes, alarms = self._watches[WORDS].learn([(place, action, value)], episode)
        types = self._types.get(place)
        if types is None:
            if judgement is not None and self._has_types(judgement):
                changes.append(put(self._types, place, judgement.phi >= PLEASED))
        elif not alarms:
            more, alarms = self._watches[TYPES].learn([(place, action, int(types[value]))], episode)
            changes += more
        return changes, alarms

    def doubtful(self, alarm: Alarm) -> list[PlaceIndex]:
        """Return the places that a change of feedback puts in doubt: its own, and those of its context not seen since.

        Where people of one context want or mean something else in one state they may do so in others; a place in
        which enough was heard after the change has a watch of its own to tell.
        """
        ending, group = alarm.place
        words = self._watches[WORDS]
        others = [(s, group) for s in range(self._endings) if s != ending]
        return [(ending, group), *(each for each in others if words.since(each, alarm.changed) < RECENT)]

    def forget(self, place: PlaceIndex) -> Changes:
        """Return what lets feedback of a place be watched anew."""
        return (
            *self._watches[WORDS].forget(place),
            *self._watches[TYPES].forget(place),
            remove(self._types, place),
        )

    def remember(self, alarms: Sequence[Alarm]) -> Change:
        """Return what keeps alarms to be told of."""
        return assign(self, "noticed", (*self.noticed, *alarms)[-REMEMBERED:])

    def describe(self, alarm: Alarm) -> str:
        """Return a change in a sentence, with its evidence."""
        return (
            f"drift: {self._where(alarm)} changed after about episode {alarm.changed:,}, as was noticed in episode "
            f"{alarm.noticed:,} (log evidence {alarm.log_e:.0f}): {self._what(alarm)}; what was known from before is "
            "forgotten, and explored again"
        )

    def find_drift(self, episodes: int) -> tuple[Finding, ...]:
        """Return the finding of what has changed in so many episodes, if anything has."""
        alarms = [(self._where(alarm), alarm.noticed, self._what(alarm)) for alarm in self.noticed]
        return tuple(find_drift(alarms, episodes))

    def to_state(self) -> dict[str, Any]:
        """Return what `restore` reads."""
        places = sorted(self._types)
        types = [self._types[place] for place in places]
        return {
            "watches": {kind: self._watches[kind].to_state() for kind in KINDS},
            "places": np.array(places, dtype=np.int64).reshape(-1, 2),
            "types": np.array(types, dtype=np.bool_).reshape(-1, self._values),
            "noticed": [alarm._asdict() | {"place": list(alarm.place)} for alarm in self.noticed],
        }

    def restore(self, state: Mapping[str, Any], episodes: int) -> None:
        """Take up what `to_state` returned after so many episodes, if it fits the layout."""
        saved, layout = Saved.of(state), self._layout
        endings = self._endings, self._groups
        sizes = {WORDS: endings, TYPES: endings, DYNAMICS: (layout.horizon - 1, layout.max_states)}
        for kind, watches in self._watches.items():
            watches.restore(saved.part("watches").part(kind), sizes[kind], episodes)
        places = saved.wholes("places", (None, 2))
        types = saved.flags("types", (len(places), self._values))
        inside = len(np.unique(places, axis=0)) == len(places) and (places < np.array(endings)).all()
        saved.check(inside, "places", f"below {endings}, and each once")
        self._types = {(s, x): types[i].copy() for i, (s, x) in enumerate(places.tolist())}
        self.noticed = tuple(read_alarm(part, sizes, episodes) for part in saved.parts("noticed"))
        saved.check(len(self.noticed) <= REMEMBERED, "noticed", f"{REMEMBERED} at most")

    def _has_types(self, judgement: Judgement) -> bool:
        return judgement.settled and judgement.kind == HETEROGENEOUS and self._values > 2

    def _where(self, alarm: Alarm) -> str:
        layout, (first, second) = self._layout, alarm.place
        if alarm.kind == DYNAMICS:
            return f"where actions lead in state {layout.name(first, second)!r}"
        return f"feedback in {name_place(layout, first, layout.contexts.decode(second))}"

    def _next_state(self, layer: int, state: int) -> str:
        return (
            "the end"
            if state == self._layout.ended[layer + 1]
            else repr(self._layout.states[layer + 1][state])
        )

    def _what(self, alarm: Alarm) -> str:
        layout, (first, second) = self._layout, alarm.place
        dynamics = alarm.kind == DYNAMICS
        actions = layout.actions[first][second] if dynamics else layout.endings.actions[first]
        many = (layout.max_states if dynamics else self._values) > MOST_VALUES
        if alarm.kind == TYPES:
            value = f"words that {'told' if alarm.value else 'did not tell'} of a reward"
        elif many:
            value = "one of several states" if dynamics else "one of several words"
        else:
            value = self._next_state(first, alarm.value) if dynamics else feedback_word(layout, alarm.value)
        return (
            f"after action {actions[alarm.action]!r}, {value} came {alarm.before:.0%} of {alarm.drawn_before:,} times "
            f"before and {alarm.after:.0%} of {alarm.drawn_after:,} times since"
        )
