"""Keys: who is let in to what, with keys and without; made and revoked while the service runs."""

import json
import os
import stat
import time
from hmac import compare_digest

import pytest
from operating import bearer, operating, shop_with
from serving import SHOP
from starlette.routing import Route
from typer.testing import CliRunner

from tacit.cli.main import app
from tacit.service.keys import KEYS, LOOK_EVERY, Keys


def make(folder, *scopes, name="k", agents=()):
    return Keys(folder).create(name, scopes, agents, 0.0)


def status(response):
    return response.status_code, response.json().get("error", {}).get("code")


def test_without_keys_this_machine_alone_is_answered_by_its_own_name(tmp_path):
    with operating(tmp_path) as client:
        assert client.get("/v1/agents").status_code == 200
        assert client.get("/v1/agents", headers={"host": "[::1]:8040"}).status_code == 200
        for host in ("evil.example", "evil.example:8040", "[", ""):
            assert status(client.get("/v1/agents", headers={"host": host})) == (401, "no-key")
    with operating(tmp_path, client=("10.0.0.7", 5000)) as client:
        refused = client.get("/v1/agents")
        assert status(refused) == (401, "no-key")
        assert "tacit keys create" in refused.json()["error"]["message"]
        assert client.get("/healthz").status_code == 200


def test_without_keys_pages_of_other_sites_cannot_reach_it(tmp_path):
    with operating(tmp_path) as client:
        other = client.put("/v1/agents/shop", json=SHOP, headers={"origin": "https://evil.example"})
        assert status(other) == (403, "forbidden")
        own = client.put("/v1/agents/shop", json=SHOP, headers={"origin": "http://127.0.0.1:8040"})
        assert own.status_code == 201


def test_with_keys_every_route_needs_one(tmp_path):
    token = make(tmp_path, "admin")
    with operating(tmp_path, stranger_rate=0) as client:
        for route in (each for each in client.app.routes if isinstance(each, Route)):
            if route.path.startswith("/v1") or route.path == "/metrics":
                path = route.path.format(name="shop", episode="e")
                for method in route.methods - {"HEAD"}:
                    refused = client.request(method, path, content=b"{}")
                    assert (refused.status_code, path) == (401, path)
                    assert refused.headers["www-authenticate"] == 'Bearer realm="tacit"'
        assert client.get("/v1/agents", headers=bearer(token)).status_code == 200
        assert client.get("/metrics", headers=bearer(token)).status_code == 200


def test_wrong_keys_are_refused(tmp_path):
    token = make(tmp_path, "admin")
    other = token[:-1] + ("A" if token[-1] != "A" else "B")
    with operating(tmp_path, stranger_rate=0) as client:
        for wrong in (other, token + "x", token[:-1], token.upper(), "x", "", "tacit__", "\xe4"):
            refused = client.get("/v1/agents", headers=[(b"authorization", f"Bearer {wrong}".encode())])
            assert refused.status_code == 401, wrong
        assert "invalid_token" in client.get("/v1/agents", headers=bearer(other)).headers["www-authenticate"]
        assert client.get("/v1/agents", headers={"authorization": f"Basic {token}"}).status_code == 401
        assert client.get("/v1/agents", headers={"authorization": f"bearer {token}"}).status_code == 200


def test_a_scope_is_kept_to(tmp_path):
    admin = make(tmp_path, "admin", name="a")
    decide, feedback = make(tmp_path, "decide", name="d"), make(tmp_path, "feedback", name="f")
    with operating(tmp_path) as client:
        assert client.put("/v1/agents/shop", json=SHOP, headers=bearer(decide)).status_code == 403
        assert client.put("/v1/agents/shop", json=SHOP, headers=bearer(admin)).status_code == 201
        start = {"context": "new", "state": "start", "id": "e"}

        def post(path, body, token):
            return client.post(f"/v1/agents/shop{path}", json=body, headers=bearer(token))

        assert status(post("/decide", start, feedback)) == (403, "forbidden")
        assert post("/decide", start, decide).status_code == 201
        step = {"step": 2, "state": "cart"}
        assert post("/episodes/e/actions", step, decide).status_code == 200
        assert post("/episodes/e/link", {}, decide).status_code == 200
        assert post("/episodes/e/link", {}, feedback).status_code == 200
        assert post("/episodes/e/feedback", {"feedback": "hm"}, decide).status_code == 403
        assert post("/episodes/e/feedback", {"feedback": "hm"}, feedback).status_code == 200
        assert client.get("/v1/agents/shop", headers=bearer(feedback)).status_code == 403


def test_a_key_may_be_for_one_agent(tmp_path):
    admin, own = make(tmp_path, "admin", name="a"), make(tmp_path, "admin", name="o", agents=["shop"])
    with operating(tmp_path) as client:
        for name in ("shop", "other"):
            assert client.put(f"/v1/agents/{name}", json=SHOP, headers=bearer(admin)).status_code == 201
        assert client.get("/v1/agents/shop", headers=bearer(own)).status_code == 200
        assert status(client.get("/v1/agents/other", headers=bearer(own))) == (403, "forbidden")
        assert status(client.get("/v1/agents", headers=bearer(own))) == (403, "forbidden")
        assert client.get("/metrics", headers=bearer(own)).status_code == 403


def test_keys_count_soon_after_they_are_made_and_not_much_longer_than_that(tmp_path):
    with operating(tmp_path) as client:
        assert client.get("/v1/agents").status_code == 200
        token = make(tmp_path, "admin")
        time.sleep(LOOK_EVERY)
        assert client.get("/v1/agents").status_code == 401
        assert client.get("/v1/agents", headers=bearer(token)).status_code == 200
        Keys(tmp_path).revoke("k")
        time.sleep(LOOK_EVERY)
        assert client.get("/v1/agents", headers=bearer(token)).status_code == 401
        assert client.get("/v1/agents").status_code == 401  # who revokes the last key lets nobody in


def test_the_file_holds_no_key_and_is_its_owners(tmp_path):
    token = make(tmp_path, "decide")
    content = (tmp_path / KEYS).read_text()
    assert token.split("_", 2)[2] not in content
    make(tmp_path, "decide", name="second")
    assert stat.S_IMODE(os.stat(tmp_path / KEYS).st_mode) == 0o600
    assert [key["name"] for key in json.loads((tmp_path / KEYS).read_text())["keys"]] == ["k", "second"]


def test_a_damaged_file_lets_nobody_in(tmp_path):
    token = make(tmp_path, "admin")
    with operating(tmp_path) as client:
        (tmp_path / KEYS).write_text("{")
        assert status(client.get("/v1/agents", headers=bearer(token))) == (503, "unready")
        assert status(client.get("/v1/agents")) == (503, "unready")


@pytest.mark.parametrize(
    ("name", "scopes", "words"),
    [("a b", ["decide"], "a key's name"), ("", ["decide"], "a key's name"), ("k", ["all"], "got all"),
     ("k", [], "got none"), ("taken", ["decide"], "that of no other")],
)  # fmt: skip
def test_keys_that_cannot_be_are_refused(tmp_path, name, scopes, words):
    make(tmp_path, "decide", name="taken")
    with pytest.raises(ValueError, match=words):
        Keys(tmp_path).create(name, scopes, [], 0.0)


def test_the_commands(tmp_path):
    runner, data = CliRunner(), ["--data", str(tmp_path / "new")]
    made = runner.invoke(
        app, ["keys", "create", "--scope", "decide", "--scope", "feedback", "--name", "shop-web", *data]
    )
    assert made.exit_code == 0
    token = made.stdout.strip()
    assert Keys(tmp_path / "new").find(token).scopes == ("decide", "feedback")
    listed = runner.invoke(app, ["keys", "list", *data]).stdout
    assert "shop-web" in listed
    assert "decide, feedback  all agents" in listed
    assert token not in listed
    assert runner.invoke(app, ["keys", "revoke", "shop-web", *data]).exit_code == 0
    again = runner.invoke(app, ["keys", "revoke", "shop-web", *data])
    assert (again.exit_code, "there is no key 'shop-web'" in again.output) == (1, True)
    assert "nobody is let in" in runner.invoke(app, ["keys", "list", *data]).stdout


def test_a_shop_without_keys_goes_on_as_ever(tmp_path):
    with shop_with(tmp_path) as caller:
        caller.play("new", ["start", "cart"], "thanks")


def test_what_root_makes_is_the_services(tmp_path):
    data = tmp_path / "data"
    data.mkdir()
    if os.geteuid() == 0:
        os.chown(data, 12_345, 12_345)
    for name in ("one", "two"):
        make(data, "decide", name=name)
        found = os.stat(data / KEYS)
        assert (found.st_uid, found.st_gid) == (os.stat(data).st_uid, os.stat(data).st_gid)


def test_keys_are_compared_in_constant_time(tmp_path, monkeypatch):
    """By hashes, whole: a wrong key that begins as a right one does is compared as any other."""
    compared = []

    def compare(one, other):
        compared.append((one, other))
        return compare_digest(one, other)

    monkeypatch.setattr("tacit.service.keys.hmac.compare_digest", compare)
    keys = Keys(tmp_path)
    token = keys.create("shop", ["decide"], [], 0.0)
    wrong = token[:-1] + ("a" if token[-1] != "a" else "b")
    assert keys.find(wrong) is None
    assert keys.find(token).name == "shop"
    assert [len(one) == len(other) == 64 for one, other in compared] == [True, True]
    assert token not in str(compared)
