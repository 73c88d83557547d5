"""Metrics: what was done is counted, once, by labels that are few."""

import math
import time

import pytest
from operating import bearer, operating, shop_with
from prometheus_client.parser import text_string_to_metric_families
from serving import Clock

from tacit.service import metrics
from tacit.service.keys import Keys


def samples(client, **headers):
    """Return values by name and labels."""
    told = client.get("/metrics", headers=headers)
    assert told.headers["content-type"].startswith("text/plain; version=0.0.4")
    return {
        (sample.name, *sorted(sample.labels.values())): sample.value
        for family in text_string_to_metric_families(told.text)
        for sample in family.samples
    }


def test_what_was_done_is_counted(tmp_path):
    clock = Clock()
    with shop_with(tmp_path, clock=clock) as caller:
        for n in range(4):
            caller.play("new", ["start", "cart"], "thanks" if n else None)
        caller.begin("new", id="broken")
        caller.begin("new", id="broken")  # repeated, so not counted
        caller.post("/episodes/broken/abandon")
        caller.begin("new", id="open")
        caller.act("open", 7, "start")
        caller.act("open", 1, "start", taken="ask")  # by another, so not chosen here
        caller.client.get("/nothing")
        found = samples(caller.client)
    assert found["tacit_decisions_total", "shop"] == 8
    assert found["tacit_feedback_total", "given", "shop"] == 3
    assert found["tacit_feedback_total", "shop", "silent"] == 1
    assert found["tacit_feedback_total", "abandoned", "shop"] == 1
    assert found["tacit_refusals_total", "409"] == 1
    assert found["tacit_refusals_total", "404"] == 1
    assert found["tacit_open_episodes", "shop"] == 1
    assert (found["tacit_agents",], found["tacit_events_waiting",], found["tacit_ready",]) == (1, 0, 1)
    assert found["tacit_policy_entropy_nats_count", "shop"] == 8
    assert found["tacit_policy_entropy_nats_sum", "shop"] == pytest.approx(8 * math.log(3), rel=0.2)
    route = "/v1/agents/{name}/episodes/{episode}/actions"
    assert found["tacit_request_seconds_count", route, "POST"] == 10


def test_what_nobody_answered_is_counted(tmp_path):
    clock = Clock()
    with shop_with(tmp_path, clock=clock) as caller:
        caller.begin("new", id="late")
        clock.now += 90_000
        for _ in range(100):
            found = samples(caller.client)
            if found.get(("tacit_feedback_total", "shop", "unanswered")):
                break
            time.sleep(0.05)
        assert found["tacit_feedback_total", "shop", "unanswered"] == 1
        assert found["tacit_open_episodes", "shop"] == 0


def test_findings_are_looked_for_twice_a_minute_at_most(tmp_path, monkeypatch):
    with shop_with(tmp_path) as caller:
        agent, asked = caller.host.agent, []
        diagnose = agent.diagnose
        monkeypatch.setattr(agent, "diagnose", lambda anchors: asked.append(1) or diagnose(anchors))
        for _ in range(3):
            found = samples(caller.client)
        assert len(asked) == 1
        assert any(name == "tacit_findings" for name, *_ in found)
        caller.client.app.state.gate.metrics._clock = lambda: 1e9
        samples(caller.client)
        assert len(asked) == 2


def test_confidence_fits_and_snapshots_are_told(tmp_path):
    layout = {
        "states": [["start"]],
        "actions": ["a", "b", "c"],
        "contexts": {"kind": "vectors", "dimension": 2},
        "feedback": ["thanks", "hm"],
    }
    with operating(tmp_path) as client:
        assert client.put("/v1/agents/v", json={"layout": layout}).status_code == 201
        for n in range(3):
            body = {"context": [0.1, n], "state": "start", "id": f"e{n}"}
            assert client.post("/v1/agents/v/decide", json=body).status_code == 201
            client.post(f"/v1/agents/v/episodes/e{n}/feedback", json={"feedback": "hm"})
        found = samples(client)
        assert found["tacit_fit_behind_tuples", "v"] == 3
        assert 0 <= found["tacit_fit_age_seconds", "v"] < 600
        assert found["tacit_snapshot_behind_positions", "v"] == 9
        assert ("tacit_snapshot_age_seconds", "v") not in found
        host = client.app.state.house.hosts["v"]
        client.portal.call(client.app.state.house.snapshot, host)
        found = samples(client)
        assert found["tacit_snapshot_behind_positions", "v"] == 0
        assert 0 <= found["tacit_snapshot_age_seconds", "v"] < 60


def test_how_sure_decoded_rewards_are(tmp_path):
    with shop_with(tmp_path) as caller:
        host, told = caller.host, b'{"feedback":"hm","decoded":%s}'
        decoded = b'{"reward":0.1,"confidence":0.9,"low":0.0,"high":0.2}'
        event = host._event("e", "end", {}, 0.0)._replace(body=told % decoded, said=None)
        caller.client.app.state.gate.metrics.observe(host, event)
        found = samples(caller.client)
        assert found["tacit_decoder_confidence_count", "shop"] == 1
        assert found["tacit_decoder_confidence_bucket", "0.9", "shop"] == 1
        assert found["tacit_decoder_confidence_bucket", "0.8", "shop"] == 0


def test_agents_that_were_deleted_are_forgotten(tmp_path):
    with shop_with(tmp_path) as caller:
        caller.play("new", ["start", "cart"], "hm")
        assert any("shop" in labels for _, *labels in samples(caller.client))
        caller.client.delete("/v1/agents/shop")
        assert not any("shop" in labels for _, *labels in samples(caller.client))


def test_two_services_of_a_process_count_for_themselves(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    with shop_with(tmp_path / "a") as one, shop_with(tmp_path / "b") as other:
        one.play("new", ["start", "cart"], "hm")
        assert ("tacit_decisions_total", "shop") not in samples(other.client)


def test_metrics_need_a_key_unless_they_are_open(tmp_path):
    token = Keys(tmp_path).create("m", ["admin"], [], 0.0)
    with operating(tmp_path) as client:
        assert client.get("/metrics").status_code == 401
        assert samples(client, **bearer(token))["tacit_agents",] == 0
    with operating(tmp_path, open_metrics=True, client=("10.0.0.1", 5)) as client:
        assert samples(client)["tacit_agents",] == 0
        assert client.get("/v1/agents").status_code == 401


def test_kinds_are_few():
    assert metrics.KINDS == ("given", "silent", "unanswered", "abandoned")
