"""The page of the satisfaction study: results, what can be identified, and places with what was made of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tacit.experiments.studies.satisfaction.summary import ON_PAGE, list_verdicts
from tacit.experiments.studies.satisfaction.task import SatisfactionSweep
from tacit.experiments.study import Runs
from tacit.experiments.summary import part_of
from tacit.experiments.tables import OURS
from tacit.reports.pages import page_template

SHOWN = "tacit"
"""The learner whose labels are shown, of seed 0."""
LEARNER_WORDS = {
    "tacit": "Each reply beside three that answered other people, in a random order. The reply itself was not drawn"
    " at random, so what is learned is how words differ after replies that fit and after replies that do not.",
    "tacit_simulated": "One of those four, drawn by a coin, for those who liked their own reply. Who gets another says"
    " what somebody said whose rating was low: a simulation with real words, in which all that Tacit asks for is true.",
    "tacit_replayed": "Four replies to the same act of a user, one of them drawn by a coin, so its chance is known;"
    " what follows is what its own hearer said.",
    "tacit_acts": "Dialogue acts as actions, read by the part of Tacit for tables; chances are estimated.",
    "universal_judge": "A rule: kind words are a reward, unkind ones are none, the rest says nothing.",
    "majority": "Is told all ratings, and says of every reply what is true of most: what agreement alone is worth.",
}


def render_satisfaction(sweep: SatisfactionSweep, runs: Runs, **given: Any) -> str:
    """Return the page; `given` are the study, its summary, manifest and picture."""
    summary: Mapping[str, Any] = given["summary"]
    return page_template("tacit.experiments.studies.satisfaction", "page.html.j2").render(
        **given,
        parts=[
            {**part_of(summary, part), "examples": runs.of(part, SHOWN)[0]["examples"]}
            for part in sweep.parts
        ],
        columns=ON_PAGE,
        ours=OURS,
        learner_words=LEARNER_WORDS,
        verdicts=list_verdicts(summary, sweep.parts),
        share=f"{100 * runs.request.fraction:g} %",
    )
