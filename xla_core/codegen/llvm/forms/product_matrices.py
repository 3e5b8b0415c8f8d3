"""The products of small matrices by which a target may compute a product exactly."""

from __future__ import annotations

from collections.abc import Iterator

from xla_core.codegen.llvm.elements.accumulators import accumulated_type
from xla_core.codegen.llvm.forms.oriented_product import OrientedProduct
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.op_table import Trait
from xla_core.hlo.table.opcode import Opcode
from xla_core.target import MatrixShape, ParallelModel


def exact_shapes(product: OrientedProduct, model: ParallelModel, *, in_shared_memory: bool) -> Iterator[MatrixShape]:
    """Yields the target's shapes that compute a product exactly and are not mostly empty, in its order of preference.

    Args:
        product: the product.
        model: the target's.
        in_shared_memory: whether the operands of the shapes are in shared memory, or in registers.
    """
    return (s for s in model.matrix_shapes if s.in_shared_memory == in_shared_memory and _computes(s, product))


def _computes(shape: MatrixShape, product: OrientedProduct) -> bool:
    is_default = set(product.instruction.attribute("operand_precision")) <= {"default"}
    if shape.rounds_sums and not is_default:
        return False
    (rows, columns), depth = product.lines, product.depth
    fits = 2 * rows > shape.rows and 2 * columns > shape.columns and 2 * depth > shape.terms
    is_exact = shape.accumulator is accumulated_type(product.instruction)
    return fits and is_exact and all(_holds(shape, operand) for operand in product.instruction.operands)


def _holds(shape: MatrixShape, operand: HloInstruction) -> bool:
    """Whether the matrices can represent each value of an operand, according to its type or the op that rounded it."""
    held = shape.operand
    mantissa_bits = held.mantissa_bits if shape.mantissa_bits is None else shape.mantissa_bits
    while True:
        element_type = operand.shape.element_type
        if element_type is held and shape.mantissa_bits is None:
            return True
        if not (element_type.is_floating and held.is_floating):
            return False
        if held.holds(element_type) and element_type.mantissa_bits <= mantissa_bits:
            return True
        if operand.opcode == Opcode.REDUCE_PRECISION:
            exponent_bits, bits = operand.attribute("exponent_bits"), operand.attribute("mantissa_bits")
            return bool(exponent_bits <= held.exponent_bits and bits <= mantissa_bits)
        moves = Trait.INDEX_MAP in operand.op.traits and len(operand.operands) == 1
        widens = operand.opcode == Opcode.CONVERT and element_type.holds(operand.operand(0).shape.element_type)
        if not (moves or widens):
            return False
        operand = operand.operand(0)
