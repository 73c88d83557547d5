"""Options: file, environment, flags, in that order; each is checked, and none is unknown."""

import re
from dataclasses import FrozenInstanceError, fields
from pathlib import Path

import pytest

from tacit.service.options import OPTIONS, ServiceOptions, read_options, read_settings


def test_flags_win_over_the_environment_and_that_over_the_file(tmp_path):
    file = tmp_path / "tacit.toml"
    file.write_text('port = 1\nlog = "text"\nagents = 3\norigins = ["https://shop.example"]\n')
    options = read_options(
        {"TACIT_SERVE_PORT": "2", "TACIT_SERVE_AGENTS": "4", "TACIT": "x"}, {"port": 3, "data": None}, file
    )
    assert (options.port, options.agents, options.log) == (3, 4, "text")
    assert (options.origins, options.data) == (("https://shop.example",), Path("tacit-data"))


def test_the_environment_may_name_the_file(tmp_path):
    file = tmp_path / "tacit.toml"
    file.write_text("port = 7")
    assert read_options({"TACIT_SERVE_CONFIG": str(file)}, {}).port == 7


def test_text_is_read_as_what_it_should_be():
    told = {
        "TACIT_SERVE_ORIGINS": "https://a.example, http://localhost:3000/",
        "TACIT_SERVE_ACCESS_LOG": "true",
        "TACIT_SERVE_BODY_SECONDS": "2.5",
        "TACIT_SERVE_DATA": "/var/lib/tacit",
    }
    options = read_options(told, {})
    assert options.origins == ("https://a.example", "http://localhost:3000")
    assert (options.access_log, options.body_seconds, options.data) == (True, 2.5, Path("/var/lib/tacit"))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("port", 70_000),
        ("port", True),
        ("port", "x"),
        ("port", 1.5),
        ("host", ""),
        ("host", 1),
        ("data", ""),
        ("database", "mysql://somewhere"),
        ("public_url", "ftp://somewhere"),
        ("origins", ["*"]),
        ("origins", ["https://a.example/path"]),
        ("origins", [1]),
        ("body_bytes", 0),
        ("body_seconds", float("nan")),
        ("key_rate", -1),
        ("stranger_rate", "often"),
        ("agents", 0),
        ("open_episodes", None),
        ("open_metrics", "maybe"),
        ("open_metrics", 1),
        ("log", "xml"),
        ("stop_seconds", 0),
        ("proxies", 7),
    ],
)
def test_what_is_wrong_is_refused_with_its_rule(name, value):
    with pytest.raises(ValueError, match=f"{name} is .*; got"):
        ServiceOptions(**{name: value})


def test_unknown_names_are_refused_wherever_they_stand(tmp_path):
    file = tmp_path / "tacit.toml"
    file.write_text("body_bits = 1")
    with pytest.raises(ValueError, match=r"tacit.toml: there is no option 'body_bits'; options are host"):
        read_options({}, {}, file)
    with pytest.raises(ValueError, match="in the environment, TACIT_SERVE_PROT: there is no option"):
        read_options({"TACIT_SERVE_PROT": "1"}, {})
    with pytest.raises(ValueError, match="there is no option"):
        read_options({}, read_settings(["prot=1"]))
    with pytest.raises(ValueError, match="--set takes NAME=VALUE"):
        read_settings(["port"])


def test_files_that_cannot_be_read_are_told(tmp_path):
    with pytest.raises(OSError, match="cannot be read: No such file"):
        read_options({}, {}, tmp_path / "none.toml")
    (tmp_path / "bad.toml").write_text("port: 1")
    with pytest.raises(ValueError, match="holds options in TOML"):
        read_options({}, {}, tmp_path / "bad.toml")


def test_a_password_is_not_repeated_in_errors():
    with pytest.raises(ValueError, match="got something else") as refused:
        read_options({"TACIT_SERVE_DATABASE": "mysql://user:hunter2@host/db"}, {})
    assert "hunter2" not in str(refused.value)


def test_every_option_has_a_rule_and_a_default_that_keeps_it():
    options = ServiceOptions()
    assert set(OPTIONS) == {each.name for each in fields(options)}
    with pytest.raises(FrozenInstanceError):
        options.port = 1


def test_the_page_names_every_option_and_its_default():
    page = (Path(__file__).parents[2] / "docs" / "how-to" / "serve.md").read_text()
    table = page.partition("## Options")[2].partition("## Keys")[0]
    named = [
        name
        for row in table.splitlines()
        for name in re.findall(r"`(\w+)`", row.split("|")[1] if "|" in row else "")
    ]
    assert sorted(named) == sorted(OPTIONS)
    for row in (row.split("|") for row in table.splitlines() if row.startswith("| `")):
        names, values = re.findall(r"`(\w+)`", row[1]), [each.strip() for each in row[2].split(",")]
        for name, value in zip(names, values, strict=False):
            if isinstance(OPTIONS[name].default, int | float):
                assert read_options({}, {name: value}) == ServiceOptions(), name
