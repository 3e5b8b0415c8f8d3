"""Domains of cholesky, triangular-solve, fft and batch normalization."""

from __future__ import annotations

import functools
import itertools
from typing import Any

import numpy as np

from xla_conformance.ops.choices import Choice, Group
from xla_conformance.ops.comparison import Rule
from xla_conformance.ops.domain import domain
from xla_conformance.ops.domains.movement import RANKS
from xla_conformance.ops.fills import Fill
from xla_conformance.ops.program import Program
from xla_conformance.ops.sizes import MEDIUM, SIZES, dimensions, position
from xla_conformance.ops.values import moderate
from xla_core.hlo import ElementType, HloInstruction, Opcode, Shape

_T = ElementType
_FLOATS = (_T.F32, _T.F64, _T.BF16, _T.F16)
_COMPLEX = (_T.C64, _T.C128)
_ORDERS = (*MEDIUM, Group(255, 256), 257)  # of 257 rows and columns, more elements than 16 bits count
_BATCHES = ((), (2,), (3, 2), (65,), (0,), (2, 1, 3, 2))


def _whole(shape: Shape, random: np.random.Generator, low: int, high: int) -> np.ndarray:
    values = random.integers(low, high, shape.dimensions, endpoint=True).astype(np.float64)
    if shape.element_type.is_complex:
        return np.asarray(values + 1j * random.integers(low, high, shape.dimensions, endpoint=True))
    return values


def _of_sums(element_type: ElementType, wide: int = 512) -> Rule:
    """Results of narrow types are rounded once, others after each term."""
    return Rule("scaled", 4 if element_type.bit_width == 16 else wide)


def _uneven(shape: Shape, random: np.random.Generator) -> np.ndarray:
    """Makes numbers between -1 and 1 that take all bits of a type."""
    values = random.uniform(-1, 1, shape.dimensions)
    return (
        np.asarray(values + 1j * random.uniform(-1, 1, shape.dimensions)) if shape.element_type.is_complex else values
    )


def _definite(lower: bool) -> Fill:
    """Makes Hermitian positive definite matrices; the triangle that isn't read has other numbers."""

    def fill(shape: Shape, random: np.random.Generator) -> np.ndarray:
        n = shape.dimensions[-1]
        sparse = random.random(shape.dimensions) < min(1.0, 4 / max(n, 1))
        factor = np.tril(_uneven(shape, random) * sparse, -1) + np.eye(n) * 2
        product = factor @ np.conj(factor).swapaxes(-1, -2)
        product = product if lower else np.conj(product).swapaxes(-1, -2)
        junk = _whole(shape, random, -3, 3)
        kept = np.tril(np.ones((n, n), bool)) if lower else np.triu(np.ones((n, n), bool))
        upper = product if lower else np.conj(product)
        return np.where(kept, upper, junk).astype(shape.dtype)

    return fill


@domain(
    Opcode.CHOLESKY,
    rule=functools.partial(_of_sums, wide=32),
    types=(*_FLOATS, *_COMPLEX),
    sizes=_ORDERS,
    places=("minor",),
    batch=_BATCHES,
    lower=(True, False),
)
def _cholesky(p: Program, c: Choice) -> HloInstruction:
    batch = c.batch if c.size <= 65 else c.batch[:0]
    operand = p.parameter((*batch, c.size, c.size), fill=_definite(c.lower))
    return p.add(Opcode.CHOLESKY, operand, lower=c.lower)


def _triangular(lower: bool, unit: bool) -> Fill:
    """Makes well-conditioned triangular matrices, with other numbers in the part that isn't read."""

    def fill(shape: Shape, random: np.random.Generator) -> np.ndarray:
        n = shape.dimensions[-1]
        sparse = random.random(shape.dimensions) < min(1.0, 2 / max(n, 1))
        part = np.tril(_whole(shape, random, -1, 1) * sparse, -1)
        part = part if lower else part.swapaxes(-1, -2)
        junk = _whole(shape, random, 2, 3)
        read = np.tril(np.ones((n, n), bool), -1) if lower else np.triu(np.ones((n, n), bool), 1)
        diagonal = junk if unit else random.choice([1.0, 2.0, -2.0], shape.dimensions)
        return np.where(np.eye(n, dtype=bool), diagonal, np.where(read, part, junk)).astype(shape.dtype)

    return fill


_TRANSPOSED = ("NO_TRANSPOSE", "TRANSPOSE", "ADJOINT")


def _solve(p: Program, c: Choice, left: bool, lower: bool, unit: bool, transpose: str) -> HloInstruction:
    batch = c.batch if c.size <= 65 and c.size != 1 else c.batch[:0]
    a = p.parameter((*batch, c.size, c.size), fill=_triangular(lower, unit))
    columns = c.size if c.columns == "equal" or c.size == 1 else c.columns
    sizes = (c.size, columns) if left else (columns, c.size)
    b = p.parameter((*batch, *sizes), fill=lambda shape, random: _uneven(shape, random).astype(shape.dtype))
    return p.add(
        Opcode.TRIANGULAR_SOLVE,
        a,
        b,
        left_side=left,
        lower=lower,
        unit_diagonal=unit,
        transpose_a=transpose,
    )


@domain(
    Opcode.TRIANGULAR_SOLVE,
    rule=functools.partial(_of_sums, wide=64),
    types=(*_FLOATS, *_COMPLEX),
    sizes=_ORDERS,
    places=("minor",),
    batch=_BATCHES,
    columns=(3, "equal", 1, 0, 17, 65),
    left=(True, False),
    lower=(True, False),
    unit=(False, True),
    transpose=_TRANSPOSED,
)
def _triangular_solve(p: Program, c: Choice) -> HloInstruction:
    return _solve(p, c, c.left, c.lower, c.unit, c.transpose)


def _each_combination_of_flags(variant: str, element_type: ElementType) -> None:
    """Makes a domain in which each combination of a triangular solve's flags has a small case."""

    @domain(
        Opcode.TRIANGULAR_SOLVE,
        variant=variant,
        rule=Rule("scaled", 64),
        types=(element_type,),
        sizes=(5, 3),
        hiding=(),
        places=("minor",),
        pairs=False,
        batch=((), (2,)),
        columns=(2, 3),
        flags=tuple(itertools.product((True, False), (True, False), (False, True), _TRANSPOSED)),
    )
    def _flags(p: Program, c: Choice) -> HloInstruction:
        return _solve(p, c, *c.flags)


_each_combination_of_flags("real", ElementType.F32)
_each_combination_of_flags("complex", ElementType.C64)


_FFT: dict[str, Any] = {
    "rule": Rule("scaled", 16),
    "scalar": False,
    "rank": (2, 1, 3, Group(4, 6)),
    "form": tuple((kind, count) for kind in ("forward", "inverse") for count in (1, 2, 3)),
    "places": ("minor", "major", "middle"),
}


def _transformed(c: Choice) -> tuple[list[int], tuple[int, ...]]:
    """Returns the sizes of a signal, and those over which it is transformed."""
    sizes = list(dimensions(c.rank, c.size, c.place, 1 << 14))
    return sizes, tuple(sizes[-min(c.form[1], c.rank) :])


@domain(Opcode.FFT, types=_COMPLEX, **_FFT)
def _fft(p: Program, c: Choice) -> HloInstruction:
    sizes, length = _transformed(c)
    kind = {"forward": "FFT", "inverse": "IFFT"}[c.form[0]]
    return p.add(Opcode.FFT, p.parameter(sizes, fill=moderate), fft_type=kind, fft_length=length)


@domain(Opcode.FFT, variant="real", types=(_T.F32, _T.F64), **_FFT)
def _real_fft(p: Program, c: Choice) -> HloInstruction:
    """RFFT, whose result is complex; an IRFFT of it gives the signal back."""
    sizes, length = _transformed(c)
    if c.form[0] == "forward":
        return p.add(Opcode.FFT, p.parameter(sizes, fill=moderate), fft_type="RFFT", fft_length=length)
    sizes[-1] = sizes[-1] // 2 + 1 if sizes[-1] else 0
    operand = p.parameter(sizes, p.type.complex, moderate)
    return p.add(Opcode.FFT, operand, fft_type="IRFFT", fft_length=length)


def _impulse(shape: Shape, random: np.random.Generator) -> np.ndarray:
    """Makes rows of zeros and a single 1, whose transforms are the factors of the transform themselves."""
    values = np.zeros(shape.dimensions, shape.dtype)
    values[..., random.integers(1, max(shape.dimensions[-1], 2))] = 1
    return values


def _tone(shape: Shape, random: np.random.Generator) -> np.ndarray:
    """Makes a wave between two frequencies of the transform, whose spectrum has a peak."""
    n = shape.dimensions[-1]
    turns = (random.integers(1, max(n // 2, 2)) + 0.5) * np.arange(n) / max(n, 1)
    wave = np.exp(2j * np.pi * turns) if shape.element_type.is_complex else np.cos(2 * np.pi * turns)
    return np.broadcast_to(wave, shape.dimensions).astype(shape.dtype)


_SIGNALS: dict[str, Fill] = {"noise": moderate, "impulse": _impulse, "tone": _tone}


@domain(
    Opcode.FFT,
    variant="long",
    rule=lambda t: Rule("scaled", 16 if t.component is _T.F32 else 32),  # no type is wide beside f64
    types=(*_COMPLEX, _T.F32, _T.F64),
    sizes=(Group(120, 127, 128), Group(1000, 1009, 1024), Group(2048, 4096), Group(2047, 3000, 4095, 4097)),
    hiding=(),
    places=("minor",),
    signal=tuple(_SIGNALS),
)
def _long_fft(p: Program, c: Choice) -> HloInstruction:
    """Transforms and their inverses, as far as errors of noise, of the factors and of a peak tell their precision."""
    length, fill = (c.size,), _SIGNALS[c.signal]
    operand = p.parameter((2, c.size), fill=fill)
    sizes = (2, c.size) if p.type.is_complex else (2, c.size // 2 + 1)
    spectrum = p.parameter(sizes, p.type if p.type.is_complex else p.type.complex, fill)
    kinds = ("FFT", "IFFT") if p.type.is_complex else ("RFFT", "IRFFT")
    made = [
        p.add(Opcode.FFT, x, fft_type=kind, fft_length=length)
        for x, kind in zip((operand, spectrum), kinds, strict=True)
    ]
    return p.add(Opcode.TUPLE, *made)


def _positive(shape: Shape, random: np.random.Generator) -> np.ndarray:
    return moderate(shape, random, positive=True)


_NORM: dict[str, Any] = {"sizes": SIZES[:6], "types": _FLOATS, "scalar": False, "rank": RANKS}
_NORM_AXES: dict[str, Any] = {"feature": ("last", "first", "middle"), "epsilon": (0.001, 0.5, 1e-5)}


def _norm_shapes(c: Choice) -> tuple[tuple[int, ...], int]:
    return dimensions(c.rank, c.size, c.place, 1 << 12), position(
        {"last": "minor", "first": "major", "middle": "middle"}[c.feature], c.rank
    )


@domain(Opcode.BATCH_NORM_TRAINING, rule=_of_sums, **_NORM, **_NORM_AXES)
def _batch_norm_training(p: Program, c: Choice) -> HloInstruction:
    sizes, feature = _norm_shapes(c)
    vectors = [p.parameter(sizes, fill=moderate)] + [p.parameter((sizes[feature],), fill=moderate) for _ in range(2)]
    return p.add(Opcode.BATCH_NORM_TRAINING, *vectors, epsilon=c.epsilon, feature_index=feature)


@domain(Opcode.BATCH_NORM_INFERENCE, rule=_of_sums, **_NORM, **_NORM_AXES)
def _batch_norm_inference(p: Program, c: Choice) -> HloInstruction:
    sizes, feature = _norm_shapes(c)
    vectors = [p.parameter((sizes[feature],), fill=f) for f in (moderate, moderate, moderate, _positive)]
    operand = p.parameter(sizes, fill=moderate)
    return p.add(Opcode.BATCH_NORM_INFERENCE, operand, *vectors, epsilon=c.epsilon, feature_index=feature)


@domain(Opcode.BATCH_NORM_GRAD, rule=_of_sums, **_NORM, **_NORM_AXES)
def _batch_norm_grad(p: Program, c: Choice) -> HloInstruction:
    sizes, feature = _norm_shapes(c)
    operand = p.parameter(sizes, fill=moderate)
    vectors = [p.parameter((sizes[feature],), fill=f) for f in (moderate, moderate, _positive)]
    gradient = p.parameter(sizes, fill=moderate)
    return p.add(Opcode.BATCH_NORM_GRAD, operand, *vectors, gradient, epsilon=c.epsilon, feature_index=feature)
