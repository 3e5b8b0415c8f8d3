"""Further choices of an op's domains, by which its cases show every feature that they promise (`wanted`).

Covering arrays promise that values of axes meet. Which sizes and attributes an instruction then has, its domain's
function decides: it takes the nearest values that fit. So this looks at what choices show, and adds what is missing.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence

import numpy as np

from xla_conformance.ops.choices import Choice, draw_choice, members
from xla_conformance.ops.domain import Domain
from xla_conformance.ops.domains import DOMAINS
from xla_conformance.ops.element_types import USUAL
from xla_conformance.ops.features import Feature
from xla_conformance.ops.wanted import wanted_features
from xla_core.hlo import Opcode

Chosen = tuple[Domain, Choice]

_TRIES = 400
"""After so many choices that don't show a feature it is left to a person, who gives it a domain or a reason."""
_SIZES = ("size", "place")


def completing_choices(opcode: Opcode, chosen: Sequence[Chosen], seed: int, every_type: bool) -> Iterator[Chosen]:
    """Yields choices that show the features which those chosen lack.

    With `every_type`, these are sizes and their places. Quick's cases, which every profile has, show the rest.
    """
    wanted = wanted_features(opcode, every_type)
    unmet = dict.fromkeys(f for f in wanted if f[0] in _SIZES or not every_type)
    domains = DOMAINS.get(opcode, ())
    for domain in domains:
        unmet = {f: None for f in unmet if f not in domain.shown_by_quick(seed)}
    _take_shown(unmet, sorted(chosen, key=lambda one: bool(one[0].shown_by_quick(seed))))
    random = np.random.default_rng([seed, zlib.crc32(opcode.encode())])
    for feature in list(unmet):
        for _ in range(_TRIES if domains and feature in unmet else 0):
            drawn = _drawn(domains, feature, random)
            shown = drawn[0].features(drawn[1])
            if feature in shown:
                unmet = {f: None for f in unmet if f not in shown}
                yield drawn
                break


def _take_shown(unmet: dict[Feature, None], chosen: Sequence[Chosen]) -> None:
    """Takes the features away that a choice shows. For a size, it looks first at the choices of that size."""
    of_sizes: dict[str, list[int]] = {}
    for number, (_, choice) in enumerate(chosen):
        of_sizes.setdefault(str(choice.values.get("size")), []).append(number)
    left = dict.fromkeys(range(len(chosen)))
    for feature in list(unmet):
        for number in (*of_sizes.get(_size(feature), ()), *left):
            if feature not in unmet:
                break
            if number in left:
                del left[number]
                domain, choice = chosen[number]
                for shown in domain.features(choice):
                    unmet.pop(shown, None)


def _size(feature: Feature) -> str:
    return feature[1].partition(" ")[0] if feature[0] in _SIZES else ""


def _drawn(domains: Sequence[Domain], feature: Feature, random: np.random.Generator) -> Chosen:
    """Draws a domain and a choice, in which any value may be but those that the feature decides."""
    domain = domains[int(random.integers(len(domains)))]
    sized = {"size": (*domain.sizes, *domain.hiding), "place": domain.places} if domain.sizes else {}
    types = [t for t in domain.accepted if t in USUAL] or domain.accepted
    sizes = [n for n in members(sized.get("size", ())) if str(n) == _size(feature)]
    return domain, draw_choice({"type": types, **domain.axes, **sized}, random, **({"size": sizes[0]} if sizes else {}))
