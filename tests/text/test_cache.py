"""The store of encodings: what was kept is found again, by others too, and to the last bit."""

import threading

import numpy as np
import pytest
from text_samples import HashingEncoder

from tacit.text.conversation import Conversation, TextContext
from tacit.text.small.cache import EncodingCache, default_path, key_of
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
