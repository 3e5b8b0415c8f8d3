"""Decomposes scan into a while loop over slices."""

from __future__ import annotations

from collections.abc import Sequence

from xla_core.hlo.builder import Builder
from xla_core.hlo.decompositions.loops import counted_loop
from xla_core.hlo.element_type import ElementType
from xla_core.hlo.instruction import HloInstruction
from xla_core.hlo.opcode import Opcode
from xla_core.hlo.shape import Shape


def decompose_scan(instruction: HloInstruction, b: Builder) -> HloInstruction:
    """Each iteration slices every input, calls the computation, and writes one slice of every output."""
    axis, carried = instruction.attribute("dimensions")[0], instruction.attribute("num_carries")
    count_inputs = len(instruction.operands) - carried
    inputs, carries = instruction.operands[:count_inputs], instruction.operands[count_inputs:]
    shape = instruction.shape
    parts = shape.tuple_shapes if shape.is_tuple else (shape,)
    outputs = parts[: len(parts) - carried]
    length = inputs[0].shape.dimensions[axis] if inputs else outputs[0].dimensions[axis] if outputs else 0

    def turn(
        b: Builder, index: HloInstruction, values: list[HloInstruction], given: list[HloInstruction]
    ) -> Sequence[HloInstruction]:
        if instruction.attribute("is_reverse"):
            index = b.add(Opcode.SUBTRACT, b.constant(length - 1, index.shape), index)
        slices = [_element(b, x, axis, index) for x in given]
        made = b.add(Opcode.CALL, *slices, *values[len(outputs) :], to_apply=instruction.attribute("to_apply"))
        results = [made]
        if made.shape.is_tuple:
            results = [b.add(Opcode.GET_TUPLE_ELEMENT, made, index=n) for n in range(len(parts))]
        written = [_written(b, o, r, axis, index) for o, r in zip(values, results[: len(outputs)], strict=False)]
        return [*written, *results[len(outputs) :]]

    after = [b.constant(0, o.without_layout()) for o in outputs] + list(carries)
    if length:
        after = counted_loop(instruction, b, length, after, inputs, turn)
    return b.add(Opcode.TUPLE, *after) if shape.is_tuple else after[0]


def _starts(b: Builder, rank: int, axis: int, index: HloInstruction) -> list[HloInstruction]:
    zero = b.constant(0, Shape(ElementType.S32))
    return [index if d == axis else zero for d in range(rank)]


def _element(b: Builder, x: HloInstruction, axis: int, index: HloInstruction) -> HloInstruction:
    """Returns one slice of x along an axis, with that axis removed."""
    sizes = [1 if d == axis else n for d, n in enumerate(x.shape.dimensions)]
    cut = b.add(Opcode.DYNAMIC_SLICE, x, *_starts(b, x.shape.rank, axis, index), dynamic_slice_sizes=tuple(sizes))
    return b.reshape(cut, sizes[:axis] + sizes[axis + 1 :])


def _written(b: Builder, x: HloInstruction, part: HloInstruction, axis: int, index: HloInstruction) -> HloInstruction:
    sizes = [1 if d == axis else n for d, n in enumerate(x.shape.dimensions)]
    return b.add(Opcode.DYNAMIC_UPDATE_SLICE, x, b.reshape(part, sizes), *_starts(b, x.shape.rank, axis, index))
