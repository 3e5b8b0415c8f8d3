"""Convolution."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from xla_core.errors import InvalidArgumentError
from xla_core.hlo.evaluation.environment import Value
from xla_core.hlo.evaluation.evaluation_context import EvaluationContext
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.ops.contraction import charge_products, contraction_result_type, factors, products
from xla_core.hlo.ops.conversion import convert
from xla_core.hlo.ops.numerics import CLASS, round_to, widen
from xla_core.hlo.ops.rules import OpGroup, array, attr, check, check_permutation, dims, product_flops
from xla_core.hlo.ops.window import at_offset, check_window, padded, windowed
from xla_core.hlo.table.attributes import ConvolutionDimensionNumbers, Window, WindowDimension
from xla_core.hlo.table.op_table import Attributes, Trait
from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.values.shape import Shape

entry = OpGroup("convolution").entry


def _convolution_shape(operands: Sequence[Shape], attributes: Attributes, declared: Shape | None) -> Shape:
    lhs, rhs = array(operands[0]), array(operands[1])
    labels: ConvolutionDimensionNumbers = attributes["dim_labels"]
    window, feature_groups, batch_groups = (
        attributes[name] for name in ("window", "feature_group_count", "batch_group_count")
    )
    check(
        lhs.rank == rhs.rank and lhs.rank >= 2,
        lambda: f"operands have ranks {lhs.rank} and {rhs.rank}; expected one rank >= 2",
    )
    for axes, what in (
        ((labels.input_batch, labels.input_feature, *labels.input_spatial), "the input's labels"),
        ((labels.kernel_input_feature, labels.kernel_output_feature, *labels.kernel_spatial), "the kernel's labels"),
        ((labels.output_batch, labels.output_feature, *labels.output_spatial), "the output's labels"),
    ):
        check_permutation(axes, lhs.rank, what)
    check_window(window, lhs.rank - 2)
    check(feature_groups > 0 and batch_groups > 0, "group counts must be positive")
    check(feature_groups == 1 or batch_groups == 1, "feature and batch groups exclude each other")
    sizes = [rhs.dimensions[d] for d in labels.kernel_spatial]
    check(sizes == [w.size for w in window], lambda: f"the window's sizes are not the kernel's, {sizes}")
    batch, features = lhs.dimensions[labels.input_batch], lhs.dimensions[labels.input_feature]
    in_features, out_features = (
        rhs.dimensions[labels.kernel_input_feature],
        rhs.dimensions[labels.kernel_output_feature],
    )
    if features != in_features * feature_groups:
        raise InvalidArgumentError(
            f"the input has {features} features, the kernel {in_features} x {feature_groups} feature groups"
        )
    if out_features % feature_groups or out_features % batch_groups or batch % batch_groups:
        raise InvalidArgumentError("group counts must divide the output features, and batch groups the batch")
    result = [0] * lhs.rank
    result[labels.output_batch] = batch // batch_groups
    result[labels.output_feature] = out_features
    for source, target, w in zip(labels.input_spatial, labels.output_spatial, window, strict=True):
        result[target] = w.output_size(lhs.dimensions[source])
    return dims(contraction_result_type(lhs, rhs, declared), result)


def _convolution(context: EvaluationContext, instruction: HloInstruction, values: list[Value]) -> Value:
    """Computes each group as a matrix product of input patches and kernel columns."""
    lhs, rhs, dtype = factors(instruction, values)
    labels: ConvolutionDimensionNumbers = instruction.attribute("dim_labels")
    window, feature_groups, batch_groups = map(
        instruction.attribute, ("window", "feature_group_count", "batch_group_count")
    )
    lhs = lhs.transpose([labels.input_batch, labels.input_feature, *labels.input_spatial])
    rhs = rhs.transpose([labels.kernel_output_feature, labels.kernel_input_feature, *labels.kernel_spatial])
    rhs = np.flip(rhs, tuple(2 + i for i, w in enumerate(window) if w.window_reversal))
    groups = feature_groups * batch_groups
    sizes = windowed(lhs.shape[2:], window)
    if lhs.dtype.type(0) != 0:
        lhs = widen(lhs)  # the element type has no zero for padding
    lhs = padded(context, lhs, lhs.dtype.type(0), (WindowDimension(), WindowDimension(), *window))
    batch, features = lhs.shape[0] // batch_groups, rhs.shape[1]
    spatial = lhs.shape[2:]
    if batch_groups > 1:
        grouped = lhs.reshape(groups, batch, features, *spatial)
    else:
        grouped = np.moveaxis(lhs.reshape(batch, groups, features, *spatial), 1, 0)
    kernel = rhs.reshape(groups, rhs.shape[0] // groups, features, *rhs.shape[2:])
    result = _grouped(context, grouped, kernel, window, sizes, dtype)  # group, batch, spatial, features
    result = np.moveaxis(result, 0, -2).reshape(batch, *sizes, rhs.shape[0])
    order = [labels.output_batch, *labels.output_spatial, labels.output_feature]
    return convert(result.transpose(np.argsort(order)), instruction.shape.dtype)


_LARGEST_PATCHES = 1 << 25


def _grouped(
    context: EvaluationContext,
    lhs: np.ndarray,
    kernel: np.ndarray,
    window: Window,
    sizes: Sequence[int],
    dtype: np.dtype,
) -> np.ndarray:
    """Convolves lhs [group, batch, feature, space] with kernel [group, output, feature, space].

    It gathers all patches at once if these are few, and else handles one kernel position after another.
    """
    groups, batch, features = lhs.shape[:3]
    outputs, offsets = kernel.shape[1], [w.size for w in window]
    rows, taps = batch * math.prod(sizes), math.prod(offsets)

    charge_products(context, groups * rows * outputs, features * taps)

    def patch(offset: Sequence[int]) -> np.ndarray:
        context.check_time()
        return np.moveaxis(lhs[(slice(None),) * 3 + at_offset(offset, window, sizes)], 2, -1).reshape(
            groups, rows, features
        )

    if groups * rows * features * taps <= _LARGEST_PATCHES or CLASS[dtype] not in "fec":
        context.charge(groups * rows * taps * features, lhs.dtype.itemsize)
        patches = np.empty((groups, rows, taps, features), lhs.dtype)
        for number, offset in enumerate(np.ndindex(*offsets)):
            patches[:, :, number] = patch(offset)
        columns = np.moveaxis(kernel.reshape(groups, outputs, features, taps), 1, -1).swapaxes(1, 2)
        total = products(
            patches.reshape(groups, rows, taps * features), columns.reshape(groups, taps * features, outputs), dtype
        )
    else:
        wide, lhs = widen(kernel), widen(lhs)
        sums = np.zeros((groups, rows, outputs), wide.dtype)
        for offset in np.ndindex(*offsets):
            sums += patch(offset) @ wide[(slice(None),) * 3 + offset].swapaxes(1, 2)
        total = round_to(sums, dtype)
    return total.reshape(groups, batch, *sizes, outputs)


def _convolution_flops(convolution: HloInstruction) -> float:
    kernel = convolution.operand(1).shape
    outputs = kernel.dimensions[convolution.attribute("dim_labels").kernel_output_feature]
    return product_flops(convolution.shape, kernel.num_elements / max(outputs, 1))


entry(
    Opcode.CONVOLUTION,
    2,
    _convolution_shape,
    _convolution,
    Trait.EXACT_IN_WIDER_INTEGERS,
    Trait.SIGNLESS,
    Trait.PRODUCT,
    Trait.SUPERLINEAR,
    doc="Sums of products of input windows and kernels, in groups. (XLA: operation semantics, ConvGeneralDilated.)",
    flops=_convolution_flops,
    window=attr("window", ()),
    dim_labels=attr("dim_labels"),
    feature_group_count=attr("int", 1),
    batch_group_count=attr("int", 1),
    operand_precision=attr("enums", (), values="default high highest"),
    conv_kind=attr("enum", None, values="fprop dgrad wgrad"),
)
