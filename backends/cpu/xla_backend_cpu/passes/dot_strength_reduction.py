"""A matrix times a vector is a row reduction: dot -> reduce(multiply), which fuses and streams the matrix once.

(XLA: xla/service/gpu/transforms/dot_strength_reduction.h.) Only where the matrix lies with the contracting dimension
last, so that the reduction runs along rows.
"""

from __future__ import annotations

from xla_backend_cpu.codegen.dot import DotShape
from xla_core.hlo import ElementType, HloComputation, HloInstruction, HloModule, Shape
from xla_core.hlo.builder import scalar_computation
from xla_core.passes import HloPass

__all__ = ["DotStrengthReduction"]


class DotStrengthReduction(HloPass):
    """See the module's docstring."""

    name = "cpu-dot-strength-reduction"

    def run(self, module: HloModule) -> bool:
        """Rewrites each real dot in which one side is a vector and the other has its contracting dimension last."""
        changed = False
        for computation in module.computations:
            for instruction in computation.instructions:
                if instruction.opcode == "dot":
                    changed |= _rewrite(module, computation, instruction)
        return changed


def _rewrite(module: HloModule, computation: HloComputation, dot: HloInstruction) -> bool:
    shape = DotShape.of(dot)
    types = {dot.shape.element_type, *(o.shape.element_type for o in dot.operands)}
    if shape is None or types not in ({ElementType.F32}, {ElementType.F64}) or shape.k == 1:
        return False
    if shape.n == 1 and not shape.left_transposed:
        matrix, vector = dot.operand(0), dot.operand(1)
    elif shape.m == 1 and shape.right_transposed:
        matrix, vector = dot.operand(1), dot.operand(0)
    else:
        return False
    batch = matrix.shape.dimensions[: len(dot.attribute("lhs_batch_dims"))]
    rank = len(batch)
    element_type = dot.shape.element_type
    flat = computation.add("reshape", vector, shape=Shape(element_type, (*batch, shape.k)), metadata=dot.metadata)
    spread = computation.add(
        "broadcast",
        flat,
        shape=matrix.shape.without_layout(),
        dimensions=(*range(rank), matrix.shape.rank - 1),
        metadata=dot.metadata,
    )
    product = computation.add("multiply", matrix, spread, metadata=dot.metadata)
    zero = computation.constant(0, Shape(element_type))
    add = module.add_computation(scalar_computation("add", element_type))
    rows = computation.add(
        "reduce", product, zero, dimensions=(matrix.shape.rank - 1,), to_apply=add, metadata=dot.metadata
    )
    computation.replace(dot, "reshape", rows, shape=dot.shape.without_layout())
    return True
