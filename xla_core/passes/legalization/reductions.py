"""The decomposition of reduce into a tree of slices."""

from __future__ import annotations

from xla_core.hlo.ir.builder import Builder
from xla_core.hlo.ir.combiner import combiner
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.opcode import Opcode
from xla_core.passes.inlining import apply_to_arrays, is_elementwise_of_scalars
from xla_core.passes.legalization.decompositions import decomposition


@decomposition(Opcode.REDUCE)
def _reduce(i: HloInstruction, b: Builder) -> HloInstruction | None:
    """Combines the elements of each dimension in pairs until one is left, and that with the initial value.

    This takes any number of operands and any elementwise reducer, for a device that reduces by few ops or by none. An
    op that may combine elements in any order combines the halves of the dimension, which are contiguous. Any other
    reducer combines neighbours, the innermost dimension first, because its result may depend on the row-major order,
    as that of an argmax does, which breaks ties by position.
    """
    computation = i.attribute("to_apply")
    if not is_elementwise_of_scalars(computation):
        return None
    count = len(i.operands) // 2
    initial = i.operands[count:]
    values = [b.convert(x, start.shape) for x, start in zip(i.operands[:count], initial, strict=True)]
    kept = next(i.shape.leaves()).dimensions
    if 0 in values[0].shape.dimensions:
        return _result(i, b, [b.broadcast(start, kept) for start in initial])
    ordered = combiner(computation) is None
    for axis in sorted(i.attribute("dimensions"), reverse=True):
        while (size := values[0].shape.dimensions[axis]) > 1:
            half = size // 2
            # The start, limit and stride of the two operands of the reducer.
            pair = [(0, 2 * half, 2), (1, 2 * half, 2)] if ordered else [(0, half, 1), (half, 2 * half, 1)]
            first, second = ([b.slice_in_dim(v, axis, *bounds) for v in values] for bounds in pair)
            last = [b.slice_in_dim(v, axis, size - 1, size) for v in values] if size % 2 else []
            values = apply_to_arrays(computation, [*first, *second], b)
            if last:
                ends = zip(values, last, strict=True)
                values = [b.add(Opcode.CONCATENATE, *end, dimensions=(axis,)) for end in ends]
    starts = [b.broadcast(start, kept) for start in initial]
    return _result(i, b, apply_to_arrays(computation, [*starts, *(b.reshape(v, kept) for v in values)], b))


def _result(i: HloInstruction, b: Builder, values: list[HloInstruction]) -> HloInstruction:
    return b.tuple(values) if i.shape.is_tuple else values[0]
