"""The kernel form of fft: its lengths. tests/backends/cpu/test_fft.py tests its results."""

from __future__ import annotations

import numpy as np

from tests.xla_core.codegen.llvm.kernels import Loaded, array, random_array
from xla_core.codegen.llvm.forms.fft.bluestein import convolution_length
from xla_core.codegen.llvm.forms.fft.stockham import factors_of
from xla_core.hlo.computation import HloComputation
from xla_core.hlo.element_type import ElementType


def test_lengths_are_products_of_small_radices_or_convolutions():
    for length in range(1, 3000):
        factors = factors_of(length)
        if factors is not None:
            assert np.prod(factors, dtype=int) == length
        whole = convolution_length(length)
        assert length <= whole < 2 * length + 1
        assert factors_of(whole) is not None
    assert factors_of(4 * 4 * 3 * 13) == [4, 4, 3, 13]
    assert factors_of(2 * 17) is None
    assert [convolution_length(n) for n in (1, 7, 11, 13, 17)] == [1, 8, 12, 15, 20]


def test_rows_are_units_of_the_kernel():
    shape = array(ElementType.C64, 5, 12)
    computation = HloComputation("c")
    fft = computation.add("fft", computation.parameter(0, shape), fft_type="FFT", fft_length=(12,))
    x = random_array(shape)
    kernel = Loaded(fft)
    assert kernel.kernel.partition_count == 5
    np.testing.assert_allclose(kernel(x)[0], np.fft.fft(x), rtol=1e-5, atol=1e-5)
