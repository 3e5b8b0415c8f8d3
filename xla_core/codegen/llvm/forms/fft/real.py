"""Spectra of real values, from and to spectra of complex values.

A row of even length n is transformed as n/2 complex values. A row of odd length is transformed as a complex one, half
of whose spectrum is kept.
"""

from __future__ import annotations

import numpy as np

from xla_core.codegen.llvm.forms.fft.complex_code import FftCode, Source, View
from xla_core.codegen.llvm.ir.module import Value


def separate(code: FftCode, packed: Source, out: View, half: int) -> None:
    """The spectrum of x from that of z[k] = x[2k] + i x[2k+1]:
    X[k] = (Z[k] + conj Z[h-k]) / 2 - i w^k (Z[k] - conj Z[h-k]) / 2, with w = exp(-i pi / h).
    """
    b = code.builder
    table = code.roots(-np.pi / half, half + 1)

    def one(k: Value) -> None:
        here = b.select(b.icmp("eq", k, b.int_(half)), b.int_(0), k)
        mirrored = b.select(b.icmp("eq", k, b.int_(0)), b.int_(0), b.sub(b.int_(half), k))
        z, (mr, mi) = packed.load(here), packed.load(mirrored)
        even = code.scaled(code.sum(z, (mr, b.fneg(mi))), 0.5)
        odd = code.scaled(code.difference(z, (mr, b.fneg(mi))), 0.5)
        turned = code.product(odd, table.load(k))
        out.store(k, code.sum(even, (turned[1], b.fneg(turned[0]))))

    code.each(half + 1, one)


def join(code: FftCode, spectrum: Source, packed: View, half: int) -> None:
    """Computes the inverse of `separate`, times two. It ignores the imaginary parts of the first and last values."""
    b = code.builder
    table = code.roots(np.pi / half, half)
    zero = b.float_(0.0, code.type)

    def one(k: Value) -> None:
        (xr, xi), (mr, mi) = spectrum.load(k), spectrum.load(b.sub(b.int_(half), k))
        at_end = b.icmp("eq", k, b.int_(0))
        x = (xr, b.select(at_end, zero, xi))
        mirrored = (mr, b.select(at_end, zero, b.fneg(mi)))
        turned = code.product(code.difference(x, mirrored), table.load(k))
        packed.store(k, code.sum(code.sum(x, mirrored), (b.fneg(turned[1]), turned[0])))

    code.each(half, one)


def mirror(code: FftCode, spectrum: Source, out: View, n: int) -> None:
    """Computes the whole spectrum of odd length n from its first half."""
    b = code.builder

    def first(k: Value) -> None:
        real, _ = spectrum.load(k)
        out.store(k, (real, b.float_(0.0, code.type)))

    def pair(i: Value) -> None:
        k = b.add(i, b.int_(1))
        real, imag = spectrum.load(k)
        out.store(k, (real, imag))
        out.store(b.sub(b.int_(n), k), (real, b.fneg(imag)))

    code.each(1, first)
    code.each(n // 2, pair)
