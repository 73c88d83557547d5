"""`report.html` of a study on layered environments: it explains the study to a reader who has not seen the paper."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from tacit.decoding.decoder import DecoderSettings
from tacit.experiments.layered.sweep import LayeredSweep
from tacit.experiments.layered.trust import assess_kept
from tacit.experiments.layered.words import ENVIRONMENT_WORDS, LEARNER_WORDS
from tacit.experiments.study import Runs
from tacit.experiments.summary import part_of
from tacit.experiments.tables import OURS, Column
from tacit.reports.pages import page_template

Facts = list[tuple[str, str]]
LEARNED: tuple[Column, ...] = (
    ("average reward", "average_reward", 3),
    ("last tenth", "final_reward", 3),
    ("decoded", "average_decoded_reward", 3),
    ("decoded, last tenth", "final_decoded_reward", 3),
    ("with exploration", "average_reward_all", 3),
)
"""The columns of a page's table of what was earned, and what it was taken to be."""
ENDING: tuple[Column, ...] = (
    ("regret", "regret", 0),
    ("exploration episodes", "exploration_episodes", 0),
    ("episodes a second", "episodes_per_second", 0),
)
"""The last columns of every page's tables."""


def show_nothing_more(sweep: LayeredSweep, runs: Runs) -> dict[str, Any]:
    """Return nothing more for the template."""
    return {}


@dataclass(frozen=True)
class Page:
    """The page of a study: the package of its template `page.html.j2`, its columns, and `more` for the template."""

    package: str
    columns: tuple[Column, ...]
    more: Callable[[LayeredSweep, Runs], dict[str, Any]] = show_nothing_more


def render_page(page: Page, sweep: LayeredSweep, runs: Runs, **given: Any) -> str:
    """Return the page; `given` are the study, its summary, manifest and picture."""
    summary: Mapping[str, Any] = given["summary"]
    return page_template(page.package, "page.html.j2").render(
        **given,
        sweep=sweep,
        parts=[_part(runs, variant, part_of(summary, variant)) for variant in sweep.environments],
        columns=page.columns,
        ours=OURS,
        learner_words=LEARNER_WORDS,
        facts=list_facts(sweep, runs),
        share=f"{100 * runs.request.fraction:g} %",
        **page.more(sweep, runs),
    )


def _part(runs: Runs, variant: str, summary: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "variant": variant,
        "about": ENVIRONMENT_WORDS.get(variant, ""),
        **{key: summary[key] for key in ("optimal_value", "uniform_value", "learners")},
        "trust": assess_kept(runs, variant),
    }


def list_facts(sweep: LayeredSweep, runs: Runs) -> Facts:
    """Return what was run, in words."""
    settings, counts = sweep.settings, sweep.counts_exploration
    return [
        ("seeds", f"{runs.request.n_seeds}"),
        (
            "episodes T" if counts else "policy-learning episodes T",
            f"{sweep.episodes:,}" + (", exploration included" if counts else ""),
        ),
        ("homing episodes N for each last state", _budgets(sweep, settings.homing.episodes)),
        ("tuples N₀ for each reachable last state", _budgets(sweep, settings.collection.tuples)),
        (
            "failure probability δ; threshold 4ε",
            f"{settings.homing.delta:g}; {4 * settings.homing.epsilon:g}",
        ),
        ("posterior", settings.posterior.method),
        ("regression oracle", f"{settings.oracle.method}, learning rate {settings.oracle.learning_rate:g}"),
        ("planner's weight γₜ", f"{settings.schedule.kind}, scale {settings.schedule.scale:g} (H √(K t))"),
        ("decoder", show_constants(settings.decoder)),
        *((f"decoder on {name}", show_constants(own)) for name, own in sweep.constants.items()),
    ]


def _budgets(sweep: LayeredSweep, otherwise: int) -> str:
    return ", ".join(dict.fromkeys(f"{arm.budget:,}" for arm in sweep.arms)) or f"{otherwise:,}"


def show_constants(decoder: DecoderSettings) -> str:
    """Return the constants of a decoder in words."""
    return f"θ = {decoder.theta:.3g}, M = {decoder.M:.3g}, c = {decoder.c:g}"
