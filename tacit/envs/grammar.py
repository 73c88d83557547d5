"""A little grammar: sentences with alternatives in brackets, drawn or listed, in two parts that share none."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from random import Random
from typing import Literal, TypeVar, get_args

T = TypeVar("T")

Part = Literal["seen", "held_out"]
"""Wordings that are seen in learning, and others that are kept to test what was learned."""

HELD_OUT_EVERY = 4
"""Of every so many templates the last is held out."""

_TOKEN = re.compile(r"[\[\]|]|[^\[\]|]+")


class Grammar:
    """Templates such as `[Thanks|Thank you][ so much|], [that is|that's] right.`; brackets may be nested.

    A quarter of the templates, every fourth, are kept for the part `held_out`: no sentence of theirs is ever seen.

    >>> grammar = Grammar("[Yes|Sure], do.", "Fine.", "Please.", "By all means.")
    >>> sorted(grammar.sentences("seen"))
    ['Fine.', 'Please.', 'Sure, do.', 'Yes, do.']
    >>> grammar.draw(Random(0), "held_out")
    'By all means.'
    """

    def __init__(self, *templates: str) -> None:
        self._parts = {part: take_part(templates, part) for part in get_args(Part)}

    def draw(self, random: Random, part: Part) -> str:
        """Return a sentence of the part: a template drawn uniformly, then each alternative."""
        return draw_wording(random.choice(self._parts[check_part(part)]), random)

    def sentences(self, part: Part) -> Iterator[str]:
        """Yield every sentence of the part."""
        for template in self._parts[check_part(part)]:
            yield from list_wordings(template)


def take_part(items: Sequence[T], part: Part) -> tuple[T, ...]:
    """Return the items of a part: every fourth is held out, the others are seen.

    >>> take_part("abcdefgh", "held_out")
    ('d', 'h')
    """
    if len(items) < HELD_OUT_EVERY:
        raise ValueError(
            f"wordings must come in at least {HELD_OUT_EVERY} templates, got {len(items)}; every "
            f"{HELD_OUT_EVERY}th is held out"
        )
    held_out = check_part(part) == "held_out"
    return tuple(item for i, item in enumerate(items, start=1) if (i % HELD_OUT_EVERY == 0) == held_out)


def check_part(part: str) -> Part:
    """Return the part, or raise ValueError unless it is one of the two."""
    for known in get_args(Part):
        if part == known:
            return known  # type: ignore[no-any-return]
    raise ValueError(f"the part of the wordings must be one of {', '.join(get_args(Part))}, got {part!r}")


def draw_wording(template: str, random: Random) -> str:
    """Return one sentence of a template, every alternative drawn uniformly."""
    return _join(_parse(template), random)


def list_wordings(template: str) -> list[str]:
    """Return every sentence of a template.

    >>> list_wordings("[a[b|c]|d]e")
    ['abe', 'ace', 'de']
    """
    return _all(_parse(template))


_Node = str | list["_Sequence"]
"""A piece of text, or the alternatives of a bracket."""
_Sequence = list[_Node]


@cache
def _parse(template: str) -> _Sequence:
    # A stack of open brackets; each holds its alternatives, the last of which is being read.
    stack: list[list[_Sequence]] = [[[]]]
    for token in _TOKEN.findall(template):
        if token == "[":
            stack.append([[]])
        elif token == "]":
            closed = stack.pop()
            stack[-1][-1].append(closed)
        elif token == "|" and len(stack) > 1:
            stack[-1].append([])
        else:
            stack[-1][-1].append(token)
    if len(stack) != 1:
        raise ValueError(f"every bracket of a template must be closed, got {template!r}")
    return stack[0][0]


def _join(sequence: _Sequence, random: Random) -> str:
    return "".join(node if isinstance(node, str) else _join(random.choice(node), random) for node in sequence)


def _all(sequence: _Sequence) -> list[str]:
    texts = [""]
    for node in sequence:
        endings = [node] if isinstance(node, str) else [text for choice in node for text in _all(choice)]
        texts = [text + ending for text in texts for ending in endings]
    return texts
