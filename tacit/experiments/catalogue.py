"""All studies by name: the one table of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tacit.experiments.studies.booking.study import BOOKING
from tacit.experiments.studies.decoder.study import DECODER
from tacit.experiments.studies.digits.study import DIGITS
from tacit.experiments.studies.exploration.study import EXPLORATION
from tacit.experiments.studies.regret.study import REGRET
from tacit.experiments.studies.satisfaction.study import SATISFACTION
from tacit.experiments.studies.synthetic.study import SYNTHETIC
from tacit.experiments.studies.variants.study import VARIANTS
from tacit.experiments.study import Study

STUDIES: Mapping[str, Study] = {
    study.name: study
    for study in (DECODER, SYNTHETIC, VARIANTS, REGRET, EXPLORATION, DIGITS, BOOKING, SATISFACTION)
}


def order_study(name: str, options: Mapping[str, Any]) -> Study:
    """Return the study of that name with options of its own, or raise ValueError with what is wrong.

    >>> order_study("synthetic", {}).title
    "Learning without rewards on the paper's synthetic MDP"
    """
    if name not in STUDIES:
        raise ValueError(f"there is no figure {name!r}; there are: {', '.join(STUDIES)}")
    study = STUDIES[name]
    for option in options:
        if option not in study.options:
            takers = [other.name for other in STUDIES.values() if option in other.options]
            figures = "figure" if len(takers) == 1 else "figures"
            raise ValueError(
                f"--{option.replace('_', '-')} is an option of the {figures} {' and '.join(takers)}, "
                f"got it with {name}; leave it out"
            )
    return study.order(options)
