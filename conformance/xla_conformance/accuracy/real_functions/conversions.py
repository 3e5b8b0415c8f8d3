"""Conversions to floating types: rounded once, to nearest even."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from xla_conformance.accuracy.frame import Check, Measured
from xla_conformance.accuracy.real_functions.cases import TYPES, Total
from xla_conformance.accuracy.real_functions.formats import Exact, all_values, format_of
from xla_conformance.accuracy.real_functions.points import generator, one_operand
from xla_conformance.subjects import Subject
from xla_core.hlo import ElementType

Array = np.ndarray
_BLOCK = 1 << 20
_SHARE = 10  # there are many pairs of types
_INTEGERS = (ElementType.S32, ElementType.S64, ElementType.U64)


def checks() -> list[Check]:
    """Makes a check for each pair of types, from every floating-point type and from the wide integers."""
    return [_check(s, t) for s in (*TYPES, *_INTEGERS) for t in TYPES if s is not t]


def _check(source: ElementType, target: ElementType) -> Check:
    def measure(subject: Subject, points: int) -> Measured:
        total = Total(target)
        for values in _values(source, target, points):
            size = 1 << (len(values) - 1).bit_length()
            padded = np.concatenate([values, np.ones(size - len(values), values.dtype)])
            (got,) = subject.run(_program(source, target, size), padded)
            with np.errstate(invalid="ignore"):
                exact = Exact.of(values.astype(np.longdouble if source in _INTEGERS else np.float64))
            total.add((values,), np.asarray(got)[: len(values)], exact, 0.0)
        return total.measured()

    return Check("convert", f"from {source.value}", target.value, "ULP", measure)


def _program(source: ElementType, target: ElementType, count: int) -> str:
    a, b = f"tensor<{count}x{source.mlir_name}>", f"tensor<{count}x{target.mlir_name}>"
    return f"func.func @main(%0: {a}) -> {b} {{\n  %r = stablehlo.convert %0 : ({a}) -> {b}\n  return %r : {b}\n}}\n"


def _values(source: ElementType, target: ElementType, points: int) -> Iterator[Array]:
    """Yields all values of a source type of up to 16 bits.

    For wider types it yields numbers of all sizes and points around the midpoints of the target's numbers.
    """
    if source.bit_width <= 16:
        yield all_values(source)
        return
    random = generator(f"convert {source.value} {target.value}")
    points = max(1, points // _SHARE)
    done = 0
    while done < points:
        size = min(_BLOCK, points - done)
        if source in _INTEGERS:
            words = random.integers(0, 1 << 64, size, np.uint64, endpoint=False) >> random.integers(
                0, 64, size, np.uint64
            )
            yield words.astype(f"u{source.dtype.itemsize}").view(source.dtype)
        else:
            middles = _middles(random, source, target, size // 2)
            (rest,) = one_operand("convert", source, size - len(middles), (), ())
            yield np.concatenate([middles, rest]) if done == 0 else middles
        done += size


def _middles(random: np.random.Generator, source: ElementType, target: ElementType, count: int) -> Array:
    """Makes midpoints of the target's numbers, the target's numbers themselves, and the source neighbours of both."""
    form = format_of(target)
    low, high = np.log2(form.least) - 2, np.log2(form.largest) + 1
    size = np.exp2(random.uniform(low, high, count)) * random.choice([-1.0, 1.0], count)
    with np.errstate(all="ignore"):
        unit = form.unit(size)
        halves = (np.rint(size / unit * 2) / 2 * unit).astype(source.dtype)
        steps = random.integers(0, 3, count)
        up = np.nextafter(halves, source.dtype.type(np.inf))
        down = np.nextafter(halves, source.dtype.type(-np.inf))
    return np.asarray(np.where(steps == 0, halves, np.where(steps == 1, up, down)).astype(source.dtype))
