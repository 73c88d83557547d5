"""The clients, against a service in a process of its own and against one that turns requests away."""

import asyncio
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest
from service_process import service_process
from serving import SHOP

import tacit
from tacit.envs.gym_adapter import GymSource
from tacit.envs.synthetic import synthetic
from tacit.service.calls import read_error
from tacit.service.client import AsyncClient, Client, Patience, ServiceError
from tacit.service.descriptions import Description, complete, make_agent
from tacit.simulate import play_episode
from tacit.trust.anchors import Anchor

QUICK = Patience(tries=4, first=0.01, longest=0.02)


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    with service_process(tmp_path_factory.mktemp("service")) as process:
        yield process


def test_an_episode(service):
    with Client(service.url) as client:
        shop = client.agent("shop")
        assert shop.put(SHOP).begun == 0
        episode = shop.begin("new", user="u1")
        assert episode.id.startswith("e-")
        assert episode.act("start") in ("ask", "show", "offer")
        assert episode.probability == pytest.approx(1 / 3)
        episode.act("cart")
        assert episode.end("thanks").accepted
        assert episode.decoded_reward is None
        other = shop.begin("back", id="mine")
        other.took("start", "offer", probability=0.25)
        other.abandon()
        status = shop.status()
        assert (status.begun, status.ended, status.open) == (2, 2, 0)
        assert [each.name for each in client.agents()] == ["shop"]
        first, second = shop.export()
        assert (first["user"], second["episode"], second["abandoned"]) == ("u1", "mine", True)
        assert second["steps"][0]["probability"] == 0.25
        assert sum(shop.policy("new")["start"].values()) == pytest.approx(1)
        shop.retire("ask", "start")
        assert shop.policy("new")["start"]["ask"] == 0
        shop.delete()
        assert client.agents() == []


def test_the_same_awaited(service):
    async def visit():
        async with AsyncClient(service.url) as client:
            shop = client.agent("awaited")
            await shop.put(SHOP)
            episodes = await asyncio.gather(*(shop.begin("new") for _ in range(10)))
            for episode in episodes:
                await episode.took("start", "ask")
                await episode.act("list")
                assert (await episode.end(None)).accepted
            broken = await shop.begin("back")
            await broken.act("start")
            await broken.abandon()
            await shop.retire("offer")
            assert len(await shop.policy("new")) == 3
            assert len([line async for line in shop.export()]) == 11
            assert [each.ended for each in await client.agents()] == [11]
            assert (await shop.status()).begun == 11
            await shop.delete()

    asyncio.run(visit())


def logged(*states, feedback):
    steps = [{"state": state, "action": "ask"} for state in states]
    return {"context": "new", "steps": steps, "feedback": feedback}


def test_begin_and_first_action_in_one_and_what_an_agent_is_told_and_asked(service, tmp_path):
    with Client(service.url) as client:
        shop = client.agent("more")
        shop.put(SHOP)
        episode, action = shop.decide("new", "start", id="first", user="u1")
        again, same = shop.decide("new", "start", id="first", user="u1")
        assert (again.id, same, again.probability) == (episode.id, action, episode.probability)
        episode.act("cart")
        episode.end("thanks")
        known = [Anchor("new", "cart", "thanks", 1), Anchor("back", "cart", "hm", 0)]
        assert [shop.anchor(known, id="a1"), shop.anchor(known, id="a1"), shop.anchor(known)] == [2, 2, 4]
        with pytest.raises(ServiceError, match=r"409") as refused:
            shop.anchor(known[:1], id="a1")
        assert refused.value.field == "anchors"
        assert shop.label([logged("start", "cart", feedback="thanks")]) == [None]
        kept = shop.checkpoint()
        (tmp_path / "agent").write_bytes(kept)
        assert tacit.Agent.load(tmp_path / "agent").next_episode == 1
        copy = client.agent("copy")
        copy.put(SHOP)
        copy.load(kept)
        assert (copy.status().begun, copy.checkpoint()) == (1, kept)
        for agent in (shop, copy):
            agent.delete()


def test_the_same_more_awaited(service):
    async def visit():
        async with AsyncClient(service.url) as client:
            shop = client.agent("more-awaited")
            await shop.put(SHOP)
            kept = await shop.checkpoint()
            await shop.load(kept)
            episode, action = await shop.decide("new", "start")
            assert action in ("ask", "show", "offer")
            await episode.act("list")
            assert (await episode.end("hm")).accepted
            assert await shop.anchor([Anchor("new", "cart", "thanks", 1)]) == 1
            assert await shop.label([logged("start", "list", feedback="hm")]) == [None]
            await shop.delete()

    asyncio.run(visit())


def test_the_loop_of_the_simulator_plays_an_agent_at_a_service(service):
    env = synthetic()
    told = Description(layout=env.layout.to_json(), seed=5)
    agent, here, there = make_agent(complete(told)), GymSource(env), GymSource(synthetic())
    with Client(service.url) as client:
        remote = client.agent("paper")
        remote.put({"layout": env.layout.to_json(), "seed": 5})
        seed = 3
        for _ in range(40):
            own = play_episode(agent, here, *here.begin(seed))
            played = play_episode(remote, there, *there.begin(seed))
            assert (there.feedback, there.reward) == (here.feedback, here.reward)
            assert played.probability == own.probability
            seed = None
        remote.delete()


def test_vectors_of_numpy_are_sent(service):
    with Client(service.url) as client:
        agent = client.agent("vectors")
        agent.put(SHOP | {"layout": SHOP["layout"] | {"contexts": {"kind": "vectors", "dimension": 2}}})
        agent.begin(np.array([0.5, 1.0])).act("start")
        with pytest.raises(TypeError, match="must be JSON, got a object"):
            agent.begin(object())
        agent.delete()


def test_refusals_are_told(service):
    with Client(service.url) as client, pytest.raises(ServiceError, match="there is no agent") as caught:
        client.agent("nobody").begin("new")
    assert (caught.value.status, caught.value.code, caught.value.field) == (404, "not-found", None)
    with Client(service.url) as client:
        shop = client.agent("told")
        shop.put(SHOP)
        with pytest.raises(ServiceError) as caught:
            shop.begin("stranger")
        assert (caught.value.status, caught.value.field) == (422, "context")
        with pytest.raises(ServiceError):
            list(client.agent("nobody").export())
        shop.delete()


class Turning(BaseHTTPRequestHandler):
    """Answers with the statuses in `plan`, one after the other; 0 hangs up."""

    plan, asked, protocol_version = [], [], "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        self.asked.append((body, self.headers.get("authorization")))
        status = self.plan.pop(0)
        if status == 0:
            self.close_connection = True
            self.connection.close()
            return
        content = (
            b'{"episode": "x", "stage": "s"}' if status < 400 else b'{"error": {"code": "c", "message": "m"}}'
        )
        self.send_response(status)
        self.send_header("content-length", str(len(content)))
        if status == 429:
            self.send_header("retry-after", "0")
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_):
        """Say nothing."""


@pytest.fixture
def turning():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Turning)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    Turning.asked.clear()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.mark.parametrize("plan", [[503, 429, 201], [0, 0, 201], [502, 0, 201]])
def test_what_passes_is_tried_again_and_is_the_same_request(turning, plan):
    Turning.plan[:] = plan
    with Client(turning, key="secret", patience=QUICK) as client:
        assert client.agent("shop").begin("new").id == "x"
    assert len(Turning.asked) == 3
    assert len(set(Turning.asked)) == 1
    assert Turning.asked[0][1] == "Bearer secret"
    Turning.plan[:] = plan

    async def begin():
        async with AsyncClient(turning, patience=QUICK) as client:
            return (await client.agent("shop").begin("new")).id

    assert asyncio.run(begin()) == "x"


def test_what_stays_wrong_is_not_tried_again(turning):
    Turning.plan[:] = [409]
    with Client(turning, patience=QUICK) as client, pytest.raises(ServiceError) as caught:
        client.agent("shop").begin("new")
    assert (caught.value.status, len(Turning.asked)) == (409, 1)
    Turning.plan[:] = [503] * 4
    with Client(turning, patience=QUICK) as client, pytest.raises(ServiceError) as caught:
        client.agent("shop").begin("new")
    assert (caught.value.status, len(Turning.asked)) == (503, 5)


def test_a_service_that_is_not_there():
    with (
        Client("http://127.0.0.1:9", patience=QUICK) as client,
        pytest.raises(ServiceError, match="is `tacit serve` running there") as caught,
    ):
        client.agent("shop").status()
    assert (caught.value.status, caught.value.code) == (0, "unreachable")
    assert read_error(502, b"<html>").code == "refused"


def test_an_agent_in_process_is_driven_by_the_same_loop():
    source = GymSource(synthetic())
    episode = play_episode(tacit.Agent(source.layout), source, *source.begin(seed=1))
    assert not episode.open
