"""The page of `tacit diagnose` for conversations: the evidence, how rewards fall, and what sentences mean."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import version

import numpy as np
from matplotlib.figure import Figure as Canvas

from tacit.base.arrays import FloatArray
from tacit.decoding.judgement import HETEROGENEOUS, HOMOGENEOUS, UNKNOWN
from tacit.logs.problems import Problems
from tacit.offline.page import ANSWERS
from tacit.offline.text.examination import TextExamination
from tacit.reports.pages import page_template
from tacit.reports.palette import DECODED, OTHER, TRUE
from tacit.reports.pictures import encode_picture, finish_picture
from tacit.text.evidence import BEYOND_CHANCE, Evidence
from tacit.trust.findings import BASES

KINDS = {HETEROGENEOUS: TRUE, UNKNOWN: DECODED, HOMOGENEOUS: "#c9c9c9"}
"""The kinds of last states, and their colours."""
BINS = 20


def render_text(examination: TextExamination, title: str, problems: Problems | None = None) -> str:
    """Return the page."""
    rewards = examination.rewards
    decoded = bool(np.isfinite(rewards).any())
    return page_template("tacit.offline.text", "diagnosis.html.j2").render(
        title=title,
        diagnosis=examination,
        certificate=examination.certificate,
        answer=ANSWERS[examination.verdict],
        bases=BASES,
        problems=problems,
        evidence=encode_picture(draw_evidence(examination.compared, examination.shuffled)),
        rewards=encode_picture(draw_rewards(rewards, examination.kinds)) if decoded else None,
        rewarded=int((rewards >= 0.5).sum()),
        decided=int(np.isfinite(rewards).sum()),
        version=version("tacit"),
    )


def draw_evidence(compared: Evidence, shuffled: Sequence[Evidence]) -> bytes:
    """Return a picture of how much better than chance feedback foretells candidates, beside shuffled feedback."""
    figure = Canvas(figsize=(7.5, 2.2), layout="constrained")
    axes = figure.subplots()
    axes.axvline(0, color=OTHER, linewidth=0.8)
    for row, name, found, colour in ((1, "these logs", (compared,), TRUE), (0, "shuffled", shuffled, OTHER)):
        rows = row + np.linspace(-0.22, 0.22, len(found)) * (len(found) > 1)
        gains, errors = [each.gain for each in found], [BEYOND_CHANCE * each.error for each in found]
        axes.errorbar(gains, rows, xerr=errors, fmt="o", color=colour, label=name, capsize=3, markersize=5)
    axes.set_yticks([0, 1], ["feedback shuffled\namong episodes", "feedback\nof these logs"], fontsize=9)
    axes.set_ylim(-0.5, 1.5)
    axes.set_xlabel("how much better than chance feedback tells what was said before it (95 % intervals)")
    return finish_picture(figure, axes)


def draw_rewards(rewards: FloatArray, kinds: Sequence[str]) -> bytes:
    """Return a picture of how many reactions decode to which reward, by the kind of their last state."""
    figure = Canvas(figsize=(7.5, 2.8), layout="constrained")
    axes = figure.subplots()
    told = np.array(kinds)
    parts = {kind: rewards[(told == kind) & np.isfinite(rewards)] for kind in KINDS}
    shown = {kind: part for kind, part in parts.items() if len(part)}
    axes.hist(
        list(shown.values()),
        bins=np.linspace(0, 1, BINS + 1).tolist(),
        stacked=True,
        log=True,
        color=[KINDS[kind] for kind in shown],
        label=list(shown),
    )
    axes.set_xlabel("decoded reward")
    axes.set_ylabel("episodes (log scale)")
    axes.legend(fontsize=8, frameon=False, loc="upper center", ncols=3)
    return finish_picture(figure, axes)
