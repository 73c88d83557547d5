"""CSV files as logs: what rows mean, what quotes, delimiters and encodings do, and what is refused."""

import csv
import gzip
import io
import random

import pytest
import zstandard
from log_files import draw_episodes, read_all

from tacit.logs import csv_episodes
from tacit.logs.csv_columns import CsvSettings, value_of
from tacit.logs.csv_rows import scan_rows
from tacit.logs.problems import Problems
from tacit.logs.reading import CsvLogs, LogSource, read_logs
from tacit.logs.record import LogError

HEAD = "episode,context,state,action,feedback\n"


def put(folder, text, name="day.csv"):
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def read(folder, text, name="day.csv", **settings):
    """Return the episodes of a file and what was wrong with the others."""
    problems = Problems()
    path = put(folder, text, name)
    return list(read_logs(CsvLogs(path, CsvSettings(**settings)), problems=problems)), problems


def as_rows(episodes):
    """Return episodes as others write them: a row a step."""
    table = io.StringIO(newline="")
    write = csv.writer(table).writerow
    write(("session", "kind", "page", "menu", "shown", "p", "comment", "reward"))
    for episode in episodes:
        for step in episode.steps:
            last = step is episode.steps[-1]
            offered, said = "|".join(map(str, step.actions)), episode.feedback if last else ""
            outcome = episode.reward if last and episode.reward is not None else ""
            row = (episode.context, step.state, offered, step.action, step.probability, said, outcome)
            write((episode.episode, *row))
    return table.getvalue()


NAMED = {
    "episode": "session",
    "context": "kind",
    "state": "page",
    "action": "shown",
    "actions": "menu",
    "probability": "p",
    "feedback": "comment",
}


@pytest.mark.parametrize("packed", ["", ".gz", ".zst"])
def test_rows_are_the_episodes_that_they_were(tmp_path, packed):
    episodes = draw_episodes(300)
    text = as_rows(episodes).encode()
    pack = {"": bytes, ".gz": gzip.compress, ".zst": zstandard.ZstdCompressor().compress}[packed]
    found, problems = read(tmp_path, pack(text), f"day.csv{packed}", columns=NAMED)
    assert (found, problems.total) == (episodes, 0)


def test_columns_with_the_names_of_the_format_need_no_flag(tmp_path):
    path = put(tmp_path, HEAD + "a,new,home,ask,\na,,shop,tea,ah\nb,old,home,ask,\n")
    first, second = read_logs(path)
    assert [(step.state, step.action) for step in first.steps] == [("home", "ask"), ("shop", "tea")]
    assert (first.context, first.feedback) == ("new", "ah")
    assert (second.feedback, second.abandoned) == (None, False)  # an empty cell is silence


def test_a_row_is_an_episode_without_names_or_with_columns_for_each_step(tmp_path):
    found, _ = read(tmp_path, "context,state,action,feedback\nnew,home,ask,ah\n")
    assert (found[0].episode, found[0].steps[0].action) == ("day.csv:2", "ask")
    wide = "episode,context,state_1,action_1,state_2,action_2,feedback\n1,new,a,b,c,d,ah\n2,new,a,b,,,oh\n"
    found, _ = read(tmp_path, wide)
    assert [[step.state for step in episode.steps] for episode in found] == [["a", "c"], ["a"]]
    named = {"state": ["s", "t"], "action": ["a", "b"], "context": ["age", "visits"]}
    found, _ = read(tmp_path, "s,a,t,b,age,visits,feedback\nx,1,y,2,41,3,ah\n", columns=named)
    assert found[0].context == {"age": 41, "visits": 3}
    assert [(step.state, step.action) for step in found[0].steps] == [("x", 1), ("y", 2)]


def test_contexts_and_states_may_be_said_not_to_be_there(tmp_path):
    found, _ = read(tmp_path, "action,feedback\ntea,ah\n", columns={"context": "", "state": ""})
    assert (found[0].context, found[0].steps[0].state) == ("everybody", "start")


def test_rows_of_people_who_came_at_once_are_put_together_and_far_ones_stop(tmp_path, monkeypatch):
    mixed = "a,new,home,ask,\nb,old,home,ask,\na,new,shop,tea,ah\nb,old,shop,tea,oh\n"
    found, _ = read(tmp_path, HEAD + mixed)
    assert [(episode.episode, len(episode.steps), episode.feedback) for episode in found] == [
        ("a", 2, "ah"),
        ("b", 2, "oh"),
    ]
    monkeypatch.setattr(csv_episodes, "WINDOW", 0)
    with pytest.raises(LogError, match=r"'a' again in line 4 .*sort the file by its column 'episode'"):
        read(tmp_path, HEAD + mixed)


def test_rows_that_come_twice_do_not_make_longer_episodes(tmp_path):
    rows = "a,new,home,ask,\na,new,shop,tea,ah\nb,new,home,ask,oh\n"
    found, problems = read(tmp_path, HEAD + rows + rows)
    assert (found, dict(problems.by_rule)) == ([], {"repeated-rows": 2})


def test_two_answers_to_what_an_episode_has_once_are_refused_with_their_lines(tmp_path):
    found, problems = read(tmp_path, HEAD + "a,new,home,ask,ah\na,new,shop,tea,oh\nb,new,home,ask,ah\n")
    assert [episode.episode for episode in found] == ["b"]
    assert dict(problems.by_rule) == {"differing-values": 1}
    assert (problems.first[0].line, problems.first[0].message.split(";")[0]) == (
        3,
        "an episode has one feedback, got 'ah' in line 2 and 'oh' in line 3 (column 'feedback')",
    )


def test_what_is_missing_is_told_with_what_is_there_and_the_flag(tmp_path):
    with pytest.raises(
        LogError, match=r"column for the action, got \['context', 'state'\] .*--column action=NAME"
    ):
        read(tmp_path, "context,state\nnew,home\n")
    with pytest.raises(LogError, match=r"got --column state=page, but 'day.csv' has \['context', 'state'\]"):
        read(tmp_path, "context,state\nnew,home\n", columns={"state": "page"})
    with pytest.raises(LogError, match="'state' twice"):
        read(tmp_path, "context,state,state,action\nnew,a,b,c\n")
    with pytest.raises(LogError, match="as many columns of each kind"):
        read(tmp_path, "context,state_1,state_2,action\nnew,a,b,c\n")
    with pytest.raises(LogError, match="an episode has one feedback"):
        read(tmp_path, "context,state,action,x,y\nnew,a,b,c,d\n", columns={"feedback": ["x", "y"]})
    with pytest.raises(LogError, match="a column holds one of"):
        CsvSettings({"page": "state"})
    with pytest.raises(LogError, match="one character"):
        CsvSettings(delimiter=";;")
    with pytest.raises(LogError, match="encoding must be one that Python knows"):
        read(tmp_path, HEAD, encoding="klingon")


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_delimiters_are_read_off_the_header(tmp_path, delimiter):
    text = "context,state,action,reward,feedback\nnew,home,tea,1,ah\n".replace(",", delimiter)
    for given in (text, f"sep={delimiter}\n{text}", "\n" + text.replace("\n", "\r\n")):
        found, problems = read(tmp_path, given)
        assert (found[0].feedback, found[0].reward, problems.total) == ("ah", 1, 0)


def test_a_decimal_comma_is_read_where_commas_do_not_part_cells(tmp_path):
    found, _ = read(tmp_path, "context;state;action;probability\nnew;home;tea;0,25\n")
    assert found[0].steps[0].probability == 0.25


@pytest.mark.parametrize(
    ("encoding", "told"),
    [("utf-8", None), ("utf-8-sig", None), ("utf-16", None), ("utf-32", None), ("cp1252", "cp1252")],
)
def test_encodings(tmp_path, encoding, told):
    text = "context,state,action,feedback\n" + "néw,home,tea,très bien\n" * 20_000
    found, problems = read(tmp_path, text.encode(encoding), encoding=told)
    assert (len(found), problems.total, found[-1].feedback) == (20_000, 0, "très bien")


def test_bytes_that_are_no_text_cost_their_row(tmp_path):
    text = b"context,state,action,feedback\nnew,home,tea,tr\xe8s\nnew,home,tea,ah\n"
    found, problems = read(tmp_path, text)
    assert [episode.feedback for episode in found] == ["ah"]
    assert (problems.first[0].rule, problems.first[0].line) == ("not-utf8", 2)
    assert "--encoding cp1252" in problems.first[0].message


def test_numbers_are_numbers_unless_they_are_said_to_be_strings(tmp_path):
    text = "context,state,action,feedback\n12,home,007,1e999\n"
    found, _ = read(tmp_path, text)
    assert (found[0].context, found[0].steps[0].action, found[0].feedback) == (12, "007", "1e999")
    found, _ = read(tmp_path, text, strings=["context"])
    assert found[0].context == "12"
    assert [value_of(cell) for cell in ("-0.5", "1.0", "12345678901234567890", "nan", " x ", "[1, 2]")] == [
        -0.5,
        1.0,
        "12345678901234567890",
        "nan",
        "x",
        [1, 2],
    ]


def test_quotes_hold_delimiters_breaks_and_quotes_as_the_standard_library_reads_them():
    draw = random.Random(0)
    rows = [["".join(draw.choices('ab",\n ;', k=draw.randrange(6))) for _ in range(4)] for _ in range(500)]
    for quoting in (csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC):
        table = io.StringIO(newline="")
        csv.writer(table, quoting=quoting).writerows(rows)
        lines = enumerate(table.getvalue().replace("\r\n", "\r\r\n").split("\r\r\n")[:-1], 1)
        numbered = [(n, line) for n, text in lines for line in text.split("\n")]
        assert [row.cells for row in scan_rows(numbered, ",")] == rows


def test_quotes_that_do_not_end_cost_one_row(tmp_path):
    text = 'context,state,action,feedback\nnew,home,"tea,ah\nnew,home,tea,"oh, well"\nnew,home,tea,5" wide\n'
    found, problems = read(tmp_path, text)
    assert [episode.feedback for episode in found] == ["oh, well", '5" wide']
    assert [(problem.rule, problem.line) for problem in problems.first] == [("bad-quotes", 2)]
    found, problems = read(tmp_path, text + '"new,home,tea,ah\n' + "new,home,tea,ah\n" * 50_000)
    assert (len(found), dict(problems.by_rule)) == (50_002, {"bad-quotes": 2})


def test_huge_cells_are_read_and_larger_ones_passed_over(tmp_path, monkeypatch):
    head = "context,state,action,feedback\n"
    huge = "x" * (1 << 20) + "\n" + "y"
    found, _ = read(tmp_path, f'{head}new,home,tea,"{huge}"\n')
    assert found[0].feedback == huge
    monkeypatch.setattr("tacit.logs.lines.MOST_LINE", 1000)
    found, problems = read(tmp_path, f"{head}new,home,tea,{'x' * 600_000}\nnew,home,tea,ah\n")
    assert (len(found), dict(problems.by_rule)) == (1, {"line-too-long": 1})


def test_an_episode_beside_a_row_that_could_not_be_read_is_not_used(tmp_path):
    """It may lack a step, or the feedback."""
    rows = "a,new,home,ask,\na,new,shop\nb,new,home,ask,\nb,new,shop,tea,ah\n"
    found, problems = read(tmp_path, HEAD + rows)
    assert ([episode.episode for episode in found], dict(problems.by_rule)) == (["b"], {"bad-row": 1})
    found, problems = read(tmp_path, HEAD + rows.replace("a,new,shop\n", ",new,shop,tea,ah\n"))
    assert (found, dict(problems.by_rule)) == ([], {"torn-episode": 2, "no-episode": 1})


def test_a_damaged_file_is_told_and_what_it_tore_is_not_used(tmp_path):
    whole = gzip.compress(as_rows(draw_episodes(5000)).encode())
    path = put(tmp_path, whole[: len(whole) // 2], "day.csv.gz")
    problems = Problems()
    found = list(read_logs(CsvLogs(path, CsvSettings(NAMED)), problems=problems))
    assert 1000 < len(found) < 5000
    assert all(len(episode.steps) == 2 for episode in found)
    assert problems.by_rule["damaged-file"] == 1
    assert found == draw_episodes(5000)[: len(found)]


def test_pieces_are_the_same_as_one_stream(tmp_path):
    text = as_rows(draw_episodes(5000)).replace("session,kind,page,menu,shown,p,comment", ",".join(NAMED))
    text = text.replace("action,actions", "actions,action", 1)
    records, rules = read_all(put(tmp_path, text))
    assert (len(records), rules) == (5000, [])


def test_a_directory_of_csv_files_is_read_and_others_come_before_them(tmp_path):
    put(tmp_path, HEAD + "a,new,home,ask,ah\n")
    assert len(list(LogSource(tmp_path))) == 1
    put(tmp_path, '{"episode": 1}\n{"episode": 2}\n', "logs.jsonl")
    assert len(list(LogSource(tmp_path))) == 2
    with pytest.raises(LogError, match=r"those of CSV files, got 'logs\.jsonl'"):
        LogSource(CsvLogs(tmp_path, CsvSettings({"state": "page"})))


def test_no_more_rows_wait_than_memory_allows(tmp_path, monkeypatch):
    monkeypatch.setattr(csv_episodes, "MOST_HELD", 1000)
    rows = "".join(f"{n},new,home,ask,\n{n},new,shop,tea,ah\n" for n in range(2000))
    path = put(tmp_path, HEAD + rows)
    waiting = csv_episodes.read_csv(path, CsvSettings())
    assert sum(len(raw.record["steps"]) == 2 for raw in waiting) == 2000


def test_episodes_of_several_rows_are_numbered_one_after_the_other(tmp_path):
    """By these numbers every fifth is held back: lines of episodes of five rows are all alike modulo 5."""
    rows = "".join(f"{n},new,page {step},ask,{'ah' * (step == 4)}\n" for n in range(7) for step in range(5))
    entries = list(LogSource(put(tmp_path, HEAD + rows)))
    assert [raw.place for raw, _ in entries] == [1, 2, 3, 4, 5, 6, 7]
    assert [raw.line for raw, _ in entries] == [2, 7, 12, 17, 22, 27, 32]
