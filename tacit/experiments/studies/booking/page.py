"""The page of the booking study: results, and conversations with what their feedback was taken to mean."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tacit.experiments.studies.booking.summary import speed_column
from tacit.experiments.studies.booking.sweep import BookingSweep
from tacit.experiments.studies.booking.words import (
    BOOKING_LEARNER_WORDS,
    MODEL_WORDS,
    PUBLISHED,
    SETTING_WORDS,
    source_words,
)
from tacit.experiments.study import Runs
from tacit.experiments.summary import part_of
from tacit.experiments.tables import OURS, Column
from tacit.reports.pages import page_template

SHOWN = "tacit"
"""The learner whose conversations are shown, of seed 0."""
COLUMNS: tuple[Column, ...] = (
    ("average reward", "average_reward", 3),
    ("last 500", "last_500_reward", 3),
    ("last tenth", "final_reward", 3),
    ("decoded", "average_decoded_reward", 3),
    ("decoded where true is 1", "decoded_rewarded", 3),
    ("decoded where true is 0", "decoded_unrewarded", 3),
    ("with exploration", "average_reward_all", 3),
    ("regret", "regret", 0),
)


def render_booking(sweep: BookingSweep, runs: Runs, **given: Any) -> str:
    """Return the page; `given` are the study, its summary, manifest and picture."""
    summary: Mapping[str, Any] = given["summary"]
    return page_template("tacit.experiments.studies.booking", "page.html.j2").render(
        **given,
        sweep=sweep,
        parts=[_part(runs, part_of(summary, variant)) for variant in sweep.dialogues],
        columns=(*COLUMNS, speed_column(sweep, "episodes a second")),
        ours=OURS,
        published=PUBLISHED,
        learner_words=BOOKING_LEARNER_WORDS,
        source_words=source_words(sweep),
        facts=list_booking_facts(sweep, runs),
        share=f"{100 * runs.request.fraction:g} %",
    )


def _part(runs: Runs, part: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "variant": part["setting"],
        "about": SETTING_WORDS.get(part["setting"], ""),
        "uniform_value": part["uniform_value"],
        "learners": part["learners"],
        "examples": runs.of(part["setting"], SHOWN)[0]["examples"],
    }


def list_booking_facts(sweep: BookingSweep, runs: Runs) -> list[tuple[str, str]]:
    """Return what was run, in words."""
    settings, decoder = sweep.settings, sweep.settings.decoder
    return [
        ("dialogues", source_words(sweep)),
        ("model", MODEL_WORDS.get(sweep.model, sweep.model)),
        ("seeds", f"{runs.request.n_seeds}; the dialogues are the same, their order and all chance differ"),
        ("exploration", f"{settings.exploration:,} conversations with random choices"),
        ("policy learning", f"{sweep.episodes:,} conversations"),
        ("weight γₜ of the best candidate", f"{settings.gamma_scale:g} √(K t), K candidates"),
        ("decoder", f"θ = {decoder.theta:.3g}, M = {decoder.M:.3g}, c = {decoder.c:g}"),
    ]
