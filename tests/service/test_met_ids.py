"""Ids that were met: none is forgotten, few are made up, and a snapshot keeps them."""

import json

from tacit.service.met_ids import FIRST, MetIds


def test_no_id_is_forgotten_and_few_are_made_up():
    met = MetIds()
    for n in range(3 * FIRST + 10):  # a third part has begun
        met.add(f"visit-{n}")
    assert all(f"visit-{n}" in met for n in range(3 * FIRST + 10))
    made_up = sum(f"new-{n}" in met for n in range(10_000))
    assert made_up < 100


def test_a_snapshot_keeps_them():
    met = MetIds()
    for n in range(FIRST + 5):
        met.add(str(n))
    kept = MetIds.from_json(json.loads(json.dumps(met.to_json())))
    assert kept.to_json() == met.to_json()
    kept.add("more")
    met.add("more")
    assert kept.to_json() == met.to_json()
    assert "12" in kept


def test_of_a_snapshot_that_has_none_every_id_may_have_been_met():
    met = MetIds.from_json(None)
    met.add("a")
    assert "whatever" in met
