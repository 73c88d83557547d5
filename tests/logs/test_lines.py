"""Lines in chunks: bounded, numbered, and one that is too long is passed over alone."""

import pytest
from log_files import draw_episodes, lines_of, pack_as_others, read_all

from tacit.logs import lines, packing
from tacit.logs.lines import Chunk, read_chunks
from tacit.logs.pieces import iterate_raw

EPISODES = draw_episodes(50)
RECORDS = [episode.to_json() for episode in EPISODES]


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(lines, "MOST_LINE", 5_000)
    monkeypatch.setattr(lines, "PIECE", 2_000)
    monkeypatch.setattr(packing, "UNPACKED", 700)


def write(path, content):
    if path.name.endswith("jsonl"):
        path.write_bytes(content)
        return path
    return pack_as_others(path, content)


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("ending", ["jsonl", "jsonl.gz"])
@pytest.mark.parametrize(("size", "too_long"), [(4_998, False), (4_999, True), (5_000, True), (90_000, True)])
def test_a_line_that_is_too_long_is_one_problem_and_the_rest_is_read(tmp_path, ending, size, too_long):
    long = b'"' + b"x" * size + b'"'  # two bytes more
    path = write(
        tmp_path / f"logs.{ending}", lines_of(EPISODES[:20]) + long + b"\n" + lines_of(EPISODES[20:])
    )
    assert read_all(path) == (RECORDS, ["line-too-long" if too_long else "not-an-episode"])
    raws = list(iterate_raw([path]))
    assert [raw.line for raw in raws] == list(range(1, 52))
    assert not too_long or raws[20].line_text == long[:200]
    path = write(tmp_path / f"last.{ending}", lines_of(EPISODES) + long)
    assert read_all(path)[1] == ["line-too-long" if too_long else "not-an-episode"]


@pytest.mark.usefixtures("small")
def test_chunks_end_with_a_line_and_stay_small(tmp_path):
    path = write(tmp_path / "logs.jsonl", lines_of(EPISODES) + b'{"no": "newline"}')
    chunks = list(read_chunks(path))
    assert b"".join(chunk.lines for chunk in chunks) == path.read_bytes() + b"\n"
    assert all(chunk.lines.endswith(b"\n") and len(chunk.lines) < 3_500 for chunk in chunks)
    lengths = [chunk.lines.count(b"\n") for chunk in chunks]
    assert [chunk.line for chunk in chunks] == [1 + sum(lengths[:n]) for n in range(len(chunks))]


def test_a_file_of_tiny_lines_comes_in_many_chunks(tmp_path):
    """Each line may be a problem, which is larger than it."""
    path = write(tmp_path / "logs.jsonl", b"1\n" * 700_000)
    chunks = list(read_chunks(path))
    assert max(chunk.lines.count(b"\n") for chunk in chunks) < 200_000
    assert sum(chunk.lines.count(b"\n") for chunk in chunks) == 700_000


def test_a_file_that_the_system_does_not_give_is_told(tmp_path, monkeypatch):
    path = write(tmp_path / "logs.jsonl", lines_of(EPISODES))

    def fail(file, name):
        yield lines_of(EPISODES[:3])
        raise OSError("Input/output error")

    monkeypatch.setattr(lines, "unpack", fail)
    chunk, told = read_chunks(path)
    assert isinstance(chunk, Chunk)
    assert (told.line, told.fault.rule) == (4, "damaged-file")


def test_what_is_nested_without_end_is_told_in_words(tmp_path):
    deep = b"[" * 1000 + b"]" * 1000
    records = [
        b'{"episode": %b}',
        b'{"episode": 1, "context": %b}',
        b'{"episode": 1, "context": 1, "steps": %b}',
    ]
    path = write(tmp_path / "logs.jsonl", b"\n".join(record % deep for record in records))
    assert read_all(path) == ([], ["no-episode", "no-context", "not-a-step"])
