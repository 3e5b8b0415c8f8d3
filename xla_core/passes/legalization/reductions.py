"""The decomposition of reduce into a tree of slices."""

from __future__ import annotations

from xla_core.hlo.ir.builder import Builder
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.opcode import Opcode
from xla_core.passes.inlining import apply_to_arrays, is_elementwise_of_scalars
from xla_core.passes.legalization.decompositions import decomposition


@decomposition(Opcode.REDUCE)
def _reduce(i: HloInstruction, b: Builder) -> HloInstruction | None:
    """Combines the halves of each dimension until one element is left, and that with the initial value.

    This takes any number of operands and any elementwise reducer, for a device that reduces by few ops or by none.
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
    for axis in i.attribute("dimensions"):
        while (size := values[0].shape.dimensions[axis]) > 1:
            half = size // 2
            first, second = ([b.slice_in_dim(v, axis, start, start + half) for v in values] for start in (0, half))
            last = [b.slice_in_dim(v, axis, size - 1, size) for v in values] if size % 2 else []
            values = apply_to_arrays(computation, [*first, *second], b)
            if last:
                pairs = zip(values, last, strict=True)
                values = [b.add(Opcode.CONCATENATE, *pair, dimensions=(axis,)) for pair in pairs]
    starts = [b.broadcast(start, kept) for start in initial]
    return _result(i, b, apply_to_arrays(computation, [*starts, *(b.reshape(v, kept) for v in values)], b))


def _result(i: HloInstruction, b: Builder, values: list[HloInstruction]) -> HloInstruction:
    return b.tuple(values) if i.shape.is_tuple else values[0]
