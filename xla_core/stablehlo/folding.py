"""The value of an instruction that depends on constants alone: shape operands, padding amounts, slice sizes."""

from __future__ import annotations

import numpy as np

from xla_core.hlo.computation import HloComputation
from xla_core.hlo.instruction import HloInstruction
from xla_core.hlo.module import HloModule
from xla_core.hlo.op_table import Trait

__all__ = ["static_value"]

_STATE_DEPENDENT = frozenset((Trait.NONDETERMINISTIC, Trait.COLLECTIVE, Trait.SIDE_EFFECT))


def static_value(instruction: HloInstruction) -> np.ndarray | None:
    """Evaluates an instruction by the reference evaluator; None where a parameter, or state, is among what it needs."""
    if instruction.opcode == "constant":
        return instruction.literal.array
    slice_ = _backward_slice(instruction)
    if slice_ is None:
        return None
    from xla_core.hlo.evaluator import evaluate  # only programs with computed shapes need it

    module = HloModule("static_value")
    computation = HloComputation("main")
    copies: dict[HloInstruction, HloInstruction] = {}
    for old in slice_:
        copies[old] = computation.add_instruction(old.clone([copies[o] for o in old.operands]))
    computation.set_root(copies[instruction])
    module.add_computation(computation, entry=True)
    return evaluate(module)[0]


def _backward_slice(root: HloInstruction) -> list[HloInstruction] | None:
    """What `root` needs, operands first; None where that is not constants alone."""
    order: list[HloInstruction] = []
    done: set[HloInstruction] = set()
    stack = [root]
    while stack:
        node = stack[-1]
        if node in done:
            stack.pop()
            continue
        if node.opcode == "parameter" or node.op.traits & _STATE_DEPENDENT or node.has_side_effect:
            return None
        missing = [o for o in node.operands if o not in done]
        if missing:
            stack += missing
        else:
            stack.pop()
            done.add(node)
            order.append(node)
    return order
