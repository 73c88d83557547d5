"""Limits: bodies, rates, agents, open episodes, other sites."""

import asyncio
import time
from contextlib import closing

import pytest
from operating import Running, bearer, operating, shop_with
from serving import SHOP

from tacit.service.errors import RefusedError
from tacit.service.keys import Keys
from tacit.service.limits import Rate, address_of, read_limited


def code(response):
    return response.status_code, response.json()["error"]["code"]


def test_a_body_may_be_as_large_as_options_say(tmp_path):
    with shop_with(tmp_path, body_bytes=1_000) as caller:
        assert caller.begin("new", user="x" * 200).status_code == 201
        assert code(caller.begin("x" * 1_000)) == (413, "too-large")


def test_a_body_that_comes_too_slowly_is_given_up():
    async def receive():
        await asyncio.sleep(10)

    began = time.monotonic()
    with pytest.raises(RefusedError, match=r"arrives within 0.05 seconds, got 0 bytes") as refused:
        asyncio.run(read_limited(receive, 10, 0.05))
    assert (refused.value.status, refused.value.headers) == (408, {"connection": "close"})
    assert time.monotonic() - began < 5


def test_a_client_that_leaves_is_no_defect():
    async def receive():
        return {"type": "http.disconnect"}

    with pytest.raises(RefusedError, match="left"):
        asyncio.run(read_limited(receive, 10, 1))


def test_an_address_may_ask_so_often(tmp_path):
    with operating(tmp_path, address_rate=1) as client:
        answers = [client.get("/v1/agents") for _ in range(4)]
        assert {each.status_code for each in answers[:2]} == {200}
        assert code(answers[-1]) == (429, "too-often")
        assert answers[-1].headers["retry-after"] == "1"


def test_a_key_may_ask_so_often_and_another_is_not_held_up(tmp_path):
    one, other = (Keys(tmp_path).create(name, ["admin"], [], 0.0) for name in ("one", "other"))
    with operating(tmp_path, key_rate=0.5) as client:
        answers = [client.get("/v1/agents", headers=bearer(one)) for _ in range(3)]
        assert [each.status_code for each in answers][::2] == [200, 429]
        assert answers[-1].headers["retry-after"] in ("1", "2")
        assert client.get("/v1/agents", headers=bearer(other)).status_code == 200


def test_who_has_no_key_cannot_try_many(tmp_path):
    token = Keys(tmp_path).create("k", ["admin"], [], 0.0)
    with operating(tmp_path, stranger_rate=1) as client:
        tried = [client.get("/v1/agents", headers=bearer("x")).status_code for _ in range(4)]
        assert tried[0] == 401
        assert tried[-1] == 429
        assert client.get("/v1/agents", headers=bearer(token)).status_code == 200


def test_a_rate_fills_up_again_and_keeps_few_buckets():
    now = [0.0]
    rate = Rate(1.0, most=3, clock=lambda: now[0])
    assert [rate.take("a") for _ in range(3)] == [0.0, 0.0, 1.0]
    now[0] = 100.0
    assert [rate.take("a") for _ in range(3)] == [0.0, 0.0, 1.0]  # no more than two gather
    for name in "bcdefg":
        rate.take(name)
    assert len(rate) == 3
    assert Rate(0.0).take("a") == 0.0


@pytest.mark.parametrize(
    ("host", "counted"),
    [
        ("10.0.0.1", "10.0.0.1"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("::ffff:10.0.0.1", "10.0.0.1"),
        ("fe80::1%eth0", "fe80::/64"),
        ("::wrong::", "::wrong::"),
    ],
)
def test_clients_are_counted_by_address_and_of_ipv6_by_network(host, counted):
    assert address_of({"client": (host, 1)}) == counted


def test_there_are_so_many_agents(tmp_path):
    with operating(tmp_path, agents=2) as client:
        made = [client.put(f"/v1/agents/a{n}", json=SHOP) for n in range(3)]
        assert [each.status_code for each in made] == [201, 201, 429]
        assert client.put("/v1/agents/a0", json=SHOP).status_code == 200
        client.delete("/v1/agents/a0")
        assert client.put("/v1/agents/a2", json=SHOP).status_code == 201


def test_an_agent_has_so_many_open_episodes(tmp_path):
    with shop_with(tmp_path, open_episodes=2) as caller:
        caller.begin("new", id="a")
        caller.post("/decide", context="new", state="start", id="b")
        assert code(caller.begin("new", id="c")) == (429, "full")
        assert code(caller.post("/decide", context="new", state="start")) == (429, "full")
        assert caller.begin("new", id="a").status_code == 200  # a repeated one opens none
        caller.post("/episodes/a/abandon")
        assert caller.begin("new", id="c").status_code == 201


def test_a_disk_that_does_not_keep_up_holds_requests_back(tmp_path, monkeypatch):
    with shop_with(tmp_path) as caller:
        caller.begin("new", id="a")
        monkeypatch.setattr("tacit.service.house.MOST_WAITING", 0)
        before, busy = caller.host.snapshot()(), caller.act("a", 1, "start")
        assert (code(busy), busy.headers["retry-after"]) == ((429, "busy"), "1")
        assert caller.host.snapshot()() == before


def test_pages_of_other_sites_are_not_let_in_unless_options_name_them(tmp_path):
    asks = {"origin": "https://shop.example", "access-control-request-method": "POST"}
    with operating(tmp_path) as client:
        refused = client.options("/v1/agents/shop/decide", headers=asks)
        assert refused.status_code == 405
        assert "access-control-allow-origin" not in refused.headers
    with operating(tmp_path, origins=("https://shop.example",)) as client:
        allowed = client.options("/v1/agents/shop/decide", headers=asks)
        assert allowed.headers["access-control-allow-origin"] == "https://shop.example"
        assert "access-control-allow-credentials" not in allowed.headers
        other = client.options("/v1/agents/shop/decide", headers=asks | {"origin": "https://evil.example"})
        assert other.status_code == 400
        assert "access-control-allow-origin" not in other.headers
        shown = client.get("/v1/agents", headers={"origin": "https://shop.example"})
        assert (shown.status_code, shown.headers["access-control-allow-origin"]) == (200, asks["origin"])


def test_a_slow_body_is_answered_over_a_real_connection(tmp_path):
    running = Running(tmp_path, "--set", "body-seconds=0.3")
    try:
        with closing(running.connect()) as connection:
            connection.putrequest("PUT", "/v1/agents/shop")
            connection.putheader("content-length", "100")
            connection.endheaders()
            connection.send(b"{")
            response = connection.getresponse()
            assert (response.status, response.headers["connection"]) == (408, "close")
            response.read()
    finally:
        assert running.stop() == 0
