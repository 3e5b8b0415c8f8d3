"""Transposes the right operand of f32 and f64 dots whose dimension order no product kernel supports.

The new operand has its batch dimensions first, then the contracting dimensions, so that a blocked product can read its
rows.
"""

from __future__ import annotations

import math

from xla_backend_cpu.codegen.dot import dot_kernel
from xla_core.hlo import ElementType, HloComputation, HloInstruction, HloModule, Opcode
from xla_core.passes import HloPass

__all__ = ["DotOperandTransposer"]

_FEWEST_FEATURES = 4  # with fewer, plain loops are as fast


class DotOperandTransposer(HloPass):
    """See the module's docstring. `blas` says whether dots may call OpenBLAS."""

    name = "cpu-dot-operand-transposer"

    def __init__(self, blas: bool) -> None:
        self.blas = blas

    def run(self, module: HloModule) -> bool:
        changed = False
        for computation in module.computations:
            for instruction in computation.instructions:
                if instruction.opcode == Opcode.DOT:
                    changed |= self._dot(computation, instruction)
        return changed

    def _dot(self, computation: HloComputation, dot: HloInstruction) -> bool:
        types = {dot.shape.element_type, *(o.shape.element_type for o in dot.operands)}
        right = dot.operand(1)
        batch, contracting = dot.attribute("rhs_batch_dims"), dot.attribute("rhs_contracting_dims")
        free = tuple(d for d in range(right.shape.rank) if d not in batch and d not in contracting)
        order = (*batch, *contracting, *free)
        if (
            types not in ({ElementType.F32}, {ElementType.F64})
            or order == tuple(range(right.shape.rank))
            or math.prod(right.shape.dimensions[d] for d in free) < _FEWEST_FEATURES
            or dot_kernel(dot, self.blas) is not None
        ):
            return False
        transposed = computation.add(Opcode.TRANSPOSE, right, dimensions=order, metadata=dot.metadata)
        new = dot.clone(
            [dot.operand(0), transposed],
            rhs_batch_dims=tuple(range(len(batch))),
            rhs_contracting_dims=tuple(range(len(batch), len(batch) + len(contracting))),
        )
        computation.replace_with(dot, computation.add_instruction(new))
        return True
