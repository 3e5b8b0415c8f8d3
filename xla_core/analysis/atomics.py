"""Which ops combine an element in memory with a value by one atomic instruction."""

from __future__ import annotations

from xla_core.hlo.table.op_table import OpDef, Trait
from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.values.element_type import ElementType
from xla_core.target import ParallelModel


def has_atomic(op: OpDef, element_type: ElementType, parallel: ParallelModel) -> bool:
    """Whether most processors have one atomic instruction for an op. Another op takes a loop of compare and exchange.

    Args:
        op: the op that combines the element with the value.
        element_type: that of both.
        parallel: its `atomic_bits` say how wide atomics are.
    """
    if element_type.bit_width not in parallel.atomic_bits:
        return False
    if element_type.is_floating:
        return op.opcode == Opcode.ADD
    return element_type.is_integral and Trait.ATOMIC in op.traits
