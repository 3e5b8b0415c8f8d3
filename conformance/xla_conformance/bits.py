"""Comparison of arrays by their bits."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from xla_conformance.failures import Failure, snapshot
from xla_conformance.wording import counted, wrong_of
from xla_core.hlo import ElementType, HloModule, Tolerance, compare_arrays

FRESH_BYTE = 0xA7
"""Fills memory before a kernel runs, so that elements which it doesn't write are recognized."""


def require_bits(
    sentence: str,
    results: Sequence[np.ndarray],
    expected: Sequence[np.ndarray],
    *,
    promise: str,
    module: HloModule | str = "",
    arguments: Sequence[np.ndarray] = (),
    tolerances: Sequence[Tolerance | None] = (),
) -> None:
    """Raises Failure unless each result has the type, the shape and the bits of the expected one.

    A result that has one of `tolerances` need not have the bits, but be within it.
    """
    results = snapshot(results)

    def wrong(
        what: str, number: int = 0, index: Sequence[int] | None = None, first: str = "", ulp: float | None = None
    ) -> Failure:
        return Failure(
            " ".join(filter(None, (first, sentence, what))),
            promise=promise,
            module=module,
            arguments=arguments,
            results=results,
            expected=expected,
            number=number,
            index=index,
            ulp=ulp,
        )

    if len(results) != len(expected):
        raise wrong(f"There are {len(results)} results, {len(expected)} are expected.")
    for number, (got, wanted) in enumerate(zip(results, expected, strict=True)):
        if got.dtype != wanted.dtype or got.shape != wanted.shape:
            raise wrong(
                f"Result {number} is {got.dtype}{list(got.shape)}, not {wanted.dtype}{list(wanted.shape)}.", number
            )
        tolerance = tolerances[number] if tolerances else None
        if tolerance is not None:
            found = compare_arrays(got, wanted, tolerance)
            if not found.equal:
                many = f"{wrong_of(found.wrong, found.elements, 'element')}."
                raise wrong(many, number, found.index, ulp=found.max_ulp)
            continue
        different = ~same_bits(got, wanted)
        if different.any():
            index = np.argwhere(different)[0]
            count = int(different.sum())
            if set(got[different].tobytes()) == {FRESH_BYTE}:
                first = f"No kernel has written {count} of {counted(different.size, 'element')} of result {number}, "
                raise wrong("", number, index, f"{first}which hold the bytes {FRESH_BYTE:#x} of fresh memory.")
            raise wrong(f"{wrong_of(count, different.size, 'element')}.", number, index)


def same_bits(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Returns which elements of two arrays of one type and shape have the same bits.

    Integers of less than 8 bits are compared by value, because numpy may extend their sign within a byte or not. A
    truth value is a byte of 0 or 1: numpy takes each other byte for true, and counts with it.
    """
    element = ElementType.from_numpy(a.dtype)
    if not (element.is_floating or element.is_complex or element is ElementType.PRED):
        return np.asarray(a == b)
    width = min(element.byte_width, 8)
    bits = np.dtype(f"u{width}")
    same = np.ascontiguousarray(a).view(bits) == np.ascontiguousarray(b).view(bits)
    parts = element.byte_width // width
    return np.asarray(same.reshape(*a.shape, parts).all(axis=-1) if parts > 1 else same.reshape(a.shape))


def split_parts(array: np.ndarray) -> np.ndarray:
    """Returns a complex array's parts along a new last dimension, and other arrays as they are."""
    if array.dtype.kind != "c":
        return array
    return np.stack([array.real, array.imag], axis=-1)
