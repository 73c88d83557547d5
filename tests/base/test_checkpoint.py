import io
import json
import math
import os
import tracemalloc
import warnings
import zipfile

import numpy as np
import pytest

from tacit.base.checkpoint import FORMAT, HEADER, VERSION, CheckpointError, load_tree, save_tree

TREE = {
    "array": np.arange(6.0).reshape(2, 3),
    "empty": np.zeros((0, 4), dtype=np.int64),
    "nested": [{"flags": np.array([True, False])}, None, "text", 3, 0.1, True],
    "dict": {"array": 1},
    "number": np.float64(1 / 3),
}


def same(one, other):
    if isinstance(one, np.ndarray):
        return one.dtype == other.dtype and np.array_equal(one, other)
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    return one == other


def test_what_is_saved_is_what_is_loaded(tmp_path):
    save_tree(tmp_path / "a", "thing", TREE)
    assert same(TREE, load_tree(tmp_path / "a", "thing"))


def test_equal_trees_give_equal_files(tmp_path):
    save_tree(tmp_path / "a", "thing", TREE)
    save_tree(tmp_path / "b", "thing", dict(TREE))
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_every_truncation_is_noticed(tmp_path):
    save_tree(tmp_path / "a", "thing", TREE)
    content = (tmp_path / "a").read_bytes()
    for length in range(0, len(content), max(len(content) // 40, 1)):
        (tmp_path / "b").write_bytes(content[:length])
        with pytest.raises(CheckpointError, match="truncated"):
            load_tree(tmp_path / "b", "thing")


def test_the_head_of_an_array_that_does_not_end_is_noticed(tmp_path):
    """NumPy reads it word by word when it is no literal, and words may be missing."""
    save_tree(tmp_path / "a", "thing", {"array": np.arange(6.0)})
    with zipfile.ZipFile(tmp_path / "a") as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(tmp_path / "b", "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content.replace(b"}", b" ") if name.endswith(".npy") else content)
    with pytest.raises(CheckpointError, match="earlier copy"):
        load_tree(tmp_path / "b", "thing")


def test_a_damaged_array_is_noticed(tmp_path):
    save_tree(tmp_path / "a", "thing", {"noise": np.random.default_rng(0).random(1000)})
    content = bytearray((tmp_path / "a").read_bytes())
    content[len(content) // 2] ^= 255
    (tmp_path / "a").write_bytes(content)
    with pytest.raises(CheckpointError, match="earlier copy"):
        load_tree(tmp_path / "a", "thing")


def write_header(path, header):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(HEADER, json.dumps(header))


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ({"format": FORMAT, "version": VERSION + 1, "kind": "thing", "tree": {}}, "upgrade Tacit"),
        (
            {"format": FORMAT, "version": 1, "kind": "thing", "tree": {}},
            "make it anew, or use the Tacit that wrote it",
        ),
        ({"format": "another", "version": VERSION, "kind": "thing", "tree": {}}, "not a Tacit checkpoint"),
        ([1, 2], "not a Tacit checkpoint"),
        ({"format": FORMAT, "version": VERSION, "kind": "agent", "tree": {}}, "holds 'agent', not 'thing'"),
        (
            {"format": FORMAT, "version": VERSION, "kind": "thing", "tree": {"array": 7}},
            "not a whole Tacit checkpoint",
        ),
    ],
)
def test_what_is_not_ours_is_refused(tmp_path, header, message):
    write_header(tmp_path / "a", header)
    with pytest.raises(CheckpointError, match=message):
        load_tree(tmp_path / "a", "thing")


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(CheckpointError, match="there is no file"):
        load_tree(tmp_path / "nothing", "thing")


def test_pickles_are_neither_written_nor_read(tmp_path):
    with pytest.raises(ValueError, match="arrays of numbers, got one of object"):
        save_tree(tmp_path / "a", "thing", {"objects": np.array([object()])})
    member = io.BytesIO()
    np.save(member, np.array([{"a": 1}], dtype=object), allow_pickle=True)
    with zipfile.ZipFile(tmp_path / "b", "w") as archive:
        tree = {"dict": {"x": {"array": 0}}}
        archive.writestr(
            HEADER, json.dumps({"format": FORMAT, "version": VERSION, "kind": "thing", "tree": tree})
        )
        archive.writestr("0.npy", member.getvalue())
    with pytest.raises(CheckpointError, match="declares an array of object"):
        load_tree(tmp_path / "b", "thing")


def test_only_plain_values_are_taken(tmp_path):
    with pytest.raises(TypeError, match="plain values only, got set"):
        save_tree(tmp_path / "a", "thing", {"set": {1, 2}})
    assert not (tmp_path / "a").exists()


def test_no_damage_escapes_as_another_error(tmp_path):
    save_tree(tmp_path / "a", "thing", TREE)
    content = (tmp_path / "a").read_bytes()
    generator, noticed = np.random.default_rng(0), 0
    for _ in range(600):
        damaged = bytearray(content)
        damaged[generator.integers(len(content))] ^= 1 << int(generator.integers(8))
        (tmp_path / "b").write_bytes(damaged)
        try:
            load_tree(tmp_path / "b", "thing")
        except CheckpointError:
            noticed += 1
    assert noticed > 300


def test_a_failed_save_leaves_nothing_behind(tmp_path):
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError, match="folder"):
        save_tree(tmp_path / "folder", "thing", TREE)
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]


def test_an_interrupt_leaves_nothing_half_written(tmp_path, monkeypatch):
    save_tree(tmp_path / "file", "thing", {"x": 1})
    before = (tmp_path / "file").read_bytes()

    def interrupt(descriptor):
        raise KeyboardInterrupt

    monkeypatch.setattr("tacit.base.checkpoint.os.fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        save_tree(tmp_path / "file", "thing", {"x": 2})
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
    assert (tmp_path / "file").read_bytes() == before


# What a file may take: a container can be sound and ask for the whole memory of the machine.


def header_of(tree):
    return json.dumps({"format": FORMAT, "version": VERSION, "kind": "thing", "tree": tree})


def array_file(array, **changes):
    """Return the bytes of an .npy file; `changes` are written into its description in place of the truth."""
    described = np.lib.format.header_data_from_array_1_0(array) | changes
    member = io.BytesIO()
    np.lib.format.write_array_header_1_0(member, described)
    return member.getvalue() + array.tobytes()


def write_members(path, members, way=zipfile.ZIP_DEFLATED):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a name that is there twice
        with zipfile.ZipFile(path, "w", way) as archive:
            for name, content in members:
                archive.writestr(name, content)


ONE_ARRAY = header_of({"dict": {"x": {"array": 0}}})
SMALL_ARRAY = array_file(np.arange(3.0))
BOMBS = {
    "zeros": lambda: [(HEADER, ONE_ARRAY), ("0.npy", array_file(np.zeros(10_000_000)))],
    "a terabyte declared": lambda: [(HEADER, ONE_ARRAY), ("0.npy", array_file(np.zeros(1), shape=(2**37,)))],
    "more than there is": lambda: [(HEADER, ONE_ARRAY), ("0.npy", array_file(np.zeros(3), shape=(2, 2)))],
    "less than there is": lambda: [(HEADER, ONE_ARRAY), ("0.npy", array_file(np.zeros(3), shape=(2,)))],
    "a negative shape": lambda: [(HEADER, ONE_ARRAY), ("0.npy", array_file(np.zeros(3), shape=(-1, -3)))],
    "spaces": lambda: [(HEADER, ONE_ARRAY + " " * 20_000_000), ("0.npy", SMALL_ARRAY)],
    "empty lists": lambda: [(HEADER, header_of([[]] * 1_000_000))],
    "wide letters": lambda: [(HEADER, header_of("\N{PILE OF POO}".encode().decode("latin-1")))],
    "nested too deeply": lambda: [(HEADER, header_of(0).replace("0}", "[" * 100_000 + "]" * 100_000 + "}"))],
    "a member twice": lambda: [(HEADER, ONE_ARRAY), ("0.npy", SMALL_ARRAY), ("0.npy", SMALL_ARRAY)],
    "a stranger": lambda: [(HEADER, ONE_ARRAY), ("0.npy", SMALL_ARRAY), ("note.txt", b"hello")],
    "an array that nothing names": lambda: [(HEADER, header_of({"dict": {}})), ("0.npy", SMALL_ARRAY)],
    "an array in two places": lambda: [
        (HEADER, header_of({"dict": {"x": {"array": 0}, "y": {"array": 0}}})),
        ("0.npy", SMALL_ARRAY),
    ],
    "a tree of nothing": lambda: [(HEADER, header_of(None))],
    "a tree that is a list": lambda: [(HEADER, header_of([1, 2]))],
    "array and dict": lambda: [
        (HEADER, header_of({"dict": {"x": {"array": 0, "dict": {}}}})),
        ("0.npy", SMALL_ARRAY),
    ],
    "a dict of a list": lambda: [(HEADER, header_of({"dict": [1]}))],
    "Infinity": lambda: [(HEADER, header_of({"dict": {"x": float("inf")}}))],
    "NaN": lambda: [(HEADER, header_of({"dict": {"x": float("nan")}}))],
    "too large for a float": lambda: [(HEADER, header_of({"dict": {"x": 0}}).replace("0}", "1e999}"))],
    "a name twice": lambda: [(HEADER, header_of({"dict": {"x": 0}}).replace('"x"', '"x": 1, "x"'))],
    "another byte order": lambda: [(HEADER, ONE_ARRAY), ("0.npy", array_file(np.arange(3.0).astype(">f8")))],
    "texts": lambda: [(HEADER, ONE_ARRAY), ("0.npy", array_file(np.array(["a", "b"])))],
    "fields": lambda: [
        (HEADER, ONE_ARRAY),
        ("0.npy", array_file(np.zeros(2, dtype=[("a", "f8"), ("b", "i4")]))),
    ],
    "truth that is two": lambda: [
        (HEADER, ONE_ARRAY),
        ("0.npy", array_file(np.array([1, 2], dtype=np.uint8), descr="|b1")),
    ],
}


@pytest.mark.parametrize("bomb", BOMBS)
def test_a_file_that_is_not_what_tacit_writes_takes_little_memory_to_refuse(bomb, tmp_path):
    write_members(tmp_path / "a", BOMBS[bomb]())
    assert (tmp_path / "a").stat().st_size < 1_500_000
    tracemalloc.start()
    try:
        with pytest.raises(CheckpointError, match="not a whole Tacit checkpoint"):
            load_tree(tmp_path / "a", "thing")
        assert tracemalloc.get_traced_memory()[1] < 100e6
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("way", [zipfile.ZIP_LZMA, zipfile.ZIP_BZIP2])
def test_only_what_tacit_packs_with_is_unpacked(way, tmp_path):
    write_members(tmp_path / "a", [(HEADER, ONE_ARRAY), ("0.npy", SMALL_ARRAY)], way)
    with pytest.raises(CheckpointError, match="packed in a way that Tacit does not use"):
        load_tree(tmp_path / "a", "thing")


def test_control_what_tacit_writes_is_read_member_by_member(tmp_path):
    write_members(tmp_path / "a", [(HEADER, ONE_ARRAY), ("0.npy", SMALL_ARRAY)])
    assert load_tree(tmp_path / "a", "thing")["x"].tolist() == [0.0, 1.0, 2.0]


def test_whatever_is_saved_can_be_loaded_however_tight_it_would_pack(tmp_path, monkeypatch):
    monkeypatch.setattr("tacit.base.checkpoint.FREE", 1 << 16)
    tree = {"zeros": np.zeros(500_000), "list": [[]] * 20_000, "noise": np.random.default_rng(0).random(100)}
    save_tree(tmp_path / "a", "thing", tree)
    assert same(tree, load_tree(tmp_path / "a", "thing"))
    write_members(tmp_path / "b", [(HEADER, ONE_ARRAY), ("0.npy", array_file(tree["zeros"]))])
    with pytest.raises(CheckpointError, match="it would take"):
        load_tree(tmp_path / "b", "thing")


def test_small_files_stay_small_whatever_they_hold(tmp_path):
    save_tree(tmp_path / "a", "thing", {"zeros": np.zeros(1_000_000)})
    assert (tmp_path / "a").stat().st_size < 20_000


def test_numbers_that_json_does_not_have_are_kept_as_json(tmp_path):
    tree = {"never": math.inf, "below": -math.inf, "unknown": math.nan, "of numpy": np.float64(math.inf)}
    save_tree(tmp_path / "a", "thing", tree)
    with zipfile.ZipFile(tmp_path / "a") as archive:
        json.loads(archive.read(HEADER), parse_constant=pytest.fail)
    assert repr(load_tree(tmp_path / "a", "thing")) == repr(tree | {"of numpy": math.inf})


def test_arrays_of_either_order_are_kept_as_they_are(tmp_path):
    tree = {"columns": np.asfortranarray(np.arange(6.0).reshape(2, 3)), "foreign": np.arange(3).astype(">i4")}
    save_tree(tmp_path / "a", "thing", tree)
    loaded = load_tree(tmp_path / "a", "thing")
    assert np.array_equal(loaded["columns"], tree["columns"])
    assert loaded["columns"].flags.f_contiguous
    assert loaded["foreign"].dtype == np.int32


def test_what_is_no_file_is_refused_at_once(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path, tmp_path / "pipe"):
        with pytest.raises(CheckpointError, match="is not a regular file"):
            load_tree(path, "thing")
