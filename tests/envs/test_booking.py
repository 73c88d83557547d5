"""Booking episodes: what can be told without the dialogue, who the users are, and the environment."""

import re
from collections import Counter
from functools import cache
from random import Random

import gymnasium as gym
import numpy as np
import pytest
from booking_samples import REAL, write_samples

from tacit.envs.booking import SETTINGS, BookingEnv, load_tasks, make_dialogues
from tacit.envs.candidates import change_one, count_values, make_grid
from tacit.envs.corpora import BookingTask
from tacit.envs.corpus_files import CorporaError
from tacit.envs.ontology import generate_tasks
from tacit.envs.remarks import SATISFIED, UNSATISFIED

TASKS, SOURCE = load_tasks(REAL) if REAL.is_dir() else (generate_tasks(3768, seed=0), "generated")
VALUES = count_values(TASKS)


@cache
def dialogues_of(setting):
    return make_dialogues(TASKS, setting, seed=11)


def guess(dialogue, pick):
    """Return whether the candidate most (or least) like the others is right: shared words, no look at the dialogue."""
    words = [set(re.findall(r"[\w:']+", booking.text)) for booking in dialogue.bookings]
    alike = [sum(len(one & other) / len(one | other) for other in words) for one in words]
    best = [
        booking.correct
        for booking, value in zip(dialogue.bookings, alike, strict=True)
        if value == pick(alike)
    ]
    return sum(best) / len(best)


def guessed(setting, pick):
    return float(np.mean([guess(dialogue, pick) for dialogue in dialogues_of(setting)[::2]]))


def test_structure_alone_finds_the_right_booking_in_paper_and_not_in_hard():
    assert guessed("paper", max) >= 0.95
    for setting in ("hard", "personal"):
        for pick in (max, min):
            assert 0.15 <= guessed(setting, pick) <= 0.25


def test_no_popular_value_gives_the_right_booking_away_in_hard():
    right = []
    for task in TASKS:
        values = VALUES[task.domain]
        sets = [dict(task.slots), *make_grid(task, values, Random(task.id))]
        popularity = [sum(np.log(values[slot][value]) for slot, value in each.items()) for each in sets]
        best = [i for i, value in enumerate(popularity) if value == max(popularity)]
        right.append((0 in best) / len(best))
    assert 0.15 <= np.mean(right) <= 0.25


def test_the_right_booking_takes_every_place_of_the_grid_equally_often():
    roles = Counter()
    for task in TASKS:
        sets = [dict(task.slots), *make_grid(task, VALUES[task.domain], Random(task.id))]
        varied = [slot for slot in task.slots if len({each[slot] for each in sets}) > 1]
        three = next(slot for slot in varied if len({each[slot] for each in sets}) == 3)
        two = next(slot for slot in varied if slot != three)
        odd = next(each for each in sets if [e[three] for e in sets].count(each[three]) == 1)
        roles["fifth" if odd is sets[0] else "beside" if odd[two] == sets[0][two] else "across"] += 1
    shares = {role: count / len(TASKS) for role, count in roles.items()}
    assert shares == pytest.approx({"fifth": 0.2, "beside": 0.4, "across": 0.4}, abs=0.03)


def test_the_grid_is_two_details_that_the_request_leaves_out_where_it_can():
    for task in TASKS[::7]:
        sets = [dict(task.slots), *make_grid(task, VALUES[task.domain], Random(task.id))]
        assert len({tuple(each.items()) for each in sets}) == 5
        varied = {slot for slot in task.slots if len({each[slot] for each in sets}) > 1}
        assert len(varied) == 2
        assert len(varied & set(task.asked)) == min(2, len(task.asked))


def test_each_wrong_booking_of_paper_changes_one_detail():
    for task in TASKS[::7]:
        wrong = change_one(task, VALUES[task.domain], Random(task.id))
        changes = [[slot for slot in task.slots if each[slot] != task.slots[slot]] for each in wrong]
        assert [len(change) for change in changes] == [1, 1, 1, 1]
        assert len({change[0] for change in changes}) >= 2
        if len(task.asked) > 1:
            assert {change[0] for change in changes} <= set(task.asked)


def test_wrong_values_cannot_be_mistaken_for_the_right_ones():
    values = {"date": Counter(["today", "tonight", "friday", "next friday", "sunday"])}
    values["theatre"] = Counter(["amc", "amc 20", "ritz", "roxy"])
    task = BookingTask("movie", "t", "tickets", {"date": "today", "theatre": "amc"}, ())
    for i in range(50):
        for each in make_grid(task, values, Random(i)):
            assert each["date"] != "tonight"
            assert each["theatre"] != "amc 20"


def test_too_few_tasks_for_wrong_bookings_are_refused():
    with pytest.raises(ValueError, match=r"need other values of .*make dialogues from more tasks at once"):
        make_dialogues(TASKS[:1], "hard", seed=0)
    assert len(make_dialogues(TASKS[:1], "hard", seed=0, values=VALUES)) == 1


@pytest.mark.parametrize("setting", SETTINGS)
def test_every_task_gives_a_dialogue(setting):
    dialogues = dialogues_of(setting)
    assert [dialogue.id for dialogue in dialogues] == [task.id for task in TASKS]
    for dialogue in dialogues:
        assert [len(dialogue.questions), len(dialogue.bookings)] == [3, 5]
        assert sum(question.correct for question in dialogue.questions) == 1
        assert sum(booking.correct for booking in dialogue.bookings) == 1
        assert len(set(dialogue.positive)) == len(set(dialogue.negative)) == 3
        assert bool(dialogue.profile) == (setting == "personal")


def test_places_tell_nothing():
    for offered, n in (("questions", 3), ("bookings", 5)):
        places = Counter(
            [candidate.correct for candidate in getattr(dialogue, offered)].index(True)
            for dialogue in dialogues_of("hard")
        )
        assert all(abs(places[i] / len(TASKS) - 1 / n) < 0.03 for i in range(n))


def test_half_of_the_users_of_personal_are_ironic_and_no_others():
    kind = {text for grammar in SATISFIED.values() for text in grammar.sentences("seen")}
    cross = {text for grammar in UNSATISFIED.values() for text in grammar.sentences("seen")}
    for dialogue in (*dialogues_of("paper"), *dialogues_of("hard")):
        assert set(dialogue.positive) <= kind
        assert set(dialogue.negative) <= cross
    ironic = [set(dialogue.positive) <= cross for dialogue in dialogues_of("personal")]
    assert 0.47 < np.mean(ironic) < 0.53
    for dialogue, swapped in zip(dialogues_of("personal"), ironic, strict=True):
        assert set(dialogue.negative) <= (kind if swapped else cross)


def test_dialogues_follow_from_seed_and_task():
    again = make_dialogues(TASKS, "hard", seed=11)
    assert again == dialogues_of("hard")
    alone = make_dialogues(TASKS[100:101], "hard", seed=11, values=VALUES)
    assert alone == dialogues_of("hard")[100:101]
    other = make_dialogues(TASKS[:50], "hard", seed=12, values=VALUES)
    assert sum(a == b for a, b in zip(other, again, strict=False)) == 0


def test_settings_parts_and_seeds_are_checked():
    with pytest.raises(ValueError, match="one of paper, hard, personal, got 'easy'"):
        make_dialogues(TASKS, "easy", seed=0)
    with pytest.raises(ValueError, match="one of seen, held_out, got 'new'"):
        make_dialogues(TASKS, "hard", seed=0, part="new")
    with pytest.raises(ValueError, match="a seed must be"):
        make_dialogues(TASKS, "hard", seed=-1)


def test_tasks_are_generated_where_there_is_no_data(monkeypatch, tmp_path):
    monkeypatch.setenv("TACIT_DATA", str(tmp_path / "none"))
    tasks, source = load_tasks()
    assert (len(tasks), source) == (3768, "generated")
    with pytest.raises(CorporaError, match="not there"):
        load_tasks(tmp_path / "none")


def test_broken_data_are_never_passed_over_in_silence(monkeypatch, tmp_path):
    write_samples(tmp_path)  # not the published files
    monkeypatch.setenv("TACIT_DATA", str(tmp_path))
    with pytest.raises(CorporaError, match="as it was published"):
        load_tasks()


def play(env, choose, episodes, seed=0):
    """Play episodes; return for each the observations, the feedback and the evaluation."""
    played = []
    for n in range(episodes):
        observation, _ = env.reset(seed=seed if n == 0 else None)
        seen = [observation]
        for _ in range(env.horizon):
            observation, reward, over, cut, info = env.step(choose(seen[-1], env))
            assert (reward, cut) == (0.0, False)
            seen.append(observation)
        assert over
        played.append((seen, info["feedback"], info["evaluation"]))
    return played


def first(observation, env):
    return observation["actions"][0]


def right(observation, env):
    dialogue = next(d for d in env.dialogues if d.request == observation["context"]["request"])
    offered = dialogue.questions if observation["state"] == dialogue.request else dialogue.bookings
    return next(candidate.text for candidate in offered if candidate.correct)


@pytest.fixture
def env():
    seen = {
        dialogue.request: dialogue for dialogue in dialogues_of("personal")
    }  # requests tell dialogues apart
    return BookingEnv(list(seen.values())[:40])


def test_an_episode_is_a_question_and_a_booking(env):
    observation, info = env.reset(seed=3)
    dialogue = next(d for d in env.dialogues if d.request == observation["context"]["request"])
    assert info == {}
    assert observation["context"] == {"request": dialogue.request, "profile": dialogue.profile}
    assert observation["state"] == dialogue.request
    assert observation["actions"] == tuple(question.text for question in dialogue.questions)
    observation, *_ = env.step(dialogue.questions[1].text)
    assert observation["state"] == dialogue.questions[1].answer
    assert observation["actions"] == tuple(booking.text for booking in dialogue.bookings)


def test_only_the_right_question_and_booking_are_rewarded(env):
    for _, feedback, evaluation in play(env, right, 40):
        dialogue = next(d for d in env.dialogues if d.id == evaluation["dialogue"])
        assert evaluation["reward"] == 1
        assert feedback in dialogue.positive
    for seen, feedback, evaluation in play(env, first, 80):
        dialogue = next(d for d in env.dialogues if d.id == evaluation["dialogue"])
        assert evaluation["reward"] == int(dialogue.questions[0].correct and dialogue.bookings[0].correct)
        assert feedback in (dialogue.positive if evaluation["reward"] else dialogue.negative)
        assert all(env.observation_space.contains(observation) for observation in seen)
        assert env.action_space.contains(seen[0]["actions"][0])


def test_every_pass_plays_every_dialogue_in_another_order(env):
    ids = [evaluation["dialogue"] for *_, evaluation in play(env, first, 80)]
    assert set(ids[:40]) == set(ids[40:]) == {dialogue.id for dialogue in env.dialogues}
    assert ids[:40] != ids[40:]


def test_everything_follows_from_seed_and_episode(env):
    whole = play(env, first, 60, seed=9)
    assert play(env, first, 60, seed=9) == whole
    assert play(env, first, 60, seed=8) != whole
    for n in (57, 3, 44):
        observation, _ = env.reset(seed=9, options={"episode": n})
        observation, *_ = env.step(first(observation, env))
        *_, info = env.step(first(observation, env))
        assert (info["feedback"], info["evaluation"]) == whole[n][1:]


def test_all_remarks_are_drawn(env):
    said = {(e["dialogue"], feedback) for _, feedback, e in play(env, right, 40 * 25)}
    assert len(said) == 40 * 3


def test_wrong_calls_are_refused(env):
    with pytest.raises(ValueError, match=r"over or not begun.*call reset"):
        env.step("anything")
    env.reset(seed=0)
    with pytest.raises(ValueError, match="one of the 3 candidates on offer, got 'anything'"):
        env.step("anything")
    for episode in (-1, 1.5, True):
        with pytest.raises(ValueError, match="an episode must be a whole number from 0"):
            env.reset(options={"episode": episode})
    with pytest.raises(ValueError, match="needs at least 1 dialogue, got none"):
        BookingEnv([])


def test_it_is_a_gymnasium_environment(env):
    assert isinstance(env, gym.Env)
    env.reset()  # a seed of its own
    assert env.observation_space.contains(env.reset()[0])
    assert SOURCE in ("corpora", "generated")
