"""reduction_merger: merges the two kernels of a divided reduction into one, whose blocks combine results by atomics."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from xla_core.analysis.atomics import has_atomic
from xla_core.analysis.indexing import reduced_rows
from xla_core.hlo.ir.builder import Builder
from xla_core.hlo.ir.combiner import combiner
from xla_core.hlo.ir.computation import HloComputation
from xla_core.hlo.ir.fused import fused_parameters, fused_roots
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.values.literal import Literal
from xla_core.hlo.values.shape import Shape
from xla_core.passes.fusion.fusion_node import replace_with_fusion
from xla_core.passes.pass_manager import InstructionPass
from xla_core.target import FusionCosts, ParallelModel

_KERNELS = frozenset({Opcode.FUSION, Opcode.REDUCE})


class ReductionMerger(InstructionPass):
    """Rewrites reduce(reduce(parts), init) to scatter(init, reduce(parts)), in one fusion. Runs after fusion.

    The scatter has no indices: it combines each part with the same elements, which start as a copy of the initial
    value. The order in which parts are combined differs from run to run, so sums of floats do, too. Both kernels may
    have several results. A second kernel that computes anything else stays, because it is launched in any case.

    Args:
        parallel: its `atomic_bits` say which types have atomics.
        costs: an atomic moves a transaction of memory; the second kernel costs a launch, and reads each part again.
    """

    opcodes = _KERNELS

    def __init__(self, parallel: ParallelModel | None = None, costs: FusionCosts | None = None) -> None:
        self._parallel = parallel or ParallelModel()
        self._costs = costs or FusionCosts()

    def rewrite(self, computation: HloComputation, instruction: HloInstruction) -> bool:
        sums = _only_reductions(instruction)
        kernels = dict.fromkeys(_kernel_of(s.parts) for s in sums)
        if len(kernels) != 1 or len({s.parts for s in sums}) < len(sums):
            return False
        (kernel,) = kernels
        results = _results(kernel)
        if kernel.opcode not in _KERNELS or any(root.shape.is_tuple for root in fused_roots(kernel)):
            return False
        if not results or not all(map(self._can_merge, sums)):
            return False
        if not self._is_cheaper(sums):
            return False
        if any(i.control_predecessors or i.control_successors for i in (kernel, instruction)):
            return False
        b = Builder(computation, instruction.metadata)
        zero = b.constant(np.int32(0))
        merged = {s.parts: _scattered(s, zero, b) for s in sums}
        for s in sums:
            s.result.replace_all_uses_with(merged[s.parts])
        for dead in dict.fromkeys([*(s.result for s in sums), instruction]):
            computation.remove(dead)
        scatters = list(merged.values())
        members = [kernel, *results, zero, *(scatter.operand(1) for scatter in scatters), *scatters]
        replace_with_fusion([merged.get(r, r) for r in results], dict.fromkeys(members), "kInput")
        return True

    def _can_merge(self, s: _Sum) -> bool:
        """Whether only the second kernel reads the parts, and one atomic instruction combines one with another."""
        body, element_type = s.reduction.attribute("to_apply"), s.reduction.shape.element_type
        op, first = combiner(body), s.first
        if s.parts.user_count != 1 or s.parts.is_root or not all(_is_plain(x.shape) for x in (s.parts, s.reduction)):
            return False
        if first.opcode != Opcode.REDUCE or combiner(first.attribute("to_apply")) is not op or op is None:
            return False
        return has_atomic(op, element_type, self._parallel)

    def _is_cheaper(self, sums: Sequence[_Sum]) -> bool:
        """Whether atomics take less time than a kernel that reads the parts, which the first one stores."""
        transactions = stored = 0.0
        for s in sums:
            size, rows = s.parts.shape.element_type.byte_width, reduced_rows(s.first)
            # Neighbouring threads reduce neighbouring columns, whose results are in one transaction.
            at_once = min(rows.inner if rows is not None else 1, self._parallel.transaction_bytes // size)
            transactions += s.parts.shape.num_elements / max(1, at_once)
            stored += 2 * s.parts.shape.byte_size
        saved = self._costs.kernel + self._costs.byte * stored
        return self._costs.byte * self._parallel.transaction_bytes * transactions < saved


@dataclasses.dataclass(frozen=True, slots=True)
class _Sum:
    """A result of the second kernel.

    Attributes:
        reduction: what the second kernel computes.
        result: its value outside of the kernel.
        parts: the operand of the kernel that it reduces.
    """

    reduction: HloInstruction
    result: HloInstruction
    parts: HloInstruction

    @property
    def first(self) -> HloInstruction:
        """What computes the parts in the first kernel."""
        roots = fused_roots(_kernel_of(self.parts))
        return roots[self.parts.tuple_index if self.parts.opcode == Opcode.GET_TUPLE_ELEMENT else 0]


def _results(kernel: HloInstruction) -> list[HloInstruction]:
    """The values of a kernel's results outside of it; none if the tuple of them is used as a whole."""
    if not kernel.shape.is_tuple:
        return [kernel]
    users = list(kernel.users)
    is_whole = kernel.is_root or any(user.opcode != Opcode.GET_TUPLE_ELEMENT for user in users)
    return [] if is_whole else users


def _kernel_of(result: HloInstruction) -> HloInstruction:
    return result.operand(0) if result.opcode == Opcode.GET_TUPLE_ELEMENT else result


def _only_reductions(kernel: HloInstruction) -> list[_Sum]:
    """Returns the results of a kernel that reduces one dimension of each operand, from a constant, and nothing else."""
    found: list[_Sum] = []
    inputs = fused_parameters(kernel)
    outside = _results(kernel)
    for number, reduction in enumerate(fused_roots(kernel)):
        results = [r for r in outside if not kernel.shape.is_tuple or r.tuple_index == number]
        if reduction.opcode != Opcode.REDUCE or len(reduction.operands) != 2 or len(results) != 1:
            return []
        reads, init = reduction.operands
        if reads not in inputs or init.opcode != Opcode.CONSTANT or len(reduction.attribute("dimensions")) != 1:
            return []
        found.append(_Sum(reduction, results[0], kernel.operands[inputs.index(reads)]))
    return found


def _scattered(s: _Sum, zero: HloInstruction, b: Builder) -> HloInstruction:
    """The second reduction, as a scatter to a copy of the initial value."""
    (dimension,) = s.reduction.attribute("dimensions")
    shape, parts = s.reduction.shape, s.parts.shape
    init = np.broadcast_to(s.reduction.operand(1).literal.array, shape.dimensions)
    start = b.add(Opcode.CONSTANT, shape=shape, literal=Literal(init.copy(), shape))
    return b.add(
        Opcode.SCATTER,
        b.add(Opcode.COPY, start, shape=shape),
        b.broadcast(zero, (parts.dimensions[dimension], 0)),
        s.parts,
        shape=shape,
        update_window_dims=tuple(d for d in range(parts.rank) if d != dimension),
        inserted_window_dims=(),
        scatter_dims_to_operand_dims=(),
        index_vector_dim=1,
        to_apply=s.reduction.attribute("to_apply"),
    )


def _is_plain(shape: Shape) -> bool:
    """Whether a shape is an array whose elements are in row-major order."""
    row_major = shape.layout is None or shape.layout.is_row_major
    return shape.is_array and not shape.is_dynamic and row_major
