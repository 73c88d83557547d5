"""The booking figure as data: which text learners play which dialogues, with what model and budget (section 5.2)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from random import Random
from typing import Any, ClassVar, NamedTuple

from tacit.envs.booking import SETTINGS, BookingEnv, check_setting, load_tasks, make_dialogues
from tacit.envs.candidates import count_values
from tacit.envs.corpora import Task
from tacit.envs.dialogues import Dialogue, Problem, read_dialogues
from tacit.experiments.learners import TEXT_LEARNERS, TextLearner
from tacit.text.bundled import check_packages, minilm_path, smollm2_file
from tacit.text.settings import TextSettings

DIALOGUES_SEED = 0
"""All seeds of the figure meet the same dialogues, in an order of their own: texts are encoded once."""
FROM_FILE = "dialogues"
"""What the variant is called whose dialogues come from a file."""
PUBLISHED = 0.95
"""The average reward that the paper reports (Figure 2b), with models of 7B and 3B parameters on GPUs."""
SMALL_TWIN = "tacit_small"
"""Tacit with the small model, beside a language model, on the same dialogues and seeds."""


class Budget(NamedTuple):
    """Episodes of exploration, then of policy learning (None: the rest of the dialogues), and the least of both."""

    exploration: int = 500
    learning: int | None = None
    least_exploration: int = 150
    least_learning: int = 100
    seeds: int = 5


BUDGETS: Mapping[str, Budget] = {
    "small": Budget(),
    "smol": Budget(exploration=96, learning=160, least_exploration=16, least_learning=16, seeds=1),
    "paper": Budget(seeds=1),
}
"""By model; one from the hub has the budget of `paper`. That of `smol` takes one core about half an hour."""

LARGE_MODEL_LEARNERS = ("tacit", SMALL_TWIN, "uniform")
"""Who plays where a language model does: each of its episodes costs seconds."""

BOOKING_LEARNER_WORDS: Mapping[str, str] = {
    "tacit": "Tacit: explores, works out what people's words mean, then learns what to ask and what to book.",
    "tacit_paper_gamma": "The same with the paper's schedule γₜ = √(K t), which tries other candidates for longer.",
    SMALL_TWIN: "Tacit with the small model instead, on the same dialogues.",
    "oracle_reward": "Is told the true reward, which no real learner is. The ceiling.",
    "universal_judge": "Takes kind words for a reward, whoever says them: a fixed rule in the place of the decoder.",
    "last_step_igl": "Learns what feedback means as Tacit does, but improves the booking only; it asks at random.",
    "uniform": "Asks and books at random. The floor.",
}
"""Who is who, for a reader who has not seen the paper."""

SETTING_WORDS: Mapping[str, str] = {
    "paper": "Each wrong booking has one detail changed, so that the right one is the one most like the others.",
    "hard": "No booking can be told from the others without the dialogue.",
    "personal": "As hard, and half of the people are ironic; only a line about each person hints at it.",
    FROM_FILE: "The user's own dialogues.",
}

SOURCE_WORDS: Mapping[str, str] = {
    "corpora": "the corpora Dialog bAbI and Sim-M",
    "generated": "Tacit's own generator (no corpora were given)",
}


@dataclass(frozen=True)
class Options:
    """What `tacit reproduce booking` takes beside what every figure takes; None where nothing was given."""

    model: str | None = None
    setting: str | None = None
    data: Path | None = None
    dialogues: Path | None = None
    skip_broken: bool | None = None

    @property
    def given(self) -> tuple[str, ...]:
        """Return the options that were given, as they stand on the command line."""
        names = ("model", "setting", "data", "dialogues", "skip_broken")
        return tuple("--" + name.replace("_", "-") for name in names if getattr(self, name) is not None)


class Supply(NamedTuple):
    """What dialogues are made of: the tasks of a source, or the dialogues of a file and the lines it left out."""

    source: str
    tasks: tuple[Task, ...] = ()
    dialogues: tuple[Dialogue, ...] = ()
    left_out: tuple[Problem, ...] = ()

    @property
    def size(self) -> int:
        """Return how many dialogues there are."""
        return len(self.dialogues or self.tasks)

    def take(self, variant: str, count: int) -> tuple[Dialogue, ...]:
        """Return `count` dialogues of a variant, drawn at random where that is not all."""
        some: Callable[[Any], Any] = partial(Random(DIALOGUES_SEED).sample, k=count)
        if self.dialogues:
            return tuple(some(self.dialogues)) if count < self.size else self.dialogues
        tasks = tuple(some(self.tasks)) if count < self.size else self.tasks
        return make_dialogues(tasks, variant, DIALOGUES_SEED, values=count_values(self.tasks))


@dataclass(frozen=True)
class BookingFigure:
    """Figure 2b: text learners x settings x seeds, each a task of its own.

    `variants` are the settings. `scaled` makes their dialogues, from `supply` or, where there is none, from the
    user's corpora or our generator; a scaled figure holds them and no supply.
    """

    study: ClassVar[str] = "booking"
    name: str = "booking"
    title: str = "Booking by conversation, learned from what people say"
    about: str = "Average reward over conversations, Tacit beside its baselines; nobody ever states a reward."
    learners: tuple[str, ...] = tuple(TEXT_LEARNERS)
    settings: TextSettings = field(default_factory=TextSettings)
    variants: tuple[str, ...] = ("hard",)
    seeds: int = BUDGETS["small"].seeds
    episodes: int = 0
    supply: Supply | None = None
    source: str = ""
    dialogues: Mapping[str, tuple[Dialogue, ...]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    arguments: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        """Return everyone who plays."""
        return self.learners

    @property
    def environments(self) -> Mapping[str, Callable[[], BookingEnv]]:
        """Return what makes the environment of each variant."""
        return {variant: partial(BookingEnv, dialogues) for variant, dialogues in self.dialogues.items()}

    @property
    def model(self) -> str:
        """Return the name of the model."""
        return self.settings.model

    @property
    def size(self) -> int:
        """Return how many dialogues each variant has."""
        return max(map(len, self.dialogues.values()), default=0)

    @property
    def origin(self) -> dict[str, Any]:
        """Return where the dialogues come from and what else a reader must know, for JSON."""
        return {
            "model": self.model,
            "source": self.source,
            "dialogues": self.size,
            "exploration": self.settings.exploration,
            "notes": list(self.notes),
        }

    @property
    def source_words(self) -> str:
        """Return where the dialogues come from, in words."""
        return f"{self.size:,} dialogues from {SOURCE_WORDS.get(self.source, self.source)}"

    def learner_of(self, name: str) -> TextLearner:
        """Return the learner of that name, or raise an error that lists them."""
        learners = {**TEXT_LEARNERS, SMALL_TWIN: TEXT_LEARNERS["tacit"]}
        if name not in learners:
            raise ValueError(f"there is no text learner {name!r}; there are: {', '.join(learners)}")
        return learners[name]

    def settings_of(self, name: str) -> TextSettings:
        """Return the settings that a learner starts from; `uniform` reads nothing, so no large model for it."""
        return replace(self.settings, model="small") if name in (SMALL_TWIN, "uniform") else self.settings

    def digest_of(self, variant: str) -> str:
        """Return a digest of every text in the dialogues of a variant."""
        lines = [dialogue.to_json() for dialogue in self.dialogues[variant]]
        return hashlib.sha256(json.dumps(lines, sort_keys=True).encode()).hexdigest()

    def facts_of(self, variant: str, name: str) -> dict[str, Any]:
        """Return what determines a task's result beside its dialogues and its seed."""
        settings = self.settings_of(name).to_json()
        return {"study": self.study, "settings": settings, "episodes": self.episodes}

    def scaled(self, fraction: float) -> BookingFigure:
        """Return the figure on a `fraction` of its budget, with no more dialogues than that takes."""
        supply = self.supply if self.supply is not None else load_supply(Options())
        budget = BUDGETS.get(self.model, BUDGETS["paper"])
        rest = max(supply.size - budget.exploration, budget.exploration)
        whole = budget.learning if budget.learning is not None else rest
        exploration = max(round(budget.exploration * fraction), budget.least_exploration)
        episodes = max(round(whole * fraction), budget.least_learning)
        count = min(supply.size, exploration + episodes)
        return replace(
            self,
            settings=replace(self.settings, exploration=exploration),
            episodes=episodes,
            supply=None,
            source=supply.source,
            dialogues={variant: supply.take(variant, count) for variant in self.variants},
            notes=(
                *floor_notes(budget, whole, fraction),
                *pass_notes(exploration + episodes, count),
                *broken_notes(supply),
            ),
        )


BOOKING = BookingFigure()


def order_booking(options: Options) -> BookingFigure:
    """Return the figure that the options ask for, its source read; raise ValueError with what is wrong with them."""
    check_options(options)
    model = options.model or "small"
    check_model(model)
    setting = options.setting or "hard"
    if options.dialogues is not None:
        variants: tuple[str, ...] = (FROM_FILE,)
    else:
        variants = SETTINGS if setting == "all" else (setting,)
    return replace(
        BOOKING,
        learners=BOOKING.learners if model == "small" else LARGE_MODEL_LEARNERS,
        settings=replace(BOOKING.settings, model=model),
        variants=variants,
        seeds=BUDGETS.get(model, BUDGETS["paper"]).seeds,
        supply=load_supply(options),
        arguments=write_arguments(options),
    )


def check_options(options: Options) -> None:
    """Raise ValueError unless the options go together and the setting exists."""
    if options.dialogues is not None and (options.setting or options.data):
        given = "--setting" if options.setting else "--data"
        raise ValueError(
            f"--dialogues brings dialogues as they are, got {given} too; leave out one of the two"
        )
    if options.skip_broken is not None and options.dialogues is None:
        raise ValueError(
            "--skip-broken is about the lines of a dialogue file, got none; add --dialogues FILE.jsonl"
        )
    if options.setting is not None and options.setting != "all":
        try:
            check_setting(options.setting)
        except ValueError as error:
            raise ValueError(f"{error}; `all` runs all of them") from None


def check_model(model: str) -> None:
    """Raise ValueError or ImportError, saying what to do, where a model cannot run; nothing is loaded or fetched."""
    check_packages("torch", "transformers", "accelerate", "gguf")
    minilm_path()  # the small model plays beside every other
    smollm2_file()
    if model == "small":
        return
    from tacit.text.causal.presets import check_runnable, find_preset

    try:
        preset = find_preset(model)
    except ValueError as error:
        raise ValueError(f"--model is 'small' or a language model; {error}") from None
    check_runnable(preset)


def load_supply(options: Options) -> Supply:
    """Return what the dialogues are made of: a file, the corpora, or generated tasks."""
    if options.dialogues is not None:
        read = read_dialogues(options.dialogues, bool(options.skip_broken))
        return Supply(options.dialogues.name, dialogues=read.dialogues, left_out=read.problems)
    tasks, source = load_tasks(options.data)
    return Supply(source, tasks)


def write_arguments(options: Options) -> str:
    """Return the options as they stand on the command line, without the directories of this machine.

    >>> write_arguments(Options(setting="all", data=Path("somewhere")))
    ' --setting all --data DIR'
    """
    written = {
        "--model": options.model,
        "--setting": options.setting,
        "--data": "DIR" if options.data is not None else None,
        "--dialogues": options.dialogues.name if options.dialogues is not None else None,
    }
    words = "".join(f" {name} {value}" for name, value in written.items() if value is not None)
    return words + (" --skip-broken" if options.skip_broken else "")


def floor_notes(budget: Budget, whole: int, fraction: float) -> list[str]:
    """Return a note for each budget that a fraction would have made too small to learn anything."""
    parts = (
        ("exploration", budget.exploration, budget.least_exploration),
        ("policy-learning", whole, budget.least_learning),
    )
    return [
        f"{fraction:g} of {full:,} {what} episodes would be {round(full * fraction)}, too few to learn from: "
        f"{least} were played"
        for what, full, least in parts
        if round(full * fraction) < least
    ]


def pass_notes(episodes: int, dialogues: int) -> list[str]:
    """Return a note where dialogues are met more than once."""
    if episodes <= dialogues:
        return []
    return [
        f"{episodes:,} episodes pass through the {dialogues:,} dialogues {episodes / dialogues:.1f} times"
    ]


def broken_notes(supply: Supply) -> list[str]:
    """Return a note where broken lines of a file were left out: how many, and the first."""
    if not supply.left_out:
        return []
    number, first = len(supply.left_out), supply.left_out[0]
    were = "broken line was" if number == 1 else "broken lines were"
    return [f"{number} {were} left out of {supply.source}; the first is line {first.line}: {first.reason}"]
