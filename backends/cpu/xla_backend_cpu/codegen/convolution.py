"""Maps a convolution to a blocked product that reads the image in place, without a patch matrix (im2col).

`ConvolutionCanonicalizer` runs before and makes convolutions canonical: dimensions `b01f_01io->b01f`, no padding,
no base dilation, no reversal, one group. `narrow_product.py` emits those of few features.
"""

from __future__ import annotations

from xla_backend_cpu.codegen.blocked_product import BlockedProduct, Group
from xla_core.hlo import ElementType, HloInstruction
from xla_core.passes import is_canonical_convolution

_MOST_GROUPS = 8  # with more groups, the generic loops are faster than many small convolutions


def is_blocked_convolution(conv: HloInstruction) -> bool:
    """Whether a convolution becomes blocked products, once `ConvolutionCanonicalizer` has rewritten it."""
    groups = conv.attribute("feature_group_count") * conv.attribute("batch_group_count")
    return (
        groups <= _MOST_GROUPS
        and len(conv.attribute("window")) <= 3
        and conv.shape.element_type in (ElementType.F32, ElementType.F64)
        and all(o.shape.element_type is conv.shape.element_type for o in conv.operands)
    )


def is_canonical(conv: HloInstruction) -> bool:
    """Whether `convolution_product` accepts the convolution."""
    return (
        is_blocked_convolution(conv)
        and is_canonical_convolution(conv, plain=True)
        and all(s.layout is None or s.layout.is_row_major for s in (conv.shape, *(o.shape for o in conv.operands)))
    )


def convolution_product(conv: HloInstruction) -> BlockedProduct:
    """The sizes and strides of a canonical convolution. Missing spatial dimensions, up to three, have size 1."""
    image, kernel = (o.shape.dimensions for o in conv.operands)
    window = conv.attribute("window")
    fill = (1,) * (3 - len(window))
    size = (*fill, *image[1:-1])
    out = (*fill, *conv.shape.dimensions[1:-1])
    stride = (*fill, *(d.stride for d in window))
    dilation = (*fill, *(d.window_dilation for d in window))
    taps = (*fill, *(d.size for d in window))
    channels, features = image[-1], kernel[-1]
    steps = (size[1] * size[2] * channels, size[2] * channels, channels)  # one plane, line, pixel of the image
    out_steps = (out[1] * out[2] * features, out[2] * features, features)
    return BlockedProduct(
        groups=(
            Group(image[0], size[0] * steps[0], 0, out[0] * out_steps[0]),
            Group(out[0], stride[0] * steps[0], 0, out_steps[0]),
        ),
        rows=(out[1], stride[1] * steps[1], out_steps[1]),
        columns=(out[2], stride[2] * steps[2], out_steps[2]),
        taps=(*((n, d * s) for n, d, s in zip(taps, dilation, steps, strict=True)), (channels, 1)),
        features=features,
        right_row=features,
    )
