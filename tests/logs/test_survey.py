"""From logs to a layout and indices: what logs show, in any order, and what they cannot be."""

from itertools import count

import numpy as np
import pytest
from counting_encoder import CountingEncoder

from tacit.envs.drawn_logs import draw_logs
from tacit.envs.random_mdp import RandomMDPSettings, random_mdp
from tacit.envs.synthetic import synthetic_mdp
from tacit.logs import survey as survey_module
from tacit.logs.encoding import EncodedEpisode, LogReader
from tacit.logs.episode import LoggedEpisode, LoggedStep
from tacit.logs.met_values import label_of
from tacit.logs.record import LogError
from tacit.logs.survey import BEGIN, START, survey_logs
from tacit.problem.layout import Layout
from tacit.problem.records import Record, Text
from tacit.problem.spaces import Finite, Vectors

NAMES = count()
RAGGED = random_mdp(0, RandomMDPSettings(layers=3, states=3, actions=5, ragged=True)).mdp


def episode(*steps, context="x", feedback="y"):
    return LoggedEpisode(next(NAMES), context, tuple(LoggedStep(*step) for step in steps), feedback)


def read(layout, logged):
    return LogReader(layout).read(logged.to_json(), line=1)


@pytest.mark.parametrize("mdp", [synthetic_mdp(), RAGGED], ids=["synthetic", "ragged"])
def test_the_layout_of_a_simulation_is_found(mdp):
    logs = list(draw_logs(mdp, 3000, seed=1))
    found = survey_logs(logs).layout()
    assert (found.states, found.actions) == (mdp.layout.states, mdp.layout.actions)
    assert (found.contexts, found.feedback) == (mdp.layout.contexts, mdp.layout.feedback)
    assert survey_logs(logs[::-1]).layout() == found


def test_actions_that_were_offered_but_never_taken_are_known():
    survey = survey_logs([episode(("s", "a", ("a", "b"))), episode(("s", "c"))])
    assert survey.layout().actions == ((("a", "b", "c"),),)


def test_a_label_met_in_two_steps_is_a_state_for_each():
    layout = survey_logs([episode(("s", 0), ("s", 1)), episode(("s", 0), ("t", 1))]).layout()
    assert layout.states == (("s",), ("s", "t"))
    found = read(layout, episode(("s", 0), ("s", 1)))
    assert (found.states, found.actions) == ([0, 0], [0, 0])


def test_first_states_that_differ_get_a_start_before_them():
    logs = [episode(("a", 0), ("c", 0, (0, 1))), episode(("b", 1, (0, 1)), ("c", 1))]
    layout = survey_logs(logs).layout()
    assert (layout.states[0], layout.actions[0]) == ((START,), ((BEGIN,),))
    found = read(layout, logs[1])
    assert (found.states, found.actions, found.probabilities) == ([0, 1, 0], [0, 1, 1], [1.0, None, None])


@pytest.mark.parametrize(
    ("values", "space"),
    [
        (["yes", "no", "yes"], Finite(("no", "yes"))),
        ([5, 1.0, 3], Finite((1, 3, 5))),
        ([0.5, 1, 2.5], Finite((1, "0.5", "2.5"))),
        ([True, False], Finite((False, True))),
        (list(range(40)), Vectors(1)),
        (list(range(40)) * 50, Finite(tuple(range(40)))),
        ([0.5 * n for n in range(40)] * 50, Vectors(1)),
        ([0.1 * n for n in range(40)], Vectors(1)),
        ([[1, 2], [3, 4]], Vectors(2)),
        ([{"b": 1, "a": 2}, {"a": 3, "b": 4}], Vectors(2, ("a", "b"))),
    ],
)
def test_labels_are_told_from_vectors(values, space):
    layout = survey_logs([episode(("s", n % 2), feedback=value) for n, value in enumerate(values)]).layout()
    assert layout.feedback == space
    for value in values:
        assert isinstance(read(layout, episode(("s", 0), feedback=value)), EncodedEpisode)
    assert Layout.from_json(layout.to_json()) == layout


def test_sentences_are_text_and_few_phrases_are_labels():
    sentences = [episode(("s", n % 2), feedback=f"sentence number {n}") for n in range(30)]
    assert (survey_logs(sentences).text, survey_logs(sentences).is_conversation) == (("feedback",), False)
    layout = survey_logs(sentences).layout()
    assert (layout.feedback, layout.silence) == (Text(), "counts")
    phrases = [
        episode(("s", n % 2), feedback=f"a long phrase, number {n % 9}, said again") for n in range(30)
    ]
    assert survey_logs(phrases).text == ()
    states = [episode((f"said {n}", n % 2)) for n in range(30)]
    assert (survey_logs(states).text, survey_logs(states).is_conversation) == (("state",), True)
    with pytest.raises(LogError, match="text in state"):
        survey_logs(states).layout()


def test_users_who_come_back_are_labels_and_requests_are_text():
    users = [episode(("s", n % 2), context=f"user {n % 200}") for n in range(400)]
    assert survey_logs(users).layout().contexts.size == 200
    once = [episode(("s", n % 2), context=f"user {n}") for n in range(400)]
    assert survey_logs(once).layout().contexts == Text()
    parts = survey_logs(users[:200])
    parts.merge(survey_logs(users[200:]))
    assert parts.layout() == survey_logs(users).layout()
    asked = [episode(("s", n % 2), context={"request": f"tea {n}", "profile": "plain"}) for n in range(20)]
    assert survey_logs(asked).is_conversation


def test_users_who_are_numbers_are_labels_and_quantities_are_not():
    """200 whole numbers as vectors of one were told that feedback tells nothing, where names were understood."""
    users = [episode(("s", n % 2), context=n % 200) for n in range(1000)]
    assert survey_logs(users).layout().contexts == Finite(tuple(range(200)))
    for quantities in (range(400), [n % 40 for n in range(1000)], [0.5 * (n % 200) for n in range(2000)]):
        logs = [episode(("s", n % 2), context=value) for n, value in enumerate(quantities)]
        assert survey_logs(logs).layout().contexts == Vectors(1)


def test_contexts_of_strings_and_numbers_are_records():
    logs = [
        episode(
            ("s", n % 2), context={"age": 20 + n, "country": "de" if n % 3 else "fr", "note": f"note {n}"}
        )
        for n in range(30)
    ]
    layout = survey_logs(logs).layout()
    country = Finite(("de", "fr"), open=True)
    assert layout.contexts == Record({"age": Vectors(1), "country": country, "note": Text()})
    assert Layout.from_json(layout.to_json()) == layout
    reader = LogReader(layout, CountingEncoder())
    found = reader.read(logs[0].to_json(), line=1)
    np.testing.assert_array_equal(
        found.context, [20, 0, 1, 0, 1, 0, 1, 0]
    )  # a number, a label, vowels of a text
    assert reader.seen.contexts == Vectors(8)
    without = episode(("s", 0), context={"age": 20, "country": "de"})
    assert reader.read(without.to_json(), line=1).rule == "unknown-value"
    new = reader.read(episode(("s", 0), context={"age": 1, "country": "it", "note": ""}).to_json(), line=1)
    assert new.context[1:3].tolist() == [0, 0]


def test_texts_of_several_episodes_are_encoded_together():
    encoder = CountingEncoder()
    logs = [episode(("s", n % 2), feedback=f"sentence number {n}") for n in range(30)]
    reader = LogReader(survey_logs(logs).layout(), encoder)
    reader.look_ahead([each.to_json() for each in logs])
    assert [len(texts) for texts in encoder.asked] == [30]
    silent = reader.read(episode(("s", 0), feedback=None).to_json(), line=1)
    assert np.isnan(silent.feedback).all()


def test_mixed_kinds_are_refused():
    mixed = survey_logs([episode(("s", 0), context={"a": 1}), episode(("s", 1), context="x")])
    with pytest.raises(LogError, match="contexts must be labels or vectors"):
        mixed.layout()
    with pytest.raises(LogError, match="at least one whole episode"):
        survey_logs([]).layout()


def test_shorter_episodes_show_where_episodes_end():
    whole = [episode(("s", 0), ("t", n % 2), ("u", 0)) for n in range(20)]
    layout = survey_logs([*whole, episode(("s", 0), ("t", 1)), episode(("s", 0), ("z", 1))]).layout()
    assert layout.ends == ((), ("t", "z"), ("u",))
    early = read(layout, episode(("s", 0), ("t", 1)))
    assert (early.states, early.ending) == ([0, 0], (0, 1))
    assert read(layout, whole[0]).ending == (2, 0)
    stopped = read(layout, episode(("s", 0)))
    assert stopped.rule == "mixed-horizon"
    assert "broke off" in stopped.message


def test_lengths_that_hardly_any_episode_has_are_left_out():
    usual = [episode(("s", 0), ("t", n % 2)) for n in range(300)]
    survey = survey_logs([*usual, episode(("odd", 7)), episode(("s", 0), ("t", 0), ("t", 0))])
    assert survey.horizons == {1: 1, 2: 300, 3: 1}
    layout = survey.layout()
    assert (layout.states, layout.ends) == ((("s",), ("t",)), None)
    assert read(layout, episode(("odd", 7))).rule == "mixed-horizon"
    assert read(layout, episode(("s", 0), ("t", 0), ("t", 0))).rule == "mixed-horizon"


@pytest.mark.parametrize(
    ("bad", "rule"),
    [
        (episode(("gone", 0)), "unknown-state"),
        (episode(("s", 9)), "unknown-action"),
        (episode(("s", 0), context="gone"), "unknown-value"),
        (episode(("s", 0), feedback="gone"), "unknown-value"),
    ],
)
def test_what_the_layout_lacks_is_told(bad, rule):
    layout = survey_logs([episode(("s", 0)), episode(("s", 1))]).layout()
    assert read(layout, bad).rule == rule


def test_labels_of_equal_numbers_are_equal():
    assert label_of(2.0) == label_of(2) == 2
    assert label_of({"b": 1, "a": 2}) == label_of({"a": 2, "b": 1})
    assert Finite((1, 2)).encode(label_of(np.float64(2.0)), "context") == 1


def test_numbers_are_states_however_many():
    """More than a thousand were left out in part, as states that the layout did not know."""
    logs = [episode((n % 1500, n % 3)) for n in range(3000)]
    survey = survey_logs(logs)
    assert survey.text == ()
    layout = survey.layout()
    assert layout.endings.labels == tuple(range(1500))
    reader = LogReader(layout)
    assert all(isinstance(reader.read(each.to_json(), line=1), EncodedEpisode) for each in logs)
    wide = survey_logs([episode(("s", n)) for n in range(1200)]).layout()
    assert wide.actions == ((tuple(range(1200)),),)


@pytest.mark.parametrize(
    ("limit", "logs", "said"),
    [
        (
            "MOST_STATES",
            [episode((n, 0)) for n in range(60)],
            "a step can have 20 different states, step 1 has more",
        ),
        ("MOST_ACTIONS", [episode(("s", n)) for n in range(60)], "a state can have 20 different actions"),
        ("MOST_PAIRS", [episode((n, n % 4, (0, 1, 2, 3))) for n in range(60)], "can be 20, got 60 x 4"),
    ],
)
def test_more_than_a_layout_holds_is_refused_with_the_limit_and_a_remedy(monkeypatch, limit, logs, said):
    monkeypatch.setattr(survey_module, limit, 20)
    parts = survey_logs(logs[:30])
    parts.merge(survey_logs(logs[30:]))
    for survey in (survey_logs(logs), parts):
        with pytest.raises(LogError, match=said) as caught:
            survey.layout()
        assert "bin" in str(caught.value)
        assert "give a layout" in str(caught.value)


def test_a_survey_keeps_no_more_than_it_can_use(monkeypatch):
    monkeypatch.setattr(survey_module, "MOST_STATES", 20)
    monkeypatch.setattr(survey_module, "MOST_PHRASES", 10)
    logs = [episode((f"said {n}", 0)) for n in range(50)] + [episode((n, 0)) for n in range(50)]
    (step,) = survey_logs(logs).common.steps
    assert (len(step.actions), step.strings) == (21 + 11, 11)
    assert survey_logs(logs).text == ("state",)
