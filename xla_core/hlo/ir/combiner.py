"""Recognizes the op that the computation of a reduce, a scatter or an all-reduce applies."""

from __future__ import annotations

from xla_core.hlo.ir.computation import HloComputation
from xla_core.hlo.table.op_table import OpDef, Trait

IN_ANY_ORDER = frozenset((Trait.COMMUTATIVE, Trait.ASSOCIATIVE))
"""The traits of an op that may combine elements in any order."""


def combiner(computation: HloComputation) -> OpDef | None:
    """Returns the commutative and associative op that the computation applies to its two parameters.

    It is None where the computation does anything else. `OpDef.identity` gives the op's initial value.
    """
    root, parameters = computation.root, computation.parameters
    op = root.op
    if len(parameters) != 2 or not op.traits >= IN_ANY_ORDER or set(root.operands) != set(parameters):
        return None
    return op
