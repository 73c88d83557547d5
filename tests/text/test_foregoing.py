"""Which meaning of feedback goes with the choices before the last: the right one does, others do not."""

import numpy as np
import pytest
from text_samples import HashingEncoder
from text_turns import draw

from tacit.text.small.cache import EncodingCache
from tacit.text.small.choosing import compare_trials
from tacit.text.small.climbing import FittingSettings
from tacit.text.small.features import TextFeatures
from tacit.text.small.fitting import fit_frame, make_design
from tacit.text.small.foregoing import EarlierTurn, list_earlier, weigh_foregoing
from tacit.text.small.sampling import make_sample
from tacit.text.small.starts import first_weights, regress_ridge

SETTINGS = FittingSettings()
KIND = ("good", "great", "lovely")
PARTS = 20


@pytest.fixture
def features():
    return TextFeatures(HashingEncoder(), EncodingCache(None))


def read(features, reactions):
    """Return the design of reactions, their earlier turns, and which of them were kind."""
    sample = make_sample(features, reactions)
    design = make_design(sample, fit_frame(sample, SETTINGS))
    kind = np.array([reaction.feedback in KIND for reaction in reactions])
    return design, list_earlier(features, reactions, PARTS), kind


def meaning(design, kind):
    """Return weights that know nothing of what fits, and take remarks for kind as they are told."""
    parts = design.split(first_weights(design, 0.0))
    parts[3][:] = 4 * regress_ridge(design.reading, np.where(kind, 1.0, -1.0), 0.01)
    return np.concatenate(parts)


def test_the_right_meaning_goes_with_the_first_choice_and_others_do_not(features):
    """Where a quarter is pleased: right, one unkind remark of three taken for kind, dealt anew."""
    reactions = draw(400)
    design, earlier, kind = read(features, reactions)
    said = np.array([reaction.feedback for reaction in reactions])
    right, wide, dealt = (
        weigh_foregoing(design, meaning(design, taken), earlier)
        for taken in (kind, kind | (said == "bad"), np.random.default_rng(0).permutation(kind))
    )
    assert right > 20
    assert right > wide + 10
    assert dealt < 5


def test_feedback_that_has_nothing_to_do_with_it_wins_nothing(features):
    design, earlier, kind = read(features, draw(400, meant=False))
    assert weigh_foregoing(design, meaning(design, kind), earlier) < 5


def test_a_fit_is_chosen_by_it(features):
    """The last choice says nothing here, so that the first alone tells a meaning from others."""
    design, earlier, kind = read(features, draw(300))

    def shares(before):
        chosen = compare_trials(design, SETTINGS, None, before)
        told = [design.reading @ design.split(trial.start.weights)[3] for trial in chosen.trials]
        apart = [t[kind].mean() - t[~kind].mean() for t in told]
        return float(chosen.shares[np.array(apart) > 0].sum()), chosen.trials

    right, trials = shares(earlier)
    assert right > shares(())[0] + 0.1
    assert right > 0.9
    assert trials[0].foregoing > 10


def test_no_turn_before_the_last_and_some_rows_of_one(features):
    reactions = draw(30)
    design, earlier, kind = read(features, reactions)
    assert weigh_foregoing(design, meaning(design, kind), ()) == 0.0
    assert list_earlier(features, [reaction._replace(before=()) for reaction in reactions], PARTS) == ()
    (turn,) = earlier
    some = np.array([3, 7, 29])
    part = EarlierTurn(turn.rows[1:], turn.pairs.part(turn.rows > 0)).part(some)
    assert part.rows.tolist() == [0, 1, 2]
    np.testing.assert_array_equal(part.pairs.like, turn.pairs.like[some])
    assert EarlierTurn(turn.rows[:3], turn.pairs.part(turn.rows < 3)).part(some).rows.tolist() == []
