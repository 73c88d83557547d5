"""Campaigns of an attack: many seeded inputs, each judged, all counted by outcome, the first failures told in full.

A judge is a function of one input. It returns what it found, raises `Broken` for what must never happen, and lets
through what Tacit raises: an error of ours, with a sentence, is a refusal; anything else is a raw traceback.

Every number of inputs is scaled by TACIT_ATTACK, 1 unless set. A failure is told with its number in the campaign, and
TACIT_ATTACK_ONLY=number runs that input alone.
"""

import ast
import enum
import functools
import json
import os
import re
import resource
import select
import signal
import sys
import time
import warnings
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

import tacit

FACTOR = float(os.environ.get("TACIT_ATTACK", "1"))
ONLY = os.environ.get("TACIT_ATTACK_ONLY")
SEED = 10
SHOWN = int(os.environ.get("TACIT_ATTACK_SHOWN", "8"))
"""Failures that are told in full, of as many kinds."""
MEMORY = 2 << 30
"""Bytes that one input may take beyond what the process has."""
PACKAGE = Path(tacit.__file__).parent
NEWS_EVERY = 15.0
"""Seconds between two lines of progress, where an attack is a long one."""


class Outcome(enum.StrEnum):
    """What became of one input."""

    SOUND = "sound"
    REFUSED = "refused"
    TRACEBACK = "raw traceback"
    HANG = "hang"
    CHANGE = "silent change"
    LOSS = "loss"


FORBIDDEN = (Outcome.TRACEBACK, Outcome.HANG, Outcome.CHANGE, Outcome.LOSS)


class Broken(Exception):  # noqa: N818, it is a verdict
    """Something that must never happen, as a judge saw it."""

    def __init__(self, outcome, words):
        super().__init__(words)
        self.outcome = outcome


class TimeIsUp(BaseException):
    """An input took longer than it may; no `except Exception` catches it."""


@dataclass
class Campaign:
    """The tally of one campaign."""

    name: str
    counts: Counter = field(default_factory=Counter)
    failures: list = field(default_factory=list)

    def __str__(self):
        told = ", ".join(f"{outcome} {self.counts[outcome]:,}" for outcome in Outcome)
        return f"{self.name}: {self.counts.total():,} inputs: {told}"

    def note(self, number, said, outcome, why):
        self.counts[outcome] += 1
        if outcome in FORBIDDEN:
            self.failures.append((why, f"[{number}] {outcome}: {said}: {why}"))

    def check(self):
        """Raise with the first failures unless nothing forbidden happened."""
        shown = "\n".join(spread(self.failures))
        assert not self.failures, f"{self}\n{shown}\nTACIT_ATTACK_ONLY=<number> repeats one (seed {SEED})"


def spread(failures):
    """Return some failures, of as many different kinds as there are."""
    kinds = {}
    for why, words in failures:
        kinds.setdefault(re.sub(r"\d|'.*?'", "", why)[:60], words)
    return list(kinds.values())[:SHOWN]


def scaled(inputs):
    """Return a number of inputs for the length of this attack."""
    return max(1, round(inputs * FACTOR))


def drawn(inputs, draw):
    """Yield as many seeded inputs: `draw` makes one of a generator, and says in words what it is."""
    for number in range(scaled(inputs)):
        yield functools.partial(draw, np.random.default_rng([SEED, number]))


def listed(cases):
    """Yield inputs that stand in a list, each with the words that describe it."""
    return (functools.partial(tuple, case) for case in cases)


def sampled(cases, most):
    """Return as many of some cases as this attack has time for, spread by chance and in their order."""
    cases, most = list(cases), scaled(most)
    if most >= len(cases):
        return cases
    return [cases[n] for n in np.sort(np.random.default_rng(SEED).choice(len(cases), most, replace=False))]


def attack(name, inputs, judge, seconds=60.0):
    """Return the campaign of all inputs, judged one by one; print its tally."""
    campaign, news = Campaign(name), time.monotonic()
    for number, make in enumerate(inputs):
        if ONLY is not None and str(number) != ONLY:
            continue
        said, given = make()
        campaign.note(number, said, *verdict(judge, given, seconds))
        if FACTOR > 1 and time.monotonic() - news > NEWS_EVERY:
            news = time.monotonic()
            print(f"... {campaign}", file=sys.__stderr__, flush=True)
    print(campaign)
    return campaign


def verdict(judge, given, seconds):
    """Return the outcome of one input, and why it is that."""
    try:
        with (
            warnings.catch_warnings(),
            np.errstate(over="warn", divide="warn", invalid="warn"),
            time_limit(seconds),
            memory_limit(MEMORY),
        ):
            warnings.simplefilter("error")
            warnings.simplefilter("ignore", UserWarning)  # what an agent has to say
            warnings.simplefilter("ignore", ResourceWarning)
            warnings.filterwarnings("error", message="Glyph")  # a letter that a picture shows as a box
            return judge(given) or Outcome.SOUND, ""
    except TimeIsUp:
        return Outcome.HANG, f"not done after {seconds:g} s"
    except Broken as broken:
        return broken.outcome, str(broken)
    except Exception as error:
        if not place_of(error):
            raise  # the campaign's own fault
        return (Outcome.REFUSED, "") if is_ours(error) else (Outcome.TRACEBACK, locate(error))


def isolated(judge, seconds=60.0):
    """Return a judge that judges in a process of its own, whose death by a signal is a verdict, too."""

    def judge_apart(given):
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            said = json.dumps(verdict(judge, given, seconds)).encode()
            os.write(writer, said[:4096])
            os._exit(0)
        os.close(writer)
        with open(reader, "rb") as answers:
            ready = select.select([answers], [], [], 2 * seconds)[0]
            if not ready:
                os.kill(child, signal.SIGKILL)
            said = answers.read()
        _, status = os.waitpid(child, 0)
        if not ready:
            raise Broken(Outcome.HANG, f"not done after {2 * seconds:g} s, and Ctrl-C does not help")
        if not said:
            raise raw(f"the process died with status {status}")
        outcome, why = json.loads(said)
        if outcome in FORBIDDEN:
            raise Broken(Outcome(outcome), why)
        return Outcome(outcome)

    return judge_apart


def is_ours(error):
    """Return whether an error is one with which Tacit refuses: of the system, or raised by a sentence of its own."""
    if isinstance(error, OSError):
        return bool(str(error))
    if not isinstance(error, ValueError) or isinstance(error, UnicodeError | json.JSONDecodeError):
        return False
    frame = innermost(error)
    file = Path(frame.tb_frame.f_code.co_filename)
    return PACKAGE in file.parents and frame.tb_lineno in raising_lines(file)


def innermost(error):
    """Return the innermost frame of an error's traceback."""
    frame = error.__traceback__
    while frame.tb_next is not None:
        frame = frame.tb_next
    return frame


@functools.cache
def raising_lines(file):
    """Return the lines of a module that belong to its `raise` statements."""
    raises = (node for node in ast.walk(ast.parse(file.read_text())) if isinstance(node, ast.Raise))
    return {line for node in raises for line in range(node.lineno, node.end_lineno + 1)}


def locate(error):
    """Return an error in a line, with the place in Tacit that it passed last."""
    return f"{type(error).__name__} at {place_of(error)}: {str(error)[:150]}"


def place_of(error):
    """Return the last place in Tacit that an error passed, empty if it passed none."""
    place, frame = "", error.__traceback__
    while frame is not None:
        file = Path(frame.tb_frame.f_code.co_filename)
        if PACKAGE in file.parents:
            place = f"{file.relative_to(PACKAGE.parent)}:{frame.tb_lineno}"
        frame = frame.tb_next
    return place


@contextmanager
def time_limit(seconds):
    """Raise `TimeIsUp` in the main thread when the time is over."""

    def ring(number, frame):
        raise TimeIsUp

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@contextmanager
def memory_limit(more):
    """Let the process take so many bytes more than it has: a bomb is then a MemoryError, not the machine's end."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    with soft_limit(resource.RLIMIT_AS, pages * resource.getpagesize() + more):
        yield


@contextmanager
def soft_limit(what, value):
    """Set a limit of the process for a while."""
    before = resource.getrlimit(what)
    resource.setrlimit(what, (value, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(what, before)


def lost(words):
    """Return the verdict that something is gone."""
    return Broken(Outcome.LOSS, words)


def changed(words):
    """Return the verdict that something is not what it was, and nobody was told."""
    return Broken(Outcome.CHANGE, words)


def raw(words):
    """Return the verdict that a user was shown an error that is not for users."""
    return Broken(Outcome.TRACEBACK, words)
