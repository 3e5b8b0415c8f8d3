"""Elementwise functions of real numbers, in every floating type."""

from __future__ import annotations

import functools
from collections.abc import Iterator

import numpy as np

from xla_conformance.accuracy.frame import Check, Measured, Worst
from xla_conformance.accuracy.real_functions import oracles, precise
from xla_conformance.accuracy.real_functions.formats import Errors, Exact, all_values, errors
from xla_conformance.accuracy.real_functions.functions import FUNCTIONS, Function
from xla_conformance.accuracy.real_functions.points import generator, one_operand, special_pairs
from xla_conformance.subjects import Subject
from xla_core.hlo import ElementType

Array = np.ndarray
TYPES = tuple(t for t in ElementType if t.is_floating)
GROUP, UNIT = "real", "ULP"

_BLOCK = 1 << 20
_PRECISE_SHARE = 500  # points of f32 for one of f64, whose oracle is that much slower
_LEAST_PRECISE = 2000


def checks() -> list[Check]:
    """A check for each function and type."""
    return [_check(f, t) for f in FUNCTIONS for t in TYPES]


def _check(function: Function, element_type: ElementType) -> Check:
    def measure(subject: Subject, points: int) -> Measured:
        total = Total(element_type)
        for operands, exact in _blocks(function, element_type, points):
            count = len(operands[0])
            size = min(_BLOCK, 1 << (count - 1).bit_length())
            padded = [np.concatenate([x, np.zeros(size - count, x.dtype)]) for x in operands]
            (got,) = subject.run(function.program(element_type, size), *padded)
            total.add(operands, np.asarray(got)[:count], exact, _floor(function, operands))
        return total.measured()

    return Check(GROUP, function.name, element_type.value, UNIT, measure)


def _floor(function: Function, operands: tuple[Array, ...]) -> Array | float:
    if function.floor is None:
        return 0.0
    with np.errstate(invalid="ignore"):
        return function.floor(*[x.astype(np.float64) for x in operands])


# -- points and exact results ------------------------------------------------------------------------------------------


def _blocks(function: Function, element_type: ElementType, points: int) -> Iterator[tuple[tuple[Array, ...], Exact]]:
    """Yields arguments and exact results in blocks: all values of types up to 16 bits, all pairs up to 8 bits."""
    if element_type is ElementType.F64:
        share = 1.0 if function.arity == 2 else function.share  # functions of two operands take their share below
        yield _precise_block(function, max(_LEAST_PRECISE, int(points * share) // _PRECISE_SHARE))
        return
    for operands in _operands(function, element_type, points):
        yield operands, _exact(function, element_type, operands)


def _operands(function: Function, element_type: ElementType, points: int) -> Iterator[tuple[Array, ...]]:
    if function.arity == 1:
        if element_type.bit_width <= 16:
            yield (all_values(element_type),)
            return
        spans = function.ranges, function.near
        for values in one_operand(function.name, element_type, points, *spans, angles=function.angles, block=_BLOCK):
            yield (values,)
        return
    if element_type.bit_width <= 8:
        values = all_values(element_type)
        first, second = np.meshgrid(np.arange(len(values)), np.arange(len(values)))
        yield _asked(function, values[first.ravel()], values[second.ravel()])
        return
    if element_type is not ElementType.F32:
        points = max(1, int(points * function.share))
    for a, b in _pairs(function, element_type, points):
        yield _asked(function, a, b)


def _asked(function: Function, a: Array, b: Array) -> tuple[Array, Array]:
    """The operands without orders of polygamma that the oracle doesn't support."""
    if function.name != "polygamma":
        return a, b
    with np.errstate(invalid="ignore"):
        kept = ~(a.astype(np.float64) > oracles.LARGEST_ORDER)
    return a[kept], b[kept]


def _pairs(function: Function, element_type: ElementType, points: int) -> Iterator[tuple[Array, Array]]:
    """Yields pairs: special values, bit patterns (a quarter), and the function's own points."""
    assert function.pairs is not None
    random = generator(f"{function.name} {element_type.value}")
    # the types of 16 bits are sampled as f32, and rounded
    dtype = np.dtype(np.float64 if element_type is ElementType.F64 else np.float32)
    with np.errstate(over="ignore"):
        start = [x.astype(element_type.dtype) for x in special_pairs(dtype)]
    done = 0
    while done < points:
        size = min(_BLOCK, points - done)
        quarter = size // 4
        patterns = [_patterns(random, element_type, quarter) for _ in range(2)]
        with np.errstate(all="ignore"):
            chosen = [x.astype(element_type.dtype) for x in function.pairs(random, dtype, size - quarter)]
        parts = [np.concatenate([s, p, c])[:size] for s, p, c in zip(start, patterns, chosen, strict=True)]
        yield parts[0], parts[1]
        start = [s[:0] for s in start]
        done += size


def _patterns(random: np.random.Generator, element_type: ElementType, count: int) -> Array:
    bits = np.dtype(f"u{element_type.dtype.itemsize}")
    return random.integers(0, np.iinfo(bits).max, count, bits, endpoint=True).view(element_type.dtype)


def _exact(function: Function, element_type: ElementType, operands: tuple[Array, ...]) -> Exact:
    with np.errstate(all="ignore"):
        if function.name == "next_after":
            return Exact(oracles.next_after(operands[0], operands[1], element_type))
        # as float64: 2^-30 ULP of f32
        return Exact(oracles.WIDE[function.name](*[x.astype(np.float64) for x in operands]).astype(np.float64))


@functools.lru_cache(128)
def _precise_block(function: Function, points: int) -> tuple[tuple[Array, ...], Exact]:
    """Arguments and exact results of f64, which are kept for the next subject."""
    operands = next(iter(_operands(function, ElementType.F64, points)))
    rough = _exact(function, ElementType.F64, operands)
    if function.name not in precise.PRECISE:  # exact in float64 already
        return operands, rough
    with np.errstate(all="ignore"):
        extended = oracles.WIDE[function.name](*operands)
    return operands, precise.evaluate(function.name, operands, extended)


# -- the largest error -------------------------------------------------------------------------------------------------


class Total:
    """The largest error so far, and where."""

    def __init__(self, element_type: ElementType) -> None:
        self.element_type = element_type
        self.points = self.wrong = self.rounded = 0
        self.error = 0.0
        self.worst: Worst | None = None
        self.first_wrong: Worst | None = None

    def add(self, operands: tuple[Array, ...], got: Array, exact: Exact, floor: Array | float) -> None:
        found = errors(got, exact, self.element_type, floor)
        self.points += len(got)
        self.rounded += int(np.count_nonzero((found.ulp <= 0.5) & ~found.wrong))
        place = int(np.argmax(found.ulp))
        if found.ulp[place] > self.error:
            self.error = float(found.ulp[place])
            self.worst = self._at(place, operands, got, found)
        if found.wrong.any():
            self.wrong += int(np.count_nonzero(found.wrong))
            self.first_wrong = self.first_wrong or self._at(int(np.argmax(found.wrong)), operands, got, found)

    def _at(self, place: int, operands: tuple[Array, ...], got: Array, found: Errors) -> Worst:
        return Worst(", ".join(str(x[place]) for x in operands), str(got[place]), str(float(found.expected[place])))

    def measured(self) -> Measured:
        share = self.rounded / self.points if self.points else 1.0
        return Measured(self.points, self.error, self.worst, self.wrong, self.first_wrong, share)
