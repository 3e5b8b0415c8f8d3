"""ScannedRows: a reduce-window that is a scan, such as a cumulative sum, as rows of an array in memory."""

from __future__ import annotations

import dataclasses
import math

import numpy as np

from xla_core.analysis.indexing.reduced_rows import ReducedRows
from xla_core.hlo.ir.combiner import combiner
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.op_table import Trait
from xla_core.hlo.table.opcode import Opcode

SHORT_SCAN = 16
"""Rows of at most this many elements are as fast as any other window, and are not treated as scans."""


@dataclasses.dataclass(frozen=True, slots=True)
class ScannedRows:
    """Rows of which each element becomes the combination of all elements up to itself, and the initial value.

    Attributes:
        rows: their sizes, and their places in memory.
        dimension: the one along which they lie.
        backwards: whether an element becomes the combination of the elements from itself to the end.
    """

    rows: ReducedRows
    dimension: int
    backwards: bool


def scanned_rows(instruction: HloInstruction) -> ScannedRows | None:
    """Returns the rows that a reduce-window scans; None if it is no scan, or one of short rows.

    The computation must be one op that commutes, and the initial value must be the op's identity, or the op idempotent:
    the padding of a window, which consists of initial values, then doesn't matter.
    """
    found = scanned_dimension(instruction)
    if found is None or not _ignores_padding(instruction):
        return None
    dimension, backwards = found
    shape = instruction.shape
    elements = shape.dimensions[dimension]
    if elements <= SHORT_SCAN or not shape.num_elements:
        return None
    order = shape.minor_to_major()
    inner = math.prod(shape.dimensions[d] for d in order[: order.index(dimension)])
    rows = ReducedRows(shape.num_elements // (inner * elements), elements, inner)
    return ScannedRows(rows, dimension, backwards)


def scanned_dimension(instruction: HloInstruction) -> tuple[int, bool] | None:
    """Returns the dimension that the windows of a reduce-window of one array scan, and whether they do so backwards.

    None if it is no scan. Windows that reach beyond the array combine initial values, which may matter.
    """
    if instruction.opcode != Opcode.REDUCE_WINDOW or len(instruction.operands) != 2:
        return None
    found: tuple[int, bool] | None = None
    sizes = instruction.operand(0).shape.dimensions
    for d, (w, size) in enumerate(zip(instruction.attribute("window"), sizes, strict=True)):
        if w.stride != 1 or w.window_dilation != 1 or w.base_dilation != 1:
            return None
        if w.size == 1 and not w.padding_low and not w.padding_high:
            continue
        if found is not None or w.size != size or {w.padding_low, w.padding_high} != {0, size - 1}:
            return None
        found = d, w.padding_high > 0
    return found


def _ignores_padding(instruction: HloInstruction) -> bool:
    """Whether another initial value combined with an element changes nothing."""
    op, element_type = combiner(instruction.attribute("to_apply")), instruction.shape.element_type
    identity = None if op is None else op.identity(element_type)
    if op is None or identity is None or instruction.operand(0).shape.element_type is not element_type:
        return False
    if Trait.IDEMPOTENT in op.traits:
        return True
    initial = instruction.operand(1)
    while initial.opcode == Opcode.BROADCAST:
        initial = initial.operand(0)
    if initial.opcode != Opcode.CONSTANT:
        return False
    return bool(initial.literal.array.reshape(-1)[0] == np.asarray(identity).astype(element_type.dtype))
