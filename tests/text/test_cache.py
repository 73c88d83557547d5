"""The store of encodings: what was kept is found again, by others too, and to the last bit."""

import random
import sqlite3
import threading
from collections import Counter

import numpy as np
import pytest
from text_samples import HashingEncoder

from tacit.text.conversation import Conversation, TextContext
from tacit.text.small.cache import EncodingCache, default_path, is_writable, key_of
from tacit.text.small.features import TextFeatures


def test_encodings_are_found_by_another_process(tmp_path):
    path = tmp_path / "deep" / "encodings.sqlite"
    values = {str(n): np.random.default_rng(n).random((2, 3)).astype(np.float32) for n in range(1200)}
    EncodingCache(path).put(values)
    found = EncodingCache(path).get([*values, "unknown"])
    assert found.keys() == values.keys()
    assert all(np.array_equal(found[key], values[key]) for key in values)


def test_what_was_kept_first_stays(tmp_path):
    one, other = EncodingCache(tmp_path / "e"), EncodingCache(tmp_path / "e")
    one.put({"k": np.zeros(2, np.float32)})
    other.put({"k": np.ones(2, np.float32)})
    assert np.array_equal(other.get(["k"])["k"], np.zeros(2))


def test_a_file_that_is_no_store(tmp_path):
    (tmp_path / "e").write_text("not a database" * 100)
    with pytest.raises(ValueError, match="remove the file, or set TACIT_CACHE"):
        EncodingCache(tmp_path / "e").get(["k"])


def test_where_encodings_are_kept(monkeypatch, tmp_path):
    monkeypatch.setenv("TACIT_CACHE", str(tmp_path))
    assert default_path() == tmp_path / "encodings.sqlite"
    monkeypatch.delenv("TACIT_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert default_path() == tmp_path / "tacit" / "encodings.sqlite"


def test_without_a_writable_place_encodings_stay_in_memory_and_it_is_said_once(monkeypatch, tmp_path):
    (tmp_path / "file").touch()
    monkeypatch.setenv("TACIT_CACHE", str(tmp_path / "file" / "below"))
    cache = EncodingCache(default_path())
    with pytest.warns(UserWarning, match="set TACIT_CACHE to a folder that can be written"):
        cache.put({"k": np.ones(2, np.float32)})
    cache.forget()  # whatever warns from here on is an error
    assert np.array_equal(cache.get(["k"])["k"], np.ones(2))


def test_a_home_that_nobody_knows_is_no_writable_place(monkeypatch, tmp_path):
    for variable in ("TACIT_CACHE", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setattr("os.path.expanduser", lambda path: path)  # as it is for a user without an entry
    monkeypatch.chdir(tmp_path)
    assert not is_writable(default_path())
    assert not list(tmp_path.iterdir()), "a folder named ~"


def test_everything_is_encoded_once():
    encoder, told = HashingEncoder(), []
    features = TextFeatures(encoder, EncodingCache())
    pairs = [(Conversation(TextContext(f"i want {n}")), (f"take {n}", "take another")) for n in range(300)]
    first = features.match(pairs, lambda done, all_, what: told.append((done, all_, what)))
    calls = encoder.calls
    again = features.match(pairs)
    assert encoder.calls == calls
    assert told == [(256, 300, "matching candidates"), (300, 300, "matching candidates")]
    assert all(np.array_equal(a, b) for a, b in zip(first, again, strict=True))


def test_an_empty_profile_is_a_row_of_zeros():
    rows = TextFeatures(HashingEncoder(), EncodingCache()).profiles(["", "a joker", ""])
    assert not rows[0].any()
    assert rows[1].any()


def test_keys_tell_kinds_and_texts_apart():
    assert len({key_of("a", "x"), key_of("b", "x"), key_of("a", "x", "y"), key_of("a", ["x", "y"])}) == 4


def test_no_flipped_bit_goes_unseen(tmp_path):
    """A row that is not what was kept counts as missing, and is replaced; a file that cannot be read is told."""
    path, draw = tmp_path / "e", random.Random(0)
    values = {f"k{n}": np.random.default_rng(n).random((3, 16)).astype(np.float32) for n in range(100)}
    EncodingCache(path).put(values)
    whole, outcomes = settled(path), Counter()
    (tmp_path / "f").write_bytes(whole)
    assert EncodingCache(tmp_path / "f").get(list(values)).keys() == values.keys()
    for _ in range(150):
        for file in tmp_path.glob("f*"):
            file.unlink()
        bit = draw.randrange(8 * len(whole))
        (tmp_path / "f").write_bytes(
            whole[: bit // 8] + bytes([whole[bit // 8] ^ 1 << bit % 8]) + whole[bit // 8 + 1 :]
        )
        cache = EncodingCache(tmp_path / "f")
        try:
            found = cache.get(list(values))
            assert all(np.array_equal(found[key], values[key]) for key in found)
            outcomes["mended" if len(found) < len(values) else "same"] += 1
            cache.put({key: value for key, value in values.items() if key not in found})
            assert cache.get(list(values)).keys() == values.keys()
        except ValueError as error:
            outcomes["told" if "remove the file, or set TACIT_CACHE" in str(error) else "raw"] += 1
    assert min(outcomes["mended"], outcomes["same"]) > 10
    assert outcomes["raw"] == 0


def settled(path):
    """Return a store's file with all that was written to it: at first that stands in a journal beside it."""
    with sqlite3.connect(path) as file:
        file.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    file.close()
    return path.read_bytes()


def test_a_damaged_row_is_replaced_in_the_file(tmp_path):
    path, value = tmp_path / "e", np.ones((2, 3), np.float32)
    cache = EncodingCache(path)
    cache.put({"k": value, "l": value})
    with sqlite3.connect(path) as file:
        file.execute(
            "UPDATE checked_encodings SET data = ? WHERE key = 'k'", [np.zeros(6, np.float32).tobytes()]
        )
        file.execute("UPDATE checked_encodings SET shape = '[3, 2]' WHERE key = 'l'")
    again = EncodingCache(path)
    assert again.get(["k", "l"]) == {}
    again.put({"k": value, "l": value})
    found = EncodingCache(path).get(["k", "l"])
    assert all(np.array_equal(found[key], value) for key in ("k", "l"))


def test_threads_share_a_store(tmp_path):
    cache, errors = EncodingCache(tmp_path / "store"), []

    def use(number):
        try:
            for n in range(50):
                cache.put({f"{number} {n}": np.full(2, n, np.float32)})
                cache.forget()
                assert cache.get([f"{number} {n}"])[f"{number} {n}"].tolist() == [n, n]
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=use, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert (
        len(EncodingCache(tmp_path / "store").get([f"{i} {n}" for i in range(4) for n in range(50)])) == 200
    )
