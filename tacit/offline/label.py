"""Labels for log files of any size: worker processes decode pieces, rows come out in the order of the logs.

A piece is some megabytes of JSON lines or a row group of Parquet. Whatever the number of processes or the engine, each
piece goes through the same function, so the output is the same to the last byte. Memory is bounded by the pieces under
way. The file of labels takes its name when it is whole.
"""

from __future__ import annotations

import gc
import os
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from tacit.logs.episodes import Problem, Problems, check_raw
from tacit.logs.files import (
    Chunk,
    LogError,
    RawRecord,
    arrow_module,
    dump_json,
    find_logs,
    is_marked,
    is_parquet,
    parquet_module,
    read_chunks,
    rows_of,
)
from tacit.logs.record import Fault
from tacit.logs.writing import LineWriter
from tacit.offline.reward_model import Decoded, Progress, RewardModel, load_model

PIECE = 4 << 20
"""Bytes of JSON lines in a piece: half a second of work, some ten thousand episodes."""
UNDER_WAY = 3
"""Pieces for each process that are read ahead."""
BATCH = 500
"""Records decoded at once: few enough to stay in the processor's cache."""
FEW = 16 << 20
"""Bytes of logs up to which one process is faster than starting several."""
ENGINES = ("local", "ray")
ENDINGS = (".jsonl", ".jsonl.gz", ".jsonl.zst", ".parquet")
COLUMNS = ("episode", "decoded_reward", "confidence", "state_kind", "reason")


class RowGroup(NamedTuple):
    """A row group of a Parquet file, and the number of its first row."""

    file: str
    group: int
    line: int


Piece = Chunk | RowGroup | RawRecord
"""What a worker is given: lines, rows, or the place from which a file cannot be read."""


class Labelled(NamedTuple):
    """What a worker gives back: rows as JSON lines (or an Arrow stream), how many, and what was wrong where."""

    rows: bytes
    n: int
    faults: list[tuple[str, int, str, str, bytes]]


@dataclass(frozen=True)
class LabelSummary:
    """How many rows were written and how many episodes set aside."""

    rows: int
    rejected: int


def label_files(
    logs: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    model: RewardModel,
    out: str | os.PathLike[str],
    processes: int | None = None,
    problems: Problems | None = None,
    progress: Progress | None = None,
    engine: str = "local",
) -> LabelSummary:
    """Write a row for each episode to `out`, JSON lines or Parquet by its ending; return how many.

    >>> from tacit.envs.drawn_logs import draw_logs
    >>> from tacit.envs.synthetic import synthetic_mdp
    >>> from tacit.logs.writing import LogWriter
    >>> from tacit.offline.fit import fit
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "logs.jsonl"
    ...     with LogWriter(path) as writer:
    ...         for episode in draw_logs(synthetic_mdp(), 2000, seed=0):
    ...             writer.write(episode)
    ...     label_files(path, fit(path), Path(folder) / "labels.jsonl")
    LabelSummary(rows=2000, rejected=0)
    """
    files, out = find_logs(logs), Path(out)
    _check_request(files, out, engine)
    own = problems if problems is not None else Problems(strict=True)
    before, n = own.total, 0
    with TemporaryDirectory() as folder, RowWriter(out) as writer:
        saved = Path(folder) / "model.tacit"
        model.save(saved)
        for labelled in _run(files, model, saved, is_parquet(out), processes, engine):
            writer.write(labelled.rows)
            for file, line, rule, message, raw in labelled.faults:
                own.add(Problem(file, line, rule, message), raw)
            n += labelled.n
            if progress is not None:
                progress(labelled.n + len(labelled.faults))
    return LabelSummary(n, own.total - before)


def label_piece(model: RewardModel, piece: Piece, as_arrow: bool) -> Labelled:
    """Return the rows of one piece and the faults in it, in the order of the logs."""
    rows: list[tuple[Any, Decoded]] = []
    faults: list[tuple[str, int, str, str, bytes]] = []
    raws = raw_records(piece)
    with uncollected():
        while batch := list(islice(raws, BATCH)):
            _label_batch(model, batch, rows, faults)
        faults.sort(key=lambda fault: fault[1])
        return Labelled(_arrow_rows(rows) if as_arrow else _json_rows(rows), len(rows), faults)


@contextmanager
def uncollected() -> Iterator[None]:
    """Keep the garbage collector away: records make no cycles, and looking for them takes as long as reading."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def list_pieces(files: Iterable[Path]) -> Iterator[Piece]:
    """Yield the pieces of files, in order."""
    for file in files:
        if not is_parquet(file):
            yield from read_chunks(file, PIECE)
            continue
        try:
            metadata, line = parquet_module().ParquetFile(file).metadata, 1
        except (OSError, arrow_module().ArrowException) as error:
            yield RawRecord(str(file), 1, damage=f"the file is not whole Parquet ({error}); use a whole copy")
            continue
        for group in range(metadata.num_row_groups):
            yield RowGroup(str(file), group, line)
            line += metadata.row_group(group).num_rows


class RowWriter:
    """Writes rows as they come back from workers: JSON lines, packed by the ending, or Parquet."""

    def __init__(self, path: Path) -> None:
        self.path, self._parquet = path, None
        self._part = path.with_name(f"{path.name}.{os.getpid()}.part")
        if is_parquet(path):
            self._parquet = parquet_module().ParquetWriter(self._part, label_schema())
        else:
            self._lines = LineWriter(path)

    def write(self, rows: bytes) -> None:
        """Write the rows of one piece."""
        if self._parquet is None:
            self._lines.write_lines(rows)
        elif rows:
            self._parquet.write_table(arrow_module().ipc.open_stream(rows).read_all())

    def __enter__(self) -> RowWriter:
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if self._parquet is None:
            self._lines.close(keep=kind is None)
            return
        self._parquet.close()
        if kind is None:
            os.replace(self._part, self.path)
        else:
            self._part.unlink(missing_ok=True)


def label_schema() -> Any:
    """Return the columns of a Parquet file of labels; names of episodes are strings there."""
    arrow = arrow_module()
    text, number = arrow.string(), arrow.float64()
    return arrow.schema(zip(COLUMNS, (text, number, number, text, text), strict=True))


def _run(
    files: list[Path], model: RewardModel, saved: Path, as_arrow: bool, processes: int | None, engine: str
) -> Iterator[Labelled]:
    if engine == "ray":
        from tacit.offline.ray_passes import label_with_ray  # here, because Ray is optional

        yield from label_with_ray(list(list_pieces(files)), saved, as_arrow)
        return
    n = processes or (1 if sum(file.stat().st_size for file in files) <= FEW else os.cpu_count() or 1)
    if n == 1:
        yield from (label_piece(model, piece, as_arrow) for piece in list_pieces(files))
        return
    with ProcessPoolExecutor(n, get_context("spawn"), _begin_worker, (str(saved),)) as pool:
        waiting: deque[Future[Labelled]] = deque()
        for piece in list_pieces(files):
            waiting.append(pool.submit(_work, piece, as_arrow))
            if len(waiting) >= UNDER_WAY * n:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


_model: RewardModel | None = None
"""The model of a worker process, loaded when it begins."""


def _begin_worker(path: str) -> None:
    global _model
    _model = load_model(path)


def _work(piece: Piece, as_arrow: bool) -> Labelled:
    assert _model is not None
    return label_piece(_model, piece, as_arrow)


def _label_batch(
    model: RewardModel,
    raws: list[RawRecord],
    rows: list[tuple[Any, Decoded]],
    faults: list[tuple[str, int, str, str, bytes]],
) -> None:
    """Add the rows and the faults of some records."""
    sound, records = [], []
    for raw in raws:
        record, fault = check_raw(raw)
        if fault is None:
            sound.append(raw)
            records.append(record)
        else:
            faults.append((raw.file, raw.line, *fault, raw.text()))
    for raw, record, meant in zip(sound, records, model.decode_records(records), strict=True):
        if isinstance(meant, Fault):
            faults.append((raw.file, raw.line, *meant, raw.text()))
        else:
            rows.append((record["episode"], meant))


def raw_records(piece: Piece) -> Iterator[RawRecord]:
    """Yield the lines or rows of a piece."""
    if isinstance(piece, RawRecord):
        yield piece
    elif isinstance(piece, Chunk):
        for line, text in enumerate(piece.lines.split(b"\n"), piece.line):
            if text and not text.isspace():
                yield RawRecord(piece.file, line, text)
    else:
        reader, marked = parquet_module().ParquetFile(piece.file), is_marked(Path(piece.file))
        for line, record in enumerate(rows_of(reader.read_row_group(piece.group), marked), piece.line):
            yield RawRecord(piece.file, line, record=record)


def _json_rows(rows: list[tuple[Any, Decoded]]) -> bytes:
    tails: dict[Decoded, bytes] = {}
    lines = []
    for episode, decoded in rows:
        tail = tails.get(decoded)
        if tail is None:
            tail = tails[decoded] = b"," + dump_json(decoded._asdict())[1:] + b"\n"
        lines.append(b'{"episode":%b%b' % (dump_json(episode), tail))
    return b"".join(lines)


def _arrow_rows(rows: list[tuple[Any, Decoded]]) -> bytes:
    if not rows:
        return b""
    arrow, schema = arrow_module(), label_schema()
    columns = [[str(episode) for episode, _ in rows], *zip(*(decoded for _, decoded in rows), strict=True)]
    table = arrow.table(
        [arrow.array(column, kind.type) for column, kind in zip(columns, schema, strict=True)], schema
    )
    sink = arrow.BufferOutputStream()
    with arrow.ipc.new_stream(sink, schema) as stream:
        stream.write_table(table)
    return bytes(sink.getvalue())


def check_engine(files: list[Path], engine: str) -> None:
    """Raise unless the engine is known and can read the files."""
    if engine not in ENGINES:
        raise LogError(f"the engine must be one of {ENGINES}, got {engine!r}")
    if engine == "ray" and not all(map(is_parquet, files)):
        raise LogError(
            "the engine ray reads Parquet, whose row groups it deals out; write the logs as .parquet"
        )


def _check_request(files: list[Path], out: Path, engine: str) -> None:
    check_engine(files, engine)
    if not out.name.endswith(ENDINGS):
        raise LogError(
            f"labels must be written to a file that ends in {', '.join(ENDINGS)}, got {out.name!r}"
        )
