import numpy as np
import pytest

from tacit.agent import Agent
from tacit.baselines.feedback_as_reward import FeedbackAsReward
from tacit.baselines.last_step_igl import LastStepExploration
from tacit.decoding.common_meaning import find_common_meaning, read_by
from tacit.decoding.decoder import DecoderSettings
from tacit.decoding.judgement import JudgementSettings, judge
from tacit.decoding.judgement import turn as turn_place
from tacit.learning.settings import Settings
from tacit.learning.stage import Setup
from tacit.problem.layout import Layout
from tacit.problem.spaces import Finite

BEST = 0.9
ASK, GOOD, BAD, WORSE = range(4)


def desk(ends="anywhere"):
    """Return a desk of three turns with one label at each: asking goes on, an answer ends."""
    return Layout(
        (("desk",),) * 3, (((ASK, GOOD, BAD, WORSE),),) * 3, Finite((0,)), Finite(("no", "yes")), ends=ends
    )


def serve(agent, generator, shuffled=False):
    """Play an episode at the desk: the good answer pleases, best at the second turn; return its chance to please."""
    episode = agent.begin(0)
    for turn in (1, 2, 3):
        action = agent.act(episode, "desk", step=turn)
        if action != ASK or turn == 3:
            break
    chance = BEST - 0.3 * abs(turn - 2) if action == GOOD else 0.05
    pleased = generator.random() < (0.3 if shuffled else chance)
    agent.end(episode, "yes" if pleased else "no")
    return chance


def earned(agent, episodes, shuffled=False):
    generator = np.random.default_rng(5)
    return np.mean([serve(agent, generator, shuffled) for _ in range(episodes)][-episodes // 4 :])


def test_the_fast_recipe_learns_when_to_end():
    """0.88 of 0.9 after 1,500 episodes; an answer at once is worth 0.6, uniform play less than 0.2."""
    assert earned(Agent(desk(), seed=1), 1500) > 0.8


def test_control_feedback_that_tells_nothing_teaches_nothing():
    agent = Agent(desk(), seed=1)
    with pytest.warns(UserWarning, match="feedback-tells-nothing"):
        assert earned(agent, 1500, shuffled=True) < 0.6
    assert agent.diagnose().verdict in ("not known yet", "cannot work")


def test_an_ending_that_was_seldom_heard_may_be_better_than_it_seems():
    """One action alone ends there, so that words are read as elsewhere; what was unlucky is looked at again."""
    phi, settings = np.array([1.0, 0.0]), JudgementSettings()
    tables = [np.array([[0.7 * n], [0.3 * n]]) for n in (20.0, 2000.0)]
    seldom, often = (read_by(phi, judge(table, 0.0, settings), table, 0.0) for table in tables)
    assert seldom.best == often.best == pytest.approx(0.7)
    assert seldom.settled
    assert seldom.hope > 0.88
    assert often.hope < 0.73


def endings_of(generator, pairs):
    """Return judged endings of one action each: pleasing, or not, by turns, said with the pair (2, Y) of each."""
    tables = []
    for n, pair in enumerate(pairs):
        f = 0.9 if n % 2 else 0.1
        tables.append(generator.multinomial(200, f * pair[1] + (1 - f) * pair[0])[:, None].astype(np.float64))
    return [(judge(table, 0.0, JudgementSettings()), table) for table in tables]


def test_one_good_end_among_many_bad_ones_stands_out_and_known_outcomes_turn_it():
    """Nine of twelve tuples are good in one ending of one action, one of twenty in each of twenty others."""
    settings = JudgementSettings()
    tables = [np.array([[1.0], [19.0]])] * 20 + [np.array([[9.0], [3.0]])]
    endings = [(judge(table, 0.0, settings), table) for table in tables]
    assert find_common_meaning(endings, settings).tolist() == [1.0, 0.0]
    assert find_common_meaning(endings[:-1], settings) is None, "where none stands out there is none"
    known = np.array([[3.0, 0.0], [0.0, 0.0]])  # three who said the first word were not pleased
    assert find_common_meaning(endings, settings, known).tolist() == [0.0, 1.0]


def test_an_end_with_one_action_is_not_written_off_before_it_could_have_shown():
    few, many = (np.array([[0.0], [n]]) for n in (6.0, 60.0))
    settings = JudgementSettings()
    seldom, often = (read_by(None, judge(table, 0.0, settings), table, 0.0) for table in (few, many))
    assert (seldom.settled, seldom.hope) == (False, 1.0)
    assert often.settled
    assert often.hope == pytest.approx(0.2)


@pytest.mark.parametrize(("odds", "believed"), [(-1.5, False), (-4.0, True)])
def test_an_ending_that_may_be_the_other_way_round_does_not_turn_what_words_mean_elsewhere(odds, believed):
    """Three actions of four lead to the same good end, so that the one that fails stands out; seven ends are bad."""
    settings = JudgementSettings()
    tables = [np.array([[1.0], [99.0]])] * 7 + [np.array([[99.0], [1.0]])]
    endings = [(judge(table, 0.0, settings), table) for table in tables]
    doubtful = np.array([[1.0, 100.0, 105.0, 95.0], [299.0, 200.0, 195.0, 205.0]])
    endings.append((turn_place(judge(doubtful, 0.0, settings), odds, True, settings), doubtful))
    phi = find_common_meaning(endings, settings)
    assert phi is not None
    assert phi.tolist() == ([0.0, 1.0] if believed else [1.0, 0.0])


def test_words_are_read_in_common_only_where_they_mean_the_same_everywhere():
    generator = np.random.default_rng(2)
    pair = np.array([[0.6, 0.4, 0.0, 0.0], [0.0, 0.0, 0.5, 0.5]])
    alike = find_common_meaning(endings_of(generator, [pair] * 6), JudgementSettings())
    assert alike is not None
    assert alike.tolist() in ([0, 0, 1, 1], [1, 1, 0, 0])
    own = [pair[:, generator.permutation(4)] for _ in range(6)]
    assert find_common_meaning(endings_of(generator, own), JudgementSettings()) is None


def test_a_believer_of_feedback_learns_when_to_end():
    layout = desk()
    agent = Agent(layout, seed=1, stage=FeedbackAsReward(Setup(layout, Settings())))
    assert earned(agent, 3000) > 0.6


def test_saved_and_loaded_it_goes_on_as_it_would_have(tmp_path):
    agent, generator = Agent(desk(), seed=2), np.random.default_rng(3)
    for _ in range(400):
        serve(agent, generator)
    agent.save(tmp_path / "agent.tacit")
    other = Agent.load(tmp_path / "agent.tacit")
    twin = np.random.default_rng(4)
    apart = [
        serve(agent, np.random.default_rng(n)) == serve(other, np.random.default_rng(n)) for n in range(100)
    ]
    assert all(apart)
    assert agent.policy(0) == other.policy(0)
    assert serve(agent, twin) == serve(other, np.random.default_rng(4))


def test_an_early_end_counts_and_an_abandoned_episode_does_not():
    agent = Agent(desk(), seed=1)
    for close in (lambda e: agent.end(e, "no"), agent.abandon):
        episode = agent.begin(0)
        agent.act(episode, "desk")
        close(episode)
    assert agent.stage.dynamics.counts(0)[0, 0, :, 1].sum() == 1
    assert agent.stage.episodes == 1


def test_it_cannot_end_where_the_layout_does_not_say_so():
    agent = Agent(desk(ends=((), ("desk",), ())), seed=1)
    episode = agent.begin(0)
    agent.act(episode, "desk")
    with pytest.raises(ValueError, match=r"'desk' is none in which one can end.*`ends`"):
        agent.end(episode, "no")
    agent.act(episode, "desk")
    agent.end(episode, "no")
    assert not episode.open


def test_a_repeated_label_is_the_next_step_unless_the_step_is_said():
    agent = Agent(desk(), seed=1)
    episode = agent.begin(0)
    first = agent.act(episode, "desk", step=1)
    assert agent.act(episode, "desk", step=1) == first
    assert len(episode.actions) == 1
    second = agent.act(episode, "desk")
    assert len(episode.actions) == 2
    assert agent.act(episode, "desk", step=2) == second
    with pytest.raises(ValueError, match="step 3 needs a state of layer 3"):
        agent.act(episode, "desk", step=1)
    with pytest.raises(ValueError, match="step must be at most 3, got 4"):
        agent.act(episode, "desk", step=4)


def test_who_needs_whole_episodes_says_so_at_once():
    paper = Settings(DecoderSettings(theta=0.9, M=1.3), recipe="paper")
    with pytest.raises(ValueError, match="use the fast recipe"):
        Agent(desk(), paper)
    with pytest.raises(ValueError, match="use the fast recipe"):
        LastStepExploration(Setup(desk(), paper))


def test_the_policy_names_steps_of_a_repeated_label():
    assert list(Agent(desk()).policy(0)) == ["desk (step 1)", "desk (step 2)", "desk (step 3)"]
