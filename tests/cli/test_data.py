"""`tacit data`: what it writes, what it says, and that nothing is lost."""

from dataclasses import replace

import pytest
from booking_samples import write_samples
from playing_model import PlayingModel, endpoint
from typer.testing import CliRunner

from tacit.cli.data import CACHE, data_app
from tacit.envs import corpora, corpus_files
from tacit.envs.dialogues import read_dialogues


def invoke(*arguments):
    return CliRunner().invoke(data_app, [str(argument) for argument in arguments])


@pytest.fixture(autouse=True)
def _no_data(monkeypatch, tmp_path):
    monkeypatch.setenv("TACIT_DATA", str(tmp_path / "no-data"))
    for variable in ("TACIT_LLM_URL", "TACIT_LLM_MODEL", "TACIT_LLM_KEY"):
        monkeypatch.delenv(variable, raising=False)


@pytest.fixture
def published(monkeypatch, tmp_path):
    """Make the sample files the published ones, at addresses of this machine."""
    sample = write_samples(tmp_path / "home")
    files = tuple(replace(file, homes=((sample.directory / file.path).as_uri(),)) for file in sample.files)
    for function in (corpus_files.download_corpora, corpora.read_corpora, corpus_files.check_files):
        defaults = tuple(files if value is corpus_files.FILES else value for value in function.__defaults__)
        monkeypatch.setattr(function, "__defaults__", defaults)
    return sample


def test_the_corpora_are_downloaded_once(published, tmp_path):
    result = invoke("booking", "--out", tmp_path / "corpora")
    assert result.exit_code == 0, result.output
    assert "6 files downloaded, 30 dialogues in" in result.output
    assert "--data" in result.output
    assert "0 files downloaded" in invoke("booking", "--out", tmp_path / "corpora").output


def test_they_go_to_the_user_s_directory(published, tmp_path):
    assert invoke("booking").exit_code == 0
    assert (tmp_path / "no-data" / "sim-m" / "dev.json").exists()


def test_a_failed_download_is_explained(published, tmp_path):
    (published.directory / "sim-m" / "dev.json").unlink()
    result = invoke("booking", "--out", tmp_path / "corpora")
    assert result.exit_code == 1
    assert "could not download sim-m/dev.json" in result.output
    assert "by hand from a page" in result.output


def test_dialogues_are_written_by_the_grammar(tmp_path):
    out = tmp_path / "new" / "d.jsonl"
    result = invoke("dialogues", "--out", out, "--count", 25, "--setting", "personal", "--seed", 4)
    assert result.exit_code == 0, result.output
    assert "25 dialogues (personal, tasks: generated)" in result.output
    dialogues = read_dialogues(out).dialogues
    assert len(dialogues) == 25
    assert all(dialogue.profile for dialogue in dialogues)
    again = tmp_path / "again.jsonl"
    invoke("dialogues", "--out", again, "--count", 25, "--setting", "personal", "--seed", 4)
    assert again.read_bytes() == out.read_bytes()


def test_dialogues_are_written_from_local_copies(published, tmp_path):
    out = tmp_path / "d.jsonl"
    result = invoke("dialogues", "--out", out, "--data", published.directory, "--setting", "paper")
    assert result.exit_code == 0, result.output
    assert "30 dialogues (paper, tasks: corpora)" in result.output


def test_dialogues_are_written_by_an_endpoint_and_resumed(tmp_path):
    out = tmp_path / "d.jsonl"
    arguments = ("dialogues", "--out", out, "--count", 6, "--model", "player", "--endpoint")
    with endpoint(PlayingModel(), [(400, b"no such model")]) as (url, requests):
        failed = invoke(*arguments, url, "--workers", 1)
        assert failed.exit_code == 1
        assert "HTTP 400: no such model" in failed.output
        assert not out.exists()
        result = invoke(*arguments, url)
        assert result.exit_code == 0, result.output
        calls = len(requests)
        assert "of 48 texts the grammar wrote none" in result.output
        assert len(read_dialogues(out).dialogues) == 6
        assert (tmp_path / ("d.jsonl" + CACHE)).exists()
        assert "0 calls of player" in invoke(*arguments, url).output
        assert len(requests) == calls


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["--setting", "easy"], "one of paper, hard, personal, got 'easy'"),
        (["--part", "new"], "one of seen, held_out, got 'new'"),
        (["--count", "0"], "--count must be from 1 to 3768"),
        (["--seed", "-1"], "a seed must be"),
        (["--model", "m"], "an endpoint needs a url"),
        (["--model", "m", "--local-model", "smollm2"], "dialogues have one writer"),
        (["--data", "nowhere"], "not there; run `tacit data booking`"),
    ],
)
def test_wrong_options_are_explained(arguments, reason, tmp_path):
    result = invoke("dialogues", "--out", tmp_path / "d.jsonl", *arguments)
    assert result.exit_code == 1
    assert reason in result.output
    assert not (tmp_path / "d.jsonl").exists()
