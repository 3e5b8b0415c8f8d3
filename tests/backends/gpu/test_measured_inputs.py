"""The values that kernels are measured with."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("xla_backend_gpu", reason="xla-backend-gpu is not installed")

from xla_backend_gpu.measured_inputs import index_bound, values

import xla_core as xla
from xla_core.hlo import ElementType as T

ROWS = """HloModule rows
ENTRY e {
  x = f32[70,1000] parameter(0)
  i = s32[50] parameter(1)
  ROOT g = f32[50,1000] gather(x, i), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0},
    index_vector_dim=1, slice_sizes={1,1000}
}
"""


def test_indices_are_those_of_elements() -> None:
    gather = xla.parse(ROWS).entry.root
    assert index_bound(gather) == 70
    found = values(T.S32, 4 * 50, index_bound(gather)).view(np.int32)
    assert found.size == 50
    assert 0 <= found.min() < found.max() < 70
    assert np.unique(found).size > 20


@pytest.mark.parametrize("element_type", [T.PRED, T.S8, T.U32, T.S64, T.F16, T.BF16, T.F64, T.C64, T.F8E4M3FN, T.S4])
def test_values_of_a_type_differ(element_type: T) -> None:
    found = values(element_type, 1 << 10, 0)
    assert 0 < found.size <= 1 << 10
    assert np.unique(found.view(element_type.dtype).astype(np.complex128)).size > 1


def test_a_large_operand_repeats_values() -> None:
    assert values(T.F32, 1 << 30, 0).size == 1 << 20
