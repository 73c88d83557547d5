"""Logs that keep the format and are strange nevertheless: every command works on them, or says why it does not.

What is right where the format is silent: a label is a label, whatever letters it has; `label` writes a row for every
episode that `convert` reads; whatever is written as JSON is JSON; an episode that is there twice teaches once, and the
command says so; where episodes are left out because a limit is reached, the limit is named.
"""

import copy
import json
import re

import numpy as np
from attack_subjects import model_file, table_episodes
from campaign import Outcome, changed, drawn, listed, lost, scaled
from commanding import check_words, outcome, read_json, run

import tacit

EPISODES = 120
SHARE_OF_PAGES = 0.1
"""Of inputs on which `diagnose` writes its page, which takes longer than all other commands together."""
ON_PAGES = (
    *("$$", "\U0001f9ff", "\x00", "<script>alert(1)</script>"),
    *("$x^2$", "{{ 7 * 7 }}", "\u202e[red]", "x" * 500, "\u6f22\u5b57", "\\frac{1}{2}"),
)
"""What a picture or a page could take for something else than letters."""
STRANGE = (
    *(
        "$$",
        "$x^2$",
        "$\\frac{",
        "_{^}",
        "\U0001f600",
        "e\u0301",
        "\u202eright",
        "a\nb",
        "\t",
        "",
        " ",
        "\x00",
        "\x1b[31m",
    ),
    *(
        "x" * 3000,
        "<script>alert(1)</script>",
        "{{ 7 * 7 }}",
        "{% raw %}",
        "[red]text[/red]",
        "[/]",
        "%s %d",
        "{0}",
    ),
    *(
        "null",
        "NaN",
        "true",
        "0",
        "(start)",
        "s (step 1)",
        "begin",
        "__class__",
        "../../x",
        "&amp;",
        "\ufeff",
        "\uffff",
    ),
    *(True, False, 0.1, 1e300, -1e300, 1e-320, -0.0, -5, 2**53 + 1, 2**63, 10**25, 1.0),
    *([1, 2], [0.5], {"a": 1}, {"b": 2.5, "a": -1}, [1e300], {"": 0}, {"$$": 1}),
)
CHANCES = (5e-324, 1e-300, 1e-200, 1e-100, 1e-16, 1e-9, 0.999999999, 1.0, 1)
FIELDS = ("context", "state", "action", "feedback", "episode")


def records():
    return [copy.deepcopy(episode.to_json()) for episode in table_episodes()[:EPISODES]]


def rename(found, field, old, new):
    """Give one label of a field another name, wherever it stands."""
    swap = lambda value: copy.deepcopy(new) if value == old and type(value) is int else value  # noqa: E731
    for record in found:
        if field in record:
            record[field] = swap(record[field])
        for step in record["steps"]:
            for key in {field} & {"state", "action"}:
                step[key] = swap(step[key])
            if field == "action":
                step["actions"] = [swap(action) for action in step["actions"]]


LABELS = {"context": (0, 1), "state": (3, 4), "action": (0, 1, 2, 3, 4), "feedback": (0, 1), "episode": (5,)}


def draw_labels(chance):
    """One label of one field is strange, or one of every field."""
    found, every = records(), chance.random() < 0.5
    new = STRANGE[chance.integers(len(STRANGE))]
    fields = FIELDS if every else [FIELDS[chance.integers(len(FIELDS))]]
    for field in fields:
        rename(found, field, LABELS[field][-1], str(new) if field == "episode" else new)
    return f"{'every field' if every else fields[0]} with {ascii(new)[:40]}", (found, False)


def all_labels_with(strange):
    found = records()
    for field, labels in LABELS.items():
        for label in labels:
            rename(found, field, label, f"{strange} {label}" if label else strange)
    return f"all labels with {ascii(strange)[:40]}", (found, True)


def draw_numbers(chance):
    found, p = records(), CHANCES[chance.integers(len(CHANCES))]
    share, step = chance.random() ** 2, int(chance.integers(3))
    for record in found:
        if chance.random() < share or record["episode"] == 0:
            record["steps"][step]["probability"] = p
    reward = (None, 1e308, -1e308, 5e-324, True, 0.5)[chance.integers(6)]
    if reward is not None:
        found[int(chance.integers(EPISODES))]["reward"] = reward
    return f"probability {p} in step {step} of {share:.0%}, reward {reward}", (found, False)


def every_step(change):
    return lambda n, record: [change(step) for step in record["steps"]]


SHAPES = {
    "no probabilities": every_step(lambda step: step.pop("probability")),
    "no actions": every_step(lambda step: step.pop("actions")),
    "one action": every_step(lambda step: step.update(action=0, actions=[0])),
    "an action twice": every_step(lambda step: step.update(actions=[*step["actions"], step["action"]])),
    "one context": lambda n, record: record.update(context="all"),
    "contexts of their own": lambda n, record: record.update(context=f"c{n}"),
    "vectors": lambda n, record: record.update(context=[n, 1 / (n + 1)]),
    "vectors of other lengths": lambda n, record: record.update(context=[0.5] * (n % 3 + 1)),
    "objects of other fields": lambda n, record: record.update(context={f"f{n % 3}": n}),
    "huge vectors": lambda n, record: record.update(context=[1e300 * n, -1e300]),
    "one feedback": lambda n, record: record.update(feedback="ok"),
    "feedback of every kind": lambda n, record: record.update(feedback=("ok", 0.5, True, [1.0])[n % 4]),
    "other lengths": lambda n, record: record["steps"].pop() if n % 3 == 0 else None,
    "one step": lambda n, record: record.update(steps=record["steps"][-1:]),
    "forty steps": lambda n, record: record.update(steps=record["steps"] * (13 if n < 20 else 1)),
    "further keys": lambda n, record: record.update(more={"a": [{"b": None}]}, time=1e308, user="u" * 999),
    "labels that look alike": lambda n, record: record["steps"][0].update(state=(1, "1", 1.0, True)[n % 4]),
    "nothing strange": lambda n, record: None,
}


def draw_shapes(chance):
    name = list(SHAPES)[chance.integers(len(SHAPES))]
    found = records()[: (1, 2, EPISODES, EPISODES, EPISODES)[chance.integers(5)]]
    for n, record in enumerate(found):
        SHAPES[name](n, record)
    return f"{name}, {len(found)} episodes", (found, chance.random() < SHARE_OF_PAGES)


def write(path, found):
    path.write_text("".join(json.dumps(record) + "\n" for record in found))


def judge_in(folder):
    """Return a judge of logs; they are labelled by a model of their own and by one that has not met what is strange."""
    (folder / "plain").write_bytes(model_file("table model"))

    def judge(given):
        found, page = given
        log, fresh = (
            folder / "logs.jsonl",
            ("labels.jsonl", "model", "copy.jsonl", "value.json", "agent", "page.html"),
        )
        for name in fresh:
            (folder / name).unlink(missing_ok=True)
        write(log, found)
        run("convert", log, folder / "copy.jsonl", "--to", "logs")
        fitted = run("fit", log, "--out", folder / "model")
        if fitted.exit_code:
            return outcome(fitted)
        for model in (folder / "model", folder / "plain"):
            labelled = run("label", log, "--model", model, "--out", folder / "labels.jsonl")
            if labelled.exit_code == 0:
                check_labels(folder, labelled.output)
        check_events(folder, log)
        evaluated = run(
            "evaluate",
            log,
            "--model",
            folder / "model",
            "--policy",
            "uniform",
            "--out",
            folder / "value.json",
        )
        if evaluated.exit_code == 0:
            read_json((folder / "value.json").read_text())
        run("train", log, "--model", folder / "model", "--out", folder / "agent")
        if page and run("diagnose", log, "--out", folder / "page.html").exit_code == 0:
            check_page(folder / "page.html")
        return Outcome.SOUND

    return judge


def check_page(page):
    if "<script>alert" in page.read_text():
        raise changed("a label has become a script of the page")


def check_labels(folder, said):
    """Raise unless there is a row for every episode that can be read, but for those that are told of."""
    rows = [read_json(line) for line in (folder / "labels.jsonl").read_text().splitlines()]
    read = [read_json(line) for line in (folder / "copy.jsonl").read_text().splitlines()]
    aside = int(re.search(r"([\d,]+) set aside", said)[1].replace(",", ""))
    if len(rows) + aside < len(read):
        raise lost(f"{len(rows)} labelled, {aside} set aside, of {len(read)} episodes that can be read")


def check_events(folder, log):
    if run("convert", log, folder / "events.dsjson", "--to", "dsjson").exit_code == 0:
        for line in (folder / "events.dsjson").read_text().splitlines():
            read_json(line)
        run("convert", folder / "events.dsjson", folder / "back.jsonl", "--to", "logs")


def test_strange_labels_are_labels(attack, tmp_path):
    attack("logs, strange labels", drawn(14, draw_labels), judge_in(tmp_path), seconds=60)


def test_strange_labels_have_a_page(attack, tmp_path):
    attack("logs, pages", listed(map(all_labels_with, ON_PAGES[: scaled(4)])), judge_in(tmp_path), seconds=60)


def test_strange_numbers_give_numbers(attack, tmp_path):
    attack("logs, strange numbers", drawn(8, draw_numbers), judge_in(tmp_path), seconds=60)


def test_strange_shapes_are_read_or_refused(attack, tmp_path):
    attack("logs, strange shapes", drawn(10, draw_shapes), judge_in(tmp_path), seconds=60)


def test_control_a_plain_log_passes_every_command(tmp_path):
    assert judge_in(tmp_path)((records(), True)) is Outcome.SOUND


def draw_twice(chance):
    """Episodes that are in the logs twice: a file given twice, in a folder and by name, or lines that were repeated."""
    how = ("the file twice", "the folder and the file", "lines repeated", "a copy")[chance.integers(4)]
    return how, (how, chance)


def test_an_episode_that_is_there_twice_teaches_once(attack, tmp_path):
    def judge(given):
        how, chance = given
        folder = tmp_path / "day"
        folder.mkdir(exist_ok=True)
        for old in folder.iterdir():
            old.unlink()
        found = records()
        again = [found[n] for n in chance.integers(EPISODES, size=40)] if how == "lines repeated" else []
        write(folder / "a.jsonl", found + again)
        if how == "a copy":
            write(folder / "b.jsonl", found)
        logs = {
            "the file twice": [folder / "a.jsonl"] * 2,
            "the folder and the file": [folder, folder / "a.jsonl"],
        }
        done = run("fit", *logs.get(how, [folder]), "--out", tmp_path / "model")
        if done.exit_code:
            return Outcome.REFUSED
        used = tacit.load_model(tmp_path / "model").certificate.tuples
        if used > EPISODES:
            raise changed(f"{EPISODES} episodes were counted as {used}, and nothing is said")
        return Outcome.SOUND

    attack("logs, episodes twice", drawn(5, draw_twice), judge)


def draw_many(chance):
    n = int(chance.choice([900, 1000, 1001, 1500, 3000]))
    return f"{n} states that are numbers", n


def test_thousands_of_states_are_read_or_the_limit_is_named(attack, tmp_path):
    def judge(n):
        found = [copy.deepcopy(record) for record in (records() * (n // EPISODES + 1))[:n]]
        for number, record in enumerate(found):
            record["episode"] = number
            record["steps"][1]["state"] = number
        write(tmp_path / "many.jsonl", found)
        done = run("fit", tmp_path / "many.jsonl", "--out", tmp_path / "model")
        check_words(done.exit_code, done.output)
        told = "1,000" in done.output or "1000" in done.output
        if done.exit_code == 0 and not told and tacit.load_model(tmp_path / "model").certificate.tuples < n:
            raise lost(
                f"{n} episodes, of which some were left out for a limit that is not named: {done.output[:200]}"
            )
        return outcome(done)

    attack("logs, thousands of states", drawn(3, draw_many), judge, seconds=60)


def draw_option(chance):
    c = (-3, 5, "nan", "inf", "-inf", 1e308, 1.0000001, -1e-9)[chance.integers(8)]
    command = ("fit", "diagnose")[chance.integers(2)]
    return f"{command} --c {c}", (command, c)


def test_a_reward_that_is_none_is_refused(attack, tmp_path):
    """What a state is worth lies between 0 and 1, as rewards do."""
    write(tmp_path / "logs.jsonl", records())

    def judge(given):
        command, c = given
        done = run(command, tmp_path / "logs.jsonl", "--out", tmp_path / "out", f"--c={c}")
        if done.exit_code == 0:
            raise changed(f"--c {c} is taken")
        return Outcome.REFUSED

    attack("logs, --c", drawn(5, draw_option), judge)


def test_lone_surrogates_are_told(attack, tmp_path):
    r"""JSON can write half a letter, \ud800, which no text is: such a line is set aside, and the others are read."""

    def judge(field):
        lines = [json.dumps(record) for record in records()]
        lines[3] = json.dumps(records()[3] | {field: "\ud800"})
        (tmp_path / "logs.jsonl").write_text("\n".join(lines) + "\n")
        done = run("convert", tmp_path / "logs.jsonl", tmp_path / "copy.jsonl", "--to", "logs")
        read = (tmp_path / "copy.jsonl").read_text().splitlines()
        if done.exit_code == 0 and (len(read) < EPISODES and "set aside" not in done.output):
            raise lost(f"{EPISODES - len(read)} episodes are missing, and nothing is said")
        return outcome(done)

    fields = np.array(["context", "feedback", "episode"])
    attack("logs, lone surrogates", drawn(3, lambda chance: (f := str(chance.choice(fields)), f)), judge)
