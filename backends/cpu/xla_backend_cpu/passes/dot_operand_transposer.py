"""Transposes the right operand of f32 and f64 dots whose dimension order no product kernel supports.

The new operand has its batch dimensions first, then the contracting dimensions, so that a blocked product can read its
rows. Operands of very few columns get the contracting dimensions last, for row products.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from xla_backend_cpu.codegen.dot import dot_kernel, has_few_columns
from xla_backend_cpu.codegen.processor import Processor
from xla_core.hlo import ElementType, HloComputation, HloInstruction, HloModule, Opcode
from xla_core.passes import HloPass

_FEWEST_FEATURES = 4  # with fewer, plain loops are as fast


class DotOperandTransposer(HloPass):
    """See the module's docstring. `blas` says whether dots may call OpenBLAS."""

    name = "cpu-dot-operand-transposer"

    def __init__(self, processor: Processor, blas: bool) -> None:
        self.processor, self.blas = processor, blas

    def run(self, module: HloModule) -> bool:
        changed = False
        for computation in module.computations:
            for instruction in computation.instructions:
                if instruction.opcode == Opcode.DOT:
                    changed |= self._dot(computation, instruction)
        return changed

    def _dot(self, computation: HloComputation, dot: HloInstruction) -> bool:
        left, right = dot.operands
        types = {s.element_type for s in (dot.shape, left.shape, right.shape)}
        batch, contracting = dot.attribute("rhs_batch_dims"), dot.attribute("rhs_contracting_dims")
        free = tuple(d for d in range(right.shape.rank) if d not in batch and d not in contracting)
        if types not in ({ElementType.F32}, {ElementType.F64}):
            return False
        if _has_few_columns(dot):
            parts = batch, free, contracting
        elif dot_kernel(dot, self.processor, self.blas) is None and _size(right, free) >= _FEWEST_FEATURES:
            parts = batch, contracting, free
        else:
            return False
        order = tuple(d for part in parts for d in part)
        if order == tuple(range(right.shape.rank)):
            return False
        transposed = computation.add(Opcode.TRANSPOSE, right, dimensions=order, metadata=dot.metadata)
        new = dot.clone(
            [left, transposed],
            rhs_batch_dims=tuple(range(len(batch))),
            rhs_contracting_dims=tuple(order.index(d) for d in contracting),
        )
        computation.replace_with(dot, computation.add_instruction(new))
        return True


def _has_few_columns(dot: HloInstruction) -> bool:
    """Whether the dot has rows on the left and few columns, so that transposing the right operand costs little."""
    left = dot.operand(0)
    contracting, batch = dot.attribute("lhs_contracting_dims"), dot.attribute("lhs_batch_dims")
    if contracting != (left.shape.rank - 1,):
        return False
    taps, groups = _size(left, contracting), _size(left, batch)
    columns = dot.operand(1).shape.num_elements // max(taps * groups, 1)
    return has_few_columns(left.shape.num_elements // max(taps * groups, 1), taps, columns)


def _size(operand: HloInstruction, dims: Sequence[int]) -> int:
    return math.prod(operand.shape.dimensions[d] for d in dims)
