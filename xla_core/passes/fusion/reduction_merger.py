"""reduction_merger: merges the two kernels of a divided reduction into one, whose blocks combine results by atomics."""

from __future__ import annotations

import numpy as np

from xla_core.hlo.ir.builder import Builder
from xla_core.hlo.ir.combiner import combiner
from xla_core.hlo.ir.computation import HloComputation
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.values.literal import Literal
from xla_core.hlo.values.shape import Shape
from xla_core.passes.fusion.fusion_node import create_fusion, fused_roots
from xla_core.passes.pass_manager import InstructionPass
from xla_core.target import FusionCosts, ParallelModel

_FLOATS = frozenset({Opcode.ADD})
_INTEGERS = frozenset({Opcode.ADD, Opcode.AND, Opcode.OR, Opcode.XOR, Opcode.MAXIMUM, Opcode.MINIMUM})
"""The ops for which most processors have one atomic instruction."""

_KERNELS = frozenset({Opcode.FUSION, Opcode.REDUCE})


class ReductionMerger(InstructionPass):
    """Rewrites reduce(reduce(parts), init) to scatter(init, reduce(parts)), in one fusion. Runs after fusion.

    The scatter has no indices: it combines each part with the same elements, which start as a copy of the initial
    value. The order in which parts are combined differs from run to run, so sums of floats do, too. A second kernel
    that computes anything else stays, because it is launched in any case.

    Args:
        parallel: its `atomic_bits` say which types have atomics.
        costs: an atomic moves a transaction of memory; the second kernel costs a launch, and reads each part again.
    """

    opcodes = _KERNELS

    def __init__(self, parallel: ParallelModel | None = None, costs: FusionCosts | None = None) -> None:
        self._parallel = parallel or ParallelModel()
        self._costs = costs or FusionCosts()

    def rewrite(self, computation: HloComputation, instruction: HloInstruction) -> bool:
        reduction = _only_reduction(instruction)
        if reduction is None or not self._has_atomic(reduction):
            return False
        parts, op = instruction.operand(0), combiner(reduction.attribute("to_apply"))
        if parts.opcode not in _KERNELS or parts.user_count != 1 or parts.is_root:
            return False
        if any(i.control_predecessors or i.control_successors for i in (parts, instruction)):
            return False
        (first, *others) = fused_roots(parts)
        if others or first.opcode != Opcode.REDUCE or combiner(first.attribute("to_apply")) is not op:
            return False
        if not all(_is_plain(s) for s in (parts.shape, instruction.shape)) or not self._is_cheaper(parts.shape):
            return False
        (dimension,) = reduction.attribute("dimensions")
        b = Builder(computation, instruction.metadata)
        init = np.broadcast_to(reduction.operand(1).literal.array, instruction.shape.dimensions)
        start = b.add(Opcode.CONSTANT, shape=instruction.shape, literal=Literal(init.copy(), instruction.shape))
        zero = b.constant(np.int32(0))
        indices = b.broadcast(zero, (parts.shape.dimensions[dimension], 0))
        scatter = b.add(
            Opcode.SCATTER,
            b.add(Opcode.COPY, start, shape=instruction.shape),
            indices,
            parts,
            shape=instruction.shape,
            update_window_dims=tuple(d for d in range(parts.shape.rank) if d != dimension),
            inserted_window_dims=(),
            scatter_dims_to_operand_dims=(),
            index_vector_dim=1,
            to_apply=reduction.attribute("to_apply"),
        )
        fusion = create_fusion([scatter], [parts, zero, indices, scatter], "kInput")
        instruction.replace_all_uses_with(fusion)
        for dead in (instruction, scatter, indices, zero, parts):
            computation.remove(dead)
        return True

    def _has_atomic(self, reduction: HloInstruction) -> bool:
        """Whether one atomic instruction combines an element with another."""
        op, element_type = combiner(reduction.attribute("to_apply")), reduction.shape.element_type
        ops = _FLOATS if element_type.is_floating else _INTEGERS if element_type.is_integral else frozenset()
        return op is not None and op.opcode in ops and element_type.bit_width in self._parallel.atomic_bits

    def _is_cheaper(self, parts: Shape) -> bool:
        """Whether atomics take less time than a kernel that reads the parts, which the first one stores."""
        stored = 2 * parts.element_type.byte_width
        saved = self._costs.kernel + self._costs.byte * stored * parts.num_elements
        return self._costs.byte * self._parallel.transaction_bytes * parts.num_elements < saved


def _only_reduction(kernel: HloInstruction) -> HloInstruction | None:
    """Returns the reduction of one dimension of operand 0, from a constant, if a kernel computes only that."""
    reduction, *others = fused_roots(kernel)
    if others or reduction.opcode != Opcode.REDUCE or len(reduction.operands) != 2:
        return None
    inputs = kernel.attribute("calls").parameters if kernel.opcode == Opcode.FUSION else kernel.operands
    reads, init = reduction.operands
    is_whole = reads is inputs[0] and init.opcode == Opcode.CONSTANT and len(reduction.attribute("dimensions")) == 1
    return reduction if is_whole else None


def _is_plain(shape: Shape) -> bool:
    """Whether a shape is an array whose elements are in row-major order."""
    row_major = shape.layout is None or shape.layout.is_row_major
    return shape.is_array and not shape.is_dynamic and row_major
