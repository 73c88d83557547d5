"""Shadow mode, holdout, known outcomes, labels, files of agents, fits that are made beside."""

import msgspec
import numpy as np
import pytest
from serving import SHOP, Caller, rebuilt, refusal, serving, shop, wait_until

import tacit
from tacit.service.rebuilding import load_agent


def test_what_the_caller_did_is_learned_from(tmp_path):
    with shop(tmp_path) as caller:
        caller.begin("new", id="a")
        acted = caller.act("a", 1, "start", taken="show", probability=0.25)
        assert acted.json() == {"action": "show", "probability": 0.25, "step": 1}
        assert caller.act("a", 2, "cart", taken="offer").json()["probability"] is None
        assert caller.act("a", 2, "cart", taken="offer").status_code == 200
        assert refusal(caller.act("a", 2, "cart", taken="ask")) == (409, "conflict", "taken")
        assert refusal(caller.act("a", 1, "start", taken="show", probability=0.5)) == (
            409,
            "conflict",
            "probability",
        )
        caller.hear("a", "thanks")
        caller.begin("new", id="b")
        assert refusal(caller.act("b", 1, "start", taken="sing")) == (422, "invalid", "taken")
        before = caller.host.snapshot()()
        line = msgspec.json.decode(caller.client.get("/v1/agents/shop/export").content)
        assert line["steps"] == [
            {"state": "start", "action": "show", "probability": 0.25},
            {"state": "cart", "action": "offer"},
        ]
    assert rebuilt(tmp_path) == before


def test_a_share_of_users_is_held_out(tmp_path):
    with serving(tmp_path) as client:
        caller = Caller(client)
        assert caller.put(SHOP | {"holdout": 0.3}).status_code == 201
        held = {}
        for n in range(200):
            user = f"u{n % 50}"
            began = caller.begin("new", user=user, id=f"e{n}").json()
            held.setdefault(user, set()).add(began.get("held", False))
            caller.act(f"e{n}", 1, "start")
            caller.act(f"e{n}", 2, "cart")
            caller.hear(f"e{n}", "thanks")
        assert all(len(each) == 1 for each in held.values())  # always so for a user
        share = sum(True in each for each in held.values()) / 50
        assert 0.12 < share < 0.5
        before = caller.host.snapshot()()
        assert client.get("/v1/agents/shop").json()["holdout"]["episodes"] >= 0
    assert rebuilt(tmp_path) == before


BASELINE = [{"state": "start", "action": "ask"}, {"state": "cart", "action": "offer"}]


@pytest.mark.parametrize(
    ("baseline", "done"), [(BASELINE, ["ask", "offer", None]), ("first", ["ask", "ask", "ask"])]
)
def test_those_held_out_go_by_the_baseline(tmp_path, baseline, done):
    """A state that it leaves out stays uniform; the agent is told of it as of what somebody else did."""
    with serving(tmp_path) as client:
        caller = Caller(client)
        assert caller.put(SHOP | {"holdout": 0.5, "baseline": baseline}).status_code == 201
        assert caller.put(SHOP | {"holdout": 0.5, "baseline": baseline}).status_code == 200
        assert refusal(caller.put(SHOP | {"holdout": 0.5})) == (409, "conflict", "baseline")
        chosen = {True: [set(), set(), set()], False: [set(), set(), set()]}
        for n in range(120):
            began = caller.begin("new", id=f"e{n}").json()
            last = ("cart", "list")[n % 2]
            for step, state in enumerate(("start", last), 1):
                asked = caller.act(f"e{n}", step, state).json()
                assert caller.act(f"e{n}", step, state).json() == asked  # may be repeated
                place = chosen[began.get("held", False)][("start", "cart", "list").index(state)]
                place.add((asked["action"], asked["probability"]))
            caller.hear(f"e{n}", ("thanks", "hm")[n % 3 == 0])
        for place, action in zip(chosen[True], done, strict=True):
            assert place == {(action, 1.0)} if action else len(place) == 3
        assert all(len({action for action, _ in place}) == 3 for place in chosen[False])
        account = client.get(f"/v1/agents/shop/episodes/{_held(client)}").json()
        assert account["steps"][0]["baseline"] is True
        before = caller.host.snapshot()()
    assert rebuilt(tmp_path) == before


def _held(client):
    """Return the id of an episode that was held out."""
    for n in range(120):
        if client.get(f"/v1/agents/shop/episodes/e{n}").json()["held"]:
            return f"e{n}"
    raise AssertionError("nobody was held out")


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"baseline": "first"}, "got no `holdout`"),
        ({"holdout": 0.1, "baseline": "last"}, "Invalid enum value"),
        ({"holdout": 0.1, "baseline": [{"state": "attic", "action": "ask"}]}, "got 'attic'; leave it out"),
        ({"holdout": 0.1, "baseline": [{"state": "cart", "action": "hide"}]}, "got 'hide' in 'cart'"),
        ({"holdout": 0.1, "baseline": [{"state": "cart"}]}, "missing required field `action`"),
    ],
)
def test_a_baseline_that_cannot_be_is_refused(tmp_path, more, words):
    with serving(tmp_path) as client:
        refused = client.put("/v1/agents/shop", json=SHOP | more)
        assert refused.status_code == 422
        assert words in refused.json()["error"]["message"]
        assert client.get("/v1/agents").json() == {"agents": []}


@pytest.mark.parametrize("baseline", ["first", [{"state": "a", "action": "b"}]])
def test_a_baseline_is_not_for_conversations(tmp_path, baseline):
    """Of these only choices of the agent's own are learned from."""
    with serving(tmp_path) as client:
        refused = client.put("/v1/agents/talk", json={"text": {}, "holdout": 0.1, "baseline": baseline})
        assert refusal(refused) == (422, "invalid", "baseline")


def test_known_outcomes_check_the_diagnosis(tmp_path):
    with shop(tmp_path) as caller:
        told = [{"context": "new", "state": "cart", "feedback": "thanks", "reward": 1}] * 3
        assert caller.post("/anchors", anchors=told).json() == {"anchors": 3}
        wrong = [told[0] | {"state": "nowhere"}]
        assert refusal(caller.post("/anchors", anchors=wrong)) == (422, "invalid", "anchors")
        codes = {each["code"] for each in caller.client.get("/v1/agents/shop").json()["findings"]}
        assert "anchors-undecided" in codes
    with shop(tmp_path) as caller:
        assert len(caller.host.anchors) == 3


def learn(caller, episodes):
    """Play a shop in which offering pleases the new and showing those who are back, in other words."""
    generator, best = np.random.default_rng(1), {"new": "offer", "back": "show"}
    for _ in range(episodes):
        context = ("new", "back")[generator.integers(2)]
        name = caller.begin(context).json()["episode"]
        caller.act(name, 1, "start")
        action = caller.act(name, 2, "cart").json()["action"]
        pleased = generator.random() < (0.9 if action == best[context] else 0.05)
        caller.hear(name, "thanks" if pleased == (context == "new") else "hm")


@pytest.mark.compiled
def test_logged_episodes_are_labelled_by_what_is_known(tmp_path):
    def logged(context, feedback):
        best = {"new": "offer", "back": "show"}[context]
        steps = [{"state": "start", "action": "ask"}, {"state": "cart", "action": best}]
        return {"context": context, "steps": steps, "feedback": feedback}

    with shop(tmp_path) as caller:
        asked = [logged("new", "thanks"), logged("new", "hm"), logged("back", "thanks"), logged("back", "hm")]
        assert caller.post("/label", episodes=asked).json() == {"labels": [None] * 4}
        learn(caller, 900)
        before = caller.host.snapshot()()
        labels = [each["reward"] for each in caller.post("/label", episodes=asked).json()["labels"]]
        assert [round(label) for label in labels] == [1, 0, 0, 1]
        assert caller.host.snapshot()() == before
        bad = logged("new", "thanks") | {"steps": [{"state": "start", "action": "sing"}]}
        assert refusal(caller.post("/label", episodes=[bad])) == (422, "invalid", "episodes")
        status = caller.client.get("/v1/agents/shop").json()
        assert status["earning"]["low"] < status["earning"]["mean"] < status["earning"]["high"]


def test_an_agent_goes_on_from_its_file(tmp_path):
    with shop(tmp_path) as caller:
        learn(caller, 30)
        caller.begin("new", id="open")
        content = caller.client.get("/v1/agents/shop/checkpoint").content
        assert isinstance(load_agent(content), tacit.Agent)
        path = "/v1/agents/shop/checkpoint"
        assert refusal(caller.client.put(path, content=content)) == (409, "begun", None)
        other = Caller(caller.client, "other")
        other.put(SHOP)
        assert refusal(caller.client.put("/v1/agents/other/checkpoint", content=b"PK")) == (
            422,
            "invalid",
            None,
        )
        wide = Caller(caller.client, "wide")
        wide.put(SHOP | {"layout": SHOP["layout"] | {"contexts": ["new"]}})
        assert refusal(caller.client.put("/v1/agents/wide/checkpoint", content=content))[0] == 409
        assert caller.client.put("/v1/agents/other/checkpoint", content=content).status_code == 200
        learn(other, 5)
        before = other.host.snapshot()()
    assert rebuilt(tmp_path, "other") == before


@pytest.mark.compiled
def test_fits_that_are_made_beside_are_replayed_when_they_were_taken_up(tmp_path):
    described = {
        "layout": {
            "states": [["start"]],
            "actions": ["a", "b", "c"],
            "contexts": {"kind": "vectors", "dimension": 3},
            "feedback": ["yes", "no"],
        }
    }
    generator = np.random.default_rng(2)

    def visit(caller):
        context = generator.normal(size=3).tolist()
        name = caller.begin(context).json()["episode"]
        action = caller.act(name, 1, "start").json()["action"]
        pleased = generator.random() < (0.9 if action == ("a" if context[0] > 0 else "b") else 0.05)
        caller.hear(name, "yes" if pleased else "no")

    with serving(tmp_path) as client:
        caller = Caller(client, "people")
        assert caller.put(described).status_code == 201
        for _ in range(300):
            visit(caller)
        wait_until(lambda: visit(caller) or caller.host.fits)
        for _ in range(20):
            visit(caller)
        before, fits = caller.host.snapshot()(), caller.host.agent.stage.fits
    assert len(fits) >= 1
    assert rebuilt(tmp_path, "people") == before


def test_an_agent_that_has_grown_goes_on_elsewhere(tmp_path):
    """Its file holds what it met and what was retired; one of another description is refused."""
    grows = {"layout": SHOP["layout"] | {"open": True}}
    with serving(tmp_path) as client:
        caller, other, closed = Caller(client, "a"), Caller(client, "b"), Caller(client, "c")
        for each, described in ((caller, grows), (other, grows), (closed, SHOP)):
            assert each.put(described).status_code == 201
        caller.begin("new", id="e")
        caller.act("e", 1, "start")
        assert caller.act("e", 2, "attic", actions=["climb", "leave"]).status_code == 200
        caller.hear("e", "thanks")
        assert client.post("/v1/agents/a/retire", json={"action": "offer"}).status_code == 200
        file = client.get("/v1/agents/a/checkpoint").content
        assert refusal(client.put("/v1/agents/c/checkpoint", content=file)) == (409, "conflict", "layout")
        assert client.put("/v1/agents/b/checkpoint", content=file).status_code == 200
        other.begin("new", id="f")
        assert other.act("f", 1, "start").json()["action"] != "offer"
        assert other.act("f", 2, "attic").status_code == 200
        before = other.host.snapshot()()
    assert rebuilt(tmp_path, "b") == before


def test_refusals_say_which_field_and_how_to_write_it(tmp_path):
    with shop(tmp_path) as caller:
        asked = caller.client.get("/v1/agents/shop/policy?context=new")
        assert refusal(asked) == (422, "invalid", "context")
        assert "a text in quotes (?context=%22new%22), got 'new'" in asked.json()["error"]["message"]
        digits = caller.begin("new", id="17")
        assert refusal(digits) == (422, "invalid", "id")
        assert "not of digits alone" in digits.json()["error"]["message"]
        assert refusal(caller.post("/decide", context="new")) == (422, "invalid", "state")
        assert refusal(caller.post("/decide", context="new", state="start", hurry=1))[2] == "hurry"


def test_the_status_says_how_far_an_agent_is(tmp_path):
    with shop(tmp_path) as caller:
        for _ in range(5):
            caller.play("new", ["start", "cart"], "thanks")
        told = caller.client.get("/v1/agents/shop").json()["progress"]
        assert (told["done"], told["total"]) == (0, 4)
        assert "situations settled" in told["what"]
        assert {"state": "cart", "context": "new", "told": 5}.items() <= told["wanted"][0].items()
