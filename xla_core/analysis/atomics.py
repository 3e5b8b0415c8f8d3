"""Which ops combine an element in memory with a value by one atomic instruction."""

from __future__ import annotations

from xla_core.hlo.table.op_table import OpDef
from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.values.element_type import ElementType
from xla_core.target import ParallelModel

_OF_FLOATS = frozenset({Opcode.ADD})
_OF_INTEGERS = frozenset({Opcode.ADD, Opcode.AND, Opcode.OR, Opcode.XOR, Opcode.MAXIMUM, Opcode.MINIMUM})


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
        return op.opcode in _OF_FLOATS
    return element_type.is_integral and op.opcode in _OF_INTEGERS
