"""Compares programs of two ops, where one takes the result of the other, with the reference evaluator.

Passes rewrite such pairs: they drop conversions, merge transposes and turn comparisons around. Each op may be right
alone.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import pytest

from xla_conformance.claims import held_types, not_supported
from xla_conformance.ops.comparison import check
from xla_conformance.ops.compositions import Composition, compositions
from xla_conformance.ops.contexts import Context, before_for, device_for, place, run
from xla_core import Client
from xla_core.target import TargetConfig


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    config = metafunc.config
    every = config.getoption("xla_profile") != "quick"
    found = list(compositions(config.getoption("xla_seed"), every=every))
    metafunc.parametrize("composition", found, ids=lambda composition: composition.name)


def test_one_op_after_another(
    backend: str,
    client: Client,
    target: TargetConfig,
    composition: Composition,
    seed: int,
    record_property: Callable[[str, object], None],
) -> None:
    record_property("opcode", composition.opcode)
    record_property("element_type", composition.element_type.value)
    composition = dataclasses.replace(composition, held=held_types(backend))
    module = composition.module() if composition.element_type in composition.held else None
    if module is None:
        not_supported(f"the device doesn't hold {composition.element_type} and a type of the results")
    arguments = composition.arguments(module, seed)
    expected = composition.expected(module, arguments)
    before, device = before_for(composition.name), device_for(client, composition.name)
    for level in composition.levels:
        placed = place(module, Context(level=level), arguments, layouts=target.layouts)
        (results,) = run(client, [placed], device=device, before=before)
        check(
            f"{composition.opcode} of another op's result must be the reference evaluator's result, "
            f"at optimization level {level}:",
            results,
            expected,
            module=module,
            arguments=arguments,
            operands=lambda number: composition.operands(module, arguments, number),
            seed=seed,
        )
