"""The booking dialogues of section 5.2 and appendix C.2: tasks become episodes of a question and a booking.

Settings, which differ in their wrong bookings (`candidates.py`) and their users (`remarks.py`, `profiles.py`):

- `paper`: each wrong booking changes one detail of the right one, which is then the one most like the others.
- `hard`: two details vary so that no candidate can be told without the dialogue.
- `personal`: as `hard`, with a profile line in the context; a half of the users, whoever they are, are ironic.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any, Literal, get_args

import gymnasium as gym
import numpy as np

from tacit.base.randomness import EpisodeDraws, check_seed
from tacit.envs.candidates import SlotValues, change_one, count_values, make_grid
from tacit.envs.corpora import BookingTask, read_corpora
from tacit.envs.corpus_files import data_directory, has_some
from tacit.envs.dialogues import Booking, Dialogue, Question
from tacit.envs.grammar import Part, check_part
from tacit.envs.layered import Observation
from tacit.envs.ontology import SIZE, generate_tasks
from tacit.envs.phrasing import Useless, write_answer, write_bookings, write_question, write_useless
from tacit.envs.profiles import write_profile
from tacit.envs.remarks import MANNERS, Style, write_remarks

Setting = Literal["paper", "hard", "personal"]
SETTINGS: tuple[Setting, ...] = get_args(Setting)

IRONIC = 0.5
"""The part of the users in `personal` who are ironic: a judge who trusts kind words is then right half the time."""

REMARKS = 3
"""Sentences of each kind that a dialogue carries."""


def load_tasks(data: str | Path | None = None) -> tuple[tuple[BookingTask, ...], str]:
    """Return the tasks, and their source: `corpora` or `generated`.

    The corpora are read from the directory `data`, or from the user's data directory where they are there; else our
    own generator makes as many tasks.
    """
    directory = data_directory() if data is None else Path(data)
    if data is not None or has_some(directory):
        return read_corpora(directory).tasks, "corpora"
    return generate_tasks(SIZE, seed=0), "generated"


def make_dialogues(
    tasks: Sequence[BookingTask],
    setting: str,
    seed: int,
    part: str = "seen",
    values: Mapping[str, SlotValues] | None = None,
) -> tuple[Dialogue, ...]:
    """Return a dialogue for each task; `part` says which wordings: those `seen` in learning, or `held_out`.

    A dialogue follows from the seed, its task, the setting, the part and the `values` that wrong bookings take, by
    domain (`count_values`): those of the tasks, unless others are given.

    >>> dialogue = make_dialogues(generate_tasks(50, seed=0), "hard", seed=0)[0]
    >>> len(dialogue.questions), len(dialogue.bookings), sum(booking.correct for booking in dialogue.bookings)
    (3, 5, 1)
    """
    check_setting(setting)
    check_seed(seed)
    wordings, values, dialogues = check_part(part), values or count_values(tasks), []
    for task in tasks:
        random = chance(task, setting, wordings, seed)
        script = write_script(task, setting, wordings, values[task.domain], random)
        dialogues.append(assemble(task, script, random))
    return tuple(dialogues)


def check_setting(setting: str) -> None:
    """Raise ValueError unless the setting is one of SETTINGS."""
    if setting not in SETTINGS:
        raise ValueError(f"the setting must be one of {', '.join(SETTINGS)}, got {setting!r}")


@dataclass(frozen=True)
class Script:
    """What a dialogue is put together from; in `slots` and `bookings` the right one comes first."""

    question: str
    answer: str
    useless: tuple[Useless, ...]
    slots: tuple[Mapping[str, str], ...]
    bookings: tuple[str, ...]
    style: Style
    positive: tuple[str, ...]
    negative: tuple[str, ...]
    profile: str


def write_script(task: BookingTask, setting: str, part: Part, values: SlotValues, random: Random) -> Script:
    """Return what the grammar writes for a task."""
    style = draw_style(setting, random)
    wrong = (change_one if setting == "paper" else make_grid)(task, values, random)
    slots = (task.slots, *wrong)
    return Script(
        question=write_question(task, random, part),
        answer=write_answer(task, random, part),
        useless=write_useless(task.domain, random, part),
        slots=slots,
        bookings=write_bookings(task.domain, slots, random, part),
        style=style,
        positive=write_remarks(True, style, random, part, REMARKS),
        negative=write_remarks(False, style, random, part, REMARKS),
        profile=write_profile(style == "ironic", random, part) if setting == "personal" else "",
    )


def assemble(task: BookingTask, script: Script, random: Random) -> Dialogue:
    """Return the dialogue of a script, its candidates in random order."""
    questions = [
        Question(script.question, script.answer, correct=True),
        *(Question(*pair, correct=False) for pair in script.useless),
    ]
    bookings = [Booking(text, correct=i == 0) for i, text in enumerate(script.bookings)]
    return Dialogue(
        id=task.id,
        request=task.request,
        questions=tuple(random.sample(questions, len(questions))),
        bookings=tuple(random.sample(bookings, len(bookings))),
        positive=script.positive,
        negative=script.negative,
        profile=script.profile,
    )


def chance(task: BookingTask, setting: str, part: Part, seed: int) -> Random:
    """Return the source of everything random in a dialogue."""
    return Random(f"{seed}/{task.id}/{setting}/{part}")


def draw_style(setting: str, random: Random) -> Style:
    """Return the style of a user; only in `personal` may they be ironic."""
    if setting == "personal" and random.random() < IRONIC:
        return "ironic"
    return random.choice(MANNERS)


class BookingEnv(gym.Env[Observation, str]):
    """Plays dialogues: a question, then a booking; no reward is ever returned, only feedback at the end.

    An observation holds the `context` (`request`, `profile`), the `state` (the request; then the user's answer to the
    question taken) and the `actions` on offer, one of which `step` takes, by its text. `step` returns the reward 0.0
    always. At the end `info["feedback"]` is what the user said, and `info["evaluation"]` what no learner may see:
    the latent reward, 1 only for a right question followed by a right booking, and the dialogue's id.

    Everything random follows from (seed, episode number): every pass through the dialogues has an order of its own.
    `reset(seed=s)` starts at episode 0 of seed s, `reset()` goes on to the next episode, `reset(options={"episode":
    n})` jumps to episode n.

    >>> env = BookingEnv(make_dialogues(generate_tasks(50, seed=0), "hard", seed=0))
    >>> observation, _ = env.reset(seed=0)
    >>> for _ in range(env.horizon):
    ...     observation, _, over, _, info = env.step(observation["actions"][0])
    >>> over, sorted(info)
    (True, ['evaluation', 'feedback'])
    """

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012, Gymnasium's own form
    horizon = 2

    def __init__(self, dialogues: Sequence[Dialogue]) -> None:
        if not dialogues:
            raise ValueError("a booking environment needs at least 1 dialogue, got none; see make_dialogues")
        self.dialogues = tuple(dialogues)
        # True bounds: every text is in the space. Most texts of the action space are not on offer, of course.
        text = _text_space(self.dialogues)
        context = gym.spaces.Dict({"request": text, "profile": text})
        self.observation_space = gym.spaces.Dict(
            {"context": context, "state": text, "actions": gym.spaces.Sequence(text)}
        )
        self.action_space = text
        self._draws: EpisodeDraws | None = None
        self._pass, self._order = -1, np.empty(0, np.int64)
        self._episode = -1
        self._step = self.horizon  # over until reset

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begin an episode; see the class for what `seed` and `options` do."""
        super().reset(seed=seed)
        if seed is not None or self._draws is None:
            # One row holds the draw of the feedback; the generators, one for each pass, hold the orders.
            base = seed if seed is not None else int(self.np_random.integers(2**62))
            self._draws, self._pass, self._episode = EpisodeDraws(base, 1), -1, -1
        self._episode = _check_episode((options or {}).get("episode", self._episode + 1))
        self._dialogue = self.dialogues[self._find(self._draws)]
        self._step, self._answer, self._right = 0, "", False
        return self._observation(), {}

    def step(self, action: str) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Take a candidate, by its text; after the booking the episode ends and `info` holds the feedback."""
        if self._step == self.horizon:
            raise ValueError(
                f"an episode has {self.horizon} steps and this one is over or not begun, got another action; "
                "call reset() first"
            )
        if self._step == 0:
            question: Question = _choose(action, self._dialogue.questions)
            self._step, self._answer, self._right = 1, question.answer, question.correct
            return self._observation(), 0.0, False, False, {}
        booking: Booking = _choose(action, self._dialogue.bookings)
        self._step = self.horizon
        return self._observation(), 0.0, True, False, self._judge(booking)

    def _judge(self, booking: Booking) -> dict[str, Any]:
        dialogue = self._dialogue
        reward = int(self._right and booking.correct)
        remarks = dialogue.positive if reward else dialogue.negative
        assert self._draws is not None
        feedback = remarks[int(self._draws.row(self._episode)[0] * len(remarks))]
        return {"feedback": feedback, "evaluation": {"reward": reward, "dialogue": dialogue.id}}

    def _find(self, draws: EpisodeDraws) -> int:
        """Return which dialogue this episode plays: a permutation for each pass through them."""
        number, place = divmod(self._episode, len(self.dialogues))
        if number != self._pass:
            self._pass, self._order = number, draws.generator(number).permutation(len(self.dialogues))
        return int(self._order[place])

    def _observation(self) -> Observation:
        dialogue, first = self._dialogue, self._step == 0
        offered = dialogue.questions if first else dialogue.bookings
        return {
            "context": {"request": dialogue.request, "profile": dialogue.profile},
            "state": dialogue.request if first else self._answer,
            "actions": tuple(candidate.text for candidate in offered),
        }


def _choose(action: Any, offered: Sequence[Any]) -> Any:
    for candidate in offered:
        if candidate.text == action:
            return candidate
    raise ValueError(
        f"an action must be one of the {len(offered)} candidates on offer, got {action!r}; choose one of "
        "observation['actions']"
    )


def _check_episode(episode: Any) -> int:
    if isinstance(episode, bool) or not isinstance(episode, int | np.integer) or episode < 0:
        raise ValueError(f"an episode must be a whole number from 0, got {episode!r}")
    return int(episode)


def _text_space(dialogues: Sequence[Dialogue]) -> gym.spaces.Text:
    texts = [text for dialogue in dialogues for text in _texts(dialogue)]
    longest = max(len(text) for text in texts)
    return gym.spaces.Text(longest, min_length=0, charset=frozenset("".join(texts)))


def _texts(dialogue: Dialogue) -> list[str]:
    said = [part for question in dialogue.questions for part in (question.text, question.answer)]
    return [dialogue.request, dialogue.profile, *said, *(booking.text for booking in dialogue.bookings)]
