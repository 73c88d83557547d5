"""Work for the tests of engines: it must be importable, as it travels to other processes."""

import os
import time
from pathlib import Path

import numpy as np


def make_square():
    return square


def square(n, report):
    report(n, "squaring")
    return n * n


class Loader:
    """Notes in a folder each time that it makes work."""

    def __init__(self, folder):
        self.folder = folder

    def __call__(self):
        path = Path(self.folder) / f"{os.getpid()}-{time.monotonic_ns()}"
        path.touch()
        return square


class RefusedError(ValueError):
    """An error of a user of the engine."""


class StubbornError(ValueError):
    """An error that cannot be unpickled."""

    def __init__(self, one, two):
        super().__init__(f"{one} and {two}")


def make_picky():
    return picky


def picky(task, report):
    """Do as a task says."""
    kind, number = task
    match kind:
        case "refuse":
            raise RefusedError(f"not {number}")
        case "stubborn":
            raise StubbornError(number, number)
        case "lookup":
            raise KeyError(number)
        case "network":
            raise ConnectionResetError("the other side hung up")
        case "die":
            os._exit(number)
        case "unpicklable":
            return lambda: number
        case "sleep":
            time.sleep(number)
        case "process":
            return os.getpid()
        case "threads":
            return os.environ["OMP_NUM_THREADS"], os.environ["NUMBA_NUM_THREADS"]
        case "array":
            return {"array": np.arange(number), "none": None}
    return task


def make_broken():
    raise RefusedError("no model to load")


class Recorder:
    """A listener that writes down what it hears."""

    def __init__(self):
        self.said, self.ticks = [], 0

    def begun(self, task):
        self.said.append(("begun", task))

    def advanced(self, task, amount, stage):
        self.said.append(("advanced", task, amount, stage))

    def ended(self, done):
        self.said.append(("ended", done.task, done.failure is not None))

    def tick(self):
        self.ticks += 1
