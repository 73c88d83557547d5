"""Folders of results: what is damaged in them is computed anew, and two commands at once do no harm."""

import io
import json
import os
import shutil
import traceback
from contextlib import redirect_stderr

import pytest
from byte_damage import DAMAGES
from campaign import changed, drawn, listed, lost, raw, scaled
from commanding import invoke, run
from study_samples import FRACTION, SMALL, stay_here, without_times

from tacit.experiments import catalogue

WORDS = ("reproduce", "synthetic", "--fraction", FRACTION, "--seeds", 1)


@pytest.fixture
def results(tmp_path, monkeypatch):
    """Return a folder of results that are whole, and a copy to damage."""
    stay_here(monkeypatch)
    monkeypatch.setattr(catalogue, "STUDIES", {"synthetic": SMALL})
    assert run(*WORDS, "--out", tmp_path / "whole").exit_code == 0
    return tmp_path / "whole", tmp_path / "copy"


def summary(out):
    return without_times(json.loads((out / "synthetic" / "summary.json").read_text()))


def test_damaged_results_are_computed_anew(attack, results):
    whole, copy = results
    files = sorted(str(path.relative_to(whole)) for path in whole.rglob("*") if path.is_file())

    def draw(chance):
        stored = [file for file in files if file.endswith(".tacit")]
        file = (stored if chance.random() < 0.7 else files)[chance.integers(len(stored))]
        damage = list(DAMAGES)[chance.integers(len(DAMAGES))]
        return f"{file}, {damage}", (file, DAMAGES[damage]((whole / file).read_bytes(), chance))

    def judge(given):
        file, content = given
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(whole, copy)
        (copy / file).write_bytes(content)
        done = run(*WORDS, "--out", copy)
        if done.exit_code:
            raise lost(f"one damaged file stops the study: {done.output[-150:]!r}")
        if summary(copy) != summary(whole):
            raise changed("the summary is another one")

    attack("results, damaged", drawn(4, draw), judge, seconds=60)


def in_child(work):
    """Run something in a process of its own; return what reads (exit code, words) of it."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        told = io.StringIO()
        try:
            with redirect_stderr(told):
                code, said = work()
        except BaseException:
            code, said = 99, traceback.format_exc()
        os.write(writer, json.dumps([code, (said + told.getvalue())[-1500:]]).encode())
        os._exit(0)
    os.close(writer)

    def finish():
        with open(reader, "rb") as answers:
            said = answers.read()
        os.waitpid(child, 0)
        return json.loads(said) if said else [98, "the process died"]

    return finish


def test_two_commands_in_one_folder_do_no_harm(attack, results):
    whole, copy = results

    def judge(_):
        shutil.rmtree(copy, ignore_errors=True)

        def work():
            done = invoke(*WORDS, "--out", copy)
            trace = "" if done.exception is None else "".join(traceback.format_exception(done.exception))
            return done.exit_code, done.output + trace

        for code, said in [finish() for finish in [in_child(work) for _ in range(2)]]:
            if "Traceback" in said and "SystemExit" not in said:
                raise raw(said[-200:])
            if code and "error: " not in said:
                raise raw(f"it ends with {code}: {said[-200:]!r}")
            if code and "locked" not in said and "another" not in said:
                raise lost(f"one of two fails: {said[-200:]!r}")
        if summary(copy) != summary(whole):
            raise changed("the summary is another one")

    attack("results, two at once", listed((f"pair {n}", n) for n in range(scaled(1))), judge, seconds=90)
