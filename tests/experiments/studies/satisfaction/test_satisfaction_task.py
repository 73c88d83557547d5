"""Rated replies as log lines, and the scores of labels: worked out by hand, and with controls that must fail."""

from dataclasses import replace

import numpy as np
import pytest
from rated_dialogues import write_part
from study_samples import ignore

from tacit.envs.satisfaction import read_places
from tacit.experiments.studies.satisfaction import task as tasks
from tacit.experiments.studies.satisfaction.readings import beside_strangers, by_act, replayed, simulated
from tacit.experiments.studies.satisfaction.scoring import ReadRewards, keep_best, score_labels
from tacit.experiments.studies.satisfaction.task import SatisfactionSweep, pick_replies, play_satisfaction
from tacit.experiments.tasks import StudyTask


@pytest.fixture(scope="module")
def places(tmp_path_factory):
    return read_places(write_part(tmp_path_factory.mktemp("rated") / "TOY.txt", dialogues=150))


def varied(places):
    """Return places that all have replies of their own."""
    return tuple(replace(place, reply=f"{place.reply} ({n})") for n, place in enumerate(places))


def test_a_reply_stands_beside_three_to_strangers_at_a_random_place(places):
    reading = beside_strangers(varied(places), np.random.default_rng(0))
    assert reading.places == varied(places)
    positions = []
    for line, place in zip(reading.logs, reading.places, strict=True):
        [step] = line.steps
        assert (step.state, step.action, line.feedback) == (place.request, place.reply, place.said)
        assert len(set(step.actions)) == 4
        assert step.probability == 0.25
        positions.append(step.actions.index(step.action))
    assert np.bincount(positions, minlength=4).min() > 50


def test_a_replayed_reply_is_drawn_by_a_coin_and_followed_by_what_its_hearer_said(places):
    own = varied(places)
    reading, by_reply = replayed(own, np.random.default_rng(0)), {place.reply: place for place in own}
    for line, heard in zip(reading.logs, reading.places, strict=True):
        [step] = line.steps
        taken = by_reply[step.action]
        assert taken == heard
        assert line.feedback == taken.said
        assert {by_reply[reply].asked for reply in step.actions} == {taken.asked}
    asked = {place.request: place for place in own}
    strangers = sum(line.steps[0].action != asked[line.steps[0].state].reply for line in reading.logs)
    assert strangers / len(reading.logs) > 0.6


def test_acts_are_actions_whose_chance_nobody_tells(places):
    reading = by_act(places, np.random.default_rng(0))
    assert {line.steps[0].action for line in reading.logs} == {"OFFER", "INFORM"}
    assert all(line.steps[0].probability is None for line in reading.logs)


def test_who_gets_a_strangers_reply_by_the_coin_says_what_the_unsatisfied_say(places):
    own = tuple(replace(place, request=f"{place.request} ({n})") for n, place in enumerate(varied(places)))
    log, asks = simulated(own, np.random.default_rng(0)), {place.request: place for place in own}
    asked = [asks[line.steps[0].state] for line in log.logs]
    given = [line.steps[0].action == place.reply for line, place in zip(log.logs, asked, strict=True)]
    assert len(log.logs) == len(own)
    assert np.mean(given) == pytest.approx(0.25, abs=0.08)
    for line, place, heard, real in zip(log.logs, asked, log.places, given, strict=True):
        assert place.rating > 3
        assert line.feedback == heard.said
        assert heard == place if real else heard.rating < 3
        assert line.steps[0].probability == 0.25
        assert line.reward is None


def test_where_nobody_is_pleased_nobody_is_simulated(places):
    unsatisfied = tuple(replace(place, rating=2.0) for place in places)
    assert simulated(unsatisfied, np.random.default_rng(0)).logs == ()
    read, labels, told = tasks.read_replies("tacit_simulated", unsatisfied, np.random.default_rng(0))
    assert read == unsatisfied
    assert np.isnan(labels.rewards).all()
    assert told["verdict"] == "cannot work"


def test_no_rating_reaches_a_log_line(places):
    for read in (beside_strangers, replayed, by_act):
        turned = tuple(replace(place, rating=6 - place.rating) for place in places)
        before, after = (read(some, np.random.default_rng(0)).logs for some in (places, turned))
        assert before == after
        assert all(line.reward is None for line in before)


def test_scores_are_those_worked_out_by_hand():
    ratings = np.array([4.0, 4.0, 2.0, 2.0, 3.0])
    labels = ReadRewards(np.array([0.9, 0.2, 0.1, np.nan, 1.0]), np.array([True, True, False, True, True]))
    scalars = score_labels(labels, ratings)["scalars"]
    assert scalars == {
        "decoded": 0.5,  # two of four that were rated clearly
        "agreement": 0.5,
        "rewarded_of_decoded_as_such": 1.0,
        "decoded_rewarded": pytest.approx(0.55),
        "decoded_unrewarded": pytest.approx(0.1),
        "ranked_right": 1.0,
        "rewarded": 0.5,
    }


def test_labels_that_say_nothing_are_on_the_level_and_right_ones_above():
    rewarded, kept = np.arange(100) < 40, np.array([0.2, 0.4, 1.0])
    assert keep_best(np.zeros(100), rewarded, kept) == pytest.approx([0.4, 0.4, 0.4])
    assert keep_best(np.full(100, np.nan), rewarded, kept) == pytest.approx([0.4, 0.4, 0.4])
    assert keep_best(rewarded * 1.0, rewarded, kept) == pytest.approx([1.0, 1.0, 0.4])
    assert keep_best(1.0 - rewarded, rewarded, kept) == pytest.approx([0.0, 0.0, 0.4])


def play(places, learner, count=200):
    sweep = SatisfactionSweep(places=count, parts={"TOY": tuple(places)})
    return play_satisfaction(sweep, StudyTask("TOY", learner, 0, ""), ignore).result


def test_words_are_understood_where_replies_that_fit_are_liked_and_control_shuffled_words_are_not(
    places, encoder
):
    real = play(places, "tacit", 240)
    order = np.random.default_rng(1).permutation(len(places))
    shuffled = [replace(p, said=places[n].said, rating=p.rating) for p, n in zip(places, order, strict=True)]
    control = play(shuffled, "tacit", 240)
    assert real["verdict"] == "works with caution"
    assert real["scalars"]["ranked_right"] > 0.65
    assert (control["scalars"]["ranked_right"] or 0.5) < 0.6


def test_with_a_coin_words_are_understood_and_control_with_shuffled_words_not(tmp_path, encoder):
    everything = read_places(write_part(tmp_path / "TOY.txt", dialogues=300))
    first = [place for place in everything if place.request.startswith("I need")]
    real = play(first, "tacit_simulated", 300)["scalars"]
    order = np.random.default_rng(1).permutation(len(first))
    shuffled = [replace(p, said=first[n].said) for p, n in zip(first, order, strict=True)]
    assert real["ranked_right"] > 0.9
    assert real["agreement"] > 0.9
    assert (play(shuffled, "tacit_simulated", 300)["scalars"]["ranked_right"] or 0.5) < 0.7


def test_examples_are_the_highest_and_the_lowest_labels(places):
    rewards = np.linspace(0, 1, len(places))
    rewards[0] = np.nan
    shown = pick_replies(places, ReadRewards(rewards, np.ones(len(places), dtype=bool)))
    assert [one["decoded"] for one in shown] == sorted((one["decoded"] for one in shown), reverse=True)
    assert len(shown) == tasks.SHOWN
    assert shown[0]["decoded"] == 1.0
    assert shown[-1]["decoded"] == rewards[1]
