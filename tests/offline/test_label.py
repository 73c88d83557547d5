"""Labelling files: any number of processes, any engine, the same rows; bad lines are kept; nothing is half written."""

import json
import subprocess
import sys

import numpy as np
import pyarrow.parquet
import pytest

from tacit.envs.drawn_logs import draw_logs
from tacit.envs.synthetic import synthetic_mdp
from tacit.logs import lines, packing, pieces
from tacit.logs.convert import convert
from tacit.logs.labels import COLUMNS, read_labels
from tacit.logs.problems import Problems
from tacit.logs.reading import LogSource, check_raws, read_logs
from tacit.logs.record import LogError
from tacit.logs.survey import Survey, survey_entries, survey_logs
from tacit.logs.writing import LogWriter
from tacit.offline.fit import fit
from tacit.offline.label import LabelSummary
from tacit.offline.tables.gathering import Gathered, Gatherer, gather

EPISODES = 3000


@pytest.fixture(scope="module")
def logs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("logs")
    for ending in ("jsonl", "jsonl.gz", "jsonl.zst", "parquet"):
        with LogWriter(folder / f"logs.{ending}") as writer:
            for episode in draw_logs(synthetic_mdp(), EPISODES, seed=4):
                writer.write(episode)
    return folder


@pytest.fixture(scope="module")
def model(logs):
    return fit(logs / "logs.jsonl")


@pytest.fixture
def small_pieces(monkeypatch):
    monkeypatch.setattr(lines, "PIECE", 30_000)
    monkeypatch.setattr(packing, "UNPACKED", 10_000)


@pytest.mark.usefixtures("small_pieces")
@pytest.mark.parametrize("ending", ["jsonl", "jsonl.gz", "jsonl.zst", "parquet"])
def test_rows_are_those_of_the_model_in_order(logs, model, tmp_path, ending):
    summary = model.label(logs / f"logs.{ending}", tmp_path / "labels.jsonl")
    rows = [json.loads(line) for line in (tmp_path / "labels.jsonl").read_text().splitlines()]
    assert summary == LabelSummary(EPISODES, 0)
    assert rows == list(model.label(logs / f"logs.{ending}"))
    assert [row["episode"] for row in rows] == list(range(EPISODES))
    assert tuple(rows[0]) == COLUMNS


@pytest.mark.usefixtures("small_pieces")
@pytest.mark.parametrize("ending", ["jsonl", "parquet"])
def test_one_process_or_two_write_the_same_bytes(logs, model, tmp_path, ending):
    for processes in (1, 2):
        model.label(logs / "logs.jsonl", tmp_path / f"{processes}.{ending}", processes=processes)
    assert (tmp_path / f"1.{ending}").read_bytes() == (tmp_path / f"2.{ending}").read_bytes()


def test_labels_have_these_columns_and_no_others(logs, model, tmp_path):
    names = ("episode", "decoded_reward", "confidence", "state_kind", "reason", "low", "high")
    model.label(logs / "logs.jsonl", tmp_path / "labels.parquet")
    schema = pyarrow.parquet.read_schema(tmp_path / "labels.parquet")
    assert COLUMNS == tuple(schema.names) == names
    assert [str(schema.field(name).type) for name in ("low", "high")] == ["double", "double"]
    (row, *_) = read_labels(tmp_path / "labels.parquet")
    assert tuple(row) == names
    assert row["low"] <= row["high"]


def test_parquet_holds_what_json_lines_hold(logs, model, tmp_path):
    model.label(logs / "logs.jsonl", tmp_path / "labels.parquet")
    rows = pyarrow.parquet.read_table(tmp_path / "labels.parquet").to_pylist()
    assert rows == [{**row, "episode": str(row["episode"])} for row in model.label(logs / "logs.jsonl")]


@pytest.mark.usefixtures("small_pieces")
def test_bad_lines_are_located_and_the_rest_is_labelled(logs, model, tmp_path):
    lines = (logs / "logs.jsonl").read_text().splitlines()
    short = json.loads(lines[1000]) | {"episode": "short", "steps": json.loads(lines[1000])["steps"][:1]}
    lines[1000:1000] = ["{not json", "", json.dumps(short)]
    (tmp_path / "bad.jsonl").write_text("\n".join(lines))  # and no newline at the end
    with Problems(side=tmp_path / "side.rejected.jsonl") as problems:
        summary = model.label(tmp_path / "bad.jsonl", tmp_path / "labels.jsonl", problems=problems)
    assert summary == LabelSummary(EPISODES, 2)
    assert [(problem.line, problem.rule) for problem in problems.first] == [
        (1001, "not-json"),
        (1003, "mixed-horizon"),
    ]
    kept = [json.loads(line)["raw"] for line in (tmp_path / "side.rejected.jsonl").read_text().splitlines()]
    assert kept == ["{not json", json.dumps(short)]
    (tmp_path / "labels.jsonl").write_text("old")
    with pytest.raises(LogError, match="line 1001"):
        model.label(tmp_path / "bad.jsonl", tmp_path / "labels.jsonl")
    assert (tmp_path / "labels.jsonl").read_text() == "old"


@pytest.mark.parametrize("piece", [30_000, lines.PIECE])
@pytest.mark.parametrize("ending", ["jsonl.gz", "jsonl.zst"])
@pytest.mark.parametrize("damage", ["torn", "garbage"])
def test_of_a_damaged_file_all_that_can_be_read_is_labelled(
    logs, model, tmp_path, ending, damage, piece, monkeypatch
):
    """As many episodes as a conversion reads, and all of them where there is but garbage after the last.

    Where pieces are larger than the file, all that it holds waits for the piece to be full when the damage comes.
    """
    monkeypatch.setattr(lines, "PIECE", piece)
    monkeypatch.setattr(packing, "UNPACKED", 10_000)
    path, content = tmp_path / f"logs.{ending}", (logs / f"logs.{ending}").read_bytes()
    path.write_bytes(content + b"garbage" if damage == "garbage" else content[: len(content) * 2 // 3])
    told, also = Problems(), Problems()
    labelled = model.label(path, tmp_path / "labels.jsonl", problems=told)
    converted = convert(path, tmp_path / "logs.jsonl", "logs", problems=also)
    assert labelled.rows == converted.rows > EPISODES / 2
    assert damage != "garbage" or labelled.rows == EPISODES
    assert dict(told.by_rule) == dict(also.by_rule) == {"damaged-file": 1}


@pytest.mark.usefixtures("small_pieces")
def test_pieces_of_nothing_but_empty_lines_are_passed_over(logs, model, tmp_path):
    (tmp_path / "logs.jsonl").write_bytes(b"\n" * 100_000 + (logs / "logs.jsonl").read_bytes())
    assert model.label(tmp_path / "logs.jsonl", tmp_path / "labels.jsonl").rows == EPISODES


def test_a_damaged_parquet_file_is_told(model, tmp_path):
    (tmp_path / "logs.parquet").write_bytes(b"PAR1 and nothing else")
    problems = Problems()
    with pytest.raises(LogError, match="got none: 1 were set aside"):
        model.label(tmp_path / "logs.parquet", tmp_path / "labels.parquet", problems=problems)
    assert dict(problems.by_rule) == {"damaged-file": 1}


@pytest.mark.parametrize(
    ("out", "options", "message"),
    [
        ("labels.csv", {}, "must be written to a file that ends in"),
        ("labels.jsonl", {"engine": "spark"}, "engine must be one of"),
        ("labels.jsonl", {"engine": "ray"}, "reads Parquet"),
    ],
)
def test_requests_that_cannot_be_met_are_refused(logs, model, tmp_path, out, options, message):
    with pytest.raises(ValueError, match=message):
        model.label(logs / "logs.jsonl", tmp_path / out, **options)


@pytest.mark.usefixtures("small_pieces")
@pytest.mark.parametrize("processes", [1, 2])
def test_progress_counts_every_episode(logs, model, tmp_path, processes):
    told = []
    out = tmp_path / "labels.jsonl"
    model.label(logs / "logs.jsonl", out, progress=told.append, processes=processes)
    assert sum(told) == EPISODES


RAY = """
import sys

import tacit

if __name__ == "__main__":
    logs, model, out = sys.argv[1:]
    tacit.load_model(model).label(logs, out, engine="ray")
    tacit.fit(logs, engine="ray").save("ray.tacit")
"""


@pytest.mark.compiled
def test_ray_writes_the_same_bytes(logs, model, tmp_path):
    """In a process of its own: Ray leaves threads and warnings behind."""
    model.save(tmp_path / "m.tacit")
    (tmp_path / "run.py").write_text(RAY)
    out = tmp_path / "ray.jsonl"
    command = [sys.executable, "run.py", str(logs / "logs.parquet"), "m.tacit", str(out)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    model.label(logs / "logs.parquet", tmp_path / "local.jsonl")
    assert out.read_bytes() == (tmp_path / "local.jsonl").read_bytes()
    fit(logs / "logs.parquet").save(tmp_path / "local.tacit")
    assert (tmp_path / "ray.tacit").read_bytes() == (tmp_path / "local.tacit").read_bytes()


def test_parts_of_logs_add_up(logs):
    """What Ray's workers gather of pieces, put together, is what one pass gathers."""
    (whole_file,) = pieces.list_pieces([logs / "logs.jsonl"])
    lines = whole_file.lines.splitlines(keepends=True)
    halves = [whole_file._replace(lines=b"".join(lines[:1000]))]
    halves.append(whole_file._replace(line=1001, lines=b"".join([*lines[1000:], b"{not json"])))
    survey, whole = Survey(), survey_logs(logs / "logs.jsonl")
    for piece in halves:
        survey.merge(survey_entries(check_raws(pieces.raw_records(piece))))
    assert survey.layout() == whole.layout()
    together = Gathered.empty(whole.layout(), False)
    for piece in halves:
        part, found = Gatherer(whole.layout(), False)(check_raws(pieces.raw_records(piece)))
        together.merge(part)
    assert [(problem.line, problem.rule) for problem, _ in found] == [(EPISODES + 1, "not-json")]
    alone = gather(LogSource(logs / "logs.jsonl"), whole.layout())
    ours, theirs = together.count(0)[1], alone.count(0)[1]
    for mine, other in ((ours.fitted.n, theirs.fitted.n), (ours.held.n, theirs.held.n)):
        np.testing.assert_array_equal(mine.cells, other.cells)
        np.testing.assert_array_equal(mine.numbers, other.numbers)
    assert together.anchors == alone.anchors


def test_episodes_in_memory_are_written_too(logs, model, tmp_path):
    summary = model.label(read_logs(logs / "logs.jsonl"), tmp_path / "memory.jsonl")
    model.label(logs / "logs.jsonl", tmp_path / "file.jsonl")
    assert summary == LabelSummary(EPISODES, 0)
    assert (tmp_path / "memory.jsonl").read_bytes() == (tmp_path / "file.jsonl").read_bytes()
