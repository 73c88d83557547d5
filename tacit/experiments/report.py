"""`report.html`: one self-contained page that explains a figure to a reader who has not seen the paper."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined, Template

from tacit.agent import Agent
from tacit.decoding.decoder import DecoderSettings
from tacit.experiments.decoding import ILLUSTRATION
from tacit.experiments.figures import ENVIRONMENT_WORDS, LEARNER_WORDS, Figure
from tacit.experiments.inspection import Inspection, Trust, assess, inspect
from tacit.experiments.learning import KEPT_AGENT, KEPT_AGENTS
from tacit.experiments.regret import THEOREM, first_fitted
from tacit.experiments.run import Runs
from tacit.experiments.summary import Interval, mean_interval, summary_parts
from tacit.experiments.tables import OURS, Column
from tacit.trust.findings import raised

ENDING: tuple[Column, ...] = (
    ("regret", "regret", 0),
    ("exploration episodes", "exploration_episodes", 0),
    ("episodes a second", "episodes_per_second", 0),
)
COLUMNS: Mapping[str, tuple[Column, ...]] = {
    "learning": (
        ("average reward", "average_reward", 3),
        ("last tenth", "final_reward", 3),
        ("decoded", "average_decoded_reward", 3),
        ("decoded, last tenth", "final_decoded_reward", 3),
        ("with exploration", "average_reward_all", 3),
        *ENDING,
    ),
    "regret": (("slope", "slope", 3), ("average reward", "average_reward_all", 3), *ENDING),
    "exploration": (
        ("reward over all episodes", "average_reward_all", 3),
        ("share of the way", "share", 3),
        ("after exploration", "average_reward", 3),
        ("last tenth", "final_reward", 3),
        *ENDING,
    ),
}
"""The columns of the learners' table, by study."""
DARK = (0, 84, 140)
"""The colour of a full heat-map cell; an empty one is white."""


def render(
    runs: Runs[Figure], summary: Mapping[str, Any], manifest: Mapping[str, Any], picture: bytes
) -> str:
    """Return the page."""
    return page_template("report.html.j2").render(
        figure=runs.figure,
        summary=summary,
        manifest=manifest,
        picture=base64.b64encode(picture).decode("ascii"),
        parts=[_part(runs, variant, part) for variant, part in _by_variant(runs, summary).items()],
        columns=COLUMNS.get(runs.figure.study, ()),
        ours=OURS,
        theorem=THEOREM,
        first_fitted=first_fitted(runs.figure.episodes),
        learner_words=LEARNER_WORDS,
        facts=list_facts(runs),
        illustration=ILLUSTRATION,
        largest_unrewarded=_largest_unrewarded(summary),
        share=f"{100 * runs.request.fraction:g} %",
    )


def page_template(name: str) -> Template:
    """Return one of the package's templates, with escaping on and the filters that pages share."""
    environment = Environment(
        loader=PackageLoader("tacit.experiments", "."),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"interval": show_interval, "heat": heat}
    return environment.get_template(name)


def _by_variant(runs: Runs[Figure], summary: Mapping[str, Any]) -> dict[str, Any]:
    parts = summary_parts(summary)
    return dict(zip(runs.figure.environments, parts.values(), strict=True)) if parts else {}


def _part(runs: Runs[Figure], variant: str, summary: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "variant": variant,
        "about": ENVIRONMENT_WORDS.get(variant, ""),
        **{key: summary[key] for key in ("optimal_value", "uniform_value", "learners")},
        "gap": decoding_gap(runs, variant),
        "agent": inspect_kept(runs, variant),
        "trust": assess_kept(runs, variant),
    }


def _largest_unrewarded(summary: Mapping[str, Any]) -> float:
    rows = (row["decoded_unrewarded"].values() for row in summary.get("posteriors", {}).values())
    return max((value["mean"] for row in rows for value in row), default=0.0)


def decoding_gap(runs: Runs[Figure], variant: str) -> dict[str, Interval]:
    """Return true minus decoded reward of the kept learner: over policy learning, and over its last tenth."""
    scalars = [result["scalars"] for result in runs.of(variant, KEPT_AGENT)]

    def gap(prefix: str) -> Interval:
        pairs = [(s[f"{prefix}_reward"], s[f"{prefix}_decoded_reward"]) for s in scalars]
        return mean_interval([None if decoded is None else true - decoded for true, decoded in pairs])

    return {"all": gap("average"), "last": gap("final")}


def inspect_kept(runs: Runs[Figure], variant: str) -> Inspection | None:
    """Return what there is to see in the kept agent of seed 0."""
    task = runs.task(variant, KEPT_AGENT, 0)
    if task is None:
        return None
    return inspect(Agent.load(task.agent_path(runs.request.runs)), runs.figure.environments[variant]().mdp)


def assess_kept(runs: Runs[Figure], variant: str) -> Trust | None:
    """Return the diagnosis of the kept agent of seed 0: tacit_fast's where there is one, it keeps its counts."""
    for learner in reversed(KEPT_AGENTS):
        task = runs.task(variant, learner, 0)
        if task is not None:
            return assess(Agent.load(task.agent_path(runs.request.runs)), learner)
    return None


def list_raised(runs: Runs[Figure]) -> list[str]:
    """Return what was found against trusting each environment's result, a line each."""
    if runs.figure.study == "decoding":
        return []
    assessed = {variant: assess_kept(runs, variant) for variant in runs.figure.environments}
    return [
        f"finding: {trust.learner} on {variant}: {finding}"
        for variant, trust in assessed.items()
        if trust is not None
        for finding in raised(trust.findings)
    ]


def list_facts(runs: Runs[Figure]) -> list[tuple[str, str]]:
    """Return what was run, in words."""
    figure, settings = runs.figure, runs.figure.settings
    decoder = settings.decoder
    facts = [("seeds", f"{runs.request.n_seeds}")]
    if figure.study == "decoding":
        facts += [("tuples", ", ".join(f"{count:,}" for count in figure.tuple_counts))]
    else:
        facts += [
            (
                f"{'' if figure.counts_exploration else 'policy-learning '}episodes T",
                f"{figure.episodes:,}{', exploration included' if figure.counts_exploration else ''}",
            ),
            ("homing episodes N for each last state", _budgets(figure, settings.homing.episodes)),
            ("tuples N₀ for each reachable last state", _budgets(figure, settings.collection.tuples)),
            (
                "failure probability δ; threshold 4ε",
                f"{settings.homing.delta:g}; {4 * settings.homing.epsilon:g}",
            ),
            ("posterior", settings.posterior.method),
            (
                "regression oracle",
                f"{settings.oracle.method}, learning rate {settings.oracle.learning_rate:g}",
            ),
            (
                "planner's weight γₜ",
                f"{settings.schedule.kind}, scale {settings.schedule.scale:g} (H √(K t))",
            ),
        ]
    facts.append(("decoder", _constants(decoder)))
    return [*facts, *((f"decoder on {name}", _constants(own)) for name, own in figure.constants.items())]


def _budgets(figure: Figure, otherwise: int) -> str:
    return ", ".join(dict.fromkeys(f"{arm.budget:,}" for arm in figure.arms)) or f"{otherwise:,}"


def _constants(decoder: DecoderSettings) -> str:
    return f"θ = {decoder.theta:.3g}, M = {decoder.M:.3g}, c = {decoder.c:g}"


def show_interval(interval: Interval, decimals: int = 3) -> str:
    """Return an interval as text.

    >>> show_interval({"mean": 0.7, "low": 0.68, "high": 0.72}, 2)
    '0.70 [0.68, 0.72]'
    >>> show_interval({"mean": None, "low": None, "high": None})
    '-'
    """
    mean, low, high = interval["mean"], interval["low"], interval["high"]
    if mean is None:
        return "-"
    text = f"{mean:,.{decimals}f}"
    return text if low is None or high is None else f"{text} [{low:,.{decimals}f}, {high:,.{decimals}f}]"


def heat(value: float) -> str:
    """Return the style of a heat-map cell for a share in [0, 1].

    >>> heat(0.0)
    'background:#ffffff;color:#111'
    """
    part = min(max(value, 0.0), 1.0)
    channels = [round(255 + part * (dark - 255)) for dark in DARK]
    background = "".join(f"{channel:02x}" for channel in channels)
    return f"background:#{background};color:{'#fff' if part > 0.5 else '#111'}"
