"""bitcast_expander: replaces bitcasts with ops whose meaning does not depend on layouts.

A bitcast reinterprets the bytes of its operand, in the order of its layout, with another shape. Layouts may change
until layout assignment. A bitcast of the program (XLA's optimized HLO contains many) therefore becomes transposes
between logical and physical order, a reshape, and a bitcast-convert if the element type differs. Layout assignment
converts those of them that move no data back to bitcasts.
"""

from __future__ import annotations

from xla_core.hlo.ir.builder import Builder
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.attributes import SliceDimension
from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.values.element_type import ElementType
from xla_core.passes.expanders.expander import OpExpander


class BitcastExpander(OpExpander):
    """Rewrites every bitcast. It must run before all passes that change layouts."""

    opcodes = frozenset({Opcode.BITCAST})

    def expand(self, instruction: HloInstruction, b: Builder) -> HloInstruction:
        result, operand = instruction.shape, instruction.operand(0)
        physical = b.transpose(operand, operand.shape.minor_to_major()[::-1])
        order = result.minor_to_major()[::-1]
        retyped = _retyped(b, physical, result.element_type)
        reshaped = b.reshape(retyped, [result.dimensions[d] for d in order])
        return b.transpose(reshaped, [order.index(d) for d in range(result.rank)])


def _retyped(b: Builder, x: HloInstruction, target: ElementType) -> HloInstruction:
    """Reinterprets the bits as another element type; the result may be flattened if the element widths differ."""
    source, count = x.shape.element_type, x.shape.num_elements
    if source is target:
        return x
    if source.is_complex:
        parts = [b.reshape(b.add(part, x), (count, 1)) for part in (Opcode.REAL, Opcode.IMAG)]
        return _retyped(b, b.add(Opcode.CONCATENATE, *parts, dimensions=(1,)), target)
    if target.is_complex:
        numbers = _retyped(b, x, target.component)
        pairs = b.reshape(numbers, (numbers.shape.num_elements // 2, 2))
        return b.add(Opcode.COMPLEX, *(_column(b, pairs, column) for column in range(2)))
    have, want = source.bit_width, target.bit_width
    shape = x.shape.without_layout().with_element_type(target)
    if have > want:
        x, shape = b.reshape(x, (count,)), shape.with_dimensions((count, have // want))
    elif have < want:
        row = count * have // want
        x, shape = b.reshape(x, (row, want // have)), shape.with_dimensions((row,))
    return b.add(Opcode.BITCAST_CONVERT, x, shape=shape)


def _column(b: Builder, pairs: HloInstruction, column: int) -> HloInstruction:
    rows = pairs.shape.dimensions[0]
    ranges = (SliceDimension(0, rows, 1), SliceDimension(column, column + 1, 1))
    return b.reshape(b.add(Opcode.SLICE, pairs, slice=ranges), (rows,))
