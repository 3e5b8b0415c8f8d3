"""scatter_sorter: sorts the updates of a scatter by the elements that they update.

(XLA: xla/service/scatter_determinism_expander.h.)
"""

from __future__ import annotations

import math
from collections.abc import Callable

from xla_core.analysis.scatter_windows import ScatterWindows
from xla_core.hlo.ir.builder import Builder
from xla_core.hlo.ir.computation import HloComputation
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.ir.module import HloModule
from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.values.element_type import ElementType
from xla_core.hlo.values.shape import Shape
from xla_core.passes.expanders.expander import OpExpander
from xla_core.passes.expanders.gather_expander import canonical_indices
from xla_core.target import ParallelModel

_NUMBER = Shape(ElementType.S32)


class ScatterSorter(OpExpander):
    """Makes updates of the same element neighbours, in their order, so that one thread combines them.

    Windows that may overlap in part are split into updates of single elements. Scatters whose updates may be combined
    in any order, or are few, are left as they are.

    Args:
        parallel: says which updates may be combined in another way.
        floats: whether updates of floats may be combined in any order, which makes results differ between runs.
    """

    opcodes = frozenset({Opcode.SCATTER})

    def __init__(
        self,
        only: Callable[[HloInstruction], bool] | None = None,
        *,
        parallel: ParallelModel | None = None,
        floats: bool = False,
    ) -> None:
        super().__init__(only)
        self._parallel = parallel or ParallelModel()
        self._floats = floats

    def matches(self, instruction: HloInstruction) -> bool:
        windows = ScatterWindows(instruction, self._parallel)
        if windows.is_empty or 0 in windows.dims:
            return False
        return not (
            windows.are_unique or windows.are_few or windows.are_sorted or windows.commutes(floats=self._floats)
        )

    def expand(self, instruction: HloInstruction, b: Builder) -> HloInstruction:
        windows, attribute = ScatterWindows(instruction, self._parallel), instruction.attribute
        vectors, index_map, _ = canonical_indices(b, instruction)
        columns = [b.slice_in_dim(vectors, 1, k, k + 1) for k in range(len(index_map))]
        columns = [b.reshape(c, (windows.count,)) for c in columns]
        if windows.moved:
            columns = _elements(b, windows, columns, index_map)
        count = windows.count * math.prod(windows.window[n] for n in windows.moved)
        inserted = {*index_map, *attribute("inserted_window_dims")}
        rest = [n for n, d in enumerate(windows.kept) if d not in inserted]
        sizes = [windows.window[n] for n in rest]
        batch = [d for d in range(len(windows.update_dims)) if d not in windows.window_dims]
        order = [*batch, *(windows.window_dims[n] for n in [*windows.moved, *rest])]
        order += [d for d in range(len(windows.update_dims)) if d not in order]  # of size 1
        updates = [b.reshape(b.transpose(u, order), (count, *sizes)) for u in windows.updates]
        if columns:
            *columns, numbers = _sorted(b, columns, count)
            updates = [_rows(b, u, numbers) for u in updates]
        flat = [b.reshape(c, (count, 1)) for c in columns]
        empty = vectors.shape.with_dimensions((count, 0))
        indices = b.add(Opcode.CONCATENATE, *flat, dimensions=(1,)) if flat else b.constant(0, empty)
        return b.add(
            Opcode.SCATTER,
            *windows.operands,
            indices,
            *updates,
            shape=instruction.shape.without_layout(),
            update_window_dims=tuple(range(1, 1 + len(rest))),
            inserted_window_dims=tuple(sorted(inserted)),
            scatter_dims_to_operand_dims=tuple(index_map),
            index_vector_dim=1,
            indices_are_sorted=True,
            to_apply=attribute("to_apply"),
        )


def _elements(
    b: Builder, windows: ScatterWindows, columns: list[HloInstruction], index_map: list[int]
) -> list[HloInstruction]:
    """Returns the places of the single elements of windows, of which `columns` are the starts.

    Windows that aren't wholly inside the operands get a place outside.
    """
    like = columns[0].shape
    inside = b.broadcast(b.constant(True, Shape(ElementType.PRED)), like.dimensions)
    for column, dimension in zip(columns, index_map, strict=True):
        room = b.constant(windows.dims[dimension] - windows.sizes[dimension], Shape(like.element_type))
        inside = b.add(Opcode.AND, inside, b.compare(column, b.broadcast(room, like.dimensions), "LE"))
        if like.element_type.is_signed:
            zero = b.broadcast(b.constant(0, Shape(like.element_type)), like.dimensions)
            inside = b.add(Opcode.AND, inside, b.compare(column, zero, "GE"))
    outside = b.broadcast(b.constant(windows.dims[index_map[0]], Shape(like.element_type)), like.dimensions)
    sizes = (windows.count, *(windows.window[n] for n in windows.moved))
    offsets = {windows.kept[n]: axis for axis, n in enumerate(windows.moved, 1)}
    found = []
    for number, (column, dimension) in enumerate(zip(columns, index_map, strict=True)):
        start = column if number else b.add(Opcode.SELECT, inside, column, outside)
        place = b.broadcast(start, sizes, (0,))
        if dimension in offsets:
            shape = Shape(like.element_type, sizes)
            offset = b.add(Opcode.IOTA, shape=shape, iota_dimension=offsets[dimension])
            moved = b.add(Opcode.ADD, place, offset)
            place = moved if number else b.add(Opcode.SELECT, b.broadcast(inside, sizes, (0,)), moved, place)
        found.append(b.reshape(place, (math.prod(sizes),)))
    return found


def _sorted(b: Builder, columns: list[HloInstruction], count: int) -> list[HloInstruction]:
    """Returns the columns with their rows in ascending order, and the number that each row had."""
    numbers = b.add(Opcode.IOTA, shape=_NUMBER.with_dimensions((count,)), iota_dimension=0)
    keys = [*columns, numbers]
    before = _lexicographic([k.shape.element_type for k in keys], b.hlo_module)
    return b.elements(b.add(Opcode.SORT, *keys, dimensions=(0,), to_apply=before))


def _lexicographic(types: list[ElementType], module: HloModule) -> HloComputation:
    """A comparator of rows by their first elements that differ."""
    computation = HloComputation("row_before")
    b = Builder(computation)
    parameters = [computation.parameter(n, Shape(t)) for n, t in enumerate(t for each in types for t in (each, each))]
    pairs = list(zip(parameters[::2], parameters[1::2], strict=True))
    before = b.compare(*pairs[-1], "LT")
    for x, y in reversed(pairs[:-1]):
        before = b.add(Opcode.OR, b.compare(x, y, "LT"), b.add(Opcode.AND, b.compare(x, y, "EQ"), before))
    computation.set_root(before)
    return module.add_computation(computation)


def _rows(b: Builder, updates: HloInstruction, numbers: HloInstruction) -> HloInstruction:
    """Returns the updates of some numbers."""
    count, *sizes = updates.shape.dimensions
    return b.add(
        Opcode.GATHER,
        updates,
        b.reshape(numbers, (count, 1)),
        offset_dims=tuple(range(1, 1 + len(sizes))),
        collapsed_slice_dims=(0,),
        start_index_map=(0,),
        index_vector_dim=1,
        slice_sizes=(1, *sizes),
    )
