"""Compares runs of ops that add floats with each other, on numbers whose sums are rounded."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from xla_conformance.claims import NotSupported, held_types, not_supported
from xla_conformance.ops.contexts import Context, place
from xla_conformance.ops.executions import device_for, run
from xla_conformance.ops.rounded import ADDING, rounded_arguments, rounded_cases
from xla_core import Client
from xla_core.hlo import Opcode
from xla_core.target import TargetConfig

_TIMES = 10
"""How many executions a case has. A backend may measure the first ones, and then go on with another kernel."""


@pytest.mark.promise("executable.equal-runs")
@pytest.mark.parametrize("opcode", ADDING, ids=str)
def test_rounded_sums_are_equal_each_time(
    backend: str,
    client: Client,
    target: TargetConfig,
    opcode: Opcode,
    seed: int,
    request: pytest.FixtureRequest,
    record_property: Callable[[str, object], None],
) -> None:
    """Each case runs with the same arguments several times, and by the contract alone."""
    record_property("opcode", opcode)
    if target.reorders_sums:
        not_supported("the target declares that it adds floats in any order")
    every = request.config.getoption("xla_profile") != "quick"
    lacks: NotSupported | None = None
    ran = False
    for case in rounded_cases(opcode, seed, every=every):
        if case.element_type not in held_types(backend):
            continue
        placed = place(case.program.module, Context(level=2), rounded_arguments(case), layouts=target.layouts)
        try:
            run(client, [placed], device=device_for(client, case.name), times=_TIMES)
            ran = True
        except NotSupported as error:
            lacks = error
    if not ran:
        raise lacks or NotSupported(f"the device holds no type of {opcode}'s cases")
