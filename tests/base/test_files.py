import errno
import os
import threading
from pathlib import Path

import pytest

from tacit.base.files import (
    PART,
    NewFile,
    WriteError,
    check_distinct,
    check_writable,
    new_folder,
    write_atomically,
)


def parts(folder):
    return [file.name for file in Path(folder).iterdir() if file.name.endswith(PART)]


def test_the_name_is_taken_when_the_file_is_whole(tmp_path):
    out = tmp_path / "numbers"
    out.write_bytes(b"old")
    with NewFile(out) as file:
        file.write(b"new")
        assert out.read_bytes() == b"old"
    assert out.read_bytes() == b"new"
    assert not parts(tmp_path)


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_what_was_there_stays_where_writing_breaks_off(tmp_path, error):
    out = tmp_path / "numbers"
    out.write_bytes(b"old")

    def break_off():
        with NewFile(out) as file:
            file.write(b"new")
            raise error

    with pytest.raises(error):
        break_off()
    assert out.read_bytes() == b"old"
    assert not parts(tmp_path)


def fail_with(number):
    def fail(*arguments):
        raise OSError(number, os.strerror(number))

    return fail


@pytest.mark.parametrize("name", ["fsync", "replace", "chmod"])
def test_a_full_disk_leaves_what_was_there_and_no_part(tmp_path, monkeypatch, name):
    out = tmp_path / "numbers"
    out.write_bytes(b"old")
    monkeypatch.setattr(os, name, fail_with(errno.ENOSPC))
    with pytest.raises(WriteError, match=r"numbers.*cannot be written: No space left on device; make room"):
        write_atomically(out, b"new")
    assert out.read_bytes() == b"old"
    assert not parts(tmp_path)


def test_the_file_and_its_folder_are_brought_to_disk(tmp_path, monkeypatch):
    synced, replaced, fsync, replace = [], [], os.fsync, os.replace

    def note_sync(descriptor):
        synced.append((os.readlink(f"/proc/self/fd/{descriptor}"), len(replaced)))
        fsync(descriptor)

    def note_replace(*names):
        replaced.append(names)
        replace(*names)

    monkeypatch.setattr(os, "fsync", note_sync)
    monkeypatch.setattr(os, "replace", note_replace)
    write_atomically(tmp_path / "numbers", b"new")
    (file, before), (folder, after) = synced
    assert file.endswith(PART)
    assert before == 0
    assert folder == os.path.realpath(tmp_path)
    assert after == 1


def test_threads_that_write_one_file_do_not_tear_it(tmp_path):
    out, contents = tmp_path / "numbers", [bytes([65 + n]) * 200_000 for n in range(3)]
    threads = [
        threading.Thread(target=lambda each=each: [write_atomically(out, each) for _ in range(20)])
        for each in contents
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert out.read_bytes() in contents
    assert not parts(tmp_path)


def test_links_are_followed_and_permissions_kept(tmp_path):
    out, link = tmp_path / "numbers", tmp_path / "link"
    out.write_bytes(b"old")
    out.chmod(0o600)
    link.symlink_to(out)
    write_atomically(link, b"new")
    assert link.is_symlink()
    assert out.read_bytes() == b"new"
    assert out.stat().st_mode & 0o777 == 0o600


def test_what_is_no_file_is_refused(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for name, why in (("", "a directory"), ("pipe", "no regular file")):
        with pytest.raises(WriteError, match=f"it is {why}; give the name of a file"):
            NewFile(tmp_path / name)
    with pytest.raises(WriteError, match="No such file or directory"):
        NewFile(tmp_path / "missing" / "numbers")


def linked(folder, kind):
    """A file, and another name of it."""
    file, other = folder / "logs", folder / "other"
    file.write_text("1 2 3")
    if kind == "path":
        return file, folder / "nowhere" / ".." / "logs"
    (os.link if kind == "hard link" else os.symlink)(file, other)
    return file, other


@pytest.mark.parametrize("kind", ["path", "hard link", "symbolic link"])
def test_an_output_that_is_an_input_is_refused_by_whatever_name(tmp_path, kind):
    (tmp_path / "nowhere").mkdir()
    file, other = linked(tmp_path, kind)
    for out, given in ((file, other), (other, file)):
        with pytest.raises(ValueError, match=r"must not replace what is read, got .*; give another place"):
            check_distinct([tmp_path / "new", out], [tmp_path / "missing", given])
    with pytest.raises(ValueError, match="every output must have a place of its own"):
        check_distinct([file, other])


def test_outputs_that_are_not_there_yet_are_told_apart_by_where_they_lead(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "folder")
    with pytest.raises(ValueError, match="place of its own"):
        check_distinct([tmp_path / "folder" / "new", tmp_path / "link" / "new"])
    check_distinct([tmp_path / "folder" / "new", None, None], [tmp_path / "new"])


def test_a_folder_takes_its_name_when_it_is_whole(tmp_path):
    with new_folder(tmp_path / "made") as folder:
        (folder / "inside").mkdir()
        (folder / "inside" / "file").write_text("1")
        assert not (tmp_path / "made").exists()
    assert (tmp_path / "made" / "inside" / "file").read_text() == "1"
    assert not parts(tmp_path)


def test_a_folder_that_breaks_off_leaves_nothing(tmp_path, monkeypatch):
    def break_off(error):
        with new_folder(tmp_path / "made") as folder:
            (folder / "file").write_text("1")
            raise error

    with pytest.raises(KeyboardInterrupt):
        break_off(KeyboardInterrupt())
    with pytest.raises(WriteError, match=r"made.*cannot be written: No space left on device; make room"):
        break_off(OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)))
    monkeypatch.setattr(os, "fsync", fail_with(errno.EIO))
    with pytest.raises(WriteError, match="Input/output error"), new_folder(tmp_path / "made") as folder:
        (folder / "file").write_text("1")
    assert not list(tmp_path.iterdir())


def test_whether_a_place_can_be_written_is_found_out_without_a_trace(tmp_path):
    check_writable(tmp_path / "new")
    assert not list(tmp_path.iterdir())
    with pytest.raises(WriteError, match=r"cannot be written: No such file or directory; give another place"):
        check_writable(tmp_path / "nowhere" / "new")
    with pytest.raises(WriteError, match="it is a directory"):
        check_writable(tmp_path)
