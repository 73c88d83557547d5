"""The bundled encoders, really loaded: what they return for a text does not depend on its neighbours."""

import numpy as np
import pytest

from tacit.envs.booking import load_tasks, make_dialogues
from tacit.text.conversation import Conversation, Exchange, TextContext
from tacit.text.small.cache import EncodingCache
from tacit.text.small.encoder import MOST_TOKENS, bundled_encoder, gather_words
from tacit.text.small.model import SmallModel


@pytest.fixture(scope="module")
def encoder():
    return bundled_encoder()


def test_words_have_vectors_in_context_and_without(encoder):
    found = encoder.words(["A table for 2 at 7:30, please.", "for two"])
    assert found[0].words == ("a", "table", "for", "2", "at", "7:30", "please")
    assert found[1].words == ("for", "two")
    np.testing.assert_allclose(np.linalg.norm(found[0].contextual, axis=1), 1, atol=1e-5)
    np.testing.assert_allclose(
        found[0].static[2], found[1].static[0], atol=1e-6
    )  # "for", whatever is around it
    assert not np.allclose(found[0].contextual[2], found[1].contextual[0], atol=1e-2)


def test_neighbours_change_nothing_but_rounding(encoder):
    alone = encoder.sentences(["hello there"])
    among = encoder.sentences(["hello there", "a much longer sentence that needs a lot of padding around it"])
    np.testing.assert_allclose(alone[0], among[0], atol=1e-5)
    assert encoder.sentences([]).shape == (0, 384)


def test_reactions_lie_on_an_axis_of_kindness(encoder):
    kind = ["Thank you, that is perfect.", "Great, exactly what I wanted."]
    unkind = ["This is wrong.", "What a waste of time."]
    states = encoder.reactions([*kind, *unkind])
    axis = states[0] - states[2]
    assert (states[1] - states[3]) @ axis > 0
    assert states.shape == (4, encoder.reading_size)


def test_text_beyond_the_models_length_is_cut_not_refused(encoder):
    long = "word " * 5000
    assert len(encoder.words([long])[0].words) <= MOST_TOKENS + 32
    assert encoder.reactions([long]).shape == (1, encoder.reading_size)
    np.testing.assert_allclose(encoder.reactions([long]), encoder.reactions(["word " * 4000]), atol=1e-3)


def test_words_that_were_cut_off_are_left_out():
    vectors = np.ones((1, 4), np.float32)
    assert gather_words("one two", np.array([[0, 3]]), vectors, vectors).words == ("one",)


def test_nothing_is_read_off_the_candidates_alone(encoder):
    """On its own conversation the matcher finds the right booking; on a stranger's it is at chance (one in five)."""
    tasks, _ = load_tasks()
    model = SmallModel(2, encoder=encoder, cache=EncodingCache())
    dialogues = make_dialogues(tasks[:80], "hard", seed=3)
    own, strange = [], []
    equal = np.ones(6)
    for said, offered in zip(
        [*dialogues, *dialogues], [*dialogues, *dialogues[1:], dialogues[0]], strict=True
    ):
        right = next(question for question in said.questions if question.correct)
        talk = Conversation(TextContext(said.request), (Exchange(right.text, right.answer),))
        candidates = tuple(booking.text for booking in offered.bookings)
        best = int(np.argmax(model.features.match([(talk, candidates)])[0] @ equal))
        (own if said is offered else strange).append(offered.bookings[best].correct)
    assert np.mean(own) > 0.97
    assert 0.02 < np.mean(strange) < 0.38  # 0.2 and four standard errors of 80
