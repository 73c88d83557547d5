"""Links: signed, expiring, for one episode; following one gives nothing, pressing its button does."""

import os
import re
import stat
from types import SimpleNamespace
from urllib.parse import urlencode, urlsplit

import pytest
from operating import operating, shop_with
from serving import Caller, Clock

from tacit.service.errors import RefusedError
from tacit.service.link_pages import MOST_FORM, choices, read_form
from tacit.service.links import SECRET, Grant, LinkError, Signer, open_signer


def link(caller, episode="e", **body):
    """Return the path of a link."""
    made = caller.post(f"/episodes/{episode}/link", **body)
    assert made.status_code == 200, made.text
    return urlsplit(made.json()["url"]).path


def begin(caller, episode="e"):
    caller.post("/decide", context="new", state="start", id=episode)
    caller.act(episode, 2, "cart")


def ended(caller, episode="e"):
    told = caller.client.get(f"/v1/agents/shop/episodes/{episode}").json()
    return told["ended"], told["feedback"]


def test_following_a_link_gives_nothing_and_its_button_does(tmp_path):
    with shop_with(tmp_path) as caller:
        begin(caller)
        path = link(caller, feedback="thanks")
        for _ in range(3):
            shown = caller.client.get(path)
            assert (shown.status_code, shown.headers["cache-control"]) == (200, "no-store")
            assert "Your answer: thanks" in shown.text
            assert caller.client.head(path).status_code == 200
        assert ended(caller) == (None, None)
        given = caller.client.post(path)
        assert (given.status_code, "Thank you" in given.text) == (200, True)
        assert ended(caller) == ("feedback", "thanks")
        assert caller.client.post(path).status_code == 200  # pressed twice
        assert caller.client.get(path).status_code == 410
        assert caller.post("/episodes/e/link").status_code == 409


def test_without_settled_feedback_the_person_chooses(tmp_path):
    with shop_with(tmp_path) as caller:
        begin(caller)
        path = link(caller)
        shown = caller.client.get(path).text
        assert re.findall(r'value="([^"]*)"', shown) == ["&#34;thanks&#34;", "&#34;hm&#34;"]
        for wrong in ({}, {"feedback": '"nothing"'}, {"feedback": "thanks"}, {"text": "hm"}):
            assert caller.client.post(path, data=wrong).status_code == 422
        assert caller.client.post(path, data={"feedback": '"hm"'}).status_code == 200
        assert ended(caller) == ("feedback", "hm")
        assert caller.client.post(path, data={"feedback": '"thanks"'}).status_code == 409


def test_where_nobody_can_choose_feedback_must_be_settled(tmp_path):
    layout = {
        "states": [["start"]],
        "actions": ["ask", "show", "offer"],
        "contexts": ["new"],
        "feedback": {"kind": "vectors", "dimension": 2},
    }
    with operating(tmp_path) as client:
        caller = Caller(client, "v")
        assert caller.put({"layout": layout}).status_code == 201
        caller.post("/decide", context="new", state="start", id="e")
        assert caller.post("/episodes/e/link").json()["error"]["field"] == "feedback"
        path = link(caller, feedback=[0.5, 1])
        assert client.post(path).status_code == 200
        assert client.get("/v1/agents/v/episodes/e").json()["feedback"] == [0.5, 1]


def test_links_end(tmp_path):
    clock = Clock()
    with shop_with(tmp_path, clock=clock) as caller:
        begin(caller)
        path = link(caller, expires=60, feedback="hm")
        clock.now += 59
        assert caller.client.get(path).status_code == 200
        clock.now += 2
        for answer in (caller.client.get(path), caller.client.post(path)):
            assert (answer.status_code, "has expired" in answer.text) == (410, True)
        assert ended(caller) == (None, None)


def test_a_link_that_was_changed_is_refused(tmp_path):
    with shop_with(tmp_path) as caller:
        begin(caller)
        path = link(caller, feedback="hm")
        token = path.removeprefix("/f/")
        told, signature = token.split(".")
        other = Signer(b"x" * 32).sign(Grant("shop", 1, "e", 1 << 40, "thanks"))
        wrong = [
            told,
            f"{told}.",
            f".{signature}",
            f"{told[:-1]}.{signature}",
            f"{told}.{signature[:-1]}",
            f"{told}.{signature}=",
            f"{told}A.{signature}",
            f"{other.split('.')[0]}.{signature}",
            other,
            token * 40,
            "%C3%A4.b",
        ]
        for each in wrong:
            for answer in (caller.client.get(f"/f/{each}"), caller.client.post(f"/f/{each}")):
                assert answer.status_code == 403, each
                caller.client.app.state.gate._strangers._buckets.clear()
        assert ended(caller) == (None, None)


def test_every_changed_character_is_found():
    signer = Signer(b"s" * 32)
    token = signer.sign(Grant("shop", 1, "e1", 100, "thanks"))
    for n, letter in enumerate(token):
        for other in {"A", "B", "_", "."} - {letter}:
            with pytest.raises(LinkError):
                signer.read(token[:n] + other + token[n + 1 :], 0.0)


def test_a_link_is_of_that_agent_alone(tmp_path):
    with shop_with(tmp_path) as caller:
        begin(caller)
        path = link(caller, feedback="hm")
        caller.client.delete("/v1/agents/shop")
        assert caller.client.get(path).status_code == 410
    with shop_with(tmp_path) as caller:  # another by the same name, with an episode of the same id
        begin(caller)
        assert caller.client.post(path).status_code == 410
        assert ended(caller) == (None, None)


def test_links_hold_over_a_restart_and_the_secret_is_its_owners(tmp_path):
    with shop_with(tmp_path, public_url="https://tacit.example/x/") as caller:
        begin(caller)
        url = caller.post("/episodes/e/link", feedback="hm").json()["url"]
        assert url.startswith("https://tacit.example/x/f/")
    assert stat.S_IMODE(os.stat(tmp_path / SECRET).st_mode) == 0o600
    with shop_with(tmp_path) as caller:
        assert caller.client.post("/f/" + url.rpartition("/")[2]).status_code == 200
    (tmp_path / SECRET).write_bytes(b"short")
    with pytest.raises(ValueError, match="a secret of 32 bytes, got 5"):
        open_signer(tmp_path)


def test_bodies_that_make_no_link_are_refused(tmp_path):
    with shop_with(tmp_path) as caller:
        begin(caller)
        for body in ({"expires": 0}, {"expires": "x"}, {"feedback": "nothing"}, {"more": 1}):
            assert caller.post("/episodes/e/link", **body).status_code == 422
        assert caller.post("/episodes/none/link").status_code == 404


def test_strangers_cannot_try_many(tmp_path):
    with shop_with(tmp_path, stranger_rate=1) as caller:
        answers = [caller.client.get("/f/x.y") for _ in range(3)]
        assert [each.status_code for each in answers] == [403, 403, 429]
        assert answers[-1].headers["retry-after"] == "1"


def test_the_page_escapes_runs_nothing_and_can_be_read_by_all(tmp_path):
    labels = {"states": [["start"]], "actions": ["a", "b", "c"], "contexts": ["new"]}
    labels["feedback"] = ["<script>alert(1)</script>", '"quoted"', 7]
    with operating(tmp_path) as client:
        caller = Caller(client, "odd")
        assert caller.put({"layout": labels}).status_code == 201
        caller.post("/decide", context="new", state="start", id="e")
        path = link(caller)
        shown = client.get(path)
        assert "<script" not in shown.text
        assert "default-src 'none'" in shown.headers["content-security-policy"]
        assert '<html lang="en">' in shown.text
        assert "prefers-color-scheme: dark" in shown.text
        assert client.post(path, data={"feedback": "7"}).status_code == 200
        assert client.get("/v1/agents/odd/episodes/e").json()["feedback"] == 7


def test_it_is_described(tmp_path):
    with operating(tmp_path) as client:
        paths = client.get("/openapi.json").json()["paths"]
        assert "post" in paths["/v1/agents/{name}/episodes/{episode}/link"]
        assert not any(path.startswith("/f/") for path in paths)


def test_where_feedback_is_text_the_person_writes():
    conversations = SimpleNamespace(description=SimpleNamespace(layout=None))
    layered = SimpleNamespace(description=SimpleNamespace(layout={"feedback": {"kind": "text"}}))
    assert choices(conversations) == choices(layered) == []
    form = urlencode({"text": f"  {'ü' * 4_000} "}).encode()
    assert len(form) < MOST_FORM
    assert read_form(form, []) == "ü" * 4_000
    for wrong in (b"", b"text=", b"text=+", b"feedback=1", b"text=" + b"x" * 4_001, b"\xff", b"a&b"):
        with pytest.raises(RefusedError):
            read_form(wrong, [])
    many = {"feedback": {"kind": "finite", "labels": list(range(21))}}
    assert choices(SimpleNamespace(description=SimpleNamespace(layout=many))) is None
