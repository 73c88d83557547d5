"""The list of licences: true to the lock file, and no licence that is not accepted reaches users."""

import re
from importlib.metadata import PathDistribution

import pytest
from licences import MODELS, PAGE, Row, is_accepted, licence_of, list_licences, write_page
from lock import LOCK, Pin, read_lock


@pytest.fixture(scope="module")
def rows():
    return list_licences()


def listed(text):
    """Return the packages of the page, with version and licence."""
    found = re.findall(r"(?m)^\| \**([\w.-]+?)\** \| (\d[^|]*) \| ([^|]+) \| [^|]+ \|$", text)
    return {Pin(name, version): licence for name, version, licence in found}


def refused(rows):
    """Return the packages that users install under a licence that is not accepted."""
    return {row.pin.name: row.licence for row in rows if row.for_users and not is_accepted(row.licence)}


def test_the_page_lists_what_is_locked():
    assert set(listed(PAGE.read_text())) == set(read_lock(LOCK.read_text())), "run make licences"


def test_no_licence_that_is_not_accepted_reaches_users(rows):
    assert len([row for row in rows if row.for_users]) > 50
    assert refused(rows) == {}


def test_the_page_says_of_what_users_install_that_it_is_accepted(rows):
    stated = listed(PAGE.read_text())
    assert [row.pin for row in rows if row.for_users and not is_accepted(stated[row.pin])] == []


def test_control_a_licence_that_is_not_accepted_is_found(rows):
    strong = [
        Row(Pin("x", "1"), "GPL-3.0-only", ("core",), True),
        Row(Pin("y", "1"), "unknown", ("ray",), False),
    ]
    tool = Row(Pin("z", "1"), "GPL-3.0-only", ("dev",), True)
    assert refused([*rows, *strong, tool]) == {"x": "GPL-3.0-only", "y": "unknown"}
    assert listed(write_page([*rows, tool]))[Pin("z", "1")] == "GPL-3.0-only"


def test_packages_stand_with_what_they_are_for(rows):
    by_name = {row.pin.name: row for row in rows}
    assert (by_name["numpy"].purposes[0], by_name["numpy"].direct) == ("core", True)
    assert (by_name["llvmlite"].purposes, by_name["llvmlite"].direct) == (("core",), False)
    assert (by_name["ruff"].for_users, by_name["zstandard"].for_users) == (False, True)
    assert all(by_name[name].purposes == ("models",) for name in MODELS)


@pytest.mark.parametrize(
    ("metadata", "licence"),
    [
        ("License-Expression: MIT\nLicense: something else", "MIT"),
        ("License: Apache 2.0", "Apache-2.0"),
        ("License: BSD-3-Clause\nClassifier: License :: OSI Approved :: BSD License", "BSD-3-Clause"),
        ("License: a text\n of lines\nClassifier: License :: OSI Approved :: MIT License", "MIT"),
        ("License-Expression: GPL-3.0-only", "GPL-3.0-only"),
        ("License: UNKNOWN", "UNKNOWN"),
        ("Summary: nothing of it", "unknown"),
    ],
)
def test_a_licence_is_what_the_metadata_states(metadata, licence, tmp_path):
    (tmp_path / "METADATA").write_text(f"Metadata-Version: 2.1\nName: a\nVersion: 1\n{metadata}\n")
    assert licence_of(PathDistribution(tmp_path)) == licence


@pytest.mark.parametrize(
    ("expression", "accepted"),
    [
        ("MIT", True),
        ("MIT OR GPL-3.0-only", True),
        ("MIT AND GPL-3.0-only", False),
        ("(MIT OR GPL-3.0-only) AND (BSD-3-Clause OR GPL-3.0-only)", True),
        ("MIT AND (GPL-3.0-only OR AGPL-3.0-only)", False),
        ("BSD-2-Clause AND Apache-2.0 WITH LLVM-exception", True),
        ("GPL-3.0-only OR MIT AND AGPL-3.0-only", False),
    ],
)
def test_sums_and_choices_of_licences(expression, accepted):
    assert is_accepted(expression) is accepted
