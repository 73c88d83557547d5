"""What the booking study says of its learners, settings, models and dialogues."""

from __future__ import annotations

from collections.abc import Mapping

from tacit.experiments.studies.booking.supply import FROM_FILE
from tacit.experiments.studies.booking.sweep import SMALL_TWIN, BookingSweep

PUBLISHED = 0.95
"""The average reward that the paper reports (Figure 2b), with models of 7B and 3B parameters on GPUs."""
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

MODEL_WORDS: Mapping[str, str] = {
    "small": "small: frozen encoders (MiniLM, SmolLM2-135M) under a posterior and a policy of few weights",
    "smol": "smol: SmolLM2-135M-Instruct, heads and low-rank adapters, begun where the small model ends",
    "paper": "paper: Qwen2.5-7B-Instruct for the posterior, Qwen2.5-3B-Instruct for the policy, as smol",
}


def source_words(sweep: BookingSweep) -> str:
    """Return where the dialogues come from, in words.

    >>> source_words(BookingSweep(source="talks.jsonl"))
    '0 dialogues from talks.jsonl'
    """
    return f"{sweep.size:,} dialogues from {SOURCE_WORDS.get(sweep.source, sweep.source)}"
