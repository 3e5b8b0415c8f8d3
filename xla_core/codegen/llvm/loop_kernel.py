"""Kernels that compute their results element by element: elementwise fusions and data movement.

The loops are over the result as it lies in memory. One loop where nothing inside needs to know more than the linear
index; else loops over the parts that index arithmetic asks for. The outermost part is what is split over threads.
Results of different dimensions have loops of their own, one after another.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Hashable, Sequence

from xla_core.codegen.llvm.context import EmissionContext, minor_loop_metadata
from xla_core.codegen.llvm.data_movement import sliced, transposed
from xla_core.codegen.llvm.fused import FusedIrEmitter
from xla_core.codegen.llvm.index import Digit, Index, split_digit
from xla_core.codegen.llvm.indexing import clamped_starts, dynamic_sliced
from xla_core.codegen.llvm.ir_module import Value
from xla_core.codegen.llvm.kernel import Hero, KernelBody, Plan
from xla_core.codegen.llvm.loop_tile import Tile
from xla_core.codegen.llvm.target_abi import KernelFrame
from xla_core.codegen.llvm.transposition import SIZE
from xla_core.hlo.instruction import HloInstruction
from xla_core.hlo.shape import Shape

__all__ = ["LOOP", "Partition", "partitioned_loops", "physical_index", "unit_digits"]

_PARTS = 64  # units that a kernel's work should at least be cut into, where it is large enough
_CHUNK = 1024  # elements of a row below which it is not cut


class Partition:
    """How the loops over a space are cut into units.

    The first `prefix` loops are flattened into the unit number; where that makes few units, the last loop is cut into
    `chunks` of `chunk` iterations.
    """

    def __init__(
        self,
        space: Hashable,
        extents: Sequence[int],
        *,
        flatten: bool = False,
        tile: int = 0,
        across: int = -1,
        whole_rows: bool = False,
    ) -> None:
        """`flatten` makes every element a unit; `tile` bounds the chunk and asks for one even in a single loop.

        `across` is a loop that runs in square tiles with the last one; each tile is a unit then. With `whole_rows` the
        last loop is not cut: what is computed once a row is costly.
        """
        self.across = across
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
        if across >= 0:
            self.prefix = len(self.extents)
            others = math.prod(n for p, n in enumerate(self.extents[:-1]) if p != across)
            self.count = others * _ceil_div(self.extents[across], SIZE) * _ceil_div(self.extents[-1], SIZE)
            self.grain = 1
            return
        outer = self.extents[:-1]
        sizes = [math.prod(outer[:taken]) for taken in range(len(outer) + 1)]
        self.prefix = len(outer) if tile else next((n for n, size in enumerate(sizes) if size >= _PARTS), len(outer))
        rows, inner, least = sizes[self.prefix], self.extents[-1], 64 if tile else _CHUNK
        wanted = min(_ceil_div(_PARTS, rows), inner // least) if rows < _PARTS and not whole_rows else 1
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
    if partition.across >= 0:
        _tiled_loops(context, loop.index, partition, body)
        context.close_loop(loop)
        return
    if not partition.flatten and len(extents) > 1:
        context.tile = Tile(partition.space, len(extents) - 1)
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
        if position == len(extents) - 1:
            opened.metadata.extend(minor_loop_metadata(extents[position]))
        digits.append(Digit(opened.index, extents[position], b.level, (partition.space, position)))
    body(digits)
    for opened in reversed(inner):
        context.close_loop(opened)
    context.close_loop(loop)
    context.tile = None


def _tiled_loops(
    context: EmissionContext, unit_index: Value, partition: Partition, body: Callable[[list[Digit]], None]
) -> None:
    """The loops over one square tile of two of the loops."""
    b, extents, across, last = context.builder, partition.extents, partition.across, len(partition.extents) - 1
    unit = Digit(unit_index, partition.count, b.level)
    blocks: dict[int, Digit] = {}
    for position in (last, across):
        unit, blocks[position] = split_digit(b, unit, _ceil_div(extents[position], SIZE))
    digits: dict[int, Digit] = {}
    remaining = [p for p in range(last) if p != across]
    for position in reversed(remaining):
        unit, low = split_digit(b, unit, extents[position]) if position != remaining[0] else (unit, unit)
        digits[position] = dataclasses.replace(low, extent=extents[position], loop=(partition.space, position))
    begins, ends = [], []
    for position in (across, last):
        first = b.mul(blocks[position].value, b.int_(SIZE), "nuw nsw")
        begins.append(first)
        ends.append(b.intrinsic("umin", b.add(first, b.int_(SIZE), "nuw nsw"), b.int_(extents[position])))
    tile = Tile(partition.space, last, across, b.level, (begins[0], begins[1]), (ends[0], ends[1]))
    context.tile = tile
    opened = []
    for position, first, limit in zip((across, last), begins, ends, strict=True):
        loop, _ = context.open_loop(first, limit, name="tile")
        opened.append(loop)
        if position == last:
            loop.metadata.extend(minor_loop_metadata(SIZE))
        digits[position] = Digit(loop.index, extents[position], b.level, (partition.space, position))
    body([digits[p] for p in range(len(extents))])
    for loop in reversed(opened):
        context.close_loop(loop)
    context.tile = None


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


class Section:
    """Results that one set of loops computes: the roots that it stores, over a space of `shape`.

    `roots` are (instruction, its number among the kernel's roots). Where only a part of a result is written, `value`
    is the instruction that is computed and `place` leads from its index to the result's.
    """

    def __init__(self, shape: Shape, number: int, root: HloInstruction) -> None:
        self.shape = shape
        self.roots = [(root, number)]
        self.value: HloInstruction | None = None
        self.place: Callable[[FusedIrEmitter, Index], Index] | None = None

    @property
    def key(self) -> Hashable:
        return self.shape.dimensions, self.shape.minor_to_major(), id(self) if self.place is not None else 0


def sections(body: KernelBody) -> list[Section]:
    """The kernel's roots, those of one form together; in-place updates and concatenations by their parts."""
    found: dict[Hashable, Section] = {}
    for number, root in enumerate(body.roots):
        for section in _parts(body, number, root):
            known = found.setdefault(section.key, section)
            if known is not section:
                known.roots.extend(section.roots)
    return list(found.values())


def _parts(body: KernelBody, number: int, root: HloInstruction) -> list[Section]:
    shape = next(root.shape.leaves())
    row_major = shape.layout is None or shape.layout.is_row_major
    if root.opcode == "dynamic-update-slice" and _in_place(body, number, root) and row_major:
        return [_update_section(number, root)]
    if root.opcode == "concatenate" and len(root.operands) <= _MOST_PARTS and row_major and not body.abi.flatten:
        return _operand_sections(number, root)
    return [Section(shape, number, root)]


_MOST_PARTS = 16  # operands of a concatenation that get loops of their own


def _in_place(body: KernelBody, number: int, root: HloInstruction) -> bool:
    """Whether the result is the very buffer of the updated operand."""
    leaves = [sum(1 for _ in r.shape.leaves()) for r in body.roots]
    return (sum(leaves[:number]), body.operand_leaf(root.operand(0))) in body.aliasing


def _update_section(number: int, root: HloInstruction) -> Section:
    _, update, *starts = root.operands
    dims, sizes = root.shape.dimensions, update.shape.dimensions
    section = Section(update.shape.without_layout(), number, root)
    section.value = update
    section.place = lambda f, index: dynamic_sliced(f, index, dims, clamped_starts(f, starts, dims, sizes))
    return section


def _operand_sections(number: int, root: HloInstruction) -> list[Section]:
    (dimension,) = root.attribute("dimensions")
    dims = root.shape.dimensions
    found, offset = [], 0
    for operand in root.operands:
        starts = [offset if d == dimension else 0 for d in range(len(dims))]
        section = Section(operand.shape.without_layout(), number, root)
        section.value = operand
        section.place = lambda f, index, starts=starts: sliced(f.b, index, dims, starts, [1] * len(dims))
        offset += operand.shape.dimensions[dimension]
        found.append(section)
    return found


def _partitions(body: KernelBody) -> list[Partition]:
    partitions = []
    for number, section in enumerate(sections(body)):
        space = ("kernel", number)
        extents = body.spaces.setdefault(space, [section.shape.num_elements])
        (across,) = body.spaces.get(("tile", space), [-1])
        partitions.append(
            Partition(space, extents, flatten=body.abi.flatten, across=across, whole_rows=body.has_inner_reductions)
        )
    return partitions


def _plan(body: KernelBody) -> Plan:
    partitions = _partitions(body)
    largest = max(partitions, key=lambda p: p.count)
    return Plan(largest.count, largest.grain)


def _emit(body: KernelBody, frame: KernelFrame, context: EmissionContext, fused: FusedIrEmitter) -> None:
    remaining = iter(body.results)
    results = [[next(remaining) for _ in root.shape.leaves()] for root in body.roots]
    partitions = _partitions(body)
    total = max(p.count for p in partitions)
    for section, partition in zip(sections(body), partitions, strict=True):
        if not partition.count:
            continue

        def element(digits: list[Digit], section: Section = section) -> None:
            index = physical_index(context, section.shape, digits)
            if section.value is not None and section.place is not None:
                stored = fused.value(section.value, index)
                results[section.roots[0][1]][0].store(context.builder, section.place(fused, index), stored)
                return
            for root, _ in section.roots:  # all values before the first store: results may be operands
                fused.values(root, index.reshaped(next(root.shape.leaves()).dimensions))
            for root, number in section.roots:
                values = fused.values(root, index.reshaped(next(root.shape.leaves()).dimensions))
                for value, array in zip(values, results[number], strict=True):
                    array.store(context.builder, index, value)

        begin, end = _share(context, frame, partition.count, total)
        partitioned_loops(context, begin, end, frame.step, partition, element)


def _share(context: EmissionContext, frame: KernelFrame, count: int, total: int) -> tuple[Value, Value]:
    """A section's part [begin, end) of the kernel's: its units are shared out in proportion."""
    if count == total:
        return frame.begin, frame.end
    b = context.builder
    if frame.step.integer != 1:  # a grid of threads: all start where they stand, and end at the section's end
        return frame.begin, b.intrinsic("umin", frame.end, b.int_(count))
    begin, end = (b.udiv(b.mul(bound, b.int_(count), "nuw"), b.int_(total)) for bound in (frame.begin, frame.end))
    return begin, end


LOOP = Hero(lambda body: True, _plan, _emit)
