import io
import json
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
