"""The cases cover the op table, and the reference evaluator is within their tolerances."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from xla_conformance.ops import OpCase, generate
from xla_conformance.ops.element_types import USUAL
from xla_conformance.programs import PROGRAMS

import xla_core
from tests.conformance.stored_programs import manifest_entry, without_locations
from tests.programs import PROGRAMS as EXPORTED
from xla_core.analysis import HloCostAnalysis
from xla_core.hlo import OPS, ElementType, Trait

CASES = list(generate())
OPCODES = sorted({case.opcode for case in CASES})
SAMPLE = [case for opcode in OPCODES for case in [c for c in CASES if c.opcode == opcode][::3]]
"""Every third case of each op."""


def test_names_are_unique() -> None:
    assert len({case.name for case in CASES}) == len(CASES)


def test_operands_are_those_of_the_op_under_test() -> None:
    """An elementwise op has as many as it takes, whatever computes them."""
    for case in SAMPLE:
        op = OPS[case.opcode]
        if Trait.ELEMENTWISE in op.traits and isinstance(op.arity, int):
            assert len(case.operands(0)) == op.arity, case.name


def test_common_types_are_covered() -> None:
    by_type = {t: {c.opcode for c in CASES if c.element_type is t} for t in ElementType}
    assert len(by_type[ElementType.F32]) > 75
    for t in ElementType:
        assert not t.is_array or len(by_type[t]) > 15, t


def test_operands_without_elements_have_results() -> None:
    """Sums of nothing, initial values and padding: they need no elements."""
    found = set()
    for case in CASES:
        module = case.module()
        for instruction in (i for c in module.computations for i in c.instructions if i.opcode == case.opcode):
            operands = [leaf for operand in instruction.operands for leaf in operand.shape.array_leaves()]
            if not all(leaf.num_elements for leaf in operands) and instruction.shape.array_leaves()[0].num_elements:
                found.add((str(case.opcode), case.element_type))
    for opcode in ("reduce", "dot"):
        assert {element for name, element in found if name == opcode} >= set(USUAL), opcode
    others = {"reduce-window", "convolution", "pad", "concatenate", "scatter", "gather", "dynamic-update-slice"}
    assert {name for name, _ in found} >= others


@pytest.mark.parametrize("opcode", OPCODES)
@pytest.mark.parametrize("cases", [SAMPLE, pytest.param(CASES, marks=pytest.mark.slow)], ids=["sample", "all"])
def test_the_evaluator_is_within_its_own_tolerance(opcode: str, cases: list[OpCase]) -> None:
    wrong: list[str] = []
    for case in cases:
        if case.opcode == opcode:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                results = xla_core.evaluate(case.module(), *case.arguments())
                wrong += [
                    f"{case.name}: {np.count_nonzero(e.wrong(r))} wrong"
                    for r, e in zip(results, case.expected(), strict=True)
                    if e.wrong(r).any()
                ]
    assert wrong == []


def test_a_wrong_result_is_out_of_tolerance() -> None:
    """The result is off by one ULP for exact ops, and by a hundredth for other ops."""
    for case in CASES:
        if case.element_type not in (ElementType.F32, ElementType.S32) or case.opcode in ("iota", "while", "rng"):
            continue
        results = list(xla_core.evaluate(case.module(), *case.arguments()))
        if not results or not results[0].size or results[0].dtype.name not in ("float32", "int32", "bool", "complex64"):
            continue
        right, results[0] = results[0], _nudged(results[0], exact=case.rule.is_exact)
        if np.array_equal(right, results[0], equal_nan=right.dtype.kind in "fc"):
            continue  # it is infinite
        assert case.expected()[0].wrong(results[0]).any(), case.name


def _nudged(array: np.ndarray, *, exact: bool) -> np.ndarray:
    if array.dtype.kind in "biu":
        return array ^ array.dtype.type(1)
    if exact and array.dtype.kind == "f":
        return np.where(np.isfinite(array), np.nextafter(array, array.dtype.type(7)), array.dtype.type(0))
    with np.errstate(all="ignore"):
        return (array * array.dtype.type(1.01) + array.dtype.type(1e-3)).astype(array.dtype)


@pytest.mark.parametrize("opcode", ["reduce-window", "select-and-scatter", "convolution"])
def test_windows_do_not_take_seconds(opcode: str) -> None:
    """A processor does 1e8 operations of such a window in about a second without optimization."""
    operations = {case.name: HloCostAnalysis(case.module()).module().flops for case in CASES if case.opcode == opcode}
    assert {name: count for name, count in operations.items() if count > 1e8} == {}


def test_arguments_repeat_and_differ() -> None:
    case: OpCase = next(c for c in CASES if c.name.startswith("divide-f32"))
    first, second = case.arguments(), case.arguments()
    for a, b in zip(first, second, strict=True):
        np.testing.assert_array_equal(a, b)
    assert not np.array_equal(first[0], first[1], equal_nan=True)
    arguments = [a for c in CASES if c.name.startswith("divide-f32") for a in c.arguments()]
    assert any(np.isnan(a).any() for a in arguments)
    assert any(np.isinf(a).any() for a in arguments)


@pytest.mark.parametrize(
    "program", [p for p in PROGRAMS if any(e.name == p.name for e in EXPORTED)], ids=lambda p: p.name
)
def test_programs_are_those_that_jax_exported(program: object) -> None:
    exported = next(p for p in EXPORTED if p.name == program.name)
    assert program.text == without_locations(exported.text)
    assert [list(r) for r in manifest_entry(exported)["arguments"]] == [[list(d), *rest] for d, *rest in program.ranges]
    assert [str(a.dtype) for a in program.arguments()] == [a.dtype for a in exported.arguments]
