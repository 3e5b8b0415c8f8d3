"""Arrays of random bits in every element type, and random views of arrays."""

from __future__ import annotations

import math

import numpy as np

from xla_conformance.failures import Failure, snapshot
from xla_conformance.wording import wrong_of
from xla_core.hlo import ElementType, Shape

_EXPONENTS = {2: 0x7C00, 4: 0x7F800000, 8: 0x7FF0000000000000}
_BFLOAT16_EXPONENT = 0x7F80


def random_bits(element: ElementType, dimensions: tuple[int, ...], random: np.random.Generator) -> np.ndarray:
    """Makes an array of random bits. A fifth of the floats are infinities and NaN of all payloads."""
    count, width = math.prod(dimensions), element.bit_width
    if element is ElementType.PRED:
        return random.integers(0, 2, dimensions).astype(np.bool_)
    if width < 8:
        values = np.arange(1 << width).astype(np.uint8)
        if not element.is_floating:
            values = values.view(np.int8) if element.is_signed else values
            values = values - (1 << (width - 1)) if element.is_signed else values
            return values.astype(element.dtype)[random.integers(0, 1 << width, dimensions)]
        return values.view(element.dtype)[random.integers(0, 1 << width, dimensions)]
    data = random.integers(0, 256, count * width // 8, dtype=np.uint8)
    part = width // 16 if element.is_complex else width // 8
    if (element.is_floating or element.is_complex) and part in _EXPONENTS:
        words = data.view(f"u{part}")
        exponent = _BFLOAT16_EXPONENT if element is ElementType.BF16 else _EXPONENTS[part]
        chosen = random.random(words.size) < 0.2
        words[chosen] |= words.dtype.type(exponent)
    return data.view(element.dtype).reshape(dimensions)


def random_dimensions(rank: int, random: np.random.Generator, most: int = 4000) -> tuple[int, ...]:
    """Dimensions of which some are 1, some at the edge of a power of two, and none makes more than `most` elements."""
    dimensions: list[int] = []
    for _ in range(rank):
        left = max(1, most // max(math.prod(dimensions), 1))
        largest = min(left, int(most ** (1 / max(rank, 1)) * 3) + 1)
        edge = (1 << int(random.integers(0, max(largest.bit_length(), 1)))) + int(random.integers(-1, 2))
        dimensions.append(max(1, min(edge, largest)) if random.random() < 0.7 else int(random.integers(1, largest + 1)))
    return tuple(int(n) for n in random.permutation(dimensions))


def random_view(element: ElementType, random: np.random.Generator, most: int) -> tuple[np.ndarray, np.ndarray]:
    """Returns a one-dimensional array and a random view of it: strides, steps, order, offset, alignment, byte order."""
    rank = int(random.integers(1, 5))
    dimensions = random_dimensions(rank, random, most)
    steps = [int(n) for n in random.choice([1, 1, 1, 2, 3], rank)]
    starts = [int(random.integers(0, 3)) for _ in range(rank)]
    whole = [start + n * step for start, n, step in zip(starts, dimensions, steps, strict=True)]
    offset = int(random.choice([0, 0, 1, 3, 4, 8, 63]))
    size = element.dtype.itemsize
    base = np.empty(math.prod(whole) * size + 64, np.uint8)
    inner = base[offset : offset + math.prod(whole) * size]
    inner[:] = np.ascontiguousarray(random_bits(element, tuple(whole), random)).reshape(-1).view(np.uint8)
    view = np.ndarray(tuple(whole), element.dtype, base, offset)
    view = view[tuple(slice(s, s + n * k, k) for s, n, k in zip(starts, dimensions, steps, strict=True))]
    view = view[tuple(slice(None, None, -1 if random.random() < 0.25 else 1) for _ in range(rank))]
    view = view.transpose(random.permutation(rank))
    way = random.integers(6)
    if way == 0 and view.dtype.kind in "iufc" and view.dtype.itemsize > 1:
        view = view.view(view.dtype.newbyteorder()) if view.dtype.isnative else view
    elif way == 1:
        view = np.broadcast_to(view, (int(random.integers(1, 4)), *view.shape))
    elif way == 2:
        view.flags.writeable = False
    return base, view


def require_same_bits(sentence: str, got: np.ndarray, wanted: np.ndarray, promise: str) -> None:
    """Raises Failure unless both have the same type, shape and bits. Bits beside a narrow element have no meaning."""
    (got,) = snapshot([got])
    if got.dtype != wanted.dtype or got.shape != wanted.shape:
        raise Failure(
            f"{sentence} It is {got.dtype}{list(got.shape)}, expected {wanted.dtype}{list(wanted.shape)}.",
            promise=promise,
        )
    if not wanted.size:
        return
    size = wanted.dtype.itemsize
    have, want = (np.ascontiguousarray(x).reshape(-1).view(np.uint8).reshape(-1, size) for x in (got, wanted))
    element = Shape.of(wanted).element_type
    if element.bit_width < 8 and element is not ElementType.PRED:  # a bool of numpy is 0 or 1
        mask = np.uint8((1 << element.bit_width) - 1)
        have, want = have & mask, want & mask
    if np.array_equal(have, want):
        return
    wrong = np.flatnonzero((have != want).any(axis=1))
    raise Failure(
        f"{sentence} {wrong_of(wrong.size, wanted.size, 'element')}.",
        promise=promise,
        results=[got],
        expected=[wanted],
        index=[int(n) for n in np.unravel_index(wrong[0], wanted.shape)],
    )
