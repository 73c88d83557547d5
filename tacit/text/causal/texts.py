"""The texts of a fit, each distinct one read once by the frozen layers, whose states are kept while there is room."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch

from tacit.base.arrays import IntArray
from tacit.text.causal.heads import States
from tacit.text.causal.packing import Packed, Packer, token_batches
from tacit.text.causal.prompts import PROMPTS, choice_prompt
from tacit.text.causal.reader import StateReader
from tacit.text.conversation import Choice, Reaction
from tacit.text.model import FitProgress

ROOM = 2e9
"""Bytes of states that a fit keeps: those of some 5,000 choices in SmolLM2. Of more they are computed whenever met."""


class Texts:
    """Texts that may repeat; `read` gives the states at their ends by the reader's present weights."""

    def __init__(
        self, reader: StateReader, packs: Sequence[Packed], what: str, progress: FitProgress | None
    ) -> None:
        self._reader = reader
        self.packs = list(dict.fromkeys(packs))
        numbers = {pack: number for number, pack in enumerate(self.packs)}
        self._rows = [numbers[pack] for pack in packs]
        self._kept: dict[int, torch.Tensor] = {}
        done, room = 0, ROOM
        for some in token_batches(self.packs):
            if room > 0:
                found = reader.frozen.read([self.packs[n] for n in some])
                self._kept |= zip(some, found, strict=True)
                room -= sum(each.nbytes for each in found)
            done += len(some)
            if progress is not None:
                progress(done, len(self.packs), what)

    def read(self, rows: Sequence[int] | IntArray) -> torch.Tensor:
        """Return the states of some texts, with slopes, padded: (n, most ends, d)."""
        numbers = [self._rows[row] for row in rows]
        distinct = list(dict.fromkeys(numbers))
        packs = [self.packs[n] for n in distinct]
        states = dict(zip(distinct, self._reader.read(packs, self._below(distinct)), strict=True))
        return torch.nn.utils.rnn.pad_sequence([states[n] for n in numbers], batch_first=True)

    def read_all(self) -> torch.Tensor:
        """Return the states of all texts, without slopes, padded."""
        found: dict[int, torch.Tensor] = {}
        with torch.no_grad():
            for some in token_batches(self.packs):
                packs = [self.packs[n] for n in some]
                found |= zip(some, self._reader.read(packs, self._below(some)), strict=True)
        states = [found[n].cpu() for n in self._rows]
        return torch.nn.utils.rnn.pad_sequence(states, batch_first=True)

    def pack(self, row: int) -> Packed:
        """Return the text of a row."""
        return self.packs[self._rows[row]]

    def _below(self, numbers: Sequence[int]) -> list[torch.Tensor]:
        known = self._kept
        return [known[n] if n in known else self._reader.frozen.read([self.packs[n]])[0] for n in numbers]


class TextReading(NamedTuple):
    """All that a language model reads of reactions: their choices, remarks and profiles, row by row."""

    choice: Texts
    remark: Texts
    profile: Texts

    def states(self, rows: Sequence[int] | IntArray) -> States:
        """Return the states of some reactions, with slopes."""
        choice, remark, profile = (texts.read(rows) for texts in self)
        return States(choice, remark[:, 0], profile[:, 0])

    def all_states(self) -> States:
        """Return those of all, without slopes."""
        choice, remark, profile = (texts.read_all() for texts in self)
        return States(choice, remark[:, 0], profile[:, 0])


def read_reactions(
    reader: StateReader, packer: Packer, reactions: Sequence[Reaction], progress: FitProgress | None = None
) -> TextReading:
    """Return what a language model reads of reactions; the frozen layers have read it."""
    packed = zip(*(pack_reaction(packer, reaction) for reaction in reactions), strict=True)
    named = zip(packed, ("reading conversations", "reading remarks", "reading profiles"), strict=True)
    return TextReading(*(Texts(reader, packs, what, progress) for packs, what in named))


def read_choices(
    reader: StateReader, packer: Packer, choices: Sequence[Choice], progress: FitProgress | None = None
) -> list[torch.Tensor]:
    """Return the states of choices, without slopes, (K + 1, d) each, conversation first."""
    texts = Texts(reader, [pack_choice(packer, choice) for choice in choices], "reading choices", progress)
    sizes = [len(choice.candidates) + 1 for choice in choices]
    return [states[:size] for states, size in zip(texts.read_all(), sizes, strict=True)]


def pack_reaction(packer: Packer, reaction: Reaction) -> tuple[Packed, Packed, Packed]:
    """Return a reaction's choice, remark and profile as tokens."""
    return (
        pack_choice(packer, reaction.choice),
        packer.text(PROMPTS["remark"], reaction.feedback),
        packer.text(PROMPTS["profile"], reaction.choice.conversation.context.profile),
    )


def pack_choice(packer: Packer, choice: Choice) -> Packed:
    """Return a choice as tokens."""
    return packer.choice(choice_prompt(choice.conversation), choice.candidates)
