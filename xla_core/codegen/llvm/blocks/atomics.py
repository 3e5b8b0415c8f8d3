"""Atomics: threads combine values with one element of an array, in any order."""

from __future__ import annotations

from collections.abc import Sequence

from xla_core.analysis.atomics import has_atomic
from xla_core.codegen.llvm.elements.element_emitter import call_computation
from xla_core.codegen.llvm.elements.registers import from_bits, to_bits
from xla_core.codegen.llvm.ir.module import Value
from xla_core.codegen.llvm.loops.context import EmissionContext
from xla_core.codegen.llvm.loops.ir_array import ElementValue, IrArray
from xla_core.hlo.ir.combiner import combiner
from xla_core.hlo.ir.computation import HloComputation
from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.values.element_type import ElementType

_INTEGERS = {
    Opcode.ADD: ("add", "add"),
    Opcode.AND: ("and", "and"),
    Opcode.OR: ("or", "or"),
    Opcode.XOR: ("xor", "xor"),
    Opcode.MAXIMUM: ("max", "umax"),
    Opcode.MINIMUM: ("min", "umin"),
}
"""LLVM's operations on signed and on unsigned integers."""


def combine_atomically(
    context: EmissionContext, array: IrArray, place: Value, value: ElementValue, computation: HloComputation
) -> None:
    """Replaces the element at a position of an array by the computation of it and a value.

    The computation commutes and associates, and the element is no wider than the widest atomic. It is one atomic
    instruction where LLVM has it, else a loop that computes a new word until no other thread has changed the old one in
    the meantime.
    """
    b, element_type = context.builder, array.shape.element_type
    operation, scope = _operation(context, computation, element_type), context.abi.atomic_scope
    if operation and isinstance(value, Value):
        b.atomic(operation, array.address(b, place), value, scope)
        return
    bits = 8 * element_type.byte_width
    word, shift = _word(context, array, place)

    def attempt(carried: Sequence[Value]) -> tuple[Value, Sequence[Value]]:
        (old,) = carried
        stored = b.resize(b.binary("lshr", old, shift) if shift else old, f"i{bits}", signed=False)
        (result,) = call_computation(context, computation, [from_bits(b, stored, element_type), value])
        new = b.resize(to_bits(b, result, element_type), old.type, signed=False)
        if shift:
            kept = b.not_(b.binary("shl", b.int_((1 << bits) - 1, old.type), shift))
            new = b.or_(b.and_(old, kept), b.binary("shl", new, shift))
        found, done = b.compare_exchange(word, old, new, scope)
        return b.not_(done), [found]

    context.repeat(
        attempt, [b.load_atomic(f"i{max(bits, context.abi.parallel.atomic_bits[0])}", word, scope)], name="combine"
    )


def _operation(context: EmissionContext, computation: HloComputation, element_type: ElementType) -> str | None:
    """The atomicrmw operation that is equivalent to the computation."""
    op = combiner(computation)
    if op is None or not has_atomic(op, element_type, context.abi.parallel):
        return None
    return f"f{op.opcode}" if element_type.is_floating else _INTEGERS[op.opcode][not element_type.is_signed]


def _word(context: EmissionContext, array: IrArray, place: Value) -> tuple[Value, Value | None]:
    """The word that has an element, and the element's shift in it; None if the element is the word."""
    b, bits, narrowest = context.builder, 8 * array.shape.element_type.byte_width, context.abi.parallel.atomic_bits[0]
    if bits >= narrowest:
        return array.address(b, place), None
    type_, per_word = f"i{narrowest}", narrowest // bits
    word = b.gep(type_, array.pointer, b.udiv(place, b.int_(per_word)))
    inside = b.resize(b.urem(place, b.int_(per_word)), type_, signed=False)
    return word, b.mul(inside, b.int_(bits, type_))
