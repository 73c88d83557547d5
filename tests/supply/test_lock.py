"""The lock file: every package has hashes, no index is named, and what was tried stays."""

import re
from importlib.metadata import version

import pytest
from documents import ROOT
from lock import LOCK, Listed, Pin, complete, find_hashes, read_lock, write_lock

NAMED = re.compile(r"://|(?m:^\s*-)(?!-hash=)|@")
"""Addresses and options, which would name a place that files come from."""


def without_hashes(text):
    """Return the packages that pip would refuse to install: those without a sha256."""
    return [
        pin.name for pin, hashes in read_lock(text).items() if not any(len(each) == 64 for each in hashes)
    ]


def test_every_package_has_hashes_and_no_index_is_named():
    text = LOCK.read_text()
    assert len(read_lock(text)) > 100
    assert without_hashes(text) == []
    assert not NAMED.search(text)
    assert write_lock(read_lock(text)) == text


def test_control_a_package_without_hashes_and_an_index_are_found():
    assert without_hashes("a==1\nb==2 \\\n    --hash=sha256:" + "0" * 64) == ["a"]
    for line in ("--find-links x", "-i x", "a @ b", "https://a.b/c"):
        assert NAMED.search(f"a==1\n{line}\n")


def test_make_installs_nothing_whose_hash_is_unknown():
    recipes = (ROOT / "Makefile").read_text().replace("\\\n", " ").splitlines()
    (line,) = [line for line in recipes if "--requirement requirements.lock" in line]
    assert "--require-hashes" in line
    assert "--no-deps" in line


def test_what_is_installed_is_what_is_locked():
    """Torch may say of which build it is: 2.13.0+cpu is 2.13.0."""
    found = {pin: version(pin.name).partition("+")[0] for pin in read_lock(LOCK.read_text())}
    assert {pin.name: there for pin, there in found.items() if there != pin.version} == {}


CPU_BUILD = "6746dbcbeb526eb61330b76b41ff1b4eb848951103a892eeb080dfa2b264667b"
"""Torch 2.13.0+cpu for Python 3.11 on Linux."""


def test_torch_is_the_build_that_needs_no_cuda():
    """Its plain file for that system, were it allowed, would be taken instead, and cannot be imported without CUDA."""
    assert CPU_BUILD in read_lock(LOCK.read_text())[Pin("torch", "2.13.0")]
    plain, cpu, mac = (
        Listed("torch-2.13.0-cp311-cp311-manylinux_2_28_x86_64.whl", "plain"),
        Listed("torch-2.13.0+cpu-cp311-cp311-manylinux_2_28_x86_64.whl", "cpu"),
        Listed("torch-2.13.0-cp311-cp311-macosx_14_0_arm64.whl", "mac"),
    )
    assert find_hashes(Pin("torch", "2.13.0"), [plain, cpu, mac]) == {"cpu", "mac"}
    assert find_hashes(Pin("torch", "2.13.0"), [plain, mac]) == {"plain", "mac"}


def test_files_of_every_platform_and_of_local_builds_count_and_other_versions_do_not():
    files = [
        Listed("Torch-2.13.0+cpu-cp311-cp311-linux_x86_64.whl", "cpu"),
        Listed("torch-2.13.0-cp312-cp312-macosx_14_0_arm64.whl", "mac"),
        Listed("torch-2.13.0.tar.gz", "source"),
        Listed("torch-2.13.0.post1-cp311-cp311-linux_x86_64.whl", "later"),
        Listed("torch-2.13.1-cp311-cp311-linux_x86_64.whl", "other"),
        Listed("torchvision-2.13.0-cp311-cp311-linux_x86_64.whl", "another"),
        Listed("torch-2.13.0.win32.exe", "format of the past"),
    ]
    assert find_hashes(Pin("torch", "2.13.0"), files) == {"cpu", "mac", "source"}


def test_a_file_that_differs_between_two_places_is_refused():
    files = [Listed("a-1-py3-none-any.whl", "one"), Listed("a-1-py3-none-any.whl", "two")]
    with pytest.raises(ValueError, match="find out which is genuine"):
        find_hashes(Pin("a", "1"), files)


def test_what_has_hashes_is_not_looked_up_again_and_a_version_without_files_is_refused():
    tried = {Pin("a", "1"): {"tried"}}
    assert complete(tried, lambda name: [Listed("a-1-py3-none-any.whl", "new")]) == tried
    with pytest.raises(ValueError, match="'b==2'"):
        complete({**tried, Pin("b", "2"): set()}, lambda name: [])
