"""The decomposition of an instruction as a computation, which is raised in its place."""

from __future__ import annotations

from collections.abc import Callable

from xla_core.errors import UnimplementedError
from xla_core.hlo.computation import HloComputation
from xla_core.hlo.decompositions.builder import Builder
from xla_core.hlo.instruction import HloInstruction
from xla_core.hlo.module import HloModule

__all__ = ["meaning_of"]


def meaning_of(
    instruction: HloInstruction, decompose: Callable[[HloInstruction, Builder], HloInstruction | None], name: str = ""
) -> HloComputation:
    """A computation of the instruction's operands, in a module of its own, that gives what the instruction does.

    Raises UnimplementedError where the decomposition has nothing for operands of these types.
    """
    name = name or instruction.opcode.replace("-", "_")
    computation = HloModule(name).add_computation(HloComputation(name), entry=True)
    parameters = [computation.parameter(i, o.shape.without_layout()) for i, o in enumerate(instruction.operands)]
    same = computation.add_instruction(instruction.clone(parameters, shape=instruction.shape.without_layout()))
    builder = Builder(computation)
    builder.source = same
    root = decompose(same, builder)
    if root is None:
        raise UnimplementedError(f"{instruction.opcode} of {instruction.shape} has no counterpart in StableHLO")
    computation.set_root(root)
    computation.remove(same)
    return computation
