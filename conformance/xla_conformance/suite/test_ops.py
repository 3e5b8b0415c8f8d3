"""Compares every op of the table, in each element type that the backend claims, with the reference evaluator."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from xla_conformance.ops import OpCase, generate
from xla_conformance.ops.comparison import check
from xla_conformance.plugin import all_types, held_types, not_supported
from xla_core import Client
from xla_core.hlo import ElementType

QUICK = {ElementType.PRED, ElementType.S8, ElementType.S32, ElementType.U32, ElementType.BF16, ElementType.F32}
QUICK_RARE = {ElementType.F64, ElementType.C64}
"""Types that the quick profile tests only if an op has no other type, or has a case written for them."""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    config = metafunc.config
    types = all_types(config.getoption("xla_backend"))
    if config.getoption("xla_profile") == "quick":
        quick = [t for t in types if t in QUICK | QUICK_RARE]
        cases = [c for c in generate(quick, every_conversion=False) if _is_quick(c)]
    else:
        cases = list(generate(types))
    metafunc.parametrize("case", cases, ids=lambda case: case.name)


def _is_quick(case: OpCase) -> bool:
    return case.element_type in QUICK or (bool(case.variant) and case.element_type in QUICK_RARE)


def test_op(backend: str, client: Client, case: OpCase, record_property: Callable[[str, object], None]) -> None:
    record_property("opcode", case.opcode)
    record_property("element_type", case.element_type.value)
    if case.element_type not in held_types(backend):
        not_supported(f"the device holds no {case.element_type}")
    executable = client.compile(case.module())
    results = [np.asarray(r) for r in executable(*case.arguments())]
    largest = check(
        f"The device computes {case.name} by the rule {case.rule}.",
        results,
        case.expected(),
        module=case.module(),
        arguments=case.arguments(),
    )
    record_property("max_ulp", largest)
