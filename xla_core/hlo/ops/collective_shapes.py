"""Shape rules of ops between replicas and partitions."""

from __future__ import annotations

from collections.abc import Sequence

from xla_core.errors import InvalidArgumentError
from xla_core.hlo.element_type import ElementType
from xla_core.hlo.op_table import Attributes
from xla_core.hlo.ops.rules import (
    array,
    check,
    check_axes,
    declared_array,
    dims,
    normalize,
    scalar_signature,
    shape_of_parts,
)
from xla_core.hlo.shape import Shape

__all__ = [
    "all_gather",
    "all_reduce",
    "all_to_all",
    "collective_permute",
    "device_id",
    "done_pair",
    "done_same",
    "ragged_all_to_all",
    "reduce_scatter",
    "rooted_broadcast",
    "rooted_reduce",
    "start_pair",
]


def _same_shape(operands: Sequence[Shape], attributes: Attributes, declared: Shape | None) -> Shape:
    for operand in operands:
        array(operand)
    parts = [normalize(o) for o in operands]
    return Shape.tuple(parts) if len(parts) > 1 or (declared is not None and declared.is_tuple) else parts[0]


def all_reduce(operands: Sequence[Shape], attributes: Attributes, declared: Shape | None) -> Shape:
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


def rooted_broadcast(operands: Sequence[Shape], attributes: Attributes, declared: Shape | None) -> Shape:
    return _same_shape(_data(operands, attributes), attributes, declared)


def rooted_reduce(operands: Sequence[Shape], attributes: Attributes, declared: Shape | None) -> Shape:
    return all_reduce(_data(operands, attributes), attributes, declared)


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


def all_gather(operands: Sequence[Shape], attributes: Attributes, declared: Shape | None) -> Shape:
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


def _scaled(shape: Shape, axis: int, factor: int) -> Shape:
    sizes = list(shape.dimensions)
    sizes[axis] *= factor
    return dims(shape.element_type, sizes, shape.dynamic_dimensions)


def reduce_scatter(operands: Sequence[Shape], attributes: Attributes, declared: Shape | None) -> Shape:
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


def all_to_all(operands: Sequence[Shape], attributes: Attributes, declared: Shape | None) -> Shape:
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


def ragged_all_to_all(operands: Sequence[Shape], attributes: Attributes, declared: Shape | None) -> Shape:
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


def collective_permute(operands: Sequence[Shape], attributes: Attributes, declared: Shape | None) -> Shape:
    for pair in attributes["source_target_pairs"]:
        check(len(pair) == 2, "source_target_pairs must be pairs")
    sources, targets = ([pair[i] for pair in attributes["source_target_pairs"]] for i in (0, 1))
    check(len(set(sources)) == len(sources), "a source occurs twice in source_target_pairs")
    check(len(set(targets)) == len(targets), "a target occurs twice in source_target_pairs")
    return _same_shape(operands[1:2] if attributes.get("slice_sizes") else operands, attributes, declared)


def device_id(operands: Sequence[Shape], attributes: Attributes, declared: Shape | None) -> Shape:
    return Shape(ElementType.U32) if declared is None else declared_array(declared)


def start_pair(operands: Sequence[Shape], attributes: Attributes, declared: Shape | None) -> Shape:
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


def done_same(operands: Sequence[Shape], attributes: Attributes, declared: Shape | None) -> Shape:
    return normalize(operands[0])


def done_pair(operands: Sequence[Shape], attributes: Attributes, declared: Shape | None) -> Shape:
    check(len(operands[0].tuple_shapes) >= 2, lambda: f"the operand is {operands[0]}; expected a start op's result")
    return normalize(operands[0].tuple_shapes[1])
