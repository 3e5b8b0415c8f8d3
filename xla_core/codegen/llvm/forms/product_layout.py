"""How the tiles of a product's operands are copied to shared memory, and lie there."""

from __future__ import annotations

from collections.abc import Sequence

from xla_core.analysis.indexing import FusionAccesses, IndexExpr, Variable, one_loop
from xla_core.codegen.llvm.blocks.tile_copy import Swizzle, TileLayout
from xla_core.codegen.llvm.elements.accumulators import accumulated_type
from xla_core.codegen.llvm.forms.kernel_form import KernelBody
from xla_core.codegen.llvm.forms.oriented_product import OrientedProduct
from xla_core.hlo.table.op_table import Trait
from xla_core.hlo.values.element_type import ElementType
from xla_core.target import MatrixShape, ParallelModel

PADDING = 4
"""Elements between the lines of a tile, so that its columns don't all lie in the same banks."""

_CHUNK_BYTES = 16  # of what swizzling moves, and of a row that the lanes of a group load together
_THREADS_AT_ONCE = 8  # that store vectors to shared memory


def kept_type(product: OrientedProduct, matrix: MatrixShape | None) -> ElementType:
    """Returns the type in which shared memory holds elements: that of the matrices, or that which threads add up."""
    return accumulated_type(product.instruction) if matrix is None else matrix.operand


def tile_layout(
    body: KernelBody,
    product: OrientedProduct,
    side: int,
    lines: int,
    terms: int,
    matrix: MatrixShape | None,
    *,
    row: int = 0,
) -> TileLayout:
    """Returns how tiles of an operand are copied: along what is contiguous in memory, by wide reads.

    Args:
        body: the kernel.
        product, side: the operand.
        lines, terms: the sizes of a tile.
        matrix: the product of small matrices by which the kernel multiplies, if it does.
        row: the length, in elements, of the rows that the device reads from shared memory; 0 if it reads none.
    """
    model, kept, all_lines = body.parallel, kept_type(product, matrix).byte_width, product.lines[side]
    batch = Variable("batch", product.batch, "batch")
    line, term = Variable("line", all_lines, "line"), Variable("term", product.depth, "term")
    access = product.access(side, *map(IndexExpr.of, (batch, line, term)))
    accesses = FusionAccesses(body.bound, one_loop)
    accesses.visit(product.operand(side), access.index)
    loads = sorted(accesses.loads, key=lambda load: -load.source.shape.byte_size)
    position = loads[0].position if loads else IndexExpr.of(0)
    source = loads[0].source.shape.element_type.byte_width if loads else kept
    conditions = [c.expr for c in access.conditions]
    most = max(1, model.vector_bytes // max(source, kept))
    widths = {
        variable: _width(variable, position, conditions, min(most, size))
        for variable, size in ((term, terms), (line, lines))
    }
    along_depth = widths[term] >= max(widths[line], 1) and (widths[term] > 0 or widths[line] == 0)
    width = max(1, widths[term if along_depth else line])
    run = max(1, min((terms if along_depth else lines) // width, model.transaction_bytes // (width * source)))
    strides, spread = (1, lines + PADDING), 1
    padding = max(model.vector_bytes, _CHUNK_BYTES if model.matrix_loads else 0) // kept
    swizzle = Swizzle(row, _CHUNK_BYTES // kept) if row else None
    if row:
        strides = (row, 1) if along_depth else (1, row)
        run = run if along_depth else max(1, min(row, lines) // width)
    elif matrix is not None and (along_depth or not _turns(model, matrix)):
        strides = (terms + max(PADDING, padding), 1)
    elif matrix is not None:
        strides, run = (1, lines + padding), lines // width
        # The lines of a term are an odd number of vectors apart from those of the next one. Eight threads that store
        # vectors at once use all banks if the terms that they store to are as many apart as a term has vectors.
        if width * kept == model.vector_bytes and terms % _THREADS_AT_ONCE == 0:
            spread = max(1, _THREADS_AT_ONCE // run)
    elif not along_depth:
        run = lines // width
    return TileLayout(all_lines, product.depth, lines, terms, along_depth, width, run, *strides, spread, swizzle)


def is_copied(
    body: KernelBody, product: OrientedProduct, side: int, layout: TileLayout, matrix: MatrixShape | None
) -> bool:
    """Whether an operand's tiles can be copied without registers: shared memory has its elements as memory has them."""
    operand = product.operand(side)
    element_type = operand.shape.element_type
    rounds = matrix is not None and matrix.mantissa_bits is not None
    kept = accumulated_type(product.instruction) if rounds else kept_type(product, matrix)
    size = layout.width * element_type.byte_width
    if (
        element_type is not kept
        or kept.is_complex
        or layout.vector != layout.width
        or size not in body.parallel.copy_bytes
    ):
        return False
    while operand not in body.bound:
        moves = Trait.INDEX_MAP in operand.op.traits and len(operand.operands) == 1
        if not moves or operand.operand(0).shape.element_type is not element_type:
            return False
        operand = operand.operand(0)
    return operand.shape.layout is None or not operand.shape.layout.element_size_in_bits


def _turns(model: ParallelModel, matrix: MatrixShape) -> bool:
    """Whether the lanes load matrices whose lines, not whose terms, are neighbours in shared memory."""
    return model.matrix_loads and matrix.operand.byte_width == 2 and matrix.mantissa_bits is None


def _width(variable: Variable, position: IndexExpr, conditions: Sequence[IndexExpr], most: int) -> int:
    """How many neighbours along a variable are neighbours in memory, aligned and under the same conditions.

    Returns 0 if not even two neighbours are.
    """
    width = most
    while width > 1:
        if variable.extent % width == 0:
            group = IndexExpr.of(Variable((variable, "group"), variable.extent // width, "group")) * width
            found = [position.substitute({variable: group + n}) for n in range(width)]
            together = all(
                c.substitute({variable: group + n}) == c.substitute({variable: group})
                for c in conditions
                for n in range(width)
            )
            neighbours = all(found[n] - found[0] == IndexExpr.of(n) for n in range(width))
            if together and neighbours and found[0].is_multiple_of(width):
                return width
        width //= 2
    following = position.substitute({variable: IndexExpr.of(variable) + 1}) - position
    return 1 if following == IndexExpr.of(1) else 0
