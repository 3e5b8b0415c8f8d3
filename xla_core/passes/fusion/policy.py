"""FusionPolicy: decides which instructions may share a kernel, and when that is profitable."""

from __future__ import annotations

import math
from collections.abc import Iterable

from xla_core.analysis.indexing import ReducedRows, RowParts, is_product
from xla_core.hlo.ir.effects import has_side_effect
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.op_table import Trait
from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.values.shape import Shape
from xla_core.target import FusionDecision, FusionPreferences, ParallelModel


class FusionPolicy:
    """Decides by the target's limits and costs. It suits targets whose kernels are loops over the result.

    A producer is computed inside all of its users or inside none. `is_profitable` weighs the recomputation against the
    memory traffic and the kernel launch that fusion saves.
    """

    def __init__(self, preferences: FusionPreferences | None = None, parallel: ParallelModel | None = None) -> None:
        self.preferences = preferences or FusionPreferences()
        self.parallel = parallel or ParallelModel()

    # -- what kernels can compute ------------------------------------------------------------------------------------

    def can_be_root(self, instruction: HloInstruction) -> bool:
        """Whether a fusion may compute `instruction` at its root."""
        opcode, op = instruction.opcode, instruction.op
        if opcode in self.preferences.unfusible or instruction.shape.is_dynamic or instruction.control_predecessors:
            return False
        if Trait.ACCUMULATES in op.traits:
            return self.preferences.fuse_into_reduce
        if is_product(instruction):
            return self.preferences.fuse_products
        if not instruction.shape.is_array:
            return False
        if Trait.INDEX_MAP in op.traits or opcode in (Opcode.DYNAMIC_UPDATE_SLICE, Opcode.BITCAST_CONVERT):
            return True
        return (
            Trait.ELEMENTWISE in op.traits
            and Trait.NONDETERMINISTIC not in op.traits
            and Trait.SIDE_EFFECT not in op.traits
            and not op.calls
            and opcode != Opcode.STOCHASTIC_CONVERT
        )

    def can_be_inside(self, instruction: HloInstruction) -> bool:
        """Whether the kernel of another instruction may compute `instruction`, element by element."""
        if instruction.opcode == Opcode.CONSTANT:
            return instruction.shape.is_array and instruction.shape.num_elements == 1
        return (
            self.can_be_root(instruction)
            and instruction.opcode != Opcode.DYNAMIC_UPDATE_SLICE  # computed only at the root, in place
            and instruction.shape.is_array
            and not has_side_effect(instruction)
        )

    def should_fuse(self, producer: HloInstruction, consumer: HloInstruction) -> FusionDecision:
        """Whether `producer` may be computed inside the kernel whose root is `consumer`, apart from cost."""
        if consumer.opcode == Opcode.DYNAMIC_UPDATE_SLICE and producer is consumer.operand(0):
            return FusionDecision.no("the updated array is updated in place")
        if self.preferences.should_fuse is not None:
            return self.preferences.should_fuse(producer, consumer)
        return FusionDecision.yes()

    def makes_serial(self, producer: HloInstruction, root: HloInstruction) -> bool:
        """Whether a large reduction has independent results that the kernel of `root` would compute one by one."""
        if producer.opcode != Opcode.REDUCE:
            return False
        results, parts = (next(i.shape.leaves()).num_elements for i in (producer, root))
        large = producer.operand(0).shape.num_elements >= self.parallel.split_reduction_elements
        return large and parts < min(results, self.parallel.units // 2)

    def longest_row(self, rows: ReducedRows) -> int:
        """The most elements of a row that a block of threads keeps while it computes several stages of it."""
        at_once = self.parallel.lanes if rows.inner > 1 else 1
        return self.parallel.block_elements // at_once

    def can_reduce_columns(
        self, parts: RowParts, operands: Iterable[HloInstruction], columns: Iterable[HloInstruction]
    ) -> bool:
        """Whether a kernel with these operands that reduces rows may also reduce the columns of their parts.

        A block works on a part. There must be parts enough for the device, and a block must have registers for a row
        and for the columns' reductions.
        """
        kept = parts.kept_words(operands, columns)
        return parts.count >= self.parallel.least_parts and kept <= self.parallel.kept_words

    # -- what it costs -----------------------------------------------------------------------------------------------

    def is_free(self, instruction: HloInstruction) -> bool:
        """Whether recomputing the instruction is always cheaper than reading it from memory."""
        opcode = instruction.opcode
        if opcode in (Opcode.CONSTANT, Opcode.IOTA):
            return True
        return opcode == Opcode.BROADCAST and instruction.operand(0).shape.num_elements == 1

    def cost(self, instruction: HloInstruction) -> float:
        """Returns the cost of one element of `instruction`, without its operands."""
        opcode, costs = instruction.opcode, self.preferences.costs
        shape = next(iter(instruction.shape.array_leaves()), instruction.shape)
        if opcode == Opcode.REDUCE:
            operand = instruction.operand(0).shape
            return 2.0 * operand.num_elements / max(shape.num_elements, 1)
        if opcode == Opcode.REDUCE_WINDOW:
            return float(2 * math.prod(w.size for w in instruction.attribute("window")))
        if opcode in self.preferences.expensive:
            return 2.0 * costs.transcendental
        if opcode in (Opcode.DIVIDE, Opcode.REMAINDER) and shape.element_type.is_integral:
            return costs.integer_division
        known = costs.opcodes.get(opcode)
        if known is None:
            most = costs.transcendental if Trait.TRANSCENDENTAL in instruction.op.traits else math.inf
            known = min(instruction.op.cost, most)
        return known * self._of_type(shape)

    def _of_type(self, shape: Shape) -> float:
        return self.preferences.costs.complex if shape.element_type.is_complex else 1.0

    def code_size(self, instruction: HloInstruction) -> int:
        """Returns the size of the instruction's emitted code, in simple instructions."""
        if self.is_free(instruction):
            return 0
        if Trait.TRANSCENDENTAL not in instruction.op.traits:
            return 1
        costs = self.preferences.costs
        return round(costs.transcendental_code * self._of_type(instruction.shape))

    def branch_cost(self, producer: HloInstruction) -> float:
        """The cost per element of selecting among operands inside a kernel; a root has one loop per operand."""
        branch = self.preferences.costs.branch
        if producer.opcode == Opcode.PAD:
            return branch
        if producer.opcode == Opcode.CONCATENATE and len(producer.operands) > 1:
            return branch * (1 + 2 * math.ceil(math.log2(len(producer.operands)))) / 3
        return 0.0

    def repetition_cost(self, producer: HloInstruction, times: float) -> float:
        """Returns the extra cost of computing `times` elements of `producer` again instead of loading them."""
        if Trait.INDEX_MAP in producer.op.traits:
            return 0.0  # its operand is loaded instead
        loads = sum(1 for operand in producer.operands if not self.is_free(operand))
        return max(0.0, times) * max(0.0, self.cost(producer) + loads - 1.0)

    def is_profitable(
        self, producer: HloInstruction, evaluations: float, consumers: int, repeated: float = 0.0
    ) -> FusionDecision:
        """Whether computing `producer` `evaluations` times in `consumers` kernels is cheaper than one kernel for it.

        `repeated` is the cost of the instructions between `producer` and the instruction that makes the kernels compute
        it several times: they are computed several times too. It counts against the fusion, which saves the traffic of
        one array, however many instructions are repeated.
        """
        if self.is_free(producer):
            return FusionDecision.yes()
        if consumers > self.preferences.max_consumers:
            return FusionDecision.no(f"it would be computed in {consumers} kernels")
        shape = producer.shape
        again = max(0.0, evaluations - shape.num_elements)
        inputs = sum(o.shape.byte_size for o in producer.operands if o.shape.num_elements > 1)
        if Trait.READS_PART in producer.op.traits:
            inputs = min(inputs, shape.byte_size)
        extra = repeated + self.repetition_cost(producer, again) + evaluations * self.branch_cost(producer)
        costs = self.preferences.costs
        saved = costs.kernel + costs.byte * (shape.byte_size * (1 + consumers) - inputs * (consumers - 1))
        if extra > saved:
            return FusionDecision.no(f"{again:.3g} elements would be computed again, or it branches too much")
        return FusionDecision.yes()

    def copies_allowed(self, producer: HloInstruction) -> int:
        """Returns the most indices at which one kernel may compute `producer`, whose code is emitted for each index."""
        if Trait.ACCUMULATES in producer.op.traits:
            return self.preferences.max_reduction_recomputation
        return self.preferences.max_recomputation
