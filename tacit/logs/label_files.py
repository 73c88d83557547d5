"""Files of labels: rows made to bytes by whoever labels a piece of logs, and written in the order of the pieces."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from tacit.logs.files import arrow_module, dump_json, is_parquet
from tacit.logs.labels import COLUMNS, Decoded
from tacit.logs.record import LogError
from tacit.logs.writing import LineWriter, ParquetWriter

ENDINGS = (".jsonl", ".jsonl.gz", ".jsonl.zst", ".parquet")

Labels = Sequence[tuple[str | int, Decoded]]
"""Names of episodes, and what their feedback means."""


def check_label_file(path: Path) -> None:
    """Raise `LogError` unless a file can hold labels by its ending."""
    if not path.name.endswith(ENDINGS):
        raise LogError(
            f"labels must be written to a file that ends in {', '.join(ENDINGS)}, got {path.name!r}; rename it"
        )


class LabelWriter:
    """Writes labels that `encode_labels` made to bytes; the file takes its name when it is whole."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file = ParquetWriter(path, label_schema()) if is_parquet(path) else LineWriter(path)

    def write(self, rows: bytes) -> None:
        """Write the rows of one piece."""
        if isinstance(self._file, LineWriter):
            self._file.write_lines(rows)
        elif rows:
            self._file.write_table(arrow_module().ipc.open_stream(rows).read_all())

    def __enter__(self) -> LabelWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close(keep=kind is None)


def encode_labels(labels: Labels, as_arrow: bool) -> bytes:
    """Return labels as JSON lines, or as an Arrow stream.

    >>> encode_labels([(7, Decoded.nothing("uncertain"))], as_arrow=False)[:35]
    b'{"episode":7,"decoded_reward":null,'
    """
    return _arrow_stream(labels) if as_arrow else _json_lines(labels)


def label_schema() -> Any:
    """Return the columns of a Parquet file of labels; names of episodes are strings there."""
    arrow = arrow_module()
    text, number = arrow.string(), arrow.float64()
    return arrow.schema(zip(COLUMNS, (text, number, number, text, text, number, number), strict=True))


def _json_lines(labels: Labels) -> bytes:
    tails: dict[Decoded, bytes] = {}  # there are few meanings, and many episodes
    lines = []
    for episode, decoded in labels:
        tail = tails.get(decoded)
        if tail is None:
            tail = tails[decoded] = b"," + dump_json(decoded._asdict())[1:] + b"\n"
        lines.append(b'{"episode":%b%b' % (dump_json(episode), tail))
    return b"".join(lines)


def _arrow_stream(labels: Labels) -> bytes:
    if not labels:
        return b""
    arrow, schema = arrow_module(), label_schema()
    columns = [
        [str(episode) for episode, _ in labels],
        *zip(*(decoded for _, decoded in labels), strict=True),
    ]
    table = arrow.table(
        [arrow.array(column, kind.type) for column, kind in zip(columns, schema, strict=True)], schema
    )
    sink = arrow.BufferOutputStream()
    with arrow.ipc.new_stream(sink, schema) as stream:
        stream.write_table(table)
    return bytes(sink.getvalue())
