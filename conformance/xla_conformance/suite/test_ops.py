"""Compares every op of the table, in each element type that the backend claims, with the reference evaluator."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pytest

from xla_conformance.claims import held_types, not_supported
from xla_conformance.ops import OpCase, generate
from xla_conformance.ops.comparison import check
from xla_conformance.ops.contexts import Context, context_for, device_for, place, run
from xla_core import Client
from xla_core.hlo import OPS, Opcode, Trait
from xla_core.target import TargetConfig


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    config = metafunc.config
    every_type = config.getoption("xla_profile") != "quick"
    cases = list(generate(seed=config.getoption("xla_seed"), every_type=every_type))
    counts: Counter[Opcode] = Counter()
    contexts = []
    for case in cases:
        contexts.append(context_for(counts[case.opcode], case.opcode))
        counts[case.opcode] += 1
    ids = [f"{case.name}-{context}" for case, context in zip(cases, contexts, strict=True)]
    metafunc.parametrize(("case", "context"), zip(cases, contexts, strict=True), ids=ids)


def test_op(
    backend: str,
    client: Client,
    target: TargetConfig,
    case: OpCase,
    context: Context,
    seed: int,
    record_property: Callable[[str, object], None],
) -> None:
    record_property("opcode", case.opcode)
    record_property("element_type", case.element_type.value)
    if case.element_type not in held_types(backend):
        not_supported(f"the device holds no {case.element_type}")
    if target.flushes_products and case.has_denormal_products:
        not_supported("the target declares that products take denormal numbers as zeros")
    placed = place(case.module(), context, case.arguments(), layouts=target.layouts)
    deterministic = Trait.NONDETERMINISTIC not in OPS[case.opcode].traits
    (results,) = run(client, [placed], device=device_for(client, case.name), deterministic=deterministic)
    largest = check(
        f"{case.opcode} of {case.element_type} must be the reference evaluator's result by the rule {case.rule}:",
        results,
        case.expected(),
        module=placed.module,
        arguments=placed.arguments,
        operands=case.operands,
        seed=seed,
    )
    record_property("max_ulp", largest)
