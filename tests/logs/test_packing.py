"""Packed files: what was packed is unpacked, whoever packed it; damage is told, and takes no line before it along."""

import gzip
import io
import random
import subprocess
import sys
import zlib

import pytest
import zstandard
from log_files import draw_episodes, flip, lines_of, pack_as_others, read_all, write_log

from tacit.logs import packing
from tacit.logs.packing import UNPACKED, Seal, pack, unpack
from tacit.logs.pieces import iterate_raw

PACKINGS = ["jsonl.gz", "jsonl.zst"]
EPISODES = draw_episodes(600)
RECORDS = [episode.to_json() for episode in EPISODES]


@pytest.fixture
def small_members(monkeypatch):
    monkeypatch.setattr("tacit.logs.writing.MEMBER", 8_000)


def unpacked(content, name):
    return list(unpack(io.BytesIO(content), name))


def test_other_programs_unpack_what_is_packed():
    lines = lines_of(EPISODES)
    assert gzip.decompress(pack("a.gz", lines[:9]) + pack("a.gz", lines[9:])) == lines
    reader = zstandard.ZstdDecompressor().stream_reader(
        pack("a.zst", lines[:9]) + pack("a.zst", lines[9:]), read_across_frames=True
    )
    assert reader.read() == lines
    assert pack("a.jsonl", lines) == lines


@pytest.mark.parametrize("ending", PACKINGS)
def test_the_same_lines_give_the_same_bytes(tmp_path, ending):
    one, other = (write_log(tmp_path / f"{name}.{ending}", EPISODES).read_bytes() for name in "ab")
    assert one == other


def test_what_other_programs_pack_is_unpacked():
    lines = lines_of(EPISODES)
    with_header = io.BytesIO()
    with gzip.GzipFile("a name.jsonl", "wb", fileobj=with_header) as file:
        file.write(lines)
    extra = bytearray(gzip.compress(lines))
    extra[3] = 4 | 16 | 2  # an extra field, a comment, and a checksum of the header
    extra[10:10] = b"\x03\x00abc" + b"comment\x00" + b"\x12\x34"
    long = zstandard.ZstdCompressionParameters(window_log=27, enable_ldm=True)
    stream = zstandard.ZstdCompressor(compression_params=long).compressobj()
    for name, content in {
        "named.gz": with_header.getvalue(),
        "extra.gz": bytes(extra),
        "padded.gz": gzip.compress(lines) + bytes(1000),
        "long.zst": stream.compress(lines) + stream.flush(),
        "unchecked.zst": zstandard.ZstdCompressor().compress(lines),
    }.items():
        *blocks, seal = unpacked(content, name)
        assert b"".join(blocks) == lines, name
        assert seal == Seal(len(content)), name


def test_frames_that_hold_no_content_are_passed_over(tmp_path):
    path = tmp_path / "logs.jsonl.zst"
    skippable = b"\x5a\x2a\x4d\x18" + (5).to_bytes(4, "little") + b"other"
    path.write_bytes(skippable + pack(path.name, lines_of(EPISODES)) + skippable)
    assert read_all(path) == (RECORDS, [])
    path.write_bytes(path.read_bytes()[:-1])
    assert read_all(path) == (RECORDS, ["damaged-file"])


@pytest.mark.usefixtures("small_members")
@pytest.mark.parametrize("ending", PACKINGS)
def test_a_flipped_bit_is_told_and_costs_one_member(tmp_path, ending):
    path, draw = write_log(tmp_path / f"logs.{ending}", EPISODES), random.Random(1)
    whole, known = path.read_bytes(), {record["episode"]: record for record in RECORDS}
    assert read_all(path) == (RECORDS, [])
    for _ in range(60):
        path.write_bytes(flip(whole, draw.randrange(8 * len(whole))))
        records, rules = read_all(path)
        changed = records != RECORDS
        assert not changed or "damaged-file" in rules
        sound = sum(known.get(record["episode"]) == record for record in records)
        assert sound > len(RECORDS) * 0.6, "of some twenty members one or two were lost"


@pytest.mark.parametrize("ending", PACKINGS)
@pytest.mark.parametrize("make", [write_log, lambda path, them: pack_as_others(path, lines_of(them))])
def test_every_whole_line_before_the_end_of_a_torn_file_is_read(tmp_path, ending, make):
    path, draw = make(tmp_path / f"logs.{ending}", EPISODES), random.Random(2)
    whole = path.read_bytes()
    for _ in range(40):
        end = draw.randrange(1, len(whole))
        path.write_bytes(whole[:end])
        records, rules = read_all(path)
        assert records == RECORDS[: len(records)]
        assert rules == ["damaged-file"]
        assert len(records) >= whole_lines(whole[:end], ending)


def whole_lines(content, ending):
    """Return how many lines the library itself can unpack of a torn file, fed byte by byte."""
    zstd = zstandard.ZstdDecompressor()
    inflater = zlib.decompressobj(31) if ending.endswith(".gz") else zstd.decompressobj()
    return b"".join(inflater.decompress(content[n : n + 1]) for n in range(len(content))).count(b"\n")


@pytest.mark.parametrize("ending", PACKINGS)
@pytest.mark.parametrize("garbage", [b"garbage", b"\x1f\x8b\x08", b"\x28\xb5\x2f\xfd\xff", b"\n" * 70_000])
def test_garbage_after_a_whole_member_is_told_and_costs_nothing(tmp_path, ending, garbage):
    path = write_log(tmp_path / f"logs.{ending}", EPISODES)
    path.write_bytes(path.read_bytes() + garbage)
    assert read_all(path) == (RECORDS, ["damaged-file"])


@pytest.mark.parametrize("ending", PACKINGS)
def test_what_follows_garbage_is_found(tmp_path, ending):
    path = tmp_path / f"logs.{ending}"
    members = [pack(path.name, lines_of(EPISODES[n : n + 300])) for n in (0, 300)]
    half = members[0][: len(members[0]) // 2]
    for garbage in (b"garbage", bytes(100), b"\n" * 70_000, b"" if ending == "jsonl.gz" else half):
        path.write_bytes(b"".join([garbage, members[0], garbage, members[1]]))
        records, rules = read_all(path)
        episodes = [record["episode"] for record in records]
        assert set(episodes) == {episode.episode for episode in EPISODES}
        assert set(rules) <= {"damaged-file"}


def test_a_wrong_checksum_names_the_lines_that_nothing_vouches_for(tmp_path):
    path = tmp_path / "logs.jsonl.gz"
    members = [pack(path.name, lines_of(EPISODES[n : n + 200])) for n in (0, 200, 400)]
    members[1] = members[1][:-8] + flip(members[1][-8:], 3)
    path.write_bytes(b"".join(members))
    raws = list(iterate_raw([path]))
    (damage,) = [raw for raw in raws if raw.fault]
    assert damage.line == 201
    assert "lines 201 to 400 were read, but nothing vouches for them" in damage.fault.message
    assert len(raws) == 601


class Counted(io.BytesIO):
    """A file that counts what is read of it."""

    read_bytes = 0

    def read(self, size=-1):
        found = super().read(size)
        self.read_bytes += len(found)
        return found


@pytest.mark.parametrize(
    "magic", [b"\x1f\x8b\x08\x00", packing.GZIP_HEADER + b"\x00\xff\xff\x00\x00", b"\x28\xb5\x2f\xfd"]
)
def test_a_file_of_false_beginnings_is_read_once(magic):
    content = magic * (200_000 // len(magic))
    file = Counted(content)
    name = "a.zst" if magic.startswith(b"\x28") else "a.gz"
    list(unpack(file, name))
    assert file.read_bytes == len(content)


@pytest.mark.parametrize("size", [1 << 20, 4 << 20])
@pytest.mark.parametrize("ending", PACKINGS)
def test_reading_is_linear_and_blocks_are_bounded(size, ending):
    """By counting: each packed byte is read once, and what is given is never larger than a block."""
    packed = pack(ending, bytes(size))
    file = Counted(packed)
    blocks = [block for block in unpack(file, ending) if isinstance(block, bytes)]
    assert sum(map(len, blocks)) == size
    assert max(map(len, blocks)) <= UNPACKED
    assert len(blocks) <= size // (1 << 17) + 20
    assert file.read_bytes == len(packed)


def test_a_window_beyond_the_limit_is_refused():
    parameters = zstandard.ZstdCompressionParameters(window_log=28)
    stream = zstandard.ZstdCompressor(compression_params=parameters).compressobj()
    *_, seal = unpacked(stream.compress(b"{}\n" * 1000) + stream.flush(), "a.zst")
    assert "requires too much memory" in seal.damage


BOMB = """
import re, sys
from pathlib import Path
from tacit.logs.pieces import iterate_raw
rules = [raw.fault.rule for raw in iterate_raw([Path(sys.argv[1])])]
peak = re.search("VmHWM:\\\\s+(\\\\d+) kB", Path("/proc/self/status").read_text())
print(rules, int(peak[1]) // 1024)
"""


@pytest.mark.parametrize("ending", PACKINGS)
def test_a_bomb_is_read_in_bounded_memory(tmp_path, ending):
    path = tmp_path / f"bomb.{ending}"
    member = pack(path.name, bytes(64 << 20))
    path.write_bytes(member * 5)
    done = subprocess.run([sys.executable, "-c", BOMB, str(path)], capture_output=True, text=True, check=True)
    rules, megabytes = done.stdout.rsplit(maxsplit=1)
    assert rules == "['line-too-long']"
    assert int(megabytes) < 200
