"""convolution-canonicalizer, where the target wants plain windows."""

from __future__ import annotations

import pytest

from xla_core.passes import ConvolutionCanonicalizer, create_pass, is_canonical_convolution

CONVOLUTION = "ROOT r = f32[{}] convolution(x, y), window={{{}}}, dim_labels={}{}"


@pytest.mark.parametrize(
    ("image", "kernel", "result", "window", "labels", "extra", "expected"),
    [
        ("2,6,3", "3,3,4", "2,6,4", "size=3 pad=1_1", "b0f_0io->b0f", "", ["constant", "pad", "convolution"]),
        ("2,4,3", "3,3,4", "2,5,4", "size=3 lhs_dilate=2", "b0f_0io->b0f", "", ["constant", "pad", "convolution"]),
        ("2,6,3", "3,3,4", "2,4,4", "size=3 rhs_reversal=1", "b0f_0io->b0f", "", ["reverse", "convolution"]),
        ("2,3,6", "4,3,3", "2,4,4", "size=3", "bf0_oi0->bf0", "", ["transpose", "transpose", "convolution", "transpose"]),
        (
            "2,6,4", "3,2,8", "2,4,8", "size=3", "b0f_0io->b0f", ", feature_group_count=2",
            ["slice", "slice", "convolution", "slice", "slice", "convolution", "concatenate"],
        ),
        (
            "4,6,3", "3,3,8", "2,4,8", "size=3", "b0f_0io->b0f", ", batch_group_count=2",
            ["slice", "slice", "convolution", "slice", "slice", "convolution", "concatenate"],
        ),
    ],
    ids=["padding", "base dilation", "reversal", "order", "feature groups", "batch groups"],
)  # fmt: skip
def test_convolutions_with_plain_windows(check_pass, opcodes, image, kernel, result, window, labels, extra, expected):
    text = f"x = f32[{image}] parameter(0)\ny = f32[{kernel}] parameter(1)\n"
    text += CONVOLUTION.format(result, window, labels, extra)
    module = check_pass(text, ConvolutionCanonicalizer(plain=True))
    assert opcodes(module) == expected
    convolutions = [i for i in module.entry.instructions if i.opcode == "convolution"]
    assert all(is_canonical_convolution(c, plain=True) for c in convolutions)
    assert not create_pass("convolution-canonicalizer").run(module)
