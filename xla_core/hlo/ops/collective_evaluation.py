"""Evaluates collectives: the results of all devices of a group, from each device's operands."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Mapping, Sequence

import numpy as np

from xla_core.errors import InvalidArgumentError, UnimplementedError
from xla_core.hlo.evaluation.environment import Device, Value, device_name
from xla_core.hlo.evaluation.evaluation_context import EvaluationContext
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.ops.collective_groups import groups_of
from xla_core.hlo.ops.conversion import convert
from xla_core.hlo.ops.rules import zeros
from xla_core.hlo.table.op_table import Evaluate, EvaluateGroup

Operands = Sequence[list[Value]]
"""The operands of each device of a group, in the group's order."""


def on_device(evaluate_group: EvaluateGroup, *, once: bool = True) -> Evaluate:
    """Makes the evaluation on one device, which meets the others of its group.

    A device that is in no group gets zeros. If `once` is True, one device of the group evaluates for all. Otherwise
    each device evaluates, so that each raises the errors.
    """

    def evaluate(context: EvaluationContext, instruction: HloInstruction, values: list[Value]) -> Value:
        group = groups_of(context, instruction).of_device(context.environment.device)
        if not group:
            return zeros(instruction.shape)
        environment = context.environment
        function = functools.partial(evaluate_group, context, instruction, group)
        if once:
            results = environment.combine(instruction.name, group, values, function)
        else:
            results = function(environment.exchange(instruction.name, group, values))
        return results[group.index(environment.device)]

    return evaluate


def evaluate_groups(
    context: EvaluationContext, instruction: HloInstruction, brought: Mapping[Device, list[Value]]
) -> dict[Device, Value]:
    """Evaluates a collective for each group all of whose devices have operands in `brought`."""
    evaluate_group = instruction.op.evaluate_group
    assert evaluate_group is not None
    groups = groups_of(context, instruction).of_devices()
    alone = brought.keys() - itertools.chain.from_iterable(groups)
    results = {device: zeros(instruction.shape) for device in alone}
    for group in groups:
        if all(device in brought for device in group):
            made = evaluate_group(context, instruction, group, [brought[device] for device in group])
            results.update(zip(group, made, strict=True))
    return results


def all_reduce(
    context: EvaluationContext, instruction: HloInstruction, group: Sequence[Device], brought: Operands
) -> list[Value]:
    results = _combined(context, instruction, brought)
    return [_of_results(instruction, results, values) for values in brought]


def all_gather(
    context: EvaluationContext, instruction: HloInstruction, group: Sequence[Device], brought: Operands
) -> list[Value]:
    axis = instruction.attribute("dimensions")[0]
    results = [_shared(np.concatenate(column, axis)) for column in zip(*brought, strict=True)]
    return [_of_results(instruction, results, values) for values in brought]


def reduce_scatter(
    context: EvaluationContext, instruction: HloInstruction, group: Sequence[Device], brought: Operands
) -> list[Value]:
    axis = instruction.attribute("dimensions")[0]
    parts = [np.split(result, len(group), axis) for result in _combined(context, instruction, brought)]
    return [_of_results(instruction, own) for own in zip(*parts, strict=True)]


def all_to_all(
    context: EvaluationContext, instruction: HloInstruction, group: Sequence[Device], brought: Operands
) -> list[Value]:
    axes = instruction.attribute("dimensions")
    if not axes:
        return [tuple(parts) for parts in zip(*brought, strict=True)]
    axis, places = axes[0], range(len(group))
    columns = [[np.split(x, len(group), axis) for x in column] for column in zip(*brought, strict=True)]
    return [
        _of_results(instruction, [np.concatenate([parts[place] for parts in column], axis) for column in columns])
        for place in places
    ]


def ragged_all_to_all(
    context: EvaluationContext, instruction: HloInstruction, group: Sequence[Device], brought: Operands
) -> list[Value]:
    """Sends send_sizes[j] rows from input_offsets[j] on to device j, which writes them from row output_offsets[j] on.

    A device may receive several such ranges: offsets and sizes have shape [devices * ranges] or [devices, ranges].

    XLA leaves it undefined when rows are outside of operand or output, or when sizes of sender and receiver differ.
    Here, all devices of the group get an InvalidArgumentError that says which.
    """
    tables = [[np.reshape(table, (len(group), -1)).tolist() for table in tables] for _, _, *tables in brought]
    results = [np.array(output) for _, output, *_ in brought]
    for sender, (operand, *_) in enumerate(brought):
        for receiver, result in enumerate(results):
            starts, sizes, targets, _ = (table[receiver] for table in tables[sender])
            expected = tables[receiver][3][sender]
            way = f"from {device_name(group[sender])} to {device_name(group[receiver])}"
            for start, size, target, received in zip(starts, sizes, targets, expected, strict=True):
                _check_rows(start, size, len(operand), f"send_sizes and input_offsets {way}", "operand")
                _check_rows(target, size, len(result), f"send_sizes and output_offsets {way}", "output")
                if size != received:
                    raise InvalidArgumentError(f"send_sizes has {size} rows {way}, whose recv_sizes has {received}")
                result[target : target + size] = operand[start : start + size]
    return list(results)


def _check_rows(first: int, count: int, rows: int, what: str, where: str) -> None:
    if count < 0 or (count and not 0 <= first <= rows - count):
        raise InvalidArgumentError(
            f"{what} name {count} rows from row {first} on; the {where} has {rows}",
            hint="offsets and sizes count rows along dimension 0, and none is negative",
        )


def collective_broadcast(
    context: EvaluationContext, instruction: HloInstruction, group: Sequence[Device], brought: Operands
) -> list[Value]:
    rooted = [_with_roots(instruction, values, len(group)) for values in brought]
    return [_of_results(instruction, [rooted[root][0][i] for i, root in enumerate(roots)]) for _, roots in rooted]


def collective_reduce(
    context: EvaluationContext, instruction: HloInstruction, group: Sequence[Device], brought: Operands
) -> list[Value]:
    """Every device but the root gets zeros."""
    rooted = [_with_roots(instruction, values, len(group)) for values in brought]
    results = _combined(context, instruction, [data for data, _ in rooted])
    return [
        _of_results(
            instruction,
            [r if root == place else np.zeros_like(r) for r, root in zip(results, roots, strict=True)],
        )
        for place, (_, roots) in enumerate(rooted)
    ]


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


def collective_permute(
    context: EvaluationContext, instruction: HloInstruction, group: Sequence[Device], brought: Operands
) -> list[Value]:
    if instruction.attribute("slice_sizes"):
        raise UnimplementedError("the evaluator has no collective-permute into slices", op=instruction.opcode)
    sources = {target: source for source, target in instruction.attribute("source_target_pairs")}
    return [
        _of_results(
            instruction, brought[sources[place]] if place in sources else [np.zeros_like(v) for v in values], values
        )
        for place, values in enumerate(brought)
    ]


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


def _combined(context: EvaluationContext, instruction: HloInstruction, brought: Operands) -> list[Value]:
    """Combines the values of the group's devices for each operand, in the group's order."""
    computation = instruction.attribute("to_apply")
    dtype = computation.parameters[0].shape.dtype
    root = computation.root
    of_pair = root.op.evaluate if root.is_elementwise and root.operands == computation.parameters else None
    results = []
    for column in zip(*brought, strict=True):
        total = convert(column[0], dtype)
        for other in column[1:]:
            pair = [total, convert(other, dtype)]
            total = of_pair(context, root, pair) if of_pair else context.map(computation, pair)[0]
        results.append(_shared(convert(total, column[0].dtype)))
    return results


def _shared(array: Value) -> Value:
    """Returns a view that nobody can write to, because all devices of a group get it."""
    view = np.asarray(array).view()
    view.flags.writeable = False
    return view
