"""A fault at one combination of special values is noticed by the cases of the op, in every element type."""

from __future__ import annotations

import itertools
import warnings

import numpy as np
import pytest
from xla_conformance.accuracy.real_functions.formats import format_of
from xla_conformance.ops.contexts import ALONE
from xla_conformance.ops.elementwise import ValueCase, value_cases
from xla_conformance.ops.elementwise_forms import simple_forms
from xla_conformance.ops.values_points import edges

from tests.conformance.zoo.points import changed_value, point_values
from xla_core.hlo import OPS, ElementType, Opcode, Trait

TYPES = [ElementType(t) for t in ("pred", "s4", "s8", "u16", "s32", "u64", "f8e4m3b11fnuz", "bf16", "f32", "f64")]
OPCODES = [o for o, op in OPS.items() if op.is_elementwise and isinstance(op.arity, int) and o != "copy"]


def keys(arrays: list[np.ndarray]) -> np.ndarray:
    """A hash of the bits of each combination of elements."""
    key = np.zeros(arrays[0].size, np.uint64)
    for a in arrays:
        width = ElementType.from_numpy(a.dtype).bit_width
        bits = np.ascontiguousarray(a).view(f"u{a.dtype.itemsize}").ravel().astype(np.uint64)
        key = key * np.uint64(0x9E3779B97F4A7C15) + (bits & np.uint64((1 << width) - 1))
    return key


@pytest.mark.parametrize("opcode", ["divide", "remainder", "multiply", "maximum"])
def test_integers_and_floats_meet_constants_in_the_quick_profile(opcode: str) -> None:
    """A pass that makes a shift of a division sees the divisor."""
    cases = value_cases(opcodes=[Opcode(opcode)])
    met = {(case.element_type.is_integral, case.form.constant) for case in cases if case.form.constant is not None}
    assert met == set(itertools.product((False, True), (0, 1)))


@pytest.mark.parametrize("opcode", OPCODES)
def test_every_point_is_met_and_noticed(opcode: str) -> None:
    warnings.simplefilter("ignore")
    missed = []
    for element in TYPES:
        for form in simple_forms(OPS[opcode], element)[:1]:
            if form.results and Trait.BITWISE in OPS[opcode].traits:
                continue  # the dimensions of operand and result differ
            case = ValueCase(form, ALONE, 0)
            (arguments,) = case.arguments()
            (expected,) = case.expected(arguments)
            lists = [point_values(t) for t in form.operands]
            wanted = keys(
                [
                    np.array(x, values.dtype)
                    for x, values in zip(zip(*itertools.product(*lists), strict=True), lists, strict=True)
                ]
            )
            met = np.isin(keys(list(arguments)), wanted)
            found = np.unique(keys(list(arguments))[met])
            missed += [f"{case.name}: {np.setdiff1d(np.unique(wanted), found).size} points not met"] * (
                found.size != np.unique(wanted).size
            )
            got = expected.value.copy()
            got.reshape(-1)[met] = changed_value(got).reshape(-1)[met]
            ignored = np.zeros(met.shape, bool) if expected.free is None else expected.free.ravel()
            ignored |= (got == expected.value).ravel() & ~_zeros(got)
            if expected.wide is not None:  # the least numbers, and those at the limit of overflow, are within the rule
                wide, form_of = np.abs(expected.wide).ravel(), format_of(element)
                ignored |= (wide > 0) & (wide < 8 * form_of.least)
                ignored |= np.isinf(expected.value.astype(np.float64)).ravel() & (wide < 1.2 * form_of.largest)
            unseen = met & ~expected.wrong(got).ravel() & ~ignored
            if unseen.any():
                at = [a.ravel()[unseen][0] for a in arguments]
                missed.append(f"{case.name}: {np.count_nonzero(unseen)} faults not noticed, at {at}")
    assert missed == []


def _zeros(array: np.ndarray) -> np.ndarray:
    """Which elements are zeros whose sign counts."""
    element = ElementType.from_numpy(array.dtype)
    if not element.is_floating or not format_of(element).has_negative_zero:
        return np.zeros(array.size, bool)
    return (array == 0).ravel()


def test_edges_are_found_from_both_sides() -> None:
    found = edges(ElementType.F32, lambda x: np.exp(x.astype(np.float64)).astype(np.float32))
    largest = np.float32(88.72283)  # exp of the next number is infinite
    assert {largest, np.nextafter(largest, np.float32(89))} <= set(found)
    with np.errstate(over="ignore"):
        results = np.exp(found.astype(np.float64)).astype(np.float32)
    for value in (np.inf, 0.0, 1.0):
        assert value in results
    assert results[results > 0].min() == np.finfo(np.float32).smallest_subnormal
