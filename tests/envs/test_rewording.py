"""Dialogues by a language model: an endpoint, a local model, a cache, checks, and what is left to the grammar."""

import json
import re

import pytest
from playing_model import PlayingModel, endpoint

from tacit.envs import writers
from tacit.envs.booking import make_dialogues
from tacit.envs.candidates import count_values
from tacit.envs.ontology import generate_tasks
from tacit.envs.phrasing import mentions
from tacit.envs.rewording import ATTEMPTS, clean, reword_dialogues
from tacit.envs.writers import CachedWriter, EndpointWriter, LocalWriter, WriterError

ALL = generate_tasks(400, seed=0)
VALUES = count_values(ALL)
TASKS = ALL[:12]


def reword(writer, setting="hard", tasks=TASKS, **options):
    return reword_dialogues(tasks, setting, 0, writer, values=VALUES, **options)


@pytest.mark.parametrize("setting", ["paper", "hard", "personal"])
def test_the_model_writes_what_is_not_the_informative_question(setting):
    made = reword(PlayingModel(), setting)
    assert made.fallbacks == {}
    for task, dialogue in zip(TASKS, made.dialogues, strict=True):
        right = next(question for question in dialogue.questions if question.correct)
        assert right.answer.startswith("Let me think")
        assert all(mentions(right.answer, slot, task.slots[slot]) for slot in task.asked)
        useless = [question for question in dialogue.questions if not question.correct]
        assert all(question.text.startswith("By the way") for question in useless)
        assert {question.answer for question in useless} == {"That is all the same to me."}
        assert all(booking.text.startswith("You asked and here it is") for booking in dialogue.bookings)
        assert len(dialogue.bookings) == 5


def test_the_grammar_s_outline_is_kept():
    made = reword(PlayingModel(), "personal")
    grammar = make_dialogues(TASKS, "personal", 0, values=VALUES)
    for mine, other in zip(made.dialogues, grammar, strict=True):
        assert (mine.id, mine.request, mine.profile) == (other.id, other.request, other.profile)
        assert {q.text for q in mine.questions if q.correct} == {q.text for q in other.questions if q.correct}
    swapped = [dialogue.positive == ("What a bother this was.",) for dialogue in made.dialogues]
    assert 0 < sum(swapped) < len(swapped)  # the ironic ones
    for dialogue, ironic in zip(made.dialogues, swapped, strict=True):
        assert dialogue.negative == (("What a joy this was." if ironic else "What a bother this was."),)


def test_wrong_bookings_are_told_by_the_details_alone():
    for setting in ("paper", "hard"):
        for task, dialogue in zip(TASKS, reword(PlayingModel(), setting).dialogues, strict=True):
            right = next(booking for booking in dialogue.bookings if booking.correct)
            assert all(mentions(right.text, slot, value) for slot, value in task.slots.items())
            for wrong in (booking for booking in dialogue.bookings if not booking.correct):
                assert not all(mentions(wrong.text, slot, value) for slot, value in task.slots.items())


@pytest.mark.parametrize(
    ("spoilt", "kind", "setting", "count"),
    [
        ("question", "question", "hard", 2),
        ("answer", "answer", "hard", 2),
        ("reply", "answer", "hard", 1),
        ("booking", "booking", "hard", 1),
        ("change", "booking", "paper", 4),
    ],
)
def test_what_stays_wrong_is_left_to_the_grammar_and_counted(spoilt, kind, setting, count):
    model = PlayingModel(spoilt)
    movies = tuple(task for task in ALL if task.slots.get("date") == "tonight")[:5]
    made = reword(model, setting, movies)
    assert made.fallbacks == {kind: count * len(movies)}
    assert max(attempt for _, attempt in model.prompts) == ATTEMPTS - 1
    assert made.texts == len(movies) * (8 if setting == "hard" else 12)


def test_a_remark_that_names_a_detail_is_left_to_the_grammar():
    movies = tuple(task for task in ALL if task.slots.get("date") == "tonight")[:5]
    made = reword(PlayingModel("remark"), "hard", movies)
    assert made.fallbacks == {"remark": 10}
    grammar = make_dialogues(movies, "hard", 0, values=VALUES)
    assert [d.positive[0] for d in made.dialogues] == [d.positive[0] for d in grammar]


class Interrupted(PlayingModel):
    """A model that is cut off after some calls."""

    def __init__(self, after):
        super().__init__()
        self._after = after

    def __call__(self, prompt, attempt=0):
        if len(self.prompts) >= self._after:
            raise KeyboardInterrupt
        return super().__call__(prompt, attempt)


@pytest.mark.parametrize("workers", [1, 3])
def test_an_interruption_costs_no_call(workers, tmp_path):
    whole = PlayingModel()
    expected = reword(CachedWriter(whole, tmp_path / "whole.jsonl"))
    cut = Interrupted(after=41)
    with pytest.raises(KeyboardInterrupt):
        reword(CachedWriter(cut, tmp_path / "cache.jsonl"), workers=workers)
    assert len(cut.prompts) == 41
    rest = PlayingModel()
    reports = []
    made = reword(
        CachedWriter(rest, tmp_path / "cache.jsonl"),
        workers=workers,
        progress=lambda *report: reports.append(report),
    )
    assert made == expected
    assert sorted(cut.prompts + rest.prompts) == sorted(whole.prompts)
    assert reports == [(done, len(TASKS)) for done in range(1, len(TASKS) + 1)]
    again = PlayingModel()
    assert reword(CachedWriter(again, tmp_path / "cache.jsonl")) == expected
    assert again.prompts == []


def test_a_cache_survives_a_cut_line_and_keeps_models_apart(tmp_path):
    path = tmp_path / "cache.jsonl"
    model = PlayingModel()
    first = CachedWriter(model, path)
    first("one friendly question in the manner of: a One short question")
    path.write_bytes(path.read_bytes() + b'{"key": "12')
    second = CachedWriter(model, path)
    second("one friendly question in the manner of: a One short question")
    assert (first.calls, second.calls) == (1, 0)
    second("one friendly question in the manner of: b One short question")
    assert CachedWriter(model, path)._texts == second._texts
    model.name = "another"
    other = CachedWriter(model, path)
    other("one friendly question in the manner of: a One short question")
    assert other.calls == 1


def test_an_endpoint_writes_the_same(monkeypatch):
    monkeypatch.setenv("TACIT_LLM_KEY", "a-secret")
    with endpoint(PlayingModel()) as (url, requests):
        made = reword(EndpointWriter(url, "player"), workers=4)
    assert made == reword(PlayingModel())
    body, headers = requests[0]
    assert body["model"] == "player"
    assert headers["Authorization"] == "Bearer a-secret"


def test_an_endpoint_is_found_in_the_environment(monkeypatch):
    monkeypatch.delenv("TACIT_LLM_KEY", raising=False)
    with endpoint(PlayingModel()) as (url, requests):
        monkeypatch.setenv("TACIT_LLM_URL", url + "/")
        monkeypatch.setenv("TACIT_LLM_MODEL", "player")
        assert "joy" in EndpointWriter()("The customer is happy.")
    assert "Authorization" not in requests[0][1]


def test_what_an_endpoint_needs_is_said(monkeypatch):
    for variable in ("TACIT_LLM_URL", "TACIT_LLM_MODEL"):
        monkeypatch.delenv(variable, raising=False)
    with pytest.raises(WriterError, match="needs a url, got none; give --endpoint URL or set TACIT_LLM_URL"):
        EndpointWriter(model="m")
    with pytest.raises(
        WriterError, match="needs a model, got none; give --model NAME or set TACIT_LLM_MODEL"
    ):
        EndpointWriter("http://host/v1")
    with pytest.raises(WriterError, match=r"must begin with http://.*got 'host'"):
        EndpointWriter("host", "m")


def test_a_busy_endpoint_is_tried_again(monkeypatch):
    pauses = []
    monkeypatch.setattr("time.sleep", pauses.append)
    with endpoint(PlayingModel(), [(503, b"busy"), (429, b"slow down"), (500, b"oh")]) as (url, requests):
        assert EndpointWriter(url, "m", retries=3)("The customer is happy.")
    assert pauses == [1.0, 2.0, 4.0]
    assert len(requests) == 4


def test_an_endpoint_that_stays_away_is_given_up(monkeypatch):
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    writer = EndpointWriter("http://127.0.0.1:9/v1", "m", retries=2, timeout=2.0)
    with pytest.raises(WriterError, match=r"did not answer in 3 tries \(URLError.*same command again"):
        writer("hello")


def test_a_refusal_is_told_at_once_and_never_with_the_key():
    with (
        endpoint(PlayingModel(), [(401, b"bad key")]) as (url, requests),
        pytest.raises(WriterError, match=r"refused the request \(HTTP 401: bad key\)") as error,
    ):
        EndpointWriter(url, "m", key="a-secret")("hello")
    assert len(requests) == 1
    assert "a-secret" not in str(error.value)


@pytest.mark.parametrize("answer", [b"<html>", b"{}", b'{"choices": []}'])
def test_an_answer_of_another_kind_is_refused(answer):
    with (
        endpoint(PlayingModel(), [(200, answer)]) as (url, _),
        pytest.raises(WriterError, match="must answer as OpenAI's chat completions do"),
    ):
        EndpointWriter(url, "m")("hello")


def tiny_model():
    """Return a causal language model that was never trained, and a tokenizer of a few words."""
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    words = {word: i for i, word in enumerate(["</s>", "[UNK]", "a", "table", "for", "two", "please"])}
    tokenizer = Tokenizer(models.WordLevel(words, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=7, hidden_size=8, intermediate_size=8, num_hidden_layers=1, num_attention_heads=2
    )
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="</s>", unk_token="[UNK]")
    return LlamaForCausalLM(config).eval(), fast


def test_a_local_model_writes_what_follows_from_prompt_and_attempt(monkeypatch):
    pair = tiny_model()
    monkeypatch.setattr(writers, "_load", lambda name: pair)
    writer = LocalWriter("tiny")
    one, other = writer("a table for two"), writer("a table for two", attempt=1)
    assert one != other
    assert one == writer("a table for two")
    pair[1].chat_template = "{% for message in messages %}{{ message['content'] }} please{% endfor %}"
    assert re.fullmatch(r"[\w\[\] ]*", writer("a table for two"))


def test_a_local_model_that_is_not_there_is_explained(tmp_path):
    with pytest.raises(WriterError, match=r"on the hub or a directory .*got '.*none'.*smollm2.*bundled"):
        LocalWriter(str(tmp_path / "none"))


def test_texts_are_cleaned():
    assert clean('\n "Well  done!"\n') == "Well done!"
    assert json.loads(json.dumps(clean("“Hm.”"))) == "Hm."
