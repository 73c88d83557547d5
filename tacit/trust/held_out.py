"""What a fit is trusted for before much was read by it: tuples that it was chosen by, and not fitted to."""

from __future__ import annotations

from collections.abc import Iterable

from tacit.trust.findings import Finding, worst_first

MOST_UNREAD, SOME_UNREAD = 0.5, 0.1
"""Shares of the tuples where it is not known what pleases: of most of them, then all is not known yet; and of so many
that it is worth saying."""


def rest_on_held_out(
    found: Iterable[Finding], gain: float, errors: float, unread: float = 0.0, strangers: int = 0
) -> tuple[Finding, ...]:
    """Return findings of tuples read ahead, beside what held-out ones gained: then something is known in any case.

    `gain` is in nats, and by so many standard `errors` above 0; `unread` is the share of tuples of people of whom it is
    not known what pleases them, and `strangers` is how many contexts nothing is known of.

    >>> [finding.severity for finding in rest_on_held_out([], 20.0, 3.0, unread=0.55)]
    ['unknown', 'info']
    """
    known = [finding for finding in found if finding.code != "nothing-known-yet"]
    evidence = (
        f"Held-out tuples are likelier by {gain:.0f} nats ({errors:.1f} standard errors) if what is said depends on "
        "the action than if it does not, as it was fitted to the others."
    )
    known.append(Finding("understood-by-fit", "info", "", evidence, "Nothing needs to be done."))
    if unread >= SOME_UNREAD:
        known.append(
            Finding(
                "part-not-understood",
                "unknown" if unread >= MOST_UNREAD else "caution",
                "",
                f"Of the people of {unread:.0%} of the tuples it is not known yet what pleases them: they speak as "
                f"nobody else does, or were heard too little. Of {strangers:,} contexts nothing is known at all.",
                "Let more episodes come; until then actions are tried out with them.",
            )
        )
    return worst_first(known)
