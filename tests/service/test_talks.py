"""Conversations in a service: fits beside, texts read in a thread, and a replay that comes to the same."""

import threading
import time

import pytest
from serving import SHOP, Caller, rebuilt, serving
from text_samples import HashingEncoder

from tacit.service import talks
from tacit.service.progress import tell_progress
from tacit.text.evidence import Evidence

TALK = {"text": {"horizon": 1, "exploration": 12}, "seed": 3}
CANDIDATES = ["A novel?", "A comic?", "A newspaper?", "A map?"]
ASKED = "I am looking for something to read"


class Later:
    """Work that is done when a test says so, in place of another process."""

    now = False

    def __init__(self):
        self.work = None

    @property
    def busy(self):
        return self.work is not None

    @property
    def done(self):
        return self.busy and Later.now

    def begin(self, work, settings, model, reactions):
        self.work = (work, settings, model, reactions)

    def wait(self):
        work, *told = self.work
        self.work = None
        return work(*told)

    def stop(self):
        self.work = None


class SlowEncoder(HashingEncoder):
    """Takes its time, for whoever waits in the loop to notice."""

    seconds = 0.0

    def words(self, texts):
        time.sleep(self.seconds)
        return super().words(texts)


@pytest.fixture
def encoder(monkeypatch):
    shared = SlowEncoder()
    monkeypatch.setattr("tacit.text.small.model.bundled_encoder", lambda: shared)
    monkeypatch.setattr(talks, "Beside", Later)
    monkeypatch.setattr(Later, "now", False)
    monkeypatch.setattr(Evidence, "found", property(lambda evidence: True))  # so few remarks show nothing
    return shared


def talk(caller, name):
    """Return what a conversation was told: the action, and what its remark was taken to mean."""
    caller.begin(ASKED, id=name)
    chosen = caller.act(name, 1, ASKED, actions=CANDIDATES)
    assert chosen.status_code == 200, chosen.text
    action = chosen.json()["action"]
    heard = caller.hear(name, "oh thank you" if action == "A comic?" else "no not that")
    assert heard.status_code == 200
    return action, heard.json()["decoded"]


def begin_talk(client):
    caller = Caller(client, "talk")
    assert caller.put(TALK).status_code == 201
    return caller


def test_exploring_goes_on_while_a_fit_runs_beside_and_the_replay_is_exact(tmp_path, encoder):
    with serving(tmp_path) as client:
        caller = begin_talk(client)
        for n in range(20):
            _, decoded = talk(caller, f"e{n}")
            assert decoded is None
        status = client.get("/v1/agents/talk").json()
        assert (status["stage"], status["stale"]) == ("exploration", {"fits": 0, "behind": 20})
        assert "is being looked at" in tell_progress(caller.host.agent.stage).words[0]
        Later.now = True
        caller.begin(ASKED, id="open")  # in exploration, which it stays
        talk(caller, "last")  # takes up the fit to the first twelve
        status = client.get("/v1/agents/talk").json()
        assert (status["stage"], status["stale"]) == ("policy learning", {"fits": 1, "behind": 9})
        assert talk(caller, "next")[1] is not None  # begins another fit, to what was heard since
        talk(caller, "again")
        assert client.get("/v1/agents/talk").json()["stale"]["fits"] == 2
    with serving(tmp_path) as client:
        caller = Caller(client, "talk")
        assert client.get("/v1/agents/talk/episodes/open").json()["stage"] == "exploration"
        assert talk(caller, "decoded")[1] is not None
        before = caller.host.snapshot()()
    assert rebuilt(tmp_path, "talk") == before


def test_a_fit_that_goes_wrong_is_made_again_with_more(tmp_path, encoder, monkeypatch):
    with serving(tmp_path) as client:
        caller = begin_talk(client)
        fit, failures = talks.fit_talk, [MemoryError()]
        monkeypatch.setattr(talks, "fit_talk", lambda *told: fit(*told) if not failures else fail(failures))
        Later.now = True
        for n in range(12):
            talk(caller, f"e{n}")
        talk(caller, "fails")
        assert (failures, client.get("/v1/agents/talk").json()["stage"]) == ([], "exploration")
        for n in range(5):
            talk(caller, f"more{n}")
        assert client.get("/v1/agents/talk").json()["stage"] == "policy learning"


def fail(errors):
    raise errors.pop()


def test_reading_texts_holds_up_nobody_else(tmp_path, encoder):
    with serving(tmp_path) as client:
        caller, shop = begin_talk(client), Caller(client)
        shop.put(SHOP)
        Later.now = True
        for n in range(14):
            talk(caller, f"e{n}")
        assert client.get("/v1/agents/talk").json()["stage"] == "policy learning"
        caller.begin("something else", id="slow")
        encoder.seconds = 1.0
        asked = {"actions": ["One that is new?", "Another that is new?", "And a third?"]}
        slow = threading.Thread(target=lambda: caller.act("slow", 1, "something else", **asked))
        slow.start()
        time.sleep(0.1)
        began = time.perf_counter()
        shop.play("new", ["start", "cart"], "hm")
        quick = time.perf_counter() - began
        assert slow.is_alive()
        slow.join()
        encoder.seconds = 0.0
        assert quick < 0.8
        answered = caller.act("slow", 1, "something else", **asked)
        assert answered.json()["action"] in asked["actions"]


def test_a_conversation_that_is_refused_leaves_nothing_behind(tmp_path, encoder):
    with serving(tmp_path) as client:
        caller = begin_talk(client)
        caller.begin(ASKED, id="e")
        before = caller.host.snapshot()()
        assert caller.act("e", 1, "other words", actions=CANDIDATES).status_code == 422
        assert caller.act("e", 2, ASKED, actions=CANDIDATES).status_code == 409
        assert caller.hear("nobody", "hm").status_code == 404
        assert caller.host.snapshot()() == before
