"""convolution and dynamic_conv."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.attributes import ConvolutionDimensionNumbers
from xla_core.hlo.table.opcode import Opcode
from xla_core.stablehlo import ir
from xla_core.stablehlo.lower.context import LoweringContext
from xla_core.stablehlo.ops.common import OPTIONAL_INTS, PRECISION, SIZE, matrix, tensor, tensor_of
from xla_core.stablehlo.ops.contraction import check_precision, check_result_shape, dot_attributes
from xla_core.stablehlo.ops.quantized_constraints import any_quantized, check_convolution_axes
from xla_core.stablehlo.ops.reducers import element_text
from xla_core.stablehlo.ops.windows import check_padding_shape, check_window
from xla_core.stablehlo.table.op_table import Attribute, Kind, OpGroup, Values
from xla_core.stablehlo.table.type_constraints import STATIC_INTEGER_MATRIX, TENSOR_OR_PER_AXIS
from xla_core.stablehlo.verify.compatibility import compatible_shapes, list_text

define = OpGroup("convolution").define

_Padding = Sequence[tuple[int, int]]
_WINDOW = ("lhs_dilation", "rhs_dilation", "window_reversal")


def _conv_rule(op: ir.Op, paddings: Callable[[int], _Padding | None]) -> Sequence[ir.Type] | None:
    """Checks convolution and dynamic_conv, and infers the result type.

    `paddings` is called with the number of spatial dimensions. It checks the padding and returns it, or returns None
    where the padding is known at run time only.
    """
    lhs, rhs = tensor(op, 0), tensor(op, 1)
    dims: ir.ConvDimensionNumbers = op.attributes["dimension_numbers"]
    if lhs.rank < 2:
        op.fail(f"expects convolution arguments to have >= 2 dimensions. Got: '{lhs}' and '{rhs}'.")
    if lhs.rank != rhs.rank:
        op.fail(f"expects convolution arguments to have same number of dimensions. Got: '{lhs}' and '{rhs}'.")
    if isinstance(lhs.element, str) and isinstance(rhs.element, str) and lhs.element != rhs.element:
        op.fail(
            f"expects lhs and rhs to have compatible element type. Got: '{element_text(lhs)}' and '{element_text(rhs)}'"
        )
    _check_conv_dimensions(op, dims, lhs.rank)
    features, groups = _check_groups(op, dims, lhs, rhs)
    check_precision(op)
    if (spatial := len(dims.input_spatial_dimensions)) != lhs.rank - 2:
        op.fail(f"expects convolution arguments to have {spatial + 2} dimensions. Got: {lhs.rank}")
    padding = paddings(spatial)
    sizes = [rhs.shape[d] for d in dims.kernel_spatial_dimensions]
    # The window is checked once the padding is known; StableHLO accepts any window until then.
    window = None if padding is None else check_window(op, sizes, *_WINDOW)
    shape = [ir.DYNAMIC] * lhs.rank
    for i, (inp, out) in enumerate(zip(dims.input_spatial_dimensions, dims.output_spatial_dimensions, strict=True)):
        if lhs.shape[inp] != ir.DYNAMIC and sizes[i] != ir.DYNAMIC and window is not None and padding is not None:
            low, high = padding[i]
            padded = dataclasses.replace(window[i], padding_low=low, padding_high=high)
            shape[out] = padded.output_size(lhs.shape[inp])
    batch = lhs.shape[dims.input_batch_dimension]
    shape[dims.output_batch_dimension] = batch if batch == ir.DYNAMIC else batch // groups
    shape[dims.output_feature_dimension] = features
    result = tensor_of(op.results[0])
    types = _result_types(op, shape, result)
    if any_quantized(lhs, rhs, result):
        check_convolution_axes(
            op, lhs, rhs, result, dims.kernel_output_feature_dimension, dims.output_feature_dimension
        )
    return types


def _result_types(op: ir.Op, shape: Sequence[int], result: ir.TensorType) -> Sequence[ir.Type] | None:
    """Infers the result type from the shape.

    Infers nothing for a dynamic_conv that declares an incompatible shape: the verifier accepts it, the lowering fails.
    """
    if op.name == "stablehlo.dynamic_conv" and not compatible_shapes(tuple(shape), result.shape):
        return None
    return check_result_shape(op, shape, result)


def _check_conv_dimensions(op: ir.Op, dims: ir.ConvDimensionNumbers, rank: int) -> None:
    groups = {
        "input": (dims.input_batch_dimension, dims.input_feature_dimension, *dims.input_spatial_dimensions),
        "kernel": (
            dims.kernel_input_feature_dimension,
            dims.kernel_output_feature_dimension,
            *dims.kernel_spatial_dimensions,
        ),
        "output": (dims.output_batch_dimension, dims.output_feature_dimension, *dims.output_spatial_dimensions),
    }
    counts = [len(g) - 2 for g in groups.values()]
    if len(set(counts)) > 1:
        op.fail(
            "expects the same size for input, kernel and output spatial-dimensions, but got "
            f"{counts[0]}, {counts[1]}, and {counts[2]} resp."
        )
    if any(not 0 <= d < rank for group in groups.values() for d in group):
        op.fail(f"expects input, kernel, and output dimension-numbers to be in-range [0, {rank}).")
    for name, group in groups.items():
        if len(set(group)) != len(group):
            op.fail(f"expects {name} dimension-numbers to be unique, got {{{list_text(group)}}}.")


def _check_groups(op: ir.Op, dims: ir.ConvDimensionNumbers, lhs: ir.TensorType, rhs: ir.TensorType) -> tuple[int, int]:
    """Checks the group counts; returns (output features, batch groups)."""
    feature_groups = int(op.attributes["feature_group_count"])
    batch_groups = int(op.attributes["batch_group_count"])
    if batch_groups > 1 and feature_groups > 1:
        op.fail(
            "expects batch_group_count and feature_group_count not to be both greater than 1. Got "
            f"{batch_groups} and {feature_groups} resp."
        )
    batch, features = lhs.shape[dims.input_batch_dimension], lhs.shape[dims.input_feature_dimension]
    kernel_in = rhs.shape[dims.kernel_input_feature_dimension]
    kernel_out = rhs.shape[dims.kernel_output_feature_dimension]
    if batch != ir.DYNAMIC and batch % batch_groups:
        op.fail(
            f"expects input batch dimension ({batch}) to be divisible by batch_group_count. Got batch_group_count = "
            f"{batch_groups}."
        )
    if features != ir.DYNAMIC:
        if features % feature_groups:
            op.fail(
                f"expects input feature dimension ({features}) to be a multiple of feature_group_count. Got "
                f"feature_group_count = {feature_groups}."
            )
        if kernel_in not in (ir.DYNAMIC, features // feature_groups):
            op.fail(
                f"expects input feature dimension ({features}) / feature_group_count = kernel input feature dimension "
                f"({kernel_in}). Got feature_group_count = {feature_groups}."
            )
    if kernel_out != ir.DYNAMIC and kernel_out % batch_groups:
        op.fail(
            f"expects output feature dimension size ({kernel_out}) to be a multiple of batch_group_count. Got "
            f"batch_group_count = {batch_groups}."
        )
    if kernel_out != ir.DYNAMIC and kernel_out % feature_groups:
        op.fail(
            f"expects kernel output feature dimension ({kernel_out}) to be divisible by feature_group_count. For "
            f"feature_group_count = {feature_groups}."
        )
    return kernel_out, batch_groups


def _convolution_rule(op: ir.Op, module: ir.Module) -> Sequence[ir.Type] | None:
    def padding(spatial: int) -> _Padding:
        check_padding_shape(op)
        return matrix(op, "padding", spatial)

    return _conv_rule(op, padding)


def _lower_conv(
    ctx: LoweringContext, op: ir.Op, lhs: HloInstruction, rhs: HloInstruction, padding: Sequence[tuple[int, int]]
) -> HloInstruction:
    dims: ir.ConvDimensionNumbers = op.attributes["dimension_numbers"]
    window = tuple(
        dataclasses.replace(w, size=rhs.shape.dimensions[d], padding_low=low, padding_high=high)
        for w, d, (low, high) in zip(
            check_window(op, [1] * len(padding), *_WINDOW), dims.kernel_spatial_dimensions, padding, strict=True
        )
    )
    labels = ConvolutionDimensionNumbers(*dataclasses.astuple(dims))
    attributes = dot_attributes(op)
    for name in ("feature_group_count", "batch_group_count"):
        if op.attributes[name] != 1:
            attributes[name] = int(op.attributes[name])
    shape = ctx.result_shape(op)
    return ctx.add(Opcode.CONVOLUTION, lhs, rhs, shape=shape, window=window, dim_labels=labels, **attributes)


def _lower_convolution(ctx: LoweringContext, op: ir.Op, lhs: HloInstruction, rhs: HloInstruction) -> HloInstruction:
    """HLO `convolution`."""
    return _lower_conv(ctx, op, lhs, rhs, matrix(op, "padding", lhs.shape.rank - 2))


_CONV = {
    "window_strides": OPTIONAL_INTS,
    "lhs_dilation": OPTIONAL_INTS,
    "rhs_dilation": OPTIONAL_INTS,
    "window_reversal": Attribute(Kind.BOOLS, None),
    "dimension_numbers": Attribute(
        Kind.STRUCT, classes=(ir.ConvDimensionNumbers,), says="Structure of dimension information for conv op"
    ),
    "feature_group_count": SIZE,
    "batch_group_count": SIZE,
    "precision_config": PRECISION,
}

define(
    "stablehlo.convolution",
    (Values("lhs"), Values("rhs", TENSOR_OR_PER_AXIS)),
    result_types=TENSOR_OR_PER_AXIS,
    rule=_convolution_rule,
    lower=_lower_convolution,
    attributes={**_CONV, "padding": Attribute(Kind.ELEMENTS, None)},
    assembly="( %* ) dim_numbers = dimension_numbers:convolution , window = { <window> } attr-dict : :functional:",
    doc=(
        "Slides the kernel (rhs) over the input (lhs): each result element is the sum, over a window and the input "
        "features of a group, of products. `dimension_numbers` says which dimension is batch, feature or spatial; "
        "`padding`, `window_strides`, `lhs_dilation` (between input elements), `rhs_dilation` (between kernel "
        "elements) and `window_reversal` place the windows."
    ),
)


def _dynamic_conv_rule(op: ir.Op, module: ir.Module) -> Sequence[ir.Type] | None:
    def padding(spatial: int) -> _Padding | None:
        shape, known = tensor(op, 2).shape, ir.constant_of(op.operands[2])
        if shape != (spatial, 2):
            op.fail(f"expects padding to be of shape [{spatial}, 2], but got [{list_text(shape)}]")
        return None if known is None else [(int(low), int(high)) for low, high in known]

    return _conv_rule(op, padding)


def _lower_dynamic_conv(
    ctx: LoweringContext, op: ir.Op, lhs: HloInstruction, rhs: HloInstruction, padding: HloInstruction
) -> HloInstruction:
    """HLO `convolution`, once the padding is known."""
    amounts = ctx.static_value(padding, op, "padding")
    return _lower_conv(ctx, op, lhs, rhs, [(int(low), int(high)) for low, high in amounts])


define(
    "stablehlo.dynamic_conv",
    (Values("lhs"), Values("rhs"), Values("padding", STATIC_INTEGER_MATRIX, static=True)),
    rule=_dynamic_conv_rule,
    lower=_lower_dynamic_conv,
    attributes=_CONV,
    releases="0.9 0.20",
    doc="`convolution` with padding that an operand gives.",
)
