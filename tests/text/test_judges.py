"""The readers of feedback that learn nothing."""

import pytest

from tacit.text.judges import judge_kind_words, judge_told


@pytest.mark.parametrize(
    ("said", "reward"),
    [
        ("Perfect, thank you so much!", 1.0),
        ("What a mess.", 0.0),
        ("That is not right.", 0.0),
        ("Never mind.", 0.0),
        ("The train leaves at noon.", 0.5),
    ],
)
def test_the_universal_judge(said, reward):
    assert judge_kind_words(said) == reward


def test_the_oracle_takes_only_what_it_is_told():
    assert judge_told("reward 0") == 0.0
    with pytest.raises(ValueError, match="the oracle is told"):
        judge_told("well done")
