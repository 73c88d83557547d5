import numpy as np
import pytest
from interrupting import interrupted

from tacit.base.randomness import BLOCK, EpisodeDraws, check_seed, draw_index


def test_a_row_follows_from_seed_and_episode_alone():
    draws = EpisodeDraws(11, 4)
    wanted = [0, BLOCK, 3, 10**12, BLOCK - 1, 0]
    rows = [draws.row(n).copy() for n in wanted]
    for n, row in zip(wanted, rows, strict=True):
        np.testing.assert_array_equal(EpisodeDraws(11, 4).row(n), row)
    assert len({row.tobytes() for row in rows}) == len(set(wanted))


def test_seeds_differ():
    assert not np.array_equal(EpisodeDraws(1, 4).row(0), EpisodeDraws(2, 4).row(0))


def test_rows_are_uniform_and_independent():
    draws = EpisodeDraws(0, 3)
    rows = np.array([draws.row(n) for n in range(20_000)])
    assert np.abs(rows.mean(axis=0) - 0.5).max() < 0.01
    assert np.abs(np.corrcoef(rows.T) - np.eye(3)).max() < 0.03
    assert np.abs(np.corrcoef(rows[:-1, 0], rows[1:, 0])[0, 1]) < 0.03


def test_a_generator_is_another_stream():
    draws = EpisodeDraws(0, 3)
    assert draws.generator(5).random() == draws.generator(5).random()
    assert draws.generator(0).random() != draws.row(0)[0]


def test_rows_cannot_be_changed():
    with pytest.raises(ValueError, match="read-only"):
        EpisodeDraws(0, 3).row(0)[0] = 1.0


@pytest.mark.parametrize("seed", [-1, 2**63, 1.5, "1", True, None])
def test_what_is_no_seed_is_refused(seed):
    with pytest.raises(ValueError, match="a seed must be"):
        check_seed(seed)


def test_draw_index_passes_through_the_running_sum():
    p = np.array([0.0, 0.25, 0.0, 0.75, 0.0])
    assert [draw_index(p, u) for u in (0.0, 0.2499, 0.25, 0.99)] == [1, 1, 3, 3]


def test_draw_index_never_picks_what_cannot_happen():
    rounded = np.array([0.1, 0.2, 0.0]) / 0.3 * (1 - 1e-12)
    assert draw_index(rounded, 1 - 1e-16) == 1


def test_a_block_whose_drawing_is_interrupted_is_drawn_again():
    expected = [EpisodeDraws(1, 2).row(episode).tolist() for episode in (0, BLOCK)]
    for at in range(1, 12):
        draws = EpisodeDraws(1, 2)
        assert interrupted(lambda draws=draws: (draws.row(0), draws.row(BLOCK)), at)
        assert [draws.row(episode).tolist() for episode in (0, BLOCK)] == expected
