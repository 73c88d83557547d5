"""The page of `tacit diagnose`: one self-contained file that tells a product manager whether logs can be decoded."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import version

import numpy as np
from matplotlib.figure import Figure as Canvas

from tacit.decoding.judgement import HETEROGENEOUS, HOMOGENEOUS
from tacit.logs.problems import Problems
from tacit.offline.page import ANSWERS
from tacit.offline.tables.examination import PlaceMeaning, TableExamination
from tacit.reports.pages import page_template
from tacit.reports.palette import DECODED, OTHER, TRUE
from tacit.reports.pictures import encode_picture, finish_picture, picture_text
from tacit.trust.certificate import Place
from tacit.trust.findings import BASES

SHOWN = 30
"""Places in a picture: more would not be legible."""
LONGEST = 14
"""Characters of a label in a picture."""
KIND_COLOURS = {HETEROGENEOUS: TRUE, HOMOGENEOUS: OTHER}


def render_table(examination: TableExamination, title: str, problems: Problems | None = None) -> str:
    """Return the page."""
    places, meanings = examination.places, examination.meanings
    return page_template("tacit.offline.tables", "diagnosis.html.j2").render(
        title=title,
        diagnosis=examination,
        certificate=examination.certificate,
        answer=ANSWERS[examination.verdict],
        bases=BASES,
        problems=problems,
        distances=encode_picture(draw_distances(places)) if places else None,
        feedback=encode_picture(draw_feedback(meanings)) if meanings else None,
        shown=SHOWN,
        version=version("tacit"),
    )


def draw_distances(places: Sequence[Place]) -> bytes:
    """Return a picture of how far each place's posterior is from uniform, beside what chance alone would give."""
    shown = sorted(places, key=lambda place: -place.tuples)[:SHOWN][::-1]
    figure = Canvas(figsize=(7.5, 0.9 + 0.28 * len(shown)), layout="constrained")
    axes = figure.subplots()
    rows = np.arange(len(shown))
    axes.barh(
        rows, [place.chance for place in shown], color="#e3e3e3", height=0.8, label="what chance alone gives"
    )
    for kind in dict.fromkeys(place.kind for place in shown):
        mine = [n for n, place in enumerate(shown) if place.kind == kind]
        colour = KIND_COLOURS.get(kind, DECODED)
        axes.plot([shown[n].distance for n in mine], mine, "o", color=colour, markersize=6, label=kind)
    axes.set_yticks(rows, [_place(place.state, place.context) for place in shown], fontsize=8)
    axes.set_xlabel("distance of the posterior from uniform")
    axes.set_xlim(left=0)
    axes.legend(fontsize=8, frameon=False, loc="lower left", bbox_to_anchor=(0, 1), ncols=4)
    return finish_picture(figure, axes)


def draw_feedback(meanings: Sequence[PlaceMeaning]) -> bytes:
    """Return a picture of which feedback counts as a reward in each place, and how often it was given."""
    figure = Canvas(figsize=(7.5, 0.9 + 0.42 * len(meanings)), layout="constrained")
    axes = figure.subplots()
    for n, meaning in enumerate(reversed(meanings)):
        share = meaning.tuples.sum(axis=1) / meaning.tuples.sum()
        left = 0.0
        for y in np.argsort(-meaning.phi, kind="stable"):  # rewards on the left
            axes.barh(
                n,
                share[y],
                left=left,
                color=TRUE if meaning.phi[y] else "#dddddd",
                edgecolor="white",
                height=0.75,
            )
            if share[y] > 0.05:
                ink = "white" if meaning.phi[y] else "black"
                axes.text(
                    left + share[y] / 2,
                    n,
                    picture_text(meaning.values[y], LONGEST),
                    ha="center",
                    va="center",
                    color=ink,
                    fontsize=8,
                )
            left += share[y]
    names = [_place(meaning.state, meaning.context) for meaning in reversed(meanings)]
    axes.set_yticks(np.arange(len(names)), names, fontsize=8)
    axes.set_xlim(0, 1)
    axes.set_xlabel("share of the tuples; dark: feedback that means a reward, light: none")
    return finish_picture(figure, axes)


def _place(state: str, context: str) -> str:
    return f"state {picture_text(state, LONGEST)}, context {picture_text(context, LONGEST)}"
