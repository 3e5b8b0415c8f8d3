"""Kernels that compute their results element by element: elementwise fusions and data movement.

The loops are over the result as it lies in memory. One loop where nothing inside needs to know more than the linear
index; else loops over the parts that index arithmetic asks for. The outermost part is what is split over threads.
Results of different dimensions have loops of their own, one after another.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Hashable, Sequence

from xla_core.codegen.llvm.builder import Value
from xla_core.codegen.llvm.context import EmissionContext
from xla_core.codegen.llvm.data_movement import transposed
from xla_core.codegen.llvm.fused import FusedIrEmitter
from xla_core.codegen.llvm.index import Digit, Index, split_digit
from xla_core.codegen.llvm.ir_array import IrArray
from xla_core.codegen.llvm.kernel import Hero, KernelBody, Plan, hero
from xla_core.codegen.llvm.target_abi import KernelFrame
from xla_core.hlo.instruction import HloInstruction
from xla_core.hlo.shape import Shape

__all__ = ["LOOP", "Partition", "partitioned_loops", "physical_index"]

_PARTS = 64  # units that a kernel's work should at least be cut into, where it is large enough
_CHUNK = 1024  # elements of a row below which it is not cut


class Partition:
    """How the loops over a space are cut into units.

    The first `prefix` loops are flattened into the unit number; where that makes few units, the last loop is cut into
    `chunks` of `chunk` iterations.
    """

    def __init__(self, space: Hashable, extents: Sequence[int], *, flatten: bool = False, tile: int = 0) -> None:
        """`flatten` makes every element a unit; `tile` bounds the chunk and asks for one even in a single loop."""
        self.space = space
        self.extents = list(extents)
        self.flatten = flatten
        self.chunks = 1
        self.chunk = self.extents[-1]
        if flatten or (len(self.extents) == 1 and not tile):
            self.prefix = len(self.extents)
            self.count = math.prod(self.extents)
            self.grain = 64
            return
        outer = self.extents[:-1]
        sizes = [math.prod(outer[:taken]) for taken in range(len(outer) + 1)]
        self.prefix = len(outer) if tile else next((n for n, size in enumerate(sizes) if size >= _PARTS), len(outer))
        rows, inner, least = sizes[self.prefix], self.extents[-1], 64 if tile else _CHUNK
        wanted = min(_ceil_div(_PARTS, rows), inner // least) if rows < _PARTS else 1
        wanted = max(wanted, _ceil_div(inner, tile)) if tile else wanted
        if wanted > 1:
            self.chunk = _ceil_div(_ceil_div(inner, wanted), 64) * 64
            self.chunks = _ceil_div(inner, self.chunk)
        self.count = rows * self.chunks
        self.grain = max(1, 64 * self.count // max(math.prod(self.extents), 1))


def _ceil_div(a: int, b: int) -> int:
    return -(-a // b)


def partitioned_loops(
    context: EmissionContext,
    begin: Value,
    end: Value,
    step: Value,
    partition: Partition,
    body: Callable[[list[Digit]], None],
) -> None:
    """Emits the loops over units [begin, end) of a partition; `body(digits)` is called once, inside the innermost."""
    b, extents = context.builder, partition.extents
    loop, _ = context.open_loop(begin, end, step, name="unit")
    if partition.chunks == 1 and len(extents) == 1:
        own = None if partition.flatten else (partition.space, 0)
        body([Digit(loop.index, extents[0], b.level, own)])
        context.close_loop(loop)
        return
    digits, chunk = unit_digits(context, loop.index, partition)
    inner = []
    for position in range(partition.prefix, len(extents)):
        first, limit = b.int_(0), b.int_(extents[position])
        if chunk is not None and position == len(extents) - 1:
            first, limit = chunk
        opened, _ = context.open_loop(first, limit, name=f"dim{position}")
        inner.append(opened)
        digits.append(Digit(opened.index, extents[position], b.level, (partition.space, position)))
    body(digits)
    for opened in reversed(inner):
        context.close_loop(opened)
    context.close_loop(loop)


def unit_digits(
    context: EmissionContext, index: Value, partition: Partition
) -> tuple[list[Digit], tuple[Value, Value] | None]:
    """The prefix loops' digits of a unit, and its range of the last loop where that is cut into chunks."""
    b = context.builder
    unit = Digit(index, partition.count, b.level)
    chunk = None
    if partition.chunks > 1:
        unit, part = split_digit(b, unit, partition.chunks)
        first = b.mul(part.value, b.int_(partition.chunk), "nuw nsw")
        limit = b.intrinsic("umin", b.add(first, b.int_(partition.chunk), "nuw nsw"), b.int_(partition.extents[-1]))
        chunk = (first, limit)
    digits: list[Digit] = []
    for position in range(partition.prefix - 1, -1, -1):
        unit, low = split_digit(b, unit, partition.extents[position]) if position else (unit, unit)
        loop = None if partition.flatten else (partition.space, position)
        digits.insert(0, dataclasses.replace(low, extent=partition.extents[position], loop=loop))
    return digits, chunk


def physical_index(context: EmissionContext, shape: Shape, digits: Sequence[Digit]) -> Index:
    """The index of the element at a position, given in digits, of an array as it lies in memory."""
    order = list(reversed(shape.minor_to_major()))  # major to minor
    physical = [shape.dimensions[d] for d in order]
    index = Index(physical, digits)
    if order == sorted(order):
        return index.reshaped(shape.dimensions)
    # The physical array is the transpose of the logical one; its inverse leads back.
    return transposed(context.builder, index, order, shape.dimensions)


class _Section:
    """Results of equal dimensions and layout, and the instructions that they come from."""

    def __init__(self, root: HloInstruction, result: IrArray | None) -> None:
        self.shape = root.shape if not root.shape.is_tuple else next(root.shape.leaves())
        self.roots = [root]
        self.results = [result]

    @property
    def key(self) -> Hashable:
        return self.shape.dimensions, self.shape.minor_to_major()


def sections(body: KernelBody) -> list[_Section]:
    """The kernel's roots, those of one form together."""
    found: dict[Hashable, _Section] = {}
    for root in body.roots:
        section = _Section(root, None)
        known = found.setdefault(section.key, section)
        if known is not section:
            known.roots.append(root)
    return list(found.values())


def _partitions(body: KernelBody) -> list[Partition]:
    partitions = []
    for number, section in enumerate(sections(body)):
        space = ("kernel", number)
        extents = body.spaces.setdefault(space, [section.shape.num_elements])
        partitions.append(Partition(space, extents, flatten=body.abi.flatten))
    return partitions


def _plan(body: KernelBody) -> Plan:
    partitions = _partitions(body)
    largest = max(partitions, key=lambda p: p.count)
    return Plan(largest.count, largest.grain)


def _emit(body: KernelBody, frame: KernelFrame, context: EmissionContext, fused: FusedIrEmitter) -> None:
    results: dict[HloInstruction, list[list[IrArray]]] = {}
    remaining = iter(body.results)
    for root in body.roots:  # an instruction may be several of the results
        results.setdefault(root, []).append([next(remaining) for _ in root.shape.leaves()])
    partitions = _partitions(body)
    total = max(p.count for p in partitions)
    for section, partition in zip(sections(body), partitions, strict=True):
        if not partition.count:
            continue

        def element(digits: list[Digit], section: _Section = section) -> None:
            index = physical_index(context, section.shape, digits)
            unique = list(dict.fromkeys(section.roots))
            values = [fused.values(root, index.reshaped(_leaf_dimensions(root))) for root in unique]
            for root, leaves in zip(unique, values, strict=True):
                for arrays in results[root]:
                    for value, array in zip(leaves, arrays, strict=True):
                        array.store(context.builder, index, value)

        begin, end = _share(context, frame, partition.count, total)
        partitioned_loops(context, begin, end, frame.step, partition, element)


def _leaf_dimensions(root: HloInstruction) -> tuple[int, ...]:
    return next(root.shape.leaves()).dimensions


def _share(context: EmissionContext, frame: KernelFrame, count: int, total: int) -> tuple[Value, Value]:
    """A section's part [begin, end) of the kernel's: its units are shared out in proportion."""
    if count == total:
        return frame.begin, frame.end
    b = context.builder
    if frame.step.integer != 1:  # a grid of threads: all start where they stand, and end at the section's end
        return frame.begin, b.intrinsic("umin", frame.end, b.int_(count))
    return tuple(  # type: ignore[return-value]
        b.udiv(b.mul(bound, b.int_(count), "nuw"), b.int_(total)) for bound in (frame.begin, frame.end)
    )


LOOP = Hero(_plan, _emit)
hero(lambda body: True, LOOP)
