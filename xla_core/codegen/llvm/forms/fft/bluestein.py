"""Transforms of any length, as a circular convolution whose length is a product of small factors.

(Bluestein: "A linear filtering approach to the computation of discrete Fourier transform", 1970.)
"""

from __future__ import annotations

import math

import numpy as np

from xla_core.codegen.llvm.forms.fft.complex_code import FftCode, Source, View
from xla_core.codegen.llvm.forms.fft.stockham import factors_of, stockham
from xla_core.codegen.llvm.ir.module import Value

_LONG = 1 << 15  # entries; longer tables are computed once a call instead of being constants

Tables = tuple[Source, Source]
"""c[k] = exp(-i pi k^2 / n) for k < n, and the transform of conj c[k] for -n < k < n, divided by its length."""


def is_long(n: int) -> bool:
    """Returns whether the tables for a length are too long to be constants."""
    return convolution_length(2 * n - 1) > _LONG


def convolution_length(least: int) -> int:
    """Returns the smallest 2^a 3^b 5^c >= least with b, c <= 1."""
    return min(odd << max(math.ceil(math.log2(least / odd)), 0) for odd in (1, 3, 5, 15))


def bluestein(
    code: FftCode, source: Source, target: View, n: int, inverse: bool, scale: float, tables: Tables | None
) -> None:
    """X[k] = c[k] sum_j (x[j] c[j]) conj c[k-j], with c[k] = exp(-i pi k^2 / n): a convolution of length M.

    `tables` are c and the transformed conj c where `compute_tables` computed them; None makes constants of them.
    """
    b, size = code.builder, convolution_length(2 * n - 1)
    factors = factors_of(size)
    assert factors is not None
    turns, filters = tables or _constant_tables(code, n, size, inverse)
    a, spectrum, *buffers = (code.planes(size) for _ in range(4))
    zero = b.float_(0.0, code.type)
    code.each(n, lambda i: a.store(i, code.product(source.load(i), turns.load(i))))
    code.each(size - n, lambda i: a.store(b.add(i, b.int_(n)), (zero, zero)))
    stockham(code, a, spectrum, factors, False, 1.0, buffers)
    code.each(size, lambda i: a.store(i, code.product(spectrum.load(i), filters.load(i))))
    stockham(code, a, spectrum, factors, True, 1.0, buffers)
    code.each(n, lambda i: target.store(i, code.scaled(code.product(spectrum.load(i), turns.load(i)), scale)))


def _constant_tables(code: FftCode, n: int, size: int, inverse: bool) -> Tables:
    k = np.arange(n, dtype=np.int64)
    chirp = np.exp((1j if inverse else -1j) * np.pi * (k * k % (2 * n)) / n)
    kernel = np.zeros(size, np.complex128)
    kernel[:n] = chirp.conj()
    kernel[size - n + 1 :] = chirp[1:][::-1].conj()
    return code.table(chirp), code.table(np.fft.fft(kernel) / size)


def compute_tables(code: FftCode, n: int, inverse: bool) -> Tables:
    """Emits the computation of the tables, once a call of the kernel."""
    b, size = code.builder, convolution_length(2 * n - 1)
    factors = factors_of(size)
    assert factors is not None
    with code.once():
        chirp, filters = code.planes(n), code.planes(size)
        with code.temporary():  # every row uses it again
            kernel, *buffers = (code.planes(size) for _ in range(3))
            roots = code.roots((1 if inverse else -1) * math.pi / n, 2 * n)
            zero = b.float_(0.0, code.type)

            def mirror(k: Value) -> None:
                real, imag = chirp.load(k)
                kernel.store(k, (real, b.fneg(imag)))
                kernel.store(b.urem(b.sub(b.int_(size), k), b.int_(size)), (real, b.fneg(imag)))

            code.each(n, lambda k: chirp.store(k, roots.load(b.urem(b.mul(k, k), b.int_(2 * n)))))
            code.each(size, lambda k: kernel.store(k, (zero, zero)))
            code.each(n, mirror)
            stockham(code, kernel, filters, factors, False, 1.0 / size, buffers)
    return chirp, filters
