"""Accuracy of the four kinds of fft, for lengths with small and large prime factors, odd, prime and long ones.

The error of a transform of length n is the root mean square of its errors, divided by that of its results, in units of
log2(2 n) eps, which is how the error of a fast transform grows. Exact results are scipy's in float64 and longdouble.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from xla_conformance.accuracy.frame import Check, Measured, Worst, error_of
from xla_conformance.accuracy.real_functions.formats import epsilon
from xla_conformance.accuracy.sums.trials import wide
from xla_conformance.subjects import Subject
from xla_core.hlo import ElementType

Array = np.ndarray
T = ElementType

LENGTHS = (1, 2, 3, 5, 8, 13, 16, 17, 31, 60, 97, 100, 128, 210, 243, 1000, 1009, 1024, 2018, 4097, 10007, 16384)
_LONG = (65537, 100003, 131072, 200006)
_SHAPES = ((3, 4, 5), (6, 17), (2, 9, 16))


def checks() -> list[Check]:
    """A check for each kind and type, and for transforms over two and three dimensions."""
    kinds = [(kind, t) for kind in ("FFT", "IFFT", "RFFT", "IRFFT") for t in (T.F32, T.F64)]
    return [_check(kind, t, many) for many in (False, True) for kind, t in kinds]


def _check(kind: str, part: T, several: bool) -> Check:
    def measure(subject: Subject, points: int) -> Measured:
        error, worst, count = 0.0, None, 0
        shapes = _SHAPES if several else tuple((2, n) for n in (*LENGTHS, *(_LONG if points >= 10_000 else ())))
        for shape in shapes:
            for x in _operands(kind, part, shape):
                lengths = shape if several else shape[1:]
                exact = _transform(kind, wide(x), lengths)
                (got,) = subject.run(_program(kind, part, shape, lengths, exact.shape), x)
                count += exact.size
                unit = math.log2(2 * math.prod(lengths)) * epsilon(part)
                here = error_of(_relative(np.asarray(got), exact) / unit)
                if here > error:
                    error, worst = here, Worst(f"{kind} of length {lengths}", f"{here:.3g}", "0")
        return Measured(count, error, worst)

    name = f"{kind}, several dimensions" if several else kind
    return Check("fft", name, part.value, "log2(2 n) eps, rms", measure)


def _operands(kind: str, part: T, shape: tuple[int, ...]) -> Iterator[Array]:
    """Noise, and a tone between two frequencies, whose spectrum has a peak."""
    random = np.random.default_rng(math.prod(shape))
    if kind == "IRFFT":
        shape = (*shape[:-1], shape[-1] // 2 + 1)
    angles = 2.3 * np.arange(math.prod(shape)).reshape(shape)
    for real, imag in (random.standard_normal((2, *shape)), (np.cos(angles), np.sin(angles))):
        if kind == "RFFT":
            yield np.asarray(real).astype(part.dtype)
        else:
            yield np.asarray(real + 1j * imag).astype(part.complex.dtype)


def _transform(kind: str, x: Array, lengths: tuple[int, ...]) -> Array:
    import scipy.fft

    axes = tuple(range(-len(lengths), 0))
    function = {"FFT": scipy.fft.fftn, "IFFT": scipy.fft.ifftn, "RFFT": scipy.fft.rfftn, "IRFFT": scipy.fft.irfftn}[
        kind
    ]
    return np.asarray(function(x, s=lengths, axes=axes))


def _relative(got: Array, exact: Array) -> float:
    norm = np.sqrt(np.sum(np.abs(exact) ** 2))
    return float(np.sqrt(np.sum(np.abs(wide(got) - exact) ** 2)) / norm)


def _program(kind: str, part: T, shape: tuple[int, ...], lengths: tuple[int, ...], result: tuple[int, ...]) -> str:
    operand = (*shape[:-1], shape[-1] // 2 + 1) if kind == "IRFFT" else shape
    given, made = (part if real else part.complex for real in (kind == "RFFT", kind == "IRFFT"))
    types = [f"{t.value}[{','.join(map(str, s))}]" for t, s in ((given, operand), (made, result))]
    op = f"fft(p0), fft_type={kind}, fft_length={{{','.join(map(str, lengths))}}}"
    return f"HloModule m\n\nENTRY main {{\n  p0 = {types[0]} parameter(0)\n  ROOT r = {types[1]} {op}\n}}\n"
