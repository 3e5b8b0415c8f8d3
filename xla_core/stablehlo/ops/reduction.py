"""reduce, reduce_window, select_and_scatter, map and sort."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.attributes import Window
from xla_core.hlo.table.opcode import Opcode
from xla_core.stablehlo import ir
from xla_core.stablehlo.lower.context import LoweringContext
from xla_core.stablehlo.ops.common import FALSE, INTS, OPTIONAL_INTS, OneOp, ints, tensor
from xla_core.stablehlo.ops.reducers import check_reducer, element_text, promote, same_kind
from xla_core.stablehlo.ops.windows import check_padding_shape, check_window
from xla_core.stablehlo.sharding import result_shardings
from xla_core.stablehlo.table.op_table import Arity, Attribute, Kind, OpGroup, Trait, Values
from xla_core.stablehlo.table.type_constraints import TENSOR
from xla_core.stablehlo.verify.compatibility import (
    compatible,
    compatible_elements,
    compatible_shapes,
    inferred_or_known,
    list_text,
)

define = OpGroup("reduction").define

_INPUTS_AND_INITIAL = (Values("inputs", TENSOR, Arity.VARIADIC), Values("init_values", TENSOR, Arity.VARIADIC))


def _split(op: ir.Op) -> tuple[list[ir.TensorType], list[ir.TensorType]]:
    """Returns the types of the inputs and of their initial values. A last odd operand is left out."""
    count = len(op.operands) // 2
    types = [tensor(op, i) for i in range(2 * count)]
    return types[:count], types[count:]


def _check_pairs(op: ir.Op) -> None:
    """Checks that there are as many initial values as inputs. The lowering calls it; the verifier accepts any count."""
    if len(op.operands) != 2 * len(op.results):
        op.fail(f"expects as many init values as inputs, but got {len(op.operands)} operands")


def _check_same_shapes(op: ir.Op, inputs: Sequence[ir.TensorType]) -> None:
    for i, type in enumerate(inputs):
        if not compatible_shapes(type.shape, inputs[0].shape):
            op.fail(
                f"expects all inputs to have compatible shapes. Shape at input-index {i} is not compatible with shape "
                "at input-index 0"
            )


# -- reduce ----------------------------------------------------------------------------------------------------------


def _reduce_rule(op: ir.Op, module: ir.Module) -> Sequence[ir.Type]:
    inputs, initial = _split(op)
    _check_same_shapes(op, inputs)
    rank, seen = inputs[0].rank if inputs else 0, set[int]()
    for dim in ints(op, "dimensions"):
        if not 0 <= dim < rank:
            op.fail(f"Out-of-bounds dimension {dim}, expected to be in range [0, {rank})")
        if dim in seen:
            op.fail(f"Duplicate reduction dimension: {dim}")
        seen.add(dim)
    if not inputs:
        op.fail("requires at least 1 input value")
    first = inputs[0]
    kept = [i for i in range(first.rank) if i not in seen]
    shape = tuple(first.shape[i] for i in kept)
    results = check_reducer(op, op.regions[0], initial, inputs, shape)
    bounds = tuple(first.bounds[i] for i in kept) if first.bounds else ()
    return [ir.TensorType(shape, r.element, bounds if any(bounds) else ()) for r in results]


def _reduction(
    ctx: LoweringContext, op: ir.Op, opcode: Opcode, operands: Sequence[HloInstruction], **attributes: Any
) -> Sequence[HloInstruction]:
    """Adds the HLO op on inputs and initial values that are converted to the types of the region's arguments."""
    _check_pairs(op)
    block, count = op.regions[0].block, len(op.results)
    inputs = promote(ctx, operands[:count], block.arguments[count:])
    initial = promote(ctx, operands[count:], block.arguments[:count])
    reducer = ctx.region(op.regions[0], f"{op.name.removeprefix('stablehlo.')}_region")
    return ctx.results(ctx.add(opcode, *inputs, *initial, to_apply=reducer, **attributes), op)


def _lower_reduce(ctx: LoweringContext, op: ir.Op, *operands: HloInstruction) -> Sequence[HloInstruction]:
    """HLO `reduce`."""
    return _reduction(ctx, op, Opcode.REDUCE, operands, dimensions=ints(op, "dimensions"))


define(
    "stablehlo.reduce",
    _INPUTS_AND_INITIAL,
    "results*",
    rule=_reduce_rule,
    result_sharding=result_shardings.of_reduce,
    lower=_lower_reduce,
    counterpart=OneOp(Opcode.REDUCE, "dimensions"),
    regions=1,
    attributes={"dimensions": INTS},
    assembly="<reduce>",
    traits=(Trait.VERSION_BY_OPERANDS, Trait.PROMOTES),
    doc=(
        "Combines the elements along `dimensions` by the region, starting from the initial values, in an order "
        "that the implementation chooses. Several inputs are reduced together: the region takes one accumulator "
        "and one element of each."
    ),
)


# -- windows ---------------------------------------------------------------------------------------------------------


def _reduce_window_rule(op: ir.Op, module: ir.Module) -> Sequence[ir.Type]:
    inputs, initial = _split(op)
    if not inputs:
        op.fail("requires at least 1 input value")
    _check_same_shapes(op, inputs)
    first = inputs[0]
    check_padding_shape(op)
    sizes = ints(op, "window_dimensions")
    if len(sizes) != first.rank:
        op.fail(
            f"expects window-dimensions size == input rank, but got window-dimensions size: {len(sizes)} and input: "
            f"'{first}' with rank = {first.rank}."
        )
    window = check_window(op, sizes, "base_dilations", "window_dilations")
    results = check_reducer(op, op.regions[0], initial, inputs, sizes)
    return [_windowed(i, window, r.element) for i, r in zip(inputs, results, strict=True)]


def _windowed(type: ir.TensorType, window: Window, element: str | ir.QuantizedType) -> ir.TensorType:
    """Returns the type of one value per window: each size and each bound becomes a number of windows."""

    def counted(sizes: Sequence[int | None]) -> list[int | None]:
        return [None if n in (None, ir.DYNAMIC) else w.output_size(n) for n, w in zip(sizes, window, strict=True)]

    shape = tuple(ir.DYNAMIC if n is None else n for n in counted(type.shape))
    bounds = tuple(counted(type.bounds)) if type.bounds else ()
    return ir.TensorType(shape, element, bounds if any(b is not None for b in bounds) else ())


def _lower_reduce_window(ctx: LoweringContext, op: ir.Op, *operands: HloInstruction) -> Sequence[HloInstruction]:
    """HLO `reduce-window`."""
    window = check_window(op, ints(op, "window_dimensions"), "base_dilations", "window_dilations")
    return _reduction(ctx, op, Opcode.REDUCE_WINDOW, operands, window=window)


define(
    "stablehlo.reduce_window",
    _INPUTS_AND_INITIAL,
    "results*",
    rule=_reduce_window_rule,
    lower=_lower_reduce_window,
    regions=1,
    attributes={
        "window_dimensions": INTS,
        "window_strides": OPTIONAL_INTS,
        "base_dilations": OPTIONAL_INTS,
        "window_dilations": OPTIONAL_INTS,
        "padding": Attribute(Kind.ELEMENTS, None),
    },
    traits=(Trait.VERSION_BY_OPERANDS, Trait.PROMOTES),
    doc=(
        "Combines the elements of every window by the region, starting from the initial values. The inputs are "
        "dilated by `base_dilations` and padded with the initial values. Windows begin `window_strides` apart, and "
        "the elements of a window are `window_dilations` apart."
    ),
)


def _select_and_scatter_rule(op: ir.Op, module: ir.Module) -> Sequence[ir.Type]:
    operand, source, initial = (tensor(op, i) for i in range(3))
    _check_select(op, operand)
    results = check_reducer(op, op.regions[1], [initial], [ir.TensorType((), source.element)])
    sizes = ints(op, "window_dimensions")
    if len(sizes) != operand.rank:
        op.fail(
            f"expects window-dimensions size == operand rank, but got window-dimensions size: {len(sizes)} and "
            f"operand-type: '{operand}' with rank = {operand.rank}."
        )
    check_padding_shape(op)
    window = check_window(op, sizes)
    expected = dataclasses.replace(_windowed(operand, window, operand.element), bounds=())
    if not same_kind(expected, source):
        op.fail(f"expects source-type to be '{expected}', but got'{source}'")
    return [ir.TensorType(operand.shape, results[0].element, operand.bounds)]


def _check_select(op: ir.Op, operand: ir.TensorType) -> None:
    block = op.regions[0].block
    if len(block.arguments) != 2:
        op.fail(f"expects the select-region to take 2 parameters, but takes {len(block.arguments)}")
    expected = ir.TensorType((), operand.element)
    for i, argument in enumerate(block.arguments):
        if not same_kind(argument.type, expected):
            op.fail(
                f"expects the type of select-region's parameter at index {i} to be '{expected}', but got "
                f"'{argument.type}'"
            )
    returned = block.ops[-1].operands
    if len(returned) != 1:
        op.fail(f"expects select-region to return single value, but got: {len(returned)}")
    if returned[0].type != ir.TensorType((), "i1"):
        op.fail(f"expects the return-type of select-region to be tensor<i1>, but got: '{returned[0].type}'")


def _lower_select_and_scatter(
    ctx: LoweringContext, op: ir.Op, operand: HloInstruction, source: HloInstruction, initial: HloInstruction
) -> HloInstruction:
    """HLO `select-and-scatter`."""
    select = ctx.region(op.regions[0], "select_region")
    scatter = ctx.region(op.regions[1], "scatter_region")
    shape = ctx.result_shape(op)
    window = check_window(op, ints(op, "window_dimensions", (1,) * operand.shape.rank))
    parts = (ctx.convert(x, shape) for x in (operand, source, initial))
    return ctx.add(Opcode.SELECT_AND_SCATTER, *parts, window=window, select=select, scatter=scatter)


define(
    "stablehlo.select_and_scatter",
    "operand source init_value",
    rule=_select_and_scatter_rule,
    lower=_lower_select_and_scatter,
    regions=2,
    attributes={
        "window_dimensions": OPTIONAL_INTS,
        "window_strides": OPTIONAL_INTS,
        "padding": Attribute(Kind.ELEMENTS, None),
    },
    traits=(Trait.VERSION_BY_OPERANDS, Trait.PROMOTES),
    doc=(
        "In every window of the operand, selects one element by `select` (the first one, replaced by each later one "
        "for which `select(selected, later)` is false), and combines the source's element of that window into the "
        "selected place by `scatter`; other "
        "places have `init_value`. It is the gradient of max pooling."
    ),
)


# -- map and sort ----------------------------------------------------------------------------------------------------


def _map_rule(op: ir.Op, module: ir.Module) -> Sequence[ir.Type] | None:
    block, dims = op.regions[0].block, ints(op, "dimensions")
    types = [tensor(op, i) for i in range(len(op.operands))]
    if not types:
        op.fail("expected 1 or more operands, but found 0")
    if len(block.arguments) != len(types):
        op.fail(
            "expects number of operands to match the arity of map computation, but got: "
            f"{len(types)} and {len(block.arguments)}"
        )
    for i, (argument, type) in enumerate(zip(block.arguments, types, strict=True)):
        if not isinstance(argument.type, ir.TensorType) or argument.type.rank:
            op.fail(f"computation arguments must be 0-rank tensor, but got: arg #{i} of type '{argument.type}'")
        if not compatible_elements(argument.type.element, type.element):
            op.fail(
                "element type of operands and computation arguments must match, but got: "
                f"'{element_text(type)}' and '{element_text(argument.type)}'"
            )
    returned = block.ops[-1].operands
    if len(returned) != 1:
        op.fail(f"computation must return single output, but got: {len(returned)}")
    result = returned[0].type
    if not isinstance(result, ir.TensorType) or result.rank:
        op.fail(f"computation must return 0-rank tensor, but got: '{result}'")
    if list(dims) != list(range(len(dims))):
        op.fail(f"requires monotonically increasing dimension numbers, but got: {list_text(dims)}")
    if len(dims) != types[0].rank:
        op.fail(
            "applied to a subset of dimensions currently not supported: operand dimensions = "
            f"{types[0].rank}, requested map dimensions size = {len(dims)}"
        )
    return inferred_or_known(op, ir.TensorType(types[-1].shape, result.element), types)


def _lower_map(ctx: LoweringContext, op: ir.Op, *operands: HloInstruction) -> HloInstruction:
    """HLO `map`."""
    shape = operands[0].shape
    # A captured scalar becomes one more operand, broadcast to every element.
    captured = [] if shape.is_dynamic else [v for v in ctx.captures(op.regions) if _is_scalar(v.type)]
    values = [ctx.value(v) for v in captured]
    passed = [ctx.broadcast(v, shape.dimensions) for v in values]
    region = ctx.region(op.regions[0], "map_region", captured=captured)
    return ctx.add(Opcode.MAP, *operands, *passed, dimensions=ints(op, "dimensions"), to_apply=region)


def _is_scalar(type: ir.Type) -> bool:
    return isinstance(type, ir.TensorType) and not type.shape


define(
    "stablehlo.map",
    "inputs*",
    rule=_map_rule,
    lower=_lower_map,
    regions=1,
    attributes={"dimensions": INTS},
    traits=(Trait.INFERRED_FROM_REGIONS,),
    doc="The region applied to the inputs element by element.",
    type_traits=("same-shape",),
)


def _sort_rule(op: ir.Op, module: ir.Module) -> Sequence[ir.Type]:
    types = [tensor(op, i) for i in range(len(op.operands))]
    if not types:
        op.fail("expected 1 or more operands, but found 0")
    rank, dim = types[0].rank, int(op.attributes.get("dimension", -1))
    if not -rank <= dim < rank:
        op.fail(f"dimension attribute value must be in range [-{rank}, {rank}), but found {dim}")
    block = op.regions[0].block
    if len(block.arguments) != 2 * len(types):
        op.fail(f"comparator block should have {2 * len(types)} arguments")
    for i, argument in enumerate(block.arguments):
        expected = ir.TensorType((), types[i // 2].element)
        if not compatible(argument.type, expected):
            op.fail(f"comparator block argument #{i} should be of type '{expected}' but got '{argument.type}'")
    returned = block.ops[-1].operands
    if len(returned) != 1:
        op.fail(f"comparator must return single output but got {len(returned)}")
    if returned[0].type != ir.TensorType((), "i1"):
        op.fail(f"comparator must return tensor<i1> but got '{returned[0].type}'")
    return types


def _lower_sort(ctx: LoweringContext, op: ir.Op, *operands: HloInstruction) -> Sequence[HloInstruction]:
    """HLO `sort`."""
    dim = int(op.attributes.get("dimension", -1))
    if not operands[0].shape.rank:
        return operands
    sort = ctx.add(
        Opcode.SORT,
        *operands,
        dimensions=(dim % operands[0].shape.rank,),
        is_stable=bool(op.attributes.get("is_stable", False)),
        to_apply=ctx.region(op.regions[0], "comparator"),
    )
    return ctx.results(sort, op)


define(
    "stablehlo.sort",
    "inputs*",
    "results*",
    rule=_sort_rule,
    lower=_lower_sort,
    counterpart=OneOp(Opcode.SORT, dimensions=("dimension",), is_stable="is_stable"),
    regions=1,
    attributes={"dimension": Attribute(Kind.INT, -1), "is_stable": FALSE},
    doc=(
        "Sorts the slices along `dimension` by the region, which says whether its first element goes before its "
        "second; several inputs are sorted together. Equal elements keep their order if `is_stable`. A negative "
        "dimension counts from the last."
    ),
    type_traits=("same-shape",),
)
