"""Shape rules of collectives."""

from __future__ import annotations

from collections.abc import Sequence

from xla_core.errors import InvalidArgumentError
from xla_core.hlo.ir.computation import HloComputation
from xla_core.hlo.ops.collective_groups import CollectiveGroups
from xla_core.hlo.ops.rules import (
    array,
    category,
    check,
    check_axes,
    declared_array,
    dims,
    scalar_signature,
    shape_of_parts,
)
from xla_core.hlo.table.op_table import Attributes, ShapeRule
from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.values.element_type import ElementType
from xla_core.hlo.values.shape import Shape
from xla_core.wording import counted


def _same_shape(operands: Sequence[Shape], attributes: Attributes, declared: Shape | None) -> Shape:
    check(len(operands) > 0, "it needs an operand")
    for operand in operands:
        array(operand)
    parts = [o.without_layout() for o in operands]
    return Shape.tuple(parts) if len(parts) > 1 or (declared is not None and declared.is_tuple) else parts[0]


def all_reduce(operands: Sequence[Shape], attributes: Attributes, declared: Shape | None) -> Shape:
    CollectiveGroups.of(Opcode.ALL_REDUCE, attributes)
    _check_combines(attributes["to_apply"], operands)
    return _same_shape(operands, attributes, declared)


def _check_combines(computation: HloComputation, operands: Sequence[Shape]) -> None:
    """Checks that the computation's element type can hold the values of every operand, since it combines them all."""
    scalar_signature(computation, operands[:1], "to_apply")
    combined = computation.parameters[0].shape.element_type
    for number, operand in enumerate(operands):
        if not _holds(combined, array(operand).element_type):
            raise InvalidArgumentError(
                f"operand {number} is {operand.without_layout()}, but to_apply {computation.name} combines {combined}",
                hint="give each element type an op of its own, or convert the operand",
            )


def _holds(wide: ElementType, narrow: ElementType) -> bool:
    if wide is narrow:
        return True
    fits = category(wide) == category(narrow) and wide.bit_width > narrow.bit_width
    return fits and (wide.is_signed or not narrow.is_signed)


def _data(operands: Sequence[Shape], attributes: Attributes) -> Sequence[Shape]:
    """Returns the operands without the roots, which are the last operand where `has_dynamic_root` is set."""
    if not attributes["has_dynamic_root"]:
        return operands
    *data, roots = operands
    check(
        roots.element_type is ElementType.S32 and roots.dimensions == (len(data),),
        lambda: f"the roots are {roots.without_layout()}; expected s32[{len(data)}]",
    )
    return data


def rooted_broadcast(operands: Sequence[Shape], attributes: Attributes, declared: Shape | None) -> Shape:
    CollectiveGroups.of(Opcode.COLLECTIVE_BROADCAST, attributes)
    return _same_shape(_data(operands, attributes), attributes, declared)


def rooted_reduce(operands: Sequence[Shape], attributes: Attributes, declared: Shape | None) -> Shape:
    CollectiveGroups.of(Opcode.COLLECTIVE_REDUCE, attributes)
    data = _data(operands, attributes)
    _check_combines(attributes["to_apply"], data)
    return _same_shape(data, attributes, declared)


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
    """The gathered dimension grows by an integer factor, the size of the group."""
    size = CollectiveGroups.of(Opcode.ALL_GATHER, attributes).size
    if declared is None:
        check(size is not None, "the shape must be given where replica_groups doesn't say how many devices there are")
        return shape_of_parts([_scaled(o, _one_axis(attributes, o), size or 1) for o in operands])
    for operand, result in zip(operands, _result_parts(declared, len(operands)), strict=True):
        axis = _one_axis(attributes, operand)
        factor = _factor(result, operand, axis) if size is None else size
        if not result.without_layout().compatible(_scaled(operand, axis, factor)):
            among = "" if size is None else f" on {counted(size, 'device')}"
            raise InvalidArgumentError(f"all-gather of {operand.without_layout()} along {axis}{among} is not {result}")
    return declared.without_layout()


def _factor(longer: Shape, shorter: Shape, axis: int) -> int:
    """Returns the factor between two shapes along an axis; 1 where the axis is missing or has size 0."""
    if axis >= longer.rank or axis >= shorter.rank or not shorter.dimensions[axis]:
        return 1
    return longer.dimensions[axis] // shorter.dimensions[axis]


def _scaled(shape: Shape, axis: int, factor: int) -> Shape:
    sizes = list(shape.dimensions)
    sizes[axis] *= factor
    return dims(shape.element_type, sizes, shape.dynamic_dimensions)


def reduce_scatter(operands: Sequence[Shape], attributes: Attributes, declared: Shape | None) -> Shape:
    """The scattered dimension shrinks by an integer factor, the size of the group."""
    size = CollectiveGroups.of(Opcode.REDUCE_SCATTER, attributes).size
    _check_combines(attributes["to_apply"], operands)
    if declared is None:
        check(size is not None, "the shape must be given where replica_groups doesn't say how many devices there are")
    given = operands if declared is None else _result_parts(declared, len(operands))
    parts = []
    for operand, result in zip(operands, given, strict=True):
        axis = _one_axis(attributes, operand)
        parts.append(_part(operand, axis, _factor(operand, result, axis) if size is None else size))
    return Shape.tuple(parts) if declared is not None and declared.is_tuple else shape_of_parts(parts)


def _part(shape: Shape, axis: int, count: int) -> Shape:
    """Returns the shape of one of `count` equal parts along an axis."""
    sizes = list(shape.dimensions)
    if count < 1 or sizes[axis] % count:
        raise InvalidArgumentError(f"dimension {axis} of {shape.without_layout()} does not split among {count} devices")
    sizes[axis] //= count
    return dims(shape.element_type, sizes)


def all_to_all(operands: Sequence[Shape], attributes: Attributes, declared: Shape | None) -> Shape:
    size = CollectiveGroups.of(Opcode.ALL_TO_ALL, attributes).size
    axes = attributes["dimensions"]
    if not axes:  # the tuple form: operand i goes to device i of the group
        check(size in (None, len(operands)), lambda: f"{len(operands)} operands for a group of {size} devices")
        for operand in operands:
            check(array(operand).compatible(operands[0]), "the operands must have one shape")
        return Shape.tuple([o.without_layout() for o in operands])
    for operand in operands:
        _part(operand, _one_axis(attributes, operand), size or 1)
    return _same_shape(operands, attributes, declared)


def ragged_all_to_all(operands: Sequence[Shape], attributes: Attributes, declared: Shape | None) -> Shape:
    """Checks the operands (operand, output, input_offsets, send_sizes, output_offsets, recv_sizes)."""
    operand, output = array(operands[0]), array(operands[1])
    check(
        operand.element_type is output.element_type and operand.dimensions[1:] == output.dimensions[1:],
        lambda: f"operand {operand.without_layout()} and output {output.without_layout()} differ beyond dimension 0",
    )
    shape = array(operands[2]).dimensions
    for sizes in operands[2:]:
        check(
            array(sizes).element_type.is_integral and sizes.dimensions == shape,
            "offsets and sizes must be integers of one shape",
        )
    size = CollectiveGroups.of(Opcode.RAGGED_ALL_TO_ALL, attributes).size or 1
    check(
        (len(shape) == 1 and shape[0] % size == 0) or (len(shape) == 2 and (size == 1 or shape[0] == size)),
        lambda: f"offsets and sizes are of shape {list(shape)}; a group of {size} devices has as many for each of them",
    )
    return output.without_layout()


def collective_permute(operands: Sequence[Shape], attributes: Attributes, declared: Shape | None) -> Shape:
    everybody = CollectiveGroups.of(Opcode.COLLECTIVE_PERMUTE, attributes)
    pairs = attributes["source_target_pairs"]
    for pair in pairs:
        check(len(pair) == 2, "source_target_pairs must be pairs")
        for number in pair:
            everybody.check_number(number, "source_target_pairs")
    for name, numbers in (("source", [source for source, _ in pairs]), ("target", [target for _, target in pairs])):
        check(len(set(numbers)) == len(numbers), f"a {name} occurs twice in source_target_pairs")
    return _same_shape(operands[1:2] if attributes["slice_sizes"] else operands, attributes, declared)


def device_id(operands: Sequence[Shape], attributes: Attributes, declared: Shape | None) -> Shape:
    return Shape(ElementType.U32) if declared is None else declared_array(declared)


def start_pair(rule: ShapeRule) -> ShapeRule:
    """Makes the shape rule of a start op from the rule of its synchronous op.

    The shape is (operand, result, context...). Several operands form a tuple, and so do their results; a single one may
    be a tuple of one.
    """

    def started(operands: Sequence[Shape], attributes: Attributes, declared: Shape | None) -> Shape:
        data = operands[:1] if attributes.get("slice_sizes") else operands  # else: destination and indices follow
        source = shape_of_parts([o.without_layout() for o in data])
        if declared is None:
            return Shape.tuple([source, rule(operands, attributes, None)])
        check(len(declared.tuple_shapes) >= 2, "the shape must be (operand, result, ...)")
        first, result, *context = declared.tuple_shapes
        if first.is_tuple and not source.is_tuple:
            source = Shape.tuple([source])
        for shape in context:
            check(shape.is_array, lambda: f"the context {declared.without_layout()} must be of arrays")
        return Shape.tuple([source, rule(operands, attributes, result), *(shape.without_layout() for shape in context)])

    return started


def done_pair(operands: Sequence[Shape], attributes: Attributes, declared: Shape | None) -> Shape:
    check(len(operands[0].tuple_shapes) >= 2, lambda: f"the operand is {operands[0]}; expected a start op's result")
    return operands[0].tuple_shapes[1].without_layout()
