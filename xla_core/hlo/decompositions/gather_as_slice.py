"""A gather whose indices choose nothing is a slice of its operand, which the result has once for each index vector."""

from __future__ import annotations

from xla_core.hlo.ir.builder import Builder
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.ops.indexing import dimension_numbers


def gather_as_slice(i: HloInstruction, b: Builder) -> HloInstruction | None:
    """Replaces a gather whose slices can begin at 0 alone in each dimension that its index vectors name.

    A gather of no elements stays: a slice may have no element where the reshape's result has some.
    """
    (x, _), sizes, numbers = i.operands, i.attribute("slice_sizes"), dimension_numbers(i)
    if not i.shape.num_elements or any(x.shape.dimensions[d] != sizes[d] for d in numbers.mapped):
        return None
    window = iter(numbers.window)
    batch = [d for d in range(i.shape.rank) if d not in numbers.window]
    axes = dict(zip(numbers.batching, numbers.index_batching, strict=True))
    to: dict[int, int] = {}  # the result's dimension for each one of the operand that it has
    for d, size in enumerate(sizes):
        if d in axes:
            to[d] = batch[axes[d] - (axes[d] > numbers.vector)]
            continue
        x = b.slice_in_dim(x, d, 0, size)
        if d not in numbers.removed:
            to[d] = next(window)
    kept = b.reshape(x, [x.shape.dimensions[d] for d in to])
    places = list(to.values())
    turned = b.transpose(kept, sorted(range(len(places)), key=places.__getitem__))
    return b.broadcast(turned, i.shape.dimensions, sorted(places))
