"""operand_accesses: the operand elements that an instruction reads for an element of its result, and how many."""

from __future__ import annotations

from collections.abc import Sequence

from xla_core.analysis.indexing.access import Access, whole_operands
from xla_core.analysis.indexing.contraction import CONTRACTIONS
from xla_core.analysis.indexing.expression import Index
from xla_core.analysis.indexing.movement import MOVEMENTS
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.op_table import Trait

_RULES = {**MOVEMENTS, **CONTRACTIONS}


def is_product(instruction: HloInstruction) -> bool:
    """Whether elements are sums of products of operand elements whose indices are known when a program is compiled.

    A ragged dot is no such product, because its indices depend on the sizes of its groups.
    """
    return Trait.PRODUCT in instruction.op.traits and instruction.opcode in CONTRACTIONS


def accumulates(instruction: HloInstruction) -> bool:
    """Whether an element combines many operand elements by loops over the variables that its accesses add."""
    return Trait.ACCUMULATES in instruction.op.traits or is_product(instruction)


def operand_accesses(instruction: HloInstruction, index: Index) -> Sequence[Access]:
    """Returns the accesses by which the instruction computes the element at `index` of its result, for each operand.

    If any element of an operand may be read, as in a sort, the access has a variable for each dimension. The access of
    a tuple has no dimensions. A result with several leaves has one index for all of them.
    """
    rule = _RULES.get(instruction.opcode)
    if rule is not None:
        return rule(instruction, index)
    if Trait.ELEMENTWISE in instruction.op.traits:
        return [Access(index if o.shape.rank else ()) for o in instruction.operands]
    return whole_operands(instruction)
