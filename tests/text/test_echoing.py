"""Whether feedback names the candidate (Assumption 2.1): seen where it does, and not said where it does not."""

import numpy as np
import pytest
from text_samples import COLOURS, HAPPY, UNHAPPY, small_model

from tacit.text.conversation import NO_REMARK, Choice, Conversation, Reaction, TextContext
from tacit.text.evidence import Evidence, find_echo, find_evidence
from tacit.text.small.echoing import FEWEST_HEARD, stake_on_echo
from tacit.trust.findings import verdict

HEALTHY = 40


def reactions(n, seed, named=False, tells=True):
    """Return reactions to uniform choices among five paints: `named` are those that say which paint they got."""
    chance = np.random.default_rng(seed)
    return [react(chance, named, tells) for _ in range(n)]


def react(chance, named, tells):
    colours = [str(colour) for colour in chance.permutation(COLOURS)[:5]]
    right, taken = (int(each) for each in chance.integers(5, size=2))
    pleased = taken == right if tells else chance.random() < 0.2
    remark = str(chance.choice(HAPPY if pleased else UNHAPPY))
    talk = Conversation(TextContext(f"paint it {colours[right]} please"))
    choice = Choice(talk, tuple(f"one tin of {colour} paint" for colour in colours), taken, 0.2)
    return Reaction(choice, f"{remark} {colours[taken]} paint" if named else remark)


def evidence_of(*args, **kwargs):
    return small_model(horizon=1).fit(reactions(*args, **kwargs)).evidence


def test_a_stake_on_echo_wins_nothing_on_average_if_the_meaning_is_all():
    chance = np.random.default_rng(0)
    h, likeness = chance.dirichlet(np.ones(4), size=50), chance.random((50, 4))
    np.testing.assert_allclose((h * stake_on_echo(likeness, h)).sum(axis=1), 0, atol=1e-12)


@pytest.mark.parametrize("tells", [True, False])
def test_people_who_name_what_they_were_given_are_found(tells):
    for seed in range(3):
        evidence = evidence_of(150, seed, named=True, tells=tells)
        assert evidence.names_candidate
        assert verdict(find_evidence(evidence)) in ("not known yet", "cannot work")


def test_healthy_feedback_is_hardly_ever_said_to_name_anything():
    """At most 5 % of runs: of 40, 2."""
    found = [evidence_of(60, seed) for seed in range(HEALTHY)]
    assert all(each.echo_error > 0 for each in found)
    assert sum(each.names_candidate for each in found) <= 2


def test_how_much_it_matters_depends_on_what_the_meaning_tells():
    little, much = Evidence(1.0, 0.1, 1, 0.1, 0.01), Evidence(0.15, 0.03, 1, 0.1, 0.01)
    assert [finding.severity for finding in find_echo(little)] == ["caution"]
    assert [finding.severity for finding in find_echo(much)] == ["unknown"]
    assert not list(find_echo(Evidence(1.0, 0.1, 1)))


def test_nothing_is_said_of_few_remarks_or_of_a_policys_choices():
    few = small_model(horizon=1).fit(reactions(FEWEST_HEARD - 1, 0, named=True))
    assert few.evidence.echo_error == 0
    steered = [r._replace(choice=r.choice._replace(probability=0.5)) for r in reactions(60, 0, named=True)]
    assert small_model(horizon=1).fit(steered).evidence.echo_error == 0
    silent = [r._replace(feedback=NO_REMARK) for r in reactions(60, 0)]
    assert small_model(horizon=1).fit(silent).evidence.echo_error == 0


def test_echo_is_renewed_where_evidence_was_found_before():
    first = small_model(horizon=1).fit(reactions(100, 0))
    assert first.evidence.found
    second = first.fit(reactions(150, 1, named=True))
    assert second.evidence.gain == first.evidence.gain
    assert second.evidence.names_candidate
    restored = type(second).from_state(second.to_state(), second.features.encoder, second.features.cache)
    assert restored.evidence == second.evidence
