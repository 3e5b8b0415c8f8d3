"""What the computation of a reduce, a scatter or an all-reduce combines its operands by."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xla_core.hlo.op_table import OpDef, Trait

if TYPE_CHECKING:
    from xla_core.hlo.computation import HloComputation

__all__ = ["combiner"]

_IN_ANY_ORDER = frozenset((Trait.COMMUTATIVE, Trait.ASSOCIATIVE))


def combiner(computation: HloComputation) -> OpDef | None:
    """The commutative and associative op that a computation applies to its two parameters, and nothing else; None
    where it does more or another thing. `OpDef.identity` is the value to start from.
    """
    root, parameters = computation.root, computation.parameters
    op = root.op
    if len(parameters) != 2 or not op.traits >= _IN_ANY_ORDER or set(root.operands) != set(parameters):
        return None
    return op
