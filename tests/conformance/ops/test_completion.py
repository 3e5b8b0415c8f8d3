"""What cases promise to show is added where the chosen ones lack it."""

from __future__ import annotations

import dataclasses

import pytest
from xla_conformance.ops.choices import Choice
from xla_conformance.ops.completion import completing_choices
from xla_conformance.ops.coverage import uncovered, unmet_pairs
from xla_conformance.ops.domain import Domain
from xla_conformance.ops.domains import DOMAINS
from xla_conformance.ops.wanted import wanted_features

from xla_core.hlo import Opcode


def _chosen(opcode: Opcode, *, every_type: bool) -> list[tuple[Domain, Choice]]:
    return [(domain, choice) for domain in DOMAINS[opcode] for choice in domain.choices(0, every_type)]


@pytest.mark.parametrize("opcode", [Opcode.REVERSE, Opcode.PAD, Opcode.ADD])
@pytest.mark.parametrize("every_type", [False, True], ids=["quick", "full"])
def test_sizes_that_no_choice_has_are_added(opcode: Opcode, every_type: bool) -> None:
    chosen = _chosen(opcode, every_type=every_type)[::9]
    added = list(completing_choices(opcode, chosen, 0, every_type))
    shown = {feature for domain, choice in (*chosen, *added) for feature in domain.features(choice)}
    quick = {feature for domain in DOMAINS[opcode] for feature in domain.shown_by_quick(0)}
    assert set(wanted_features(opcode, every_type)) - shown - quick == set()
    assert added == [] or len({str(choice) for _, choice in added}) == len(added)
    again = list(completing_choices(opcode, chosen, 0, every_type))
    assert [str(choice) for _, choice in again] == [str(choice) for _, choice in added]
    assert list(completing_choices(opcode, [*chosen, *added], 0, every_type)) == []


def test_a_place_that_no_choice_has_is_added() -> None:
    both = (chosen for every_type in (False, True) for chosen in _chosen(Opcode.REVERSE, every_type=every_type))
    chosen = [(domain, choice) for domain, choice in both if choice.size != 127]
    added = [choice for _, choice in completing_choices(Opcode.REVERSE, chosen, 0, True)]
    assert {choice.size for choice in added} == {127}
    assert 0 < len(added) <= 5


def test_an_op_without_a_domain_is_left_to_coverage(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(DOMAINS, Opcode.REVERSE)
    assert list(completing_choices(Opcode.REVERSE, [], 0, False)) == []
    assert ("reverse", "size", "7") in uncovered([])


@pytest.mark.parametrize("reversed", [("chosen", "first", "last", "all", "others", "ends"), ("others", "last")])
def test_each_type_still_shows_each_value(reversed: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    """If an axis has other values, everything is chosen otherwise. Then sizes, places and pairs are there, too."""
    domain = next(domain for domain in DOMAINS[Opcode.REVERSE] if not domain.variant)
    changed = dataclasses.replace(domain, axes={**domain.axes, "reversed": reversed})
    monkeypatch.setitem(DOMAINS, Opcode.REVERSE, [changed])
    for seed in range(3, 5):
        assert unmet_pairs(Opcode.REVERSE, seed) == []
        quick, full = (list(changed.choices(seed, every_type)) for every_type in (False, True))
        chosen = [(changed, choice) for choice in (*quick, *full)]
        chosen += completing_choices(Opcode.REVERSE, chosen, seed, True)
        shown = {feature for _, choice in chosen for feature in changed.features(choice)}
        assert set(wanted_features(Opcode.REVERSE, True)) - shown == set()
