"""convolution_canonicalization: batch first, features last, in every convolution. (XLA:
xla/service/cpu/conv_canonicalization.h.)
"""

from __future__ import annotations

from xla_core.hlo.attributes import ConvolutionDimensionNumbers
from xla_core.hlo.instruction import HloInstruction
from xla_core.passes.expander import OpExpander
from xla_core.passes.rewriter import Builder

__all__ = ["ConvolutionCanonicalization", "canonical_numbers"]


def canonical_numbers(spatial: int) -> ConvolutionDimensionNumbers:
    """b01f_01io->b01f, with so many spatial dimensions."""
    dims = tuple(range(spatial))
    outer = tuple(d + 1 for d in dims)
    return ConvolutionDimensionNumbers(0, spatial + 1, outer, spatial, spatial + 1, dims, 0, spatial + 1, outer)


class ConvolutionCanonicalization(OpExpander):
    """Transposes operands and result, so that inputs are [batch, spatial..., feature] and kernels
    [spatial..., input feature, output feature].
    """

    name = "convolution-canonicalization"
    opcodes = frozenset({"convolution"})

    def matches(self, instruction: HloInstruction) -> bool:
        numbers = instruction.attributes["dim_labels"]
        return bool(numbers != canonical_numbers(len(numbers.input_spatial)))

    def expand(self, instruction: HloInstruction, b: Builder) -> HloInstruction:
        n: ConvolutionDimensionNumbers = instruction.attributes["dim_labels"]
        x, kernel = instruction.operands
        wanted = canonical_numbers(len(n.input_spatial))
        left = b.transpose(x, [n.input_batch, *n.input_spatial, n.input_feature])
        right = b.transpose(kernel, [*n.kernel_spatial, n.kernel_input_feature, n.kernel_output_feature])
        order = [n.output_batch, *n.output_spatial, n.output_feature]
        sizes = [instruction.shape.dimensions[d] for d in order]
        plain = b.clone(instruction, [left, right], shape=instruction.shape.with_dimensions(sizes), dim_labels=wanted)
        return b.transpose(plain, [order.index(d) for d in range(len(order))])
