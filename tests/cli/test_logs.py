"""The commands for logs, as a user gives them: what they write, what they say, how they end."""

import json

import pyarrow.parquet
import pytest
from typer.testing import CliRunner

from tacit.agent import Agent
from tacit.cli.logs import logs_app as app
from tacit.envs.drawn_logs import draw_logs
from tacit.envs.synthetic import synthetic_mdp
from tacit.logs.writing import LogWriter
from tacit.offline.loading import load_model

EPISODES = 3000


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cli")
    with LogWriter(folder / "logs.jsonl") as writer:
        for episode in draw_logs(synthetic_mdp(), EPISODES, seed=4):
            writer.write(episode)
    text = (folder / "logs.jsonl").read_text()
    (folder / "bad.jsonl").write_text(text + '{"episode": 1}\n')
    run("fit", folder / "logs.jsonl", "--out", folder / "m.tacit")
    return folder


def run(*words, code=0):
    result = CliRunner().invoke(app, [str(word) for word in words], catch_exceptions=False)
    assert result.exit_code == code, result.output
    return " ".join(result.output.split())


def test_fit_writes_a_model_and_says_what_it_rests_on(folder, tmp_path):
    said = run("fit", folder / "logs.jsonl", "--out", tmp_path / "m.tacit", "--c", 0.25, "--anchors")
    assert said.startswith("works Feedback tells actions apart in 2 of 4 states and contexts")
    assert "3,000 of 3,000 episodes used" in said
    assert "theta = " in said
    assert load_model(tmp_path / "m.tacit").meanings.c == 0.25
    assert load_model(tmp_path / "m.tacit").certificate.files[0]["name"] == "logs.jsonl"


def test_fit_takes_a_layout(folder, tmp_path):
    (tmp_path / "layout.json").write_text(json.dumps(synthetic_mdp().layout.to_json()))
    run("fit", folder / "logs.jsonl", "--out", tmp_path / "m.tacit", "--layout", tmp_path / "layout.json")
    assert load_model(tmp_path / "m.tacit").meanings.layout == synthetic_mdp().layout
    (tmp_path / "layout.json").write_text("{}")
    said = run("fit", folder / "logs.jsonl", "--out", "x", "--layout", tmp_path / "layout.json", code=1)
    assert "error: a layout must be the JSON" in said


@pytest.mark.parametrize("ending", ["jsonl", "parquet"])
def test_label_writes_rows(folder, tmp_path, ending):
    out = tmp_path / f"labels.{ending}"
    said = run("label", folder / "logs.jsonl", "--model", folder / "m.tacit", "--out", out)
    assert "3,000 episodes labelled, 0 set aside." in said
    if ending == "jsonl":
        assert len(out.read_text().splitlines()) == EPISODES
    else:
        assert pyarrow.parquet.read_table(out).num_rows == EPISODES


def test_bad_episodes_are_told_and_kept(folder, tmp_path):
    said = run("fit", folder / "bad.jsonl", "--out", tmp_path / "m.tacit")
    assert "1 episodes set aside (no-context: 1)" in said
    assert "line 3001" in said
    assert json.loads((folder / "bad.rejected.jsonl").read_text())["raw"] == '{"episode": 1}'
    side = tmp_path / "side.rejected.jsonl"
    run(
        "label",
        folder / "bad.jsonl",
        "--model",
        folder / "m.tacit",
        "--out",
        tmp_path / "l.jsonl",
        "--rejected",
        side,
    )
    assert side.exists()
    said = run("fit", folder / "bad.jsonl", "--out", tmp_path / "strict.tacit", "--strict", code=1)
    assert "line 3001" in said
    assert not (tmp_path / "strict.tacit").exists()


def test_diagnose_writes_a_page(folder, tmp_path):
    said = run("diagnose", folder / "logs.jsonl", "--out", tmp_path / "report.html")
    assert said.startswith("works Feedback tells actions apart in ")  # the logs know outcomes
    assert "<strong>works</strong>" in (tmp_path / "report.html").read_text()


def test_evaluate_and_train(folder, tmp_path):
    given = (folder / "logs.jsonl", "--model", folder / "m.tacit")
    run("train", *given, "--out", tmp_path / "agent.tacit", "--seed", 3)
    assert Agent.load(tmp_path / "agent.tacit").seed == 3
    said = run("evaluate", *given, "--policy", "uniform", "--out", tmp_path / "value.json")
    found = json.loads((tmp_path / "value.json").read_text())
    assert found["estimates"]["doubly_robust"]["low"] < 0.0176 < found["estimates"]["doubly_robust"]["high"]
    assert "doubly_robust" in said
    said = run("evaluate", *given, "--policy", tmp_path / "agent.tacit")
    assert "overlap-thin" in said


@pytest.fixture(scope="module")
def table(folder):
    """Return the same logs as a CSV file, and the flags that name its columns."""
    rows = ["session;who;page;shown;p;said"]
    for episode in draw_logs(synthetic_mdp(), EPISODES, seed=4):
        for step in episode.steps:
            said = episode.feedback if step is episode.steps[-1] else ""
            cells = (episode.episode, episode.context, step.state, step.action, step.probability, said)
            rows.append(";".join(map(str, cells)))
    (folder / "visits.csv").write_text("\n".join(rows))
    held = ("episode=session", "context=who", "state=page", "action=shown", "probability=p", "feedback=said")
    return folder / "visits.csv", *(word for each in held for word in ("--column", each))


def test_every_command_reads_csv_as_it_reads_log_lines(folder, table, tmp_path):
    model, labels = tmp_path / "m.tacit", tmp_path / "labels.jsonl"
    assert "3,000 of 3,000 episodes used" in run("fit", *table, "--out", model)
    run("label", *table, "--model", model, "--out", labels, "--processes", 2)
    run("label", folder / "logs.jsonl", "--model", folder / "m.tacit", "--out", tmp_path / "same.jsonl")
    assert labels.read_bytes() == (tmp_path / "same.jsonl").read_bytes()
    run("diagnose", *table, "--out", tmp_path / "report.html")
    assert "doubly_robust" in run("evaluate", *table, "--model", model)
    run("train", *table, "--model", model, "--out", tmp_path / "agent.tacit")
    assert "3,000 episodes read, 3,000 rows written" in run("convert", *table, tmp_path / "logs.jsonl")
    run("label", tmp_path / "logs.jsonl", "--model", model, "--out", tmp_path / "again.jsonl")
    assert (tmp_path / "again.jsonl").read_bytes() == labels.read_bytes()


def test_columns_that_are_missing_are_told_with_the_flag(table, tmp_path):
    said = run("fit", table[0], "--out", tmp_path / "m.tacit", code=1)
    assert "column for the context, got ['session', 'who'," in said
    assert "--column context=NAME" in said
    assert "say state=page" in run("fit", table[0], "--column", "page", "--out", tmp_path / "m.tacit", code=1)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("fit", "gone.jsonl", "--out", "m"), "there is no file"),
        (("fit", "LOGS", "--out", "m", "--engine", "ray"), "the engine ray reads Parquet"),
        (("fit", "LOGS", "--out", "m", "--engine", "spark"), "engine must be one of"),
        (("label", "LOGS", "--model", "gone", "--out", "x.jsonl"), "there is no file"),
        (("label", "LOGS", "--model", "MODEL", "--out", "x.csv"), "must be written to a file that ends in"),
        (("evaluate", "LOGS", "--model", "MODEL", "--policy", "gone"), "a policy must be"),
    ],
)
def test_errors_say_what_to_do(folder, words, message):
    places = {"LOGS": folder / "logs.jsonl", "MODEL": folder / "m.tacit"}
    assert message in run(*(places.get(word, word) for word in words), code=1)


@pytest.mark.parametrize("command", ["fit", "diagnose"])
@pytest.mark.parametrize("c", ["5", "-3", "nan", "1.0000001"])
def test_a_c_that_is_no_reward_is_refused(command, c, folder, tmp_path):
    said = run(command, folder / "logs.jsonl", "--out", tmp_path / "out", "--c", c, code=1)
    assert "error: c must be in [0, 1], got" in said
    assert not (tmp_path / "out").exists()


def refused(folder, name, rows, *words):
    """Return what `tacit fit` says of logs that it refuses, and what is there afterwards."""
    place = folder / name
    place.mkdir()
    (place / "logs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    said = run("fit", place / "logs.jsonl", "--out", place / "m.tacit", *words, code=1)
    return said.split("error: ")[1], {path.name for path in place.iterdir()}


def episode(n, context="new", feedback="good", **step):
    steps = [{"state": "home", "action": n % 4, **step}]
    return {"episode": n, "context": context, "steps": steps, "feedback": feedback}


def test_a_fit_says_whom_it_refused_and_why_and_leaves_nothing_behind(tmp_path):
    said, there = refused(
        tmp_path,
        "users",
        [episode(n, {"request": f"table {n}"}) for n in range(50)] + [{"episode": 1, "context": 2}] * 3,
    )
    assert "53 were set aside (not-text: 50, the first in " in said
    assert "no-steps: 3, the first in " in said
    assert "logs.jsonl, line 51: an episode must have a list of steps" in said
    assert (
        "read as conversations where states or actions are text, or contexts requests (here context" in said
    )
    assert there == {"logs.jsonl"}
    said, there = refused(
        tmp_path,
        "certain",
        [{}, *(episode(n, probability=1.0) for n in range(50)), {**episode(9), "episode": "x"}],
    )
    assert "got none among 52 (last action not random: 50, the first is number 2; " in said
    assert (
        "probability of the last action unknown: 1, the first is number 52; set aside: 1 (no-episode: 1, "
        in said
    )
    assert there == {"logs.jsonl"}
    said, there = refused(
        tmp_path, "gone", [{**episode(n, feedback=None), "abandoned": True} for n in range(9)]
    )
    assert "got none: 9 broke off" in said
    side = tmp_path / "asked.rejected.jsonl"
    refused(tmp_path, "asked", [{"episode": 1}], "--rejected", side)
    assert side.exists()
