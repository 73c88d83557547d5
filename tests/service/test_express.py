"""The express: plain requests go by the desk, all others by the framework, and nobody can tell by the answers."""

import http.client
import json
import socket
import threading
import time
from contextlib import closing, contextmanager
from urllib.parse import urlsplit

import pytest
from operating import bearer
from serving import SHOP, listening, rebuilt, wait_until

from tacit.service.desk import Desk
from tacit.service.journal import StoreError
from tacit.service.keys import Keys
from tacit.service.options import ServiceOptions
from tacit.service.serving import JOURNAL
from tacit.service.sqlite import SqliteStore

ROUNDABOUT = {"x-forwarded-proto": "http"}
"""A header with which a request goes the framework's way."""


class Line:
    """One connection to a service, on which anything can be said."""

    def __init__(self, address):
        self.netloc = urlsplit(address).netloc
        self.socket = socket.create_connection(self.netloc.split(":"), timeout=20)
        self._heard = self.socket.makefile("rb")  # one for all answers: it may hold more than the next

    def say(self, content):
        self.socket.sendall(content)

    def hear(self):
        """Return status, headers and body of the next answer."""
        status = 100
        while status == 100:
            status = int(self._heard.readline().split()[1])
            headers = dict(http.client.parse_headers(self._heard))
        return status, headers, self._heard.read(int(headers["content-length"]))

    def request(self, path, body, *more, version="1.1"):
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        head = [
            f"POST /v1/agents/{path} HTTP/{version}",
            f"host: {self.netloc}",
            f"content-length: {len(content)}",
        ]
        return "\r\n".join([*head, *more, "", ""]).encode() + content

    def ask(self, path, body, headers=()):
        self.say(self.request(path, body, *(f"{name}: {value}" for name, value in dict(headers).items())))
        return self.hear()

    def close(self):
        self._heard.close()
        self.socket.close()


@contextmanager
def shop_line(folder, **more):
    with listening(folder, **more) as (address, service), closing(Line(address)) as line:
        client = http.client.HTTPConnection(line.netloc)
        client.request("PUT", "/v1/agents/shop", json.dumps(SHOP))
        assert client.getresponse().status in (200, 201)
        client.close()
        yield line, service


@pytest.fixture
def at_desk(monkeypatch):
    """Give the bodies that the desk was asked to answer."""
    asked, answer = [], Desk.answer
    monkeypatch.setattr(Desk, "answer", lambda desk, *told: (asked.append(told[2]), answer(desk, *told))[1])
    return asked


def play(line, headers):
    """Return the answers to an episode and to what is wrong with one; the first headers say which way."""
    told = [
        ("shop/episodes", {"context": "new", "id": "e"}),
        ("shop/episodes", {"context": "new", "id": "e"}),
        ("shop/episodes", {"context": "back", "id": "e"}),
        ("shop/episodes/e/actions", {"step": 1, "state": "start"}),
        ("shop/episodes/e/actions", {"step": 3, "state": "cart"}),
        ("shop/episodes/e/actions", {"step": 2, "state": "nowhere"}),
        ("shop/episodes/e/actions", {"step": 2, "state": "cart"}),
        ("shop/episodes/e/feedback", {"feedback": "thanks", "more": 1}),
        ("shop/episodes/e/feedback", b"{"),
        ("shop/episodes/e/feedback", b"\xff"),
        ("shop/episodes/e/feedback", {"feedback": "thanks"}),
        ("shop/episodes/other/feedback", {"feedback": "thanks"}),
        ("shop/decide", {"context": "new", "state": "start", "id": "f"}),
        ("shop/episodes/f/abandon", b""),
        ("shop/retire", {"action": "offer"}),
        ("nobody/episodes", {"context": "new"}),
        ("shop/nothing", {"context": "new"}),
        ("shop/episodes//actions", {"step": 1, "state": "start"}),
    ]
    return [line.ask(path, body, headers) for path, body in told]


def test_both_ways_give_the_same_answers(tmp_path, at_desk):
    answers, taken = [], []
    for name, headers in (("short", {}), ("long", ROUNDABOUT)):
        (tmp_path / name).mkdir()
        with shop_line(tmp_path / name) as (line, service):
            answers.append(play(line, headers))
            snapshot = service.state.house.hosts["shop"].snapshot()()
        assert rebuilt(tmp_path / name) == snapshot
        taken.append(len(at_desk))
    assert answers[0] == answers[1]
    assert {status for status, _, _ in answers[0]} == {200, 201, 404, 409, 422}
    assert taken == [
        15,
        15,
    ]  # all of the first but those of no agent, no route and no episode; none of the second


@pytest.mark.parametrize(
    ("more", "version"),
    [
        (("x-forwarded-for: 203.0.113.9",), "1.1"),
        (("expect: 100-continue",), "1.1"),
        (("connection: close",), "1.1"),
        ((), "1.0"),
    ],
)
def test_what_is_not_plain_goes_the_framework_s_way(tmp_path, at_desk, more, version):
    with shop_line(tmp_path) as (line, _):
        line.say(line.request("shop/episodes", {"context": "new"}, *more, version=version))
        assert line.hear()[0] == 201
    assert at_desk == []


def test_paths_are_read_as_the_framework_reads_them(tmp_path, at_desk):
    with shop_line(tmp_path) as (line, _):
        assert line.ask("sh%6Fp/episodes?x=1", {"context": "new", "id": "e/"})[0] == 201
        assert line.ask("shop/episodes/e%2F/actions", {"step": 1, "state": "start"})[0] == 404
    assert at_desk == []


def test_a_body_that_comes_in_parts_and_one_that_is_too_large(tmp_path, at_desk):
    options = ServiceOptions(data=tmp_path, body_bytes=1_000)
    with shop_line(tmp_path, options=options) as (line, _):
        whole = line.request("shop/episodes", {"context": "new"})
        for part in (whole[:40], whole[40:-3], whole[-3:]):
            line.say(part)
            time.sleep(0.2)  # so that it arrives alone
        assert line.hear()[0] == 201
        status, headers, _ = line.ask("shop/episodes", {"context": "x" * 1_000})
        assert (status, headers["connection"]) == (413, "close")
    assert at_desk == []


def test_requests_that_come_at_once_are_answered_in_order(tmp_path, at_desk):
    with shop_line(tmp_path) as (line, _):
        begin = line.request("shop/episodes", {"context": "new", "id": "e"})
        act = line.request("shop/episodes/e/actions", {"step": 1, "state": "start"})
        more = line.request("shop/episodes/e/actions", {"step": 2, "state": "cart"})
        line.say(begin + act + more + act)
        heard = [line.hear() for _ in range(4)]
        assert [status for status, _, _ in heard] == [201, 200, 200, 200]
        assert [json.loads(body).get("step") for _, _, body in heard] == [None, 1, 2, 1]
        assert line.ask("shop/episodes/e/feedback", {"feedback": "hm"})[0] == 200
    assert len(at_desk) == 2  # the first, and the last


def test_nothing_that_is_no_request_reaches_an_agent(tmp_path, at_desk):
    with shop_line(tmp_path) as (line, service):
        broken = line.request("shop/episodes", {"context": "new"}).replace(
            b"content-length: ", b"transfer-encoding: chunked\r\nx: "
        )
        line.say(broken)
        assert line.hear()[0] == 400
        assert service.state.house.hosts["shop"].agent.next_episode == 0
    assert at_desk == []


def test_keys_are_asked_for_at_the_desk(tmp_path, at_desk):
    decide = Keys(tmp_path).create("web", ["decide"], [], 0.0)
    admin = Keys(tmp_path).create("own", ["admin"], [], 0.0)
    with listening(tmp_path, options=ServiceOptions(data=tmp_path)) as (address, service):
        with closing(Line(address)) as line:
            client = http.client.HTTPConnection(line.netloc)
            client.request("PUT", "/v1/agents/shop", json.dumps(SHOP), bearer(admin))
            assert client.getresponse().status == 201
            client.close()
            body = {"context": "new", "id": "e"}
            status, headers, _ = line.ask("shop/episodes", body)
            assert (status, headers["www-authenticate"]) == (401, 'Bearer realm="tacit"')
            assert line.ask("shop/episodes", body, bearer(decide + "x"))[0] == 401
            assert line.ask("shop/episodes", body, bearer(decide))[0] == 201
            assert line.ask("shop/episodes/e/feedback", {"feedback": "hm"}, bearer(decide))[0] == 403
        told = {
            (method, route): sum(each.counts)
            for (method, route), each in service.state.gate.metrics._seconds.items()
        }
        assert told["POST", "/v1/agents/{name}/episodes"] == 3
    assert len(at_desk) == 4


class Held:
    """A store whose appends wait, or fail; all else is that of a real one."""

    def __init__(self, store):
        self._store, self.go_on, self.broken = store, threading.Event(), False

    def __getattr__(self, name):
        return getattr(self._store, name)

    def append(self, events):
        self.go_on.wait(20)
        if self.broken:
            raise StoreError("the disk is full")
        return self._store.append(events)


def test_nothing_is_answered_before_it_is_on_disk(tmp_path, at_desk):
    store = Held(SqliteStore(tmp_path / JOURNAL))
    with shop_line(tmp_path, store=store) as (line, service):
        with closing(Line(f"http://{line.netloc}")) as leaving:
            leaving.say(leaving.request("shop/episodes", {"context": "new", "id": "left"}))
            wait_until(lambda: len(at_desk) == 1)
        line.say(line.request("shop/episodes", {"context": "new", "id": "e"}))
        wait_until(lambda: len(at_desk) == 2)
        line.socket.settimeout(0.3)
        with pytest.raises(TimeoutError):
            line.socket.recv(1)
        line.socket.settimeout(20)
        store.go_on.set()
        assert line.hear()[0] == 201
        assert (
            line.ask("shop/episodes", {"context": "new", "id": "left"})[0] == 200
        )  # it was done all the same
        wait_until(lambda: service.state.house.waiting == 0)


def test_what_could_not_be_kept_is_refused_at_the_desk(tmp_path, at_desk):
    store = Held(SqliteStore(tmp_path / JOURNAL))
    store.go_on.set()
    with shop_line(tmp_path, store=store) as (line, service):
        store.broken = True
        status, headers, body = line.ask("shop/episodes", {"context": "new", "id": "e"})
        assert (status, headers["retry-after"], json.loads(body)["error"]["code"]) == (503, "1", "unready")
        store.broken = False
        wait_until(lambda: service.state.house.failure is None)
        assert line.ask("shop/episodes", {"context": "new", "id": "e"})[0] == 201
    assert len(at_desk) == 2


def test_a_request_that_breaks_off_at_the_desk(tmp_path, monkeypatch):
    with shop_line(tmp_path) as (line, service):
        house = service.state.house
        line.ask("shop/episodes", {"context": "new", "id": "e"})

        def break_off(*told):
            raise MemoryError

        monkeypatch.setattr(house.hosts["shop"].agent, "act", break_off)
        status, headers, _ = line.ask("shop/episodes/e/actions", {"step": 1, "state": "start"})
        assert (status, headers["connection"]) == (500, "close")
        wait_until(lambda: house.failure is None)
        with closing(Line(f"http://{line.netloc}")) as again:
            assert again.ask("shop/episodes/e/actions", {"step": 1, "state": "start"})[0] == 200


def test_an_observer_that_fails_keeps_nobody_from_an_answer(tmp_path, caplog):
    with shop_line(tmp_path) as (line, service):

        def fail(host, event):
            raise ZeroDivisionError

        service.state.house.observers.append(fail)
        assert line.ask("shop/episodes", {"context": "new"})[0] == 201
        assert line.ask("shop/episodes", {"context": "new"}, ROUNDABOUT)[0] == 201
    assert [record.getMessage() for record in caplog.records].count("an observer failed") == 2
