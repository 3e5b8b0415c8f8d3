"""element-type-carrier: computes with values of types that the target lacks in other types.

u32 is carried in s32 by its bits. Narrower integers are carried in s32, and narrower floats in f32, by their values;
each result is wrapped or rounded to its own type. Every value is carried: those of loops, branches and applied
computations too. Only the entry's parameters and results keep their types, and are converted there; if the target has
no such conversion, they are read and written as words of s32. No value changes.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping, Sequence

from xla_core.hlo.decompositions.expression import HloExpression, expressions
from xla_core.hlo.ir.builder import Builder
from xla_core.hlo.ir.computation import HloComputation
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.ir.module import HloModule
from xla_core.hlo.table.op_table import Trait
from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.values.element_type import ElementType
from xla_core.hlo.values.shape import Shape
from xla_core.passes.legalization.carriers.conversions import (
    CARRIERS,
    converted,
    is_reinterpreted,
    reinterpreted,
    wrapped,
)
from xla_core.passes.legalization.carriers.integers import NARROW, U32, compared, index
from xla_core.passes.legalization.carriers.words import read_bits, read_words, write_bits, write_words
from xla_core.passes.legalization.legalize import rewrite_unsupported
from xla_core.passes.legalization.scatters import sort_scatter
from xla_core.passes.pass_manager import HloPass
from xla_core.passes.rewriter import remove_dead, replace
from xla_core.target import Capabilities, LayoutRules, Ok, Support, Unsupported

_KEPT = frozenset((Trait.ASYNC, Trait.HOST_TRANSFER, Trait.COLLECTIVE, Trait.SIDE_EFFECT, Trait.PER_DEVICE))
_MOVED = frozenset((Trait.DATA_MOVEMENT, Trait.NOP, Trait.CONTROL_FLOW))


class ElementTypeCarrier(HloPass):
    """Carries the element types in which the target can't compute, if it can compute in their carriers.

    A float that the target converts is stored as it is, and widened where it is computed with. An integer that the
    target only converts is carried, because not every op on it may be computed in a wider type.
    """

    name = "element-type-carrier"

    def __init__(self, capabilities: Capabilities, layouts: LayoutRules | None = None) -> None:
        self._layouts = layouts or LayoutRules()
        named = frozenset[ElementType]().union(*capabilities.ops.values())
        computed = capabilities.computed_types
        self._carried = {
            t: c for t, c in CARRIERS.items() if t not in (named if t.is_floating else computed) and c in computed
        }
        converts = capabilities.ops.get(Opcode.CONVERT, frozenset())
        self._has_scatter = Opcode.SCATTER in capabilities.ops
        self._in_words = capabilities.word_types & capabilities.held_types & self._carried.keys() - converts

    def run(self, module: HloModule) -> bool:
        if not self._carried or not any(
            _types(i) & self._carried.keys() for c in module.computations for i in c.instructions
        ):
            return False
        if not self._has_scatter:
            self._sort_scatters(module)
        rewrite_unsupported(module, self._has_rule)
        computations = module.post_order()
        kept = dict.fromkeys(i for c in computations for i in c.instructions if not self._is_carried(i))
        for i in kept:  # their computations keep their types too
            for callee in i.called_computations:
                i.replace_called_computation(callee, module.add_computation(callee.clone()))
        for computation in computations:
            keeps_layout = computation.is_entry and module.entry_layouts_fixed
            layouts = _EntryLayouts(self._layouts, keeps_layout)
            _Carrying(computation, self._carried, self._in_words, kept, layouts).run()
        module.remove_unreachable_computations()
        return True

    def _sort_scatters(self, module: HloModule) -> None:
        """Decomposes scatters while their computations are single ops. Computations on carried numbers have further
        ops, which round or wrap.
        """
        for computation in module.post_order():
            for i in computation.post_order():
                if i.opcode == Opcode.SCATTER and _types(i) & self._carried.keys():
                    new = sort_scatter(i, Builder(computation, i.metadata))
                    if new is not None:
                        replace(i, new)

    def _is_carried(self, i: HloInstruction) -> bool:
        """Whether an instruction works on the carriers of its operands. Any other instruction keeps its types."""
        if not _types(i) & self._carried.keys():
            return True
        return _KEPT.isdisjoint(i.op.traits) and bool(self._has_rule(i))

    def _has_rule(self, i: HloInstruction) -> Support:
        """Whether an instruction can work on carriers. Any other instruction is computed in a wider type, or
        decomposed.
        """
        types = _types(i) & self._carried.keys()
        traits = i.op.traits
        if not types or not _KEPT.isdisjoint(traits) or not _MOVED.isdisjoint(traits) or i.opcode == Opcode.CONVERT:
            return Ok()
        if i.opcode == Opcode.BITCAST_CONVERT:
            both = i.operand(0).shape.element_type, i.shape.element_type
            return Ok() if is_reinterpreted(*both, self._carried) else Unsupported("no carrier keeps its bits")
        if types == {ElementType.U32}:
            own = Trait.SIGNLESS in traits or i.opcode in U32 or i.opcode == Opcode.COMPARE
            return Ok() if own else Unsupported("u32 is carried in s32")
        integers = all(t.is_integral for t in types)
        return Ok() if integers and i.opcode in NARROW else Unsupported("its type is carried in a wider one")


def _types(i: HloInstruction) -> set[ElementType]:
    shapes = [i.shape, *(o.shape for o in i.operands)]
    return {leaf.element_type for shape in shapes for leaf in shape.array_leaves()}


@dataclasses.dataclass(frozen=True, slots=True)
class _EntryLayouts:
    """The layouts that arguments and results will have: the target's default ones, or those that the caller fixed."""

    rules: LayoutRules
    are_fixed: bool

    def in_memory(self, shape: Shape) -> Shape:
        return self.rules.with_layout(shape if self.are_fixed else shape.without_layout())

    def is_default(self, shape: Shape) -> bool:
        return shape == self.rules.with_layout(shape.without_layout())


class _Carrying:
    """Rewrites one computation, after the computations that it calls."""

    def __init__(
        self,
        computation: HloComputation,
        carried: Mapping[ElementType, ElementType],
        in_words: Collection[ElementType],
        kept: Collection[HloInstruction],
        layouts: _EntryLayouts,
    ) -> None:
        self._computation = computation
        self._layouts = layouts
        self._carried = carried
        self._in_words = in_words
        self._kept = kept
        self._b = Builder(computation)
        self._values: dict[HloInstruction, HloInstruction] = {}  # instruction -> the carrier of its value
        self._own_shapes: dict[HloInstruction, Shape] = {}  # parameter -> its shape in the program

    def run(self) -> None:
        computation, b = self._computation, self._b
        order, root = computation.post_order(), computation.root
        for i in order:
            if not any(map(self._has_carried, (i.shape, *map(self._own_shape, i.operands)))):
                continue
            b.metadata = i.metadata
            if i.opcode == Opcode.PARAMETER:
                self._carry_parameter(i)
                continue
            new = self._rewritten(i)
            new.control_predecessors = [self._values.get(p, p) for p in i.control_predecessors]
            if self._has_carried(i.shape):
                self._values[i] = new
            else:
                computation.replace_with(i, new)
        if root in self._values:
            new, own = self._values[root], self._own_shape(root)
            if computation.is_entry:
                new = self._decoded(new, own)
                new.shape = own if self._layouts.are_fixed else new.shape
            computation.set_root(new)
        for old in reversed(order):
            if self._values.get(old, old) is not old:
                remove_dead(old)

    def _carry_parameter(self, parameter: HloInstruction) -> None:
        if self._computation.is_entry:
            self._values[parameter] = self._encoded(parameter)
        else:
            self._own_shapes[parameter] = parameter.shape
            parameter.shape = self._shape(parameter.shape)
            self._values[parameter] = parameter

    def _rewritten(self, i: HloInstruction) -> HloInstruction:
        b, opcode, kind = self._b, i.opcode, next(i.shape.leaves()).element_type
        operands = [self._values.get(o, o) for o in i.operands]
        if i in self._kept:
            own = [self._decoded(v, self._own_shape(o)) for v, o in zip(operands, i.operands, strict=True)]
            return self._encoded(b.clone(i, own))
        if opcode == Opcode.CONSTANT:
            carrier = self._carried[kind]
            array = i.literal.array
            return b.constant(array.astype(carrier.dtype), i.shape.without_layout().with_element_type(carrier))
        x = HloExpression(b, operands[0]) if operands and operands[0].shape.is_array else None
        if x is not None and Trait.CONVERSION in i.op.traits:
            source = self._own_shape(i.operand(0)).element_type
            if opcode == Opcode.CONVERT:
                return converted(source, kind, x, self._carried).i
            if is_reinterpreted(source, kind, self._carried):
                return reinterpreted(source, kind, x).i
        arithmetic = None if x is None else self._arithmetic(i, expressions(b, *operands))
        if arithmetic is not None:
            return arithmetic.i
        for number in i.op.index_operands(len(operands)):
            if self._own_shape(i.operand(number)).element_type is ElementType.U32:
                operands[number] = index(HloExpression(b, operands[number])).i
        new = b.clone(i, operands, shape=self._shape(i.shape))
        if opcode == Opcode.IOTA and kind is not ElementType.U32:
            return wrapped(kind, HloExpression(b, new)).i
        return new

    def _arithmetic(self, i: HloInstruction, operands: Sequence[HloExpression]) -> HloExpression | None:
        """The result of an elementwise op for which the same op on the carriers is not correct."""
        kind = self._own_shape(i.operand(0)).element_type
        if kind is ElementType.U32:
            if i.opcode == Opcode.COMPARE:
                return compared(i.attribute("direction"), *operands)
            return U32[i.opcode](*operands) if i.opcode in U32 else None
        return NARROW[i.opcode](kind, *operands) if kind in self._carried and i.opcode in NARROW else None

    def _own_shape(self, i: HloInstruction) -> Shape:
        """The shape of an instruction in the program."""
        return self._own_shapes.get(i, i.shape)

    def _encoded(self, value: HloInstruction) -> HloInstruction:
        value.shape = self._layouts.in_memory(value.shape)
        return self._changed(value, self._shape(value.shape))

    def _decoded(self, value: HloInstruction, shape: Shape) -> HloInstruction:
        return self._changed(value, self._layouts.in_memory(shape))

    def _changed(self, value: HloInstruction, shape: Shape) -> HloInstruction:
        """Converts the arrays of a value between their types and the carriers.

        Arrays of types that are carried have the layout that they have in memory.
        """
        if shape.is_tuple:
            parts = zip(self._b.elements(value), shape.tuple_shapes, strict=True)
            return self._b.tuple([self._changed(part, own) for part, own in parts])
        if not shape.is_array or value.shape.element_type is shape.element_type:
            return value
        self._b.metadata = value.metadata
        kinds = (value.shape.element_type, shape.element_type)
        if ElementType.U32 in kinds:
            own = shape if kinds[1] is ElementType.U32 else value.shape
            if self._layouts.is_default(own):
                value.shape = value.shape.without_layout()
                return HloExpression(self._b, value).bits(kinds[1]).i
            return read_bits(self._b, value, kinds[1]) if own is value.shape else write_bits(self._b, value, shape)
        if self._is_in_words(value.shape):
            return read_words(self._b, value)
        if self._is_in_words(shape):
            return write_words(self._b, value, shape)
        return self._b.convert(value, shape)

    def _is_in_words(self, shape: Shape) -> bool:
        return shape.element_type in self._in_words and not shape.is_dynamic and not _has_tiles(shape)

    def _shape(self, shape: Shape) -> Shape:
        shape = shape.without_layout()
        if shape.is_tuple:
            return Shape.tuple([self._shape(s) for s in shape.tuple_shapes])
        return shape.with_element_type(self._carried.get(shape.element_type, shape.element_type))

    def _has_carried(self, shape: Shape) -> bool:
        return any(leaf.is_array and leaf.element_type in self._carried for leaf in shape.leaves())


def _has_tiles(shape: Shape) -> bool:
    return shape.layout is not None and bool(shape.layout.tiles)
