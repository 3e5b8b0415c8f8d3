"""Decomposes scan into reduce-windows where it only combines elements, else into a while loop over slices."""

from __future__ import annotations

from collections.abc import Sequence

from xla_core.hlo.decompositions.loops import counted_loop
from xla_core.hlo.ir.builder import Builder, scalar_computation
from xla_core.hlo.ir.combiner import IN_ANY_ORDER
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.attributes import WindowDimension
from xla_core.hlo.table.op_table import Trait
from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.values.element_type import ElementType
from xla_core.hlo.values.shape import Shape


def decompose_scan(instruction: HloInstruction, b: Builder) -> HloInstruction:
    """Returns reduce-windows, which a kernel computes at once, or a loop.

    Each iteration of the loop slices every input, calls the computation, and writes one slice of every output.
    """
    return _cumulated(instruction, b) if is_cumulative(instruction) else _looped(instruction, b)


def is_cumulative(instruction: HloInstruction) -> bool:
    """Whether each carry of a scan is a cumulative sum or the like of an input, and the outputs are the carries.

    It isn't where the order in which elements are combined matters.
    """
    root, count = instruction.attribute("to_apply").root, instruction.attribute("num_carries")
    if not count or root.opcode != Opcode.TUPLE or len(instruction.operands) == count:
        return False
    carries = root.operands[-count:]
    return (
        instruction.operand(0).shape.num_elements > 0
        and all(_input_of(instruction, number, carry) is not None for number, carry in enumerate(carries))
        and all(output in carries for output in root.operands[:-count])
    )


def _cumulated(instruction: HloInstruction, b: Builder) -> HloInstruction:
    (axis,), count = instruction.attribute("dimensions"), instruction.attribute("num_carries")
    operands = instruction.attribute("to_apply").root.operands
    whole, last = dict[HloInstruction, HloInstruction](), list[HloInstruction]()
    for number, carry in enumerate(operands[-count:]):
        source = _input_of(instruction, number, carry)
        assert source is not None
        total = _cumulative(instruction, b, source, carry, instruction.operands[number - count])
        end = 0 if instruction.attribute("is_reverse") else total.shape.dimensions[axis] - 1
        whole[carry] = total
        last.append(b.reshape(b.slice_in_dim(total, axis, end, end + 1), carry.shape.dimensions))
    return b.tuple([*(whole[output] for output in operands[:-count]), *last])


def _input_of(instruction: HloInstruction, number: int, carry: HloInstruction) -> HloInstruction | None:
    """Returns the input with which the step combines a carry, if it does nothing else, and in any order."""
    op, parameters = carry.op, instruction.attribute("to_apply").parameters
    inputs = len(parameters) - instruction.attribute("num_carries")
    element_type = carry.shape.element_type
    is_exact = not (element_type.is_floating or element_type.is_complex) or Trait.IDEMPOTENT in op.traits
    if not op.traits >= IN_ANY_ORDER or op.identity(element_type) is None or len(carry.operands) != 2:
        return None
    if not (is_exact or instruction.attribute("is_associative")):
        return None
    mine = parameters[inputs + number]
    others = [operand for operand in carry.operands if operand is not mine]
    if len(others) != 1 or others[0] not in parameters[:inputs]:
        return None
    return instruction.operand(parameters.index(others[0]))


def _cumulative(
    instruction: HloInstruction, b: Builder, source: HloInstruction, carry: HloInstruction, start: HloInstruction
) -> HloInstruction:
    """Returns the carry after each step."""
    (axis,), sizes = instruction.attribute("dimensions"), source.shape.dimensions
    before = sizes[axis] - 1
    low, high = (0, before) if instruction.attribute("is_reverse") else (before, 0)
    window = [WindowDimension(size=1)] * len(sizes)
    window[axis] = WindowDimension(size=sizes[axis], padding_low=low, padding_high=high)
    element_type, identity = carry.shape.element_type, carry.op.identity(carry.shape.element_type)
    assert identity is not None
    body = scalar_computation(carry.opcode, element_type, module=b.hlo_module)
    initial = b.constant(identity, Shape(element_type))
    total = b.add(Opcode.REDUCE_WINDOW, source, initial, window=tuple(window), to_apply=body)
    spread = b.broadcast(start, sizes, [d for d in range(len(sizes)) if d != axis])
    return b.add(carry.opcode, spread, total)


def _looped(instruction: HloInstruction, b: Builder) -> HloInstruction:
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
