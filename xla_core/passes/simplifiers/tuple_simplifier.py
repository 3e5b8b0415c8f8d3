"""tuple_simplifier: simplifies tuple and get-tuple-element (XLA: xla/service/tuple_simplifier.h)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xla_core.hlo.ir.builder import Builder
from xla_core.hlo.ir.computation import HloComputation
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.values.literal import Literal
from xla_core.passes.rewriter import RewritePass, Rule


def _expanded_constant(i: HloInstruction, b: Builder) -> HloInstruction | None:
    """A tuple constant -> a tuple of array constants"""
    return add_constant(b.computation, i.literal) if i.shape.is_tuple else None


def add_constant(computation: HloComputation, literal: Literal) -> HloInstruction:
    """Adds a constant; for a tuple, adds constants for its elements and a tuple of them."""
    if not literal.shape.is_tuple:
        return computation.add(Opcode.CONSTANT, shape=literal.shape, literal=literal)
    return computation.add(Opcode.TUPLE, *(add_constant(computation, element) for element in literal.elements))


def forwarded_element(instruction: HloInstruction) -> HloInstruction | None:
    """The operand that a get-tuple-element of a tuple instruction returns, or None."""
    if instruction.opcode != Opcode.GET_TUPLE_ELEMENT or instruction.operands[0].opcode != Opcode.TUPLE:
        return None
    return instruction.operands[0].operands[instruction.tuple_index]


def forwarded_tuple(instruction: HloInstruction) -> HloInstruction | None:
    """The tuple of which a tuple instruction takes all elements in order, or None."""
    if instruction.opcode != Opcode.TUPLE or not instruction.operands:
        return None
    first = instruction.operands[0]
    if first.opcode != Opcode.GET_TUPLE_ELEMENT or not first.operands[0].shape.compatible(instruction.shape):
        return None
    source = first.operands[0]
    if instruction.is_root and source.shape != instruction.shape:
        return None
    for index, operand in enumerate(instruction.operands):
        if (
            operand.opcode != Opcode.GET_TUPLE_ELEMENT
            or operand.operands[0] is not source
            or operand.tuple_index != index
        ):
            return None
    return source


class TupleSimplifier(RewritePass):
    """Simplifies tuples.

    - An element of a tuple instruction is replaced with the operand.
    - A tuple of all elements of another tuple, in order, is replaced with that tuple.
    - A tuple constant is replaced with a tuple of array constants.
    """

    rules: Mapping[Opcode, Sequence[Rule]] = {
        Opcode.GET_TUPLE_ELEMENT: [lambda i, b: forwarded_element(i)],
        Opcode.TUPLE: [lambda i, b: forwarded_tuple(i)],
        Opcode.CONSTANT: [_expanded_constant],
    }

    def skips(self, instruction: HloInstruction) -> bool:
        return False
