"""Kernels that compute their results element by element: elementwise fusions and data movement.

The loops run over the result as it lies in memory. There is one loop if all indices are functions of the linear index,
else the loops that index arithmetic asks for (see `loops.schedule`). The outermost ones are divided over threads.
Results of different dimensions have loops of their own, one after another.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence

from xla_core.codegen.llvm.elements.data_movement import sliced, transposed
from xla_core.codegen.llvm.elements.fused import FusedIrEmitter
from xla_core.codegen.llvm.elements.indexing import clamped_starts, dynamic_sliced
from xla_core.codegen.llvm.forms.kernel_form import KernelBody, KernelForm, Plan
from xla_core.codegen.llvm.ir.module import Value
from xla_core.codegen.llvm.loops.context import EmissionContext
from xla_core.codegen.llvm.loops.index import Digit, Index
from xla_core.codegen.llvm.loops.partition import Partition, partitioned_loops
from xla_core.codegen.llvm.loops.schedule import LoopNest
from xla_core.codegen.llvm.target_abi import KernelFrame
from xla_core.hlo.instruction import HloInstruction
from xla_core.hlo.opcode import Opcode
from xla_core.hlo.shape import Shape

_MOST_SEGMENTS = 16  # of the loops of a kernel
_SEGMENTS_SIZE = 256  # HLO instructions in the bodies of all segments, at most


def physical_index(context: EmissionContext, shape: Shape, digits: Sequence[Digit]) -> Index:
    """Returns the index of an element whose position in memory is given in digits."""
    order = list(reversed(shape.minor_to_major()))  # major to minor
    physical = [shape.dimensions[d] for d in order]
    index = Index(physical, digits)
    if order == sorted(order):
        return index.reshaped(shape.dimensions)
    # The array in memory is a transpose of the logical one.
    return transposed(context.builder, index, order, shape.dimensions)


class Section:
    """The results that one nest of loops over `shape` computes and stores.

    `roots` are (instruction, its number among the kernel's roots). If only a part of a result is written, `value` is
    the instruction that is computed, and `place` maps its index to the result's.
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
    """Groups the kernel's roots by shape. In-place updates and concatenations are divided into parts."""
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
    if root.opcode == Opcode.DYNAMIC_UPDATE_SLICE and _in_place(body, number, root) and row_major:
        return [_update_section(number, root)]
    if root.opcode == Opcode.CONCATENATE and len(root.operands) <= _MOST_PARTS and row_major and not body.abi.flatten:
        return _operand_sections(number, root)
    return [Section(shape, number, root)]


_MOST_PARTS = 16  # operands of a concatenation whose operands have loops of their own


def _in_place(body: KernelBody, number: int, root: HloInstruction) -> bool:
    """Returns whether the result and the updated operand are one buffer."""
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
    # With segments, what is computed once a row would be computed once a segment.
    segments = 1 if body.has_inner_reductions else min(_MOST_SEGMENTS, _SEGMENTS_SIZE // body.size)
    for number, section in enumerate(sections(body)):
        space = ("kernel", number)
        nest = body.schedule.setdefault(space, LoopNest([section.shape.num_elements]))
        partitions.append(
            Partition(
                space,
                nest.extents,
                body.abi.parallel,
                flatten=body.abi.flatten,
                across=nest.across,
                whole_rows=body.has_inner_reductions,
                segments=segments,
            )
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
            for root, _ in section.roots:  # compute all values before the first store: results may be operands
                fused.values(root, index.reshaped(next(root.shape.leaves()).dimensions))
            for root, number in section.roots:
                values = fused.values(root, index.reshaped(next(root.shape.leaves()).dimensions))
                for value, array in zip(values, results[number], strict=True):
                    array.store(context.builder, index, value)

        begin, end = _share(context, frame, partition.count, total)
        partitioned_loops(context, begin, end, frame.step, partition, element)


def _share(context: EmissionContext, frame: KernelFrame, count: int, total: int) -> tuple[Value, Value]:
    """Returns this call's share of a section's `count` units, in proportion to its share of the kernel's `total`."""
    if count == total:
        return frame.begin, frame.end
    b = context.builder
    if frame.step.integer != 1:  # a grid of threads, each of which strides over the section
        return frame.begin, b.intrinsic("umin", frame.end, b.int_(count))
    begin, end = (b.udiv(b.mul(bound, b.int_(count), "nuw"), b.int_(total)) for bound in (frame.begin, frame.end))
    return begin, end


LOOP = KernelForm(lambda body: True, _plan, _emit)
