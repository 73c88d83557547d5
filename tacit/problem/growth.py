"""Layouts that grow: with a context, a word, a state or an action more, or with an action that is offered no more.

Nothing that has an index gets another: what comes is appended. Two things move: the state of episodes that have ended,
the last of its layer (`Layout.ended`), and silence, the last value of feedback, whenever that runs out of room.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from tacit.problem.layout import Layout
from tacit.problem.records import Space
from tacit.problem.spaces import Finite, Label, abridge_labels, plain_label


def with_context(layout: Layout, context: Any) -> Layout:
    """Return the layout with a context more, itself if it can encode that already; its contexts are open."""
    return _with_label(layout, "contexts", context)


def with_word(layout: Layout, feedback: Any) -> Layout:
    """Return the layout with a word more, itself if it can encode that already or it is silence; its feedback is open.

    >>> layout = Layout((("hello",),), ((("a", "b"),),), Finite((0,)), Finite(("ok",), open=True))
    >>> with_word(layout, "thanks").feedback.labels
    ('ok', 'thanks')
    """
    return layout if feedback is None else _with_label(layout, "feedback", feedback)


def with_space(layout: Layout, which: str, space: Space) -> Layout:
    """Return the layout with another space of contexts or feedback; all computed of states and actions is shared."""
    other = object.__new__(Layout)
    vars(other).update(vars(layout))
    vars(other)[which] = space
    return other


def may_change(layout: Layout) -> bool:
    """Return whether a layout may grow, or has actions that are offered no more."""
    return layout.open or layout.contexts.open or layout.feedback.open or bool(layout.retired)


def closed(layout: Layout) -> Layout:
    """Return the layout as it is now, which takes nothing in and offers what it ever did: that of logs."""
    if not may_change(layout):
        return layout
    spaces = {"contexts": layout.contexts, "feedback": layout.feedback}
    labels = {name: Finite(space.labels) for name, space in spaces.items() if isinstance(space, Finite)}
    return replace(layout, open=False, retired=(), **labels)  # type: ignore[arg-type]


def with_state(layout: Layout, layer: int, state: Any, actions: Sequence[Any]) -> Layout:
    """Return the layout with a state more in a layer, the last of it, that offers these actions.

    >>> layout = Layout.regular([1, 1], n_actions=2, n_contexts=1, n_feedback=2)
    >>> with_state(layout, 1, "elsewhere", ("stay", "go")).states
    ((0,), (1, 'elsewhere'))
    """
    if layer == 0:
        raise ValueError(
            f"episodes begin in one state, {layout.states[0][0]!r}, got {state!r} for the first step; make what "
            "differs the context, or a state of the next step"
        )
    label, offered = plain_label(state), tuple(map(plain_label, actions))
    return replace(
        layout,
        states=_appended(layout.states, layer, label),
        actions=_appended(layout.actions, layer, offered),
        names=None if layout.names is None else _appended(layout.names, layer, str(label)),
    )


def with_actions(layout: Layout, layer: int, state: int, actions: Sequence[Any]) -> Layout:
    """Return the layout in which a state offers these actions: those that are new, or were retired, too.

    One that it offers and that is not among them is missed: whoever plans cannot know that it may not be played.
    """
    known, offered = layout.actions[layer][state], tuple(map(plain_label, actions))
    gone = [a for a, label in enumerate(known) if label not in offered]
    missed = [known[a] for a in gone if (layer, state, a) not in layout.retired]
    if missed:
        raise ValueError(
            f"state {layout.states[layer][state]!r} offers {abridge_labels(known)}, got {offered!r} without "
            f"{missed[0]!r}; name all of them, or retire what is offered no more: agent.retire({missed[0]!r})"
        )
    new = tuple(label for label in offered if label not in known)
    retired = tuple(one for one in layout.retired if one[:2] != (layer, state) or one[2] in gone)
    if not new and retired == layout.retired:
        return layout
    menus = tuple(menu + new if s == state else menu for s, menu in enumerate(layout.actions[layer]))
    layers = tuple(menus if h == layer else each for h, each in enumerate(layout.actions))
    return replace(layout, actions=layers, retired=retired)


def without_action(layout: Layout, action: Any, state: Any = None) -> Layout:
    """Return the layout in which an action is offered no more: in a state, in all its layers, or wherever it is.

    >>> layout = Layout.regular([1], n_actions=2, n_contexts=1, n_feedback=2)
    >>> without_action(layout, 1).uniform_policy
    array([[[1., 0.]]])
    """
    layers = range(layout.horizon) if state is None else layout.layers_of(state)
    menus = [
        (h, s, menu)
        for h in layers
        for s, menu in enumerate(layout.actions[h])
        if state is None or layout.states[h][s] == state
    ]
    found = [(h, s, menu.index(action)) for h, s, menu in menus if action in menu]
    if not found:
        where = "any state" if state is None else f"state {state!r}"
        raise ValueError(
            f"an action that is retired must be one of {where}, got {action!r}; see `layout.actions`"
        )
    retired = {*layout.retired, *found}
    for h, s, _ in found:
        if all((h, s, a) in retired for a in range(len(layout.actions[h][s]))):
            raise ValueError(
                f"a state must offer at least one action, {action!r} is the last of state {layout.states[h][s]!r}; "
                "let it have another first"
            )
    return replace(layout, retired=tuple(retired))


def _with_label(layout: Layout, which: str, label: Any) -> Layout:
    """Return the layout with a label more, itself if it can encode that already."""
    space = getattr(layout, which)
    grown = space.taking_in(label)
    return layout if grown is space else with_space(layout, which, grown)


def _appended(
    layers: Sequence[tuple[Any, ...]], layer: int, one: Label | tuple[Label, ...]
) -> tuple[Any, ...]:
    return tuple((*each, one) if h == layer else each for h, each in enumerate(layers))
