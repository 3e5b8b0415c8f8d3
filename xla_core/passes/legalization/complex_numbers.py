"""Decomposes comparisons and data movement of complex numbers into those of their real and imaginary parts.

Afterwards only real, imag and complex use complex numbers. The decompositions of arithmetic are in `elementary`.
"""

from __future__ import annotations

from xla_core.hlo.ir.builder import Builder
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.op_table import OPS, Trait
from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.values.element_type import ElementType
from xla_core.passes.legalization.decompositions import decomposition

_Parts = tuple[HloInstruction, HloInstruction]


def _parts(x: HloInstruction, b: Builder) -> _Parts:
    return b.add(Opcode.REAL, x), b.add(Opcode.IMAG, x)


def _is_complex(i: HloInstruction) -> bool:
    return i.operand(0).shape.is_array and i.operand(0).shape.element_type.is_complex


@decomposition(Opcode.REAL, Opcode.IMAG)
def _part(i: HloInstruction, b: Builder) -> HloInstruction | None:
    """The real part of a real number is itself, and its imaginary part is zero."""
    x = i.operand(0)
    if _is_complex(i):
        return None
    return x if i.opcode == Opcode.REAL else b.constant(0, x.shape)


@decomposition(Opcode.COMPARE)
def _compare(i: HloInstruction, b: Builder) -> HloInstruction | None:
    direction = i.attribute("direction")
    if not _is_complex(i) or direction not in ("EQ", "NE"):
        return None
    (x, y), (u, v) = (_parts(o, b) for o in i.operands)
    both = (b.add(Opcode.COMPARE, x, u, direction=direction), b.add(Opcode.COMPARE, y, v, direction=direction))
    return b.add(Opcode.AND if direction == "EQ" else Opcode.OR, *both)


@decomposition(Opcode.CONVERT)
def _convert(i: HloInstruction, b: Builder) -> HloInstruction | None:
    """Converts the parts. A real number gets the imaginary part 0.

    Converted to a real type, a complex number keeps its real part; converted to pred, it is true unless both parts are
    zero.
    """
    x, kind = i.operand(0), i.shape.element_type
    if not (_is_complex(i) or kind.is_complex):
        return None
    if kind is ElementType.PRED:
        return b.compare(x, b.constant(0, x.shape.without_layout()), "NE")
    real = b.add(Opcode.REAL, x) if _is_complex(i) else x
    if not kind.is_complex:
        return b.convert(real, i.shape)
    part = i.shape.without_layout().with_element_type(kind.component)
    imaginary = b.convert(b.add(Opcode.IMAG, x), part) if _is_complex(i) else b.constant(0, part)
    return b.add(Opcode.COMPLEX, b.convert(real, part), imaginary)


_NOT_PARTS = frozenset((Trait.NOP, Trait.ASYNC))
_MOVEMENT = [op.opcode for op in OPS.values() if Trait.DATA_MOVEMENT in op.traits and _NOT_PARTS.isdisjoint(op.traits)]


@decomposition(Opcode.SELECT, *(o for o in _MOVEMENT if o != Opcode.DYNAMIC_RESHAPE))
def _movement(i: HloInstruction, b: Builder) -> HloInstruction | None:
    """Moves the parts separately."""
    if not (i.shape.is_array and i.shape.element_type.is_complex) or not i.operands:
        return None
    parts: list[HloInstruction] = []
    for part in (Opcode.REAL, Opcode.IMAG):
        operands = [b.add(part, o) if o.shape.element_type.is_complex else o for o in i.operands]
        shape = i.shape.without_layout().with_element_type(i.shape.element_type.component)
        parts.append(b.clone(i, operands, shape=shape))
    return b.add(Opcode.COMPLEX, *parts)
