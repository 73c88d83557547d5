"""Small logs that unpack to more than the machine has, lines without an end, values that nest without an end: refused.

Lines of this size are no episodes, so 256 MB are more than enough to find out.
"""

import gzip
import json
import zlib

import zstandard
from attack_subjects import model_file, table_episodes
from campaign import FACTOR, isolated, listed, lost, memory_limit

import tacit
from tacit.logs.problems import Problems
from tacit.logs.reading import read_logs
from tacit.logs.writing import LogWriter

ENOUGH = 256 << 20
BLOCK = 1 << 20


def gzip_zeros(megabytes, byte=b" "):
    """Return a gzip member of that many megabytes of one byte, made without packing them all."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    block = packer.compress(byte * BLOCK) + packer.flush(zlib.Z_FULL_FLUSH)
    return b"\x1f\x8b\x08\x00" + bytes(6) + block * megabytes + packer.flush() + bytes(8)


def zstd_zeros(megabytes, byte=b" "):
    packer = zstandard.ZstdCompressor().compressobj()
    return b"".join(packer.compress(byte * BLOCK) for _ in range(megabytes)) + packer.flush()


def line(**changes):
    return json.dumps(table_episodes()[0].to_json() | changes).encode()


def files():
    """Yield (words, ending, content) of logs whose first line is an episode."""
    good = line(episode=0) + b"\n"
    size = 512 if FACTOR <= 1 else 4096
    for byte in (b"a",) if FACTOR <= 1 else (b"a", b" ", b"["):
        yield f".gz of {size} MB of {byte}", ".jsonl.gz", gzip.compress(good) + gzip_zeros(size, byte)
        yield f".zst of {size} MB of {byte}", ".jsonl.zst", zstandard.compress(good) + zstd_zeros(size, byte)
    yield "a line of 300 MB", ".jsonl", good + b'"' + b"a" * (300 << 20) + b'"\n' + line(episode=1)
    yield "a label of 20 MB", ".jsonl", good + line(episode=1, context="x" * (20 << 20)) + b"\n"
    yield (
        "a million steps",
        ".jsonl",
        good + line(episode=1, steps=[{"state": 0, "action": 0}] * 10**6) + b"\n",
    )
    yield (
        "nested lists",
        ".jsonl",
        good + b'{"episode": 1, "context": ' + b"[" * 10**6 + b"]" * 10**6 + b"}\n",
    )
    yield "nested objects", ".jsonl", good + b'{"a":' * 10**5 + b"1" + b"}" * 10**5 + b"\n"
    yield "a number of a million digits", ".jsonl", good + b'{"episode": ' + b"9" * 10**6 + b"}\n"
    yield "empty lines", ".jsonl", good + b"\n" * (5 << 20)


def test_bombs_are_refused_with_little_memory(attack, tmp_path):
    (tmp_path / "model").write_bytes(model_file("table model"))
    model = tacit.load_model(tmp_path / "model")

    def judge(given):
        ending, content = given
        path = tmp_path / f"bomb{ending}"
        path.write_bytes(content)
        with memory_limit(ENOUGH):
            read = [episode.episode for episode in read_logs(path, problems=Problems())]
            model.label(path, tmp_path / "labels.jsonl", Problems())
        if 0 not in read or '"episode":0,' not in (tmp_path / "labels.jsonl").read_text():
            raise lost("the good episode before the bomb is not read or not labelled")

    inputs = ((words, (ending, content)) for words, ending, content in files())
    attack("logs, bombs", listed(inputs), isolated(judge), seconds=150)


def test_control_an_episode_alone_is_read(tmp_path):
    with LogWriter(tmp_path / "good.jsonl.zst") as writer:
        writer.write(table_episodes()[0])
    assert len(list(read_logs(tmp_path / "good.jsonl.zst"))) == 1
    (tmp_path / "few.jsonl.gz").write_bytes(gzip.compress(line() + b"\n") + gzip_zeros(2))
    assert len(list(read_logs(tmp_path / "few.jsonl.gz", problems=Problems()))) == 1
