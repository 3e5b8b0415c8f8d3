"""Brings every floating convolution into the form that `codegen/convolution.py` emits.

Dimensions become `b01f_01io->b01f` by transposes; padding and base dilation become a `pad` (which fuses into what made
the image); a reversed window becomes a `reverse` of the kernel; groups become one convolution a group where there are
few. (XLA: xla/service/cpu/conv_canonicalization.h does the first of these.)
"""

from __future__ import annotations

import dataclasses

from xla_backend_cpu.codegen.convolution import is_canonical
from xla_core.hlo import (
    ConvolutionDimensionNumbers,
    HloComputation,
    HloInstruction,
    HloModule,
    PaddingDimension,
    Shape,
    SliceDimension,
    WindowDimension,
)
from xla_core.passes import HloPass

__all__ = ["ConvolutionCanonicalizer"]

_MOST_GROUPS = 8  # more, and the generic loops are better than that many small convolutions


class ConvolutionCanonicalizer(HloPass):
    """See the module's docstring."""

    name = "cpu-convolution-canonicalizer"

    def run(self, module: HloModule) -> bool:
        """Rewrites each convolution that can be brought into the form."""
        changed = False
        for computation in module.computations:
            for instruction in computation.instructions:
                if instruction.opcode == "convolution" and _is_candidate(instruction) and not is_canonical(instruction):
                    _rewrite(computation, instruction)
                    changed = True
        return changed


def _is_candidate(conv: HloInstruction) -> bool:
    groups = conv.attribute("feature_group_count") * conv.attribute("batch_group_count")
    return (
        groups <= _MOST_GROUPS
        and len(conv.attribute("window")) <= 3
        and conv.shape.element_type.value in ("f32", "f64")
        and all(o.shape.element_type is conv.shape.element_type for o in conv.operands)
    )


def _rewrite(computation: HloComputation, conv: HloInstruction) -> None:
    numbers: ConvolutionDimensionNumbers = conv.attribute("dim_labels")
    window: tuple[WindowDimension, ...] = conv.attribute("window")
    spatial = len(window)
    image = _transpose(
        computation, conv.operand(0), (numbers.input_batch, *numbers.input_spatial, numbers.input_feature)
    )
    kernel = _transpose(
        computation,
        conv.operand(1),
        (*numbers.kernel_spatial, numbers.kernel_input_feature, numbers.kernel_output_feature),
    )
    image = _pad(computation, image, window)
    reversed_dims = tuple(i for i, d in enumerate(window) if d.window_reversal and d.size > 1)
    if reversed_dims:
        kernel = computation.add("reverse", kernel, dimensions=reversed_dims)
    plain = tuple(
        WindowDimension(d.size, d.stride, window_dilation=d.window_dilation if d.size > 1 else 1) for d in window
    )
    middle = tuple(range(1, spatial + 1))
    labels = ConvolutionDimensionNumbers(
        0, spatial + 1, middle, spatial, spatial + 1, tuple(range(spatial)), 0, spatial + 1, middle
    )
    result = _grouped(computation, conv, image, kernel, plain, labels)
    order = (numbers.output_batch, *numbers.output_spatial, numbers.output_feature)
    inverse = tuple(order.index(d) for d in range(len(order)))
    computation.replace_with(conv, _transpose(computation, result, inverse))


def _grouped(
    computation: HloComputation,
    conv: HloInstruction,
    image: HloInstruction,
    kernel: HloInstruction,
    window: tuple[WindowDimension, ...],
    labels: ConvolutionDimensionNumbers,
) -> HloInstruction:
    """One convolution, or one a group and their concatenation."""
    feature_groups = conv.attribute("feature_group_count")
    batch_groups = conv.attribute("batch_group_count")
    groups = max(feature_groups, batch_groups)
    last = image.shape.rank - 1
    parts = []
    for group in range(groups):
        left = _part(computation, image, last if feature_groups > 1 else 0, group, groups)
        right = _part(computation, kernel, last, group, groups)
        parts.append(
            computation.add("convolution", left, right, window=window, dim_labels=labels, metadata=conv.metadata)
        )
    return parts[0] if groups == 1 else computation.add("concatenate", *parts, dimensions=(last,))


def _part(
    computation: HloComputation, operand: HloInstruction, dimension: int, group: int, groups: int
) -> HloInstruction:
    if groups == 1:
        return operand
    size = operand.shape.dimensions[dimension] // groups
    whole = [SliceDimension(0, n) for n in operand.shape.dimensions]
    whole[dimension] = SliceDimension(group * size, (group + 1) * size)
    return computation.add("slice", operand, slice=tuple(whole))


def _transpose(computation: HloComputation, operand: HloInstruction, order: tuple[int, ...]) -> HloInstruction:
    if order == tuple(range(len(order))):
        return operand
    return computation.add("transpose", operand, dimensions=order)


def _pad(computation: HloComputation, image: HloInstruction, window: tuple[WindowDimension, ...]) -> HloInstruction:
    edges = [
        PaddingDimension(0, 0),
        *(PaddingDimension(d.padding_low, d.padding_high, d.base_dilation - 1) for d in window),
        PaddingDimension(0, 0),
    ]
    if not any(dataclasses.astuple(e) != (0, 0, 0) for e in edges):
        return image
    zero = computation.constant(0, Shape(image.shape.element_type))
    return computation.add("pad", image, zero, padding=tuple(edges))
