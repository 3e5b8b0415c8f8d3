"""Seeded arguments: every exponent, special values, and where functions are hard."""

from __future__ import annotations

import functools
import math
import zlib
from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from xla_core.hlo import ElementType

Array = np.ndarray
SPECIAL = (0.0, 1.0, math.inf, math.nan, 0.5, 2.0, 3.0, 2.5, 1.5, 10.0, 0.75, 4.0, 7.0, 100.0, math.pi, math.e)
"""Special values; their negatives are special too."""

_PI_BITS = 2400
"""More bits of pi than any f64 needs."""


def generator(name: str) -> np.random.Generator:
    """Makes the random generator of a name, which gives the same numbers in each run."""
    return np.random.default_rng(zlib.crc32(name.encode()))


def special(dtype: np.dtype) -> Array:
    """Returns zeros, infinities, NaN, the smallest and largest numbers, and powers of two with their neighbours.

    They have both signs. The powers of two are all of f32's, and every sixteenth of f64's.
    """
    limits = np.finfo(dtype)
    step = 1 if dtype.itemsize == 4 else 16
    powers = np.ldexp(np.ones((), dtype), np.arange(limits.minexp - limits.nmant, limits.maxexp, step))
    ends = np.array([limits.max, limits.tiny, limits.smallest_subnormal, limits.eps], dtype)
    positive = np.concatenate([np.array(SPECIAL, dtype), ends, powers, _neighbours(powers, 1)])
    return np.concatenate([positive, -positive])


def _neighbours(values: Array, steps: int) -> Array:
    """Returns the numbers that are up to so many steps away."""
    up, down = [values], [values]
    with np.errstate(all="ignore"):
        for _ in range(steps):
            up.append(np.nextafter(up[-1], np.array(np.inf, values.dtype)))
            down.append(np.nextafter(down[-1], np.array(-np.inf, values.dtype)))
    return np.concatenate([*up[1:], *down[1:]])


def one_operand(
    name: str,
    element_type: ElementType,
    count: int,
    ranges: tuple[tuple[float, float], ...],
    near: tuple[float, ...],
    *,
    angles: bool = False,
    block: int = 1 << 20,
) -> Iterator[Array]:
    """Yields about `count` arguments of f32 or f64 in blocks. The first block begins with the special ones.

    A quarter are random bit patterns, which have all exponents, and a sixteenth are denormal. A quarter have magnitudes
    around 1, on a logarithmic scale. The others are uniform in `ranges`, or within thousands of steps of `near`.

    Args:
        angles: whether to add multiples of pi / 2 with their neighbours, and the numbers nearest to such a multiple.
    """
    dtype = element_type.dtype
    random = generator(f"{name} {element_type.value}")
    first = special(dtype)
    if angles:
        hard = hard_angles(element_type)
        first = np.concatenate([first, random.choice(hard, min(len(hard), count // 4), replace=False)])
    done = 0
    while done < count:
        size = min(block, count - done)
        start = first[:size] if done == 0 else first[:0]
        rest = _mixture(random, dtype, size - len(start), ranges, near, angles=angles)
        yield np.concatenate([start, rest])
        done += size


def _mixture(
    random: np.random.Generator,
    dtype: np.dtype,
    count: int,
    ranges: tuple[tuple[float, float], ...],
    near: tuple[float, ...],
    *,
    angles: bool,
) -> Array:
    bits_type = np.dtype(f"u{dtype.itemsize}")
    limits = np.finfo(dtype)
    quarter = count // 4
    patterns = random.integers(0, np.iinfo(bits_type).max, quarter, bits_type, endpoint=True).view(dtype)
    denormal = random.integers(0, 1 << limits.nmant, count // 16, bits_type).view(dtype)
    denormal = np.where(random.integers(0, 2, len(denormal)) == 1, -denormal, denormal)
    around = np.exp2(random.uniform(-30, 30, quarter)) * random.choice([-1.0, 1.0], quarter)
    parts = [patterns, denormal, around.astype(dtype)]
    if angles:
        parts.append(_multiples(random, dtype, count // 8))
    focus = near or (0.0, 1.0, -1.0)
    steps = random.integers(-4096, 4097, count // 16)
    parts.append(_stepped(np.array(focus, dtype)[random.integers(0, len(focus), len(steps))], steps))
    rest = count - sum(map(len, parts))
    spans = np.array(ranges or ((-4.0, 4.0),))[random.integers(0, len(ranges or (0,)), rest)]
    parts.append((spans[:, 0] + random.uniform(0, 1, rest) * (spans[:, 1] - spans[:, 0])).astype(dtype))
    return np.concatenate(parts)


def _stepped(values: Array, steps: Array) -> Array:
    """Returns the numbers that are so many steps above finite values, or below them for negative steps."""
    signed = np.dtype(f"i{values.dtype.itemsize}")
    bits = values.view(signed)
    low = np.iinfo(signed).min
    line = np.where(bits < 0, low - bits, bits) + steps.astype(signed)
    return np.asarray(np.where(line < 0, low - line, line).astype(signed).view(values.dtype))


def _multiples(random: np.random.Generator, dtype: np.dtype, count: int) -> Array:
    number = np.floor(np.exp2(random.uniform(0, 40, count))) * random.choice([-1.0, 1.0], count)
    return _stepped((number * (math.pi / 2)).astype(dtype), random.integers(-2, 3, count))


@functools.cache
def hard_angles(element_type: ElementType) -> Array:
    """Finds the numbers of each exponent e nearest to a multiple of pi / 2, by the continued fraction of 2^e 2 / pi."""
    limits = np.finfo(element_type.dtype)
    bits = int(limits.nmant) + 1
    ratio = Fraction(2 << _PI_BITS, _scaled_pi())
    found = []
    for exponent in range(-bits, int(limits.maxexp) - bits + 1):
        turn = ratio * Fraction(2) ** exponent % 1
        for mantissa in _denominators(turn, 1 << bits):
            if mantissa >> (bits - 1) == 0:  # its small multiples are nearly as near
                mantissa *= ((1 << bits) - 1) // mantissa
            if mantissa >> (bits - 1) == 1:
                found.append(math.ldexp(mantissa, exponent))
    values = np.array(found, element_type.dtype)
    return np.concatenate([values, -values])


@functools.cache
def _scaled_pi() -> int:
    """Computes pi * 2^2400, by Machin's formula: pi / 4 = 4 arctan(1 / 5) - arctan(1 / 239)."""

    def arctan_of_inverse(n: int) -> int:
        power = total = (1 << (_PI_BITS + 64)) // n
        for k in range(3, 2 * _PI_BITS, 2):
            power //= -n * n
            total += power // k
        return total

    return 4 * (4 * arctan_of_inverse(5) - arctan_of_inverse(239)) >> 64


def _denominators(value: Fraction, limit: int) -> list[int]:
    """The last few denominators below a limit of the convergents of a fraction."""
    before, now = 0, 1
    rest, found = value, []
    while rest:
        rest = 1 / rest
        whole = int(rest)
        rest -= whole
        before, now = now, whole * now + before
        if now >= limit:
            break
        found.append(now)
    return found[-3:]


def special_pairs(dtype: np.dtype) -> tuple[Array, Array]:
    """Returns all pairs of some special values."""
    limits = np.finfo(dtype)
    positive = np.array([*SPECIAL, limits.max, limits.tiny, limits.smallest_subnormal, 2.0**-limits.nmant], dtype)
    with np.errstate(all="ignore"):
        values = np.concatenate([positive, -positive, _neighbours(np.array([1.0, -1.0, 2.0], dtype), 1)])
    first, second = np.meshgrid(values, values)
    return first.ravel(), second.ravel()
