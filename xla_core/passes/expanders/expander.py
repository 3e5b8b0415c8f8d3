"""The base class of expander passes, which replace each instruction of some opcodes.

(XLA: xla/service/op_expander_pass.h.)
"""

from __future__ import annotations

import abc
from collections.abc import Callable
from typing import ClassVar

from xla_core.hlo.ir.builder import Builder
from xla_core.hlo.ir.computation import HloComputation
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.values.element_type import ElementType
from xla_core.hlo.values.shape import Shape
from xla_core.passes.pass_manager import InstructionPass
from xla_core.passes.rewriter import remove_dead, replace


class OpExpander(InstructionPass):
    """Replaces instructions of `opcodes` that `matches` accepts with the result of `expand`.

    Args:
        only: selects the instructions to expand, for example those that a target does not support. None selects all.
    """

    widens: ClassVar[bool] = False
    """Whether floats of fewer than 32 bits are expanded in f32 and rounded once, at the end."""

    def __init__(self, only: Callable[[HloInstruction], bool] | None = None) -> None:
        self._only = only

    def matches(self, instruction: HloInstruction) -> bool:
        """Whether `expand` supports the instruction. Instructions with dynamic shapes are excluded before."""
        return True

    @abc.abstractmethod
    def expand(self, instruction: HloInstruction, b: Builder) -> HloInstruction:
        """Adds the replacement with `b` and returns it; its shape must be compatible with the instruction's."""

    def expand_in_width(self, instruction: HloInstruction, b: Builder) -> HloInstruction:
        """Like `expand`, but computes ops of narrow floats in f32 if the expander `widens`."""
        if self.widens and _is_narrow(instruction):
            return _expand_in_f32(self, instruction, b)
        return self.expand(instruction, b)

    def rewrite(self, computation: HloComputation, instruction: HloInstruction) -> bool:
        if instruction.shape.is_dynamic or not (self._only is None or self._only(instruction)):
            return False
        if not self.matches(instruction):
            return False
        builder = Builder(computation, instruction.metadata)
        operands = list(instruction.operands)
        replace(instruction, self.expand_in_width(instruction, builder))
        for operand in operands:
            remove_dead(operand)
        return True


def _is_narrow(instruction: HloInstruction) -> bool:
    types = [leaf.element_type for leaf in instruction.shape.leaves()]
    return all(t.is_floating and t.bit_width < 32 for t in types)


def _expand_in_f32(expander: OpExpander, instruction: HloInstruction, b: Builder) -> HloInstruction:
    """Expands the same instruction in f32 and converts the result back."""
    wide = [o.shape.with_element_type(ElementType.F32) for o in instruction.operands]
    leaves = [leaf.without_layout() for leaf in instruction.shape.leaves()]
    shapes = [leaf.with_element_type(ElementType.F32) for leaf in leaves]
    operands = [b.convert(o, shape) for o, shape in zip(instruction.operands, wide, strict=True)]
    clone = b.clone(instruction, operands, shape=Shape.tuple(shapes) if instruction.shape.is_tuple else shapes[0])
    expanded = expander.expand(clone, b)
    remove_dead(clone)
    if not instruction.shape.is_tuple:
        return b.convert(expanded, leaves[0])
    parts = [b.add(Opcode.GET_TUPLE_ELEMENT, expanded, index=i) for i in range(len(leaves))]
    return b.add(Opcode.TUPLE, *(b.convert(part, leaf) for part, leaf in zip(parts, leaves, strict=True)))
