"""Stockham's algorithm, for lengths with small prime factors (radix 4, 2, 3, 5, 7, 11, 13).

Each stage reads one buffer and writes another, which leaves the result in order. Twiddle factors are computed in
float64 and stored as constants; those of long transforms are products of two constants.

(Cochran et al., "What is the fast Fourier transform?", 1967.)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from xla_core.codegen.llvm.forms.fft.complex_code import TABLE, FftCode, Pair, Source, View
from xla_core.codegen.llvm.ir.module import Value

_RADICES = (4, 2, 3, 5, 7, 11, 13)


def factors_of(length: int) -> list[int] | None:
    """Radices whose product is `length`; None where a prime factor is larger than 13."""
    found = []
    for radix in _RADICES:
        while length % radix == 0:
            found.append(radix)
            length //= radix
    return found if length == 1 else None


def stockham(
    code: FftCode,
    source: Source,
    target: View,
    factors: Sequence[int],
    inverse: bool,
    scale: float,
    buffers: Sequence[View],
) -> None:
    """Sets `target` to `scale` times the transform of `source`, whose length is the product of `factors`.

    Source, target and buffers share no memory. `buffers` are two rows of that length. With two factors only one of them
    is used, with one factor none.
    """
    n, stride = math.prod(factors), 1
    if not factors:
        code.each(1, lambda k: target.store(k, code.scaled(source.load(k), scale)))
        return
    for number, radix in enumerate(factors):
        last = number == len(factors) - 1
        out = target if last else buffers[number % 2]
        _stage(code, source, out, radix, n, stride, inverse, scale if last else 1.0)
        source, n, stride = out, n // radix, stride * radix


def _stage(
    code: FftCode, source: Source, target: View, radix: int, n: int, stride: int, inverse: bool, scale: float
) -> None:
    """One stage: each of `stride` interleaved sequences of length n becomes `radix` sequences of length n/radix.

    target[q + stride (radix p + k)] = w^(p k) sum_j source[q + stride (p + m j)] exp(-2 pi i j k / radix)
    """
    b, m = code.builder, n // radix
    sign = 1 if inverse else -1

    def twiddles(p: np.ndarray) -> list[np.ndarray]:
        return [np.exp(sign * 2j * np.pi * (p * k % n) / n) for k in range(1, radix)]

    def butterflies(p: Value, factors: Sequence[Pair]) -> Callable[[Value], None]:
        def one(q: Value) -> None:
            read = b.add(q, b.mul(p, b.int_(stride)))
            values = [source.load(b.add(read, b.int_(stride * m * j))) for j in range(radix)]
            results = _butterfly(code, values, inverse)
            write = b.add(q, b.mul(p, b.int_(stride * radix)))
            for k, result in enumerate(results):
                if k and factors:
                    result = code.product(result, factors[k - 1])
                target.store(b.add(write, b.int_(stride * k)), code.scaled(result, scale))

        return one

    if m == 1:
        code.each(stride, butterflies(b.int_(0), ()))
        return
    low = m if m <= TABLE else _divisor(m)
    near = [code.table(t) for t in twiddles(np.arange(low))]
    if low == m:
        code.each_of([m, stride], lambda p: butterflies(p, [t.load(p) for t in near]))
        return
    far = [code.table(t) for t in twiddles(np.arange(0, m, low))]

    def across(high: Value) -> Callable[[Value], Callable[[Value], None]]:
        bases = [t.load(high) for t in far]

        def within(rest: Value) -> Callable[[Value], None]:
            factors = [code.product(f, t.load(rest)) for f, t in zip(bases, near, strict=True)]
            return butterflies(b.add(b.mul(high, b.int_(low)), rest), factors)

        return within

    code.each_of([m // low, low, stride], across)


def _butterfly(code: FftCode, values: Sequence[Pair], inverse: bool) -> list[Pair]:
    """Transforms as many values as the radix."""
    match len(values):
        case 2:
            return [code.sum(*values), code.difference(*values)]
        case 4:
            a, c, d, e = values
            even, odd = (code.sum(a, d), code.difference(a, d)), (code.sum(c, e), code.difference(c, e))
            turned = code.turned(odd[1], inverse)
            return [
                code.sum(even[0], odd[0]),
                code.sum(even[1], turned),
                code.difference(even[0], odd[0]),
                code.difference(even[1], turned),
            ]
    return _odd_butterfly(code, values, inverse)


def _odd_butterfly(code: FftCode, values: Sequence[Pair], inverse: bool) -> list[Pair]:
    """Values j and radix - j share a sum and a difference, which leaves products of a real and a complex number."""
    radix, first = len(values), values[0]
    half = radix // 2
    sums = [code.sum(values[k], values[radix - k]) for k in range(1, half + 1)]
    differences = [code.difference(values[k], values[radix - k]) for k in range(1, half + 1)]
    total = first
    for each in sums:
        total = code.sum(total, each)
    results: list[Pair] = [total] * radix
    for j in range(1, half + 1):
        angles = [2 * math.pi * (j * k % radix) / radix for k in range(1, half + 1)]
        even, odd = first, code.scaled(differences[0], math.sin(angles[0]))
        for angle, each in zip(angles, sums, strict=True):
            even = code.sum(even, code.scaled(each, math.cos(angle)))
        for angle, each in zip(angles[1:], differences[1:], strict=True):
            odd = code.sum(odd, code.scaled(each, math.sin(angle)))
        turned = code.turned(odd, inverse)
        results[j], results[radix - j] = code.sum(even, turned), code.difference(even, turned)
    return results


def _divisor(count: int) -> int:
    """Returns the largest divisor that is no more than the entries of a table."""
    return max(d for d in range(1, TABLE + 1) if count % d == 0)
