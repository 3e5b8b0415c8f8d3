"""hlo_constant_folding: evaluates instructions of constants (XLA: xla/service/hlo_constant_folding.h).

The reference evaluator computes the values, with limits on the size of results and on the steps of loops. An array
whose elements are all equal stays a broadcast of a scalar.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from xla_core.errors import InternalError, XlaError
from xla_core.hlo.evaluation.environment import Value
from xla_core.hlo.evaluation.evaluation_context import ELEMENTS_PER_STEP, EvaluationContext
from xla_core.hlo.ir.computation import HloComputation
from xla_core.hlo.ir.effects import EffectAnalysis
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.ir.module import HloModule
from xla_core.hlo.table.op_table import PINNED, Trait
from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.values.literal import Literal
from xla_core.passes.pass_manager import HloPass
from xla_core.passes.patterns import uniform_value
from xla_core.passes.rewriter import remove_dead
from xla_core.passes.simplifiers.tuple_simplifier import add_constant

_MAX_ELEMENTS = 1 << 20  # of a result
_MAX_GROWTH = 2.0  # the bytes of a result by those of its operands, for results of more than 4 KiB
_MAX_OPERATIONS = 1 << 26  # the most scalar operations of one instruction
_MAX_STEPS = 4096  # the most evaluator steps of a loop, branch or call


class HloConstantFolding(HloPass):
    """Replaces instructions whose operands are constants with constants.

    Args:
        accept: whether the target supports a broadcast, which the pass adds for uniform arrays; None for any.
    """

    def __init__(self, accept: Callable[[HloInstruction], bool] | None = None) -> None:
        self._accept = accept

    def run(self, module: HloModule) -> bool:
        changed = False
        pinned = EffectAnalysis(PINNED, frozenset({Opcode.CUSTOM_CALL}))
        for computation in module.post_order():
            for instruction in computation.post_order():
                kept = Trait.NOT_FOLDED in instruction.op.traits or pinned.of(instruction)
                if instruction.parent is None or kept:
                    continue
                if instruction.control_predecessors or instruction.control_successors:
                    continue
                new = self._fold(computation, instruction)
                if new is None:
                    continue
                operands = list(instruction.operands)
                new.metadata = instruction.metadata
                computation.replace_with(instruction, new)
                for operand in operands:
                    remove_dead(operand)
                changed = True
        return changed

    def _fold(self, computation: HloComputation, instruction: HloInstruction) -> HloInstruction | None:
        shape = instruction.shape
        if shape.dynamic_dimensions or not (instruction.operands or instruction.opcode == Opcode.CALL):
            return None
        if instruction.is_elementwise and shape.rank and instruction.opcode != Opcode.MAP:
            uniform = _fold_uniform(computation, instruction)
            if uniform is not None and (self._accept is None or self._accept(uniform)):
                return uniform
            if uniform is not None:
                remove_dead(uniform)
        if any(o.opcode != Opcode.CONSTANT for o in instruction.operands) or not _is_small(instruction):
            return None
        literal = _evaluate(instruction)
        return None if literal is None else add_constant(computation, literal)


def _is_small(instruction: HloInstruction) -> bool:
    shape = instruction.shape
    elements = sum(leaf.num_elements for leaf in shape.leaves())
    given = sum(o.shape.byte_size for o in instruction.operands)
    if elements > _MAX_ELEMENTS or (shape.byte_size > 4096 and shape.byte_size > _MAX_GROWTH * given):
        return False
    if any(not leaf.is_array for leaf in shape.leaves()):
        return False
    operations = elements
    if Trait.SUPERLINEAR in instruction.op.traits:
        window = math.prod(w.size for w in instruction.attributes.get("window", ()))
        operations *= max(window, *(o.shape.num_elements for o in instruction.operands))
    operations = max(operations, sum(o.shape.num_elements for o in instruction.operands))
    return operations <= _MAX_OPERATIONS


def _evaluate(instruction: HloInstruction) -> Literal | None:
    """The value of an instruction, or None if the evaluator cannot compute it within its limits."""
    is_counted = Trait.CONTROL_FLOW in instruction.op.traits
    max_steps = _MAX_STEPS if is_counted else max(_MAX_STEPS, _MAX_OPERATIONS // ELEMENTS_PER_STEP)
    context = EvaluationContext(max_steps=max_steps, max_bytes=1 << 28)
    value = _run(context, instruction, [o.literal.value for o in instruction.operands])
    return None if value is None else Literal.of_value(value, instruction.shape)


def _run(context: EvaluationContext, instruction: HloInstruction, operands: list[Value]) -> Value | None:
    try:
        with np.errstate(all="ignore"):
            return context.evaluate(instruction, operands)
    except InternalError:
        raise  # a defect of the evaluator must not be hidden
    except XlaError:
        return None


def _fold_uniform(computation: HloComputation, instruction: HloInstruction) -> HloInstruction | None:
    """Folds an elementwise op of uniform arrays: evaluates it on scalars and broadcasts the result."""
    values = [uniform_value(o) for o in instruction.operands]
    if any(v is None for v in values) or math.prod(instruction.shape.dimensions) == 0:
        return None
    shape = instruction.shape.without_layout().with_dimensions(())
    scalar = HloInstruction(instruction.opcode, shape, (), instruction.attributes)
    value = _run(EvaluationContext(max_steps=_MAX_STEPS), scalar, list(values))
    if value is None:
        return None
    constant = computation.add(Opcode.CONSTANT, shape=shape, literal=Literal(np.asarray(value), shape))
    return computation.add(Opcode.BROADCAST, constant, shape=instruction.shape, dimensions=())
