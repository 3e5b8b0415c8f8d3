"""Finds the values of attributes, element types and sizes that no case of an op covers. There should be none.

It is computed from the instructions of the cases' modules and from the op table, not from the domains.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator

from xla_conformance.ops.cases import OpCase
from xla_conformance.ops.choices import has
from xla_conformance.ops.domains import DOMAINS
from xla_conformance.ops.element_types import EVERY, USUAL
from xla_conformance.ops.features import Feature, features_of
from xla_conformance.ops.reasons import NO_CASE, is_no_pair
from xla_conformance.ops.wanted import has_reason, wanted_features
from xla_core.hlo import OPS, ElementType, Opcode

Line = tuple[str, str, str]
"""(opcode, attribute or "type", "size" or "operands", value)."""


def uncovered(cases: Iterable[OpCase], *, every_type: bool = True) -> list[Line]:
    """Returns the values of the op table that no case covers.

    With `every_type`, every element type has to be met, and every size: as the one dimension of an array, and as the
    first, the last, and one between. Without it, one of each group of sizes does.
    """
    seen = {line for case in cases for line in met(case)}
    return sorted(line for line in _wanted(every_type) if line not in seen)


def _wanted(every_type: bool) -> Iterator[Line]:
    """Yields the values that cases have to meet, but for those that have a reason to be left out."""
    for opcode in OPS:
        if opcode not in NO_CASE:
            yield from ((opcode.value, *feature) for feature in wanted_features(opcode, every_type))
            types = [t.value for t in _accepted_types(opcode)] if every_type else []
            yield from ((opcode.value, "type", t) for t in types if not has_reason(opcode, "type", t))


def met(case: OpCase) -> Iterator[Line]:
    """Yields the values that the instructions of a case have."""
    opcode = case.opcode
    yield opcode.value, "type", case.element_type.value
    for computation in case.module().computations:
        for instruction in computation.instructions:
            if instruction.opcode == opcode:
                yield from ((opcode.value, *line) for line in features_of(instruction))


def _accepted_types(opcode: Opcode) -> list[ElementType]:
    return [t for t in EVERY if any(d.builds(t) for d in DOMAINS.get(opcode, ()))]


def unmet_pairs(opcode: Opcode, seed: int) -> list[Line]:
    """Returns each (domain, what, type or value) that no case of the quick profile covers, except those in `NO_PAIR`.

    These are values (of attributes, sizes, ranks) that a domain shows in some type but not in another usual one; values
    of two axes that are in no case together; and values that are in no case with a place and a size (`Domain.wanted`).
    """
    unmet: list[Line] = []
    for domain in DOMAINS.get(opcode, ()):
        if not domain.shows_each_value:
            continue
        choices = list(domain.choices(seed, every_type=False))
        shown: dict[ElementType, set[Feature]] = {}
        for choice in choices:
            shown.setdefault(choice.type, set()).update(domain.shown(choice, choice.type))
        every = set[Feature]().union(*shown.values())
        lines = [(feature, t) for t in shown if t in USUAL for feature in every - shown[t]]
        unmet += [(domain.name, " ".join(f), t.value) for f, t in lines if not is_no_pair(domain.name, f, t)]
        met = {pair for choice in choices for pair in itertools.combinations(domain.places_of(choice), 2)}
        wanted = itertools.combinations(domain.axis_values(), 2)
        unmet += [(domain.name, str(a), str(b)) for a, b in wanted if a[0] != b[0] and (a, b) not in met]
        missing = [w for w in domain.wanted() if not any(has(choice, w) for choice in choices)]
        unmet += [(domain.name, "three values", str(w)) for w in missing]
    return sorted(unmet)


def count_triples(seed: int = 0) -> tuple[int, int, int]:
    """Returns how many triples of values of three axes the domains have, and how many cases of quick and full have.

    The axes are the attributes, ranks, classes of element types, sizes and places of a dimension. Domains of which
    not all pairs meet have none.
    """
    total, quick, full = 0, 0, 0
    for domain in itertools.chain.from_iterable(DOMAINS.values()):
        if domain.pairs:
            triples = domain.triples(domain.choices(seed, every_type=False))
            quick += triples.count
            for choice in domain.choices(seed, every_type=True):
                triples.take(choice)
            total, full = total + triples.total, full + triples.count
    return total, quick, full
