"""What the page is told: files, streams of events, windows of rewards, and the estimate of choosing at random."""

import re
import threading
import time

import httpx2
import msgspec
import numpy as np
import pytest
from browsing import ONE_STEP, Visitors
from serving import SHOP, Caller, listening, serving, shop

from tacit.service import watching
from tacit.service.accounts import Account
from tacit.service.bodies import DecodedBody, StepTaken
from tacit.service.chance import estimate_chance, weigh_steps
from tacit.service.history import FIRST_WINDOW, LEAST_HELD, MOST_WINDOWS, History
from tacit.service.journal import JournalEvent
from tacit.service.meanings import pick_remarks
from tacit.service.page import page_routes, read_page


def read_events(lines):
    """Yield (id, kind, data) of the server-sent events in some lines; a comment is (None, None, its words)."""
    fields = {}
    for line in lines:
        if line.startswith(":"):
            yield None, None, line
        elif line:
            name, _, value = line.partition(": ")
            fields[name] = value
        elif "data" in fields:
            yield fields["id"], fields["event"], msgspec.json.decode(fields["data"])
            fields = {}
        else:
            fields = {}


def told(number, episode, kind, body, position):
    return JournalEvent(number, episode, kind, msgspec.json.encode(body), 0.0, position)


def events_of(rewards, held=lambda n: False):
    """Return the events of episodes that decoded to some rewards, None for one that did not; some are held out."""
    events = []
    for n, reward in enumerate(rewards):
        decoded = None if reward is None else {"reward": reward, "confidence": 1, "low": 0, "high": 1}
        begun = {"number": n, "stage": "fast learning", "context": "new", "held": held(n)}
        events.append(told(1, str(n), "begin", begun, 2 * n + 1))
        events.append(told(1, str(n), "end", {"feedback": "hm", "decoded": decoded}, 2 * n + 2))
    return events


def test_the_page_is_served_so_that_nothing_else_can_run(tmp_path):
    with serving(tmp_path) as client:
        page = client.get("/")
        policy = page.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert page.headers["x-content-type-options"] == "nosniff"
        assert page.headers["cache-control"] == "no-cache"
        assert client.get("/", headers={"if-none-match": page.headers["etag"]}).status_code == 304
        assert not re.search(r"<script(?![^>]*src=)|style=| on\w+=|https?://", page.text)
        files = re.findall(r'(?:href|src)="(page/[^"]+)"', page.text)
        assert len(files) == 3
        for path in files:
            file = client.get("/" + path)
            assert (file.status_code, file.headers["x-content-type-options"]) == (200, "nosniff")
            assert "immutable" in file.headers["cache-control"]
        assert client.get("/" + files[0].replace("page/", "page/0")).status_code == 404
        assert client.get("/page/x/..%2fpage.py").status_code == 404


def test_files_of_the_page_name_no_network():
    for name, content in read_page().items():
        found = re.findall(r"https?://[^\s\"'`]+", content.decode())
        assert set(found) <= {"http://www.w3.org/2000/svg"}, name
    assert len(page_routes()) == 2


def test_an_agent_is_watched(tmp_path):
    with listening(tmp_path) as (address, _), Visitors(address) as visitors:
        visitors.put(ONE_STEP)
        with httpx2.Client(base_url=address, timeout=30) as client:
            with client.stream("GET", "/v1/agents/shop/watch") as response:
                assert response.headers["content-type"].startswith("text/event-stream")
                events = read_events(response.iter_lines())
                first, kind, view = next(events)
                assert (kind, view["status"]["ended"]) == ("agent", 0)
                visitors.come(2)
                while view["status"]["ended"] < 2:
                    last, kind, view = next(events)
                assert (first != last, len(view["recent"])) == (True, 2)
            with client.stream("GET", "/v1/watch") as response:
                _, kind, glance = next(read_events(response.iter_lines()))
            assert (kind, glance["agents"][0]["ended"]) == ("agents", 2)


def test_who_comes_back_is_told_what_changed_alone(tmp_path, monkeypatch):
    monkeypatch.setattr(watching, "HEARTBEAT", 0.2)
    with listening(tmp_path) as (address, service), Visitors(address) as visitors:
        visitors.put(ONE_STEP)
        with httpx2.Client(base_url=address, timeout=30) as client:
            with client.stream("GET", "/v1/agents/shop/watch") as response:
                known, _, _ = next(read_events(response.iter_lines()))
            while service.state.watchers.listeners:
                time.sleep(0.05)
            headers = {"last-event-id": known}
            with client.stream("GET", "/v1/agents/shop/watch", headers=headers) as response:
                assert next(read_events(response.iter_lines()))[2] == ": still here"


def test_an_agent_that_is_deleted_ends_its_stream(tmp_path):
    with listening(tmp_path) as (address, _), Visitors(address) as visitors:
        visitors.put(ONE_STEP)
        with (
            httpx2.Client(base_url=address, timeout=30) as client,
            client.stream("GET", "/v1/agents/shop/watch") as response,
        ):
            events = read_events(response.iter_lines())
            next(events)
            httpx2.delete(f"{address}/v1/agents/shop")
            kinds = [kind for _, kind, _ in events]
        assert kinds[-1] == "gone"


def test_listeners_are_bounded(tmp_path, monkeypatch):
    monkeypatch.setattr(watching, "MOST_LISTENERS", 1)
    with listening(tmp_path) as (address, service), httpx2.Client(base_url=address, timeout=30) as client:
        with client.stream("GET", "/v1/watch") as response:
            events = read_events(response.iter_lines())  # it is open for as long as this is
            next(events)
            refused = httpx2.get(f"{address}/v1/watch")
            assert (refused.status_code, refused.json()["error"]["code"]) == (429, "busy")
            assert "retry-after" in refused.headers
            events.close()
        while service.state.watchers.listeners:
            time.sleep(0.05)
        with client.stream("GET", "/v1/watch") as response:
            assert response.status_code == 200


def test_streams_end_when_the_service_stops(tmp_path):
    ended = threading.Event()

    def follow(address):
        with httpx2.stream("GET", f"{address}/v1/watch", timeout=30) as response:
            for _ in response.iter_lines():
                pass
        ended.set()

    with listening(tmp_path) as (address, service):
        thread = threading.Thread(target=follow, args=(address,))
        thread.start()
        while not service.state.watchers.listeners:
            time.sleep(0.02)
        began = time.monotonic()
    thread.join(10)
    assert ended.is_set()
    assert time.monotonic() - began < 5  # and not the ten seconds after which connections are cut


def test_unknown_agents_are_not_watched(tmp_path):
    with serving(tmp_path) as client:
        assert client.get("/v1/agents/nobody/watch").status_code == 404


@pytest.mark.parametrize("n", [0, 1, 799, 801, 5000])
def test_windows_hold_every_episode_once(n):
    rewards = [(k % 3 == 0) * 1.0 if k % 4 else None for k in range(n)]
    history = History()
    history.tell(events_of(rewards))
    assert sum(window.ended for window in history.windows) == n
    assert len(history.windows) <= MOST_WINDOWS
    assert history.size % FIRST_WINDOW == 0
    decoded = [reward for reward in rewards if reward is not None]
    shown = history.shown()
    assert sum(window.decoded for window in shown) == len(decoded)
    total = sum(window.mean * window.decoded for window in shown)
    assert total == pytest.approx(sum(decoded), abs=1e-3 * max(n, 1))
    assert all(window.low <= window.mean <= window.high for window in shown)
    assert [account.id for account in list(history.latest)[:2]] == [
        str(k) for k in range(n - 1, n - 3, -1) if k >= 0
    ]


def test_events_of_episodes_that_began_before_are_passed_over():
    events = events_of([1.0, 0.0])
    history = History()
    history.tell(events[1:])
    assert [window.played.decoded for window in history.windows] == [1]


def test_those_held_out_are_counted_apart():
    """Two in three are held out and earn nothing, the others earn 1."""
    events = events_of([1.0 if k % 3 == 0 else 0.0 for k in range(300)], held=lambda k: k % 3 != 0)
    history = History()
    history.tell(events)
    assert (history.lately().mean, history.held_out().mean) == (1.0, 0.0)
    assert {window.held.mean for window in history.shown()} == {0.0}
    assert sum(window.decoded for window in history.shown()) == 100
    together = history.held_windows()
    assert {window.mean for window in together} == {0.0}
    assert min(window.decoded for window in together) >= LEAST_HELD


def drawn(generator, n, chances, pleases):
    """Return accounts of episodes of one step, played with some chances, that were read as what they earned."""
    accounts = []
    for k in range(n):
        a = int(generator.choice(len(chances), p=chances))
        reward = float(generator.random() < pleases[a])
        account = Account(str(k), k, "new", None, 0.0, "generalising")
        account.steps.append(StepTaken(1, "visit", a, chances[a], list(range(len(chances)))))
        account.ended, account.decoded = "feedback", DecodedBody(reward, 1.0, 0.0, 1.0)
        accounts.append(account)
    return accounts


class AnyAgent:
    """An agent of whom nothing is known."""

    stage = world = None


def test_choosing_at_random_is_estimated_from_what_a_policy_did():
    """Choosing among three at random earns 0.4; in 200 runs the interval misses it in at most 24."""
    generator, missed, means = np.random.default_rng(1_000_001), 0, []
    for _ in range(200):
        found = estimate_chance(AnyAgent(), drawn(generator, 300, (0.6, 0.3, 0.1), (0.8, 0.3, 0.1)))
        means.append(found.mean)
        missed += not found.low <= 0.4 <= found.high
    assert np.mean(means) == pytest.approx(0.4, abs=0.02)
    assert missed <= 24


def test_control_what_a_policy_never_does_cannot_be_estimated():
    accounts = drawn(np.random.default_rng(1_000_002), 300, (1.0, 0.0, 0.0), (0.8, 0.3, 0.1))
    assert estimate_chance(AnyAgent(), accounts) is None


def test_times_at_which_not_everything_was_tried_are_left_out():
    """An agent that explores and then does one thing for ever: what it did at first tells what chance would earn."""
    history = History(lambda account: weigh_steps(AnyAgent(), account.steps))
    generator = np.random.default_rng(1_000_003)
    for chances in ((1 / 3, 1 / 3, 1 / 3), (0.99, 0.005, 0.005)):
        for account in drawn(generator, 2_000, chances, (0.9, 0.1, 0.1)):
            history._end(account)
    assert len(history.tried) == 1_000
    found = estimate_chance(AnyAgent(), history.tried)
    assert found.low <= 1.1 / 3 <= found.high
    assert found.high < 0.45


def test_weights_multiply_over_steps():
    steps = [StepTaken(1, "start", "ask", 0.5, [1, 2, 3, 4]), StepTaken(2, "cart", "show", 0.25, [1, 2])]
    assert weigh_steps(AnyAgent(), steps) == pytest.approx(1 / 4 / 0.5 * 1 / 2 / 0.25)
    assert weigh_steps(AnyAgent(), [StepTaken(1, "start", "ask", 0.5)]) is None


def test_a_view_survives_a_restart(tmp_path):
    def look(caller):
        house, watchers = caller.client.app.state.house, caller.client.app.state.watchers
        message = caller.client.portal.call(watchers.look_at, "shop")
        assert house.failure is None
        return msgspec.json.decode(message.data)

    with shop(tmp_path) as caller:
        for k in range(30):
            caller.play("new", ["start", "cart"], ("thanks", "hm")[k % 2])
        before = look(caller)
    with shop(tmp_path) as caller:
        after = look(caller)
    assert after["recent"] == before["recent"]
    assert len(before["recent"]) == 20
    assert after["status"]["progress"] == before["status"]["progress"]


@pytest.mark.parametrize(
    "description",
    [
        {"layout": SHOP["layout"] | {"contexts": {"kind": "vectors", "dimension": 2}}},
        {"layout": SHOP["layout"], "settings": {"recipe": "paper", "decoder": {"theta": 0.9, "M": 1.2}}},
        {
            "layout": SHOP["layout"]
            | {"contexts": {"kind": "finite", "labels": ["new"], "open": True, "most": 9}}
        },
        {"layout": SHOP["layout"] | {"ends": "anywhere"}},
    ],
)
def test_every_kind_of_agent_can_be_viewed(tmp_path, description):
    with serving(tmp_path) as client:
        caller = Caller(client)
        response = caller.put(description)
        assert response.status_code == 201, response.text
        vector = "vectors" in str(description)
        for k in range(5):
            caller.play([0.5, k] if vector else "new", ["start", "cart"], "thanks")
        message = client.portal.call(client.app.state.watchers.look_at, "shop")
        view = msgspec.json.decode(message.data)
        assert message.kind == "agent"
        assert view["status"]["ended"] == 5
        assert view["status"]["progress"]["words"]
        context = msgspec.json.encode(view["contexts"][0]["value"]).decode()
        assert client.get("/v1/agents/shop/policy", params={"context": context}).status_code == 200


def test_remarks_are_shown_once_and_of_both_kinds():
    accounts = drawn(np.random.default_rng(1_000_004), 40, (0.5, 0.5), (0.9, 0.1))
    for n, account in enumerate(accounts):
        account.feedback = f"remark {n % 20}"
    examples = pick_remarks(accounts, 6)
    rewards = [each.reward for each in examples]
    assert (len(examples), rewards[0], rewards[-1]) == (6, 1.0, 0.0)
    assert len({(each.feedback, each.action) for each in examples}) == 6
    assert pick_remarks([]) == []


def test_actions_that_others_took_with_an_unknown_chance_weigh_nothing():
    assert weigh_steps(AnyAgent(), [StepTaken(1, "start", "ask", None, ["ask", "show"])]) is None
