"""The decomposition of fft into products with small DFT matrices, and transposes between them.

Transforms of large prime lengths are computed as convolutions.
"""

from __future__ import annotations

import math

import numpy as np

from xla_core.hlo.ir.builder import Builder
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.attributes import PaddingDimension
from xla_core.hlo.table.opcode import Opcode
from xla_core.passes.legalization.decompositions import decomposition
from xla_core.sizes import power_above

_LARGEST = 64  # the most rows of a DFT matrix for a factor of the length
_LARGEST_PRIME = 256  # the most rows of a DFT matrix for a prime factor
_LARGEST_CONVOLVED = 1 << 20  # the largest prime factor that is computed as a convolution
_LONGEST = 1 << 24  # the largest length, since constants hold that many roots of unity
_Pair = tuple[HloInstruction, HloInstruction]
"""(real parts, imaginary parts) of an array."""


@decomposition(Opcode.FFT)
def _fft(i: HloInstruction, b: Builder) -> HloInstruction | None:
    """Transforms the last dimensions one by one. A real transform stores only half of the spectrum."""
    x, kind, lengths = i.operand(0), i.attribute("fft_type"), i.attribute("fft_length")
    if any(n > _LONGEST or _largest_factor(n) > _LARGEST_CONVOLVED for n in lengths):
        return None
    first = x.shape.rank - len(lengths)
    axes = list(range(first, x.shape.rank))
    sign = -1 if kind in ("FFT", "RFFT") else 1
    pair = (x, b.constant(0, x.shape)) if kind == "RFFT" else (b.add(Opcode.REAL, x), b.add(Opcode.IMAG, x))
    if kind == "IRFFT":  # only the last dimension is halved, so the others are transformed first
        for axis in axes[:-1]:
            pair = _along(b, pair, axis, sign)
        pair = _whole_spectrum(b, pair, axes[-1], lengths[-1])
        axes = axes[-1:]
    for axis in reversed(axes):
        pair = _along(b, pair, axis, sign)
        if kind == "RFFT" and axis == x.shape.rank - 1:
            stored = i.shape.dimensions[-1]
            pair = b.slice_in_dim(pair[0], axis, 0, stored), b.slice_in_dim(pair[1], axis, 0, stored)
    if sign == 1:
        scale = b.constant(1 / max(math.prod(lengths), 1), pair[0].shape)
        pair = b.add(Opcode.MULTIPLY, pair[0], scale), b.add(Opcode.MULTIPLY, pair[1], scale)
    return pair[0] if kind == "IRFFT" else b.add(Opcode.COMPLEX, *pair)


def _split(n: int) -> int:
    """The next factor of n to split off: the largest one up to `_LARGEST`, else the least prime factor."""
    if n <= _LARGEST:
        return n
    return max((f for f in range(2, _LARGEST + 1) if n % f == 0), default=0) or next(
        (f for f in range(_LARGEST + 1, int(n**0.5) + 1) if n % f == 0), n
    )


def _largest_factor(n: int) -> int:
    """The largest factor into which `_split` splits n."""
    largest = 0
    while n > 1:
        factor = _split(n)
        largest, n = max(largest, factor), n // factor
    return largest


def _whole_spectrum(b: Builder, pair: _Pair, axis: int, length: int) -> _Pair:
    """Completes the stored half of a spectrum with the conjugates of its entries in reverse order.

    The first entry, and the middle one of an even length, have no conjugate.
    """
    count = length - (length // 2 + 1)
    if count <= 0:
        return pair
    whole = []
    for number, part in enumerate(pair):
        rest = b.add(Opcode.REVERSE, b.slice_in_dim(part, axis, 1, 1 + count), dimensions=(axis,))
        whole.append(
            b.add(Opcode.CONCATENATE, part, b.add(Opcode.NEGATE, rest) if number else rest, dimensions=(axis,))
        )
    return whole[0], whole[1]


def _along(b: Builder, pair: _Pair, axis: int, sign: int) -> _Pair:
    """Transforms along one axis, which is transposed to the end and back."""
    rank = pair[0].shape.rank
    order = [d for d in range(rank) if d != axis] + [axis]
    moved = b.transpose(pair[0], order), b.transpose(pair[1], order)
    sizes = moved[0].shape.dimensions
    rows = int(np.prod(sizes[:-1]))
    flat = _rows(b, (b.reshape(moved[0], (rows, sizes[-1])), b.reshape(moved[1], (rows, sizes[-1]))), sign)
    back = [order.index(d) for d in range(rank)]
    return b.transpose(b.reshape(flat[0], sizes), back), b.transpose(b.reshape(flat[1], sizes), back)


def _rows(b: Builder, pair: _Pair, sign: int) -> _Pair:
    """Transforms rows of length n = p q: q transforms of length p, twiddle factors, then p transforms of length q.

    (Cooley, Tukey 1965.)
    """
    rows, n = pair[0].shape.dimensions
    p = _split(n)
    q = n // max(p, 1)
    if q <= 1:
        return _unsplit(b, pair, sign)
    parted = [b.reshape(b.transpose(b.reshape(v, (rows, p, q)), [0, 2, 1]), (rows * q, p)) for v in pair]
    inner = _unsplit(b, (parted[0], parted[1]), sign)
    twiddles = _roots(sign, np.outer(np.arange(q), np.arange(p)), n)
    turned = _times(b, (b.reshape(inner[0], (rows, q, p)), b.reshape(inner[1], (rows, q, p))), twiddles)
    moved = [b.reshape(b.transpose(v, [0, 2, 1]), (rows * p, q)) for v in turned]
    outer = _rows(b, (moved[0], moved[1]), sign)
    done = [b.reshape(b.transpose(b.reshape(v, (rows, p, q)), [0, 2, 1]), (rows, n)) for v in outer]
    return done[0], done[1]


def _unsplit(b: Builder, pair: _Pair, sign: int) -> _Pair:
    return (_matrix if pair[0].shape.dimensions[1] <= _LARGEST_PRIME else _convolved)(b, pair, sign)


def _convolved(b: Builder, pair: _Pair, sign: int) -> _Pair:
    """Transforms rows with transforms of a power of two, since 2jk = j^2 + k^2 - (k - j)^2. (Bluestein 1970.)"""
    n = pair[0].shape.dimensions[1]
    size = power_above(2 * n - 1)
    numbers = np.arange(n, dtype=np.int64)
    chirp = _roots(sign, numbers * numbers, 2 * n)
    kernel = np.zeros(size, complex)
    kernel[:n] = chirp.conj()
    kernel[size - n + 1 :] = chirp[:0:-1].conj()
    padding = (PaddingDimension(0, 0), PaddingDimension(0, size - n))
    zero = b.constant(0, pair[0].shape.with_dimensions(()))
    real, imaginary = (b.add(Opcode.PAD, v, zero, padding=padding) for v in _times(b, pair, chirp))
    product = _times(b, _rows(b, (real, imaginary), -1), np.fft.fft(kernel))
    convolved = _rows(b, product, 1)
    return _times(b, (b.slice_in_dim(convolved[0], 1, 0, n), b.slice_in_dim(convolved[1], 1, 0, n)), chirp / size)


def _roots(sign: int, numbers: np.ndarray, n: int) -> np.ndarray:
    return np.exp(sign * 2j * np.pi * (numbers % max(n, 1)) / max(n, 1))


def _times(b: Builder, x: _Pair, factors: np.ndarray) -> _Pair:
    """Multiplies every row by complex factors."""
    sizes = x[0].shape.dimensions
    y = [
        b.broadcast(b.constant(part, x[0].shape.with_dimensions(part.shape)), sizes, range(1, len(sizes)))
        for part in (factors.real, factors.imag)
    ]
    real = b.add(Opcode.SUBTRACT, b.add(Opcode.MULTIPLY, x[0], y[0]), b.add(Opcode.MULTIPLY, x[1], y[1]))
    return real, b.add(Opcode.ADD, b.add(Opcode.MULTIPLY, x[0], y[1]), b.add(Opcode.MULTIPLY, x[1], y[0]))


def _matrix(b: Builder, pair: _Pair, sign: int) -> _Pair:
    """Multiplies rows by the DFT matrix of the n-th roots of unity."""
    n = pair[0].shape.dimensions[1]
    matrix = _roots(sign, np.outer(np.arange(n), np.arange(n)), n)
    parts = [b.constant(part, pair[0].shape.with_dimensions((n, n))) for part in (matrix.real, matrix.imag)]

    def dot(x: HloInstruction, y: HloInstruction) -> HloInstruction:
        exact = ("highest", "highest")
        return b.add(
            Opcode.DOT, x, y, shape=x.shape.without_layout(), lhs_contracting_dims=(1,), rhs_contracting_dims=(0,),
            operand_precision=exact,
        )  # fmt: skip

    real = b.add(Opcode.SUBTRACT, dot(pair[0], parts[0]), dot(pair[1], parts[1]))
    return real, b.add(Opcode.ADD, dot(pair[0], parts[1]), dot(pair[1], parts[0]))
