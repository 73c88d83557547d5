"""One sequence for all candidates of a choice: the common beginning once, then a branch for each candidate.

Each branch sees the beginning and itself, at the positions it would have alone, so that the model's answers
are those of K separate prompts (equal to rounding) at the cost of one beginning.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from tacit.base.arrays import BoolArray, IntArray
from tacit.text.causal.prompts import Prompt

MARK = "@@here@@"
"""Stands for the question while a chat template is taken apart; no template contains it."""
YES, NO = "Yes", "No"


class Packed(NamedTuple):
    """A beginning and K branches as one sequence of n tokens."""

    tokens: IntArray  # (n,)
    positions: IntArray  # (n,)
    sees: BoolArray  # (n, n): whether the row's token may look at the column's
    last: IntArray  # (K,): where each branch ends, and so where its answer is read


class Packer:
    """Turns prompts into tokens for one tokenizer, at most `limit` of them for each candidate.

    Text from outside is never read as a control token: only the chat template's own are.
    """

    def __init__(self, tokenizer: Any, limit: int) -> None:
        self.limit = limit
        self._tokenizer = tokenizer
        head, tail, space = chat_frame(tokenizer)
        self._head, self._tail = self._encode(head, False), self._encode(tail, False)
        self.yes, self.no = (self._encode(space + word)[0] for word in (YES, NO))
        self._warned = False
        if self.yes == self.no:
            raise ValueError(
                f"the tokenizer must tell {YES!r} from {NO!r} by the first token, got {self.yes} for both; "
                "choose another model"
            )

    def pack(self, prompt: Prompt, candidates: Sequence[str]) -> Packed:
        """Return the sequence that asks `prompt` about every candidate, shortened to the limit."""
        branches = [self._encode(f" {text}{prompt.question}") + self._tail for text in candidates]
        opening = self._head + self._encode(prompt.opening)
        said, lead = self._encode(prompt.said), self._encode(prompt.lead)
        room = self.limit - len(opening) - len(lead) - max(map(len, branches))
        if room < len(said):
            said = self._shorten(said, room)
        return pack_branches(opening + said + lead, branches)

    def _encode(self, text: str, plain: bool = True) -> list[int]:
        encoded = self._tokenizer(text, add_special_tokens=False, split_special_tokens=plain)
        return list(encoded["input_ids"])

    def _shorten(self, said: list[int], room: int) -> list[int]:
        """Return the newest `room` tokens of what was said; say so the first time."""
        if room < 0:
            raise ValueError(
                f"candidate, feedback and profile must fit into {self.limit} tokens, got {self.limit - room}; "
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


def pack_branches(beginning: Sequence[int], branches: Sequence[Sequence[int]]) -> Packed:
    """Return the beginning and its branches as one sequence.

    >>> packed = pack_branches([7, 8], [[1], [2, 3]])
    >>> packed.tokens.tolist(), packed.positions.tolist(), packed.last.tolist()
    ([7, 8, 1, 2, 3], [0, 1, 2, 2, 3], [2, 4])
    >>> packed.sees[3].tolist()
    [True, True, False, True, False]
    """
    lengths = np.array([len(branch) for branch in branches])
    start = len(beginning)
    tokens = np.concatenate([np.asarray(part, np.int64) for part in (beginning, *branches)])
    positions = np.concatenate([np.arange(start), *(np.arange(start, start + n) for n in lengths)])
    branch = np.concatenate((np.full(start, -1), np.repeat(np.arange(len(branches)), lengths)))
    order = np.arange(len(tokens))
    sees = (order[:, None] >= order) & ((branch == -1) | (branch[:, None] == branch))
    return Packed(tokens, positions, sees, start + np.cumsum(lengths) - 1)


def chat_frame(tokenizer: Any) -> tuple[str, str, str]:
    """Return what a chat template puts before and after a question, and the space before an answer.

    A tokenizer without a template gets "Answer:", after which words begin with a space.
    """
    if not tokenizer.chat_template:
        return tokenizer.bos_token or "", "\nAnswer:", " "
    question = [{"role": "user", "content": MARK}]
    framed = tokenizer.apply_chat_template(question, tokenize=False, add_generation_prompt=True)
    head, tail = framed.split(MARK)
    return head, tail, ""
