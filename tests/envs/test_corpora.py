"""The corpora become tasks, one for each dialogue; their files are checked and downloaded."""

import functools
import hashlib
import http.server
import io
import tarfile
import threading
from dataclasses import replace
from pathlib import Path

import pytest
from booking_samples import REAL, Sample, corpora, write_samples

from tacit.envs.corpora import SLOTS, read_corpora, tidy
from tacit.envs.corpus_files import (
    FILES,
    CorporaError,
    CorpusFile,
    check_files,
    data_directory,
    download_corpora,
)
from tacit.envs.phrasing import mentions


@pytest.fixture
def sample(tmp_path):
    return write_samples(tmp_path / "data")


def test_every_dialogue_gives_a_task_with_something_to_ask_for(tmp_path):
    for directory, files in corpora(tmp_path):
        tasks = read_corpora(directory, files).tasks
        assert len({task.id for task in tasks}) == len(tasks) == (3768 if directory == REAL else 30)
        for task in tasks:
            assert tuple(task.slots) == SLOTS[task.domain]
            assert task.asked
            assert task.confirms or not set(task.asked) & set(task.given)
            assert "<" not in task.request


def test_the_request_says_what_is_given_and_nothing_that_is_asked_for(tmp_path):
    for directory, files in corpora(tmp_path):
        for task in read_corpora(directory, files).tasks:
            for slot in task.given:
                assert mentions(task.request, slot, task.slots[slot]), task
            if task.domain == "restaurant" and not task.confirms:
                assert not any(mentions(task.request, slot, task.slots[slot]) for slot in task.asked), task


def test_the_choices_are_counted(tmp_path):
    expected = {3768: (598, 64, 7, 4), 30: (3, 6, 3, 3)}
    for directory, files in corpora(tmp_path):
        tasks, *counts = read_corpora(directory, files)
        assert tuple(counts) == expected[len(tasks)]


def test_a_restaurant_task(sample):
    tasks = read_corpora(*sample).tasks
    assert tasks[1].id == "babi-trn-2"
    assert tasks[1].request == "may i have a table in rome"
    assert (tasks[1].given, tasks[1].asked) == (("city",), ("cuisine", "party", "price"))
    assert tasks[4].confirms
    assert tasks[4].asked == SLOTS["restaurant"]


def test_a_movie_task_and_what_its_dialogue_leaves_open(sample):
    plain, corrected, overheard, quoted, _ = (t for t in read_corpora(*sample).tasks if "sim-m-dev" in t.id)
    assert plain.request == "i want to buy movie tickets."
    assert plain.slots["time"] == "8:00 pm"
    assert corrected.slots["date"] == "sunday"  # the request's, not the last state's
    assert corrected.slots["time"] in (
        "8:00 pm",
        "7:15 pm",
        "5:00 pm",
    )  # of another dialogue: the user did not care
    assert overheard.given == ("tickets",)
    assert overheard.slots["movie"] in ("avatar", "inferno", "sully", "titanic")
    assert quoted.request == "get tickets for sully"
    assert read_corpora(*sample) == read_corpora(*sample)


def test_tidying_keeps_every_word():
    assert tidy('" hi , i want mr . donkey ! "') == "hi, i want mr. donkey!"


def test_another_content_is_refused(sample):
    (sample.directory / "sim-m/dev.json").write_text("[]")
    with pytest.raises(CorporaError, match=r"dev\.json must be the file as it was published .*remove it"):
        read_corpora(*sample)


def test_a_missing_file_is_refused_with_what_to_do(tmp_path):
    with pytest.raises(CorporaError, match=r"trn\.txt in .* not there; run `tacit data booking`.*--data DIR"):
        check_files(tmp_path)


def test_the_data_directory_follows_the_system(monkeypatch, tmp_path):
    monkeypatch.delenv("TACIT_DATA", raising=False)
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert data_directory() == tmp_path / "tacit"
    monkeypatch.delenv("XDG_DATA_HOME")
    assert data_directory() == Path.home() / ".local" / "share" / "tacit"
    monkeypatch.setattr("sys.platform", "darwin")
    assert data_directory() == Path.home() / "Library" / "Application Support" / "tacit"
    monkeypatch.setenv("TACIT_DATA", str(tmp_path / "mine"))
    assert data_directory() == tmp_path / "mine"


class Server(http.server.SimpleHTTPRequestHandler):
    """Serves a directory in silence, and counts."""

    asked: list[str]

    def log_message(self, *words):
        self.asked.append(self.path)


@pytest.fixture
def home(tmp_path):
    """A server of `home/`: its address, and the paths that were asked for."""
    (tmp_path / "home").mkdir()
    handler = type("Handler", (Server,), {"asked": []})
    server = http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), functools.partial(handler, directory=str(tmp_path / "home"))
    )
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}", handler.asked
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def published(sample, home, tmp_path):
    """The sample files as if published at `home`: the text files in an archive, the others alone."""
    address, _ = home
    files = []
    with tarfile.open(tmp_path / "home" / "babi.tar.gz", "w:gz") as archive:
        for file in sample.files:
            content = (sample.directory / file.path).read_bytes()
            name = file.path.rsplit("/", 1)[-1]
            if name.endswith(".txt"):
                member = tarfile.TarInfo(f"some-folder/{name}")
                member.size = len(content)
                archive.addfile(member, io.BytesIO(content))
                files.append(replace(file, homes=(f"{address}/babi.tar.gz",)))
            else:
                (tmp_path / "home" / name).write_bytes(content)
                files.append(replace(file, homes=(f"{address}/gone/{name}", f"{address}/{name}")))
    return tuple(files)


def test_what_is_published_is_downloaded_once(published, home, tmp_path):
    seen = []
    directory = tmp_path / "fresh"
    assert download_corpora(directory, lambda *report: seen.append(report), published) == 6
    assert len(read_corpora(directory, published).tasks) == 30
    assert home[1].count("/babi.tar.gz") == 1  # one archive for three files
    assert ("dev.json", (directory / "sim-m/dev.json").stat().st_size) in [report[:2] for report in seen]
    assert download_corpora(directory, None, published) == 0
    assert home[1].count("/babi.tar.gz") == 1


def test_an_interrupted_download_goes_on_where_it_stopped(published, home, tmp_path):
    directory = tmp_path / "fresh"

    def stop(name, received, total):
        if name == "dev.json":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        download_corpora(directory, stop, published)
    assert not list(directory.rglob("*.part"))
    assert not (directory / "sim-m/dev.json").exists()
    assert download_corpora(directory, None, published) == 2
    assert home[1].count("/train.json") == 1
    check_files(directory, published)


def test_a_wrong_content_is_never_written(published, home, tmp_path):
    (tmp_path / "home" / "test.json").write_text("[]")
    with pytest.raises(CorporaError, match=r"not the published file.*by hand from a page") as error:
        download_corpora(tmp_path / "fresh", None, published)
    assert "run `tacit data booking` again" in str(error.value)
    assert not (tmp_path / "fresh/sim-m/test.json").exists()
    assert (tmp_path / "fresh/sim-m/dev.json").exists()  # the others have arrived


def test_a_broken_archive_and_a_server_that_is_away_are_explained(published, home, tmp_path):
    archive = tmp_path / "home" / "babi.tar.gz"
    archive.write_bytes(archive.read_bytes()[:100])
    with pytest.raises(CorporaError, match=r"could not download dialog-babi/.*babi\.tar\.gz: ."):
        download_corpora(tmp_path / "fresh", None, published)
    away = (CorpusFile("sim-m/dev.json", "0" * 64, ("http://127.0.0.1:9/dev.json",), "a page"),)
    with pytest.raises(CorporaError, match=r"(?s)refused.*--data DIR"):
        download_corpora(tmp_path / "fresh", None, away, timeout=2.0)


def test_an_archive_without_a_file_is_explained(sample, tmp_path):
    empty = tmp_path / "empty.tar.gz"
    tarfile.open(empty, "w:gz").close()
    files = (replace(sample.files[0], homes=(empty.as_uri(),)),)
    with pytest.raises(CorporaError, match="the archive must contain dialog-babi-task1-API-calls-trn"):
        download_corpora(tmp_path / "fresh", None, files)


def test_the_sums_are_those_of_the_files(tmp_path):
    for directory, files in corpora(tmp_path):
        for file in files:
            assert hashlib.sha256((directory / file.path).read_bytes()).hexdigest() == file.sha256
    assert {len(file.sha256) for file in FILES} == {64}
    assert Sample(REAL, FILES).files[0].page.startswith("https://")
