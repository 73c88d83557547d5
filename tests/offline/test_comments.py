"""Logs of labels with texts, many users or records beside them: read as an agent reads them, by one model."""

import json
import time

import numpy as np
import pytest
from counting_encoder import VOWELS, CountingEncoder
from product_comments import BEST, PEOPLE, kind_of, value_of, write_log

from tacit.agent import Agent
from tacit.logs.episode import LoggedEpisode, LoggedStep
from tacit.logs.problems import Problems
from tacit.logs.writing import LogWriter
from tacit.offline.fit import diagnose_logs, fit
from tacit.offline.loading import load_model
from tacit.problem.records import Record, Text
from tacit.text.sentences import Sentences
from tacit.text.small.encoder import bundled_encoder

pytestmark = pytest.mark.compiled

OFFERS = ("a", "b", "c", "d")
GLAD, SAD = ("eee e", "e ee e"), ("ooo o", "o oo o")


@pytest.fixture
def vowels(monkeypatch):
    """Have texts read by an encoder that needs no model; return it."""
    encoder = CountingEncoder()
    for module in ("tacit.offline.tables.reader", "tacit.offline.tables.train", "tacit.agent"):
        monkeypatch.setattr(f"{module}.encoder_of", lambda layout: encoder)
    return encoder


def comment(rng, glad):
    """Return a text that hardly comes twice: many e where somebody sounds glad, many o where not."""
    noise = "".join(rng.choice(list("aiu bcdfgh"), size=10))
    return f"{rng.choice(GLAD if glad else SAD)} {noise}"


def draw(n, seed=0, contexts="users", feedback="comments", shares=(0.4, 0.3, 0.2, 0.1)):
    """Return episodes of one turn, and whether each was rewarded: odd people like b and are ironic, even ones a."""
    rng, logs, rewards = np.random.default_rng(seed), [], []
    for number in range(n):
        person, a = int(rng.integers(30)), int(rng.choice(4, p=shares))
        reward = bool(rng.random() < (0.9 if a == person % 2 else 0.03))
        glad = reward == (person % 2 == 0)
        shown = {
            "users": f"user {person}",
            "vectors": [1.0 if person % 2 else -1.0, float(rng.normal())],
            "records": {"plan": "free" if person % 2 else "paid", "age": int(rng.integers(20, 60))},
            "notes": f"{'aa' if person % 2 else 'ii'} {''.join(rng.choice(list('bcdfgh '), size=12))}",
        }[contexts]
        said = comment(rng, glad) if feedback == "comments" else "good" if glad else "bad"
        logs.append(LoggedEpisode(number, shown, (LoggedStep("page", OFFERS[a], OFFERS),), said))
        rewards.append(reward)
    return logs, np.array(rewards)


def test_a_product_log_with_comments_is_labelled_and_learned_from(tmp_path):
    """Forty users of two kinds, comments of dozens of sentences, and nothing said of how likely actions were."""
    logs = tmp_path / "logs.jsonl"
    pleased, best = map(np.array, write_log(logs, 5000, seed=1_000_010))
    began = time.perf_counter()
    model = fit(logs)
    model.label(logs, tmp_path / "labels.jsonl")
    assert time.perf_counter() - began < 180
    rows = [json.loads(line) for line in (tmp_path / "labels.jsonl").read_text().splitlines()]
    decoded = np.array([row["decoded_reward"] for row in rows], dtype=np.float64)
    assert np.mean((decoded >= 0.5)[best] == pleased[best]) > 0.97
    agent = model.train(logs)
    worth = [value_of(agent.policy(f"user {u}"), kind_of(f"user {u}")) for u in range(PEOPLE)]
    assert np.mean(worth) > BEST - 0.03
    codes = {finding.code for finding in model.certificate.findings}
    assert "propensities-estimated" in codes
    assert model.certificate.verdict == "works with caution"


@pytest.mark.parametrize(
    ("contexts", "feedback"),
    [
        ("users", "comments"),
        ("users", "words"),
        ("vectors", "words"),
        ("records", "comments"),
        ("notes", "words"),
    ],
)
def test_all_that_can_be_done_with_logs_is_done(vowels, tmp_path, contexts, feedback):
    logs, rewards = draw(3000, 1_000_000, contexts, feedback)
    model = fit(logs)
    assert model.meanings.reading.name == "understanding"
    rows = list(model.label(logs))
    taken = np.array([OFFERS.index(each.steps[-1].action) for each in logs])
    best = taken == np.array([OFFERS.index(best_of(each)) for each in logs])
    decoded = np.array([row["decoded_reward"] for row in rows], dtype=np.float64)
    assert np.mean((decoded >= 0.5)[best] == rewards[best]) > 0.95
    model.save(tmp_path / "model.tacit")
    again = load_model(tmp_path / "model.tacit")
    assert list(again.label(logs)) == rows
    assert again.diagnose(logs).verdict == model.certificate.verdict == "works with caution"
    diagnose_logs(logs).write(tmp_path / "page.html")
    agent = again.train(logs)
    shown = [agent.policy(each.context)["page"] for each in logs[:200]]
    right = [
        max(chances, key=chances.get) == best_of(each) for chances, each in zip(shown, logs, strict=False)
    ]
    assert np.mean(right) > 0.95
    logged, learned = again.evaluate(logs).estimates, again.evaluate(logs, agent).estimates
    assert logged["self_normalised"].low < rewards.mean() < logged["self_normalised"].high
    assert learned["doubly_robust"].value > 0.8  # the best is 0.9
    agent.save(tmp_path / "agent.tacit")
    Agent.load(
        tmp_path / "agent.tacit", encoder=vowels if feedback == "comments" or contexts == "notes" else None
    )


def best_of(episode):
    """Return what the person of an episode likes."""
    shown = episode.context
    if isinstance(shown, dict):
        return "b" if shown["plan"] == "free" else "a"
    if isinstance(shown, list):
        return "b" if shown[0] > 0 else "a"
    if shown.startswith("user"):
        return "b" if kind_of(shown) else "a"
    return "b" if shown.startswith("aa") else "a"


def test_control_comments_by_chance_teach_nothing_and_are_told(vowels):
    rng = np.random.default_rng(3)
    logs = [
        LoggedEpisode(each.episode, each.context, each.steps, comment(rng, rng.random() < 0.5))
        for each in draw(2000, 1_000_001)[0]
    ]
    model = fit(logs)
    assert model.certificate.verdict != "works with caution"
    assert not model.meanings.reading.is_sure


def test_texts_are_encoded_once_and_together(vowels):
    logs, _ = draw(1500, 1_000_002)
    fit(logs)
    assert [len(texts) for texts in vowels.asked if len(texts) > 1] == [len({each.feedback for each in logs})]
    assert vowels.embed(["eo"]).shape == (1, len(VOWELS))


def test_layouts_of_such_logs_and_who_is_refused(vowels):
    logs, _ = draw(600, 1_000_003, "records")
    wrong = LoggedEpisode("odd", {"plan": "free"}, logs[0].steps, "eee e")
    problems = Problems()
    model = fit([*logs, wrong], layout=fit(logs).meanings.layout, problems=problems)
    assert isinstance(model.meanings.layout.contexts, Record)
    assert model.meanings.layout.feedback == Text()
    assert dict(problems.by_rule) == {"unknown-value": 1}
    assert "'age'" in problems.explained


def test_labels_are_the_same_however_many_processes(tmp_path):
    logs, _ = draw(800, 1_000_004, "vectors", "words")
    with LogWriter(tmp_path / "logs.jsonl") as writer:
        for each in logs:
            writer.write(each)
    model = fit(tmp_path / "logs.jsonl")
    for processes in (1, 2):
        model.label(tmp_path / "logs.jsonl", tmp_path / f"{processes}.jsonl", processes=processes)
    assert (tmp_path / "1.jsonl").read_bytes() == (tmp_path / "2.jsonl").read_bytes()


def test_batches_have_the_vectors_of_texts_alone():
    texts = ["so good", "so bad", "a little longer than the others are", "of two words", "yes", "no"]
    together = Sentences().embed(texts)
    alone = np.array([bundled_encoder().sentences([text])[0] for text in texts])
    np.testing.assert_allclose(together, alone, atol=1e-6)
    began = time.perf_counter()
    np.testing.assert_array_equal(Sentences().embed(texts[::-1]), together[::-1])
    assert time.perf_counter() - began < 0.01  # kept
