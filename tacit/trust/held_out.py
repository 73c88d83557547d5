"""What a fit is trusted for before much was read by it: tuples that it was chosen by, and not fitted to."""

from __future__ import annotations

from collections.abc import Iterable

from tacit.trust.findings import Finding, worst_first


def rest_on_held_out(found: Iterable[Finding], gain: float, errors: float) -> tuple[Finding, ...]:
    """Return findings of tuples read ahead, beside what held-out ones gained: then something is known in any case.

    `gain` is in nats, and by so many standard `errors` above 0.
    """
    known = [finding for finding in found if finding.code != "nothing-known-yet"]
    evidence = (
        f"Held-out tuples are likelier by {gain:.0f} nats ({errors:.1f} standard errors) if what is said depends on "
        "the action than if it does not, as it was fitted to the others."
    )
    return worst_first(
        [*known, Finding("understood-by-fit", "info", "", evidence, "Nothing needs to be done.")]
    )
