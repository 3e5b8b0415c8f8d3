"""Ops with a constant on either side: a number that an identity holds for, or an array that is almost of one number.

A pass knows that `x * 1` is `x`, and that no integer is less than the least one. It must look at the side of the
constant, at the type of its elements, at the sign of zeros, and at each element of an array.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from xla_conformance.ops.comparison import rule_for
from xla_conformance.programs.rewrites import Rewritten
from xla_core.errors import InvalidArgumentError
from xla_core.hlo import (
    OPS,
    ElementType,
    HloComputation,
    HloInstruction,
    HloModule,
    Opcode,
    OpDef,
    Shape,
    Trait,
)

_T, _O = ElementType, Opcode
CONSTANT_TYPES = (_T.F32, _T.S32, _T.U8, _T.PRED)
_NUMBERS = CONSTANT_TYPES[:3]
_SIZE = 40
_LOGICAL = (_O.AND, _O.OR, _O.XOR, _O.COMPARE)
"""The ops of truth values."""
_LEFT_OUT = (_O.COMPLEX, _O.MULHI)
"""Ops without identities."""


def constant_operands(element: ElementType, seed: int, *, every: bool) -> tuple[Rewritten, ...]:
    """Returns a program of each elementwise op of two operands, with constants on both sides.

    Args:
        every: whether each op has its program in every type of numbers. Else it has one in a type that depends on the
            seed, and comparisons have another one in floats.
    """
    ops = [op for op in OPS.values() if op.is_elementwise and op.arity == 2 and op.opcode not in _LEFT_OUT]
    made = []
    for number, op in enumerate(ops):
        types = [t for t in _NUMBERS if _has(op, t) and (op.opcode is not _O.COMPARE or t.is_integral)]
        turn = (number + seed) % max(len(types), 1)
        left_out = [] if every else [t for t in types if t is not types[turn]]
        if _has(op, element) and element not in left_out:
            made.append(_program(op, element))
    return tuple(made)


def _has(op: OpDef, element: ElementType) -> bool:
    """Whether the op takes a type, and passes know its identities there."""
    if element is _T.PRED:
        return op.opcode in _LOGICAL
    if Trait.NONDETERMINISTIC in op.traits or not (rule_for(op, element).is_exact or op.opcode is _O.POWER):
        return False
    scratch = HloComputation("scratch")
    x = scratch.parameter(0, Shape(element))
    try:
        scratch.add(op.opcode, x, x, **_attributes(op)[0])
    except InvalidArgumentError:
        return False
    return element.is_floating or op.opcode is not _O.POWER


def _program(op: OpDef, element: ElementType) -> Rewritten:
    """Returns the program of an op. It joins the results, so that one kernel may compute them."""
    module, entry = HloModule("constant_operands"), HloComputation("main")
    module.add_computation(entry, entry=True)
    x = entry.parameter(0, Shape(element, (_SIZE,)), "x")
    results: list[HloInstruction] = []
    for array in _arrays(element):
        constant = entry.constant(array, x.shape)
        for operands in ((x, constant), (constant, x)):
            results += [entry.add(op.opcode, *operands, **given) for given in _attributes(op)]
    entry.set_root(entry.add(_O.CONCATENATE, *results, dimensions=(0,)))
    return Rewritten(f"{op.opcode} of {element.value} and constants", str(module))


def _attributes(op: OpDef) -> list[dict[str, Any]]:
    """Returns the attributes that the op may have: each direction of a comparison, else none."""
    if op.opcode is _O.COMPARE:
        return [{"direction": direction} for direction in ("LT", "LE", "GT", "GE", "EQ", "NE")]
    return [{}]


def _arrays(element: ElementType) -> Iterator[np.ndarray]:
    """Yields numbers, arrays that are of one number but for one element, and numbers in order."""
    if element is _T.PRED:
        numbers: list[float] = [False, True]
    elif element.is_integral:
        low, high = element.integer_range
        numbers = [0, 1, 2, 8, low, high, *([-1] if low else [high - 1])]
    else:
        of = np.finfo(element.dtype)
        ends = [of.smallest_subnormal, of.tiny / 4, of.tiny, of.max]  # the reciprocals of the first two are infinite
        numbers = [0.0, -0.0, 1, -1, 2, 0.5, np.inf, -np.inf, np.nan, *ends]
    for number in numbers:
        yield np.array(number).astype(element.dtype)
    for most, one, at in ((0, 1, -1), (1, 0, 0)):
        array = np.full(_SIZE, most, element.dtype)
        array[at] = one
        yield array
    if element is not _T.PRED:
        yield np.arange(_SIZE).astype(element.dtype)
