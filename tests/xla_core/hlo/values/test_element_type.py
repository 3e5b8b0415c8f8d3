from __future__ import annotations

import subprocess
import sys
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from xla_core.hlo.values.element_type import ElementType

NARROW = [t for t in ElementType if t.is_array and t.bit_width <= 16 and t is not ElementType.BF16]
WIDE = [ElementType.F64, ElementType.F32, ElementType.BF16, ElementType.F16]
FLOATS = [t for t in ElementType if t.is_floating]


@pytest.mark.parametrize("kind", FLOATS)
def test_the_fields_of_floats_are_those_of_their_dtype(kind: ElementType) -> None:
    finfo: Any = ml_dtypes.finfo
    assert kind.mantissa_bits == finfo(kind.dtype).nmant
    sign = 1 if kind.has_zero else 0
    assert sign + kind.exponent_bits + kind.mantissa_bits == kind.bit_width


@pytest.mark.parametrize("kind", FLOATS)
def test_infinity_and_zero_are_where_the_dtype_holds_them(kind: ElementType) -> None:
    with np.errstate(all="ignore"):
        infinity, zero = np.array([np.inf, 0.0]).astype(kind.dtype).astype(np.float64)
    assert kind.has_infinity == np.isinf(infinity)
    assert kind.has_zero == (zero == 0)


def test_what_is_no_float_has_no_fields() -> None:
    for kind in ElementType:
        if not kind.is_floating:
            assert (kind.exponent_bits, kind.mantissa_bits) == (0, 0)
            assert kind.has_infinity == kind.is_complex
            assert kind.has_zero == kind.is_array


def test_no_two_types_have_one_name_in_mlir() -> None:
    code = """
from xla_core.hlo.values import element_type
source = open(element_type.__file__).read().replace('TUPLE = "tuple", 13', 'S1 = "s1", 30; TUPLE = "tuple", 13')
try:
    exec(compile(source, "element_type.py", "exec"), {"__name__": "changed"})
except ValueError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "the element types pred and s1 are both i1 in MLIR\n"


def every_value(element_type: ElementType) -> np.ndarray:
    if element_type is ElementType.PRED:
        return np.array([False, True])
    if element_type.is_integral:
        return np.arange(element_type.least, element_type.greatest + 1).astype(element_type.dtype)
    bits = np.arange(1 << element_type.bit_width)
    return bits.astype(f"u{element_type.byte_width}").view(element_type.dtype)


@pytest.mark.parametrize("narrow", NARROW)
def test_a_type_that_holds_another_keeps_each_of_its_values(narrow: ElementType) -> None:
    values = every_value(narrow)
    for wide in WIDE:
        if wide.holds(narrow):
            back = values.astype(wide.dtype).astype(narrow.dtype)
            nan = values != values
            np.testing.assert_array_equal(back != back, nan)
            assert back[~nan].tobytes() == values[~nan].tobytes(), wide


@pytest.mark.parametrize("narrow", NARROW)
def test_f32_holds_every_narrower_type_that_has_a_zero(narrow: ElementType) -> None:
    assert ElementType.F32.holds(narrow) == narrow.has_zero
