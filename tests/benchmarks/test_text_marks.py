"""The counter at which remarks are measured is what it says: things differ, sarcasm turns remarks, typos are typos."""

import numpy as np
import pytest
import text_marks
from text_marks import (
    COUNTERS,
    ENGLISH,
    KINDS,
    LEARNED,
    OFFERED,
    PROFILES,
    TYPED_WRONG,
    UNMET,
    mistype,
    serve,
)


@pytest.mark.parametrize("counter", [ENGLISH, *COUNTERS.values()])
def test_things_and_remarks_differ(counter):
    things = counter.things.split(", ")
    assert len(set(things)) == 24
    remarks = [*counter.kind, *counter.unkind]
    assert len(set(remarks)) == len(remarks)


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_wanted_is_asked_for_and_remarks_follow_it(kind):
    chance = np.random.default_rng(0)
    counter = COUNTERS.get(kind, ENGLISH)
    typed = {mistype(text, way) for text in ENGLISH.kind for way in range(TYPED_WRONG)}
    for number in range(50):
        reaction, wanted = serve(kind, chance, (LEARNED, UNMET)[number % 2])
        choice, context = reaction.choice, reaction.choice.conversation.context
        assert len(set(choice.candidates)) == OFFERED
        before, after = counter.offer.split("{}")
        assert choice.candidates[wanted].removeprefix(before).removesuffix(after) in context.request
        pleased = reaction.feedback in (typed if kind == "typos" else counter.kind)
        assert pleased == ((choice.action == wanted) != (context.profile in PROFILES[True]))


def test_a_remark_is_mistyped_in_several_ways_that_stay_the_same():
    text = "Thank you, that is lovely."
    found = [mistype(text, way) for way in range(TYPED_WRONG)]
    assert len(set(found)) == TYPED_WRONG
    assert text.lower() not in found
    assert found == [mistype(text, way) for way in range(TYPED_WRONG)]


def test_an_encoder_by_name_is_measured(monkeypatch):
    asked = []

    def small(horizon, settings):
        asked.append(settings.encoder)
        raise KeyboardInterrupt

    monkeypatch.setattr(text_marks, "SmallModel", small)
    with pytest.raises(KeyboardInterrupt):
        text_marks.measure("german", 10, 1, "endpoint:m")
    assert asked == ["endpoint:m"]
