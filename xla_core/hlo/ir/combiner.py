"""Recognizes the op that the computation of a reduce, a scatter or an all-reduce applies."""

from __future__ import annotations

from collections.abc import Sequence

from xla_core.hlo.ir.computation import HloComputation
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.op_table import OpDef, Trait

IN_ANY_ORDER = frozenset((Trait.COMMUTATIVE, Trait.ASSOCIATIVE))
"""The traits of an op that may combine elements in any order."""


def combiner(computation: HloComputation) -> OpDef | None:
    """Returns the commutative and associative op that the computation applies to its two parameters.

    It is None where the computation does anything else. `OpDef.identity` gives the op's initial value.
    """
    parameters = computation.parameters
    return computation.root.op if len(parameters) == 2 and is_combination(computation.root, parameters) else None


def is_combination(instruction: HloInstruction, values: Sequence[HloInstruction]) -> bool:
    """Whether an instruction is a commutative and associative op on the two values."""
    return instruction.op.traits >= IN_ANY_ORDER and set(instruction.operands) == set(values)
