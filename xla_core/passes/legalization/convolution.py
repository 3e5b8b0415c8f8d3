"""The decomposition of convolution into a patch matrix (im2col) and a dot."""

from __future__ import annotations

import itertools
import math

from xla_core.hlo.ir.builder import Builder
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.attributes import PaddingDimension, SliceDimension, WindowDimension
from xla_core.hlo.table.opcode import Opcode
from xla_core.passes.expanders.convolution_canonicalizer import ConvolutionCanonicalizer
from xla_core.passes.legalization.decompositions import decomposition

_MOST_TAPS = 1024  # the most window elements of a kernel that is decomposed


@decomposition(Opcode.CONVOLUTION)
def _convolution(i: HloInstruction, b: Builder) -> HloInstruction | None:
    """Concatenates a slice of the padded input for every window element, and contracts it with the kernel in a dot.

    Feature groups and batch groups become the batch dimension of the dot. A convolution whose dimensions are not in
    canonical order is canonicalized first.
    """
    window: tuple[WindowDimension, ...] = i.attribute("window")
    if math.prod(w.size for w in window) > _MOST_TAPS:
        return None
    canonicalizer = ConvolutionCanonicalizer()
    if canonicalizer.matches(i):
        return canonicalizer.expand(i, b)
    x, kernel = i.operands
    groups, batches = i.attribute("feature_group_count"), i.attribute("batch_group_count")
    if batches > 1:  # groups of the batch become groups of features
        sizes = x.shape.dimensions
        parted = b.reshape(x, (batches, sizes[0] // batches, *sizes[1:]))
        rank = parted.shape.rank
        moved = b.transpose(parted, [*range(1, rank - 1), 0, rank - 1])
        x, groups = b.reshape(moved, (sizes[0] // batches, *sizes[1:-1], batches * sizes[-1])), batches
    zero = b.constant(0, x.shape.with_dimensions(()))
    edge = PaddingDimension(0, 0)
    padded = b.add(Opcode.PAD, x, zero, padding=(edge, *(w.padding for w in window), edge))
    out = i.shape.dimensions[1:-1]
    batch, features = x.shape.dimensions[0], x.shape.dimensions[-1]
    parts = []
    for tap in itertools.product(*(range(w.size) for w in window)):
        ranges = map(WindowDimension.element, window, tap, out)
        part = b.add(Opcode.SLICE, padded, slice=(SliceDimension(0, batch), *ranges, SliceDimension(0, features)))
        parts.append(b.reshape(part, (batch * math.prod(out), 1, groups, features // groups)))
    if not parts:
        return b.constant(0, i.shape.without_layout())
    left = b.add(Opcode.CONCATENATE, *parts, dimensions=(1,))
    inner, outer = kernel.shape.dimensions[-2:]
    right = b.reshape(kernel, (len(parts), inner, groups, outer // groups))
    product = b.add(
        Opcode.DOT,
        left,
        right,
        shape=i.shape.with_dimensions((groups, batch * math.prod(out), outer // groups)),
        lhs_batch_dims=(2,),
        rhs_batch_dims=(2,),
        lhs_contracting_dims=(1, 3),
        rhs_contracting_dims=(0, 1),
        operand_precision=i.attribute("operand_precision"),
    )
    return b.reshape(b.transpose(product, [1, 0, 2]), i.shape.dimensions)
