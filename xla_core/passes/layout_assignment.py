"""layout_assignment: gives every array a layout (XLA: xla/service/layout_assignment.h).

An array has the target's default layout (row-major unless the target sets another), with these exceptions: entry
parameters and results whose layouts the caller fixed; instructions that require layouts (`LayoutRules.instruction`,
operand_layout_constraints of custom calls, and bitcasts of the program); elementwise ops, which take the layout of
their operands. Where an operand has another layout than required, a copy converts it. At the end, a reshape or
transpose that does not move any element in memory becomes a bitcast.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from xla_core.hlo.ir.computation import HloComputation
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.ir.module import HloModule
from xla_core.hlo.table.op_table import Trait
from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.values.shape import Layout, Shape
from xla_core.passes.pass_manager import HloPass
from xla_core.target import LayoutRules


class LayoutAssignment(HloPass):
    """Gives every shape a layout."""

    def __init__(self, rules: LayoutRules | None = None) -> None:
        self._rules = rules or LayoutRules()

    def run(self, module: HloModule) -> bool:
        before = module.schedule
        changed = False
        for computation in module.post_order():
            changed |= _Assigner(module, computation, self._rules).run()
        if changed and before is not None:
            module.schedule = None  # it lacks the copies
        return changed


def is_relabelling(instruction: HloInstruction) -> bool:
    """Whether a reshape, transpose or copy does not move any element in memory."""
    source, result = instruction.operand(0).shape, instruction.shape
    before, after = source.layout, result.layout
    if before is None or after is None or not source.is_array or source.is_dynamic:
        return False
    if before.tiles != after.tiles or before.element_size_in_bits != after.element_size_in_bits:
        return False
    if before.memory_space != after.memory_space:
        return False
    if before.tiles and instruction.opcode != Opcode.COPY:
        return False
    match instruction.opcode:
        case Opcode.COPY:
            return before == after
        case Opcode.RESHAPE:
            return before.is_row_major and after.is_row_major
        case Opcode.TRANSPOSE:
            order = instruction.attribute("dimensions")
            old = [d for d in before.minor_to_major if source.dimensions[d] != 1]
            new = [order[d] for d in after.minor_to_major if result.dimensions[d] != 1]
            return old == new
    return False


class _Assigner:
    """Assigns the layouts of one computation."""

    def __init__(self, module: HloModule, computation: HloComputation, rules: LayoutRules) -> None:
        self._computation = computation
        self._rules = rules
        self._fixed = module.entry_layouts_fixed and computation is module.entry
        self._copies: dict[tuple[HloInstruction, Shape], HloInstruction] = {}
        self._before = {i: i.shape for i in computation.instructions}
        self._changed = False

    def run(self) -> bool:
        wanted_result = self._computation.root.shape if self._fixed else None
        for instruction in self._computation.post_order():
            self._visit(instruction)
        root = self._computation.root
        wanted = self._default(root.shape) if wanted_result is None else self._rules.with_layout(wanted_result)
        if root.shape != wanted:
            self._computation.set_root(self._in_layout(root, wanted))
        for instruction in self._computation.post_order():
            self._make_bitcast(instruction)
        return self._changed

    def _visit(self, i: HloInstruction) -> None:
        opcode = i.opcode
        if opcode == Opcode.PARAMETER:
            self._set(i, self._rules.with_layout(i.shape) if self._fixed else self._default(i.shape))
        elif opcode == Opcode.TUPLE:
            self._set(i, Shape.tuple([o.shape for o in i.operands]))
        elif opcode == Opcode.GET_TUPLE_ELEMENT:
            self._set(i, i.operand(0).shape.tuple_shapes[i.tuple_index])
        elif opcode != Opcode.BITCAST and Trait.FORWARDING in i.op.traits:
            self._set(i, i.operand(0).shape)
        elif opcode == Opcode.BITCAST:
            self._require(i, [self._before[i.operand(0)].with_default_layout()])
            self._set(i, i.shape.with_default_layout())
        elif self._rules.instruction is not None and self._demanded(i):
            pass
        elif opcode == Opcode.CUSTOM_CALL and i.attribute("operand_layout_constraints"):
            self._require(i, [self._rules.with_layout(s) for s in i.attribute("operand_layout_constraints")])
            self._set(i, self._rules.with_layout(i.shape))
        elif opcode == Opcode.COPY and i.shape.layout is not None and not i.is_root:
            self._set(i, i.operand(0).shape)  # this pass decides where layouts change
        elif i.is_elementwise and opcode != Opcode.BITCAST_CONVERT:
            self._elementwise(i)
        else:
            self._require(i, [self._default(o.shape) for o in i.operands])
            self._set(i, self._default(i.shape))

    def _demanded(self, i: HloInstruction) -> bool:
        assert self._rules.instruction is not None
        demand = self._rules.instruction(i)
        if demand is None:
            return False
        operands = [
            self._default(o.shape) if layout is None else o.shape.with_layout(layout)
            for o, layout in itertools.zip_longest(i.operands, demand.operands)
        ]
        self._require(i, operands)
        self._set(i, self._default(i.shape) if demand.result is None else i.shape.with_layout(demand.result))
        return True

    def _elementwise(self, i: HloInstruction) -> None:
        """Gives an elementwise op the layout of its operands if they have the same, else the default layout."""
        sources = [o.shape for o in i.operands if o.shape.dimensions == i.shape.dimensions]
        default = self._default(i.shape)
        orders = {s.layout.minor_to_major for s in sources if s.layout is not None and not s.layout.tiles}
        tiled = any(s.layout is not None and s.layout.tiles for s in sources)
        if len(orders) != 1 or tiled or default.layout is None or default.layout.tiles:
            self._require(i, [self._default(o.shape) for o in i.operands])
            self._set(i, default)
            return
        (order,) = orders
        self._require(i, [self._ordered(o.shape, i.shape, order) for o in i.operands])
        self._set(i, self._ordered(i.shape, i.shape, order))

    def _ordered(self, shape: Shape, like: Shape, order: tuple[int, ...]) -> Shape:
        default = self._default(shape)
        if shape.dimensions != like.dimensions or default.layout is None or default.layout.minor_to_major == order:
            return default
        packed = default.layout.element_size_in_bits
        return shape.with_layout(Layout(order, (), packed, default.layout.memory_space))

    # -- parts -------------------------------------------------------------------------------------------------------

    def _default(self, shape: Shape) -> Shape:
        if not shape.is_tuple:
            return shape.with_layout(self._rules.layout(shape)) if shape.is_array else shape
        return Shape.tuple([self._default(s) for s in shape.tuple_shapes])

    def _set(self, i: HloInstruction, shape: Shape) -> None:
        if i.shape != shape:
            i.shape = shape
            self._changed = True

    def _require(self, i: HloInstruction, shapes: Sequence[Shape]) -> None:
        for number, (operand, shape) in enumerate(zip(list(i.operands), shapes, strict=True)):
            if operand.shape != shape:
                i.replace_operand(number, self._in_layout(operand, shape))

    def _in_layout(self, value: HloInstruction, shape: Shape) -> HloInstruction:
        """Returns `value` if it has the layouts of `shape`, or a copy that has."""
        if value.shape == shape:
            return value
        known = self._copies.get((value, shape))
        if known is not None:
            return known
        if shape.is_tuple:
            parts = [self._in_layout(self._element(value, k), wanted) for k, wanted in enumerate(shape.tuple_shapes)]
            new = HloInstruction(Opcode.TUPLE, shape, parts, metadata=value.metadata)
        else:
            new = HloInstruction(Opcode.COPY, shape, [value], metadata=value.metadata)
        root = self._computation.root
        self._copies[value, shape] = self._computation.add_instruction(new)
        self._computation.set_root(root)
        self._changed = True
        return new

    def _element(self, value: HloInstruction, k: int) -> HloInstruction:
        if value.opcode == Opcode.TUPLE:
            return value.operand(k)
        shape = value.shape.tuple_shapes[k]
        made = HloInstruction(Opcode.GET_TUPLE_ELEMENT, shape, [value], {"index": k}, metadata=value.metadata)
        return self._computation.add_instruction(made)

    def _make_bitcast(self, i: HloInstruction) -> None:
        if i.opcode not in (Opcode.RESHAPE, Opcode.TRANSPOSE, Opcode.COPY) or not is_relabelling(i):
            return
        self._changed = True
        operand = i.operand(0)
        source = operand.operand(0) if operand.opcode == Opcode.BITCAST else operand
        new = source
        if i.opcode == Opcode.COPY:
            new = operand
        elif source.shape != i.shape:
            new = HloInstruction(Opcode.BITCAST, i.shape, [source], metadata=i.metadata)
            self._computation.add_instruction(new, i.name)
        self._computation.replace_with(i, new)
        if operand.opcode == Opcode.BITCAST and operand is not new and not (operand.user_count or operand.is_root):
            self._computation.remove(operand)
