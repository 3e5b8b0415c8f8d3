"""Arithmetic in wide types on operands that were converted from narrow ones.

A pass that computes in the narrow type and converts the result has to know that it wraps there, or is rounded. Each
program has one use of its operands, because most passes rewrite a value only if it has no other.
"""

from __future__ import annotations

import dataclasses
import itertools
import zlib
from collections.abc import Callable, Mapping

import numpy as np

from xla_conformance.programs.padded_windows import WINDOWS
from xla_conformance.programs.patterns.values import Value
from xla_conformance.programs.rewrites import Rewritten
from xla_core.hlo import ElementType, HloComputation, HloModule, Shape
from xla_core.passes import Builder

_T = ElementType
_INTEGERS = tuple(map(ElementType, ("s8", "u8", "s16", "u16", "s32", "u32", "s64", "u64")))
_FLOATS = (_T.BF16, _T.F16, _T.F32, _T.F64)
_SHAPE = (4, 4)

_SUMS: Mapping[str, Callable[[Value, Value], Value]] = {
    "sums of rows": lambda x, _: x.fold("add", 0, 1),
    "sums of columns": lambda x, _: x.fold("add", 0, 0),
    "a sum": lambda x, _: x.fold("add", 0, 0, 1),
    "sums of windows": lambda x, _: WINDOWS["add"](x),
    "a convolution": lambda x, _: WINDOWS["convolution"](x),
    "a product of matrices": lambda x, y: x.dot(y),
    "x + y": lambda x, y: x + y,
    "x - y": lambda x, y: x - y,
    "x * y": lambda x, y: x * y,
    "-x": lambda x, _: -x,
    "|x|": lambda x, _: abs(x),
}
_PRODUCTS: Mapping[str, Callable[[Value, Value], Value]] = {
    "products of rows": lambda x, _: x.fold("multiply", 1, 1),
    "products of windows": lambda x, _: WINDOWS["multiply"](x),
    "x << 3": lambda x, _: x << 3,
}
"""Uses of integers alone, which have exact results."""


@dataclasses.dataclass(frozen=True)
class WideSum(Rewritten):
    """A program whose arguments are any integers of their type, or whole numbers that floats of their type hold."""

    def arguments(self, seed: int) -> list[np.ndarray]:
        random = np.random.default_rng([seed, zlib.crc32(self.name.encode())])
        return [_numbers(random, p.shape) for p in self.module().entry.parameters]


def wide_sums(seed: int, *, every: bool) -> tuple[WideSum, ...]:
    """Returns a program of each narrow type, each wider one, and each use of its numbers.

    Args:
        every: whether a use has each wider type. Otherwise they take turns, by the seed, and those with a sign do so
            where the narrow one has a sign.
    """
    found = []
    for narrow in (*_INTEGERS, *_FLOATS):
        wider = [wide for wide in (*_INTEGERS, *_FLOATS) if _is_wider(narrow, wide)]
        alike = [wide for wide in wider if wide.is_signed == narrow.is_signed]
        turns = itertools.cycle(alike)
        for _ in range(seed % max(len(alike), 1)):
            next(turns)
        for name, use in {**_SUMS, **(_PRODUCTS if narrow.is_integral else {})}.items():
            found += [_program(name, use, narrow, wide) for wide in (wider if every else [*itertools.islice(turns, 1)])]
    return tuple(found)


def _is_wider(narrow: ElementType, wide: ElementType) -> bool:
    return narrow.is_integral == wide.is_integral and wide.bit_width > narrow.bit_width


def _program(name: str, use: Callable[[Value, Value], Value], narrow: ElementType, wide: ElementType) -> WideSum:
    module = HloModule("wide_sums")
    entry = module.add_computation(HloComputation("main"), entry=True)
    builder = Builder(entry)
    x, y = (Value(builder, entry.parameter(n, Shape(narrow, _SHAPE))).to(wide.value) for n in range(2))
    entry.set_root(use(x, y).instruction)
    return WideSum(f"{name} of {narrow.value} in {wide.value}", str(module))


def _numbers(random: np.random.Generator, shape: Shape) -> np.ndarray:
    element = shape.element_type
    if element.is_integral:
        low, high = element.integer_range
        ends = random.choice(np.array([low, high], element.dtype), shape.dimensions)
        drawn = random.integers(low, high, shape.dimensions, element.dtype, endpoint=True)
        return np.where(random.integers(0, 2, shape.dimensions) > 0, drawn, ends)
    largest = 2 ** (element.mantissa_bits + 1)
    return random.integers(largest // 2, largest, shape.dimensions, endpoint=True).astype(element.dtype)
