"""Conversions with the tools they are for: Vowpal Wabbit's events read in, ours learnt from by it, TRL on exports.

Run: python benchmarks/convert.py [PYTHON OF THE PEERS]; benchmarks/peers/requirements.txt lists what that one needs.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from tacit.envs.drawn_logs import draw_logs
from tacit.envs.synthetic import synthetic_mdp
from tacit.logs.convert import convert
from tacit.logs.problems import Problems
from tacit.logs.reading import read_logs
from tacit.logs.trl import Export
from tacit.logs.writing import LogWriter
from tacit.offline.fit import fit

EVENTS = 2000
EPISODES = 10_000
PEERS = Path(__file__).parent / "peers"


def ask(python: str, script: str, *words: str | Path) -> str:
    """Return the last line that a script of the peers prints."""
    command = [python, str(PEERS / script), *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{script} failed:\n{done.stderr[-3000:]}")
    return done.stdout.strip().splitlines()[-1]


def read_what_vowpal_wabbit_decided(python: str, folder: Path) -> None:
    print(ask(python, "vw_events.py", "make", folder / "vw.dsjson", str(EVENTS)))
    problems = Problems()
    done = convert(folder / "vw.dsjson", folder / "vw.jsonl", "logs", problems=problems)
    print(f"  tacit read {done.episodes} episodes of them, {problems.total} problems")
    events = [json.loads(line) for line in (folder / "vw.dsjson").read_text().splitlines()]
    pairs = list(zip(events, read_logs(folder / "vw.jsonl"), strict=True))
    agree = sum(
        episode.steps[0].action == event["c"]["_multi"][event["_label_Action"] - 1]["_tag"]
        and episode.steps[0].probability == event["p"][0]
        and episode.feedback == event["o"][0]["v"]
        for event, episode in pairs
    )
    print(f"  action, probability and feedback agree in {agree} of {len(pairs)}")
    print(f"  contexts: {dict(Counter(str(episode.context) for _, episode in pairs))}")


def let_vowpal_wabbit_learn(python: str, folder: Path) -> None:
    logs, labels, events = folder / "logs.jsonl", folder / "labels.jsonl", folder / "ours.dsjson"
    for given in (None, labels):
        begin = time.perf_counter()
        done = convert(logs, events, "dsjson", given)
        seconds = time.perf_counter() - begin
        told: dict[str, Any] = json.loads(ask(python, "vw_events.py", "learn", events))
        cost = "latent reward" if given is None else "decoded reward"
        print(f"{done.rows} events of {done.episodes} episodes with the {cost} as cost, in {seconds:.1f} s")
        print(
            f"  Vowpal Wabbit: {', '.join(told['said'])}, {len(told['wrong'])} complaints {told['wrong'][:3]}"
        )
        begin = time.perf_counter()
        convert(events, folder / "back.jsonl", "logs")
        same = (folder / "back.jsonl").read_bytes() == logs.read_bytes()
        print(f"  read back in {time.perf_counter() - begin:.1f} s, the same to the last byte: {same}")


def let_trl_train(python: str, folder: Path) -> None:
    for form in ("text", "conversational"):
        out = folder / f"kto-{form}"
        done = convert(
            folder / "logs.jsonl", out, "trl-kto", folder / "labels.jsonl", export=Export(form=form)
        )
        print(f"trl-kto, {form}: {done.rows} rows, left out {dict(done.left_out)}")
        print(f"  KTOTrainer: {ask(python, 'kto.py', out)}")


def main(python: str) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with LogWriter(folder / "logs.jsonl") as writer:
            for episode in draw_logs(synthetic_mdp(), EPISODES, seed=0):
                writer.write(episode)
        fit(folder / "logs.jsonl").label(folder / "logs.jsonl", folder / "labels.jsonl")
        read_what_vowpal_wabbit_decided(python, folder)
        let_vowpal_wabbit_learn(python, folder)
        let_trl_train(python, folder)
    print(
        f"memory of this process: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB at most"
    )


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else ".venv-peers/bin/python")
