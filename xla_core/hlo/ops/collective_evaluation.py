"""Evaluates collectives: the result of one device when it exchanges values with its group."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from xla_core.errors import InvalidArgumentError, UnimplementedError
from xla_core.hlo.evaluation.environment import Device, Value, device_name
from xla_core.hlo.evaluation.evaluation_context import EvaluationContext
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.ops.collective_groups import meet, own_group
from xla_core.hlo.ops.conversion import convert
from xla_core.hlo.ops.rules import zeros


def all_reduce(context: EvaluationContext, instruction: HloInstruction, values: list[Value]) -> Value:
    return _of_results(instruction, _combined(context, instruction, own_group(context, instruction), values))


def all_gather(context: EvaluationContext, instruction: HloInstruction, values: list[Value]) -> Value:
    axis = instruction.attribute("dimensions")[0]

    def concatenated(brought: Sequence[list[Value]]) -> list[Value]:
        return [_shared(np.concatenate(column, axis)) for column in zip(*brought, strict=True)]

    group = own_group(context, instruction)
    results = context.environment.combine(instruction.name, group, values, concatenated)
    return _of_results(instruction, results, values)


def reduce_scatter(context: EvaluationContext, instruction: HloInstruction, values: list[Value]) -> Value:
    group = own_group(context, instruction)
    axis, place = instruction.attribute("dimensions")[0], group.index(context.environment.device)
    results = _combined(context, instruction, group, values)
    return _of_results(instruction, [np.split(r, len(group), axis)[place] for r in results])


def all_to_all(context: EvaluationContext, instruction: HloInstruction, values: list[Value]) -> Value:
    group = own_group(context, instruction)
    place = group.index(context.environment.device)
    axes = instruction.attribute("dimensions")
    brought = meet(context, instruction, group, values)
    if not axes:
        return tuple(parts[place] for parts in brought)
    axis = axes[0]
    return _of_results(
        instruction,
        [
            np.concatenate([np.split(x, len(group), axis)[place] for x in column], axis)
            for column in zip(*brought, strict=True)
        ],
    )


def ragged_all_to_all(context: EvaluationContext, instruction: HloInstruction, values: list[Value]) -> Value:
    """Sends send_sizes[j] rows from input_offsets[j] on to device j, which writes them from row output_offsets[j] on.

    A device may receive several such ranges: offsets and sizes have shape [devices * ranges] or [devices, ranges].

    XLA leaves it undefined when rows are outside of operand or output, or when sizes of sender and receiver differ.
    Here, all devices of the group get an InvalidArgumentError that says which.
    """
    group = own_group(context, instruction)
    brought = meet(context, instruction, group, values)
    tables = [[np.reshape(table, (len(group), -1)).tolist() for table in tables] for _, _, *tables in brought]
    place = group.index(context.environment.device)
    result = np.array(values[1])
    for sender, (operand, _, *_) in enumerate(brought):
        for receiver, (_, output, *_) in enumerate(brought):
            starts, sizes, targets, _ = (table[receiver] for table in tables[sender])
            expected = tables[receiver][3][sender]
            way = f"from {device_name(group[sender])} to {device_name(group[receiver])}"
            for start, size, target, received in zip(starts, sizes, targets, expected, strict=True):
                _check_rows(start, size, len(operand), f"send_sizes and input_offsets {way}", "operand")
                _check_rows(target, size, len(output), f"send_sizes and output_offsets {way}", "output")
                if size != received:
                    raise InvalidArgumentError(f"send_sizes has {size} rows {way}, whose recv_sizes has {received}")
                if receiver == place:
                    result[target : target + size] = operand[start : start + size]
    return result


def _check_rows(first: int, count: int, rows: int, what: str, where: str) -> None:
    if count < 0 or (count and not 0 <= first <= rows - count):
        raise InvalidArgumentError(
            f"{what} name {count} rows from row {first} on; the {where} has {rows}",
            hint="offsets and sizes count rows along dimension 0, and none is negative",
        )


def _of_results(instruction: HloInstruction, results: Sequence[Value], operands: Sequence[Value] = ()) -> Value:
    """Returns the results, or what a start op gives: (operands, results, context...), nested as its shape."""
    shape = instruction.shape
    if instruction.op.operands_at is None:
        return tuple(results) if shape.is_tuple else results[0]
    source, target, *rest = shape.tuple_shapes
    return (
        tuple(operands) if source.is_tuple else operands[0],
        tuple(results) if target.is_tuple else results[0],
        *map(zeros, rest),
    )


def _combined(
    context: EvaluationContext, instruction: HloInstruction, group: Sequence[Device], values: list[Value]
) -> list[Value]:
    """Combines the values of the group's devices for each operand, in the group's order. One device does it for all."""
    computation = instruction.attribute("to_apply")
    dtype = computation.parameters[0].shape.dtype

    def combined(brought: Sequence[list[Value]]) -> list[Value]:
        results = []
        for column in zip(*brought, strict=True):
            total = convert(column[0], dtype)
            for other in column[1:]:
                total = context.map(computation, [total, convert(other, dtype)])[0]
            results.append(_shared(convert(total, column[0].dtype)))
        return results

    made: list[Value] = context.environment.combine(instruction.name, group, values, combined)
    return made


def _shared(array: Value) -> Value:
    """Returns a view that nobody can write to, because all devices of a group get it."""
    view = np.asarray(array).view()
    view.flags.writeable = False
    return view


def collective_broadcast(context: EvaluationContext, instruction: HloInstruction, values: list[Value]) -> Value:
    """A device that is in no group gets zeros."""
    group = own_group(context, instruction)
    data, roots = _with_roots(instruction, values, len(group))
    if not group:
        return _of_results(instruction, [np.zeros_like(v) for v in data])
    brought = meet(context, instruction, group, data)
    return _of_results(instruction, [brought[root][i] for i, root in enumerate(roots)])


def _with_roots(instruction: HloInstruction, values: list[Value], count: int) -> tuple[list[Value], list[int]]:
    """Returns the data operands, and for each the root's index in the group.

    The root is the first device, unless `has_dynamic_root` says that the last operand holds the roots.
    """
    if not instruction.attribute("has_dynamic_root"):
        return values, [0] * len(values)
    *data, places = values
    roots = [int(root) for root in places]
    wrong = [root for root in roots if not 0 <= root < count]
    if wrong and count:
        raise InvalidArgumentError(f"root {wrong[0]} is none of a group of {count} devices")
    return data, roots


def collective_reduce(context: EvaluationContext, instruction: HloInstruction, values: list[Value]) -> Value:
    """Every device but the root gets zeros."""
    group = own_group(context, instruction)
    data, roots = _with_roots(instruction, values, len(group))
    if not group:
        return _of_results(instruction, [np.zeros_like(v) for v in data])
    results = _combined(context, instruction, group, data)
    place = group.index(context.environment.device)
    kept = zip(results, roots, strict=True)
    return _of_results(instruction, [r if root == place else np.zeros_like(r) for r, root in kept])


def collective_permute(context: EvaluationContext, instruction: HloInstruction, values: list[Value]) -> Value:
    if instruction.attribute("slice_sizes"):
        raise UnimplementedError("the evaluator has no collective-permute into slices", op=instruction.opcode)
    line = own_group(context, instruction)
    me = line.index(context.environment.device)
    brought = meet(context, instruction, line, values)
    for source, target in instruction.attribute("source_target_pairs"):
        if target == me:
            return _of_results(instruction, brought[source], values)
    return _of_results(instruction, [np.zeros_like(v) for v in values], values)
