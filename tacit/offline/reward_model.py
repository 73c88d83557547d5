"""Rewards for logs: a model that decodes how logged episodes ended, with a certificate of what it rests on.

`tacit.offline.fit.fit` learns from episodes whose last action was random; the model decodes any. Rewards that the
logs hold are never used to fit; as anchors they can settle which way round the decoding is. For finite and for vector
data the model is a table over (last state, context group, feedback value, action) behind a `Reading`; text has a model
of its own behind `RewardModel`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from typing import Any, NamedTuple, Protocol

import numpy as np

from tacit.base.arrays import BoolArray, FloatArray
from tacit.base.checkpoint import load_tree, save_tree
from tacit.decoding.confidence import Doubt, weigh_doubt
from tacit.decoding.decoder import DecoderSettings
from tacit.decoding.judgement import (
    HETEROGENEOUS,
    HOMOGENEOUS,
    UNKNOWN,
    Judgement,
    Judgements,
    decode_all,
    fit_balanced,
    judge_all,
)
from tacit.decoding.reading import Reading, reading_from_state
from tacit.learning.settings import Settings
from tacit.logs.episodes import Fault, LoggedEpisode, Problem, Problems, read_logs
from tacit.logs.files import dump_json
from tacit.logs.survey import LogReader, mixed_horizon
from tacit.problem.layout import Layout
from tacit.problem.spaces import Encoded
from tacit.trust.anchors import coin_chance
from tacit.trust.certificate import Certificate

KIND = "reward model"
DECIMALS = 6
"""To which decoded rewards and confidences are rounded: far finer than any tuples could tell."""
BATCH = 2_000
"""Episodes decoded at once."""

DECODED, LOWER_BOUND, UNCERTAIN = "decoded", "lower_bound", "uncertain"
UNSEEN_STATE, UNSEEN_CONTEXT = "unseen_state", "unseen_context"
UNSEEN_ACTION, UNSEEN_FEEDBACK = "unseen_action", "unseen_feedback"


class Decoded(NamedTuple):
    """What an episode's feedback means.

    `decoded_reward` is J(h(x, y, s), a), None where nothing can be said. `confidence` is the probability, given the
    tuples, that this reward rounded to 0 or 1 is the latent one; of a homogeneous state, whose reward is the
    expectation c, that it is homogeneous (`tacit.decoding.confidence`). `reason` is one of

    - `decoded`: a heterogeneous state, its feedback understood;
    - `lower_bound`: the feedback looks like a reward, but the action is not the best there, and J, which never promises
      too much, withholds it (Lemma 3.7): low confidence says so;
    - `homogeneous`: no action is better than another there, the reward is c;
    - `uncertain`: too few tuples; there is no reward, or one whose orientation is in doubt;
    - `unseen_state`, `unseen_context`, `unseen_action`, `unseen_feedback`: not met in the tuples.
    """

    decoded_reward: float | None
    confidence: float
    state_kind: str
    reason: str


UNKNOWN_CELL = Decoded(None, 0.0, UNKNOWN, UNCERTAIN)


class RewardModel(Protocol):
    """What labels logs, whatever they hold. Models are saved under their `kind`, by which `MODELS` finds them again."""

    @property
    def kind(self) -> str:
        """Return the name of the kind of model."""

    @property
    def certificate(self) -> Certificate:
        """Return what the model rests on."""

    def decode_records(self, records: Sequence[Mapping[str, Any]]) -> Sequence[Decoded | Fault]:
        """Return what each record of the log format (one without faults) means, or the rule it breaks."""

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to one file that `load_model` reads."""


@dataclass(frozen=True, eq=False)
class TableModel:
    """The model of finite and vector data: counts of tuples, what they say of each place, and a table of meanings.

    `counts` (S_H, G, V, K) are effective tuples of the reading's groups and values; `oriented` (S_H, G) says where
    anchors settled the orientation, `flipped` where they turned it round.
    """

    layout: Layout
    reading: Reading
    counts: FloatArray
    c: float
    oriented: BoolArray
    flipped: BoolArray
    certificate: Certificate
    kind: str = "table"

    @cached_property
    def settings(self) -> Settings:
        """Return the settings with which places are judged."""
        return Settings(DecoderSettings(c=self.c))

    @cached_property
    def judgements(self) -> Judgements:
        """Return what the tuples say of every place that has some."""
        found = judge_all(self.reading.counted, self.counts, self.c, self.settings.judgement)
        return {at: flip(j) if self.flipped[at] else j for at, j in found.items()}

    @cached_property
    def meanings(self) -> FloatArray:
        """Return phi (S_H, G, V): what feedback means whatever the action; c in homogeneous places, NaN if unknown."""
        phi = np.full(self.counts.shape[:3], np.nan)
        for (s, x), judgement in self.judgements.items():
            if judgement.kind != UNKNOWN:
                phi[s, x] = judgement.phi if judgement.kind == HETEROGENEOUS else self.c
        return phi

    @cached_property
    def cells(self) -> dict[tuple[int, int, int, int], Decoded]:
        """Return what every (last state, group, value, action) decodes to, where it has a place."""
        found: dict[tuple[int, int, int, int], Decoded] = {}
        for (s, x), judgement in self.judgements.items():
            if judgement.kind == UNKNOWN:
                found |= {(s, x, y, a): UNKNOWN_CELL for y, a in np.ndindex(self.counts.shape[2:])}
                continue
            table = self.counts[s, x, :, : len(judgement.tuples)]
            phi = judgement.phi if judgement.kind == HETEROGENEOUS else fit_balanced(table)[1]
            doubt = weigh_doubt(table, phi, bool(self.oriented[s, x]))
            seen = table.sum(axis=1) > 0
            for y, a in np.ndindex(table.shape):
                found[s, x, y, a] = _decode_cell(judgement, doubt, y, a, bool(seen[y]), self.c)
        return found

    def decode(self, context: Encoded, feedback: Encoded, state: int, action: int) -> Decoded:
        """Return what one episode's end means; all four as the layout encodes them."""
        groups, values = self.reading.read([context], np.array([state]), [feedback])
        return self._cell(state, int(groups[0]), int(values[0]), action)

    def decode_records(self, records: Sequence[Mapping[str, Any]]) -> Sequence[Decoded | Fault]:
        """Return what each record means, or the rule it breaks."""
        decoded: list[Decoded | Fault | None] = [None] * len(records)
        waiting: list[tuple[int, Encoded, int, Encoded, int]] = []
        for n, record in enumerate(records):
            last = record["steps"][-1]
            key = (record["context"], last["state"], record["feedback"], last["action"], len(record["steps"]))
            try:
                known = self._known.get(key)
            except TypeError:  # vectors have no hash
                known = None
            decoded[n] = known if known is not None else self._encode(n, key, waiting)
        self._read_waiting(decoded, waiting, records)
        return decoded  # type: ignore[return-value]

    def label(self, logs: Logs, problems: Problems | None = None) -> Iterator[dict[str, Any]]:
        """Yield a row for each episode: episode, decoded_reward, confidence, state_kind, reason."""
        yield from label_episodes(self, logs, problems)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to one file, bit for bit; see `load_model`."""
        tree = {
            "model": self.kind,
            "layout": self.layout.to_json(),
            "reading": self.reading.to_state(),
            "counts": self.counts,
            "c": self.c,
            "oriented": self.oriented,
            "flipped": self.flipped,
            "certificate": self.certificate.to_json(),
        }
        save_tree(path, KIND, tree)

    @classmethod
    def from_tree(cls, tree: Mapping[str, Any]) -> TableModel:
        """Return the model that `save` wrote."""
        layout = Layout.from_json(tree["layout"])
        reading = reading_from_state(layout, tree["reading"])
        arrays = (tree["counts"], float(tree["c"]), tree["oriented"], tree["flipped"])
        return cls(layout, reading, *arrays, Certificate.from_json(tree["certificate"]))

    @cached_property
    def _reader(self) -> LogReader:
        return LogReader(self.layout)

    @cached_property
    def _known(self) -> dict[Any, Decoded | Fault]:
        """Return a memory of ends already decoded; there are only so many of finite ones."""
        return {}

    def _encode(
        self, n: int, key: Any, waiting: list[tuple[int, Encoded, int, Encoded, int]]
    ) -> Decoded | Fault | None:
        """Return what can be said of an end without reading it; otherwise let it wait for the others."""
        context, state, feedback, action, steps = key
        reader = self._reader
        if steps != reader.steps:
            return mixed_horizon(steps, reader.steps)
        s = reader.state_index(steps - 1, state)
        if s is None:
            return Decoded(None, 0.0, UNKNOWN, UNSEEN_STATE)
        found = reader.locate(steps - 1, state, action)
        if isinstance(found, Fault):
            return Decoded(None, 0.0, UNKNOWN, UNSEEN_ACTION)
        try:
            x = reader.encode_context(context)
        except ValueError:
            return Decoded(None, 0.0, UNKNOWN, UNSEEN_CONTEXT)
        try:
            y = reader.encode_feedback(feedback)
        except ValueError:
            return Decoded(None, 0.0, UNKNOWN, UNSEEN_FEEDBACK)
        waiting.append((n, x, s, y, found[1]))
        return None

    def _read_waiting(
        self,
        decoded: list[Decoded | Fault | None],
        waiting: list[tuple[int, Encoded, int, Encoded, int]],
        records: Sequence[Mapping[str, Any]],
    ) -> None:
        if not waiting:
            return
        places, contexts, states, feedback, actions = zip(*waiting, strict=True)
        groups, values = self.reading.read(contexts, np.array(states), feedback)
        for n, s, x, y, a in zip(places, states, groups, values, actions, strict=True):
            cell = decoded[n] = self._cell(s, int(x), int(y), a)
            if self.reading.name == "finite":
                last = records[n]["steps"][-1]
                key = (records[n]["context"], last["state"], records[n]["feedback"], last["action"])
                self._known[(*key, len(records[n]["steps"]))] = cell

    def _cell(self, s: int, x: int, y: int, a: int) -> Decoded:
        found = self.cells.get((s, x, y, a))
        if found is not None:
            return found
        met = any(state == s for state, _ in self.judgements)
        return Decoded(None, 0.0, UNKNOWN, UNSEEN_CONTEXT if met else UNSEEN_STATE)


Logs = str | os.PathLike[str] | Sequence[Any] | Iterable[LoggedEpisode]
"""Logs as a path, several paths, or episodes."""
Progress = Callable[[int], None]
"""Called now and then with how many episodes were read since the last call."""


def _restore_text(tree: Mapping[str, Any]) -> RewardModel:
    from tacit.offline.text.reward_model import TextRewardModel  # here, because what reads text is optional

    return TextRewardModel.from_tree(tree)


MODELS: Mapping[str, Callable[[Mapping[str, Any]], RewardModel]] = {
    "table": TableModel.from_tree,
    "text": _restore_text,
}
"""The kinds of models and what rebuilds each from its saved tree."""


def load_model(path: str | os.PathLike[str]) -> RewardModel:
    """Return the model that `save` wrote."""
    tree = load_tree(path, KIND)
    if tree["model"] not in MODELS:
        raise ValueError(
            f"models must be of a kind among {sorted(MODELS)}, {os.fspath(path)!r} is {tree['model']!r}; install the "
            "extra that reads it, tacit[text] for text"
        )
    return MODELS[tree["model"]](tree)


def label_episodes(
    model: RewardModel, logs: Logs, problems: Problems | None = None
) -> Iterator[dict[str, Any]]:
    """Yield a row for each episode; those that do not fit the model go to `problems`, or are told of at the end."""
    own, episodes = problems if problems is not None else Problems(), open_logs(logs, problems)()
    while batch := list(islice(episodes, BATCH)):
        yield from _label_batch(model, batch, own)
    if problems is None:
        own.warn()


def open_logs(logs: Logs, problems: Problems | None = None) -> Callable[[], Iterator[LoggedEpisode]]:
    """Return what begins a pass over the logs: files are read again each time, other episodes are kept."""
    if isinstance(logs, str | os.PathLike):
        return lambda: read_logs(logs, problems=problems)
    kept = list(logs)
    if kept and all(isinstance(each, str | os.PathLike) for each in kept):
        return lambda: read_logs(kept, problems=problems)
    return lambda: iter(kept)


def row_of(episode: str | int, decoded: Decoded) -> dict[str, Any]:
    """Return the row of an episode as files have it."""
    return {"episode": episode, **decoded._asdict()}


def flip(judgement: Judgement) -> Judgement:
    """Return a judgement the other way round: f and phi become 1 - f and 1 - phi."""
    if judgement.kind != HETEROGENEOUS:
        return judgement
    f, phi = 1 - judgement.f, 1 - judgement.phi
    rewards = decode_all(f, phi, judgement.tuples)
    # Pr[y | a] is what the counts say; f_a = sum_y Pr[y | a] phi(y) when feedback decodes to phi itself.
    return replace(judgement, f=f, phi=phi, rewards=rewards, expected=f)


def settle_orientation(
    anchors: Mapping[tuple[int, int], Sequence[bool]], shape: tuple[int, int], level: float
) -> tuple[BoolArray, BoolArray]:
    """Return (oriented, flipped), (S_H, G): where anchors agree or contradict beyond tossing a coin."""
    oriented, flipped = np.zeros((2, *shape), dtype=np.bool_)
    for at, answers in anchors.items():
        flipped[at] = coin_chance(answers, False) < level
        oriented[at] = flipped[at] or coin_chance(answers, True) < level
    return oriented, flipped


def _label_batch(
    model: RewardModel, episodes: list[LoggedEpisode], problems: Problems
) -> Iterator[dict[str, Any]]:
    decoded = model.decode_records([episode.to_json() for episode in episodes])
    for episode, meant in zip(episodes, decoded, strict=True):
        if isinstance(meant, Decoded):
            yield row_of(episode.episode, meant)
        else:
            problems.add(Problem.of(meant, episode), dump_json(episode.to_json()))


def _decode_cell(judgement: Judgement, doubt: Doubt, y: int, a: int, seen: bool, c: float) -> Decoded:
    if judgement.kind == HOMOGENEOUS:
        sure = 1 - doubt.heterogeneous
        return Decoded(c, round(sure, DECIMALS), HOMOGENEOUS, HOMOGENEOUS)
    if not seen:
        return Decoded(None, 0.0, HETEROGENEOUS, UNSEEN_FEEDBACK)
    reward = float(judgement.rewards[y, a])
    rewarded = float(doubt.rewarded(judgement.phi)[y])
    sure = doubt.heterogeneous * (rewarded if reward >= 0.5 else 1 - rewarded)
    withheld = judgement.phi[y] == 1 and reward < 0.5
    reason = UNCERTAIN if not judgement.settled else LOWER_BOUND if withheld else DECODED
    return Decoded(round(reward, DECIMALS), round(sure, DECIMALS), HETEROGENEOUS, reason)
