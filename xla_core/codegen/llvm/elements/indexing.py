"""Element generators of dynamic-slice, dynamic-update-slice and gather.

Start indices are loaded in the outermost loop that knows which ones are needed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from xla_core.codegen.llvm.elements.data_movement import choose_element
from xla_core.codegen.llvm.elements.fused import FusedIrEmitter, generator
from xla_core.codegen.llvm.ir.builder import IrBuilder
from xla_core.codegen.llvm.ir.module import Value
from xla_core.codegen.llvm.loops.index import Digit, Index, merge_digits, offset_digit
from xla_core.codegen.llvm.loops.ir_array import ElementValue
from xla_core.hlo.element_type import ElementType
from xla_core.hlo.instruction import HloInstruction
from xla_core.hlo.opcode import Opcode


def index_value(b: IrBuilder, value: Value, element_type: ElementType) -> Value:
    """Returns an integer element as an i64 index."""
    return b.resize(value, "i64", signed=element_type.is_signed)


def clamped(b: IrBuilder, value: Value, element_type: ElementType, limit: int) -> Value:
    """Returns an integer element as an i64 index in [0, limit]."""
    if limit == 0:
        return b.int_(0)
    if element_type.is_signed:
        return b.clamp(b.int_(0), index_value(b, value, element_type), b.int_(limit))
    return b.intrinsic("umin", index_value(b, value, element_type), b.int_(limit))


def clamped_starts(
    f: FusedIrEmitter, starts: Sequence[HloInstruction], dims: Sequence[int], sizes: Sequence[int]
) -> list[Digit]:
    """Returns the start indices of dynamic-slice and dynamic-update-slice, clamped so that the window is inside."""
    digits = []
    for dimension, (extent, size) in enumerate(zip(dims, sizes, strict=True)):
        if extent == size:
            digits.append(Digit(f.b.int_(0), 1, 0))
            continue
        level = max(f.level, f.context.floor)
        one_vector = len(starts) == 1 and starts[0].shape.rank == 1
        start = starts[0] if one_vector else starts[dimension]
        place = Index(start.shape.dimensions, [Digit(f.b.int_(dimension), len(dims), 0)] if one_vector else [])
        with f.context.hoisted(level):
            value = f.value(start, place)
            assert isinstance(value, Value)
            digits.append(Digit(clamped(f.b, value, start.shape.element_type, extent - size), extent, f.b.level))
    return digits


def dynamic_sliced(f: FusedIrEmitter, window: Index, dims: Sequence[int], starts: Sequence[Digit]) -> Index:
    """Returns the index, in an array of `dims`, of an element of the window that begins at `starts`.

    A dimension that the window covers stays in one group of digits with the one before it.
    """
    b = f.b
    digits: list[Digit] = []
    for run, group in window.runs(b, lambda _, d: window.dimensions[d] == dims[d]):
        first = run[0]
        if window.dimensions[first] == dims[first]:
            digits.extend(group)
            continue
        inner = math.prod(dims[d] for d in run[1:])
        start = starts[first]
        digit = merge_digits(b, group)
        digits.append(offset_digit(b, digit, start.value, dims[first] * inner, inner, start.level))
    return Index(dims, digits)


@generator(Opcode.DYNAMIC_SLICE)
def _dynamic_slice(f: FusedIrEmitter, instruction: HloInstruction, index: Index) -> ElementValue:
    operand, starts = instruction.operand(0), instruction.operands[1:]
    dims = operand.shape.dimensions
    digits = clamped_starts(f, starts, dims, instruction.shape.dimensions)
    return f.value(operand, dynamic_sliced(f, index, dims, digits))


@generator(Opcode.DYNAMIC_UPDATE_SLICE)
def _dynamic_update_slice(f: FusedIrEmitter, instruction: HloInstruction, index: Index) -> ElementValue:
    operand, update, *starts = instruction.operands
    dims, sizes = operand.shape.dimensions, update.shape.dimensions
    if not update.shape.num_elements:
        return f.value(operand, index)
    inside, place = shifted(f, index, dims, sizes, clamped_starts(f, starts, dims, sizes))
    return choose_element(f, inside, lambda: f.value(update, place), lambda: f.value(operand, index))


def shifted(
    f: FusedIrEmitter, index: Index, dims: Sequence[int], sizes: Sequence[int], starts: Sequence[Digit]
) -> tuple[Value, Index]:
    """Returns (whether an index is inside the window that begins at `starts`, the index within the window)."""
    b = f.b
    inside = b.bool_(True)
    digits: list[Digit] = []
    for run, group in index.runs(b, lambda _, d: sizes[d] == dims[d]):
        first = run[0]
        if sizes[first] == dims[first]:
            digits.extend(group)
            continue
        inner = math.prod(dims[d] for d in run[1:])
        start, digit, extent = starts[first], merge_digits(b, group), sizes[first] * inner
        with b.at_level(start.level):
            back = b.sub(b.int_(0), start.value)
        moved = offset_digit(b, digit, back, extent, inner, start.level)
        with f.context.hoisted(moved.level):
            here = b.icmp("ult", moved.value, b.int_(extent))
        inside = b.and_(inside, here)
        digits.append(moved)
    return inside, Index(sizes, digits)


@generator(Opcode.GATHER)
def _gather(f: FusedIrEmitter, instruction: HloInstruction, index: Index) -> ElementValue:
    """Reads a dynamic slice of the operand; the batch part of the index selects its start indices."""
    operand, indices = instruction.operands
    sizes = list(instruction.attribute("slice_sizes"))
    offset_dims = instruction.attribute("offset_dims")
    batch, window = split_index(f, index, offset_dims)
    batching = dict(
        zip(
            instruction.attribute("operand_batching_dims"),
            instruction.attribute("start_indices_batching_dims"),
            strict=True,
        )
    )
    starts = gathered_starts(
        f,
        indices,
        batch,
        instruction.attribute("index_vector_dim"),
        instruction.attribute("start_index_map"),
        batching,
        operand.shape.dimensions,
        [extent - size for extent, size in zip(operand.shape.dimensions, sizes, strict=True)],
    )
    place = dynamic_sliced(f, window.reshaped(sizes), operand.shape.dimensions, starts)
    return f.value(operand, place)


def split_index(f: FusedIrEmitter, index: Index, window_dims: Sequence[int]) -> tuple[Index, Index]:
    """Returns (the index of the batch dimensions, the index of the window dimensions)."""
    dims = index.dimensions
    runs = index.runs(f.b, lambda first, d: (d in window_dims) == (first in window_dims))
    batch = [d for run, group in runs if run[0] not in window_dims for d in group]
    window = [d for run, group in runs if run[0] in window_dims for d in group]
    batch_dims = [n for d, n in enumerate(dims) if d not in window_dims]
    return Index(batch_dims, batch), Index([dims[d] for d in window_dims], window)


def gathered_starts(
    f: FusedIrEmitter,
    indices: HloInstruction,
    batch: Index,
    vector_dim: int,
    index_map: Sequence[int],
    batching: dict[int, int],
    dims: Sequence[int],
    limits: Sequence[int] | None,
) -> list[Digit]:
    """Returns the start of a window in each dimension of the operand.

    It is loaded from `indices`, or, in a batching dimension, it is the batch index itself. Starts are clamped to
    `limits`, unless that is None.
    """
    b = f.b
    rank = indices.shape.rank
    starts = [Digit(b.int_(0), 1, 0) for _ in dims]
    for position, dimension in enumerate(index_map):
        if limits is not None and limits[dimension] == 0:
            continue
        digits: Sequence[Digit] = batch.digits
        if vector_dim < rank and indices.shape.dimensions[vector_dim] > 1:
            count = indices.shape.dimensions[vector_dim]
            before = math.prod(indices.shape.dimensions[:vector_dim])
            after = math.prod(indices.shape.dimensions[vector_dim + 1 :])
            outer, inner = batch.regroup(b, (before, after))
            digits = (*outer, Digit(b.int_(position), count, 0), *inner)
        place = Index(indices.shape.dimensions, digits)
        with f.context.hoisted(max(place.level, f.level)):
            value = f.value(indices, place)
            assert isinstance(value, Value)
            if limits is None:
                start = index_value(b, value, indices.shape.element_type)
            else:
                start = clamped(b, value, indices.shape.element_type, limits[dimension])
            starts[dimension] = Digit(start, dims[dimension], f.b.level)
    for dimension, from_dimension in batching.items():
        own = from_dimension - (1 if from_dimension > vector_dim else 0)
        starts[dimension] = batch.component(b, own)
    return starts
