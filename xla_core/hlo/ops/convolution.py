"""Convolution."""

from __future__ import annotations

from collections.abc import Sequence

from xla_core.errors import InvalidArgumentError
from xla_core.hlo.attributes import ConvolutionDimensionNumbers
from xla_core.hlo.op_table import Attributes
from xla_core.hlo.ops.contraction import contraction_result_type
from xla_core.hlo.ops.rules import array, attr, check, check_permutation, dims, entry
from xla_core.hlo.ops.window import check_window
from xla_core.hlo.shape import Shape

__all__: list[str] = []


def _convolution(operands: Sequence[Shape], attributes: Attributes, declared: Shape | None) -> Shape:
    lhs, rhs = array(operands[0]), array(operands[1])
    labels: ConvolutionDimensionNumbers = attributes["dim_labels"]
    window = attributes.get("window", ())
    feature_groups, batch_groups = attributes.get("feature_group_count", 1), attributes.get("batch_group_count", 1)
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


entry(
    "convolution",
    2,
    _convolution,
    None,
    doc="Sums of products of input windows and kernels, in groups. (XLA: operation semantics, ConvGeneralDilated.)",
    window=attr("window", ()),
    dim_labels=attr("dim_labels"),
    feature_group_count=attr("int", 1),
    batch_group_count=attr("int", 1),
    operand_precision=attr("enums", ()),
    conv_kind=attr("enum", None),
)
