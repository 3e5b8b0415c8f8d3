"""dot_strength_reduction: replaces a matrix-vector product with a multiplication and a reduction.

(XLA: xla/service/gpu/transforms/dot_strength_reduction.h.)
"""

from __future__ import annotations

from xla_core.hlo.ir.builder import Builder
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.values.element_type import ElementType
from xla_core.passes.expanders.expander import OpExpander


class DotStrengthReduction(OpExpander):
    """Rewrites f32 and f64 dots with one vector operand, if the contracting dimension of the matrix is its last.

    The reduction runs along the rows of the matrix, fuses with its producers, and reads the matrix once. Batch
    dimensions must come first.
    """

    opcodes = frozenset({Opcode.DOT})

    def matches(self, instruction: HloInstruction) -> bool:
        return _sides(instruction) is not None

    def expand(self, instruction: HloInstruction, b: Builder) -> HloInstruction:
        sides = _sides(instruction)
        assert sides is not None
        matrix, vector = sides
        dims, batch = matrix.shape.dimensions, len(instruction.attribute("lhs_batch_dims"))
        rows = b.reshape(vector, (*dims[:batch], dims[-1]))
        product = b.add(Opcode.MULTIPLY, matrix, b.broadcast(rows, dims, (*range(batch), len(dims) - 1)))
        return b.reshape(b.reduce(product, Opcode.ADD, 0, (len(dims) - 1,)), instruction.shape.dimensions)


def _sides(dot: HloInstruction) -> tuple[HloInstruction, HloInstruction] | None:
    """(matrix, vector) of a dot that the pass rewrites, else None."""
    batch = tuple(range(len(dot.attribute("lhs_batch_dims"))))
    shapes = [dot.shape, *(o.shape for o in dot.operands)]
    contracted = [dot.attribute(f"{side}_contracting_dims") for side in ("lhs", "rhs")]
    if (
        dot.attribute("algorithm") is not None  # the algorithm says how to round and to add
        or len({s.element_type for s in shapes}) > 1
        or dot.shape.element_type not in (ElementType.F32, ElementType.F64)
        or any(s.layout is not None and not s.layout.is_row_major for s in shapes)
        or any(dot.attribute(f"{side}_batch_dims") != batch for side in ("lhs", "rhs"))
        or len(contracted[0]) != 1
    ):
        return None
    for (matrix, last), vector in zip(zip(dot.operands, contracted, strict=True), reversed(dot.operands), strict=True):
        # All of the vector's dimensions besides the batch and the contracted one have one element.
        is_vector = vector.shape.num_elements * matrix.shape.num_elements != 0 and (
            dot.shape.num_elements * matrix.shape.dimensions[last[0]] == matrix.shape.num_elements
        )
        if is_vector and last == (matrix.shape.rank - 1,) and matrix.shape.dimensions[-1] > 1:
            return matrix, vector
    return None
