"""The commands for logs and the files they meet: nothing that is read is replaced, nothing usable is an error."""

import json
import os
import shutil

import pytest
from typer.testing import CliRunner

from tacit.cli.logs import logs_app as app
from tacit.envs.drawn_logs import draw_logs
from tacit.envs.synthetic import synthetic_mdp
from tacit.logs.writing import LogWriter
from tacit.offline.evaluation import Evaluation, PolicyValue

EPISODES = 600
COMMANDS = {
    "fit": ("fit", "LOGS", "--out", "OUT"),
    "label": ("label", "LOGS", "--model", "MODEL", "--out", "OUT"),
    "diagnose": ("diagnose", "LOGS", "--out", "OUT"),
    "evaluate": ("evaluate", "LOGS", "--model", "MODEL", "--out", "OUT"),
    "train": ("train", "LOGS", "--model", "MODEL", "--out", "OUT"),
    "convert": ("convert", "LOGS", "OUT", "--to", "logs"),
}
WITH_MODEL = ("label", "evaluate", "train")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("made")
    with LogWriter(folder / "logs.jsonl") as writer:
        for episode in draw_logs(synthetic_mdp(), EPISODES, seed=4):
            writer.write(episode)
    run("fit", folder / "logs.jsonl", "--out", folder / "model.jsonl")  # an ending that every command takes
    return folder


@pytest.fixture
def folder(made, tmp_path):
    for name in ("logs.jsonl", "model.jsonl"):
        shutil.copy(made / name, tmp_path)
    return tmp_path


def run(*words, code=0):
    result = CliRunner().invoke(app, [str(word) for word in words], catch_exceptions=False)
    assert result.exit_code == code, result.output
    assert "Traceback" not in result.output
    return " ".join(result.output.split())


def order(command, folder, *more, logs="logs.jsonl", out="out.jsonl", code=0):
    places = {"LOGS": folder / logs, "MODEL": folder / "model.jsonl", "OUT": folder / out}
    return run(*(places.get(word, word) for word in COMMANDS[command]), *more, code=code)


def contents(folder):
    return {file.name: file.read_bytes() for file in folder.rglob("*") if file.is_file()}


@pytest.mark.parametrize("kind", ["itself", "hard link", "symbolic link", "in a directory"])
@pytest.mark.parametrize("command", COMMANDS)
def test_the_logs_are_not_replaced(folder, command, kind):
    logs, out = "logs.jsonl", "logs.jsonl"
    if kind == "in a directory":
        (folder / "days").mkdir()
        shutil.move(folder / "logs.jsonl", folder / "days" / "1.jsonl")
        logs, out = "days", "days/1.jsonl"
    elif kind != "itself":
        out = "other.jsonl"
        (os.link if kind == "hard link" else os.symlink)(folder / logs, folder / out)
    before = contents(folder)
    assert "must not replace what is read" in order(command, folder, logs=logs, out=out, code=1)
    assert contents(folder) == before


@pytest.mark.parametrize("command", WITH_MODEL)
def test_the_model_is_not_replaced(folder, command):
    before = contents(folder)
    assert "must not replace what is read" in order(command, folder, out="model.jsonl", code=1)
    assert contents(folder) == before


@pytest.mark.parametrize(
    ("command", "victim"),
    [
        *((command, "model.jsonl") for command in ("label", "train")),
        *((command, victim) for command in COMMANDS for victim in ("logs.jsonl", "out.jsonl")),
    ],
)
def test_bad_episodes_replace_nothing_either(folder, command, victim):
    with open(folder / "logs.jsonl", "a") as file:
        file.write("{not json\n")
    before = contents(folder)
    said = order(command, folder, "--rejected", folder / victim, code=1)
    assert "must not replace what is read" in said or "a place of its own" in said
    assert contents(folder) == before


@pytest.mark.parametrize("victim", ["logs.jsonl", "model.jsonl", "policy.json"])
def test_bad_episodes_replace_nothing_where_nothing_else_is_written(folder, victim):
    with open(folder / "logs.jsonl", "a") as file:
        file.write("{not json\n")
    (folder / "policy.json").write_text("{}")
    before, words = contents(folder), ("--policy", folder / "policy.json", "--rejected", folder / victim)
    said = run("evaluate", folder / "logs.jsonl", "--model", folder / "model.jsonl", *words, code=1)
    assert "must not replace what is read" in said
    assert contents(folder) == before


@pytest.mark.parametrize("command", ["fit", "evaluate"])
def test_a_pipe_in_place_of_a_layout_or_a_policy_is_not_waited_for(folder, command):
    os.mkfifo(folder / "pipe.json")
    option = "--layout" if command == "fit" else "--policy"
    assert "regular file" in order(command, folder, option, folder / "pipe.json", code=1)


def test_labels_and_layouts_are_not_replaced(folder):
    order("label", folder, out="labels.jsonl")
    (folder / "layout.json").write_text(json.dumps(synthetic_mdp().layout.to_json()))
    before = contents(folder)
    logs, labels, layout = (folder / name for name in ("logs.jsonl", "labels.jsonl", "layout.json"))
    run("convert", logs, labels, "--to", "dsjson", "--labels", labels, code=1)
    run("fit", logs, "--layout", layout, "--out", layout, code=1)
    assert contents(folder) == before


UNUSABLE = {
    "UTF-16": ('{"episode": 1}\n{"episode": 2}\n'.encode("utf-16"), "convert the file to UTF-8"),
    "broken": (b"{not json\n" * 7, "7 were set aside (not-json: 7, the first in "),
    "empty": (b"", "got none: they are empty"),
}


@pytest.mark.parametrize("content", UNUSABLE)
@pytest.mark.parametrize("command", COMMANDS)
def test_nothing_usable_is_an_error_and_leaves_good_output_alone(folder, command, content):
    text, said = UNUSABLE[content]
    (folder / "bad.jsonl").write_bytes(text)
    (folder / "out.jsonl").write_text("what an earlier command wrote")
    told = order(command, folder, logs="bad.jsonl", code=1)
    assert said in told.split("error: ")[1]
    assert (folder / "out.jsonl").read_text() == "what an earlier command wrote"
    assert not (folder / "bad.rejected.jsonl").exists()  # it would be a copy of the logs
    assert "rejected.jsonl" not in told


@pytest.mark.parametrize("command", COMMANDS)
def test_a_place_that_cannot_be_written_is_told_in_a_sentence(folder, command):
    said = order(command, folder, out="nowhere/out.jsonl", code=1)
    assert "out.jsonl' cannot be written: No such file or directory; give another place" in said


def test_duplicates_are_counted_once_and_told(folder):
    logs = folder / "logs.jsonl"
    told = run("fit", logs, logs, "--out", folder / "twice.tacit")
    assert f"{EPISODES} of {EPISODES} episodes used" in told
    assert f"{EPISODES} episodes set aside (duplicate-episode: {EPISODES})" in told
    assert not list(folder.glob("*.rejected.jsonl"))
    told = run("label", logs, logs, "--model", folder / "model.jsonl", "--out", folder / "labels.jsonl")
    assert f"{EPISODES} episodes labelled, {EPISODES} set aside" in told
    assert len((folder / "labels.jsonl").read_text().splitlines()) == EPISODES


def test_side_files_of_several_logs_stay_apart_and_stale_ones_go(folder):
    sound = (folder / "logs.jsonl").read_text()
    for day in ("2026.01", "2026.02"):
        (folder / f"{day}.jsonl").write_text(sound + f"{{bad {day}\n")
        order("fit", folder, logs=f"{day}.jsonl")
    for day in ("2026.01", "2026.02"):
        assert json.loads((folder / f"{day}.rejected.jsonl").read_text())["raw"] == f"{{bad {day}"
    (folder / "2026.01.jsonl").write_text(sound)
    order("fit", folder, logs="2026.01.jsonl")
    assert [file.name for file in folder.glob("*.rejected.jsonl")] == ["2026.02.rejected.jsonl"]


@pytest.mark.parametrize("command", COMMANDS)
def test_one_bad_line_in_a_folder_that_cannot_be_written_does_not_stop_the_work(folder, command, monkeypatch):
    def refuse(path):
        raise PermissionError(13, "Permission denied", str(path))

    with open(folder / "logs.jsonl", "a") as file:
        file.write("{not json\n")
    monkeypatch.setattr("tacit.logs.side_files.LineWriter", refuse)
    said = order(command, folder)
    assert "1 episodes set aside (not-json: 1)" in said
    assert "Permission denied" in said
    assert "--rejected PLACE" in said
    assert (folder / "out.jsonl").exists()


def test_a_file_of_the_users_own_is_no_side_file(folder):
    with open(folder / "logs.jsonl", "a") as file:
        file.write("{not json\n")
    (folder / "logs.rejected.jsonl").write_text('{"order": 1}\n')
    assert "is not a side file that Tacit wrote" in order("fit", folder)
    assert (folder / "logs.rejected.jsonl").read_text() == '{"order": 1}\n'


def test_objects_and_lists_are_labels_for_every_command(folder):
    """States and actions of any kind that the format allows."""
    kinds = {
        0: [1, 2],
        1: {"x": 1},
        2: "plain",
        3: 0.5,
        4: [3.5],
    }

    def change(step):
        state = {"shelf": int(step["state"])} if isinstance(step["state"], int) else step["state"]
        offered = [kinds[a] for a in step["actions"]]
        return step | {"state": state, "action": kinds[step["action"]], "actions": offered}

    records = [json.loads(line) for line in (folder / "logs.jsonl").read_text().splitlines()]
    for record in records:
        record["steps"] = [change(step) for step in record["steps"]]
    (folder / "odd.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    order("fit", folder, logs="odd.jsonl", out="odd.tacit")
    shutil.copy(folder / "odd.tacit", folder / "model.jsonl")
    for command in COMMANDS:
        order(command, folder, logs="odd.jsonl", out=f"{command}.jsonl")
    rows = [json.loads(line)["reason"] for line in (folder / "label.jsonl").read_text().splitlines()]
    assert len(rows) == EPISODES
    assert not any(reason.startswith("unseen") for reason in rows)


def test_an_evaluation_is_written_in_numbers_that_json_has(tmp_path):
    value = PolicyValue(float("nan"), 0.0, 1.0, 0.1, 0.1)
    found = Evaluation("logged", 3, 3.0, 0.0, {"self_normalised": value}, {}, ())
    with pytest.raises(ValueError, match="an evaluation is written in finite numbers"):
        found.write(tmp_path / "value.json")
    assert not list(tmp_path.iterdir())


def test_a_stale_file_of_bad_episodes_goes_from_the_place_that_is_named(folder):
    place, mine = folder / "aside.jsonl", folder / "mine.jsonl"
    place.write_text('{"file": "a", "line": 1, "rule": "not-json", "problem": "no object", "raw": "x"}\n')
    mine.write_text("my own words\n")
    order("convert", folder, "--rejected", place)
    assert not place.exists()
    order("convert", folder, "--rejected", mine)
    assert mine.read_text() == "my own words\n"
