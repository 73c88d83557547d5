"""Saved agents and models with damaged bytes: refused, or the same as before."""

import pytest
from attack_subjects import AGENTS, MODELS, load_subject, resaved, subject_file
from byte_damage import DAMAGES
from campaign import changed, drawn

SUBJECTS = (*AGENTS, *MODELS)


def draw(chance):
    subject = SUBJECTS[chance.integers(len(SUBJECTS))]
    damage = list(DAMAGES)[chance.integers(len(DAMAGES))]
    return f"{subject}, {damage}", (subject, DAMAGES[damage](subject_file(subject), chance))


@pytest.mark.parametrize("name", SUBJECTS)
def test_control_what_is_whole_loads_and_saves_the_same_bytes(name, tmp_path):
    (tmp_path / "whole").write_bytes(subject_file(name))
    assert resaved(load_subject(name, tmp_path / "whole"), tmp_path / "again") == subject_file(name)


def test_checkpoints_with_damaged_bytes_are_refused_or_the_same(attack, tmp_path):
    def judge(given):
        name, content = given
        (tmp_path / "damaged").write_bytes(content)
        loaded = load_subject(name, tmp_path / "damaged")
        if resaved(loaded, tmp_path / "again") != subject_file(name):
            raise changed("it loads, and holds something else")

    attack("checkpoints, bits", drawn(2000, draw), judge)
