"""Arguments of functions of one operand: each exponent, the ranges of the function's formula, and its edges.

An edge is where results change in kind: from numbers to infinity, zero, NaN or denormal numbers, from the operand
itself to something else, or to a constant. Edges are found by bisection of the reference evaluator's results, so that a
new function needs no list of them.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence

import numpy as np

from xla_conformance.accuracy.complex_functions.points import complex_points, finite_corners, special_points
from xla_conformance.accuracy.real_functions.functions import FUNCTIONS
from xla_conformance.accuracy.real_functions.points import one_operand
from xla_conformance.ops.values import all_values, magnitudes, special_values
from xla_core.hlo import ElementType

Function = Callable[[np.ndarray], np.ndarray]

_MOST = 400
"""The most edges to use."""

_STEPS = np.array([0, 1, 2, 3, 5, 17, 100, 1000, 30_000])
"""How many numbers from an edge the arguments are, on both sides."""


def points(
    name: str,
    element: ElementType,
    count: int,
    function: Function,
    random: np.random.Generator,
    results: Sequence[ElementType] = (),
) -> np.ndarray:
    """Returns at least `count` arguments of a function: all values of a type of 8 or 16 bits, if they are not more.

    Args:
        name: the function's name in the table of `xla accuracy`, which says where it is hardest.
        function: computes the results that edges are searched in.
        results: for a conversion, the types that values are rounded to.
    """
    if element is ElementType.PRED or element.bit_width <= 16:
        return _at_least(all_values(element), element, count, random)
    if element.is_complex:
        dtype, seed = element.dtype, int(random.integers(1 << 31))
        given = [special_values(element), special_points(dtype), finite_corners(dtype)]
        return np.concatenate([*given, complex_points(dtype, max(count - sum(map(len, given)), 600), seed)])
    given = [special_values(element)]
    given += [halfway(element, result, random) for result in results if not result.is_integral]
    given += [halfway(element, result, random) for result in results if result.is_integral][:1]
    if element.is_floating:
        known = next((f for f in FUNCTIONS if f.name == name), None)
        spans = (known.ranges, known.near) if known is not None else ((), ())
        given += [_each_exponent(element, random), _each_rounding(element), edges(element, function)]
        rest = max(count - sum(map(len, given)), count // 2)
        angles = known is not None and known.angles
        given += list(one_operand(f"{name} {random.integers(1 << 31)}", element, rest, *spans, angles=angles))
    return _at_least(np.concatenate(given), element, count, random)


def _at_least(values: np.ndarray, element: ElementType, count: int, random: np.random.Generator) -> np.ndarray:
    return np.concatenate([values, magnitudes(element, max(count - len(values), 0), random)])


def _each_exponent(element: ElementType, random: np.random.Generator) -> np.ndarray:
    """Returns numbers of both signs with every exponent: powers of two, and random ones."""
    bits, mantissa = np.dtype(f"u{element.byte_width}"), element.mantissa_bits
    exponents = np.arange((1 << element.exponent_bits) - 1, dtype=bits) << bits.type(mantissa)
    parts = [exponents | random.integers(0, 1 << mantissa, len(exponents), bits) for _ in range(3)]
    positive = np.concatenate([exponents, exponents | bits.type((1 << mantissa) - 1), *parts])
    return np.concatenate([positive, positive | bits.type(1 << (element.bit_width - 1))]).view(element.dtype)


def _each_rounding(element: ElementType) -> np.ndarray:
    """Returns numbers that are halfway between two numbers of fewer bits, for every number of bits, and neighbours."""
    steps = 2.0 ** -np.arange(1, element.mantissa_bits + 1)
    halves = np.concatenate([1 + steps, 1 + 3 * steps]).astype(element.dtype)
    line = (_to_line(halves)[:, None] + np.array([-1, 0, 1])).ravel()
    numbers = _from_line(line, element)
    return np.concatenate([numbers, -numbers, numbers * element.dtype.type(2.0**-14)])


_HALFWAY = 6000


def halfway(element: ElementType, result: ElementType, random: np.random.Generator) -> np.ndarray:
    """Returns values of a wide type around those that are halfway between two values of the result's type."""
    result = result.component
    if result.is_floating and element.is_floating:
        values = np.unique(_finite(result, random).astype(np.float64))
        middle = (values[:-1] + (values[1:] - values[:-1]) / 2)[random.permutation(len(values) - 1)[:_HALFWAY]]
        with np.errstate(over="ignore"):
            return _from_line((_to_line(middle.astype(element.dtype))[:, None] + np.array([-1, 0, 1])).ravel(), element)
    if result.is_integral and element.is_floating:
        middle = np.concatenate([np.arange(-300.5, 300), np.exp2(random.uniform(0, 64, 2000)).round() + 0.5])
        return _from_line((_to_line(middle.astype(element.dtype))[:, None] + np.array([-1, 0, 1])).ravel(), element)
    if result.is_floating and element.is_integral:
        bits = result.mantissa_bits + 1
        room = element.bit_width - element.is_signed - bits - 1
        if room > 0:
            kept = random.integers(1 << (bits - 1), 1 << bits, _HALFWAY // 4, np.uint64)
            shifts = random.integers(0, room + 1, len(kept)).astype(np.uint64)
            between = ((kept << np.uint64(1)) | np.uint64(1)) << shifts
            around = (between[:, None] + np.array([-1, 0, 1]).astype(np.uint64)).ravel()
            negative = random.integers(0, 2, len(around)) == 1 if element.is_signed else np.zeros(len(around), bool)
            return np.where(negative, np.invert(around) + np.uint64(1), around).astype(element.dtype)
    return np.zeros(0, element.dtype)


def _finite(element: ElementType, random: np.random.Generator) -> np.ndarray:
    """Returns the finite values of a float type, or of many neighbours of a wide one."""
    if element.bit_width <= 16:
        values = all_values(element)
    else:
        bits = np.dtype(f"u{element.byte_width}")
        some = random.integers(0, np.iinfo(bits).max, _HALFWAY // 2, bits)
        values = np.concatenate([some, some + bits.type(1)]).view(element.dtype)
    with np.errstate(all="ignore"):
        return np.asarray(values[np.isfinite(values.astype(np.float64))])


# -- edges -------------------------------------------------------------------------------------------------------------


def edges(element: ElementType, function: Function) -> np.ndarray:
    """Returns the numbers around those at which the function's results change in kind."""
    grid = _each_exponent(element, np.random.default_rng(zlib.crc32(element.value.encode())))
    line = np.unique(np.concatenate([_to_line(grid), _to_line(np.array([np.inf, -np.inf, 1, -1], element.dtype))]))
    with np.errstate(all="ignore"):
        ends = np.asarray(function(np.array([np.inf, -np.inf, np.nan], element.dtype)))
    kinds = _kinds(element, function, ends, line)
    changes = np.flatnonzero(kinds[1:] != kinds[:-1])
    if len(changes) > _MOST:  # a periodic function
        changes = changes[:: -(-len(changes) // _MOST)]
    low, high, before = line[changes], line[changes + 1], kinds[changes]
    while np.any(high - low > 1):
        middle = low + (high - low) // 2
        same = _kinds(element, function, ends, middle) == before
        low, high = np.where(same, middle, low), np.where(same, high, middle)
    found = np.concatenate([low[:, None] - _STEPS, high[:, None] + _STEPS], axis=None)
    largest = int(_to_line(np.array([np.inf], element.dtype))[0])
    return _from_line(np.unique(np.clip(found, -largest, largest)), element)


def _kinds(element: ElementType, function: Function, ends: np.ndarray, line: np.ndarray) -> np.ndarray:
    """Returns a number for the kind of each result. `ends` are the results for the infinities and for NaN."""
    x = _from_line(line, element)
    with np.errstate(all="ignore"):
        result = np.asarray(function(x))
        kind = 2 * (result == 0) + 4 * (result == 1)
        part = ElementType.from_numpy(result.dtype).component
        if not part.is_floating:
            return np.asarray(kind + sum((8 << i) * (result == end) for i, end in enumerate(ends)))
        values = result.real.astype(np.float64)
        normal = 2.0 ** (2 - (1 << (part.exponent_bits - 1)))
        limits = ends.real.astype(np.float64)
        flags = [
            np.isnan(values),
            np.isinf(values),
            np.signbit(values),
            np.abs(values) < normal,
            values == x.astype(np.float64),
            values == limits[0],
            values == limits[1],
            values == -1,
        ]
    return np.asarray(kind + sum((8 << i) * flag for i, flag in enumerate(flags)))


def _to_line(values: np.ndarray) -> np.ndarray:
    """Returns integers in the order of the numbers: neighbours differ by 1, and both zeros are 0."""
    signed = np.dtype(f"i{values.dtype.itemsize}")
    bits = values.view(signed).astype(np.int64)
    magnitude = bits & np.int64(np.iinfo(signed).max)
    return np.where(bits < 0, -magnitude, magnitude)


def _from_line(line: np.ndarray, element: ElementType) -> np.ndarray:
    signed = np.dtype(f"i{element.byte_width}")
    sign = np.where(line < 0, np.iinfo(signed).min, 0)
    return np.asarray((np.abs(line) + sign).astype(signed).view(element.dtype))
