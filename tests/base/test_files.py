import errno
import os
import threading
from pathlib import Path

import pytest

from tacit.base.files import PART, NewFile, WriteError, write_atomically


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
