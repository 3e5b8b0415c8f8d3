"""The parts of a kernel's results that have loops of their own."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Hashable, Iterator, Sequence

from xla_core.analysis.indexing import (
    Access,
    FusionAccesses,
    Index,
    IndexExpr,
    memory_index,
    memory_position,
    operand_accesses,
)
from xla_core.analysis.scatter_windows import ScatterWindows
from xla_core.codegen import loop_plan
from xla_core.codegen.llvm.elements.element_emitter import ElementEmitter
from xla_core.codegen.llvm.forms.kernel_form import KernelBody
from xla_core.codegen.llvm.loops.ir_array import ElementValue, IrArray
from xla_core.errors import UnimplementedError
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.values.shape import Shape

_MOST_PARTS = 16  # operands of a concatenation whose operands have loops of their own


@dataclasses.dataclass(slots=True)
class Section:
    """Results that one nest of loops over `shape` computes and stores.

    Attributes:
        shape: the array over which the loops run, in memory order: the shape of the results, of an update or of a part.
        result: the shape of the first result.
        roots: (instruction, the numbers of its results).
        update: for an instruction that updates its operand in place, such as a dynamic-update-slice, the instruction;
            `roots` has the update.
        start: for an operand of a concatenation, where it begins in the result.
    """

    shape: Shape
    result: Shape
    roots: list[tuple[HloInstruction, list[int]]]
    update: HloInstruction | None = None
    start: tuple[int, ...] = ()

    @property
    def accumulates(self) -> bool:
        """Whether elements are combined with those of the result, by atomics."""
        return self.update is not None and self.update.opcode == Opcode.SCATTER

    def index(self, position: IndexExpr) -> Index:
        """The index, in `shape`, of the element at a position in memory."""
        return memory_index(self.shape, position)

    def place(self, index: Index, accesses: Callable[[HloInstruction, Index], Sequence[Access]]) -> Index:
        """Returns the index in the result at which the computed element `index` is stored.

        `accesses` returns the accesses of an instruction to its operands.
        """
        if self.start:
            return tuple(expr + first for expr, first in zip(index, self.start, strict=True))
        if self.update is None:
            return index
        if self.accumulates:
            return tuple(index[d] for d in self.update.attribute("update_window_dims"))
        zero = tuple(IndexExpr.of(0) for _ in index)
        starts = accesses(self.update, zero)[1].index  # 0 - start in each dimension
        return tuple(expr - start for expr, start in zip(index, starts, strict=True))

    def visit(self, accesses: FusionAccesses, position: IndexExpr) -> None:
        """Adds to `accesses` the reads of the elements at a position, and the places where they are stored."""
        index = self.index(position)
        for root, _ in self.roots:
            accesses.visit(root, index)
        accesses.values[memory_position(self.result, self.place(index, operand_accesses))] = None

    def elements(
        self, body: KernelBody, emitter: ElementEmitter, position: IndexExpr
    ) -> Iterator[tuple[IrArray, Index, ElementValue]]:
        """Emits the elements at a position; yields (array, index, value) of each."""
        index = self.index(position)
        place = self.place(index, emitter.accesses)
        for root, leaves in self.roots:
            for leaf, value in zip(leaves, emitter.values(root, index), strict=True):
                yield body.results[leaf], place, value


def sections(body: KernelBody, *, parts: bool, atomics: bool = False) -> list[Section]:
    """Divides the kernel's roots into sections. Roots of one shape share a section; each in-place update has its own.

    With `parts`, each operand of a concatenation is a section, too. With `atomics`, the updates of a scatter to its
    whole operand may be a section that accumulates.
    """
    found: dict[Hashable, Section] = {}
    leaf = 0
    for root in body.roots:
        count = sum(1 for _ in root.shape.leaves())
        for key, section in _sections_of(body, root, list(range(leaf, leaf + count)), parts, atomics):
            known = found.setdefault(key, section)
            if known is not section:
                known.roots.extend(section.roots)
        leaf += count
    return list(found.values())


def _sections_of(
    body: KernelBody, root: HloInstruction, leaves: list[int], parts: bool, atomics: bool
) -> Iterator[tuple[Hashable, Section]]:
    shape = next(root.shape.leaves())
    if any(leaf.dimensions != shape.dimensions for leaf in root.shape.leaves()):
        raise UnimplementedError(
            f"the results of {root.name} have different dimensions, and no kernel form computes them",
            op=root.opcode.value,
            location=root.location,
            hint="decompose the instruction in the target's passes",
        )
    row_major = shape.layout is None or shape.layout.is_row_major
    updates = _updates(body, root, atomics) if row_major else None
    if updates is not None and (leaves[0], body.operand_leaf(root.operand(0))) in body.aliasing:
        yield root, Section(updates.shape.without_layout(), shape, [(updates, leaves)], update=root)
        return
    if root.opcode == Opcode.CONCATENATE and row_major and parts and len(root.operands) <= _MOST_PARTS:
        (axis,) = root.attribute("dimensions")
        start = [0] * shape.rank
        for number, operand in enumerate(root.operands):
            section = Section(operand.shape.without_layout(), shape, [(operand, leaves)], start=tuple(start))
            yield (root, number), section
            start[axis] += operand.shape.dimensions[axis]
        return
    yield (shape.dimensions, tuple(shape.minor_to_major())), Section(shape, shape, [(root, leaves)])


def _updates(body: KernelBody, root: HloInstruction, atomics: bool) -> HloInstruction | None:
    """Returns what a root that updates its operand stores there, or combines with all of it by atomics."""
    if root.opcode == Opcode.DYNAMIC_UPDATE_SLICE:
        return root.operand(1)
    if not atomics or root.opcode != Opcode.SCATTER or root.attribute("scatter_dims_to_operand_dims"):
        return None
    windows = ScatterWindows(root, body.parallel)
    is_whole = tuple(windows.window) == tuple(windows.dims)
    return windows.updates[0] if is_whole and windows.commutes(floats=body.abi.atomic_floats) else None


def planned(section: Section, number: int) -> loop_plan.Section:
    """The section as a planner sees it."""
    return loop_plan.Section(("kernel", number), (section.shape.num_elements,), section.visit)
