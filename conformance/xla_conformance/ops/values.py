"""Arguments of the cases. They depend on the seed alone.

`special`, `moderate`, `magnitudes` and `patterns` make an array each. `product` makes the operands of an elementwise op
so that the special values of all operands meet.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence

import numpy as np

from xla_core.hlo import ElementType, Shape

Seed = int | Sequence[int] | np.random.Generator
"""A seed of `numpy.random.default_rng`."""


# -- special values ----------------------------------------------------------------------------------------------------


@functools.cache
def special_values(element: ElementType) -> np.ndarray:
    """Returns the values at which ops go wrong, each once.

    Types of up to 4 bits have all their values. Floats have signed zeros, infinities, NaNs (quiet and signaling, with
    payload, of both signs), the ends of the denormal and the normal numbers, the neighbours of powers of two, numbers
    whose sums, products and conversions are halfway between two results, and ordinary numbers. Integers have the ends
    of their range, powers of two with their neighbours, shift amounts around the width and patterns of bits. Complex
    numbers have pairs of these.
    """
    if element is ElementType.PRED:
        return np.array([False, True])
    if element.is_complex:
        return _complex_values(element)
    if element.bit_width <= 4:
        return all_values(element)
    return _distinct(_float_values(element) if element.is_floating else _integer_values(element))


def all_values(element: ElementType) -> np.ndarray:
    """Returns each value of a type of at most 16 bits."""
    count = 1 << element.bit_width
    if element is ElementType.PRED:
        return np.array([False, True])
    if element.is_integral:
        low, high = element.integer_range
        return np.arange(low, high + 1).astype(element.dtype)
    return np.arange(count, dtype=np.uint16 if count > 256 else np.uint8).view(element.dtype)


def _float_values(element: ElementType) -> np.ndarray:
    dtype, mantissa = element.dtype, element.mantissa_bits
    eps = 2.0**-mantissa
    halves = (1 + 2.0 ** -((mantissa + 1) // 2), 1 + 2.0 ** -((mantissa + 2) // 2))  # their product is halfway
    near = _with_neighbours(np.array([0.25, 0.5, 1, 2, 4, eps, eps / 2, eps / 4, 1 / eps, 2 / eps], np.float64), dtype)
    limits = 2.0 ** np.array([7, 8, 15, 16, 31, 32, 63, 64])  # of the integer types
    plain = [*halves, 1.5, 2.5, 3, 3.5, 5, 7, 10, 100, math.pi, math.pi / 2, math.e, 0.1, 1 / 3, 1e-6, 1e6]
    bits = np.dtype(f"u{dtype.itemsize}")
    step = bits.type(1)
    ends: list[np.ndarray] = []
    with np.errstate(all="ignore"):
        one = np.ones((), dtype)
        top, tiny = (
            np.asarray(_largest(element)),
            np.asarray(2.0 ** (2 - (1 << (element.exponent_bits - 1)))).astype(dtype),
        )
        root = np.asarray(math.sqrt(float(top.astype(np.float64)))).astype(dtype)
        positive = [near, _with_neighbours(limits, dtype), np.array(plain).astype(dtype)]
        for value in (top, tiny, root, one / root):
            around = np.asarray(value).view(bits) + np.array([-2, -1, 0, 1], np.int64).astype(bits)
            ends.append(around.astype(bits).view(dtype))
        least = np.array([0, 1, 2, 3], bits) * step
        every = np.concatenate([*positive, *ends, least.view(dtype), _not_finite(element)])
        signs = bits.type(element.has_sign_bit << (element.bit_width - 1))
        patterns = np.concatenate([every.view(bits), every.view(bits) ^ signs])
        return np.asarray((patterns & bits.type((1 << element.bit_width) - 1)).view(dtype))


def _largest(element: ElementType) -> np.ndarray:
    """Returns the largest finite value."""
    if element.bit_width <= 16:
        values = all_values(element)
        with np.errstate(invalid="ignore"):  # signaling NaNs
            wide = values.astype(np.float64)
        return np.asarray(values[np.argmax(np.where(np.isfinite(wide), wide, -np.inf))])
    return np.asarray(np.finfo(element.dtype).max)


def _not_finite(element: ElementType) -> np.ndarray:
    """Returns infinity and NaNs of several payloads, signaling ones too, as far as the type has them."""
    dtype = element.dtype
    if not (element.has_infinity and element.mantissa_bits):
        with np.errstate(all="ignore"):
            return np.asarray([np.inf, np.nan]).astype(dtype)
    bits = np.dtype(f"u{dtype.itemsize}")
    infinity = ((1 << element.exponent_bits) - 1) << element.mantissa_bits
    quiet, last = 1 << (element.mantissa_bits - 1), (1 << element.mantissa_bits) - 1
    return np.array([infinity, infinity | quiet, infinity | quiet | 1, infinity | 1, infinity | last], bits).view(dtype)


def _with_neighbours(values: np.ndarray, dtype: np.dtype) -> np.ndarray:
    bits = np.dtype(f"u{dtype.itemsize}")
    with np.errstate(all="ignore"):
        patterns = values.astype(dtype).view(bits)
    return np.concatenate([patterns, patterns - bits.type(1), patterns + bits.type(1)]).view(dtype)


def _integer_values(element: ElementType) -> np.ndarray:
    width = element.bit_width
    low, high = element.integer_range
    powers = [1 << k for k in range(width)]
    if width == 64:  # the neighbours of each fourth power, and of those that floats of 24 and 53 bits round at
        powers = [1 << k for k in (*range(0, 64, 4), 23, 24, 25, 31, 33, 53, 54, 55, 62, 63)]
    alternating = sum(1 << k for k in range(0, width, 2))
    numbers = [0, 3, 5, 6, 7, 9, 10, 100, width - 1, width, width + 1, 2 * width, 256 + width, low, low + 1]
    numbers += [high, high - 1, high // 3, alternating, 2 * alternating, high // 2, low // 2]
    numbers += [p + d for p in powers for d in (-1, 0, 1)]
    numbers += [-n for n in numbers]
    inside = [n for n in dict.fromkeys(numbers) if low <= n <= high]
    return np.array(inside, np.int64 if element.is_signed else np.uint64).astype(element.dtype)


def _complex_values(element: ElementType) -> np.ndarray:
    part = element.component.dtype
    limits = np.finfo(part)
    corner = [0.0, 1.0, 0.5, 2.0, math.pi / 2, float(limits.tiny), float(limits.max) ** 0.5, float(limits.max)]
    finite = np.array([s * v for v in corner for s in (1.0, -1.0)], part)
    ends = np.concatenate([finite[:6], np.array([np.inf, -np.inf, np.nan], part)])
    pairs = [(finite, finite), (ends[-3:], ends), (ends, ends[-3:])]
    grids = [np.stack(np.meshgrid(x, y), -1).reshape(-1, 2) for x, y in pairs]
    return np.ascontiguousarray(np.concatenate(grids)).view(element.dtype).ravel()


def _distinct(values: np.ndarray) -> np.ndarray:
    """Returns the values of different bits, in their first order."""
    bits = np.dtype(f"u{values.dtype.itemsize}")
    _, first = np.unique(values.view(bits), return_index=True)
    return values[np.sort(first)]


# -- operands that meet ------------------------------------------------------------------------------------------------


def product(elements: Sequence[ElementType], seed: Seed, *, limit: int = 1 << 17) -> list[np.ndarray]:
    """Returns an array for each operand, in which every combination of special values occurs.

    Two operands of 8 bits and fewer have all their pairs. With more than `limit` combinations, every pair of special
    values of two operands occurs instead, with other operands at random, and every combination of a few of them.
    """
    lists = [
        all_values(t)
        if t.bit_width <= 8 and math.prod(1 << e.bit_width for e in elements) <= limit
        else special_values(t)
        for t in elements
    ]
    random = np.random.default_rng(seed)
    if math.prod(map(len, lists)) <= limit:
        made = _combinations(lists)
    else:
        few = _combinations([most_special(t) for t in elements])
        made = [np.concatenate(parts) for parts in zip(_covering(lists, random), few, strict=True)]
    order = random.permutation(len(made[0]))
    return [values[order] for values in made]


def _combinations(lists: Sequence[np.ndarray]) -> list[np.ndarray]:
    places = np.indices([len(values) for values in lists]).reshape(len(lists), -1)
    return [values[place] for values, place in zip(lists, places, strict=True)]


@functools.cache
def most_special(element: ElementType) -> np.ndarray:
    """Returns about thirty values, of which there are all combinations of three, and which other arrays have often."""
    if element is ElementType.PRED or element.is_complex:
        return special_values(element)[:24]
    if element.is_integral:
        low, high = element.integer_range
        width = element.bit_width
        numbers = [low, low + 1, -1, 0, 1, 2, 3, high - 1, high, width - 1, width, width + 1]
        return _distinct(np.array([n for n in numbers if low <= n <= high], object).astype(element.dtype))
    eps, tiny = 2.0**-element.mantissa_bits, 2.0 ** (2 - (1 << (element.exponent_bits - 1)))
    largest = float(_largest(element).astype(np.float64))
    ordinary = [0, 1, 2, 0.5, 1.5, 2.5, 3, 1 + eps, 1 - eps / 2, tiny, tiny * eps, tiny * (1 - eps), largest]
    with np.errstate(all="ignore"):
        positive = np.array([*ordinary, np.inf, np.nan])
        return _distinct(np.concatenate([positive, -positive]).astype(element.dtype))


def _covering(lists: Sequence[np.ndarray], random: np.random.Generator) -> list[np.ndarray]:
    """Returns values in which every pair of two operands occurs."""
    rows: list[list[np.ndarray]] = []
    for i in range(len(lists)):
        for j in range(i):
            first, second = _combinations([lists[i], lists[j]])
            row = [values[random.integers(0, len(values), len(first))] for values in lists]
            row[i], row[j] = first, second
            rows.append(row)
    return [np.concatenate(parts) for parts in zip(*rows, strict=True)]


# -- one array ---------------------------------------------------------------------------------------------------------


END = 15
"""The most elements behind the last whole vector of 16."""


def special(shape: Shape, seed: Seed) -> np.ndarray:
    """Makes an array of special values and of numbers of all magnitudes, in random order.

    The most special ones are there often, and at its end, which kernels compute apart from whole vectors, no others.
    """
    random = np.random.default_rng(seed)
    element, count = shape.element_type, shape.num_elements
    values, few = special_values(element), most_special(element)
    if len(values) > count // 2:
        values = random.choice(values, count // 2 + count % 2, replace=False)
    rest = count - len(values)
    end = min(END, rest)
    often = random.choice(few, end + (rest - end) // 2)
    others = magnitudes(element, rest - len(often), random)
    body = random.permutation(np.concatenate([values, often[end:], others]))
    return np.concatenate([body, often[:end]]).reshape(shape.dimensions)


def magnitudes(element: ElementType, count: int, random: np.random.Generator) -> np.ndarray:
    """Makes random numbers of all magnitudes: floats of the middle exponents, integers of every bit length."""
    if element is ElementType.PRED:
        return random.integers(0, 2, count).astype(bool)
    if element.is_complex:
        parts = [magnitudes(element.component, count, random) for _ in range(2)]
        return np.ascontiguousarray(np.stack(parts, -1)).view(element.dtype).ravel()
    if not element.is_floating:
        return _random_integers(element, count, random)
    span = min(12, 1 << (element.exponent_bits - 1))
    with np.errstate(all="ignore"):
        return np.asarray(
            (random.standard_normal(count) * np.exp2(random.integers(-span, span, count))).astype(element.dtype)
        )


def patterns(shape: Shape, seed: Seed) -> np.ndarray:
    """Makes an array of random bits: for floats, every exponent, infinities and NaNs with payloads."""
    random = np.random.default_rng(seed)
    element, count = shape.element_type, shape.num_elements
    if element is ElementType.PRED or element.bit_width < 8:
        values = all_values(element)
        return values[random.integers(0, len(values), count)].reshape(shape.dimensions)
    random_bytes = np.frombuffer(random.bytes(count * element.byte_width), element.dtype).copy()
    some = special_values(element)
    places = random.integers(0, max(count, 1), count // 8)
    random_bytes[places] = some[random.integers(0, len(some), len(places))]
    return random_bytes.reshape(shape.dimensions)


def moderate(shape: Shape, seed: Seed, *, positive: bool = False) -> np.ndarray:
    """Makes an array of floats in [-1, 1), or in [0.25, 1) if `positive`; of integers with one digit; or of pred."""
    random = np.random.default_rng(seed)
    element = shape.element_type
    low = 0.25 if positive else -1.0
    if element.is_complex:
        values = random.uniform(low, 1, shape.dimensions) + 1j * random.uniform(low, 1, shape.dimensions)
    elif element is ElementType.F8E8M0FNU:  # powers of two, all positive
        values = np.exp2(random.integers(-2, 3, shape.dimensions))
    elif element.is_floating:
        values = random.uniform(low, 1, shape.dimensions)
    elif element is ElementType.PRED:
        values = random.integers(0, 2, shape.dimensions)
    else:
        least = 1 if positive else -9 if element.is_signed else 0
        limit = 1 << (element.bit_width - element.is_signed)
        values = random.integers(max(least, -limit), min(10, limit), shape.dimensions)
    with np.errstate(all="ignore"):
        return np.asarray(np.asarray(values).astype(shape.dtype))


def _random_integers(element: ElementType, count: int, random: np.random.Generator) -> np.ndarray:
    """Makes random integers of all magnitudes."""
    shifts = random.integers(0, element.bit_width, count).astype(np.uint64)
    words = (
        random.integers(0, 1 << 64, count, dtype=np.uint64, endpoint=False)
        if element.bit_width == 64
        else (random.integers(0, 1 << element.bit_width, count).astype(np.uint64))
    )
    shifted = words >> shifts
    if element.is_signed:
        signs = np.where(random.integers(0, 2, count) == 1, -1, 1)
        half = (shifted >> np.uint64(1)).astype(np.int64)
        return (half * signs).astype(element.dtype)
    return shifted.astype(element.dtype)
