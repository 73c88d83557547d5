"""Files that are whole and whose content is wrong: refused in words, or what loads plays, and stays finite."""

import collections
import os
import traceback
import warnings

import numpy as np
import pytest
from saved_trees import LAYERED, TALKS, check_finite, layered_agent, mutate, text_agent, try_agent
from shop_logs import draw_shop
from text_samples import HashingEncoder

from tacit.base.checkpoint import CheckpointError, load_tree, save_tree
from tacit.envs.drawn_logs import draw_logs
from tacit.envs.synthetic import synthetic_mdp
from tacit.offline.fit import fit
from tacit.offline.loading import load_model

MUTATIONS = int(os.environ.get("TACIT_MUTATIONS", "20"))
"""Of each saved thing; as many more as one likes for a long run."""
SEED = int(os.environ.get("TACIT_MUTATIONS_SEED", "0"))


def attack(path, kind, attempt):
    """Try a file with one thing wrong in it, many times; print how often it was refused and how often it played."""
    tree, outcomes, faults = load_tree(path, kind), collections.Counter(), []
    for number in range(MUTATIONS):
        changed, what = mutate(tree, np.random.default_rng([SEED, number]))
        save_tree(path, kind, changed)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)
                attempt()
            outcomes["plays"] += 1
        except CheckpointError:
            outcomes["refused"] += 1
        except Exception as error:
            if "cannot be decoded" in str(error):  # the settings' M asks for more candidates than are offered
                outcomes["refused when it acts"] += 1
            else:
                faults.append(f"{number}: {what}: {error!r}")
    print(f"{path.name}: {dict(outcomes)}, {len(faults)} faults", *faults, sep="\n")
    assert faults == []
    assert outcomes["refused"] > MUTATIONS / 3


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("name", [*LAYERED, *TALKS])
def test_an_agent_of_wrong_content_is_refused_or_plays(name, tmp_path):
    agent = layered_agent(name) if name in LAYERED else text_agent(name)
    path = tmp_path / f"{name}.tacit"
    agent.save(path)
    try_agent(path, tmp_path / "again")
    attack(path, "agent", lambda: try_agent(path, tmp_path / "again"))


@pytest.mark.parametrize("name", ["table", "text"])
def test_a_reward_model_of_wrong_content_is_refused_or_labels(name, tmp_path, monkeypatch):
    monkeypatch.setattr("tacit.text.small.model.bundled_encoder", HashingEncoder)
    monkeypatch.setenv("TACIT_CACHE", str(tmp_path / "encodings"))
    logs = list(draw_logs(synthetic_mdp(), 2000, seed=0)) if name == "table" else draw_shop(300)
    path = tmp_path / f"{name}.tacit"
    fit(logs).save(path)
    try_model(path, logs[:20], tmp_path / "again")
    attack(path, "reward model", lambda: try_model(path, logs[:20], tmp_path / "again"))


def try_model(path, logs, again):
    """Load a model, and have it do all that models do; whose words it does not know, it says so."""
    model = load_model(path)
    for row in model.label(logs):
        assert row["decoded_reward"] is None or 0 <= row["decoded_reward"] <= 1
        assert 0 <= row["confidence"] <= 1
    try:
        model.train(logs)
        model.evaluate(logs, "uniform")
        model.diagnose(logs)
    except ValueError as error:
        assert_clear(error)
    model.save(again)
    check_finite(load_tree(again, "reward model"))


def assert_clear(error):
    """Fail unless an error is one that Tacit raised itself, and not arithmetic that went wrong."""
    raised_in = traceback.extract_tb(error.__traceback__)[-1]
    assert "/tacit/" in raised_in.filename, error
    assert raised_in.line.startswith("raise"), error
