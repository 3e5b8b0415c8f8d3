"""Reshapes padded values."""

from __future__ import annotations

import math
from collections.abc import Sequence

from xla_core.hlo.decompositions.expression import HloExpression
from xla_core.hlo.ir.builder import Builder
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.opcode import Opcode
from xla_core.passes.dynamic_padder.padded import S32, Padded, size_of


def reshaped(b: Builder, operand: Padded, dimensions: Sequence[int]) -> Padded | None:
    """A static reshape of a padded value, or None if it has no padded form.

    A dynamic dimension may be merged with static dimensions after it, or split so that its first part is dynamic.
    """
    sizes: dict[int, HloInstruction] = {}
    for old, new in _groups(operand.dimensions, dimensions):
        dynamic = [d for d in old if d in operand.sizes]
        if not dynamic:
            continue
        old = [d for d in old if operand.dimensions[d] != 1 or d in dynamic]
        new = [d for d in new if dimensions[d] != 1] or new[:1]
        if dynamic != old[:1] or not new:
            return None
        before = math.prod(operand.dimensions[d] for d in old[1:])
        after = math.prod(dimensions[d] for d in new[1:])
        sizes[new[0]] = (HloExpression(b, operand.sizes[old[0]]) * before / max(after, 1)).i
    return Padded(b.reshape(operand.value, dimensions), sizes)


def _groups(old: Sequence[int], new: Sequence[int]) -> list[tuple[list[int], list[int]]]:
    """The shortest groups of adjacent dimensions of both shapes with equal numbers of elements."""
    groups: list[tuple[list[int], list[int]]] = []
    a = c = 0
    while a < len(old) or c < len(new):
        first, second = [a] if a < len(old) else [], [c] if c < len(new) else []
        a, c = a + len(first), c + len(second)
        left, right = math.prod(old[d] for d in first), math.prod(new[d] for d in second)
        while left != right and (a < len(old) or c < len(new)):
            if (left < right or c == len(new)) and a < len(old):
                first.append(a)
                left, a = left * old[a], a + 1
            else:
                second.append(c)
                right, c = right * new[c], c + 1
        groups.append((first, second))
    return groups


def reshaped_to_sizes(b: Builder, operand: Padded, bounds: Sequence[int], sizes: dict[int, HloInstruction]) -> Padded:
    """Reshapes a padded value to sizes that are known only at run time, with a gather.

    The k-th valid element of the result is the k-th valid element of the operand, in row-major order. Elements beyond
    the sizes are arbitrary.
    """
    if 0 in operand.dimensions:  # gather needs an operand with elements
        fill = b.constant(0, operand.value.shape.with_dimensions(()))
        return Padded(b.broadcast(fill, bounds), sizes)
    places = S32.with_dimensions(bounds)
    kth = HloExpression(b, b.constant(0, places))
    for d in range(len(bounds)):
        kth = kth * sizes.get(d, bounds[d]) + b.add(Opcode.IOTA, shape=places, iota_dimension=d)
    if operand.sizes:
        kth = _place(b, operand, kth)
    count = math.prod(operand.dimensions)
    gathered = b.add(
        Opcode.GATHER,
        b.reshape(operand.value, (count,)),
        kth.i,
        shape=operand.value.shape.with_dimensions(bounds),
        offset_dims=(),
        collapsed_slice_dims=(0,),
        start_index_map=(0,),
        index_vector_dim=len(bounds),
        slice_sizes=(1,),
    )
    return Padded(gathered, sizes)


def _place(b: Builder, operand: Padded, kth: HloExpression) -> HloExpression:
    """The linear index, in the padded array, of the k-th valid element."""
    place = HloExpression(b, b.constant(0, kth.shape))
    stride = 1
    for d in reversed(range(len(operand.dimensions))):
        size = HloExpression(b, size_of(b, operand, d)).maximum(1)
        place = place + (kth % size if d else kth) * stride
        kth = kth / size
        stride *= operand.dimensions[d]
    return place
