"""No request makes the service read or write a file that a client names: by path, id, description or agent's file."""

import json
import sys
from urllib.parse import quote

import pytest
from serving import SHOP, Caller, refusal, serving
from starlette.testclient import TestClient

from tacit.agent import Agent
from tacit.service.options import ServiceOptions
from tacit.service.serving import JOURNAL, make_service
from tacit.service.sqlite import SqliteStore
from tacit.text.conversations import Conversations
from tacit.text.settings import TextSettings

MARK = "named-by-a-client"
NAMES = [
    f"../{MARK}",
    f"/tmp/{MARK}",
    f"..%2f{MARK}",
    f"~/{MARK}",
    f"file:///{MARK}",
    f"{MARK}\x00",
    f"C:\\{MARK}",
]
TOUCHING = ("open", "os.", "shutil.", "sqlite3.", "subprocess.", "tempfile.", "pathlib.", "glob.", "import")
TALK = {"text": {"horizon": 2}}


class Touched(list):
    """What the process did with files whose names hold the mark, while `watching`."""

    watching = False

    def hear(self, event, told):
        if self.watching and event.startswith(TOUCHING) and event != "os.putenv" and MARK in repr(told[:3]):
            self.append((event, repr(told)[:200]))


@pytest.fixture(scope="module")
def hook():
    touched = Touched()
    sys.addaudithook(touched.hear)  # for good, so it listens only now and then
    return touched


@pytest.fixture
def touched(hook):
    hook.clear()
    hook.watching = True
    yield hook
    hook.watching = False


def ask_all(client, name):
    """Name a file wherever a request of the description can name something; return the statuses."""
    document, statuses, spelled = client.get("/openapi.json").json(), [], quote(name, safe="")
    said = {"context": name, "state": name, "feedback": name, "actions": [name], "id": name, "user": name}
    bodies = [said, {"layout": name}, {"text": {"model": name}}, {"action": name}, {"step": 1, "state": name}]
    bodies += [SHOP | {"layout": SHOP["layout"] | {"contexts": [name, "b"], "names": name}}]
    bodies += [{"anchors": [{"context": name, "state": name, "feedback": name, "reward": 1}]}]
    for path, methods in document["paths"].items():
        for method in methods:
            if path.endswith("/watch") or method == "delete":
                continue
            for agent, episode in (("shop", spelled), (spelled, "e0"), (spelled, spelled)):
                url = path.replace("{name}", agent).replace("{episode}", episode) + f"?context={spelled}"
                for body in bodies if method in ("post", "put") else [None]:
                    content = None if body is None else json.dumps(body)
                    statuses.append(client.request(method, url, content=content).status_code)
    return statuses


@pytest.mark.parametrize("name", NAMES)
def test_no_request_touches_a_file_that_it_names(tmp_path, touched, name):
    with serving(tmp_path) as client:
        assert client.put("/v1/agents/shop", json=SHOP).status_code == 201
        statuses = ask_all(client, name)
        for path in (f"/{name}", f"/page/{name}", f"/docs/{name}", f"/v1/../{name}", f"/page/..%2f{name}"):
            statuses.append(client.get(quote(path, safe="/%")).status_code)
    assert touched == []
    assert max(statuses) < 500
    assert not [each for each in tmp_path.rglob("*") if MARK in each.name]


def test_the_watch_sees_what_is_touched(tmp_path, touched):
    """The control: a file of that name that is looked for is heard of."""
    with pytest.raises(FileNotFoundError):
        (tmp_path / MARK).read_bytes()
    assert touched


@pytest.mark.parametrize(
    "text", [{"model": f"/tmp/{MARK}"}, {"encoder": f"/tmp/{MARK}"}, {"encoder": "endpoint:m"}]
)
def test_models_are_those_that_the_service_allows(tmp_path, touched, text):
    (setting,) = text
    with serving(tmp_path) as client:
        refused = client.put("/v1/agents/talk", json={"text": text})
        assert refusal(refused) == (422, "invalid", f"text.{setting}")
        assert "its option `models`" in refused.json()["error"]["message"]
        assert client.get("/v1/agents").json() == {"agents": []}
    assert touched == []


def test_whoever_runs_the_service_allows_others(tmp_path):
    options = ServiceOptions(data=tmp_path, models=("endpoint:m",))
    service = make_service(SqliteStore(tmp_path / JOURNAL), options=options)
    with TestClient(service, base_url="http://localhost", client=("127.0.0.1", 1)) as client:
        refused = client.put("/v1/agents/talk", json={"text": {"encoder": "endpoint:other"}})
        assert "bundled, endpoint:m, got 'endpoint:other'" in refused.json()["error"]["message"]
        made = client.put("/v1/agents/talk", json={"text": {"encoder": "endpoint:m"}})
        assert "option `models`" not in made.text


@pytest.mark.parametrize("where", ["settings", "model"])
def test_the_file_of_an_agent_names_no_model_of_its_own(tmp_path, touched, where, monkeypatch):
    agent = Agent(Conversations(TextSettings(horizon=2)))
    state = agent.stage.to_state()
    if where == "model":  # the settings are as described, the model within is not
        state["model"]["settings"]["encoder"] = f"/tmp/{MARK}"
        monkeypatch.setattr(type(agent.stage), "to_state", lambda self: state)
    else:
        settings = agent.world.to_state()
        settings["settings"]["encoder"] = f"/tmp/{MARK}"
        monkeypatch.setattr(type(agent.world), "to_state", lambda self: settings)
    content = agent.still().pack()
    monkeypatch.undo()
    with serving(tmp_path) as client:
        assert client.put("/v1/agents/talk", json=TALK).status_code == 201
        before = Caller(client, "talk").host.snapshot()()
        refused = client.put("/v1/agents/talk/checkpoint", content=content)
        assert refusal(refused) == (409, "conflict", "text")
        assert Caller(client, "talk").host.snapshot()() == before
        own = client.get("/v1/agents/talk/checkpoint").content
        assert client.put("/v1/agents/talk/checkpoint", content=own).status_code == 200
    assert touched == []
