"""The task of the booking study: numbers by hand, examples of every stage, exploration alike for all."""

import numpy as np
import pytest
from study_samples import ignore

from tacit.experiments.studies.booking.study import BOOKING
from tacit.experiments.studies.booking.task import EXAMPLES, as_counted, count_decoding, simulate, spread_out
from tacit.experiments.tasks import StudyTask
from tacit.simulate import Trace

FEW = pytest.mark.filterwarnings("ignore:the feedback is not shown to be more than noise")
"""So few conversations may well say nothing; what an agent says then is tested with the agent."""


def test_scalars_by_hand():
    trace = as_counted(Trace([0.0, 1.0, 1.0, 0.0], [np.nan, 0.5, 1.0, 0.25], [], [True] * 4), exploration=1)
    assert trace.regrets == [1.0, 0.0, 0.0, 1.0]
    assert trace.exploring == [True, False, False, False]
    assert count_decoding(trace) == {
        "last_500_reward": pytest.approx(2 / 3),
        "decoded_rewarded": 0.75,
        "decoded_unrewarded": 0.25,
    }
    silent = as_counted(Trace([1.0, 1.0], [np.nan, np.nan], [], [True, True]), exploration=1)
    assert count_decoding(silent)["decoded_rewarded"] is None
    assert count_decoding(silent)["decoded_unrewarded"] is None


@FEW
def test_examples_show_every_stage(encoder, brief, talks):
    study = BOOKING.order({"dialogues": talks}).scaled(1.0)
    result, _ = study.play(StudyTask("dialogues", "tacit", 0, ""), ignore)
    examples = result["examples"]
    assert len(examples) == EXAMPLES
    assert [one["episode"] for one in examples] == sorted({one["episode"] for one in examples})
    assert {one["stage"] for one in examples} == {"exploration", "policy learning"}
    assert {one["reward"] for one in examples} == {0.0, 1.0}
    for one in examples:
        assert one["reward"] == (one["right_question"] and one["right_booking"])
        assert 0 <= one["decoded"] <= 1
        assert 0.5 <= one["confidence"] <= 1
    judged, _ = study.play(StudyTask("dialogues", "oracle_reward", 0, ""), ignore)
    assert all(one["confidence"] is None for one in judged["examples"])
    assert all(one["decoded"] == one["reward"] for one in judged["examples"])
    assert all(not one["feedback"].startswith("reward") for one in judged["examples"])


def test_all_learners_of_a_seed_explore_alike(encoder, brief, talks):
    study = BOOKING.order({"dialogues": talks}).scaled(1.0)
    explored = []
    for name in ("tacit", "oracle_reward", "uniform"):
        seen = []
        simulate(study.sweep, "dialogues", name, 0, seen).run(20)
        explored.append([(one.dialogue, one.feedback, one.episode.actions) for one in seen])
    assert explored[0] == explored[1] == explored[2]


def test_spread_takes_ends_and_no_more_than_there_is():
    assert spread_out([3, 5], 4) == [3, 5]
    assert spread_out([], 2) == []
