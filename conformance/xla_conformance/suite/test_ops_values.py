"""Compares elementwise ops with the reference evaluator where special values of their operands meet."""

from __future__ import annotations

import functools
from collections.abc import Callable

import pytest

from xla_conformance.chosen import may_be_chosen, passes_of
from xla_conformance.claims import held_types, not_supported
from xla_conformance.ops.comparison import check, sentence_of
from xla_conformance.ops.contexts import place
from xla_conformance.ops.elementwise import ValueCase, value_cases
from xla_conformance.ops.executions import before_for, device_for, run
from xla_conformance.ops.names import words_of_value_cases
from xla_core import Client
from xla_core.hlo import OPS
from xla_core.target import TargetConfig

_FUNCTION = "test_ops_values.py::test_values"


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    config = metafunc.config
    chosen = config.getoption("keyword"), config.getoption("xla_test")
    opcodes = [
        o for o in OPS if may_be_chosen(_FUNCTION, f"{o}-", *chosen, words=functools.partial(words_of_value_cases, o))
    ]
    cases: dict[str, ValueCase] = {}
    for every_type in passes_of(config.getoption("xla_profile")):
        for case in value_cases(seed=config.getoption("xla_seed"), every_type=every_type, opcodes=opcodes):
            cases.setdefault(case.name, case)
    metafunc.parametrize("case", cases.values(), ids=cases.keys())


def test_values(
    backend: str,
    client: Client,
    target: TargetConfig,
    case: ValueCase,
    seed: int,
    record_property: Callable[[str, object], None],
) -> None:
    record_property("opcode", case.opcode)
    record_property("element_type", case.element_type.value)
    held = case.without(held_types(backend))
    if held is None:
        not_supported(f"the device doesn't hold {', '.join(map(str, case.form.operands))} and a type of the results")
    case = held
    runs = case.arguments()
    executions = place(case.module(), case.context, runs[0], layouts=target.layouts).with_each(runs)
    largest = 0.0
    all_results = run(client, executions, device=device_for(client, case.name), before=before_for(case.name))
    for arguments, placed, results in zip(runs, executions, all_results, strict=True):
        ulp = check(
            f"{sentence_of(case.opcode, case.element_type, case.rule)}:",
            results,
            case.expected(arguments),
            module=placed.module,
            arguments=placed.arguments,
            operands=functools.partial(case.operands, arguments),
            seed=seed,
        )
        largest = max(largest, ulp)
    record_property("max_ulp", largest)
