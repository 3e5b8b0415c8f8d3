"""convolution_canonicalizer: gives convolutions a canonical dimension order and, optionally, plain windows.

(XLA: xla/service/cpu/conv_canonicalization.h.)
"""

from __future__ import annotations

from collections.abc import Callable

from xla_core.hlo.ir.builder import Builder
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.attributes import ConvolutionDimensionNumbers, PaddingDimension, WindowDimension
from xla_core.hlo.table.opcode import Opcode
from xla_core.passes.expanders.expander import OpExpander


def _canonical_numbers(spatial: int) -> ConvolutionDimensionNumbers:
    """The dimension numbers b01f_01io->b01f, with `spatial` spatial dimensions."""
    dims = tuple(range(spatial))
    outer = tuple(d + 1 for d in dims)
    return ConvolutionDimensionNumbers(0, spatial + 1, outer, spatial, spatial + 1, dims, 0, spatial + 1, outer)


def is_canonical_convolution(convolution: HloInstruction, *, plain: bool = False) -> bool:
    """Whether dimensions are in the order b01f_01io->b01f.

    With `plain` also: whether there is one group, no padding, no base dilation and no reversal, so that each element of
    the result is a sum over elements of the input at fixed distances.
    """
    window: tuple[WindowDimension, ...] = convolution.attribute("window")
    if convolution.attribute("dim_labels") != _canonical_numbers(len(window)):
        return False
    return not plain or (
        convolution.attribute("feature_group_count") == convolution.attribute("batch_group_count") == 1
        and all(d == WindowDimension(d.size, d.stride, window_dilation=d.window_dilation) for d in window)
    )


class ConvolutionCanonicalizer(OpExpander):
    """Transposes operands and result, so that inputs are [batch, spatial..., feature] and kernels
    [spatial..., input feature, output feature].

    If `plain`, padding and base dilation become a pad of the input, and window reversal becomes a reverse of the
    kernel. Each group becomes a convolution of its own, and the results are concatenated.
    """

    opcodes = frozenset({Opcode.CONVOLUTION})

    def __init__(self, only: Callable[[HloInstruction], bool] | None = None, *, plain: bool = False) -> None:
        super().__init__(only)
        self._plain = plain

    def matches(self, instruction: HloInstruction) -> bool:
        return not is_canonical_convolution(instruction, plain=self._plain)

    def expand(self, instruction: HloInstruction, b: Builder) -> HloInstruction:
        n: ConvolutionDimensionNumbers = instruction.attribute("dim_labels")
        image, kernel = instruction.operands
        image = b.transpose(image, [n.input_batch, *n.input_spatial, n.input_feature])
        kernel = b.transpose(kernel, [*n.kernel_spatial, n.kernel_input_feature, n.kernel_output_feature])
        order = [n.output_batch, *n.output_spatial, n.output_feature]
        if self._plain:
            result = _plain_convolution(instruction, image, kernel, b)
        else:
            sizes = [instruction.shape.dimensions[d] for d in order]
            shape, numbers = instruction.shape.with_dimensions(sizes), _canonical_numbers(len(n.input_spatial))
            result = b.clone(instruction, [image, kernel], shape=shape, dim_labels=numbers)
        return b.transpose(result, [order.index(d) for d in range(len(order))])


def _plain_convolution(
    convolution: HloInstruction, image: HloInstruction, kernel: HloInstruction, b: Builder
) -> HloInstruction:
    """A convolution of operands in canonical order, as one convolution with a plain window for each group."""
    window: tuple[WindowDimension, ...] = convolution.attribute("window")
    edge, last = PaddingDimension(0, 0), len(window) + 1
    padding = (edge, *(d.padding for d in window), edge)
    if any(p != edge for p in padding):
        image = b.add(Opcode.PAD, image, b.constant(0, image.shape.with_dimensions(())), padding=padding)
    reversed_dims = tuple(i for i, d in enumerate(window) if d.window_reversal and d.size > 1)
    if reversed_dims:
        kernel = b.add(Opcode.REVERSE, kernel, dimensions=reversed_dims)
    by_feature = convolution.attribute("feature_group_count") > 1
    groups = max(convolution.attribute("feature_group_count"), convolution.attribute("batch_group_count"))
    parts = [
        b.add(
            Opcode.CONVOLUTION,
            _group(image, last if by_feature else 0, number, groups, b),
            _group(kernel, last, number, groups, b),
            window=tuple(
                WindowDimension(d.size, d.stride, window_dilation=d.window_dilation if d.size > 1 else 1)
                for d in window
            ),
            dim_labels=_canonical_numbers(len(window)),
        )
        for number in range(groups)
    ]
    return parts[0] if groups == 1 else b.add(Opcode.CONCATENATE, *parts, dimensions=(last,))


def _group(operand: HloInstruction, dimension: int, number: int, groups: int, b: Builder) -> HloInstruction:
    """Slice `number` of a dimension that is divided into `groups` equal parts."""
    size = operand.shape.dimensions[dimension] // groups
    return b.slice_in_dim(operand, dimension, number * size, (number + 1) * size)
