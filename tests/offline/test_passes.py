"""The one pass over logs: every command tells of every episode once, and keeps what is wrong as it stood."""

import json
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from shop_logs import draw_shop
from text_samples import HashingEncoder

import tacit
from tacit.envs.drawn_logs import draw_logs
from tacit.envs.synthetic import synthetic_mdp
from tacit.logs import lines, pieces, reading
from tacit.logs.problems import Problems
from tacit.logs.reading import LogSource
from tacit.logs.record import Fault, LogError
from tacit.logs.survey import Survey, survey_logs
from tacit.logs.writing import LogWriter
from tacit.offline.fit import make_survey
from tacit.offline.label import LabelSummary
from tacit.offline.passes import deal_pieces, read_through
from tacit.offline.tables.gathering import Gathered, Gatherer, gather
from tacit.offline.tables.meanings import TableMeanings

SOUND, BAD = 617, 3
COMMANDS = {
    "fit": lambda model, logs, told, folder: tacit.fit(logs, **told),
    "diagnose": lambda model, logs, told, folder: tacit.diagnose(logs, **told),
    "model.diagnose": lambda model, logs, told, folder: model.diagnose(logs, **told),
    "label": lambda model, logs, told, folder: list(model.label(logs, **told)),
    "label to a file": lambda model, logs, told, folder: model.label(logs, folder / "labels.jsonl", **told),
    "evaluate": lambda model, logs, told, folder: model.evaluate(logs, **told),
    "train": lambda model, logs, told, folder: model.train(logs, **told),
}


@pytest.fixture(scope="module")
def encodings(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tacit.text.small.model.bundled_encoder", HashingEncoder)
        patch.setattr("tacit.offline.text.examination.SHUFFLES", 1)
        patch.setattr(reading, "REPORT_EVERY", 250)
        patch.setenv("TACIT_CACHE", str(tmp_path_factory.getbasetemp() / "encodings"))
        yield


def forget_chances(episode):
    return replace(episode, steps=tuple(replace(step, probability=None) for step in episode.steps))


@pytest.fixture(scope="module", params=["table", "text", "text of unknown chance"])
def logs(request, encodings, tmp_path_factory):
    """A file with sound and bad episodes, and a model of it."""
    path = tmp_path_factory.mktemp("logs") / "logs.jsonl"
    if request.param == "table":
        episodes = list(draw_logs(synthetic_mdp(), SOUND, seed=4))
    else:
        episodes = draw_shop(SOUND)
        if request.param == "text of unknown chance":
            episodes = [*episodes[:300], *map(forget_chances, episodes[300:])]
    steps = episodes[0].steps
    bad = steps[:1] if request.param == "table" else (replace(steps[0], state="not the request"), *steps[1:])
    first, second = (replace(episodes[0], episode=name, steps=bad) for name in ("a", "b"))
    with LogWriter(path) as writer:
        for episode in [*episodes[:400], first, *episodes[400:], second]:
            writer.write(episode)
    path.write_text(path.read_text() + "{not json\n")
    return tacit.fit(path, problems=Problems()), path


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_reports_exactly_as_many_episodes_as_there_are(logs, command, tmp_path):
    model, path = logs
    told, problems = [], Problems()
    COMMANDS[command](model, path, {"problems": problems, "progress": told.append}, tmp_path)
    assert sum(told) == SOUND + BAD
    assert all(n >= 0 for n in told)
    rule = "mixed-horizon" if isinstance(model.meanings, TableMeanings) else "not-text"
    assert dict(problems.by_rule) == {rule: 2, "not-json": 1}


def test_what_is_set_aside_is_kept_as_it_stood(logs, tmp_path):
    model, path = logs
    side = tmp_path / "side.rejected.jsonl"
    with Problems(side=side) as problems:
        model.train(path, problems=problems)
    rows = [json.loads(line) for line in side.read_text().splitlines()]
    lines = path.read_text().splitlines()
    assert [row["line"] for row in rows] == [401, SOUND + 2, SOUND + 3]
    assert [row["raw"] for row in rows] == [lines[row["line"] - 1] for row in rows]


def test_without_problems_one_warning_tells_of_all(logs):
    model, path = logs
    with pytest.warns(UserWarning, match="3 episodes were left out") as told:
        list(model.label(path))
    assert len(told) == 1


def test_episodes_in_memory_are_located_by_their_place():
    episodes, problems = list(draw_logs(synthetic_mdp(), 3, seed=0)), Problems()

    def read(record, line):
        return Fault("odd", "must be even") if line % 2 else line

    assert list(read_through(LogSource(iter(episodes)), read, problems)) == [2]
    assert [(problem.file, problem.line) for problem in problems.first] == [
        ("episodes in memory", 1),
        ("episodes in memory", 3),
    ]


@pytest.mark.parametrize(("n", "parts"), [(4, [4]), (5, [5]), (12, [5, 5, 2])])
def test_the_last_part_is_told_too(monkeypatch, n, parts):
    monkeypatch.setattr(reading, "REPORT_EVERY", 5)
    told = []
    source = LogSource(draw_logs(synthetic_mdp(), n, seed=0))
    assert len(list(read_through(source, lambda record, line: record, progress=told.append))) == n
    assert told == parts


def test_logs_can_be_passed_over_again_whatever_they_come_as(tmp_path):
    with LogWriter(tmp_path / "a.jsonl") as writer:
        for episode in draw_logs(synthetic_mdp(), 3, seed=0):
            writer.write(episode)
    path = tmp_path / "a.jsonl"
    for logs in (path, [path], iter([path]), (each for each in draw_logs(synthetic_mdp(), 3, seed=0))):
        source = LogSource(logs)
        assert len(list(source)) == len(list(source)) == 3
    assert str(LogSource([path, path])) == "a.jsonl, a.jsonl"


def test_logs_without_anything_usable_raise_and_tell_why():
    short = [replace(episode, steps=()) for episode in draw_logs(synthetic_mdp(), 2, seed=0)]
    with pytest.raises(LogError, match=r"got none: 2 were set aside \(odd: 2, the first in .*: must be even"):
        list(read_through(LogSource(short), lambda record, line: Fault("odd", "must be even")))
    with pytest.raises(LogError, match="they are empty"):
        list(read_through(LogSource([]), lambda record, line: record))


@pytest.fixture(scope="module")
def repeated(tmp_path_factory):
    """Logs, and the same with some episodes again, in their own piece and in later ones, one of them changed."""
    folder = tmp_path_factory.mktemp("repeated")
    episodes = list(draw_logs(synthetic_mdp(), 900, seed=4))
    again = [
        *episodes[:300],
        *episodes[290:],
        *episodes[100:700],
        replace(episodes[5], feedback=0, reward=None),
    ]
    for name, those in (("once", episodes), ("again", again)):
        with LogWriter(folder / f"{name}.jsonl") as writer:
            for episode in those:
                writer.write(episode)
    return folder


def gather_in_pieces(path, layout):
    """What an engine gathers of small pieces, put together."""
    together = Gathered.empty(layout, False)
    for part, _ in deal_pieces(pieces.list_pieces([path]), partial(Gatherer, layout, False), "local", 0):
        together.merge(part)
    return together.count(0)[1]


def test_an_episode_counts_once_in_one_pass_and_in_pieces(repeated, monkeypatch):
    monkeypatch.setattr(lines, "PIECE", 30_000)
    layout = survey_logs(repeated / "once.jsonl").layout()
    once, again = (gather_in_pieces(repeated / f"{name}.jsonl", layout) for name in ("once", "again"))
    assert once.total.n.total == again.total.n.total == 900
    one_pass = gather(LogSource(repeated / "again.jsonl"), layout, problems=Problems()).count(0)[1]
    for one, other in ((one_pass.fitted.n, again.fitted.n), (one_pass.held.n, again.held.n)):
        np.testing.assert_array_equal(one.cells, other.cells)
        np.testing.assert_array_equal(one.numbers, other.numbers)


def test_surveys_count_an_episode_once(repeated, monkeypatch):
    monkeypatch.setattr(lines, "PIECE", 30_000)
    found = [survey_logs(repeated / "again.jsonl"), Survey()]
    for part in deal_pieces(pieces.list_pieces([repeated / "again.jsonl"]), make_survey, "local", 0):
        found[1].merge(part)
    assert [survey.horizons for survey in found] == [survey_logs(repeated / "once.jsonl").horizons] * 2


def test_labels_of_repeated_episodes_are_the_same_bytes_whoever_writes_them(repeated, tmp_path, monkeypatch):
    monkeypatch.setattr(lines, "PIECE", 90_000)
    model, told = tacit.fit(repeated / "once.jsonl"), []
    for processes in (1, 2):
        problems, out = Problems(), tmp_path / f"{processes}.jsonl"
        summary = model.label(repeated / "again.jsonl", out, problems, processes=processes)
        assert summary == LabelSummary(900, 611)
        told.append((problems.first, problems.by_rule))
    assert told[0] == told[1]
    assert dict(problems.by_rule) == {"duplicate-episode": 610, "duplicate-name": 1}
    model.label(repeated / "once.jsonl", tmp_path / "once.jsonl")
    written = [(tmp_path / f"{name}.jsonl").read_bytes() for name in ("once", 1, 2)]
    assert written[0] == written[1] == written[2]


def test_a_model_of_repeated_logs_is_no_surer_than_of_the_logs(repeated):
    logs = repeated / "once.jsonl"
    once, twice = tacit.fit(logs), tacit.fit([logs, logs], problems=Problems())
    assert twice.certificate.episodes == 900
    assert twice.certificate.constants == once.certificate.constants
    assert twice.certificate.problems == {"duplicate-episode": 900}


def test_labels_must_not_replace_their_logs(repeated, tmp_path):
    logs = tmp_path / "logs.jsonl"
    logs.write_bytes((repeated / "once.jsonl").read_bytes())
    model = tacit.fit(logs)
    with pytest.raises(ValueError, match="must not replace what is read"):
        model.label([tmp_path], logs)
    with pytest.raises(ValueError, match="must not replace what is read"):
        model.label(logs, tmp_path / "labels.jsonl", problems=Problems(side=logs))
    assert logs.read_bytes() == (repeated / "once.jsonl").read_bytes()
