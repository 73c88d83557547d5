"""What a causal language model reads, as tokens: a beginning, and a branch for each candidate of a choice.

Each branch sees the beginning and itself, at the positions it would have alone, so that the model's states are those of
K separate texts (equal to rounding) at the cost of one beginning. A remark or a profile is a beginning alone.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from tacit.base.arrays import BoolArray, IntArray
from tacit.text.causal.prompts import PLACE, ChoicePrompt
from tacit.text.conversation import check_candidates

AT_ONCE = 1_024
"""Tokens that are read together, padding included: more was not faster on two cores."""


class Packed(NamedTuple):
    """A beginning and its branches, which a model reads as one sequence of n tokens.

    >>> packed = Packed((7, 8), ((1,), (2, 3)))
    >>> packed.tokens.tolist(), packed.positions.tolist(), packed.ends.tolist()
    ([7, 8, 1, 2, 3], [0, 1, 2, 2, 3], [1, 2, 4])
    >>> packed.sees[3].tolist()
    [True, True, False, True, False]
    """

    beginning: tuple[int, ...]
    branches: tuple[tuple[int, ...], ...] = ()

    @property
    def size(self) -> int:
        """Return n."""
        return len(self.beginning) + sum(map(len, self.branches))

    @property
    def tokens(self) -> IntArray:
        """Return the tokens, (n,)."""
        return np.array([token for part in (self.beginning, *self.branches) for token in part], np.int64)

    @property
    def positions(self) -> IntArray:
        """Return where each token stands in the text that its branch is, (n,)."""
        start = len(self.beginning)
        parts = [np.arange(start), *(np.arange(start, start + len(branch)) for branch in self.branches)]
        return np.concatenate(parts)

    @property
    def sees(self) -> BoolArray:
        """Return whether the row's token may look at the column's, (n, n)."""
        lengths = [len(branch) for branch in self.branches]
        branch = np.concatenate(
            [np.full(len(self.beginning), -1), np.repeat(np.arange(len(lengths)), lengths)]
        )
        order = np.arange(self.size)
        return np.asarray((order[:, None] >= order) & ((branch == -1) | (branch[:, None] == branch)))

    @property
    def ends(self) -> IntArray:
        """Return where beginning and branches end, (K + 1,): states are read there."""
        return np.cumsum([len(self.beginning), *map(len, self.branches)]) - 1


class Packer:
    """Turns texts into tokens for one tokenizer, at most `limit` of them for each candidate.

    Text from outside is never read as a control token.
    """

    def __init__(self, tokenizer: Any, limit: int) -> None:
        self.limit = limit
        self._tokenizer = tokenizer
        self._first = tuple(tokenizer("")["input_ids"])  # what a text begins with, if anything
        self._warned = False

    def choice(self, prompt: ChoicePrompt, candidates: Sequence[str]) -> Packed:
        """Return a conversation with a branch for each candidate, its oldest part left out where it is too long."""
        branches = tuple(self._encode(f" {text}{prompt.question}") for text in check_candidates(candidates))
        opening = self._first + self._encode(prompt.opening)
        said, lead = self._encode(prompt.said), self._encode(prompt.lead)
        room = self.limit - len(opening) - len(lead) - max(map(len, branches))
        if room < len(said):
            said = self._shorten(said, room)
        return Packed(opening + said + lead, branches)

    def text(self, prompt: str, text: str) -> Packed:
        """Return a text at its place in a prompt; the end of one that is too long is left out."""
        before, after = map(self._encode, prompt.split(PLACE))
        room = self.limit - len(self._first) - len(before) - len(after)
        return Packed(self._first + before + self._encode(text)[: max(room, 0)] + after)

    def _encode(self, text: str) -> tuple[int, ...]:
        encoded = self._tokenizer(text, add_special_tokens=False, split_special_tokens=True)
        return tuple(encoded["input_ids"])

    def _shorten(self, said: tuple[int, ...], room: int) -> tuple[int, ...]:
        """Return the newest `room` tokens of what was said; say so the first time."""
        if room < 0:
            raise ValueError(
                f"candidate and profile must fit into {self.limit} tokens, got {self.limit - room}; "
                "shorten them, raise max_tokens, or choose a model that reads more"
            )
        if not self._warned:
            self._warned = True
            warnings.warn(
                f"a conversation is {len(said) - room} tokens too long for the {self.limit} that are read at "
                "once: its oldest part is left out, here and wherever else it must; raise max_tokens if the "
                "model reads more",
                stacklevel=2,
            )
        return said[len(said) - room :]


def token_batches(packs: Sequence[Packed]) -> Iterator[list[int]]:
    """Yield the numbers of packs to be read together: of about one length, `AT_ONCE` tokens or one pack.

    >>> list(token_batches([Packed((1,) * 600), Packed((1,)), Packed((1,) * 500)]))
    [[1, 2], [0]]
    """
    some: list[int] = []
    for number in sorted(range(len(packs)), key=lambda n: packs[n].size):
        if some and (len(some) + 1) * packs[number].size > AT_ONCE:
            yield some
            some = []
        some.append(number)
    if some:
        yield some
