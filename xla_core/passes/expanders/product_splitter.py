"""product_splitter: divides the long sums of a product with few results between blocks of threads.

(XLA: xla/service/gpu/transforms/splitk_rewriter.h.)
"""

from __future__ import annotations

import math

from xla_core.analysis.indexing import product_space, product_tile
from xla_core.hlo.ir.builder import Builder
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.values.element_type import ElementType
from xla_core.passes.dot_operands import dot_operands
from xla_core.passes.expanders.expander import OpExpander
from xla_core.sizes import ceil_div
from xla_core.target import FusionCosts, ParallelModel

_LEAST_TERMS = 128  # of a part: a block loads a few tiles of each operand before it has a result
_GAIN = 2.0  # the estimated time must fall by this factor, because the estimate knows neither caches nor matrix units


class ProductSplitter(OpExpander):
    """Rewrites dot(x, y) to reduce(dot(parts of x, parts of y)), for targets with blocks of threads.

    A block computes a tile of the result. If there are fewer tiles than blocks that the device runs at once, and each
    element is a long sum, parts of the sums are computed by more blocks, as products of a batch. Their sums are kept in
    the type in which the product accumulates. The parts depend only on shapes.
    """

    opcodes = frozenset({Opcode.DOT})

    def __init__(self, parallel: ParallelModel | None = None, costs: FusionCosts | None = None) -> None:
        super().__init__()
        self._parallel = parallel or ParallelModel()
        self._costs = costs or FusionCosts()

    def matches(self, instruction: HloInstruction) -> bool:
        return self._parts(instruction) > 1

    def _parts(self, dot: HloInstruction) -> int:
        """The number of parts of each sum that takes the least time; 1 if splitting the sums saves little time."""
        space = product_space(dot) if self._parallel.has_blocks else None
        if space is None:
            return 1
        batch, rows, columns, depth = space.sizes
        tile = product_tile(space, dot.shape, self._parallel)
        blocks = batch * ceil_div(rows, tile[0]) * ceil_div(columns, tile[1])
        at_once = self._parallel.blocks_at_once
        bytes_moved = 2 * dot.shape.num_elements * _sum_type(dot).byte_width  # of the sums of a part

        def cost(parts: int) -> float:
            turns = ceil_div(blocks * parts, at_once)
            work = turns * at_once * math.prod(tile) * (depth / parts)
            return work + (self._costs.kernel + self._costs.byte * bytes_moved * parts if parts > 1 else 0.0)

        size = max(dot_operands(dot)[0].sizes(dot.attribute("lhs_contracting_dims")), default=1)
        most = min(at_once // blocks, depth // _LEAST_TERMS)
        best = min((n for n in range(2, most + 1) if size % n == 0), key=cost, default=1)
        return best if cost(best) * _GAIN <= cost(1) else 1

    def expand(self, instruction: HloInstruction, b: Builder) -> HloInstruction:
        parts = self._parts(instruction)
        extents = dot_operands(instruction)[0].sizes(instruction.attribute("lhs_contracting_dims"))
        number = extents.index(max(extents))
        changed: dict[str, tuple[int, ...]] = {}
        operands = []
        for side, operand in zip(("lhs", "rhs"), dot_operands(instruction), strict=True):
            divided = operand.contracted[number]
            batch, contracted = (tuple(d + (d > divided) for d in own) for own in (operand.batch, operand.contracted))
            changed[f"{side}_batch_dims"] = (*batch, divided)
            changed[f"{side}_contracting_dims"] = tuple(d + (d == divided) for d in contracted)
            sizes = list(operand.value.shape.dimensions)
            sizes[divided : divided + 1] = [parts, sizes[divided] // parts]
            operands.append(b.reshape(operand.value, sizes))
        place = len(instruction.attribute("lhs_batch_dims"))
        result = list(instruction.shape.dimensions)
        result.insert(place, parts)
        shape = instruction.shape.without_layout().with_element_type(_sum_type(instruction)).with_dimensions(result)
        product = b.add(Opcode.DOT, *operands, shape=shape, **{**instruction.attributes, **changed})
        return b.convert(b.reduce(product, Opcode.ADD, 0, (place,)), instruction.shape)


def _sum_type(dot: HloInstruction) -> ElementType:
    """The type of the sums of the parts: results of a narrow floating-point type are rounded once."""
    element_type = dot.shape.element_type
    return ElementType.F32 if element_type.is_floating and element_type.bit_width < 32 else element_type
