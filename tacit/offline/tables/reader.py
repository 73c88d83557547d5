"""Who reads logs of a layout: with the bundled encoder where there is text."""

from __future__ import annotations

from tacit.logs.encoding import LogReader
from tacit.offline.passes import LookAhead
from tacit.problem.layout import Layout
from tacit.problem.seen import reads_text
from tacit.text.sentences import encoder_of


def reader_of(layout: Layout) -> LogReader:
    """Return who encodes episodes in a layout; raise where that takes an encoder that is not installed."""
    return LogReader(layout, encoder_of(layout))


def ahead_of(reader: LogReader) -> LookAhead | None:
    """Return what has texts encoded together before each is read, None where there are none."""
    return reader.look_ahead if reads_text(reader.layout) else None
