"""Compares runs of ops that add floats with each other, on numbers whose sums are rounded."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest

from xla_conformance.claims import NotSupported, held_types, not_supported
from xla_conformance.ops.contexts import Context, place
from xla_conformance.ops.executions import device_for, run
from xla_conformance.ops.rounded import ADDING, first_result, rounded_arguments, rounded_cases
from xla_core import Client, CompileOptions
from xla_core.hlo import HloModule, Opcode
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
    """Each case runs with the same arguments several times, and by the contract alone.

    The arguments change places, and in between the program of the first result runs, more or less often.
    """
    record_property("opcode", opcode)
    if target.reorders_sums:
        not_supported("the target declares that it adds floats in any order")
    every = request.config.getoption("xla_profile") != "quick"
    lacks: NotSupported | None = None
    ran = False
    for case in rounded_cases(opcode, seed, every=every):
        if case.element_type not in held_types(backend):
            continue
        arguments = rounded_arguments(case)
        placed = place(case.program.module, Context(level=2), arguments, layouts=target.layouts)
        device = device_for(client, case.name)
        try:
            between = _by_turns(client, first_result(case), arguments, device)
            run(client, [placed], device=device, times=_TIMES, between=between)
            ran = True
        except NotSupported as error:
            lacks = error
    if not ran:
        raise lacks or NotSupported(f"the device holds no type of {opcode}'s cases")


def _by_turns(
    client: Client, module: HloModule | None, arguments: Sequence[np.ndarray], device: int
) -> Callable[[int], object]:
    """Returns what runs a module not at all, once or twice, by turns."""
    if module is None:
        return lambda number: None
    executable = client.compile(module, CompileOptions(device_assignment=((device,),) if device else None))
    return lambda number: [executable(*arguments) for _ in range(number % 3)]
