"""The files of deploy/: as far as they can be checked without what they are for."""

import re
import shutil
import subprocess
from configparser import RawConfigParser
from pathlib import Path

import yaml

from tacit.service.options import FILE, OPTIONS, PREFIX, read_options

DEPLOY = Path(__file__).parents[2] / "deploy"
ALL = "\n".join(path.read_text() for path in sorted(DEPLOY.iterdir()) if path.is_file())


def instructions():
    """Return the lines of the Dockerfile, those that go on put together."""
    text = re.sub(r"^#.*\n", "", (DEPLOY / "Dockerfile").read_text(), flags=re.M).replace("\\\n", " ")
    return [line.split(maxsplit=1) for line in text.splitlines() if line.strip()]


def test_every_option_that_is_named_is_one():
    named = set(re.findall(rf"\b{PREFIX}([A-Z_]+)", ALL))
    assert named
    assert {name.lower() for name in named} - {FILE} <= set(OPTIONS)


def test_the_dockerfile_has_two_stages_a_user_and_a_check_of_health():
    words = [name for name, _ in instructions()]
    assert words.count("FROM") == 2
    known = {"FROM", "WORKDIR", "RUN", "COPY", "ENV", "USER", "VOLUME", "EXPOSE", "STOPSIGNAL"}
    assert set(words) <= known | {"HEALTHCHECK", "ENTRYPOINT", "CMD"}
    assert ["USER", "tacit"] in instructions()
    assert words.index("USER") < words.index("ENTRYPOINT")
    (check,) = [told for name, told in instructions() if name == "HEALTHCHECK"]
    assert "/readyz" in check
    compile(re.search(r'"-c", "(.*)"\]', check)[1], "check", "exec")
    (told,) = [told for name, told in instructions() if name == "ENV"]
    options = read_options(dict(re.findall(r"(\w+)=(\S+)", told)), {})
    assert (options.host, options.port, str(options.data)) == ("0.0.0.0", 8040, "/var/lib/tacit")


def test_what_the_dockerfile_copies_is_there():
    for name, told in instructions():
        if name == "COPY" and not told.startswith("--from"):
            for each in told.split()[:-1]:
                assert (DEPLOY.parent / each).exists(), each


def test_compose_is_whole():
    compose = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    tacit, database = compose["services"]["tacit"], compose["services"]["database"]
    used = {each.partition(":")[0] for service in (tacit, database) for each in service["volumes"]}
    assert used == set(compose["volumes"])
    assert set(database["secrets"]) == set(compose["secrets"])
    assert tacit["depends_on"]["database"]["condition"] == "service_healthy"
    assert database["healthcheck"]["test"]
    assert all(port.startswith("127.0.0.1:") for port in tacit["ports"])
    assert (DEPLOY / tacit["build"]["context"] / tacit["build"]["dockerfile"]).is_file()
    told = {name: value for name, value in tacit["environment"].items() if name.startswith(PREFIX)}
    assert read_options(told, {}).public_url == "http://127.0.0.1:8040"


def test_the_unit_is_one(tmp_path):
    unit = RawConfigParser(strict=False, allow_no_value=True)
    unit.optionxform = str
    unit.read(DEPLOY / "tacit.service")
    assert unit.sections() == ["Unit", "Service", "Install"]
    assert unit["Service"]["ExecStart"].endswith("tacit serve")
    verify = shutil.which("systemd-analyze")
    if verify is None:
        return
    copy = tmp_path / "tacit.service"
    copy.write_text((DEPLOY / "tacit.service").read_text().replace("/opt/tacit/bin/tacit", "/bin/true"))
    done = subprocess.run([verify, "verify", copy], capture_output=True, text=True, timeout=60)
    own = [line for line in done.stderr.splitlines() if "tacit.service" in line]
    assert own == [], done.stderr
