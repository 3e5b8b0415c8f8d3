"""Convolution as a blocked product that reads the image in place: no patch matrix is built.

The pipeline has made every convolution canonical before: dimensions `b01f_01io->b01f` for up to three spatial
dimensions, no padding, no base dilation, no reversal, one group (`passes/convolution_canonicalizer.py`).
"""

from __future__ import annotations

from xla_backend_cpu.codegen.blocked_product import BlockedProduct, Group
from xla_core.hlo import ElementType, HloInstruction

__all__ = ["convolution_product", "is_canonical"]


def is_canonical(conv: HloInstruction) -> bool:
    """Whether `convolution_product` takes it."""
    numbers = conv.attribute("dim_labels")
    window = conv.attribute("window")
    spatial = len(window)
    middle = tuple(range(1, spatial + 1))
    return (
        spatial <= 3
        and conv.shape.element_type in (ElementType.F32, ElementType.F64)
        and all(o.shape.element_type is conv.shape.element_type for o in conv.operands)
        and conv.attribute("feature_group_count") == conv.attribute("batch_group_count") == 1
        and (numbers.input_batch, numbers.input_spatial, numbers.input_feature) == (0, middle, spatial + 1)
        and (numbers.output_batch, numbers.output_spatial, numbers.output_feature) == (0, middle, spatial + 1)
        and numbers.kernel_spatial == tuple(range(spatial))
        and (numbers.kernel_input_feature, numbers.kernel_output_feature) == (spatial, spatial + 1)
        and all(d.padding_low == d.padding_high == 0 and d.base_dilation == 1 for d in window)
        and not any(d.window_reversal for d in window)
        and all(s.layout is None or s.layout.is_row_major for s in (conv.shape, *(o.shape for o in conv.operands)))
    )


def convolution_product(conv: HloInstruction) -> BlockedProduct:
    """The numbers of a canonical convolution. Spatial dimensions are filled up to three with ones."""
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
