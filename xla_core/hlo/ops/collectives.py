"""Ops between replicas and partitions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from xla_core.errors import InvalidArgumentError, UnimplementedError
from xla_core.hlo.element_type import ElementType
from xla_core.hlo.op_table import Attributes, Trait
from xla_core.hlo.ops.collective_groups import meet, own_group, participants
from xla_core.hlo.ops.conversion import convert
from xla_core.hlo.ops.rules import (
    array,
    attr,
    check,
    check_axes,
    declared_array,
    dims,
    entry,
    normalize,
    scalar_signature,
    shape_of_parts,
)
from xla_core.hlo.shape import Shape

if TYPE_CHECKING:
    from xla_core.hlo.evaluator import EvaluationContext, Value
    from xla_core.hlo.instruction import HloInstruction

__all__: list[str] = []


def _same_shape(operands: Sequence[Shape], attributes: Attributes, declared: Shape | None) -> Shape:
    for operand in operands:
        array(operand)
    parts = [normalize(o) for o in operands]
    return Shape.tuple(parts) if len(parts) > 1 or (declared is not None and declared.is_tuple) else parts[0]


def _all_reduce_shape(operands: Sequence[Shape], attributes: Attributes, declared: Shape | None) -> Shape:
    scalar_signature(attributes["to_apply"], operands[:1], "to_apply")
    return _same_shape(operands, attributes, declared)


def _data(operands: Sequence[Shape], attributes: Attributes) -> Sequence[Shape]:
    """The operands without the roots, which come last where they are known at run time only."""
    if not attributes.get("has_dynamic_root"):
        return operands
    *data, roots = operands
    check(
        roots.element_type is ElementType.S32 and roots.dimensions == (len(data),),
        lambda: f"the roots are {roots.without_layout()}; expected s32[{len(data)}]",
    )
    return data


def _rooted_broadcast_shape(operands: Sequence[Shape], attributes: Attributes, declared: Shape | None) -> Shape:
    return _same_shape(_data(operands, attributes), attributes, declared)


def _rooted_reduce_shape(operands: Sequence[Shape], attributes: Attributes, declared: Shape | None) -> Shape:
    return _all_reduce_shape(_data(operands, attributes), attributes, declared)


def _all_reduce(context: EvaluationContext, instruction: HloInstruction, values: list[Value]) -> Value:
    brought = meet(context, instruction, own_group(context, instruction), values)
    return _of_results(instruction, _combined(context, instruction, brought))


def _group_size(attributes: Attributes, *, pairs_partitions: bool = False) -> int | None:
    """Devices in a group, where the text says: groups of replicas with all their partitions don't (`participants`)."""
    groups = attributes.get("replica_groups") or ()
    replicas_only = (attributes.get("channel_id") or 0) > 0 and not attributes.get("use_global_device_ids")
    if not groups or (replicas_only and not pairs_partitions):
        return None
    return len(groups[0])


def _one_axis(attributes: Attributes, operand: Shape) -> int:
    axes = attributes["dimensions"]
    check(len(axes) == 1, "dimensions must name one dimension")
    check_axes(axes, array(operand).rank, "dimensions")
    axis: int = axes[0]
    return axis


def _result_parts(declared: Shape | None, count: int) -> Sequence[Shape]:
    if declared is None:
        raise InvalidArgumentError("the shape must be given")
    parts = declared.tuple_shapes if declared.is_tuple else (declared,)
    check(len(parts) == count, lambda: f"{len(parts)} results for {count} operands")
    return parts


def _all_gather_shape(operands: Sequence[Shape], attributes: Attributes, declared: Shape | None) -> Shape:
    """The gathered dimension grows by a whole factor, the group's size."""
    if declared is None:
        size = _group_size(attributes)
        check(size is not None, "the shape must be given where replica_groups doesn't say how many devices there are")
        return shape_of_parts([_scaled(o, _one_axis(attributes, o), size or 1) for o in operands])
    for operand, result in zip(operands, _result_parts(declared, len(operands)), strict=True):
        axis = _one_axis(attributes, operand)
        before, after = operand.dimensions[axis], result.dimensions[axis] if axis < result.rank else -1
        expected = _group_size(attributes)
        factor = expected if before == 0 else after // before
        if (
            factor is None
            or (expected is not None and factor != expected)
            or not result.without_layout().compatible(_scaled(operand, axis, factor))
        ):
            raise InvalidArgumentError(f"all-gather of {operand.without_layout()} along {axis} is not {result}")
    return normalize(declared)


def _all_gather(context: EvaluationContext, instruction: HloInstruction, values: list[Value]) -> Value:
    return _of_results(instruction, _gathered(context, instruction, values))


def _scaled(shape: Shape, axis: int, factor: int) -> Shape:
    sizes = list(shape.dimensions)
    sizes[axis] *= factor
    return dims(shape.element_type, sizes, shape.dynamic_dimensions)


def _reduce_scatter_shape(operands: Sequence[Shape], attributes: Attributes, declared: Shape | None) -> Shape:
    """The scattered dimension shrinks by a whole factor, the group's size."""
    scalar_signature(attributes["to_apply"], operands[:1], "to_apply")
    size = _group_size(attributes)
    given = _result_parts(declared, len(operands)) if declared is not None else [None] * len(operands)
    parts = []
    for operand, result in zip(operands, given, strict=True):
        axis = _one_axis(attributes, operand)
        before = operand.dimensions[axis]
        factor = size
        if factor is None and result is not None and axis < result.rank and result.dimensions[axis]:
            factor = before // result.dimensions[axis]
        if factor is None or factor < 1 or before % factor:
            raise InvalidArgumentError(
                f"dimension {axis} of {operand.without_layout()} does not split among {factor} devices"
            )
        sizes = list(operand.dimensions)
        sizes[axis] = before // factor
        parts.append(dims(operand.element_type, sizes))
    return Shape.tuple(parts) if declared is not None and declared.is_tuple else shape_of_parts(parts)


def _reduce_scatter(context: EvaluationContext, instruction: HloInstruction, values: list[Value]) -> Value:
    group = own_group(context, instruction)
    axis, place = instruction.attributes["dimensions"][0], group.index(context.environment.device)
    results = _combined(context, instruction, meet(context, instruction, group, values))
    return _of_results(instruction, [np.split(r, len(group), axis)[place] for r in results])


def _all_to_all_shape(operands: Sequence[Shape], attributes: Attributes, declared: Shape | None) -> Shape:
    axes = attributes.get("dimensions")
    if not axes:  # the tuple form: operand i goes to device i of the group
        for operand in operands:
            check(array(operand).compatible(operands[0]), "the operands must have one shape")
        return Shape.tuple([normalize(o) for o in operands])
    axis = _one_axis(attributes, operands[0])
    size = _group_size(attributes, pairs_partitions=True)
    if size is not None and operands[0].dimensions[axis] % size:
        raise InvalidArgumentError(
            f"dimension {axis} of {operands[0].without_layout()} does not split among {size} devices"
        )
    return _same_shape(operands, attributes, declared)


def _all_to_all(context: EvaluationContext, instruction: HloInstruction, values: list[Value]) -> Value:
    group = own_group(context, instruction, pairs_partitions=True)
    place = group.index(context.environment.device)
    axes = instruction.attribute("dimensions")
    brought = meet(context, instruction, group, values)
    if not axes:
        if len(values) != len(group):
            raise InvalidArgumentError(f"{len(values)} operands for a group of {len(group)} devices")
        return tuple(parts[place] for parts in brought)
    axis = axes[0]
    return _of_results(
        instruction,
        [
            np.concatenate([np.split(x, len(group), axis)[place] for x in column], axis)
            for column in zip(*brought, strict=True)
        ],
    )


def _ragged_all_to_all_shape(operands: Sequence[Shape], attributes: Attributes, declared: Shape | None) -> Shape:
    """(operand, output, input_offsets, send_sizes, output_offsets, recv_sizes)."""
    operand, output = array(operands[0]), array(operands[1])
    check(
        operand.element_type is output.element_type and operand.dimensions[1:] == output.dimensions[1:],
        lambda: f"operand {operand.without_layout()} and output {output.without_layout()} differ beyond dimension 0",
    )
    for sizes in operands[2:]:
        check(
            array(sizes).element_type.is_integral and sizes.dimensions == operands[2].dimensions,
            "offsets and sizes must be integers of one shape",
        )
    return normalize(output)


def _ragged_all_to_all(context: EvaluationContext, instruction: HloInstruction, values: list[Value]) -> Value:
    """Rows input_offsets[j] ... of send_sizes[j] go to device j, from its output's row output_offsets[j] on."""
    group = own_group(context, instruction, pairs_partitions=True)
    place = group.index(context.environment.device)
    result = np.array(values[1])
    for operand, _, starts, sizes, targets, _ in meet(context, instruction, group, values):
        share = len(sizes) // len(group)
        for i in range(place * share, (place + 1) * share):
            start, size, target = int(starts[i]), int(sizes[i]), int(targets[i])
            result[target : target + size] = operand[start : start + size]
    return result


def _collective_permute_shape(operands: Sequence[Shape], attributes: Attributes, declared: Shape | None) -> Shape:
    for pair in attributes["source_target_pairs"]:
        check(len(pair) == 2, "source_target_pairs must be pairs")
    sources, targets = ([pair[i] for pair in attributes["source_target_pairs"]] for i in (0, 1))
    check(len(set(sources)) == len(sources), "a source occurs twice in source_target_pairs")
    check(len(set(targets)) == len(targets), "a target occurs twice in source_target_pairs")
    return _same_shape(operands[1:2] if attributes.get("slice_sizes") else operands, attributes, declared)


def _collective_permute(context: EvaluationContext, instruction: HloInstruction, values: list[Value]) -> Value:
    return _of_results(instruction, _permuted(context, instruction, values))


def _device_id_shape(operands: Sequence[Shape], attributes: Attributes, declared: Shape | None) -> Shape:
    return Shape(ElementType.U32) if declared is None else declared_array(declared)


def _start_pair_shape(operands: Sequence[Shape], attributes: Attributes, declared: Shape | None) -> Shape:
    """(operand, result, context...), each a tuple where there are several operands."""
    if declared is None or len(declared.tuple_shapes) < 2:
        raise InvalidArgumentError("the shape (operand, result, ...) must be given")
    given = shape_of_parts([normalize(o) for o in operands])
    source = declared.tuple_shapes[0]
    check(
        source.compatible(given) or source.compatible(Shape.tuple([given])),
        lambda: f"the result's first element is {source.without_layout()}; expected {given}",
    )
    return declared


def _done_same_shape(operands: Sequence[Shape], attributes: Attributes, declared: Shape | None) -> Shape:
    return normalize(operands[0])


def _done_pair_shape(operands: Sequence[Shape], attributes: Attributes, declared: Shape | None) -> Shape:
    check(len(operands[0].tuple_shapes) >= 2, lambda: f"the operand is {operands[0]}; expected a start op's result")
    return normalize(operands[0].tuple_shapes[1])


def _of_results(instruction: HloInstruction, results: Sequence[Value]) -> Value:
    return tuple(results) if instruction.shape.is_tuple else results[0]


def _combined(context: EvaluationContext, instruction: HloInstruction, brought: Sequence[list[Value]]) -> list[Value]:
    """Operand by operand, what the devices brought, combined in the group's order."""
    computation = instruction.attributes["to_apply"]
    dtype = computation.parameters[0].shape.dtype
    results = []
    for column in zip(*brought, strict=True):
        total = convert(column[0], dtype)
        for other in column[1:]:
            total = context.map(computation, [total, convert(other, dtype)])[0]
        results.append(convert(total, column[0].dtype))
    return results


def _gathered(context: EvaluationContext, instruction: HloInstruction, values: list[Value]) -> list[Value]:
    axis = instruction.attributes["dimensions"][0]
    brought = meet(context, instruction, own_group(context, instruction), values)
    return [np.concatenate(column, axis) for column in zip(*brought, strict=True)]


def _all_gather_start(context: EvaluationContext, instruction: HloInstruction, values: list[Value]) -> Value:
    return _started(instruction, values, _gathered(context, instruction, values))


def _started(instruction: HloInstruction, values: list[Value], results: list[Value]) -> Value:
    """(operands, results, context...), as nested as the shape says."""
    source, target, *rest = instruction.shape.tuple_shapes
    return (
        tuple(values) if source.is_tuple else values[0],
        tuple(results) if target.is_tuple else results[0],
        *(np.zeros(s.dimensions, s.dtype) for s in rest),
    )


def _collective_broadcast(context: EvaluationContext, instruction: HloInstruction, values: list[Value]) -> Value:
    """Zeros on a device that is in no group."""
    group = participants(context, instruction, pairs_partitions=True)
    data, roots = _with_roots(instruction, values, len(group))
    if not group:
        return _of_results(instruction, [np.zeros_like(v) for v in data])
    brought = meet(context, instruction, group, data)
    return _of_results(instruction, [brought[root][i] for i, root in enumerate(roots)])


def _with_roots(instruction: HloInstruction, values: list[Value], count: int) -> tuple[list[Value], list[int]]:
    """The data, and for each the root's place in the group: the first, unless the last operand says."""
    if not instruction.attribute("has_dynamic_root"):
        return values, [0] * len(values)
    *data, places = values
    roots = [int(root) for root in places]
    wrong = [root for root in roots if not 0 <= root < count]
    if wrong and count:
        raise InvalidArgumentError(f"root {wrong[0]} is none of a group of {count} devices")
    return data, roots


def _collective_reduce(context: EvaluationContext, instruction: HloInstruction, values: list[Value]) -> Value:
    """Zeros everywhere but on the root."""
    group = participants(context, instruction, pairs_partitions=False)
    data, roots = _with_roots(instruction, values, len(group))
    if not group:
        return _of_results(instruction, [np.zeros_like(v) for v in data])
    results = _combined(context, instruction, meet(context, instruction, group, data))
    place = group.index(context.environment.device)
    kept = zip(results, roots, strict=True)
    return _of_results(instruction, [r if root == place else np.zeros_like(r) for r, root in kept])


def _permuted(context: EvaluationContext, instruction: HloInstruction, values: list[Value]) -> list[Value]:
    if instruction.attribute("slice_sizes") is not None:
        raise UnimplementedError("the evaluator has no collective-permute into slices", op=instruction.opcode)
    environment = context.environment
    partitions = (instruction.attribute("channel_id") or 0) > 0
    if partitions:
        me, line = environment.partition, [(environment.replica, p) for p in range(environment.num_partitions)]
    else:
        me, line = environment.replica, [(r, environment.partition) for r in range(environment.num_replicas)]
    brought = meet(context, instruction, line, values)
    for source, target in instruction.attributes["source_target_pairs"]:
        if target == me:
            if not 0 <= source < len(line):
                raise InvalidArgumentError(f"source {source} is none of {len(line)} devices")
            result: list[Value] = brought[source]
            return result
    return [np.zeros_like(v) for v in values]


def _collective_permute_start(context: EvaluationContext, instruction: HloInstruction, values: list[Value]) -> Value:
    return _started(instruction, values, _permuted(context, instruction, values))


def _first(context: EvaluationContext, instruction: HloInstruction, values: list[Value]) -> Value:
    return values[0]


def _second(context: EvaluationContext, instruction: HloInstruction, values: list[Value]) -> Value:
    return values[0][1]


def _partition_id(context: EvaluationContext, instruction: HloInstruction, values: list[Value]) -> Value:
    return np.asarray(context.environment.partition, instruction.shape.dtype)


def _replica_id(context: EvaluationContext, instruction: HloInstruction, values: list[Value]) -> Value:
    return np.asarray(context.environment.replica, instruction.shape.dtype)


_COLLECTIVE = (Trait.COLLECTIVE,)
_ASYNC_COLLECTIVE = (Trait.COLLECTIVE, Trait.ASYNC)
_CHANNEL: dict[str, Any] = {"channel_id": attr("int", None)}
_GROUPS: dict[str, Any] = {**_CHANNEL, "replica_groups": attr("replica_groups", ())}
_GROUPS_SHOWN: dict[str, Any] = {**_CHANNEL, "replica_groups": attr("replica_groups", (), shown=True)}
_LAYOUT: dict[str, Any] = {"constrain_layout": attr("bool", False)}
_GLOBAL: dict[str, Any] = {"use_global_device_ids": attr("bool", False)}
_PERMUTE: dict[str, Any] = {
    "channel_id": attr("int", None),
    "source_target_pairs": attr("source_target_pairs"),
    "slice_sizes": attr("raw", None),
}

for _suffix, _traits in (("", _COLLECTIVE), ("-start", _ASYNC_COLLECTIVE)):
    entry(
        "all-reduce" + _suffix,
        (1, None),
        _all_reduce_shape,
        _all_reduce,
        *_traits,
        doc="The operands of all devices of a group, combined by to_apply.",
        **_GROUPS_SHOWN,
        **_LAYOUT,
        **_GLOBAL,
        mode=attr("enum", None),
        to_apply=attr("computation"),
    )
entry(
    "all-reduce-done",
    1,
    _done_same_shape,
    _first,
    *_ASYNC_COLLECTIVE,
    doc="The result of all-reduce-start.",
    waits_for=("all-reduce-start",),
    result_at=(),
)
for _suffix, _rule, _evaluate, _traits, _at in (
    ("", _all_gather_shape, _all_gather, _COLLECTIVE, None),
    ("-start", _start_pair_shape, _all_gather_start, _ASYNC_COLLECTIVE, (0,)),
):
    entry(
        "all-gather" + _suffix,
        (1, None),
        _rule,
        _evaluate,
        *_traits,
        doc="The operands of all devices of a group, concatenated along a dimension.",
        operands_at=_at,
        **_GROUPS_SHOWN,
        dimensions=attr("ints"),
        **_LAYOUT,
        **_GLOBAL,
    )
entry(
    "all-gather-done",
    1,
    _done_pair_shape,
    _second,
    *_ASYNC_COLLECTIVE,
    doc="The result of all-gather-start.",
    waits_for=("all-gather-start",),
    result_at=(1,),
)
entry(
    "reduce-scatter",
    (1, None),
    _reduce_scatter_shape,
    _reduce_scatter,
    *_COLLECTIVE,
    doc="all-reduce, then each device of a group keeps its part along a dimension.",
    **_GROUPS_SHOWN,
    **_LAYOUT,
    **_GLOBAL,
    mode=attr("enum", None),
    dimensions=attr("ints"),
    to_apply=attr("computation"),
)
entry(
    "all-to-all",
    (1, None),
    _all_to_all_shape,
    _all_to_all,
    *_COLLECTIVE,
    doc="Part j of device i's operand becomes part i of device j's result.",
    **_GROUPS_SHOWN,
    **_LAYOUT,
    dimensions=attr("ints", None),
)
entry(
    "ragged-all-to-all",
    6,
    _ragged_all_to_all_shape,
    _ragged_all_to_all,
    *_COLLECTIVE,
    doc="all-to-all of row ranges given by offsets and sizes.",
    **_GROUPS,
    dimensions=attr("ints", None),
)
entry(
    "collective-broadcast",
    (1, None),
    _rooted_broadcast_shape,
    _collective_broadcast,
    *_COLLECTIVE,
    doc="The operand of a group's root: the first device, or what the last operand says.",
    **_GROUPS,
    has_dynamic_root=attr("bool", False),
)
entry(
    "collective-reduce",
    (1, None),
    _rooted_reduce_shape,
    _collective_reduce,
    *_COLLECTIVE,
    doc="A group's root (the first device, or what the last operand says) gets the combined operands, others zeros.",
    **_GROUPS,
    has_dynamic_root=attr("bool", False),
    **_LAYOUT,
    **_GLOBAL,
    to_apply=attr("computation"),
)
for _suffix, _rule, _evaluate, _traits, _at in (
    ("", _collective_permute_shape, _collective_permute, _COLLECTIVE, None),
    ("-start", _start_pair_shape, _collective_permute_start, _ASYNC_COLLECTIVE, (0,)),
):
    entry(
        "collective-permute" + _suffix,
        (1, None),
        _rule,
        _evaluate,
        *_traits,
        doc="Sends operands from sources to targets; a device that is no target gets zeros.",
        operands_at=_at,
        **_PERMUTE,
    )
entry(
    "collective-permute-done",
    1,
    _done_pair_shape,
    _second,
    *_ASYNC_COLLECTIVE,
    doc="The result of collective-permute-start.",
    waits_for=("collective-permute-start",),
    result_at=(1,),
)
entry("partition-id", 0, _device_id_shape, _partition_id, Trait.PER_DEVICE, doc="The partition that runs this.")
entry("replica-id", 0, _device_id_shape, _replica_id, Trait.PER_DEVICE, doc="The replica that runs this.")
