"""The page of the booking figure: results, and conversations with what their feedback was taken to mean."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any

from tacit.experiments.booking_figure import BOOKING_LEARNER_WORDS, PUBLISHED, SETTING_WORDS, BookingFigure
from tacit.experiments.booking_summary import booking_parts, speed_column
from tacit.experiments.report import page_template
from tacit.experiments.run import Runs
from tacit.experiments.tables import OURS, Column

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
MODEL_WORDS: Mapping[str, str] = {
    "small": "small: frozen encoders (MiniLM, SmolLM2-135M) under a posterior and a policy of few weights",
    "smol": "smol: SmolLM2-135M-Instruct, fine-tuned with low-rank adapters",
    "paper": "paper: Qwen2.5-7B-Instruct for the posterior, Qwen2.5-3B-Instruct for the policy, low-rank adapters",
}


def render_booking(
    runs: Runs[BookingFigure], summary: Mapping[str, Any], manifest: Mapping[str, Any], picture: bytes
) -> str:
    """Return the page."""
    return page_template("booking_report.html.j2").render(
        figure=runs.figure,
        summary=summary,
        manifest=manifest,
        picture=base64.b64encode(picture).decode("ascii"),
        parts=[_part(runs, part) for part in booking_parts(summary)],
        columns=(*COLUMNS, speed_column(runs.figure, "episodes a second")),
        ours=OURS,
        published=PUBLISHED,
        learner_words=BOOKING_LEARNER_WORDS,
        facts=list_booking_facts(runs),
        share=f"{100 * runs.request.fraction:g} %",
    )


def _part(runs: Runs[BookingFigure], part: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "variant": part["setting"],
        "about": SETTING_WORDS.get(part["setting"], ""),
        "uniform_value": part["uniform_value"],
        "learners": part["learners"],
        "examples": runs.of(part["setting"], SHOWN)[0]["examples"],
    }


def list_booking_facts(runs: Runs[BookingFigure]) -> list[tuple[str, str]]:
    """Return what was run, in words."""
    figure, settings = runs.figure, runs.figure.settings
    decoder = settings.decoder
    return [
        ("dialogues", figure.source_words),
        ("model", MODEL_WORDS.get(figure.model, figure.model)),
        ("seeds", f"{runs.request.n_seeds}; the dialogues are the same, their order and all chance differ"),
        ("exploration", f"{settings.exploration:,} conversations with random choices"),
        ("policy learning", f"{figure.episodes:,} conversations"),
        ("weight γₜ of the best candidate", f"{settings.gamma_scale:g} √(K t), K candidates"),
        ("decoder", f"θ = {decoder.theta:.3g}, M = {decoder.M:.3g}, c = {decoder.c:g}"),
    ]
