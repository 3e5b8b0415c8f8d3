"""Rewrites that a target asks for: async-to-sync, fft-decomposer, float-upcaster, dot-strength-reduction, and
convolution-canonicalizer with plain windows.
"""

from __future__ import annotations

import pytest

from xla_core.passes import ConvolutionCanonicalizer, create_pass, is_canonical_convolution


def test_a_start_and_its_done_become_the_op(check_pass, opcodes):
    text = """HloModule m
      sum { a = f32[] parameter(0)
            b = f32[] parameter(1)
            ROOT c = f32[] add(a, b) }
      ENTRY e {
        x = f32[4] parameter(0)
        start = f32[4] all-reduce-start(x), replica_groups={{0}}, to_apply=sum
        y = f32[4] negate(x)
        done = f32[4] all-reduce-done(start)
        ROOT r = f32[4] add(done, y)
      }"""
    assert sorted(opcodes(check_pass(text, "async-to-sync"))) == ["add", "all-reduce", "negate"]


def test_an_asynchronous_copy_becomes_a_copy(check_pass, opcodes):
    text = """x = f32[4] parameter(0)
      start = (f32[4], f32[4], u32[]) copy-start(x)
      ROOT r = f32[4] copy-done(start)"""
    assert opcodes(check_pass(text, "async-to-sync")) == ["copy"]
    check_pass("x = f32[4] parameter(0)\nROOT r = f32[4] copy(x)", "async-to-sync", changes=False)


@pytest.mark.parametrize(
    ("operand", "result", "kind"), [("c64", "c64", "FFT"), ("c64", "c64", "IFFT"), ("f32", "c64", "RFFT")]
)
def test_an_fft_runs_over_one_dimension_at_a_time(check_pass, opcodes, operand, result, kind):
    last = 4 if kind == "RFFT" else 6
    text = f"""x = {operand}[2,3,4,6] parameter(0)
      ROOT r = {result}[2,3,4,{last}] fft(x), fft_type={kind}, fft_length={{4,6}}"""
    assert opcodes(check_pass(text, "fft-decomposer")) == ["fft", "transpose", "fft", "transpose"]


def test_a_real_inverse_fft_ends_with_the_last_dimension(check_pass, opcodes):
    text = """x = c64[3,5,4] parameter(0)
      ROOT r = f32[3,5,6] fft(x), fft_type=IRFFT, fft_length={3,5,6}"""
    made = opcodes(check_pass(text, "fft-decomposer"))
    assert made == ["transpose", "fft", "transpose", "transpose", "fft", "transpose", "fft"]
    check_pass(
        "x = c64[6] parameter(0)\nROOT r = c64[6] fft(x), fft_type=FFT, fft_length={6}", "fft-decomposer", changes=False
    )


DOT = "ROOT r = {}[3] dot(x, y), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}"


def test_dots_of_small_floats_are_computed_in_f32(check_pass, opcodes):
    text = "x = bf16[3,4] parameter(0)\ny = bf16[4] parameter(1)\n"
    assert opcodes(check_pass(text + DOT.format("bf16"), "float-upcaster")) == ["convert", "convert", "dot", "convert"]
    assert opcodes(check_pass(text + DOT.format("f32"), "float-upcaster")) == ["convert", "convert", "dot"]
    wide = "x = f32[3,4] parameter(0)\ny = f32[4] parameter(1)\n"
    check_pass(wide + DOT.format("f32"), "float-upcaster", changes=False)


REDUCTION = ["broadcast", "multiply", "constant", "reduce"]


def test_a_matrix_times_a_vector_is_a_reduction(check_pass, opcodes):
    text = "x = f32[3,4] parameter(0)\ny = f32[4] parameter(1)\n" + DOT.format("f32")
    assert sorted(opcodes(check_pass(text, "dot-strength-reduction"))) == sorted(REDUCTION)


def test_so_is_a_batch_of_vectors_times_transposed_matrices(check_pass, opcodes):
    text = """x = f64[2,1,4] parameter(0)
      y = f64[2,5,4] parameter(1)
      ROOT r = f64[2,1,5] dot(x, y), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={2}"""
    made = opcodes(check_pass(text, "dot-strength-reduction"))
    assert sorted(made) == sorted([*REDUCTION, "reshape", "reshape"])


@pytest.mark.parametrize(
    "text",
    [
        "x = s32[3,4] parameter(0)\ny = s32[4] parameter(1)\n" + DOT.format("s32"),
        "x = f32[3,1] parameter(0)\ny = f32[1] parameter(1)\n" + DOT.format("f32"),
        "x = f32[4,3] parameter(0)\ny = f32[4] parameter(1)\n"
        "ROOT r = f32[3] dot(x, y), lhs_contracting_dims={0}, rhs_contracting_dims={0}",
        "x = f32[3,4] parameter(0)\ny = f32[4,2] parameter(1)\n"
        "ROOT r = f32[3,2] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
        "x = f32[0,4] parameter(0)\ny = f32[4] parameter(1)\n"
        "ROOT r = f32[0] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
    ],
    ids=["integers", "one product an element", "columns", "two columns", "empty"],
)
def test_other_dots_stay(check_pass, text):
    check_pass(text, "dot-strength-reduction", changes=False)


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
