"""The families of problems by name: how one is drawn, for how long it is played, and what it must show."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from zlib import crc32

import numpy as np

from real_world.drawing import Shape, draw_shape, draw_simple, few_words, split_words
from real_world.drift import draw_drift
from real_world.endings import draw_desk, draw_lake, draw_walk
from real_world.locks import draw_lock
from real_world.pleasing import draw_pleased
from real_world.problem import Problem
from real_world.sick import SICK
from real_world.silence import draw_silence
from real_world.words import draw_many_words, draw_overlap

DrawProblem = Callable[[np.random.Generator], Problem]

CHOOSE, JUDGE = 1_000_000, 9_000_000
"""Where the seeds for choosing anything begin, and those that judge: no family has a million of them."""
EPISODES = 40_000


@dataclass(frozen=True)
class Family:
    """Problems of a kind.

    `last` and `over_all` are the least shares that it must show, None where nothing is asked; `fixed` says that it is
    played for as long whatever the others are. `asks` is what is judged: the "share", whether one is "told" what it
    would take, the verdict of "healthy" and of "sick" ones, "alarms", which should not be, or "limits" of a diagnosis.
    """

    draw: DrawProblem
    last: float | None = None
    over_all: float | None = None
    episodes: int = EPISODES
    seeds: int = 10
    asks: str = "share"
    fixed: bool = False


def draw_problem(family: str, seed: int) -> Problem:
    """Return the problem of a family and seed: always the same one."""
    return FAMILIES[family].draw(np.random.default_rng([seed, crc32(family.encode())]))


def draw_plain(generator: np.random.Generator) -> Problem:
    """Return a problem in which everybody speaks, words mean one thing and nothing changes."""
    return draw_simple(generator, draw_shape(generator), few_words(generator))


def draw_large(generator: np.random.Generator) -> Problem:
    """Return a problem of 20 last states, 200 contexts and 50 words."""
    shape = Shape((1, 20), int(generator.integers(3, 6)), 200)
    return draw_simple(generator, shape, lambda generator: split_words(generator, 50))


def _learned() -> dict[str, Family]:
    """Return the families whose shares are judged."""
    families = {"plain": Family(draw_plain)}
    for kind in ("happy", "mostly", "angry", "majority", "mute"):
        families[f"silence.{kind}"] = Family(partial(draw_silence, kind=kind), 0.97)
    for words in (20, 50, 100):
        families[f"words.{words}"] = Family(partial(draw_many_words, words=words), 0.97, 0.93)
    for percent, least in ((10, 0.98), (20, 0.97), (30, 0.93), (40, 0.85)):
        for words in (2, 5, 20):
            draw = partial(draw_overlap, words=words, overlap=percent / 100)
            families[f"overlap.{percent}.{words}"] = Family(draw, least)
    for name, consolation, slips in (
        *(("plain", False, False), ("consolation", True, False)),
        *(("slips", False, True), ("both", True, True)),
    ):
        families[f"lock.{name}"] = Family(partial(draw_lock, consolation=consolation, slips=slips), 0.95)
    for kind in ("earns", "words", "dynamics"):
        families[f"drift.{kind}"] = Family(partial(draw_drift, kind=kind), 0.95)
    families["pleased.20"] = Family(partial(draw_pleased, outcomes=20), 0.95)
    families["pleased.none"] = Family(partial(draw_pleased, outcomes=0), asks="told")
    families["endings.lake"] = Family(partial(draw_lake, slips=False), 0.97)
    families["endings.slippery"] = Family(partial(draw_lake, slips=True))
    families["endings.desk"] = Family(draw_desk, 0.97)
    families["endings.walk"] = Family(draw_walk, 0.97)
    return families


def _some_silence(generator: np.random.Generator) -> Problem:
    return draw_silence(generator, ("happy", "mostly", "angry")[generator.integers(3)])


def _some_words(generator: np.random.Generator) -> Problem:
    return draw_many_words(generator, int(generator.integers(20, 101)))


def _two_words(generator: np.random.Generator) -> Problem:
    return draw_simple(generator, draw_shape(generator), lambda generator: split_words(generator, 2))


def _some_overlap(generator: np.random.Generator) -> Problem:
    words, overlap = (2, 5, 20)[generator.integers(3)], float(generator.uniform(0.05, 0.3))
    return draw_overlap(generator, words, overlap)


def _some_lock(generator: np.random.Generator) -> Problem:
    return draw_lock(generator, bool(generator.random() < 0.5), bool(generator.random() < 0.5))


def _some_ending(generator: np.random.Generator) -> Problem:
    return (partial(draw_lake, slips=False), draw_desk, draw_walk)[generator.integers(3)](generator)


HEALTHY: dict[str, DrawProblem] = {
    "plain": draw_plain,
    "two": _two_words,
    "silence": _some_silence,
    "majority": partial(draw_silence, kind="majority"),
    "mute": partial(draw_silence, kind="mute"),
    "words": _some_words,
    "overlap": _some_overlap,
    "lock": _some_lock,
    "endings": _some_ending,
    "pleased": partial(draw_pleased, outcomes=20),
}
"""Healthy problems by name."""


def _judged() -> dict[str, Family]:
    """Return the families whose verdicts and alarms are judged."""
    families = {
        "drift.none": Family(partial(draw_drift, kind="none"), None, None, 100_000, 100, "alarms"),
        "large": Family(draw_large, None, None, EPISODES, 1, "limits"),
    }
    for name, draw in HEALTHY.items():
        families[f"healthy.{name}"] = Family(draw, None, None, 10_000, 100, "healthy")
    for name, draw in SICK.items():
        episodes = 2_000 if name == "rare" else 10_000
        families[f"sick.{name}"] = Family(draw, None, None, episodes, 100, "sick", fixed=name == "rare")
    for name, episodes in (("nothing", 0), ("few", 40)):
        families[f"sick.{name}"] = Family(draw_plain, None, None, episodes, 100, "sick", fixed=True)
    return families


FAMILIES: dict[str, Family] = _learned() | _judged()
"""All families by name; what stands before the first full stop names several at once."""
