"""Dialogues written by a language model, the second way to make them (appendix C.2); prompts in our own words.

The grammar's script of a task is the outline: which details are asked for, which bookings are wrong and how, who the
user is. The model writes the useless questions, all answers, the bookings and the remarks. Each text is checked; one
that stays wrong after some attempts is left as the grammar has it, and counted.

Wrong bookings: in `paper` the model writes each from the right one. In `hard` and `personal` the details are put
into the model's own wording of the right one, because a difference in wording would give the right one away.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from random import Random
from typing import NamedTuple

from tacit.base.randomness import check_seed
from tacit.envs.booking import Script, assemble, chance, check_setting, write_script
from tacit.envs.candidates import SlotValues, count_values
from tacit.envs.corpora import BookingTask
from tacit.envs.dialogues import Dialogue
from tacit.envs.grammar import Part, check_part
from tacit.envs.phrasing import Useless, mentions, say, say_day
from tacit.envs.profiles import FACTS
from tacit.envs.remarks import MANNERS
from tacit.envs.writers import Writer

ATTEMPTS = 3
"""How often a text is asked for before the grammar's is taken."""

LONGEST = 300
"""Characters of one or two sentences at most."""

PLACES = {"restaurant": "books tables in restaurants", "movie": "sells movie tickets"}

ONLY = "Answer with that text alone: no introduction, no quotation marks, no comment."

USELESS = (
    "An assistant that {place} got this message from a customer: {request}\n"
    "Write a friendly question of the assistant that fits the subject but does not help to find out which booking the "
    f"customer wants, in the manner of: {{topic}} One short question. {ONLY}"
)
CHAT = (
    "A customer wrote to an assistant that {place}: {request}\nThe assistant asked: {question}\n"
    f"Write the customer's reply in one short sentence. Do not say where, when, what or for how many. {ONLY}"
)
REPLY = (
    "A customer wrote to an assistant that {place}: {request}\nThe assistant asked: {question}\n"
    "Write the customer's reply in one or two short sentences. It must say all of this, word for word: {details}. "
    f"{ONLY}"
)
CONFIRM = (
    "You are an assistant that {place}. Write one sentence that tells a customer what you have booked. It must "
    f"contain each of these exactly once, word for word: {{details}}. {ONLY}"
)
CHANGE = (
    "Here is what an assistant that {place} told a customer: {booking}\n"
    f"Repeat it with one change: write {{new}} in place of {{old}}. Keep every other word. {ONLY}"
)
REMARK = (
    "A customer ({fact}) asked an assistant that {place}: {request}\nIn the end the customer is {mood}. Write what "
    "the customer says, in one or two sentences, {manner}. Do not name any detail of the booking and do not repeat "
    f"the request. {ONLY}"
)
MOODS = {True: "happy with how it went", False: "unhappy with how it went"}
TONES = {"polite": "in a polite tone", "terse": "in very few words", "chatty": "in a chatty, lively tone"}

WritingProgress = Callable[[int, int], None]
"""Called with the number of dialogues that are done and of all."""

Check = Callable[[str], bool]


class Reworded(NamedTuple):
    """The dialogues, how many texts were asked for, and how many of each kind were left to the grammar."""

    dialogues: tuple[Dialogue, ...]
    texts: int
    fallbacks: dict[str, int]


def reword_dialogues(
    tasks: Sequence[BookingTask],
    setting: str,
    seed: int,
    writer: Writer,
    part: str = "seen",
    values: Mapping[str, SlotValues] | None = None,
    workers: int = 1,
    progress: WritingProgress | None = None,
) -> Reworded:
    """Return a dialogue for each task, written by a language model, `workers` at once, in the order of the tasks.

    The first arguments and `values` are those of `make_dialogues`. With a `CachedWriter` an interrupted call goes on
    where it stopped.
    """
    check_setting(setting)
    check_seed(seed)
    wordings, values = check_part(part), values or count_values(tasks)
    dialogues, texts, fallbacks = [], 0, Counter[str]()
    with ThreadPoolExecutor(workers) as pool:
        futures = [
            pool.submit(_reword, task, setting, seed, wordings, values[task.domain], writer) for task in tasks
        ]
        try:
            for done, future in enumerate(futures, start=1):
                dialogue, secretary = future.result()
                dialogues.append(dialogue)
                texts += secretary.texts
                fallbacks += secretary.fallbacks
                if progress:
                    progress(done, len(tasks))
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return Reworded(tuple(dialogues), texts, dict(fallbacks))


class _Secretary:
    """Asks a writer for the texts of one dialogue, checks them, and counts what was left to the grammar."""

    def __init__(self, writer: Writer, task: BookingTask) -> None:
        self.task, self.texts, self.fallbacks = task, 0, Counter[str]()
        self._writer = writer
        self._common = {"place": PLACES[task.domain], "request": task.request}

    def ask(self, kind: str, prompt: str, check: Check, fallback: str, **words: str) -> str:
        """Return a text that passes the check, or the fallback."""
        self.texts += 1
        filled = prompt.format(**self._common, **words)
        for attempt in range(ATTEMPTS):
            text = clean(self._writer(filled, attempt))
            if text and len(text) <= LONGEST and check(text):
                return text
        self.fallbacks[kind] += 1
        return fallback

    def leaks(self, text: str) -> bool:
        """Return whether a text says any detail of the booking."""
        return any(mentions(text, slot, value) for slot, value in self.task.slots.items())


def _reword(
    task: BookingTask, setting: str, seed: int, part: Part, values: SlotValues, writer: Writer
) -> tuple[Dialogue, _Secretary]:
    # Nothing random depends on what the model writes.
    random = chance(task, setting, part, seed)
    script = write_script(task, setting, part, values, random)
    voice = FACTS.draw(random, part)
    secretary = _Secretary(writer, task)
    script = replace(
        script,
        answer=_write_reply(script, secretary),
        useless=_write_useless(script, secretary),
        bookings=_write_bookings(script, secretary, setting),
        positive=(_write_remark(True, script, secretary, voice, random),),
        negative=(_write_remark(False, script, secretary, voice, random),),
    )
    return assemble(task, script, random), secretary


def _write_useless(script: Script, secretary: _Secretary) -> tuple[Useless, ...]:
    taken = [script.question, *(question for question, _ in script.useless)]
    pairs = []
    for topic, answer in script.useless:
        question = secretary.ask(
            "question",
            USELESS,
            lambda text: text.endswith("?") and text not in taken and not secretary.leaks(text),
            topic,
            topic=topic,
        )
        reply = secretary.ask(
            "answer", CHAT, lambda text: not secretary.leaks(text), answer, question=question
        )
        taken.append(question)
        pairs.append(Useless(question, reply))
    return tuple(pairs)


def _write_reply(script: Script, secretary: _Secretary) -> str:
    wanted = {slot: secretary.task.slots[slot] for slot in secretary.task.asked}
    return secretary.ask(
        "answer",
        REPLY,
        lambda text: all(mentions(text, slot, value) for slot, value in wanted.items()),
        script.answer,
        question=script.question,
        details=_list(wanted),
    )


def _write_bookings(script: Script, secretary: _Secretary, setting: str) -> tuple[str, ...]:
    right, *wrong = script.slots
    said = _say_all(right)
    text = secretary.ask(
        "booking",
        CONFIRM,
        lambda text: all(len(re.findall(_whole(value), text)) == 1 for value in said.values()),
        script.bookings[0],
        details=_list(right),
    )
    if text == script.bookings[0]:
        return script.bookings
    changed = [_substitute(text, said, _say_all(slots)) for slots in wrong]
    if setting == "paper":
        changed = [
            _ask_change(text, said, _say_all(slots), other, secretary)
            for slots, other in zip(wrong, changed, strict=True)
        ]
    bookings = (text, *changed)
    return bookings if len(set(bookings)) == len(bookings) else script.bookings


def _ask_change(
    booking: str, old: Mapping[str, str], new: Mapping[str, str], fallback: str, secretary: _Secretary
) -> str:
    """Return the booking with its one changed detail, in the model's words."""
    slot = next(slot for slot in old if old[slot] != new[slot])
    return secretary.ask(
        "booking",
        CHANGE,
        lambda text: (
            text != booking
            and all(re.search(_whole(value), text) for value in new.values())
            and not re.search(_whole(old[slot]), text)
        ),
        fallback,
        booking=booking,
        old=old[slot],
        new=new[slot],
    )


def _write_remark(satisfied: bool, script: Script, secretary: _Secretary, voice: str, random: Random) -> str:
    style, fallback = script.style, (script.positive if satisfied else script.negative)[0]
    if style == "ironic":  # they say what others say in the opposite mood, as in the grammar
        satisfied, style = not satisfied, random.choice(MANNERS)
    return secretary.ask(
        "remark",
        REMARK,
        lambda text: not secretary.leaks(text),
        fallback,
        fact=voice[0].lower() + voice[1:],
        mood=MOODS[satisfied],
        manner=TONES[style],
    )


def clean(text: str) -> str:
    """Return what a model wrote on one line, without quotation marks around it.

    >>> clean(' "Do you like\\nmusic?" ')
    'Do you like music?'
    """
    return " ".join(text.split()).strip("\"'“”` ")


def _say_all(slots: Mapping[str, str]) -> dict[str, str]:
    return {slot: say_day(value) if slot == "date" else say(slot, value) for slot, value in slots.items()}


def _list(slots: Mapping[str, str]) -> str:
    return "; ".join(_say_all(slots).values())


def _whole(value: str) -> str:
    return rf"(?<!\w){re.escape(value)}(?!\w)"


def _substitute(text: str, old: Mapping[str, str], new: Mapping[str, str]) -> str:
    """Return the text with new details in place of the old, all at once."""
    found = {value: new[slot] for slot, value in old.items()}
    pattern = "|".join(_whole(value) for value in sorted(found, key=len, reverse=True))
    return re.sub(pattern, lambda match: found[match[0]], text)
