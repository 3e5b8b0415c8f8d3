"""The values of a case's arguments. Each function makes one argument: (shape, random) -> array."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence

import numpy as np

from xla_conformance.accuracy.real_functions.formats import format_of
from xla_conformance.ops.values import magnitudes, moderate, most_special, patterns, special
from xla_core.hlo import ElementType, Shape

Fill = Callable[[Shape, np.random.Generator], np.ndarray]


@dataclasses.dataclass(frozen=True)
class _Free:
    """A fill whose values may be moved and repeated within an array, so that results stay exact.

    They may not where a sum has so many terms that most of the values are zeros.

    Attributes:
        terms: how many elements, or products of two, are summed up.
        total: the type of the sums; None if it is that of the elements.
    """

    fill: Fill
    terms: int = 1
    total: ElementType | None = None

    def __call__(self, shape: Shape, random: np.random.Generator) -> np.ndarray:
        return self.fill(shape, random)


def is_free(fill: Fill, element: ElementType) -> bool:
    """Whether the values that a fill makes may be moved and repeated within an array of a type."""
    if isinstance(fill, _Free):
        total = fill.total or element
        return total.is_integral or total is ElementType.PRED or _capacity(total) >= 4 * fill.terms
    return _is_always_free(fill)


def _as_free_as(fill: Fill, made: Fill) -> Fill:
    if isinstance(fill, _Free):
        return dataclasses.replace(fill, fill=made)
    return _Free(made) if _is_always_free(fill) else made


def _is_always_free(fill: Fill) -> bool:
    return fill in (patterns, special, moderate, numbers, odd)


def exactly(*values: complex) -> Fill:
    """Makes the array of these values."""
    return lambda shape, random: np.asarray(values).astype(shape.dtype).reshape(shape.dimensions)


def with_ends(fill: Fill) -> Fill:
    """Makes arrays as `fill` does, with the ends of the type's range among their elements: sums have one result.

    Floats have an infinity and a NaN. Of integers, whose sums wrap, half are the least or the largest one, so that sums
    of a few products go beyond narrower accumulators.
    """

    def made(shape: Shape, random: np.random.Generator) -> np.ndarray:
        values, element = fill(shape, random), shape.element_type
        if element.is_integral:
            least, most = (np.asarray(n).astype(values.dtype) for n in element.integer_range)
            extremes = np.where(random.random(values.shape) < 0.75, least, most)
            return np.where(random.random(values.shape) < 0.5, extremes, values)
        if not element.is_floating or values.size < 4:
            return values
        form = format_of(element)
        ends = [np.nan] * form.has_nan + [random.choice([np.inf, -np.inf])] * element.has_infinity
        flat = values.ravel()
        flat[random.permutation(flat.size)[: len(ends)]] = np.asarray(ends).astype(values.dtype)
        return flat.reshape(values.shape)

    return _as_free_as(fill, made)


def scaled(fill: Fill, factor: float) -> Fill:
    """Makes arrays as `fill` does, times a power of two."""

    def made(shape: Shape, random: np.random.Generator) -> np.ndarray:
        wide = np.complex128 if shape.element_type.is_complex else np.float64
        return np.asarray((fill(shape, random).astype(wide) * factor).astype(shape.dtype))

    return made


def with_scales(
    sides: tuple[Fill, Fill],
    types: tuple[ElementType, ElementType],
    made: ElementType,
    free: tuple[Sequence[int], Sequence[int]],
    small: int,
) -> tuple[Fill, Fill]:
    """Makes the operands of sums of products, of which some are denormal numbers.

    The slices of the operand `small` along its free dimensions are whole numbers or denormal ones by turns, those of
    the other whole numbers or large ones. So some results are denormal, others ordinary sums of denormal numbers, and
    all are exact.

    Args:
        types: the operands' types; `made` is that of the results.
        free: the dimensions of each operand that are not summed up.
    """
    if not all((t.is_floating or t.is_complex) and t.has_zero for t in (*types, made)):
        return sides
    forms = [format_of(t.component) for t in (*types, made)]
    least = max(form.least for form in forms)
    room = math.log2(min(form.largest for form in forms)) - math.log2(2 * _capacity(made))
    factors = [2.0 ** max(math.floor(room), 0)] * 2
    factors[small] = least

    def scaled_slices(number: int) -> Fill:
        def fill(shape: Shape, random: np.random.Generator) -> np.ndarray:
            sizes = [n if d in free[number] else 1 for d, n in enumerate(shape.dimensions)]
            turns = (np.arange(math.prod(sizes)).reshape(sizes) + random.integers(2)) % 2
            wide = np.complex128 if shape.element_type.is_complex else np.float64
            values = sides[number](shape, random).astype(wide) * np.where(turns == 0, 1.0, factors[number])
            return np.asarray(values.astype(shape.dtype))

        return fill

    return scaled_slices(0), scaled_slices(1)


def with_one_product(
    sides: tuple[Fill, Fill],
    types: tuple[ElementType, ElementType],
    made: ElementType,
    free: tuple[Sequence[int], Sequence[int]],
    full: int,
) -> tuple[Fill, Fill]:
    """Makes the operands of sums in which one product alone is not zero, so that all bits of an operand count.

    The elements of the operand `full` need all bits of their mantissas. The other operand has one power of two in each
    slice along its free dimensions, and zeros beside it, so every result is exact.

    Args:
        types: the operands' types; `made` is that of the results.
        free: the dimensions of each operand that are not summed up.
    """
    if not all((t.is_floating or t.is_complex) and t.has_zero for t in (*types, made)):
        return sides
    bits = min(t.component.mantissa_bits for t in (types[full], made))

    def all_bits(shape: Shape, random: np.random.Generator) -> np.ndarray:
        is_complex, size = shape.element_type.is_complex, shape.num_elements
        # A complex product may be made of the sum of both parts, which takes one bit more.
        width = bits - 1 if is_complex else bits

        def part() -> np.ndarray:
            fraction = (random.integers(0, 1 << width, size) | 1) * 2.0**-width
            return np.asarray(random.choice([-1.0, 1.0], size) * (1.0 + fraction))

        values = part() + 1j * part() if is_complex else part()
        return np.asarray(values.astype(shape.dtype).reshape(shape.dimensions))

    def one_place(shape: Shape, random: np.random.Generator) -> np.ndarray:
        own = free[1 - full]
        order = [*own, *(d for d in range(shape.rank) if d not in own)]
        sizes = [shape.dimensions[d] for d in order]
        slices, places = math.prod(sizes[: len(own)]), math.prod(sizes[len(own) :])
        is_complex = shape.element_type.is_complex
        values = np.zeros((slices, places), np.complex128 if is_complex else np.float64)
        if values.size:
            units = [1, -1, 2, -2, 1j, -1j] if is_complex else [1, -1, 2, -2]
            values[np.arange(slices), random.integers(0, places, slices)] = random.choice(units, slices)
        return np.asarray(values.astype(shape.dtype).reshape(sizes).transpose(np.argsort(order)))

    return (all_bits, one_place) if full == 0 else (one_place, all_bits)


def indices(low: int, high: int) -> Fill:
    """Makes arrays of indices from low to high, both included at least once where there is room for them."""

    def fill(shape: Shape, random: np.random.Generator) -> np.ndarray:
        least, most = shape.element_type.integer_range
        ends = [min(max(low, least), most), min(max(high, least), most)]
        values = random.integers(ends[0], ends[1], shape.num_elements, endpoint=True)
        values[:2] = ends[: values.size]
        return random.permutation(values).reshape(shape.dimensions).astype(shape.dtype)

    return fill


def numbers(shape: Shape, random: np.random.Generator) -> np.ndarray:
    """Makes an array of numbers of all magnitudes, without infinities and NaNs. A quarter of them are special ones."""
    values = magnitudes(shape.element_type, shape.num_elements, random)
    if not shape.element_type.is_complex:
        places = random.random(values.size) < 0.25
        values[places] = random.choice(most_special(shape.element_type), np.count_nonzero(places))
    if shape.element_type.is_floating:
        values = np.where(np.isfinite(values), values, shape.dtype.type(1))
    return values.reshape(shape.dimensions)


def tied(fill: Fill) -> Fill:
    """Makes arrays as `fill` does, with its least, its middle and its largest element in half of the places."""

    def made(shape: Shape, random: np.random.Generator) -> np.ndarray:
        values = fill(shape, random)
        if not values.size:
            return values
        places = [0, values.size // 2, values.size - 1]
        order = np.argpartition(values.reshape(-1).astype(np.float64), places)
        few = values.reshape(-1)[order[places]]
        return np.where(random.random(values.shape) < 0.5, random.choice(few, values.shape), values)

    return _as_free_as(fill, made)


def huge(shape: Shape, random: np.random.Generator) -> np.ndarray:
    """Makes an array of one number whose square is the first power of two beyond the type's range."""
    return np.full(shape.dimensions, 2.0 ** (1 << (shape.element_type.exponent_bits - 2))).astype(shape.dtype)


def odd(shape: Shape, random: np.random.Generator) -> np.ndarray:
    """Makes an array of odd integers, whose products are never zero."""
    return np.asarray(patterns(shape, random) | shape.dtype.type(1)).astype(shape.dtype)


def halves(shape: Shape, random: np.random.Generator, is_low: bool) -> np.ndarray:
    """Makes integers that differ in the lower half of their bits only, or in the upper one."""
    unsigned = np.dtype(f"u{shape.dtype.itemsize}")
    low = (1 << (shape.element_type.bit_width // 2)) - 1
    mask = unsigned.type(low if is_low else np.iinfo(unsigned).max ^ low)
    same = random.integers(0, np.iinfo(unsigned).max, (), unsigned, endpoint=True)
    return np.asarray(((patterns(shape, random).view(unsigned) & mask) | (same & ~mask)).view(shape.dtype))


def mostly(ones: bool, terms: int) -> Fill:
    """Makes arrays of integers of which `terms` elements have about one bit 0 (or 1) at each place."""

    def fill(shape: Shape, random: np.random.Generator) -> np.ndarray:
        width, size = shape.element_type.bit_width, shape.num_elements
        words = np.zeros(size, np.uint64)
        rare = random.integers(0, max(size, 1), random.binomial(size * width, 1 / (1 + terms)))
        np.bitwise_or.at(words, rare, np.uint64(1) << random.integers(0, width, len(rare)).astype(np.uint64))
        if ones:
            words ^= np.uint64((1 << width) - 1)
        if shape.element_type is ElementType.PRED:
            return np.asarray(words.astype(bool).reshape(shape.dimensions))
        signed = words.view(np.int64) - ((words >> np.uint64(width - 1)).astype(np.int64) << min(width, 63))
        whole = signed if shape.element_type.is_signed and width < 64 else words
        return np.asarray(whole.astype(shape.dtype).reshape(shape.dimensions))

    return _Free(fill)


def units(shape: Shape, random: np.random.Generator) -> np.ndarray:
    """Makes an array of 1 and -1 (and of i and -i), whose products are exact; one element is 2."""
    element = shape.element_type
    count = shape.num_elements
    values = random.choice([1, -1, 1j, -1j] if element.is_complex else [1, -1] if element.has_zero else [1], count)
    values[:1] = 2 if element.bit_width > 4 else 1
    return random.permutation(values).astype(shape.dtype).reshape(shape.dimensions)


def whole(bits: int) -> Fill:
    """Makes arrays of odd numbers of so many bits at most, of either sign."""
    return lambda shape, random: _whole(shape, 2.0 ** max(bits, 1) - 1, random)


def terms(count: int, accumulator: ElementType | None = None) -> Fill:
    """Makes arrays of whole numbers of which any `count` have an exact sum in the accumulator, in any order.

    Most sums need all bits of the accumulator, so that they are inexact in a narrower one. Integers wrap, so they have
    any bits.
    """

    def fill(shape: Shape, random: np.random.Generator) -> np.ndarray:
        return _whole(shape, _capacity(accumulator or shape.element_type) / max(count, 1), random)

    return _Free(fill, count, accumulator)


def factors(count: int, accumulator: ElementType, bits: str = "even") -> tuple[Fill, Fill]:
    """Returns the fills of two arrays of whole numbers, whose sums of `count` products are exact in the accumulator.

    Args:
        bits: whether the arrays have numbers of equally many bits ("even"), or "lhs" or "rhs" has most of them.
    """
    if accumulator is ElementType.PRED:
        return mostly(False, count), patterns
    largest = _capacity(accumulator) / max(count, 1) if not accumulator.is_integral else 1.0
    largest /= 4 if accumulator.is_complex else 1
    first = max(1.0, math.floor(largest ** {"even": 0.5, "lhs": 0.9, "rhs": 0.1}[bits]))

    def left(shape: Shape, random: np.random.Generator) -> np.ndarray:
        return _whole(shape, min(first, largest), random)

    def right(shape: Shape, random: np.random.Generator) -> np.ndarray:
        return _whole(shape, max(1.0, largest / first), random)

    return _Free(left, count, accumulator), _Free(right, count, accumulator)


def _capacity(element: ElementType) -> float:
    """Returns the number up to which a type has all whole numbers."""
    part = element.component
    return min(2.0 ** (part.mantissa_bits + 1), format_of(part).largest) if part.is_floating else 1.0


def _whole(shape: Shape, largest: float, random: np.random.Generator) -> np.ndarray:
    """Makes odd numbers of either sign up to the largest; if it is below 1, mostly zeros and some 1 and -1."""
    element, size = shape.element_type, shape.num_elements
    if not (element.is_floating or element.is_complex):
        return patterns(shape, random)

    if not element.has_zero:
        return random.choice([1.0, 2.0], shape.dimensions).astype(shape.dtype)

    def part() -> np.ndarray:
        sign = random.choice([-1.0, 1.0], size)
        if largest < 1:
            return np.where(random.random(size) < largest / 2, sign, 0.0)
        return sign * (random.integers(0, int(min(largest, _capacity(element)) + 1) // 2, size) * 2 + 1)

    values = part() + 1j * part() if element.is_complex else part()
    return np.asarray(values).astype(shape.dtype).reshape(shape.dimensions)
