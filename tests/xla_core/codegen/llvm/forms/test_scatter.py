"""scatter: a computation of a wider type than the operands', which the result has too."""

from __future__ import annotations

import numpy as np
import pytest

import xla_core as xla

PROGRAM = """HloModule wider
mul {
  a = $W[] parameter(0)
  b = $W[] parameter(1)
  ROOT r = $W[] multiply(a, b)
}
ENTRY e {
  x = $T[4] parameter(0)
  i = s32[2,1] parameter(1)
  u = $T[2] parameter(2)
  ROOT r = $W[4] scatter(x, i, u), update_window_dims={}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=mul
}
"""


@pytest.mark.parametrize(("narrow", "wide"), [("f32", "f64"), ("c64", "c128"), ("s8", "s32"), ("bf16", "f32")])
def test_the_result_has_the_type_of_the_computation(narrow: str, wide: str) -> None:
    module = xla.parse(PROGRAM.replace("$T", narrow).replace("$W", wide))
    dtype = module.parameter_shapes[0].dtype
    arguments = [np.array([1, 2, 3, 4], dtype), np.array([[1], [2]], np.int32), np.array([2, 3], dtype)]
    (result,) = xla.Client("cpu").compile(module)(*arguments)
    np.testing.assert_array_equal(np.asarray(result).astype(np.complex128), [1, 4, 9, 4])
    (expected,) = xla.evaluate(module, *arguments)
    assert np.asarray(result).dtype == expected.dtype
