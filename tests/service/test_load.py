"""The load generator, against a service in a process of its own."""

import asyncio
import json
from collections import Counter

import pytest
from commanding import invoke
from service_process import service_process
from serving import listening

from tacit.service.load import Load, Loader, Target, describe_agent, find_environment, read_response


@pytest.mark.compiled
def test_a_load_is_measured(tmp_path):
    with service_process(tmp_path) as service:
        options = ("--episodes", 120, "--concurrency", 4)
        result = invoke("load", service.url, "--json", *options)
        assert result.exit_code == 0, result.output
        told = json.loads(result.stdout)
        assert (told["episodes"], told["requests"], told["errors"]) == (120, 600, {})
        assert set(told["milliseconds"]) == {"begin", "act", "end"}
        assert list(told["milliseconds"]["act"]) == ["p50", "p95", "p99"]
        assert 0 <= told["reward"] <= 1
        shown = invoke("load", service.url, *options)
        assert "episodes and" in shown.output
        assert "true reward" in shown.output
        other = invoke("load", service.url, "--agent", "load-synthetic", "--env", "vectors", *options)
        assert other.exit_code == 1
        assert "error: layout.contexts" in other.output
        named = invoke("load", service.url, "--env", "tacit.service.load:synthetic_vectors", *options)
        assert named.exit_code == 0, named.output


def test_what_cannot_be_loaded_is_said():
    assert "no answer came" in invoke("load", "http://127.0.0.1:9", "--episodes", 1).output
    assert "plain HTTP" in invoke("load", "https://127.0.0.1", "--episodes", 1).output
    assert (
        "an environment is booking, synthetic"
        in invoke("load", "http://127.0.0.1:9", "--env", "nothing").output
    )
    with pytest.raises(ValueError, match="with a `layout`"):
        describe_agent(find_environment("gymnasium.envs.toy_text.frozen_lake:FrozenLakeEnv"), 0)


def test_a_failed_load_is_no_success():
    told = Load(seconds=2.0, episodes=4, errors=Counter(busy=1), rewards=[0.0, 1.0]).to_json()
    assert (told["episodes_per_second"], told["errors"], told["reward"]) == (2.0, {"busy": 1}, 0.5)


def test_answers_come_in_pieces():
    whole = b"HTTP/1.1 422 X\r\nContent-Length: 5\r\nx: y\r\n\r\nhello"
    assert all(read_response(whole[:n]) is None for n in range(len(whole)))
    assert read_response(whole) == (422, b"hello")
    assert Target.of("http://h:81/", "k").head == (
        b"host: h:81\r\ncontent-type: application/json\r\nauthorization: Bearer k\r\n"
    )


def test_episodes_begin_no_faster_than_a_rate(tmp_path):
    with listening(tmp_path) as (address, _):
        loader = Loader(address, "paced")

        async def run():
            await loader.prepare(describe_agent(find_environment("synthetic"), seed=0))
            return await loader.run(lambda: find_environment("synthetic"), 20, 8, seed=1, rate=40.0)

        load = asyncio.run(run())
    assert load.episodes == 20
    assert load.seconds >= 19 / 40


def test_people_who_book_are_conversations():
    assert describe_agent(find_environment("booking"), 3) == {"text": {"horizon": 2}, "seed": 3}
