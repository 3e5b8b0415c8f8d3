"""Compares the structure of two modules or computations, ignoring names."""

from __future__ import annotations

from typing import Any

from xla_core.hlo.ir.computation import HloComputation
from xla_core.hlo.ir.effects import has_side_effect
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.ir.module import HloModule
from xla_core.hlo.table import op_table
from xla_core.hlo.table.op_table import Attribute, AttributeKind
from xla_core.hlo.values.shape import Shape
from xla_core.traversal import post_order


def structurally_equal(
    a: HloModule | HloComputation, b: HloModule | HloComputation, *, layouts: bool = True, metadata: bool = False
) -> bool:
    """Whether two graphs are the same from their roots down.

    Opcodes, shapes, attributes, operands and the order of side effects are compared. Names are ignored, and so are dead
    instructions without side effects. `layouts` and `metadata` say whether these are compared.
    """
    comparison = _Comparison(layouts, metadata)
    if isinstance(a, HloModule) and isinstance(b, HloModule):
        same = (
            a.input_output_aliases == b.input_output_aliases
            and a.buffer_donors == b.buffer_donors
            and (a.num_replicas, a.num_partitions) == (b.num_replicas, b.num_partitions)
            and a.frontend_attributes == b.frontend_attributes
            and (a.schedule is None) == (b.schedule is None)
        )
        return same and comparison.computations(a.entry, b.entry)
    if isinstance(a, HloComputation) and isinstance(b, HloComputation):
        return comparison.computations(a, b)
    return False


class _Comparison:
    def __init__(self, layouts: bool, metadata: bool) -> None:
        self.layouts = layouts
        self.metadata = metadata
        self.known: dict[tuple[HloComputation, HloComputation], bool] = {}

    def computations(self, a: HloComputation, b: HloComputation) -> bool:
        key = (a, b)
        if key not in self.known:
            self.known[key] = True  # assumed equal during the comparison, so that recursion terminates
            self.known[key] = self._graphs(a, b)
        return self.known[key]

    def _graphs(self, a: HloComputation, b: HloComputation) -> bool:
        if len(a.parameters) != len(b.parameters):
            return False
        mine, other = _visit(a), _visit(b)
        if len(mine) != len(other):
            return False
        number_a = {instruction: i for i, instruction in enumerate(mine)}
        number_b = {instruction: i for i, instruction in enumerate(other)}
        return all(
            self._instructions(x, y)
            and [number_a[o] for o in x.operands] == [number_b[o] for o in y.operands]
            and [number_a.get(p) for p in x.control_predecessors] == [number_b.get(p) for p in y.control_predecessors]
            for x, y in zip(mine, other, strict=True)
        )

    def _instructions(self, a: HloInstruction, b: HloInstruction) -> bool:
        if a.opcode != b.opcode or not self._shapes(a.shape, b.shape):
            return False
        if self.metadata and a.metadata != b.metadata:
            return False
        known = {**a.op.attributes, **op_table.COMMON_ATTRIBUTES}
        return all(self._values(known[n], a.attributes.get(n), b.attributes.get(n)) for n in known)

    def _values(self, attribute: Attribute, a: Any, b: Any) -> bool:
        default = None if attribute.default is op_table.REQUIRED else attribute.default
        a, b, kind = default if a is None else a, default if b is None else b, attribute.kind
        if kind is AttributeKind.COMPUTATION and a is not None and b is not None:
            return self.computations(a, b)
        if kind is AttributeKind.COMPUTATIONS:
            return len(a) == len(b) and all(self.computations(x, y) for x, y in zip(a, b, strict=True))
        if kind is AttributeKind.LITERAL and a is not None and b is not None:
            return bool(a == b) or (self._shapes(a.shape, b.shape) and _same_bits(a, b))
        return bool(a == b)

    def _shapes(self, a: Shape, b: Shape) -> bool:
        if not self.layouts or not a.compatible(b):
            return a.compatible(b)
        leaves = zip(a.leaves(), b.leaves(), strict=True)
        # A scalar's layout means nothing without tiles or a memory space, and text doesn't show it.
        return all(
            x.layout == y.layout or (not x.rank and str(x.layout or "{}") == str(y.layout or "{}")) for x, y in leaves
        )


def _same_bits(a: Any, b: Any) -> bool:
    if a.shape.is_tuple:
        return len(a.elements) == len(b.elements) and all(map(_same_bits, a.elements, b.elements))
    return bool(a.array.tobytes() == b.array.tobytes())


def _visit(computation: HloComputation) -> list[HloInstruction]:
    """Returns each instruction once: parameters, what the root needs, then other side effects and what they need."""
    starts = [*computation.parameters, computation.root]
    starts += [i for i in computation.post_order() if i.control_predecessors or has_side_effect(i)]
    return post_order(starts, lambda i: (*i.operands, *i.control_predecessors))
