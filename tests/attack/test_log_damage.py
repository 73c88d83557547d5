"""Logs, labels and encodings whose files are damaged: what is read is what was written, and what is not is told.

A file that carries no checksum, plain JSON lines, cannot tell a changed letter from another; there the damage is one of
structure. Where damage is told of, lines before it may have changed: who is told can use a whole copy.
"""

import functools
import json
import shutil
import sqlite3
from pathlib import Path

import numpy as np
from attack_subjects import model_file, table_episodes
from byte_damage import DAMAGES
from campaign import Outcome, changed, drawn, lost

import tacit
from tacit.logs.labels import read_labels
from tacit.logs.problems import Problems
from tacit.logs.reading import read_logs
from tacit.logs.writing import LogWriter
from tacit.text.small.cache import EncodingCache

PACKED = (".jsonl.gz", ".jsonl.zst", ".parquet")
EPISODES = 300


@functools.cache
def log_bytes(ending, folder, begin=0, end=EPISODES):
    """Return the file of some episodes."""
    path = Path(folder) / f"whole{begin}-{end}{ending}"
    with LogWriter(path) as writer:
        for episode in table_episodes()[begin:end]:
            writer.write(episode)
    return path.read_bytes()


@functools.cache
def truth():
    return {episode.episode: episode for episode in table_episodes()}


def judge_log(path, model, written):
    """Return whether all was read or something told of; raise unless what is read is true, and all of it labelled."""
    problems = Problems()
    read = list(read_logs(path, problems=problems))
    told = problems.total > 0
    false = [episode.episode for episode in read if truth().get(episode.episode) != episode]
    if false and not told:
        raise changed(f"{len(false)} episodes were changed in silence, the first {false[0]!r}")
    missing = set(range(written)) - {episode.episode for episode in read}
    if missing and not told:
        raise lost(f"{len(missing)} of {written} episodes are missing, and nothing is told of")
    if len(read) > len({episode.episode for episode in read}) and not told:
        raise changed("episodes were read twice in silence")
    judge_labels(path, model, {episode.episode for episode in read if episode.episode not in false})
    return Outcome.REFUSED if told else Outcome.SOUND


def judge_labels(path, model, expected):
    """Raise unless every episode that can be read is labelled."""
    out, problems = path.with_name("labels.jsonl"), Problems()
    out.unlink(missing_ok=True)
    try:
        model.label(path, out, problems)
    except ValueError:
        if expected:
            raise lost(f"{len(expected)} episodes can be read, and labelling refuses all") from None
        return
    labelled = {json.loads(line)["episode"] for line in out.read_text().splitlines()}
    if missing := expected - labelled:
        raise lost(f"{len(missing)} of {len(expected)} episodes that can be read are not labelled")


def load_table_model(folder):
    (folder / "model").write_bytes(model_file("table model"))
    return tacit.load_model(folder / "model")


def judge_content(path, content, model):
    """Return the outcome of a log that holds `content`."""
    path.write_bytes(content)
    return judge_log(path, model, EPISODES)


def test_damaged_logs_never_change_in_silence(attack, tmp_path):
    model, kept = load_table_model(tmp_path), tmp_path / "kept"
    kept.mkdir()

    def draw(chance):
        ending = PACKED[chance.integers(len(PACKED))]
        damage = list(DAMAGES)[chance.integers(len(DAMAGES))]
        return f"{ending}, {damage}", (ending, DAMAGES[damage](log_bytes(ending, str(kept)), chance))

    def judge(given):
        ending, content = given
        return judge_content(tmp_path / f"damaged{ending}", content, model)

    attack("logs, bits", drawn(400, draw), judge)


def lines_damaged(content, chance):
    """Return JSON lines after a damage of their structure, and its name."""
    lines = content.split(b"\n")[:-1]
    place = int(chance.integers(len(lines)))
    between = [
        b"garbage", b"{", b"[]", b"null", b"{}", b"\x00" * 4096, b"\xff\xfe", b"\xef\xbb\xbf", b'"' * 9, b"[" * 9999,
        b'{"episode": "x"}', b"1e999", b"{\"a\":" * 2000, bytes(1 << 20), b"   ", b"NaN", b"<<<<<<< HEAD",
    ]  # fmt: skip
    match chance.integers(8):
        case 0:
            return "a line between", b"\n".join(
                [*lines[:place], between[chance.integers(len(between))], *lines[place:]]
            ) + b"\n"
        case 1:
            return "cut", content[: chance.integers(len(content))]
        case 2:
            return "two lines in one", b"\n".join(
                [*lines[:place], lines[place] + lines[place - 1], *lines[place:]]
            ) + b"\n"
        case 3:
            return "half a line", b"\n".join(
                [*lines[:place], lines[place][: len(lines[place]) // 2], *lines[place + 1 :]]
            ) + b"\n"
        case 4:
            return "UTF-16", content.decode().encode("utf-16")
        case 5:
            return "carriage returns", content.replace(b"\n", b"\r\n")
        case 6:
            return "a byte order mark", b"\xef\xbb\xbf" + content
        case _:
            return "NULs after", content + bytes(int(chance.integers(1, 5000)))


def test_damaged_lines_are_told(attack, tmp_path):
    model, kept = load_table_model(tmp_path), tmp_path / "kept"
    kept.mkdir()

    def draw(chance):
        words, content = lines_damaged(log_bytes(".jsonl", str(kept)), chance)
        return words, content

    def judge(content):
        return judge_content(tmp_path / "damaged.jsonl", content, model)

    attack("logs, lines", drawn(80, draw), judge)


def test_joined_logs_are_read_whole(attack, tmp_path):
    """Two files in one, as `cat` joins them: all is read, and what follows a damaged first is told of."""
    model, kept = load_table_model(tmp_path), tmp_path / "kept"
    kept.mkdir()

    def draw(chance):
        ending = (".jsonl", ".jsonl.gz", ".jsonl.zst")[chance.integers(3)]
        first = log_bytes(ending, str(kept), 0, EPISODES // 2)
        if cut := chance.random() < 0.5 and ending != ".jsonl":
            first = first[: chance.integers(1, len(first))]
        content = first + log_bytes(ending, str(kept), EPISODES // 2, EPISODES)
        return f"{ending}, {'a cut one first' if cut else 'both whole'}", (ending, content)

    def judge(given):
        ending, content = given
        return judge_content(tmp_path / f"joined{ending}", content, model)

    attack("logs, joined", drawn(40, draw), judge)


def test_damaged_labels_never_change_in_silence(attack, tmp_path):
    model, whole = load_table_model(tmp_path), {}
    for ending in PACKED:
        model.label(table_episodes(), tmp_path / f"labels{ending}")
        path = tmp_path / f"labels{ending}"
        whole[ending] = (path.read_bytes(), list(read_labels(path)))

    def draw(chance):
        ending = PACKED[chance.integers(len(PACKED))]
        damage = list(DAMAGES)[chance.integers(len(DAMAGES))]
        return f"{ending}, {damage}", (ending, DAMAGES[damage](whole[ending][0], chance))

    def judge(given):
        ending, content = given
        path = tmp_path / f"damaged{ending}"
        path.write_bytes(content)
        if list(read_labels(path)) != whole[ending][1]:
            raise changed("labels are read that are not those that were written")

    attack("labels, bits", drawn(300, draw), judge)


def test_damaged_encodings_never_change_in_silence(attack, tmp_path):
    """An encoding is what was kept, or it is not there and is made anew; or the file is refused with what to do."""
    chance = np.random.default_rng(0)
    kept = {f"{number:064x}": chance.random((3, 24), np.float32) for number in range(40)}
    whole = tmp_path / "whole" / "encodings.sqlite"
    EncodingCache(whole).put(kept)
    content = settled(whole)

    def draw(chance):
        damage = list(DAMAGES)[chance.integers(len(DAMAGES))]
        return damage, DAMAGES[damage](content, chance)

    def judge(content):
        path = tmp_path / "damaged" / "encodings.sqlite"
        shutil.rmtree(path.parent, ignore_errors=True)
        path.parent.mkdir()
        path.write_bytes(content)
        cache = EncodingCache(path)
        found = cache.get(list(kept))
        wrong = [key for key, value in found.items() if not np.array_equal(kept[key], value)]
        if wrong:
            raise changed(f"{len(wrong)} encodings are not those that were kept")
        cache.put({key: value for key, value in kept.items() if key not in found})
        if len(cache.get(list(kept))) < len(kept):
            raise lost("an encoding that was just kept is not there")

    attack("encodings, bits", drawn(500, draw), judge)


def settled(path):
    """Return the file of a store after all that was written to it has reached the file itself."""
    with sqlite3.connect(path) as file:
        file.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    file.close()
    return path.read_bytes()
