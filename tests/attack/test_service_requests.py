"""A service that is asked everything its OpenAPI description allows, and more, in any order.

No answer may be a 5xx, or one that the description does not have; what is refused must change nothing; and in the end
the journal alone must make the same agents.
"""

import json
from urllib.parse import quote

import jsonschema
from campaign import Outcome, changed, drawn, lost, raw
from schema_draws import WORDS, draw, pick, spoil
from serving import SHOP, rebuilt, serving

REQUESTS = 60
"""Of one session."""
DESCRIBED = {
    "shop": SHOP,
    "open": {"layout": SHOP["layout"] | {"open": True}, "holdout": 0.5, "baseline": "first"},
    "vectors": {"layout": SHOP["layout"] | {"contexts": {"kind": "vectors", "dimension": 2}}},
    "talk": {"text": {"horizon": 2, "exploration": 5, "ends_early": True}},
}
SENSIBLE = {
    "context": ("new", "back", [0.5, 1.0], "something to read"),
    "state": ("start", "cart", "list", "something to read"),
    "action": ("ask", "show", "offer"),
    "taken": ("ask", "show"),
    "feedback": ("thanks", "hm", None, "lovely"),
    "actions": (None, ["ask", "show", "offer"], ["a novel", "a map", "a comic"]),
    "id": ("e0", "e1", "e2"),
    "step": (1, 1, 2, 2, 3),
    "probability": (None, 0.25, 1.0),
    "outcome": (None, None, 0, 1),
}
"""What those who mean well say, by field."""
PATHS = [word for word in WORDS if word != ".."]
"""Words that a client sends as they are: two dots it takes for the way back."""
STREAMS = ("/v1/watch", "/v1/agents/{name}/watch")
"""These never end."""


def sense(value, chance):
    """Return a body in which most fields are what somebody who means well would say."""
    if isinstance(value, list):
        return [sense(each, chance) for each in value]
    if not isinstance(value, dict):
        return value
    return {
        name: pick(chance, SENSIBLE[name])
        if name in SENSIBLE and chance.random() < 0.9
        else sense(each, chance)
        for name, each in value.items()
    }


class Session:
    """One client's requests to a service of its own."""

    def __init__(self, client, chance):
        self.client, self.chance = client, chance
        self.document = client.get("/openapi.json").json()
        self.parts = self.document["components"]["schemas"]
        self.operations = [
            (method, path, told)
            for path, methods in self.document["paths"].items()
            for method, told in methods.items()
            if path not in STREAMS
        ]

    def ask(self):
        """Make one request and judge its answer."""
        chance = self.chance
        method, path, told = pick(chance, self.operations)
        if method == "delete" and chance.random() < 0.9:
            return
        name = pick(chance, (*DESCRIBED, *DESCRIBED, "nobody", pick(chance, PATHS)))
        episode = pick(chance, ("e0", "e1", "e2", "0", "1", pick(chance, PATHS)))
        url = path.replace("{name}", quote(name, safe="")).replace("{episode}", quote(episode, safe=""))
        if "{name}/policy" in path:
            url += "?context=" + quote(json.dumps(pick(chance, SENSIBLE["context"])))
        body = self.draw_body(told, method)
        before = self.state(name)
        answer = self.client.request(method, url, content=body)
        said = (
            f"{method} {url[:80]} {body[:200] if body else body!r}: {answer.status_code} {answer.text[:300]}"
        )
        self.judge(path, told, answer, said)
        if answer.status_code >= 400 and self.state(name) != before:
            raise changed(f"what was refused changed something: {said}")

    def draw_body(self, told, method):
        """Return a body as the description has it, a sensible one, or one that is spoilt; none where none belongs."""
        content = told.get("requestBody", {}).get("content", {}).get("application/json")
        if content is None:
            return b"strange" if method == "put" else None
        value = draw(content["schema"], self.parts, self.chance)
        if self.chance.random() < 0.8:
            value = sense(value, self.chance)
        written = json.dumps(value).encode("utf-8", "surrogatepass")
        return spoil(written, self.chance) if self.chance.random() < 0.3 else written

    def judge(self, path, told, answer, said):
        """Raise unless an answer is one that the description has."""
        if answer.status_code >= 500:
            raise raw(said)
        if answer.status_code == 404 and "nothing at this path" in answer.text:
            return
        known = told["responses"].get(str(answer.status_code))
        if known is None:
            raise changed(f"a status that is not described: {said}")
        schema = known.get("content", {}).get("application/json", {}).get("schema")
        if schema is not None:
            whole = schema | {"components": self.document["components"]}
            fault = next(jsonschema.Draft202012Validator(whole).iter_errors(answer.json()), None)
            if fault is not None:
                raise changed(f"an answer that is not as described ({fault.message[:200]}): {said}")

    def state(self, *names):
        """Return all that there is of agents of these names, or of all."""
        hosts = self.client.app.state.house.hosts
        return {
            name: host.snapshot()() if name in names or not names else None for name, host in hosts.items()
        }


def judge_in(folder):
    def judge(given):
        chance, here = given, folder / f"{given.bit_generator.state['state']['state']}"
        here.mkdir()
        with serving(here) as client:
            for name, described in DESCRIBED.items():
                assert client.put(f"/v1/agents/{name}", json=described).status_code == 201
            session = Session(client, chance)
            for _ in range(REQUESTS):
                session.ask()
            kept = session.state()
        for name, before in kept.items():
            if rebuilt(here, name) != before:
                raise lost(f"the journal of {name!r} does not make the same agent")
        return Outcome.SOUND

    return judge


def test_no_request_breaks_a_service(tmp_path, attack):
    inputs = drawn(4, lambda chance: ("a session", chance))
    attack("requests by the OpenAPI description", inputs, judge_in(tmp_path))
