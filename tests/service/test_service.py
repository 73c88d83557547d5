"""The service over HTTP: episodes, repeats, refusals, restarts; always on a real journal."""

import msgspec
import numpy as np
import pytest
from serving import SHOP, Caller, Clock, rebuilt, refusal, serving, shop, wait_until

import tacit
from tacit.envs.synthetic import synthetic
from tacit.service.descriptions import Description, complete, make_agent
from tacit.service.journal import StoreError
from tacit.service.serving import JOURNAL
from tacit.service.sqlite import SqliteStore


def test_an_episode(tmp_path):
    with shop(tmp_path) as caller:
        began = caller.begin("new", user="u1")
        assert (began.status_code, began.json()) == (201, {"episode": "0", "stage": "fast learning"})
        first = caller.act("0", 1, "start").json()
        assert first["step"] == 1
        assert first["probability"] == pytest.approx(1 / 3)
        caller.act("0", 2, "cart")
        heard = caller.hear("0", "thanks")
        assert (heard.status_code, heard.json()) == (200, {"accepted": True, "decoded": None})
        told = caller.client.get("/v1/agents/shop/episodes/0").json()
        assert (told["ended"], told["feedback"], told["user"]) == ("feedback", "thanks", "u1")
        assert [step["state"] for step in told["steps"]] == ["start", "cart"]
        status = caller.client.get("/v1/agents/shop").json()
        assert (status["begun"], status["ended"], status["open"]) == (1, 1, 0)
        assert status["verdict"] == "not known yet"


def test_a_repeated_request_gets_the_same_answer_and_does_nothing(tmp_path):
    with shop(tmp_path) as caller:
        first = [caller.begin("new", id="a"), caller.act("a", 1, "start"), caller.act("a", 2, "list")]
        before = caller.host.snapshot()()
        again = [caller.begin("new", id="a"), caller.act("a", 1, "start"), caller.act("a", 2, "list")]
        assert [each.json() for each in again] == [each.json() for each in first]
        assert [each.status_code for each in again] == [200, 200, 200]
        assert caller.host.snapshot()() == before
        heard = caller.hear("a", None)
        assert caller.hear("a", None).json() == heard.json()
        assert caller.client.get("/v1/agents/shop").json()["ended"] == 1


def test_a_conflicting_request_is_told_which_field_differs(tmp_path):
    with shop(tmp_path) as caller:
        caller.begin("new", id="a", user=3)
        assert refusal(caller.begin("back", id="a", user=3)) == (409, "conflict", "context")
        assert refusal(caller.begin("new", id="a", user=4)) == (409, "conflict", "user")
        caller.act("a", 1, "start")
        assert refusal(caller.act("a", 1, "cart")) == (409, "conflict", "state")
        assert refusal(caller.act("a", 3, "cart")) == (409, "out-of-order", "step")
        caller.act("a", 2, "cart")
        caller.hear("a", "hm", outcome=0)
        assert refusal(caller.hear("a", "thanks")) == (409, "conflict", "feedback")
        assert refusal(caller.hear("a", "hm", outcome=1)) == (409, "conflict", "outcome")
        assert refusal(caller.post("/episodes/a/abandon")) == (409, "ended", "episode")


@pytest.mark.parametrize(
    ("path", "body", "expected"),
    [
        ("/episodes", {}, (422, "invalid", "context")),
        ("/episodes", {"context": "nobody"}, (422, "invalid", "context")),
        ("/episodes", {"context": "new", "id": "12"}, (422, "invalid", "id")),
        ("/episodes", {"context": "new", "more": 1}, (422, "invalid", "more")),
        ("/episodes", {"context": {"a": [1]}}, (422, "invalid", "context")),
        ("/episodes/0/actions", {"step": 1, "state": "start"}, (404, "not-found", None)),
        ("/episodes/open/actions", {"step": 1, "state": "nowhere"}, (422, "invalid", "state")),
        ("/episodes/open/actions", {"step": 0, "state": "start"}, (422, "invalid", "step")),
        ("/episodes/open/feedback", {"feedback": "thanks"}, (422, "invalid", "feedback")),
        ("/episodes/open/feedback", {}, (422, "invalid", "feedback")),
        ("/decide", {"context": "new", "state": "cart"}, (422, "invalid", "state")),
        ("/retire", {"action": "sing"}, (422, "invalid", "action")),
    ],
)
def test_what_is_refused_changes_nothing(tmp_path, path, body, expected):
    with shop(tmp_path) as caller:
        caller.begin("new", id="open")
        before = caller.host.snapshot()()
        assert refusal(caller.post(path, **body)) == expected
        assert caller.host.snapshot()() == before


def test_bodies_that_are_no_json_or_too_large_are_refused(tmp_path):
    with shop(tmp_path) as caller:
        client = caller.client
        assert refusal(client.post("/v1/agents/shop/episodes", content=b"{")) == (422, "invalid", None)
        assert refusal(client.post("/v1/agents/shop/episodes", content=b"\xff\xfe")) == (422, "invalid", None)
        large = b'{"context": "' + b"x" * (1 << 20) + b'"}'
        assert refusal(client.post("/v1/agents/shop/episodes", content=large))[0] == 413
        assert refusal(client.get("/v1/nothing"))[0] == 404
        assert refusal(client.delete("/v1/agents"))[0] == 405


def test_the_first_action_can_come_with_the_beginning(tmp_path):
    with shop(tmp_path) as caller:
        both = caller.post("/decide", context="back", state="start", id="d")
        assert both.status_code == 201
        assert both.json()["action"] == caller.act("d", 1, "start").json()["action"]
        again = caller.post("/decide", context="back", state="start", id="d")
        assert (again.status_code, again.json()) == (200, both.json())


def test_agents_are_made_once_and_deleted(tmp_path):
    with serving(tmp_path) as client:
        caller = Caller(client)
        assert caller.put(SHOP).status_code == 201
        assert caller.put(SHOP).status_code == 200
        other = SHOP | {"seed": 8}
        assert refusal(caller.put(other)) == (409, "conflict", "seed")
        feedback = SHOP | {"layout": SHOP["layout"] | {"feedback": ["thanks", "no"]}}
        assert refusal(caller.put(feedback)) == (409, "conflict", "layout.feedback.labels")
        assert [each["name"] for each in client.get("/v1/agents").json()["agents"]] == ["shop"]
        assert client.delete("/v1/agents/shop").status_code == 204
        assert refusal(client.get("/v1/agents/shop"))[0] == 404
        assert caller.put(other).status_code == 201
        assert refusal(Caller(client, "A b").put(SHOP)) == (422, "invalid", "name")


@pytest.mark.parametrize(
    ("description", "field"),
    [
        ({}, "layout"),
        ({"layout": SHOP["layout"], "text": {}}, "layout"),
        ({"layout": {"states": [["start"]]}}, "layout"),
        ({"layout": SHOP["layout"] | {"feedback": []}}, "layout"),
        ({"layout": SHOP["layout"], "settings": {"decode": {}}}, "settings"),
        ({"layout": SHOP["layout"], "settings": {"decoder": {"c": 7}}}, "layout"),
        ({"layout": SHOP["layout"], "seed": -1}, None),
        ({"layout": SHOP["layout"], "window": 0}, None),
    ],
)
def test_descriptions_that_make_no_agent_are_refused(tmp_path, description, field):
    with serving(tmp_path) as client:
        assert refusal(Caller(client).put(description)) == (422, "invalid", field)
        assert client.get("/v1/agents").json() == {"agents": []}


def test_a_description_may_be_toml(tmp_path):
    toml = """
    seed = 7
    [layout]
    states = [["start"], ["cart", "list"]]
    actions = ["ask", "show", "offer"]
    contexts = ["new", "back"]
    feedback = ["thanks", "hm"]
    [settings.decoder]
    theta = "estimate"
    """
    with serving(tmp_path) as client:
        kind = {"content-type": "application/toml"}
        assert client.put("/v1/agents/shop", content=toml, headers=kind).status_code == 201
        assert Caller(client).put(SHOP).status_code == 200  # the same in other words


def test_the_same_is_decided_as_in_process(tmp_path):
    env = synthetic()
    told = Description(layout=env.layout.to_json(), seed=5)
    agent = make_agent(complete(told))
    with serving(tmp_path) as client:
        caller = Caller(client, "paper")
        assert caller.put(msgspec.to_builtins(told)).status_code == 201
        observed, _ = env.reset(seed=11)
        for _ in range(300):
            context, states = observed["context"], [observed["state"]]
            episode = agent.begin(context)
            over = False
            while not over:
                observed, _, over, _, info = env.step(agent.act(episode, states[-1]))
                states.append(observed["state"])
            agent.end(episode, info["feedback"])
            steps = [int(state) for state in states[:-1]]
            assert caller.play(int(context), steps, int(info["feedback"])) == [
                step.action for step in episode.steps
            ]
            observed, _ = env.reset()
        policy = client.get("/v1/agents/paper/policy", params={"context": "0"}).json()["policy"]
    expected = agent.policy(0)
    assert {
        row["state"]: {a["action"]: a["probability"] for a in row["actions"]} for row in policy
    } == expected


def test_a_restart_goes_on_where_it_was_and_the_journal_alone_makes_the_same_agent(tmp_path):
    generator = np.random.default_rng(0)

    def visit(caller):
        caller.play(
            *(("new", "back")[generator.integers(2)], ["start", ("cart", "list")[generator.integers(2)]]),
            ("thanks", "hm", None)[generator.integers(3)],
        )

    with shop(tmp_path) as caller:
        for _ in range(60):
            visit(caller)
        caller.begin("new", id="half")
        half = caller.act("half", 1, "start").json()
        before = caller.host.snapshot()()
    assert rebuilt(tmp_path) == before
    with shop(tmp_path) as caller:
        assert caller.host.snapshot()() == before
        assert caller.act("half", 1, "start").json() == half
        caller.act("half", 2, "cart")
        caller.hear("half", "hm")
        for _ in range(20):
            visit(caller)
        assert refusal(caller.hear("half", "thanks")) == (409, "conflict", "feedback")
        after = caller.host.snapshot()()
    assert rebuilt(tmp_path) == after


def test_a_snapshot_is_of_the_moment_in_which_it_was_taken(tmp_path):
    """It is packed later, in a thread, while the agent goes on."""
    generator = np.random.default_rng(4)
    with shop(tmp_path) as caller:
        for _ in range(30):
            caller.play("new", ["start", "cart"], ("thanks", "hm")[generator.integers(2)])
        caller.begin("new", id="half")
        write, then = caller.host.snapshot(), caller.host.snapshot()()
        caller.act("half", 1, "start")
        for _ in range(30):
            caller.play("back", ["start", "cart"], ("thanks", "hm")[generator.integers(2)])
        assert write() == then != caller.host.snapshot()()


def test_episodes_of_earlier_runs_are_known(tmp_path):
    with shop(tmp_path) as caller:
        caller.play("new", ["start", "cart"], "thanks", id="old")
    with shop(tmp_path) as caller:
        assert caller.begin("new", id="old").status_code == 200
        assert caller.hear("old", "thanks").json()["accepted"]
        assert refusal(caller.begin("back", id="old")) == (409, "conflict", "context")


def test_what_nobody_answers_is_closed(tmp_path):
    clock = Clock()
    with shop(tmp_path, clock) as caller:
        caller.begin("new", id="silent")
        caller.act("silent", 1, "start")
        caller.act("silent", 2, "cart")
        caller.begin("new", id="broken")
        caller.act("broken", 1, "start")
        clock.now += 86_401
        caller.begin("new", id="young")
        expired = caller.host.expire(clock.now)
        assert [
            (event.episode, msgspec.json.decode(event.body).get("silent", False)) for event in expired
        ] == [
            ("silent", True),
            ("broken", False),
        ]
        assert refusal(caller.hear("silent", "thanks")) == (409, "ended", "episode")
        assert caller.client.get("/v1/agents/shop/episodes/broken").json()["ended"] == "unanswered"
        assert list(caller.host.accounts) == ["young"]


def test_everything_can_be_exported_as_logs(tmp_path):
    with shop(tmp_path) as caller:
        for n in range(30):
            caller.play("new", ["start", "cart"], "thanks" if n % 3 else None, user=n)
        caller.begin("new", id="broken")
        caller.act("broken", 1, "start")
        caller.post("/episodes/broken/abandon")
        caller.begin("new", id="open")
        lines = caller.client.get("/v1/agents/shop/export").content
    path = tmp_path / "logs.jsonl"
    path.write_bytes(lines)
    assert len(lines.splitlines()) == 31
    assert msgspec.json.decode(lines.splitlines()[-1])["abandoned"]
    assert tacit.diagnose(path).verdict == "not known yet"


class Failing:
    """A store whose appends fail while `broken`; all else is that of a real one."""

    def __init__(self, store):
        self._store, self.broken = store, False

    def __getattr__(self, name):
        return getattr(self._store, name)

    def append(self, events):
        if self.broken:
            raise StoreError("the disk is full")
        return self._store.append(events)

    def check(self):
        if self.broken:
            raise StoreError("the disk is full")
        self._store.check()


def test_what_could_not_be_kept_is_not_acknowledged_and_is_forgotten(tmp_path):
    store = Failing(SqliteStore(tmp_path / JOURNAL))
    with shop(tmp_path, store=store) as caller:
        caller.play("new", ["start", "cart"], "thanks")
        caller.begin("new", id="a")
        before = caller.host.snapshot()()
        store.broken = True
        lost = caller.act("a", 1, "start")
        assert (refusal(lost)[0], lost.headers["retry-after"]) == (503, "1")
        assert refusal(caller.begin("new"))[0] == 503
        assert caller.client.get("/readyz").status_code == 503
        assert caller.client.get("/healthz").status_code == 200
        store.broken = False
        wait_until(lambda: caller.client.get("/readyz").status_code == 200)
        assert caller.host.snapshot()() == before
        assert caller.act("a", 1, "start").status_code == 200


def test_a_request_that_breaks_off_inside_leaves_nothing_behind(tmp_path, monkeypatch):
    with shop(tmp_path) as caller:
        caller.begin("new", id="e")
        caller.act("e", 1, "start")
        caller.act("e", 2, "cart")
        agent, end = caller.host.agent, caller.host.agent.end

        def break_off(*told):
            end(*told)
            raise MemoryError

        monkeypatch.setattr(agent, "end", break_off)
        assert caller.hear("e", "thanks").status_code == 500
        wait_until(lambda: caller.client.get("/readyz").status_code == 200)
        assert caller.client.get("/v1/agents/shop/episodes/e").json()["ended"] is None
        assert caller.hear("e", "hm").status_code == 200
        before = caller.host.snapshot()()
    assert rebuilt(tmp_path) == before
