"""Compares every op of the table, in each element type that the backend claims, with the reference evaluator."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from xla_conformance.ops import OpCase, generate
from xla_conformance.ops.comparison import check
from xla_conformance.plugin import held_types, not_supported
from xla_core import Client


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    config = metafunc.config
    every_type = config.getoption("xla_profile") != "quick"
    cases = list(generate(seed=config.getoption("xla_seed"), every_type=every_type))
    metafunc.parametrize("case", cases, ids=lambda case: case.name)


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
