"""Ctrl-C at one line of Tacit's own code, wherever a call has come to by then."""

import sys
from contextlib import suppress
from pathlib import Path

from campaign import PACKAGE

INSIDE = str(PACKAGE)


class Interrupter:
    """A tracer that counts the lines of Tacit that run, and raises KeyboardInterrupt before the one that it is told."""

    def __init__(self, at=None):
        self.at, self.lines, self.place = at, 0, "nowhere"

    def __call__(self, frame, event, argument):
        return self.count if frame.f_code.co_filename.startswith(INSIDE) else None

    def count(self, frame, event, argument):
        if event == "line":
            self.lines += 1
            if self.lines == self.at:
                file = Path(frame.f_code.co_filename).relative_to(PACKAGE.parent)
                self.place = f"{file}:{frame.f_lineno}"
                raise KeyboardInterrupt
        return self.count


def count_lines(call):
    """Return how many lines of Tacit a call runs."""
    counter = Interrupter()
    _traced(counter, call)
    return counter.lines


def interrupt(call, at):
    """Make a call and interrupt it before a line; return where that line stands."""
    tracer = Interrupter(at)
    with suppress(KeyboardInterrupt):
        _traced(tracer, call)
    return tracer.place


def _traced(tracer, call):
    before = sys.gettrace()
    sys.settrace(tracer)
    try:
        return call()
    finally:
        sys.settrace(before)
