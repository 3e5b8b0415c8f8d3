"""Compares cases that are drawn by chance from the domains of each op with the reference evaluator."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from xla_conformance.claims import NotSupported, held_types, not_supported
from xla_conformance.failures import Failure
from xla_conformance.ops.comparison import check
from xla_conformance.ops.contexts import Context, place
from xla_conformance.ops.drawn import DRAWN, DrawnCase, drawn_cases, together
from xla_conformance.ops.executions import before_for, device_for, run
from xla_conformance.ops.joint import join
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
            supported |= _require_group(client, target, group, seed)
        except NotSupported as error:
            lacks.append(error)
    if lacks and not supported:
        raise lacks[0]


def _require_group(client: Client, target: TargetConfig, group: Sequence[DrawnCase], seed: int) -> bool:
    """Runs cases as one program, and alone if that one is wrong. Returns whether the target supports some of them."""
    try:
        _require_right(client, target, group, seed)
        return True
    except (Failure, NotSupported) as error:
        failed = error
    lacks: list[NotSupported] = []
    for drawn in group:
        try:
            _require_right(client, target, [drawn], seed)
        except NotSupported as error:
            lacks.append(error)
    if isinstance(failed, Failure) or len(lacks) == len(group):
        raise failed
    return True


def _require_right(client: Client, target: TargetConfig, group: Sequence[DrawnCase], seed: int) -> None:
    context = group[0].context
    parts = [place(d.case.program.module, d.inner_context, d.case.arguments(), layouts=target.layouts) for d in group]
    whole = join(parts) if len(parts) > 1 else parts[0]
    whole = place(
        whole.module, Context(layouts=context.layouts, level=context.level), whole.arguments, layouts=target.layouts
    )
    name = group[0].name
    (results,) = run(client, [whole], device=device_for(client, name), before=before_for(name))
    for drawn in group:
        case, expected = drawn.case, drawn.case.expected()
        mine, results = results[: len(expected)], results[len(expected) :]
        check(
            f"{case.opcode} of {case.element_type} must be the reference evaluator's result by the rule {case.rule}, "
            f"here {drawn.name}:",
            mine,
            expected,
            module=whole.module,
            arguments=whole.arguments,
            operands=case.operands,
            seed=seed,
        )
