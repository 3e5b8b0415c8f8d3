"""Elements of ops that move elements, make them, or apply a computation to them: an entry of `GENERATORS` for each.

Those of ops that combine many elements are in `accumulators`.
"""

from __future__ import annotations

from collections.abc import Sequence

from xla_core.analysis.indexing import Condition, Index, IndexExpr, linearized
from xla_core.codegen.llvm.elements.element_emitter import (
    ElementEmitter,
    call_computation,
    constant_element,
    generator,
)
from xla_core.codegen.llvm.elements.registers import from_bits, to_bits
from xla_core.codegen.llvm.loops.ir_array import ElementValue
from xla_core.codegen.llvm.scalars.elemental import ElementalIrEmitter, elemental
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.values.element_type import ElementType


@generator(
    Opcode.BROADCAST,
    Opcode.RESHAPE,
    Opcode.BITCAST,
    Opcode.TRANSPOSE,
    Opcode.REVERSE,
    Opcode.SLICE,
    Opcode.DYNAMIC_SLICE,
    Opcode.GATHER,
)
def _moved(f: ElementEmitter, instruction: HloInstruction, index: Index) -> ElementValue:
    return f.value(instruction.operand(0), f.accesses(instruction, index)[0].index)


@generator(Opcode.CONSTANT)
def _constant(f: ElementEmitter, instruction: HloInstruction, index: Index) -> ElementValue:
    literal = instruction.literal
    return constant_element(f.context, literal, lambda: f.indices.value(linearized(index, literal.shape.dimensions)))


@generator(Opcode.IOTA)
def _iota(f: ElementEmitter, instruction: HloInstruction, index: Index) -> ElementValue:
    value = f.indices.value(index[instruction.attribute("iota_dimension")])
    return f.elemental.convert(value, ElementType.S64, instruction.shape.element_type)


@generator(Opcode.PAD)
def _pad(f: ElementEmitter, instruction: HloInstruction, index: Index) -> ElementValue:
    operand, padding = instruction.operands
    inside, _ = f.accesses(instruction, index)
    outside = f.scalar(padding)
    return f.choose(inside.conditions, lambda: f.value(operand, inside.index), lambda: outside)


@generator(Opcode.CONCATENATE)
def _concatenate(f: ElementEmitter, instruction: HloInstruction, index: Index) -> ElementValue:
    """Finds the operand that holds the index by a binary search."""
    (axis,) = instruction.attribute("dimensions")
    accesses = f.accesses(instruction, index)
    pieces = [(o, a) for o, a in zip(instruction.operands, accesses, strict=True) if o.shape.dimensions[axis]]
    limits = [0]
    for operand, _ in pieces:
        limits.append(limits[-1] + operand.shape.dimensions[axis])

    # Values that are invariant in the loop over the pieces are computed before it, so that the pieces share them.
    level = f.indices.level(index[axis])
    for operand, access in pieces:
        if operand.shape.dimensions[axis] == 1 and f.indices.level(*access.index) < level:
            f.value(operand, access.index)

    def piece(low: int, high: int) -> ElementValue:
        if high - low == 1:
            return f.value(pieces[low][0], pieces[low][1].index)
        middle = (low + high) // 2
        before = Condition.of(index[axis], limits[low], limits[middle] - 1)
        return f.choose([before], lambda: piece(low, middle), lambda: piece(middle, high))

    return piece(0, len(pieces))


@generator(Opcode.DYNAMIC_UPDATE_SLICE)
def _dynamic_update_slice(f: ElementEmitter, instruction: HloInstruction, index: Index) -> ElementValue:
    operand, update = instruction.operands[:2]
    kept, updated = f.accesses(instruction, index)[:2]
    if not update.shape.num_elements:
        return f.value(operand, kept.index)
    return f.choose(updated.conditions, lambda: f.value(update, updated.index), lambda: f.value(operand, kept.index))


@generator(Opcode.BITCAST_CONVERT)
def _bitcast_convert(f: ElementEmitter, instruction: HloInstruction, index: Index) -> ElementValue:
    operand, b = instruction.operand(0), f.b
    source, target = operand.shape.element_type, instruction.shape.element_type
    have, want = source.bit_width, target.bit_width
    if have >= want:
        bits = to_bits(b, f.value(operand, index[: operand.shape.rank]), source)
        if have > want:  # a new last dimension: parts of an element, least significant first
            shift = b.resize(b.mul(f.indices.value(index[-1]), b.int_(want)), bits.type, signed=False)
            bits = b.binary("lshr", bits, shift)
        return from_bits(b, bits, target)
    total = b.int_(0, f"i{max(want, 8)}")
    for number in range(want // have):
        piece = to_bits(b, f.value(operand, (*index, IndexExpr.of(number))), source)
        total = b.or_(total, b.shl(b.cast("zext", piece, total.type), number * have))
    return from_bits(b, total, target)


@generator(Opcode.GET_TUPLE_ELEMENT)
def _get_tuple_element(f: ElementEmitter, instruction: HloInstruction, index: Index) -> list[ElementValue]:
    operand = instruction.operand(0)
    first = sum(len(list(s.leaves())) for s in operand.shape.tuple_shapes[: instruction.tuple_index])
    return f.values(operand, index)[first : first + len(list(instruction.shape.leaves()))]


@generator(Opcode.TUPLE, Opcode.OPT_BARRIER)
def _tuple(f: ElementEmitter, instruction: HloInstruction, index: Index) -> list[ElementValue]:
    return [value for operand in instruction.operands for value in f.values(operand, index)]


@elemental(Opcode.MAP)
def _map(e: ElementalIrEmitter, instruction: HloInstruction, operands: Sequence[ElementValue]) -> ElementValue:
    (result,) = call_computation(e.context, instruction.attribute("to_apply"), operands)
    return result
