"""float_normalization: computes an op in a wider type if the target lacks it (XLA: float_normalization.h).

Operands are converted to the wider type and results back: f32 for bf16, f16 and the f8 types, s32 or u32 for smaller
integers. The wider type holds every value of the narrow one, so operands are not rounded. No type is ever narrowed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from xla_core.hlo.ir.builder import Builder
from xla_core.hlo.ir.computation import HloComputation
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.op_table import Trait
from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.values.element_type import ElementType
from xla_core.hlo.values.float_format import LEAST_POWER
from xla_core.hlo.values.literal import Literal
from xla_core.hlo.values.shape import Shape
from xla_core.target import Lack, Support, Unsupported

Supports = Callable[[HloInstruction], Support]

_NEVER = frozenset((Trait.NOP, Trait.CONTROL_FLOW, Trait.HOST_TRANSFER, Trait.ASYNC, Trait.BITWISE))
_OPAQUE = frozenset({Opcode.CUSTOM_CALL, Opcode.FUSION})
_STEPWISE = frozenset({Opcode.SCAN, Opcode.MAP})
"""Ops that promise each step of the computation that they apply: its values are rounded, not only the results."""


def wider_type(kind: ElementType) -> ElementType | None:
    """The type in which ops of a narrow type are computed; None for a type that isn't narrow."""
    if kind.is_floating and kind.bit_width <= 16:
        return ElementType.F32
    if kind.is_integral and kind.bit_width < 32:
        return ElementType.S32 if kind.is_signed else ElementType.U32
    return None


def has_narrow_types(i: HloInstruction) -> bool:
    """Whether `widen` converts some operands or results of the instruction to a wider type."""
    shapes = [i.shape, *(o.shape for o in i.operands)]
    return any(wider_type(leaf.element_type) is not None for shape in shapes for leaf in shape.leaves())


def lacks_of(instructions: Iterable[HloInstruction], supports: Supports) -> Sequence[Lack]:
    """The features that the target lacks for some instructions."""
    answers = map(supports, instructions)
    return list(dict.fromkeys(lack for answer in answers if isinstance(answer, Unsupported) for lack in answer.lacks))


def widen(
    i: HloInstruction, b: Builder, supports: Supports, missing: list[Sequence[Lack]] | None = None
) -> HloInstruction | None:
    """Rewrites `i` to a wider type; returns None, and adds nothing, if the target doesn't support that either.

    It then adds to `missing` what the target lacks for it.
    """
    if i.opcode in _OPAQUE | _STEPWISE or not _NEVER.isdisjoint(i.op.traits) or i.shape.is_token:
        return None
    kinds = {s.element_type for o in i.operands for s in o.shape.leaves()} | {s.element_type for s in i.shape.leaves()}
    types = {k: w for k in kinds if (w := wider_type(k)) is not None}
    if not types or (any(k.is_integral for k in types) and Trait.EXACT_IN_WIDER_INTEGERS not in i.op.traits):
        return None
    if i.opcode == Opcode.CONVERT and (len(types) != 1 or i.operand(0).shape.element_type in types.values()):
        return None
    first = len(b.added)
    new = _rebuild(i, b, types)
    if all(map(supports, b.added[first:])):
        return new
    if missing is not None:
        missing.append(lacks_of(b.added[first:], supports))
    b.undo(first)
    return None


def _rebuild(i: HloInstruction, b: Builder, types: dict[ElementType, ElementType]) -> HloInstruction:
    operands = [_converted(o, b, types) for o in i.operands]
    if i.opcode == Opcode.COMPARE and i.attribute("type") == "TOTALORDER":
        operands = [_ordered(new, old, b) for new, old in zip(operands, i.operands, strict=True)]
    changed = {}
    for name, value in i.attributes.items():
        if isinstance(value, HloComputation):
            changed[name] = b.hlo_module.add_computation(_widened_computation(value, types))
    if i.opcode == Opcode.CONSTANT:
        literal = Literal(i.literal.array.astype(types[i.shape.element_type].dtype))
        return b.convert(b.add(Opcode.CONSTANT, shape=literal.shape, literal=literal), i.shape)
    new = b.clone(i, operands, shape=_widened(i.shape, types), **changed)
    if not i.shape.is_tuple:
        if not i.shape.element_type.has_zero and _is_positive(i):
            is_zero = b.add(Opcode.COMPARE, new, b.constant(0, new.shape), direction="EQ")  # it underflowed
            new = b.add(Opcode.SELECT, is_zero, b.constant(LEAST_POWER, new.shape), new)
        return b.convert(new, i.shape)
    elements = [b.add(Opcode.GET_TUPLE_ELEMENT, new, index=k) for k in range(len(i.shape.tuple_shapes))]
    return b.add(Opcode.TUPLE, *(b.convert(e, s) for e, s in zip(elements, i.shape.tuple_shapes, strict=True)))


def _is_positive(i: HloInstruction) -> bool:
    """Whether results are above 0 for operands above 0, such as those of a `reduce-window` that multiplies."""
    applied = [value.root for value in i.attributes.values() if isinstance(value, HloComputation)]
    return any(Trait.POSITIVE in one.op.traits for one in (i, *applied))


def _converted(o: HloInstruction, b: Builder, types: dict[ElementType, ElementType]) -> HloInstruction:
    wide = types.get(o.shape.element_type)
    return o if wide is None else b.convert(o, o.shape.with_element_type(wide))


def _ordered(new: HloInstruction, old: HloInstruction, b: Builder) -> HloInstruction:
    """The wider value with the place of the narrow one in the total order: some types have their NaN in that of -0."""
    if not old.shape.element_type.value.endswith("fnuz"):
        return new
    is_number = b.add(Opcode.COMPARE, new, new, direction="EQ")
    return b.add(Opcode.SELECT, is_number, new, b.constant(-0.0, new.shape))


def _widened(shape: Shape, types: dict[ElementType, ElementType]) -> Shape:
    shape = shape.without_layout()
    if shape.is_tuple:
        return Shape.tuple([_widened(s, types) for s in shape.tuple_shapes])
    return shape.with_element_type(types.get(shape.element_type, shape.element_type))


def _widened_computation(computation: HloComputation, types: dict[ElementType, ElementType]) -> HloComputation:
    """Copies an applied computation with the wider types."""
    copy = HloComputation(computation.name)
    values: dict[HloInstruction, HloInstruction] = {}
    for old in computation.post_order():
        new = old.clone([values[o] for o in old.operands], shape=_widened(old.shape, types))
        if old.opcode == Opcode.CONSTANT:
            new.attributes["literal"] = Literal(old.literal.array.astype(new.shape.dtype))
        values[old] = copy.add_instruction(new)
    copy.set_root(values[computation.root])
    return copy
