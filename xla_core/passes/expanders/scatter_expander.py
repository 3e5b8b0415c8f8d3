"""scatter_expander: expands scatter to a loop over windows of updates (XLA: xla/service/scatter_expander.h)."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from xla_core.hlo.decompositions.loops import Values, counted_loop
from xla_core.hlo.ir.builder import Builder, scalar_computation
from xla_core.hlo.ir.computation import HloComputation
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.values.element_type import ElementType
from xla_core.hlo.values.shape import Shape
from xla_core.passes.expanders.expander import OpExpander
from xla_core.passes.expanders.gather_expander import canonical_indices, start_of
from xla_core.passes.inlining import apply_to_arrays, is_elementwise_of_scalars

_INDEX = Shape(ElementType.S32)
_PRED = Shape(ElementType.PRED)


@dataclasses.dataclass(frozen=True)
class CanonicalScatter:
    """A scatter whose index vectors are rows of a matrix.

    Attributes:
        inputs: the operands that are updated.
        vectors: the index vectors, of shape [count, components].
        index_map: the operand dimension of each component.
        window: the sizes of an update's window, one for each operand dimension.
        updates: the updates of each operand, of shape [count, *window].
    """

    inputs: Sequence[HloInstruction]
    vectors: HloInstruction
    index_map: Sequence[int]
    window: Sequence[int]
    updates: Sequence[HloInstruction]

    @property
    def count(self) -> int:
        return self.vectors.shape.dimensions[0]


def canonical_scatter(instruction: HloInstruction, b: Builder) -> CanonicalScatter:
    """Adds the instructions that bring a scatter's indices and updates into the order of `CanonicalScatter`."""
    attribute = instruction.attribute
    n = len(instruction.operands) // 2
    inputs, updates = instruction.operands[:n], instruction.operands[n + 1 :]
    vectors, index_map, _ = canonical_indices(b, instruction)
    window_dims = attribute("update_window_dims")
    removed = {*attribute("inserted_window_dims"), *attribute("input_batching_dims")}
    rest = iter([updates[0].shape.dimensions[d] for d in window_dims])
    window = [1 if d in removed else next(rest) for d in range(inputs[0].shape.rank)]
    order = [d for d in range(updates[0].shape.rank) if d not in window_dims] + list(window_dims)
    rows = [b.reshape(b.transpose(u, order), (vectors.shape.dimensions[0], *window)) for u in updates]
    return CanonicalScatter(inputs, vectors, index_map, window, rows)


class ScatterExpander(OpExpander):
    """Expands scatter to a loop over index vectors.

    An iteration reads a window of the operand, combines it with its update, and writes it back. Windows that are not
    entirely inside the operand are skipped.
    """

    opcodes = frozenset({Opcode.SCATTER})

    def matches(self, instruction: HloInstruction) -> bool:
        combiner: HloComputation = instruction.attribute("to_apply")
        types = [o.shape.element_type for o in instruction.operands]
        count = len(types) // 2
        parameters = [p.shape.element_type for p in combiner.parameters]
        return (
            all(o.shape.num_elements > 0 for o in instruction.operands)
            and parameters == types[:count] + types[count + 1 :]
            and is_elementwise_of_scalars(combiner)
        )

    def expand(self, instruction: HloInstruction, b: Builder) -> HloInstruction:
        scatter = canonical_scatter(instruction, b)
        vectors, index_map, window = scatter.vectors, scatter.index_map, scatter.window
        every = scalar_computation(Opcode.AND, ElementType.PRED, module=b.hlo_module)

        def body(inner: Builder, turn: HloInstruction, changing: Values, constant: Values) -> Values:
            vectors, *rows = constant
            starts = start_of(inner, vectors, turn, index_map, len(window))
            inside = _inside(inner, starts, changing[0].shape.dimensions, window, every)
            zeros = [inner.constant(0, _INDEX)] * len(window)
            parts = []
            for row in rows:
                part = inner.add(Opcode.DYNAMIC_SLICE, row, turn, *zeros, dynamic_slice_sizes=(1, *window))
                parts.append(inner.reshape(part, window))
            there = [inner.add(Opcode.DYNAMIC_SLICE, x, *starts, dynamic_slice_sizes=tuple(window)) for x in changing]
            combined = apply_to_arrays(instruction.attribute("to_apply"), [*there, *parts], inner)
            chosen = inner.broadcast(inside, window)
            return [
                inner.add(Opcode.DYNAMIC_UPDATE_SLICE, x, inner.add(Opcode.SELECT, chosen, new, old), *starts)
                for x, new, old in zip(changing, combined, there, strict=True)
            ]

        results = counted_loop(instruction, b, scatter.count, scatter.inputs, [vectors, *scatter.updates], body)
        return b.add(Opcode.TUPLE, *results) if instruction.shape.is_tuple else results[0]


def _inside(
    b: Builder, starts: list[HloInstruction], sizes: tuple[int, ...], window: Sequence[int], every: HloComputation
) -> HloInstruction:
    """Whether the whole window is inside the operand."""
    if not starts:
        return b.constant(True, _PRED)
    element = starts[0].shape.element_type
    row = b.add(Opcode.CONCATENATE, *[b.reshape(s, (1,)) for s in starts], dimensions=(0,))
    last = [min(n - w, (1 << (element.bit_width - element.is_signed)) - 1) for n, w in zip(sizes, window, strict=True)]
    limits = b.constant(last, Shape(element, (len(last),)))
    fits = b.add(Opcode.COMPARE, row, limits, direction="LE")
    if element.is_signed:
        fits = b.add(Opcode.AND, fits, b.add(Opcode.COMPARE, row, b.constant(0, row.shape), direction="GE"))
    return b.add(Opcode.REDUCE, fits, b.constant(True, _PRED), dimensions=(0,), to_apply=every)
