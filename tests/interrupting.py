"""Interrupts at chosen lines: Ctrl-C as it would come before the n-th line of Tacit's own code that a call executes."""

import linecache
import sys
from pathlib import Path

import tacit

HOME = str(Path(tacit.__file__).parent)


class Interrupt:
    """Raises KeyboardInterrupt before the `at`-th line; `came` says whether the call was that long, `place` where."""

    def __init__(self, at):
        self.left, self.came, self.place = at, False, "nowhere"

    def __call__(self, frame, event, argument):
        """Trace a new frame, if it is Tacit's."""
        if not frame.f_code.co_filename.startswith(HOME):
            return None
        entered = set()  # `with` statements of this frame

        def trace(frame, event, argument):
            # A with statement shows its line again before it calls __exit__. Python looks at no signal there.
            line = frame.f_lineno
            leaves = line in entered
            if linecache.getline(frame.f_code.co_filename, line).lstrip().startswith("with "):
                entered.add(line)
            if event == "line" and not leaves:
                self.left -= 1
                if self.left == 0:
                    self.came = True
                    self.place = f"{Path(frame.f_code.co_filename).relative_to(HOME)}:{line}"
                    raise KeyboardInterrupt
            return trace

        return trace


def interrupted(call, at):
    """Return whether `call()` was interrupted before its `at`-th line; if it was not, it was done."""
    return interrupt(call, at).came


def interrupt(call, at):
    """Make a call, interrupt it before its `at`-th line, and return the interrupt."""
    interrupt = Interrupt(at)
    before = sys.gettrace()
    sys.settrace(interrupt)
    try:
        call()
    except KeyboardInterrupt:
        assert interrupt.came
    finally:
        sys.settrace(before)
    return interrupt


def lines_of(call):
    """Return how many lines of Tacit a call executes, having called it."""
    counter = Interrupt(-1)
    before = sys.gettrace()
    sys.settrace(counter)
    try:
        call()
    finally:
        sys.settrace(before)
    return -1 - counter.left
