"""Arithmetic in narrow types whose results are converted to wider ones.

A pass that converts the operands instead has to know that a narrow result wraps, or is rounded.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from xla_conformance.ops.comparison import rule_for
from xla_conformance.programs.rewrites import Rewritten
from xla_core.errors import InvalidArgumentError
from xla_core.hlo import OPS, ElementType, HloComputation, HloInstruction, HloModule, Opcode, OpDef, Shape, Trait

_T, _O = ElementType, Opcode
_INTEGERS = tuple(map(ElementType, ("s8", "u8", "s16", "u16", "s32", "u32", "s64", "u64")))
_FLOATS = (_T.BF16, _T.F16, _T.F32, _T.F64)
_SUMS = (_O.ADD, _O.SUBTRACT, _O.MULTIPLY)
_MORE = (_O.NEGATE, _O.SHIFT_LEFT, _O.ABS, _O.DIVIDE, _O.NOT)
"""Ops that may have another result in a wider type. Quick takes one of them for each pair of types."""
_SIZE = 40


def widenings(seed: int, *, every: bool) -> tuple[Rewritten, ...]:
    """Returns a program of each narrow type and each wider one.

    Args:
        every: whether a program has each elementwise op of one or two operands that is exact. Otherwise it has sums,
            products and one other op, and one of three types of another kind than the narrow one: these depend on the
            seed.
    """
    pairs = [pair for pair in itertools.product((*_INTEGERS, *_FLOATS), repeat=2) if _is_wider(*pair)]
    found = []
    for number, (narrow, wide) in enumerate(pairs):
        few = (*_SUMS, _MORE[(number + seed) % len(_MORE)])
        if every or _are_alike(narrow, wide) or (number + seed) % 3 == 0:
            found.append(_program(narrow, wide, [op for op in OPS.values() if every or op.opcode in few]))
    return tuple(found)


def _are_alike(narrow: ElementType, wide: ElementType) -> bool:
    return (narrow.is_signed, narrow.is_integral) == (wide.is_signed, wide.is_integral)


def _is_wider(narrow: ElementType, wide: ElementType) -> bool:
    """Whether the second type has more bits, or is a float that has all numbers of the first one, an integer."""
    if narrow.is_integral and wide.is_floating:
        return wide.mantissa_bits + 1 >= narrow.bit_width
    return narrow.is_integral == wide.is_integral and wide.bit_width > narrow.bit_width


def _program(narrow: ElementType, wide: ElementType, ops: Sequence[OpDef]) -> Rewritten:
    module = HloModule("widenings")
    entry = module.add_computation(HloComputation("main"), entry=True)
    shape = Shape(narrow, (_SIZE,))
    x, y = (entry.parameter(n, shape, name) for n, name in enumerate("xy"))
    results = []
    for op in ops:
        value = _applied(entry, op, x, y)
        if value is not None:
            results.append(entry.add(_O.CONVERT, value, shape=shape.with_element_type(wide)))
    entry.set_root(entry.add(_O.TUPLE, *results))
    return Rewritten(f"arithmetic of {narrow.value} that is converted to {wide.value}", str(module))


def _applied(entry: HloComputation, op: OpDef, x: HloInstruction, y: HloInstruction) -> HloInstruction | None:
    """Applies an op; None if it has another type of results, may have an error, or doesn't take the type."""
    if not op.is_elementwise or op.arity not in (1, 2) or Trait.NONDETERMINISTIC in op.traits:
        return None
    if op.missing_attribute({}) is not None or not rule_for(op, x.shape.element_type).is_exact:
        return None
    try:
        value = entry.add(op.opcode, *(x, y)[: op.arity])
    except InvalidArgumentError:
        return None
    return value if value.shape == x.shape else None
