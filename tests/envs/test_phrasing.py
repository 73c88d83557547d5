"""The grammar: hundreds of phrasings, two parts that share none, and nothing given away."""

import re
from random import Random

import pytest
from booking_samples import corpora

from tacit.envs import cinemas, restaurants
from tacit.envs.booking import make_dialogues
from tacit.envs.corpora import BookingTask, read_corpora
from tacit.envs.grammar import Grammar, draw_wording, list_wordings, take_part
from tacit.envs.ontology import VALUES, generate_tasks
from tacit.envs.phrasing import DOMAINS, finish, mentions, say, write_answer, write_bookings, write_question
from tacit.envs.profiles import IRONIC, PLAIN, write_profile
from tacit.envs.remarks import MANNERS, SATISFIED, UNSATISFIED, write_remark, write_remarks

PARTS = ("seen", "held_out")
GRAMMARS = {
    **{f"satisfied {style}": grammar for style, grammar in SATISFIED.items()},
    **{f"unsatisfied {style}": grammar for style, grammar in UNSATISFIED.items()},
    "plain": PLAIN,
    "ironic": IRONIC,
    "restaurant bookings": restaurants.BOOKINGS,
    "movie bookings": cinemas.BOOKINGS,
}


def everything_said(moods):
    return {part: {s for grammar in moods.values() for s in grammar.sentences(part)} for part in PARTS}


def test_alternatives_nest_and_all_are_drawn():
    template = "[a[b|c|]|d] e"
    assert list_wordings(template) == ["ab e", "ac e", "a e", "d e"]
    random = Random(0)
    assert {draw_wording(template, random) for _ in range(100)} == set(list_wordings(template))


def test_a_grammar_says_what_is_wrong_with_it():
    with pytest.raises(ValueError, match="at least 4 templates, got 3"):
        Grammar("a", "b", "c")
    with pytest.raises(ValueError, match="every bracket of a template must be closed"):
        list_wordings("[a|b")
    with pytest.raises(ValueError, match="one of seen, held_out, got 'new'"):
        Grammar("a", "b", "c", "d").draw(Random(0), "new")


@pytest.mark.parametrize("name", GRAMMARS)
def test_parts_share_no_sentence(name):
    seen, held_out = (set(GRAMMARS[name].sentences(part)) for part in PARTS)
    assert seen
    assert held_out
    assert not seen & held_out


def test_moods_share_no_sentence_and_have_hundreds():
    satisfied, unsatisfied = everything_said(SATISFIED), everything_said(UNSATISFIED)
    for mood in (satisfied, unsatisfied):
        assert len(mood["seen"]) >= 250
        assert len(mood["held_out"]) >= 60
        assert not mood["seen"] & mood["held_out"]
    assert not (satisfied["seen"] | satisfied["held_out"]) & (unsatisfied["seen"] | unsatisfied["held_out"])


def test_profiles_show_a_trait_in_dozens_of_wordings_and_never_say_what_it_means():
    for grammar in (PLAIN, IRONIC):
        assert sum(len(set(grammar.sentences(part))) for part in PARTS) >= 40
    for ironic in (True, False):
        lines = {write_profile(ironic, Random(i), "seen") for i in range(2000)}
        assert len(lines) > 500
        assert not any(re.search("opposite|contrary|mean(s|ing) (not|bad|good)", line) for line in lines)
        assert all(line[0].isupper() and line.endswith(".") for line in lines)


def test_remarks_are_short_and_name_no_detail():
    words = {value for slot, values in VALUES.items() for value in values if slot not in ("tickets", "party")}
    for sentence in everything_said(SATISFIED)["seen"] | everything_said(UNSATISFIED)["seen"]:
        assert len(re.findall(r"[.!?](?: |$)", sentence)) in (1, 2), sentence
        assert not any(re.search(rf"\b{re.escape(word)}\b", sentence.lower()) for word in words), sentence
        assert not re.search(r"\b(two|three|four|five|six|seven|eight|\d+)\b", sentence), sentence


def test_an_ironic_user_says_what_others_say_in_the_opposite_mood():
    said = everything_said(UNSATISFIED)["seen"]
    assert all(write_remark(True, "ironic", Random(i), "seen") in said for i in range(300))
    assert all(
        write_remark(True, style, Random(i), "seen") not in said for i in range(99) for style in MANNERS
    )
    assert len(set(write_remarks(False, "ironic", Random(0), "held_out", 3))) == 3


def test_topics_are_many_and_their_parts_share_nothing():
    asked = {part: set() for part in PARTS}
    answered = {part: set() for part in PARTS}
    for domain in DOMAINS.values():
        assert len(domain.TOPICS) >= 30
        for part in PARTS:
            for question, answer in take_part(domain.TOPICS, part):
                asked[part] |= set(list_wordings(question))
                answered[part] |= set(list_wordings(answer))
                assert len(list_wordings(question)) >= 3
                assert all(wording.endswith("?") for wording in list_wordings(question))
    assert not asked["seen"] & asked["held_out"]
    assert not answered["seen"] & answered["held_out"]


def test_a_useless_answer_gives_nothing_away(tmp_path):
    values = {slot: set(found) for slot, found in VALUES.items()}
    for directory, files in corpora(tmp_path):
        for task in read_corpora(directory, files).tasks:
            for slot, value in task.slots.items():
                values[slot].add(value)
    for domain, slots in (
        ("restaurant", ("cuisine", "city", "party", "price")),
        ("movie", tuple(VALUES)[4:]),
    ):
        for topic in DOMAINS[domain].TOPICS:
            for text in (wording for template in topic for wording in list_wordings(template)):
                found = [v for slot in slots for v in values[slot] if mentions(text, slot, v)]
                assert not found, (text, found)


def test_answers_and_questions_cover_what_is_asked_for(tmp_path):
    tasks = [task for sample in corpora(tmp_path)[:1] for task in read_corpora(*sample).tasks]
    for part in PARTS:
        for i, task in enumerate([*tasks, *generate_tasks(400, seed=2)]):
            answer = write_answer(task, Random(i), part)
            assert all(mentions(answer, slot, task.slots[slot]) for slot in task.asked), (task, answer)
            assert answer[0].isupper() or answer[0].isdigit()
            assert "{" not in answer + write_question(task, Random(i), part)


def test_spoken_forms_are_now_and_then_used():
    task = BookingTask("movie", "t", "tickets", {"tickets": "2", "time": "8:00 pm"}, ())
    answers = [write_answer(task, Random(i), "seen") for i in range(1000)]
    spoken = [a for a in answers if re.search(r"couple of|pair of|\b2 tickets", a)]
    assert 50 < len(spoken) < 150
    assert any("8 pm" in answer for answer in answers)


def test_candidates_share_their_wording():
    slots = [{"cuisine": c, "city": "rome", "party": "two", "price": "cheap"} for c in ("indian", "french")]
    for i in range(50):
        texts = write_bookings("restaurant", slots, Random(i), "seen")
        assert len(set(texts)) == 2
        assert len({re.sub(r"\b([Aa]n? )?(Indian|French)", "...", text) for text in texts}) == 1


def test_values_read_well():
    assert say("theatre", "amc mercado 20") == "AMC Mercado 20"
    assert say("movie", "the girl on the train") == "The Girl on the Train"
    assert [say("movie", title) for title in ("12 angry men", "shut in", "sully")] == [
        "12 Angry Men",
        "Shut In",
        "Sully",
    ]
    assert (say("date", "wednesday"), say("date", "tonight")) == ("on Wednesday", "tonight")
    assert (say("tickets", "1"), say("party", "six")) == ("one ticket", "six")
    assert finish("a(n) expensive place.") == "An expensive place."


def test_there_are_hundreds_of_distinct_phrasings_and_none_is_in_both_parts():
    tasks = generate_tasks(1500, seed=0)
    dialogues = {part: make_dialogues(tasks, "personal", 0, part) for part in PARTS}
    for kind in (
        lambda d: [q.text for q in d.questions if q.correct],
        lambda d: [q.text for q in d.questions if not q.correct],
        lambda d: [q.answer for q in d.questions if q.correct],
        lambda d: [q.answer for q in d.questions if not q.correct],
        lambda d: [*d.positive, *d.negative],
        lambda d: [d.profile],
        lambda d: [b.text for b in d.bookings],
    ):
        seen, held_out = ({text for d in dialogues[part] for text in kind(d)} for part in PARTS)
        assert len(seen) >= 200
        assert len(held_out) >= 50
        assert not seen & held_out
