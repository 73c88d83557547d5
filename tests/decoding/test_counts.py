"""Counts by what was seen: the same numbers as whole arrays, to the last bit, in the memory of what was seen."""

import numpy as np
import pytest
from traced_memory import peak

from tacit.agent import Agent
from tacit.base.changes import commit
from tacit.base.checkpoint import CheckpointError
from tacit.decoding.counts import RunningCounts, SeenCounts, TupleCounts, count_tuples
from tacit.decoding.inverse_kinematics import fit_posterior
from tacit.decoding.judgement import JudgementSettings
from tacit.decoding.posterior import PosteriorSettings
from tacit.decoding.together import judge_all
from tacit.decoding.tuples import Tuples
from tacit.problem.layout import Layout

SHAPE = (3, 4, 5, 6)
LAYOUT = Layout.regular([1, 3], n_actions=6, n_contexts=4, n_feedback=4)  # and silence
HUGE = (900, 90, 90, 20)
WHOLE_ARRAY = 900 * 90 * 90 * 20 * 8


def draw(n, shape=SHAPE, seed=0):
    generator = np.random.default_rng(seed)
    return [generator.integers(size, size=n) for size in shape], 1 / (6 * generator.uniform(0.01, 1, n))


def add_whole(shape, at, weights):
    """Return (n, weight, square) as arrays over all cells, added one tuple at a time."""
    n, weight, square = np.zeros(shape), np.zeros(shape), np.zeros((*shape[:2], shape[3]))
    for s, x, y, a, w, squared in zip(*at, weights, weights**2, strict=True):
        n[s, x, y, a] += 1
        weight[s, x, y, a] += w
        square[s, x, a] += squared
    return n, weight, square


def dense(counts):
    whole = np.zeros(counts.shape)
    whole.ravel()[counts.cells] = counts.numbers
    return whole


def effective_whole(weight, square):
    by_action = weight.sum(axis=2)
    size = np.divide(by_action**2, square, out=np.zeros_like(by_action), where=square > 0)
    shares = weight / np.where(by_action > 0, by_action, 1.0)[:, :, None, :]
    return np.round(shares * size[:, :, None, :], 9)


@pytest.mark.parametrize("n", [0, 1, 30, 2000])
def test_sums_are_those_of_whole_arrays_to_the_last_bit(n):
    at, weights = draw(n)
    counts, half = TupleCounts.empty(SHAPE), n // 2
    counts.add(*(column[:half] for column in at), weights[:half])
    counts.add(*(column[half:] for column in at), weights[half:])
    whole, weight, square = add_whole(SHAPE, at, weights)
    np.testing.assert_array_equal(dense(counts.n), whole)
    np.testing.assert_array_equal(dense(counts.weight), weight)
    np.testing.assert_array_equal(dense(counts.square)[:, :, 0], square)
    np.testing.assert_array_equal(dense(counts.effective()), effective_whole(weight, square))
    total = weight[:, :, :-1].ravel().sum() + weight[:, :, -1].sum()  # words, then silence
    assert counts.weight.total == total
    assert counts.effective_size == (total**2 / square.sum() if n else 0.0)
    np.testing.assert_array_equal(counts.n.by_ending(), whole.sum(axis=(1, 2, 3)))
    np.testing.assert_array_equal(counts.n.by_action(), whole.sum(axis=(1, 2)))
    np.testing.assert_array_equal(dense(counts.n.over_values())[:, :, 0], whole.sum(axis=2))


def test_places_and_tables_are_those_of_whole_arrays():
    at, weights = draw(20)
    whole, _, _ = add_whole(SHAPE, at, weights)
    counts = SeenCounts.of_dense(whole)
    assert counts.places == [tuple(place) for place in np.argwhere(whole.sum(axis=(2, 3)) > 0).tolist()]
    assert [place for place, _ in counts.tables()] == counts.places
    for place, table in counts.tables():
        np.testing.assert_array_equal(table, whole[place])
        np.testing.assert_array_equal(counts.table(*place), whole[place])
    np.testing.assert_array_equal(counts.table(0, 0), whole[0, 0])
    np.testing.assert_array_equal(counts.tuples, [whole[place].sum() for place in counts.places])
    assert (SeenCounts.empty(SHAPE).places, list(SeenCounts.empty(SHAPE).tables())) == ([], [])


def test_merged_pieces_are_the_sum_of_their_arrays():
    (one, weights), (two, others) = draw(300, seed=1), draw(300, seed=2)
    parts = [TupleCounts.empty(SHAPE), TupleCounts.empty(SHAPE)]
    parts[0].add(*one, weights)
    parts[1].add(*two, others)
    both = parts[0] + parts[1]
    expected = [
        a + b for a, b in zip(add_whole(SHAPE, one, weights), add_whole(SHAPE, two, others), strict=True)
    ]
    np.testing.assert_array_equal(dense(both.n), expected[0])
    np.testing.assert_array_equal(dense(both.weight), expected[1])
    assert parts[0].n.total == 300  # unchanged


def test_one_at_a_time_is_many_at_once():
    at, _ = draw(500)
    running, counts = RunningCounts(SHAPE), TupleCounts.empty(SHAPE)
    for tuple_ in zip(*at, strict=True):
        commit(running.learn(*map(int, tuple_)))
    counts.add(*at, np.ones(500))
    np.testing.assert_array_equal(running.seen().cells, counts.n.cells)
    np.testing.assert_array_equal(running.seen().numbers, counts.n.numbers)
    np.testing.assert_array_equal(running.table(1, 2), counts.n.table(1, 2))
    assert [running.tuples(*place) for place in counts.n.places] == counts.n.tuples.tolist()
    again = RunningCounts(SHAPE, running.seen())
    for each in (running, again):
        changes = each.learn(0, 0, 0, 0)
        commit(changes)
        commit(changes)
    np.testing.assert_array_equal(again.seen().numbers, running.seen().numbers)
    assert running.seen().total == 501


def test_saved_counts_come_back_and_wrong_ones_are_refused():
    at, weights = draw(50)
    counts = TupleCounts.empty(SHAPE)
    counts.add(*at, weights)
    state = counts.weight.to_state()
    np.testing.assert_array_equal(dense(SeenCounts.from_state(LAYOUT, state)), dense(counts.weight))
    cells, numbers = state["cells"], state["numbers"]
    for wrong in (
        {"cells": cells[::-1], "numbers": numbers},
        {"cells": cells + 10**6, "numbers": numbers},
        {"cells": cells - 10**6, "numbers": numbers},
        {"cells": cells[:-1], "numbers": numbers},
        {"cells": cells.astype(float), "numbers": numbers},
        {"cells": cells, "numbers": numbers * np.nan},
        {"cells": cells, "numbers": -numbers},
        {"cells": cells, "numbers": numbers * np.inf},
        {"cells": [1], "numbers": [1.0]},
    ):
        with pytest.raises(CheckpointError, match="must be"):
            SeenCounts.from_state(LAYOUT, wrong)
    with pytest.raises(ValueError, match="fewer than"):
        SeenCounts.empty((2**20, 2**20, 2**20, 2**20))


def test_memory_follows_what_was_seen():
    """A whole array of these 146 million cells takes 1.2 GB."""
    layout = Layout.regular([1, 900], n_actions=20, n_contexts=90, n_feedback=90)
    (endings, groups, values, actions), weights = draw(3000, HUGE)

    def work():
        counts = TupleCounts.empty(HUGE)
        counts.add(endings, groups, values, actions, weights)
        effective = (counts + counts).effective()
        return effective, judge_all(layout, effective.rounded(), 0.0, JudgementSettings())

    (effective, judgements), most = peak(work)
    assert len(judgements) == len(effective.rounded().places) > 2500
    assert most < WHOLE_ARRAY / 50


@pytest.mark.parametrize("method", ["frequency", "structured"])
def test_posteriors_follow_what_was_seen(method):
    layout = Layout.regular([1, 900], n_actions=20, n_contexts=90, n_feedback=90)
    (endings, groups, values, actions), _ = draw(1000, HUGE)
    tuples = Tuples(groups, endings, actions, values)
    posterior, most = peak(lambda: fit_posterior(layout, tuples, PosteriorSettings(method)))
    assert most < WHOLE_ARRAY / 50
    assert posterior.predict(int(groups[0]), int(values[0]), int(endings[0])).sum() == pytest.approx(1)
    unseen = posterior.predict(int(groups[0]), int(values[0] + 1) % 90, int(endings[0]))
    assert unseen.tolist() == pytest.approx([1 / 20] * 20)
    assert count_tuples(layout, tuples).total == 1000


def test_an_agent_of_a_large_layout_holds_what_it_has_seen(tmp_path):
    """It plans with arrays over (context, layer, state, action) and the dynamics, but none over feedback."""
    layout = Layout.regular([1, 900], n_actions=4, n_contexts=90, n_feedback=90)
    agent, most = peak(lambda: Agent(layout, seed=1))
    assert most < 900 * 90 * 90 * 4 * 8  # one whole array of counts, of which there would be four
    for n in range(3):
        episode = agent.begin(n)
        agent.act(episode, 0)
        agent.act(episode, 5 + n)
        agent.end(episode, 7)
    agent.save(tmp_path / "agent.tacit")
    assert Agent.load(tmp_path / "agent.tacit").stage.places.counts.seen().total == 3
