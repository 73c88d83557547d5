"""Parquet: every value checked against its digest, row groups apart, bad rows told with their place, memory bounded."""

import random

import pyarrow
import pyarrow.parquet
import pytest
from log_files import draw_episodes, flip, read_all, write_log

from tacit.logs import parquet
from tacit.logs.label_files import LabelWriter, encode_labels
from tacit.logs.labels import Decoded
from tacit.logs.parquet import DIGESTS, MARK
from tacit.logs.pieces import iterate_raw, list_pieces
from tacit.logs.reading import read_logs

EPISODES = draw_episodes(250)
RECORDS = [{key: value for key, value in each.to_json().items() if value is not None} for each in EPISODES]


@pytest.fixture
def path(tmp_path, monkeypatch):
    monkeypatch.setattr("tacit.logs.writing.BATCH", 100)
    return write_log(tmp_path / "logs.parquet", EPISODES)


def raws(path):
    """Return the records of a file as they stand, and how many faults came with them."""
    found = list(iterate_raw([path]))
    return [raw.record for raw in found if raw.fault is None], [raw for raw in found if raw.fault is not None]


def places(content, draw, n):
    """Return bits to flip: half of them anywhere, half in the footer, which pages' checksums leave out."""
    footer = int.from_bytes(content[-8:-4], "little") + 8
    return [8 * len(content) - 1 - draw.randrange(8 * (len(content) if k % 2 else footer)) for k in range(n)]


def break_page(path, group):
    """Damage the steps of a row group."""
    column = pyarrow.parquet.ParquetFile(path).metadata.row_group(group).column(4)
    begin = column.dictionary_page_offset or column.data_page_offset
    path.write_bytes(flip(path.read_bytes(), 8 * (begin + column.total_compressed_size // 2)))


def test_no_flipped_bit_in_logs_goes_unseen(path):
    whole, draw = path.read_bytes(), random.Random(3)
    known, none = raws(path)
    assert (known, none) == (RECORDS, [])
    for bit in places(whole, draw, 150):
        path.write_bytes(flip(whole, bit))
        records, told = raws(path)
        assert records == known or told, bit


def test_no_flipped_bit_in_labels_goes_unseen(tmp_path):
    path, draw = tmp_path / "labels.parquet", random.Random(4)
    labels = [
        (f"e{n}", Decoded(draw.random(), draw.random(), "heterogeneous", "decoded")) for n in range(300)
    ]
    with LabelWriter(path) as writer:
        for n in (0, 100, 200):
            writer.write(encode_labels(labels[n : n + 100], as_arrow=True))
    whole, (known, none) = path.read_bytes(), raws(path)
    assert [row["decoded_reward"] for row in known] == [decoded.decoded_reward for _, decoded in labels]
    assert not none
    for bit in places(whole, draw, 150):
        path.write_bytes(flip(whole, bit))
        records, told = raws(path)
        assert records == known or told, bit


def test_a_damaged_row_group_is_told_and_the_others_are_read(path):
    break_page(path, 1)
    records, rules = read_all(path)
    assert records == RECORDS[:100] + RECORDS[200:]
    assert rules == ["damaged-file"]
    (told,) = raws(path)[1]
    assert (told.file, told.line) == (str(path), 101)
    assert "a row group must be whole, got number 2, of which no row was read" in told.fault.message


def test_a_digest_that_is_not_of_the_rows_names_them(path):
    table = pyarrow.parquet.read_table(path)
    false = {**table.schema.metadata, **MARK, DIGESTS.encode(): b'["0", "1", "2"]'}
    with pyarrow.parquet.ParquetWriter(path, table.schema.with_metadata(false)) as writer:
        for n in (0, 100, 200):
            writer.write_table(table.slice(n, 100).replace_schema_metadata(false))
    told = raws(path)[1]
    assert [raw.line for raw in told] == [1, 101, 201]
    assert "rows 201 to 250 were read, but nothing vouches for them" in told[2].fault.message


def test_pages_have_checksums_of_their_own(path):
    """Other readers verify them, too."""
    break_page(path, 0)
    with pytest.raises(OSError, match="CRC checksum verification failed"):
        pyarrow.parquet.read_table(path, page_checksum_verification=True)


def test_json_that_is_none_is_a_problem_of_its_row(path):
    table = pyarrow.parquet.read_table(path).to_pylist()
    table[7]["context"] = "{not json"
    schema = pyarrow.schema([(key, pyarrow.string()) for key in table[0] if key != "reward"], metadata=MARK)
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(table, schema=schema), path)
    records, rules = read_all(path)
    assert len(records) == len(RECORDS) - 1
    assert rules == ["not-json"]
    (told,) = raws(path)[1]
    assert told.line == 8
    assert "the column context must hold JSON text" in told.fault.message
    assert b"{not json" in told.text()


def test_files_without_digests_are_read_as_they_stand(path):
    table = pyarrow.parquet.read_table(path)
    pyarrow.parquet.write_table(table.replace_schema_metadata(MARK), path)
    assert read_all(path) == (RECORDS, [])


def test_a_cell_beyond_the_limit_is_a_problem_and_memory_is_bounded(tmp_path, monkeypatch):
    monkeypatch.setattr(parquet, "MOST_LINE", 20_000)
    notes = [f"{n:04d}" * (7_500 if n == 17 else 750) for n in range(len(RECORDS))]
    rows = [record | {"note": note} for record, note in zip(RECORDS, notes, strict=True)]
    path = tmp_path / "foreign.parquet"
    steps = [
        [{**step, "action": str(step["action"]), "actions": None} for step in row["steps"]] for row in rows
    ]
    pyarrow.parquet.write_table(
        pyarrow.Table.from_pylist([row | {"steps": step} for row, step in zip(rows, steps, strict=True)]),
        path,
    )
    converted = []
    to_pylist = parquet._convert

    def watched(batch, first):
        converted.append(batch.num_rows)
        return to_pylist(batch, first)

    monkeypatch.setattr(parquet, "_convert", watched)
    records, rules = read_all(path)
    assert rules == ["line-too-long"]
    assert [record["episode"] for record in records] == [f"e{n}" for n in range(250) if n != 17]
    assert max(converted) <= 10, "rows of three thousand bytes, twenty thousand at once"


def test_a_value_that_many_rows_share_is_not_unpacked_for_many_at_once(tmp_path, monkeypatch):
    """A megabyte once in the file, and ten thousand times in a batch."""
    path, sizes = tmp_path / "foreign.parquet", []
    pyarrow.parquet.write_table(pyarrow.table({"context": ["x" * 1_000_000] * 3_000}), path)
    assert path.stat().st_size < 100_000
    convert = parquet._convert
    monkeypatch.setattr(parquet, "MOST_SHARED", 50_000_000)
    monkeypatch.setattr(parquet, "_convert", lambda *batch: sizes.append(batch[0].nbytes) or convert(*batch))
    assert sum(1 for _ in iterate_raw([path])) == 3_000
    assert max(sizes) < 100_000_000


def test_a_row_that_cannot_be_had_is_told_alone(tmp_path):
    text = pyarrow.array([b'"new"', b"\xff\xfe", b'"old"'], pyarrow.binary()).view(pyarrow.string())
    path = tmp_path / "foreign.parquet"
    table = pyarrow.table({"episode": ["a", "b", "c"], "context": text, "feedback": ["x", "y", "z"]})
    pyarrow.parquet.write_table(table, path)
    found = list(iterate_raw([path]))
    assert [raw.record is None for raw in found] == [False, True, False]
    assert (found[1].line, found[1].fault.rule) == (2, "bad-row")


@pytest.mark.parametrize("content", [b"", b"PAR1", b"not Parquet" * 100, b"PAR1" + b"\xff" * 40 + b"PAR1"])
def test_what_is_no_parquet_is_told_by_both_readers(tmp_path, content):
    (tmp_path / "logs.parquet").write_bytes(content)
    (told,) = iterate_raw([tmp_path / "logs.parquet"])
    assert (told.line, told.fault.rule) == (1, "damaged-file")
    assert list(list_pieces([tmp_path / "logs.parquet"])) == [told]


def test_a_row_nested_without_end_is_kept_in_words(path):
    table = pyarrow.parquet.read_table(path).to_pylist()[:2]
    table[0]["context"] = "[" * 500 + "]" * 500
    schema = pyarrow.schema([(key, pyarrow.string()) for key in table[0] if key != "reward"], metadata=MARK)
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(table, schema=schema), path)
    with pytest.warns(UserWarning, match="1 episodes were left out"):
        assert len(list(read_logs(path))) == 1
    assert b"e0" in next(iterate_raw([path])).text()
