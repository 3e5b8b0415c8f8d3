"""Indexing maps: the elements of its operands that an instruction reads to compute an element of its result.

An index is a tuple of affine expressions (`IndexExpr`), one for each dimension of an array, over variables: the indices
of a result, the loops of a reduction or a window, and values known only at run time, such as the start of a dynamic
slice. `operand_accesses` gives the indices at which an instruction, computed at an index, reads its operands; applied
again to the operands' producers, it gives the indices of a whole fusion. (XLA: xla/hlo/analysis/indexing_analysis.h.)
"""

from xla_core.analysis.indexing.access import Access, Condition, StartIndex
from xla_core.analysis.indexing.contraction import windowed
from xla_core.analysis.indexing.expression import (
    FloorDiv,
    Index,
    IndexExpr,
    Variable,
    delinearized,
    floor_div,
    linearized,
    modulo,
    split_remainders,
)
from xla_core.analysis.indexing.fusion_accesses import (
    FusionAccesses,
    Load,
    Loops,
    joined,
    looped,
    memory_index,
    memory_position,
    one_loop,
    placed,
)
from xla_core.analysis.indexing.movement import reshaped
from xla_core.analysis.indexing.operand_accesses import accumulates, is_product, operand_accesses
from xla_core.analysis.indexing.product_space import ProductSpace, product_space
from xla_core.analysis.indexing.product_tile import has_neighbouring_rows, product_tile
from xla_core.analysis.indexing.reduced_rows import ReducedRows, is_of_row, reduced_rows
from xla_core.analysis.indexing.row_parts import RowParts, row_parts
from xla_core.analysis.indexing.scanned_rows import SHORT_SCAN, ScannedRows, scanned_dimension, scanned_rows

__all__ = [
    "SHORT_SCAN",
    "Access",
    "Condition",
    "FloorDiv",
    "FusionAccesses",
    "Index",
    "IndexExpr",
    "Load",
    "Loops",
    "ProductSpace",
    "ReducedRows",
    "RowParts",
    "ScannedRows",
    "StartIndex",
    "Variable",
    "accumulates",
    "delinearized",
    "floor_div",
    "has_neighbouring_rows",
    "is_of_row",
    "is_product",
    "joined",
    "linearized",
    "looped",
    "memory_index",
    "memory_position",
    "modulo",
    "one_loop",
    "operand_accesses",
    "placed",
    "product_space",
    "product_tile",
    "reduced_rows",
    "reshaped",
    "row_parts",
    "scanned_dimension",
    "scanned_rows",
    "split_remainders",
    "windowed",
]
