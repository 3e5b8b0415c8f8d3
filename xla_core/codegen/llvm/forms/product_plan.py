"""The plan of a kernel that computes a product: tiles, threads, and how operands go through shared memory."""

from __future__ import annotations

import dataclasses
import math

from xla_core.analysis.indexing import (
    Access,
    FusionAccesses,
    Index,
    IndexExpr,
    ProductSpace,
    Variable,
    has_neighbouring_rows,
    one_loop,
    product_tile,
)
from xla_core.codegen.llvm.blocks.tile_copy import Swizzle, TileLayout
from xla_core.codegen.llvm.elements.accumulators import accumulated_type
from xla_core.codegen.llvm.forms.kernel_form import KernelBody, KernelPlan
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.op_table import Trait
from xla_core.hlo.table.opcode import Opcode
from xla_core.sizes import power_above, power_below
from xla_core.target import MatrixShape, ParallelModel

_LEAST_THREADS = 128
_DEPTH_BYTES = 64  # of a line of a tile
_MOST_CODE = 2048  # HLO instructions in all copies of what depends on the product
_THREADS_AT_ONCE = 8  # that store vectors to shared memory
MOST_STAGES = 4  # of asynchronous copies
CHUNK_BYTES = 16  # of what swizzling moves
_PADDING = 4  # elements between the lines of a tile, so that its columns don't all lie in the same banks


@dataclasses.dataclass(frozen=True, slots=True)
class ProductPlan(KernelPlan):
    """How a product is divided.

    Attributes:
        space: the product.
        operands: the numbers of the operand that has the rows and of the operand that has the columns. Columns are
            neighbours in the result.
        sizes: the number of products, rows, columns and terms.
        tile: the rows, columns and terms of a block's tile.
        each: the rows and columns that a thread accumulates.
        matrix: the product of small matrices by which groups of lanes multiply; None if threads multiply elements.
        group: the rows and columns that a group of lanes accumulates.
        stages: how many tiles of each operand are in shared memory.
        is_asynchronous: whether the tiles are copied to shared memory without registers, while others are multiplied.
        layouts: how the tiles of both operands are copied.
    """

    space: ProductSpace = dataclasses.field(kw_only=True)
    operands: tuple[int, int] = (0, 1)
    sizes: tuple[int, int, int, int] = (1, 1, 1, 1)
    tile: tuple[int, int, int] = (1, 1, 1)
    each: tuple[int, int] = (1, 1)
    matrix: MatrixShape | None = None
    group: tuple[int, int] = (1, 1)
    stages: int = 1
    is_asynchronous: bool = False
    layouts: tuple[TileLayout, TileLayout] = dataclasses.field(kw_only=True)

    @property
    def blocks(self) -> tuple[int, int]:
        """How many tiles cover the rows, and the columns."""
        return -(-self.sizes[1] // self.tile[0]), -(-self.sizes[2] // self.tile[1])

    @property
    def steps(self) -> int:
        """How many tiles cover the terms."""
        return -(-self.sizes[3] // self.tile[2])

    def vector(self, side: int) -> int:
        """How many rows (0) or columns (1) of a thread are neighbours."""
        return min(self.each[side], _PADDING)

    def groups(self, side: int) -> int:
        """How many groups of neighbouring rows or columns a thread has. They are spread over the tile."""
        return self.each[side] // self.vector(side)

    def index(self, batch: IndexExpr, row: IndexExpr, column: IndexExpr) -> Index:
        """The index of an element of the product."""
        return _index(self.space, self.operands, batch, row, column)

    def access(self, side: int, batch: IndexExpr, line: IndexExpr, term: IndexExpr) -> Access:
        """The access to the operand that has the rows (0) or the columns (1)."""
        return _access(self.space, self.operands, side, batch, line, term)

    def describe_loops(self) -> str:
        batch, rows, columns, depth = self.sizes
        products = f"{batch} products of " if batch > 1 else ""
        tile, each = " x ".join(map(str, self.tile)), " x ".join(map(str, self.each))
        stages = f", {self.stages} stages" if self.stages > 1 else ""
        stages += " of asynchronous copies" if self.is_asynchronous else ""
        if self.matrix is not None:
            each = f"{self.group[0]} x {self.group[1]} by {self.matrix}"
        else:
            each += " a thread"
        reads = " and ".join(str(layout.width) for layout in self.layouts)
        return f"; {products}{rows} x {columns} x {depth} in tiles of {tile}, {each}{stages}, reads of {reads}"


def _index(
    space: ProductSpace, operands: tuple[int, int], batch: IndexExpr, row: IndexExpr, column: IndexExpr
) -> Index:
    return space.index(batch, *((row, column) if operands == (0, 1) else (column, row)))


def _access(
    space: ProductSpace, operands: tuple[int, int], side: int, batch: IndexExpr, line: IndexExpr, term: IndexExpr
) -> Access:
    zero = IndexExpr.of(0)
    index = _index(space, operands, batch, *((line, zero) if side == 0 else (zero, line)))
    number = operands[side]
    access = space.accesses(index, term)[number]
    # Conditions are those of a convolution's window on the image; the kernel has all its elements.
    return access if number == 0 else Access(access.index, access.variables)


def plan_product(body: KernelBody, space: ProductSpace) -> ProductPlan:
    """Plans a kernel for the target's blocks of threads."""
    model, shape = body.parallel, body.roots[0].shape
    operands, sizes = orientation(body, space)
    is_swapped, depth = operands == (1, 0), sizes[3]
    matrix = _matrix(space, sizes, model)
    kept = matrix.operand.byte_width if matrix is not None else accumulated_type(space.product).byte_width
    tile_rows, tile_columns = _tile(product_tile(space, shape, model), is_swapped, model, matrix)
    tile_rows, tile_columns, threads = _divide(body, space, tile_rows, tile_columns, matrix)
    each = _each(tile_rows, tile_columns, tile_rows * tile_columns // threads)
    group = (1, 1) if matrix is None else _group(tile_rows, tile_columns, threads // model.lanes, matrix)
    terms = power_above(min(depth, max(4, _DEPTH_BYTES // kept)))
    if matrix is not None:
        terms = max(terms, matrix.terms)

    def layout(side: int, terms: int) -> TileLayout:
        lines = (tile_rows, tile_columns)[side]
        return layout_of(body, space, operands, side, sizes, lines, terms, kept, matrix)

    least = matrix.terms if matrix is not None else 1
    while True:
        stages = 2 if depth > terms else 1
        layouts = (layout(0, terms), layout(1, terms))
        size = kept * sum(each.size for each in layouts)
        if terms == least or stages * size <= model.shared_bytes:
            break
        terms //= 2
    is_asynchronous = stages > 1 and all(
        is_copied(body, space, operands[side], layouts[side], matrix) for side in (0, 1)
    )
    if is_asynchronous and depth > 3 * terms and MOST_STAGES * size <= model.shared_bytes:
        stages = MOST_STAGES
    plan = ProductPlan(
        0,
        threads=threads,
        space=space,
        operands=operands,
        sizes=sizes,
        tile=(tile_rows, tile_columns, terms),
        each=each,
        matrix=matrix,
        group=group,
        stages=stages,
        is_asynchronous=is_asynchronous,
        layouts=layouts,
    )
    return dataclasses.replace(plan, count=sizes[0] * math.prod(plan.blocks))


def orientation(body: KernelBody, space: ProductSpace) -> tuple[tuple[int, int], tuple[int, int, int, int]]:
    """The `operands` and the `sizes` of a plan."""
    batch, rows, columns, depth = space.sizes
    if has_neighbouring_rows(space, body.roots[0].shape):
        return (1, 0), (batch, columns, rows, depth)
    return (0, 1), (batch, rows, columns, depth)


def is_copied(
    body: KernelBody, space: ProductSpace, number: int, layout: TileLayout, matrix: MatrixShape | None
) -> bool:
    """Whether an operand's tiles can be copied without registers: shared memory has its elements as memory has them."""
    operand = space.product.operand(number)
    element_type = operand.shape.element_type
    kept = matrix.operand if matrix is not None and matrix.mantissa_bits is None else accumulated_type(space.product)
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


def _matrix(space: ProductSpace, sizes: tuple[int, int, int, int], model: ParallelModel) -> MatrixShape | None:
    """The target's first shape of matrices in registers that `computes` the product."""
    return next((s for s in model.matrix_shapes if not s.in_shared_memory and computes(s, space, sizes)), None)


def computes(shape: MatrixShape, space: ProductSpace, sizes: tuple[int, int, int, int]) -> bool:
    """Whether matrices of a shape compute exact products, and are not mostly empty."""
    is_default = set(space.product.attribute("operand_precision")) <= {"default"}
    if shape.rounds_sums and not is_default:
        return False
    fits = 2 * sizes[1] > shape.rows and 2 * sizes[2] > shape.columns and 2 * sizes[3] > shape.terms
    is_exact = shape.accumulator is accumulated_type(space.product)
    return fits and is_exact and all(_holds(shape, operand) for operand in space.product.operands)


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


def _group(rows: int, columns: int, groups: int, matrix: MatrixShape) -> tuple[int, int]:
    """The rows and columns of a group of lanes, as square as possible."""
    group = [matrix.rows, matrix.columns]
    while math.prod(group) * groups < rows * columns:
        grows = 0 if (group[0] <= group[1] and group[0] < rows) or group[1] == columns else 1
        group[grows] *= 2
    return group[0], group[1]


def _tile(tile: tuple[int, int], is_swapped: bool, model: ParallelModel, matrix: MatrixShape | None) -> tuple[int, int]:
    """The rows and columns of a block's tile: at least one matrix, or an element for each lane."""
    rows, columns = reversed(tile) if is_swapped else tile
    if matrix is not None:
        return max(rows, matrix.rows), max(columns, matrix.columns)
    while rows * columns < max(model.lanes, 2):
        rows *= 2
    return rows, columns


def _divide(
    body: KernelBody, space: ProductSpace, rows: int, columns: int, matrix: MatrixShape | None
) -> tuple[int, int, int]:
    """The rows and columns of a tile that a block's threads have registers for, and the number of threads."""
    model, elements = body.parallel, rows * columns
    most = most_elements(body, space)
    most_threads = power_below(model.threads)  # the sides of a tile are powers of two, and so is its share of a thread
    threads = max(-(-elements // most), min(_LEAST_THREADS, most_threads, elements))
    if matrix is not None:
        threads = min(threads, elements * model.lanes // (matrix.rows * matrix.columns))
    while threads > most_threads:
        if rows >= columns:
            rows //= 2
        else:
            columns //= 2
        threads //= 2
    return rows, columns, threads


def most_elements(body: KernelBody, space: ProductSpace) -> int:
    """The most elements of the result that a thread accumulates."""
    words = max(1, accumulated_type(space.product).byte_width // 4)
    return power_below(max(1, min(body.parallel.registers * 2 // words, most_copies(body))))


def most_copies(body: KernelBody) -> int:
    """How often the code of what depends on the product may be repeated."""
    return _MOST_CODE // body.size


def _each(rows: int, columns: int, count: int) -> tuple[int, int]:
    """Divides the elements of a thread into rows and columns, as square as possible."""
    across = 1
    while across * across * 2 <= count and across < columns:
        across *= 2
    while count // across > rows:
        across *= 2
    return count // across, across


def layout_of(
    body: KernelBody,
    space: ProductSpace,
    operands: tuple[int, int],
    side: int,
    sizes: tuple[int, int, int, int],
    lines: int,
    terms: int,
    kept: int,
    matrix: MatrixShape | None,
    *,
    row: int = 0,
) -> TileLayout:
    """How the tiles of an operand are copied: along what is contiguous in memory, by wide reads.

    `row` is the length, in elements, of the rows that the device reads from shared memory; 0 if it reads none.
    """
    model = body.parallel
    batch = Variable("batch", sizes[0], "batch")
    line, term = Variable("line", sizes[1 + side], "line"), Variable("term", sizes[3], "term")
    access = _access(space, operands, side, *map(IndexExpr.of, (batch, line, term)))
    accesses = FusionAccesses(body.bound, one_loop)
    accesses.visit(space.product.operand(operands[side]), access.index)
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
    strides, spread = (1, lines + _PADDING), 1
    swizzle = Swizzle(row, CHUNK_BYTES // kept) if row else None
    if row:
        strides = (row, 1) if along_depth else (1, row)
        run = run if along_depth else max(1, min(row, lines) // width)
    elif matrix is not None and (along_depth or not _turns(model, matrix)):
        strides = (terms + max(_PADDING, model.vector_bytes // kept), 1)
    elif matrix is not None:
        strides, run = (1, lines + model.vector_bytes // kept), lines // width
        # The lines of a term are an odd number of vectors apart from those of the next one. Eight threads that store
        # vectors at once use all banks if the terms that they store to are as many apart as a term has vectors.
        if width * kept == model.vector_bytes and terms % _THREADS_AT_ONCE == 0:
            spread = max(1, _THREADS_AT_ONCE // run)
    elif not along_depth:
        run = lines // width
    sizes_of = (sizes[1 + side], sizes[3], lines, terms)
    return TileLayout(*sizes_of, along_depth, width, run, *strides, spread, swizzle)


def _turns(model: ParallelModel, matrix: MatrixShape) -> bool:
    """Whether the lanes load matrices whose lines, not whose terms, are neighbours in shared memory."""
    return model.matrix_loads and matrix.operand.byte_width == 2 and matrix.mantissa_bits is None


def _width(variable: Variable, position: IndexExpr, conditions: list[IndexExpr], most: int) -> int:
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
