"""integer-narrower: computes 64-bit integers that the target lacks in 32 bits, where all their values fit.

JAX numbers the elements of random arrays by an iota of u64, for example, and converts the two halves of each number to
u32. Exported programs often compute indices in s64.
"""

from __future__ import annotations

from xla_core.analysis.integer_ranges import Range, integer_ranges
from xla_core.hlo.ir.builder import Builder
from xla_core.hlo.ir.computation import HloComputation
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.ir.module import HloModule
from xla_core.hlo.table.op_table import Trait
from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.values.element_type import ElementType
from xla_core.passes.pass_manager import HloPass
from xla_core.passes.rewriter import remove_dead
from xla_core.target import Capabilities

_NARROW = {ElementType.U64: ElementType.U32, ElementType.S64: ElementType.S32}
_LEAVES = frozenset({Opcode.CONSTANT, Opcode.IOTA})


class IntegerNarrower(HloPass):
    """Replaces conversions, comparisons and indices of wide integers by those of narrow ones with the same values."""

    name = "integer-narrower"

    def __init__(self, capabilities: Capabilities) -> None:
        own = frozenset[ElementType]().union(*capabilities.ops.values())
        self._narrow = {wide: narrow for wide, narrow in _NARROW.items() if wide not in own}

    def run(self, module: HloModule) -> bool:
        if not self._narrow:
            return False
        changed = False
        for computation in module.post_order():
            if any(self._is_wide(i) for i in computation.instructions):
                changed |= self._run(computation)
        return changed

    def _is_wide(self, i: HloInstruction) -> bool:
        return i.shape.is_array and i.shape.element_type in self._narrow

    def _run(self, computation: HloComputation) -> bool:
        changed = False
        b, ranges = Builder(computation), integer_ranges(computation)
        narrowed: dict[HloInstruction, HloInstruction] = {}
        order = computation.post_order()
        for i in order:
            b.metadata = i.metadata
            if self._is_wide(i):
                if i in ranges and self._fits(i, ranges[i]) and self._can_narrow(i, narrowed):
                    narrowed[i] = self._narrowed(b, i, narrowed)
            elif self._takes_narrow(i, narrowed):
                computation.replace_with(i, b.clone(i, [narrowed.get(o, o) for o in i.operands], shape=i.shape))
                changed = True
        for i in (*reversed(order), *reversed(b.added)):
            remove_dead(i)
        return changed

    def _fits(self, i: HloInstruction, values: Range) -> bool:
        least, greatest = self._narrow[i.shape.element_type].integer_range
        return least <= values[0] and values[1] <= greatest

    def _can_narrow(self, i: HloInstruction, narrowed: dict[HloInstruction, HloInstruction]) -> bool:
        """Whether the op on narrow operands gives the same value, which is known to fit."""
        return i.opcode in _LEAVES or all(o in narrowed or not self._is_wide(o) for o in i.operands)

    def _narrowed(
        self, b: Builder, i: HloInstruction, narrowed: dict[HloInstruction, HloInstruction]
    ) -> HloInstruction:
        shape = i.shape.without_layout().with_element_type(self._narrow[i.shape.element_type])
        if i.opcode == Opcode.CONSTANT:
            return b.constant(i.literal.array.astype(shape.element_type.dtype), shape)
        return b.clone(i, [narrowed.get(o, o) for o in i.operands], shape=shape)

    def _takes_narrow(self, i: HloInstruction, narrowed: dict[HloInstruction, HloInstruction]) -> bool:
        """Whether an instruction with a result of another type gives the same result for narrow operands."""
        wide = [number for number, o in enumerate(i.operands) if self._is_wide(o)]
        if not wide or any(i.operand(number) not in narrowed for number in wide):
            return False
        if i.opcode in (Opcode.CONVERT, Opcode.COMPARE):
            return True
        return Trait.DATA_MOVEMENT in i.op.traits and set(wide) <= set(i.op.index_operands(len(i.operands)))
