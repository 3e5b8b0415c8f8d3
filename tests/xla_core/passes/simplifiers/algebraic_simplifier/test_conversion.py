import numpy as np
import pytest

from xla_core.hlo.values.element_type import ElementType
from xla_core.passes.simplifiers.algebraic_simplifier.conversion import holds_all_of

NARROW = [t for t in ElementType if t.is_array and t.bit_width <= 16 and t is not ElementType.BF16]
FORMATS = [ElementType.F64, ElementType.F32, ElementType.BF16, ElementType.F16]


def every_value(element_type):
    if element_type is ElementType.PRED:
        return np.array([False, True])
    if element_type.is_integral:
        return np.arange(element_type.least, element_type.greatest + 1).astype(element_type.dtype)
    bits = np.arange(1 << element_type.bit_width)
    return bits.astype(f"u{element_type.byte_width}").view(element_type.dtype)


@pytest.mark.parametrize("narrow", NARROW)
def test_a_type_that_holds_another_keeps_each_of_its_values(narrow):
    values = every_value(narrow)
    for wide in FORMATS:
        if holds_all_of(wide, narrow):
            back = values.astype(wide.dtype).astype(narrow.dtype)
            nan = values != values
            np.testing.assert_array_equal(back != back, nan)
            assert back[~nan].tobytes() == values[~nan].tobytes(), wide


@pytest.mark.parametrize("narrow", NARROW)
def test_f32_holds_every_narrower_type_that_has_a_zero(narrow):
    assert holds_all_of(ElementType.F32, narrow) == narrow.has_zero
