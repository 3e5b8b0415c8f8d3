"""The kernel form of fft: its lengths. tests/backends/cpu/test_fft.py tests its results."""

from __future__ import annotations

import numpy as np
import pytest

from tests.xla_core.codegen.llvm.block_threads import ThreadsAbi
from tests.xla_core.codegen.llvm.kernels import Loaded, array, random_array
from xla_core.codegen.llvm.forms.fft.bluestein import convolution_length
from xla_core.codegen.llvm.forms.fft.stockham import factors_of
from xla_core.hlo.ir.computation import HloComputation
from xla_core.hlo.values.element_type import ElementType


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


SHAPES = {
    "FFT": (ElementType.C64, lambda n: n, np.fft.fft),
    "IFFT": (ElementType.C64, lambda n: n, np.fft.ifft),
    "RFFT": (ElementType.F32, lambda n: n, np.fft.rfft),
    "IRFFT": (ElementType.C64, lambda n: n // 2 + 1, np.fft.irfft),
}


def transform_on_threads(kind: str, n: int, rows: int, shared_bytes: int):
    """The kernel, its result and numpy's."""
    element_type, width, reference = SHAPES[kind]
    shape = array(element_type, rows, width(n))
    computation = HloComputation("c")
    fft = computation.add("fft", computation.parameter(0, shape), fft_type=kind, fft_length=(n,))
    x = random_array(shape)
    expected = reference(x.astype(np.complex128 if shape.element_type.is_complex else np.float64), n)
    kernel = ThreadsAbi(8, shared_bytes=shared_bytes).load(fft)
    return kernel.kernel, kernel(x)[0], expected


@pytest.mark.parametrize("shared_bytes", [1, 1 << 14])
@pytest.mark.parametrize("kind", SHAPES)
@pytest.mark.parametrize("n", [1, 2, 3, 8, 17, 30, 64, 97])
def test_rows_on_blocks(n: int, kind: str, shared_bytes: int) -> None:
    """In shared memory, or by phases: a byte of shared memory has room for rows without intermediates only."""
    kernel, got, expected = transform_on_threads(kind, n, 5, shared_bytes)
    assert (len(kernel.phases) > 1) == (shared_bytes == 1 and kernel.scratch_bytes > 0)
    np.testing.assert_allclose(got, expected, rtol=1e-4, atol=2e-5 * max(1, n))


def test_rows_of_several_on_a_block() -> None:
    kernel, got, expected = transform_on_threads("FFT", 12, 2000, 1 << 14)
    assert (kernel.threads, kernel.partition_count) == (8, 250)
    np.testing.assert_allclose(got, expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("n", [5000, 20011])
def test_long_rows_in_phases(n: int) -> None:
    """The tables of the second are computed once for all rows."""
    kernel, got, expected = transform_on_threads("FFT", n, 2, 1 << 14)
    assert len(kernel.phases) > 4
    np.testing.assert_allclose(got, expected, rtol=1e-3, atol=1e-3 * n**0.5)
