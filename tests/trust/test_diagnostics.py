"""Findings: raised where an assumption fails, silent where all is well, and honest about what they cannot know."""

import re
import time
import tracemalloc
import warnings
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from drawn_counts import draw_counts, everybody_spoke
from gymnasium.utils.env_checker import check_env
from learners import SMALL, SMALL_VECTORS, make_learner, source_for
from scipy.stats import binomtest

from tacit.agent import Agent
from tacit.decoding.decoder import DecoderSettings
from tacit.decoding.judgement import JudgementSettings, judge
from tacit.decoding.orientation import Beliefs
from tacit.envs.gym_adapter import GymSource
from tacit.envs.random_mdp import RandomMDPSettings, random_mdp
from tacit.envs.synthetic import synthetic, synthetic_mdp
from tacit.envs.unhealthy import SMALL_SIGMA, action_dependent, shuffled, small_sigma, tilt
from tacit.learning.fast import FIRST_CHECK
from tacit.learning.settings import Settings
from tacit.problem.layout import Layout
from tacit.simulate import Simulation
from tacit.trust.anchors import MINORITY, Anchor, coin_chance
from tacit.trust.diagnostics import diagnose
from tacit.trust.findings import Diagnosis, Finding, raised, verdict

RUNS = 100
MOST_HEALTHY, LEAST_UNHEALTHY = 5, 95
HEALTHY = [np.array([0.8, 0.2, 0.1, 0.1]), np.array([0.1, 0.85, 0.1, 0.0])]
UNHEALTHY = {
    "shuffled": partial(shuffled, synthetic_mdp()),
    "small sigma": small_sigma,
    "action dependent": lambda: action_dependent(random_mdp(1000).mdp),
}


def examine(layout, counts, *told, **more):
    return diagnose(layout, everybody_spoke(counts), *told, **more)


def layout_of(K, Y, states=("good", "bad"), contexts=1):
    names = (("start",), tuple(states))
    return Layout.regular([1, len(states)], K, n_contexts=contexts, n_feedback=Y, names=names)


def halves(Y):
    """Return Pr[y | r] (2, Y): the first half of the values is said when rewarded, unevenly."""
    weights = np.arange(1.0, Y + 1)
    said = np.arange(Y) < Y // 2
    return np.array([weights * ~said / weights[~said].sum(), weights * said / weights[said].sum()])


def healthy_counts(generator, Y=4, each=40):
    return np.array([[draw_counts(generator, f, halves(Y), [each] * 4)] for f in HEALTHY])


def codes(findings):
    """Return what needs attention, beside the belief that no data can test."""
    return {finding.code for finding in raised(findings)} - {MINORITY.code}


def count_raised(make_counts, layout, runs=RUNS):
    """Return how many of 100 simulated tables (or of so many) raise each code."""
    found = [
        code
        for seed in range(runs)
        for code in codes(examine(layout, make_counts(np.random.default_rng(seed))))
    ]
    return {code: found.count(code) for code in set(found)}


@pytest.mark.parametrize("Y", [2, 3, 4, 6])
def test_nothing_is_raised_where_all_is_well(Y):
    rates = count_raised(lambda generator: healthy_counts(generator, Y), layout_of(4, Y))
    assert sum(rates.values()) <= MOST_HEALTHY, rates


@pytest.mark.parametrize("Y", [2, 6])
def test_feedback_that_tells_nothing_is_noticed(Y):
    """Once even feedback of which a sixteenth tells would have shown; until then nothing is known."""

    def shuffled_counts(generator, each=320):
        said = halves(Y).mean(axis=0)
        return np.array([[generator.multinomial([each] * 4, said).T * 1.0] for _ in HEALTHY])

    assert count_raised(shuffled_counts, layout_of(4, Y))["feedback-tells-nothing"] >= LEAST_UNHEALTHY
    early = count_raised(partial(shuffled_counts, each=40), layout_of(4, Y))
    assert early["nothing-known-yet"] >= LEAST_UNHEALTHY
    assert "feedback-tells-nothing" not in early


def test_one_telling_state_among_many_is_enough():
    """Summed over twenty states that tell nothing it would drown; the largest standardised ratio keeps it."""

    def counts(generator):
        said = halves(6).mean(axis=0)
        noise = [generator.multinomial([40] * 4, said).T * 1.0 for _ in range(20)]
        return np.array([*noise, draw_counts(generator, HEALTHY[0], halves(6), [40] * 4)])[:, None]

    rates = count_raised(counts, layout_of(4, 6, states=[f"s{n}" for n in range(21)]), runs=40)
    assert rates.get("feedback-tells-nothing", 0) <= MOST_HEALTHY * 0.4


def test_few_tuples_are_not_taken_for_noise():
    layout, few = layout_of(4, 2), np.zeros((2, 1, 2, 4))
    few[0, 0, :, 0] = [2, 1]
    findings = examine(layout, few)
    assert codes(findings) == {"nothing-known-yet", "too-few-tuples", "contexts-too-rare"}
    assert verdict(findings) == "not known yet"
    nothing = examine(layout, np.zeros_like(few))
    assert (verdict(nothing), codes(nothing)) == ("not known yet", {"nothing-known-yet"})


def test_small_sigma_is_noticed():
    def counts(generator):
        return np.array([[draw_counts(generator, SMALL_SIGMA, halves(2), [60] * 5)]])

    assert count_raised(counts, layout_of(5, 2, ["good"]))["sigma-too-small"] >= LEAST_UNHEALTHY


def test_small_sigma_is_an_error_only_where_it_is_in_doubt_which_way_round():
    def found(f, *told, **more):
        counts = np.array([[np.outer([1.0, 0.0], f) + np.outer([0.0, 1.0], 1 - np.array(f))]]) * 1000
        counts = np.rint(counts)
        findings = examine(layout_of(5, 2, ["good"]), counts, *told, **more)
        return [(x.severity, x.where) for x in findings if x.code == "sigma-too-small"]

    assert found([0.6, 0.55, 0.5, 0.4, 0.4]) == [("error", "state 'good', context 0")]  # 2.45 of 5 please
    assert found([0.7, 0.7, 0.3, 0.3, 0.3]) == [("caution", "state 'good', context 0")]  # sigma = 0.82
    assert found([0.8, 0.8, 0.2, 0.2, 0.1]) == [("caution", "state 'good', context 0")]  # sigma = 1.1
    assert found([0.9, 0.5, 0.2, 0.2, 0.1]) == []  # sigma = 1.47

    doubtful, caution = [0.6, 0.55, 0.5, 0.4, 0.4], [("caution", "state 'good', context 0")]
    assert found(doubtful, beliefs=Beliefs(overlapping=frozenset({0}))) == caution  # f is not known then
    known = [Anchor(0, 1, y, 1 - y) for y in (0, 1)] * 6
    assert found(doubtful, anchors=known) == caution
    assert found(doubtful, anchors=known[:2])[0][0] == "error"  # two outcomes are no evidence


@pytest.mark.parametrize("Y", [4, 6])
def test_feedback_that_depends_on_the_action_is_noticed(Y):
    by_action = tilt(halves(Y)[None, None], 4, 0.5)[0, 0]  # (2, K, Y)

    def counts(generator):
        chances = [f[:, None] * by_action[1] + (1 - f[:, None]) * by_action[0] for f in HEALTHY]
        return np.array([[generator.multinomial([40] * 4, each).T * 1.0] for each in chances])

    rates = count_raised(counts, layout_of(4, Y))
    assert rates["feedback-depends-on-action"] >= LEAST_UNHEALTHY


@pytest.mark.parametrize("each", [[300] * 4, [20, 20, 3000, 20]])
def test_what_names_the_action_is_an_error_however_often_one_of_them_was_taken(each):
    """Every action has a word of its own, said seven times in ten: the outcome is not in it at all."""
    said = 0.05 + 0.7 * np.eye(4, 6)
    generator = np.random.default_rng(3)
    counts = np.array([[generator.multinomial(each, said / said.sum(axis=1, keepdims=True)).T * 1.0] * 1] * 2)
    named = [f for f in examine(layout_of(4, 6), counts) if f.code == "feedback-depends-on-action"]
    assert [finding.severity for finding in named] == ["error"]


@pytest.mark.parametrize(("c", "said"), [(0.0, True), (0.9, False)])
def test_outcomes_that_contradict_what_a_plain_state_is_worth_are_said(c, said):
    generator = np.random.default_rng(0)
    counts = healthy_counts(generator, 2)
    counts[1, 0] = draw_counts(generator, np.full(4, 0.9), halves(2), [100] * 4)
    known = [Anchor(0, 2, 0, 1)] * 9
    findings = examine(layout_of(4, 2), counts, DecoderSettings(c=c), anchors=known)
    assert ("c-contradicted" in codes(findings)) == said


def test_with_two_feedback_values_action_dependence_is_said_to_be_untestable():
    findings = examine(layout_of(4, 2), healthy_counts(np.random.default_rng(0), 2))
    assert "action-dependence-untestable" in {finding.code for finding in findings}
    assert verdict(findings) == "works with caution"


@pytest.mark.parametrize(
    ("decoder", "wrong"),
    [
        (DecoderSettings(theta=0.99, M=1.2), ["theta = 0.99"]),
        (DecoderSettings(theta=0.5, M=0.8), ["M = 0.8"]),
        (DecoderSettings(theta=0.8, M=1.2), []),
        (DecoderSettings(theta=0.3, M=1.9), []),  # wrong, but on the safe side
        (DecoderSettings(), []),
    ],
)
def test_supplied_constants_are_held_against_the_tuples(decoder, wrong):
    counts = healthy_counts(np.random.default_rng(0), each=400)
    findings = raised(examine(layout_of(4, 4), counts, decoder))
    findings = [finding for finding in findings if finding != MINORITY]
    assert [f.code for f in findings] == ["constants-disagree"] * len(wrong)
    assert all(text in finding.evidence for text, finding in zip(wrong, findings, strict=True))


def test_unsettled_states_say_how_much_more_they_need():
    counts = healthy_counts(np.random.default_rng(0))
    counts[1] = 0
    counts[1, 0, 0] = 3  # 12 tuples of 160 + 12
    found = {f.code: f for f in examine(layout_of(4, 4), counts)}["too-few-tuples"]
    assert (found.severity, found.where) == ("caution", "state 'bad', context 0")
    assert "about 80 more tuples" in found.evidence  # 23 of each of 4 actions, 92 together
    assert "1,150 more episodes" in found.remedy  # 80 x 172 / 12
    for each, codes_there in (
        (40, {"too-few-tuples"}),
        (48, set()),
    ):  # twice as many: feedback tells about half here
        counts[1, 0, 0] = each
        assert codes(examine(layout_of(4, 4), counts)) == codes_there
    counts[1, 0, 0] = 3
    counts[0] *= 100
    found = {f.code: f for f in examine(layout_of(4, 4), counts)}
    assert found["too-few-tuples"].severity == "info"  # fewer episodes end there than are worth exploring for
    assert found["rarely-reached"].where == "state 'bad'"


def test_visits_count_episodes_without_feedback():
    counts = healthy_counts(np.random.default_rng(0))
    found = {f.code: f for f in examine(layout_of(4, 4), counts, visits=np.array([10_000, 5]))}
    assert "5 of 10,005 episodes" in found["rarely-reached"].evidence


ANCHORS = [Anchor(0, 1, y, int(y < 2)) for y in (0, 1, 2, 3, 0, 1)]
"""Known outcomes in the state 'good', in which values 0 and 1 are said when rewarded."""


def contradict(anchors):
    return [replace(anchor, reward=1 - anchor.reward) for anchor in anchors]


@pytest.mark.parametrize(
    ("anchors", "code", "seen"),
    [
        ([], None, "works with caution"),
        (ANCHORS, "anchors-agree", "works"),
        (contradict(ANCHORS), "decoded-upside-down", "cannot work"),
        (ANCHORS[:4], "anchors-undecided", "works with caution"),
        (ANCHORS[:3] + contradict(ANCHORS[3:]), "anchors-undecided", "works with caution"),
    ],
)
def test_anchors_settle_what_no_data_can(anchors, code, seen):
    counts = healthy_counts(np.random.default_rng(0))
    findings = examine(layout_of(4, 4), counts, anchors=anchors)
    found = {finding.code for finding in findings}
    assert ("minority-assumed" in found) == (code != "anchors-agree")
    assert found & {"anchors-agree", "anchors-undecided", "decoded-upside-down"} == (
        {code} if code else set()
    )
    assert verdict(findings) == seen


def test_one_state_that_is_upside_down_is_found_among_others():
    elsewhere = [Anchor(0, 2, y, int(y >= 2)) for y in (0, 1, 2, 3, 0, 1)]  # wrong in the state 'bad'
    counts = healthy_counts(np.random.default_rng(0))
    findings = examine(layout_of(4, 4), counts, anchors=ANCHORS * 3 + elsewhere)
    assert [(f.code, f.where) for f in raised(findings) if f != MINORITY] == [
        ("decoded-upside-down", "state 'bad', context 0")
    ]


@pytest.mark.parametrize(
    ("anchor", "rule"),
    [
        (Anchor(7, 1, 0, 1), "context must be one of"),
        (Anchor(0, 9, 0, 1), "an episode ends in one of 1, 2, got 9; give the last state"),
        (Anchor(0, 0, 0, 1), "give the last state"),
        (Anchor(0, 1, 9, 1), "feedback must be one of"),
    ],
)
def test_bad_anchors_are_refused(anchor, rule):
    with pytest.raises(ValueError, match=rule):
        examine(layout_of(4, 4), healthy_counts(np.random.default_rng(0)), anchors=[anchor])


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        (lambda counts: counts[:1], "shape"),
        (lambda counts: counts / 3, "whole numbers"),
        (lambda counts: -counts, "whole numbers"),
        (lambda counts: counts * np.nan, "whole numbers"),
    ],
)
def test_bad_counts_are_refused(change, rule):
    with pytest.raises(ValueError, match=rule):
        examine(layout_of(4, 4), change(healthy_counts(np.random.default_rng(0))))


def test_vectors_are_refused_with_a_remedy():
    layout = random_mdp(0, RandomMDPSettings(vectors=2)).layout
    with pytest.raises(ValueError, match="needs finite contexts"):
        examine(layout, np.zeros((4, 2, 4, 4)))


def test_a_diagnosis_changes_nothing_and_repeats():
    counts = healthy_counts(np.random.default_rng(0))
    before = counts.copy()
    first = examine(layout_of(4, 4), counts)
    assert examine(layout_of(4, 4), counts) == first
    np.testing.assert_array_equal(counts, before)


def test_findings_come_worst_first_and_read_as_sentences():
    counts = healthy_counts(np.random.default_rng(0))
    counts[1, 0] = [[3] * 4, *[[0] * 4] * 3]
    findings = examine(layout_of(4, 4), counts, DecoderSettings(theta=1.0, M=1.2))
    order = [finding.severity for finding in findings]
    assert order == sorted(order, key=("error", "unknown", "caution", "info").index)
    for finding in findings:
        assert finding.evidence.endswith(".")
        assert finding.remedy.endswith(".")
        assert str(finding).startswith(finding.code)


@pytest.mark.compiled
def test_a_large_problem_is_diagnosed_in_bounded_time_and_memory():
    """20 states, 200 contexts, 50 words, 5 actions: 1.5 seconds and 10 MB, of which 5 and 50 are allowed."""
    generator, (S, X, Y, K) = np.random.default_rng(0), (20, 200, 50, 5)
    layout = Layout.regular([1, S], K, n_contexts=X, n_feedback=Y)
    f = np.full(K, 0.1)
    f[1] = 0.9
    drawn = [draw_counts(generator, f, halves(Y), [40] * K) for _ in range(20)]
    judged = [judge(np.pad(counts, ((0, 1), (0, 0))), 0.0, JudgementSettings()) for counts in drawn]
    counts = everybody_spoke(np.array([drawn[n % 20] for n in range(S * X)]).reshape(S, X, Y, K))
    judgements = {place: judged[n % 20] for n, place in enumerate(counts.places)}
    diagnose(layout, counts, judgements=judgements)  # loads compiled code
    tracemalloc.start()
    begun = time.thread_time()
    findings = diagnose(layout, counts, judgements=judgements)
    seconds, (_, peak) = time.thread_time() - begun, tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert (verdict(findings), codes(findings)) == ("works with caution", set())
    assert seconds < 5 * 2  # what it allocates is traced, which takes its time
    assert peak < 50e6


def test_verdicts():
    def some(*severities):
        return [Finding("x", severity, "", "", "") for severity in severities]

    assert verdict([]) == verdict(some("info")) == "works"
    assert verdict(some("info", "caution")) == "works with caution"
    assert verdict(some("unknown", "caution")) == "not known yet"
    assert verdict(some("error", "unknown", "caution")) == "cannot work"


def test_what_works_rests_on_is_said_with_numbers():
    basis = Diagnosis(examine(layout_of(4, 4), healthy_counts(np.random.default_rng(0)))).basis
    assert "in 2 of 2 states and contexts" in basis
    assert re.search(r"100% of the episodes ended.* pleases \d+% more .* with \d\d%", basis)
    assert Diagnosis(examine(layout_of(4, 4), np.zeros((2, 1, 4, 4)))).basis == ""


def test_coin_chance_is_the_exact_binomial_test():
    answers = [True] * 7 + [False] * 2
    for value, n in ((True, 7), (False, 2)):
        assert coin_chance(answers, value) == pytest.approx(binomtest(n, 9, alternative="greater").pvalue)


@pytest.mark.parametrize("name", UNHEALTHY)
def test_gymnasium_accepts_unhealthy_problems(name):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(UNHEALTHY[name](), skip_render_check=True)


def test_unhealthy_problems_are_what_they_say():
    f = small_sigma().mdp.rewards[0, 0]
    assert f.sum() < len(f) / 2
    assert f.max() * (len(f) - f.sum()) / f.sum() <= 1
    blurred = shuffled(synthetic_mdp()).mdp.feedback_probabilities
    np.testing.assert_array_equal(blurred[:, :, 0], blurred[:, :, 1])
    by_action = tilt(random_mdp(1000).mdp.feedback_probabilities, 4, 0.5)
    np.testing.assert_allclose(by_action.sum(axis=-1), 1)
    assert np.ptp(by_action, axis=3).max() >= 0.5
    assert (by_action[:, :, 0] * by_action[:, :, 1]).max() == 0  # the reward can still be read off


def test_action_dependence_needs_values_to_choose_from():
    with pytest.raises(ValueError, match="at least two feedback values"):
        action_dependent(synthetic_mdp())
    with pytest.raises(ValueError, match="strength"):
        action_dependent(random_mdp(1000).mdp, strength=0)


def run(env, episodes, seed=0, agent=None):
    agent = agent or Agent(env.layout, seed=seed)
    Simulation(agent, GymSource(env), seed + 1000, env.mdp).run(episodes)
    return agent


@pytest.mark.compiled
@pytest.mark.parametrize(
    ("name", "code", "episodes"),
    [
        ("shuffled", "nothing-known-yet", 1000),
        ("shuffled", "feedback-tells-nothing", 10_000),
        ("small sigma", "sigma-too-small", 3000),
        ("action dependent", "feedback-depends-on-action", 3000),
    ],
)
@pytest.mark.filterwarnings("ignore:feedback-tells-nothing")
def test_agents_find_what_is_wrong(name, code, episodes):
    for seed in range(3):
        assert code in codes(run(UNHEALTHY[name](), episodes, seed).diagnose().findings)


@pytest.mark.compiled
def test_healthy_agents_raise_nothing():
    """The control: the same agents on the problems that were not broken. No warning either: it would be an error.

    Where nothing can be earned agents hardly look, so that it takes them longer to say that nothing is open there.
    """
    for seed in range(5):
        assert codes(run(synthetic("balanced"), 3000, seed).diagnose().findings) == set()
        env = random_mdp(1000)
        agent = Agent(env.layout, seed=seed)
        simulation = Simulation(agent, GymSource(env), seed + 1000, env.mdp)
        simulation.run(3000)
        found = agent.diagnose()
        assert found.verdict == "works with caution"
        assert codes(found.findings) <= {"too-few-tuples", "orientation-in-doubt"}
        simulation.run(7000)
        assert codes(agent.diagnose().findings) == set()


def hear(agent, words):
    """Let an agent of one state hear words (n, K), one an episode, whichever its action brings."""
    for each in words:
        episode = agent.begin(0)
        agent.end(episode, int(each[agent.act(episode, 0)]))
    return agent


def draw_noise(episodes):
    return np.random.default_rng(0).integers(2, size=(episodes, 1)).repeat(2, axis=1)


def new_listener():
    return Agent(Layout.regular([1], n_actions=2, n_contexts=1, n_feedback=2), seed=1)


@pytest.mark.compiled
def test_noise_is_warned_of_once():
    with pytest.warns(UserWarning, match="feedback-tells-nothing.*Check that feedback") as caught:
        hear(new_listener(), draw_noise(10 * FIRST_CHECK))
    assert len(caught) == 1


@pytest.mark.compiled
def test_a_warning_is_taken_back_when_feedback_tells_after_all():
    """Once, and that feedback changed is said first: it did."""
    agent = new_listener()
    with pytest.warns(UserWarning, match="feedback-tells-nothing"):
        hear(agent, draw_noise(FIRST_CHECK))
    assert agent.diagnose().verdict == "cannot work"
    telling = np.random.default_rng(1).random((2 * FIRST_CHECK, 1)) < [0.95, 0.05]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        hear(agent, telling)
    changed, taken_back = [str(warning.message) for warning in caught]
    assert changed.startswith("drift: feedback in state '0', context 0 changed after about episode 5")
    assert taken_back.startswith("feedback-tells-nothing is taken back")
    assert "feedback-tells-nothing" not in codes(agent.diagnose().findings)


@pytest.mark.compiled
def test_the_check_survives_saving(tmp_path):
    """Saved just before, the agent checks when loaded; saved after, it does not warn again."""
    noise = draw_noise(4 * FIRST_CHECK)
    agent = hear(new_listener(), noise[: FIRST_CHECK - 1])
    agent.save(tmp_path / "before")
    with pytest.warns(UserWarning, match="feedback-tells-nothing"):
        hear(agent, noise[FIRST_CHECK - 1 : FIRST_CHECK])
    agent.save(tmp_path / "after")
    loaded = Agent.load(tmp_path / "before")
    with pytest.warns(UserWarning, match="feedback-tells-nothing"):
        hear(loaded, noise[FIRST_CHECK - 1 : FIRST_CHECK])
    loaded.save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "after").read_bytes()
    hear(Agent.load(tmp_path / "after"), noise[FIRST_CHECK:])


def played(name, kind, settings, episodes):
    source = source_for(kind)
    agent = make_learner(name, source.layout, settings)(0)
    Simulation(agent, source, 0).run(episodes)
    return agent


@pytest.mark.filterwarnings("ignore:.*is left out", "ignore:.*plays uniformly")
def test_the_papers_agents_say_what_they_cannot_know():
    """Homing keeps nothing, collection its tuples, policy learning a decoder without tuples."""
    found = {}
    for episodes in (2, 10, 15, 20, 60):
        agent = played("tacit", "synthetic", SMALL, episodes)
        found.setdefault(agent.stage.name, set()).update(f.code for f in agent.diagnose().findings)
    assert found["homing"] == {"counts-not-kept", "minority-assumed"}
    assert "too-few-tuples" in found["collection"]
    assert "counts-not-kept" in found["policy learning"]


@pytest.mark.filterwarnings("ignore:.*is left out", "ignore:.*plays uniformly")
def test_an_agent_on_vectors_says_what_it_cannot_know():
    for episodes in (2, 60):
        agent = played("tacit", "vectors", SMALL_VECTORS, episodes)
        assert "counts-not-kept" in {finding.code for finding in agent.diagnose().findings}


@pytest.mark.compiled
def test_anchors_are_taken_by_both_recipes():
    """In context 1 of the synthetic problem feedback 0 means reward; state 3 is the last good one."""
    anchors = [
        Anchor(0, 3, 1, 1),
        Anchor(1, 3, 0, 1),
        Anchor(0, 3, 0, 0),
        Anchor(1, 3, 1, 0),
        Anchor(0, 3, 1, 1),
    ]
    patient = replace(
        SMALL,
        homing=replace(SMALL.homing, episodes=500),
        collection=replace(SMALL.collection, tuples=500),
    )
    env = synthetic("balanced")
    for settings in (Settings(), patient):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            agent = run(env, 4000, agent=Agent(env.layout, settings))
        assert "anchors-agree" in {finding.code for finding in agent.diagnose(anchors).findings}
        assert "decoded-upside-down" in codes(agent.diagnose(contradict(anchors)).findings)


@pytest.mark.parametrize("reward", [2, -1, 0.5, float("nan"), "1", None])
def test_a_known_outcome_is_0_or_1_when_it_is_made(reward):
    with pytest.raises(ValueError, match="reward must be 0 or 1, got"):
        Anchor(0, 1, 0, reward)


def test_an_action_that_nobody_takes_is_said_and_no_number_of_episodes_is_promised():
    """More tuples of the other actions would settle nothing, however many; the control lacks tuples alone."""
    counts = healthy_counts(np.random.default_rng(0), each=300)
    counts[..., 3] = 0
    found = {finding.code: finding for finding in examine(layout_of(4, 4), counts)}
    assert "too-few-tuples" not in found
    assert "no place can be judged before all its actions were tried" in found["actions-never-tried"].evidence
    assert "too few" not in found["nothing-known-yet"].evidence
    few = healthy_counts(np.random.default_rng(0), each=2)
    found = {finding.code for finding in examine(layout_of(4, 4), few)}
    assert "too-few-tuples" in found
    assert "actions-never-tried" not in found
