"""Files of logs to be damaged: written by Tacit or as others write them, and what is read of them."""

import gzip
import json
import random

import zstandard

from tacit.logs.episode import LoggedEpisode, LoggedStep
from tacit.logs.pieces import iterate_raw, list_pieces, raw_records
from tacit.logs.reading import check_raws
from tacit.logs.record import Fault
from tacit.logs.writing import LogWriter


def draw_episodes(n, seed=0):
    """Return episodes that differ in every field that can differ."""
    draw = random.Random(seed)
    return [
        LoggedEpisode(
            f"e{number}",
            draw.choice(["new", "old"]),
            (
                LoggedStep("start", draw.choice("ab"), ("a", "b"), 0.5),
                LoggedStep(
                    f"s{draw.randrange(5)}", draw.randrange(3), (0, 1, 2), round(draw.random(), 9) + 1e-6
                ),
            ),
            f"word {draw.randrange(50)}",
            reward=draw.choice([None, 1.0]),
        )
        for number in range(n)
    ]


def write_log(path, episodes):
    with LogWriter(path) as writer:
        for episode in episodes:
            writer.write(episode)
    return path


def lines_of(episodes):
    """Return episodes as the lines of a file."""
    return b"".join(json.dumps(episode.to_json()).encode() + b"\n" for episode in episodes)


def pack_as_others(path, lines):
    """Write lines as gzip and zstd do by default: one member, and one frame without a checksum."""
    packed = gzip.compress(lines) if path.name.endswith(".gz") else zstandard.ZstdCompressor().compress(lines)
    path.write_bytes(packed)
    return path


def read_all(path):
    """Return the sound records of a file and the rules that the rest breaks; piece by piece they are the same."""
    found = list(check_raws(iterate_raw([path])))
    apart = [raw for piece in list_pieces([path]) for raw in raw_records(piece)]
    assert apart == [raw for raw, _ in found]
    records = [record for _, record in found if not isinstance(record, Fault)]
    return records, [fault.rule for _, fault in found if isinstance(fault, Fault)]


def flip(content, bit):
    """Return bytes with one bit turned."""
    changed = bytearray(content)
    changed[bit // 8] ^= 1 << bit % 8
    return bytes(changed)
