"""Compares cases that are drawn by chance from the domains of each op with the reference evaluator."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from xla_conformance.claims import NotSupported, held_types, not_supported
from xla_conformance.ops.drawn import DRAWN, drawn_cases, together
from xla_conformance.ops.drawn_runs import require_group
from xla_core import Client
from xla_core.hlo import Opcode
from xla_core.target import TargetConfig

_AT_ONCE = 32
"""The cases of a test. Those of the same level and layouts are one program."""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "opcode" in metafunc.fixturenames:
        tests = [(opcode, first) for opcode, count in DRAWN.items() for first in range(0, count, _AT_ONCE)]
        metafunc.parametrize(("opcode", "first"), tests, ids=[f"{opcode}-{first}" for opcode, first in tests])


@pytest.mark.profile("full")
def test_drawn_cases(
    backend: str,
    client: Client,
    target: TargetConfig,
    opcode: Opcode,
    first: int,
    seed: int,
    record_property: Callable[[str, object], None],
) -> None:
    """Cases in which types, sizes, attributes, orders of values, constants and neighbours meet by chance."""
    record_property("opcode", opcode)
    cases = [d for d in drawn_cases(opcode, seed, first, _AT_ONCE) if d.case.element_type in held_types(backend)]
    if target.flushes_products:
        cases = [drawn for drawn in cases if not drawn.case.has_denormal_products]
    if not cases:
        not_supported("the device holds none of the types that the cases have, or takes denormal numbers as zeros")
    lacks: list[NotSupported] = []
    supported = False
    for group in together(cases):
        try:
            supported |= require_group(client, target, group, seed)
        except NotSupported as error:
            lacks.append(error)
    if lacks and not supported:
        raise lacks[0]
