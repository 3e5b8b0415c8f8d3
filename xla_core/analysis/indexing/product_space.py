"""ProductSpace: a dot or a convolution as a batch of matrix products.

An element (m, n) of a product is the sum of lhs(m, k) * rhs(k, n) over k. The access rules say which elements of the
operands these are, so that transposed operands, several contracting dimensions, windows and groups need no code of
their own.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence

from xla_core.analysis.indexing.access import Access
from xla_core.analysis.indexing.expression import Index, IndexExpr, Variable, delinearized
from xla_core.analysis.indexing.fusion_accesses import joined, placed
from xla_core.analysis.indexing.operand_accesses import is_product, operand_accesses
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.opcode import Opcode


@dataclasses.dataclass(frozen=True, slots=True)
class ProductSpace:
    """The indices of a product. Each is linear over the dimensions that it stands for, in the result's memory order.

    Attributes:
        product: the dot or convolution.
        parts: for each dimension of the result, the variables that it consists of: one, or a group and a feature.
        batch, rows, columns: the variables of the dimensions that both operands have, only the left one, only the
            right one.
        depth: the number of terms of each sum.
    """

    product: HloInstruction
    parts: Sequence[Sequence[Variable]]
    batch: Sequence[Variable]
    rows: Sequence[Variable]
    columns: Sequence[Variable]
    depth: int

    @property
    def sizes(self) -> tuple[int, int, int, int]:
        """The number of products, of rows, of columns and of terms."""
        batch, rows, columns = (math.prod(v.extent for v in part) for part in (self.batch, self.rows, self.columns))
        return batch, rows, columns, self.depth

    def index(self, batch: IndexExpr, row: IndexExpr, column: IndexExpr) -> Index:
        """Returns the index of an element of the result."""
        values: dict[Variable, IndexExpr] = {}
        for variables, position in ((self.batch, batch), (self.rows, row), (self.columns, column)):
            values.update(zip(variables, delinearized(position, [v.extent for v in variables]), strict=True))
        return tuple(joined(part).substitute(values) for part in self.parts)

    def accesses(self, index: Index, depth: IndexExpr) -> Sequence[Access]:
        """Returns the accesses to both operands for one term of an element of the result."""
        return placed(operand_accesses(self.product, index), depth)


def product_space(product: HloInstruction) -> ProductSpace | None:
    """Returns the space of a dot or a convolution; None for any other instruction, and for an empty sum or result."""
    if not is_product(product) or not product.shape.num_elements:
        return None
    if not all(operand.shape.num_elements for operand in product.operands):
        return None
    parts = [_parts(product, d, extent) for d, extent in enumerate(product.shape.dimensions)]
    accesses = operand_accesses(product, tuple(map(joined, parts)))
    lhs, rhs = (frozenset().union(*(e.variables for e in access.index)) for access in accesses)
    order = [v for d in reversed(product.shape.minor_to_major()) for v in parts[d]]
    batch = [v for v in order if v in lhs and v in rhs]
    columns = [v for v in order if v in rhs and v not in lhs]
    rows = [v for v in order if v not in rhs]
    depth = math.prod(v.extent for v in accesses[0].variables)
    return ProductSpace(product, parts, batch, rows, columns, depth)


def _parts(product: HloInstruction, dimension: int, extent: int) -> list[Variable]:
    """The variables of a dimension of the result. The output features of a convolution consist of groups."""
    extents = [extent]
    if product.opcode == Opcode.CONVOLUTION and dimension == product.attribute("dim_labels").output_feature:
        groups = max(product.attribute("feature_group_count"), product.attribute("batch_group_count"))
        extents = [groups, extent // groups]
    return [Variable(("product", dimension, number), n, f"d{dimension}") for number, n in enumerate(extents)]
