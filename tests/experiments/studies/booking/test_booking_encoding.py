"""What tasks will read is encoded once, before they run."""

import pytest
from study_samples import QUIET, ignore
from text_samples import shop

from tacit.envs.booking import BookingEnv
from tacit.experiments.fingerprints import expand
from tacit.experiments.studies.booking.encoding import pairs_of
from tacit.experiments.studies.booking.study import BOOKING
from tacit.text.small import model as small

FEW = pytest.mark.filterwarnings("ignore:the feedback is not shown to be more than noise")
"""So few conversations may well say nothing; what an agent says then is tested with the agent."""


@FEW
def test_tasks_find_everything_encoded(encoder, brief, talks, tmp_path):
    study = BOOKING.order({"dialogues": talks}).scaled(1.0)
    tasks = expand(study, 1)
    study.prepare(tasks, QUIET)
    calls = encoder.calls
    assert calls > 0
    for task in tasks:
        study.play(task, ignore)
    assert encoder.calls == calls


@FEW
def test_an_interrupted_encoding_goes_on_where_it_stopped(encoder, brief, talks, monkeypatch, tmp_path):
    study = BOOKING.order({"dialogues": talks}).scaled(1.0)
    tasks, prepare, calls = expand(study, 1), small.SmallModel.prepare, []

    def interrupted(model, pairs, feedback, progress):
        calls.append(len(pairs))
        if len(calls) == 2:
            raise KeyboardInterrupt
        prepare(model, pairs, feedback, progress)

    monkeypatch.setattr(small.SmallModel, "prepare", interrupted)
    with pytest.raises(KeyboardInterrupt):
        study.prepare(tasks, QUIET)
    done = encoder.calls
    monkeypatch.setattr(small.SmallModel, "prepare", prepare)
    study.prepare(tasks, QUIET)
    resumed = encoder.calls - done
    monkeypatch.setenv("TACIT_CACHE", str(tmp_path / "another"))
    study.prepare(tasks, QUIET)
    whole = encoder.calls - done - resumed
    assert 0 < resumed < whole


def test_choices_cover_what_an_episode_meets():
    (dialogue,) = shop(1)
    pairs = pairs_of(dialogue)
    assert len(pairs) == 1 + len(dialogue.questions)
    env = BookingEnv([dialogue])
    observation, _ = env.reset(seed=0)
    assert pairs[0][1] == observation["actions"]
    for question, (conversation, bookings) in zip(dialogue.questions, pairs[1:], strict=True):
        env.reset(seed=0)
        observation, *_ = env.step(question.text)
        assert conversation.utterances == (dialogue.request, observation["state"])
        assert bookings == observation["actions"]
