"""Structured ops, legalized for a device that has only arithmetic and data movement, keep their results."""

from __future__ import annotations

import numpy as np
import pytest

from tests.xla_core.passes.legalization.devices import DOUBLE, SINGLE, device
from xla_core.errors import UnimplementedError
from xla_core.hlo.evaluator import evaluate
from xla_core.hlo.parsing.parser import parse_hlo
from xla_core.hlo.table.op_table import OPS, Trait
from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.values.element_type import ElementType as T
from xla_core.hlo.verifier import verify
from xla_core.passes.legalization import decompositions_of, legalize, unsupported_instructions
from xla_core.stablehlo import lower, op_example, parse_text
from xla_core.target import Capabilities

BARE = device(*SINGLE, pairs=T.C64)
DOUBLES = device(*DOUBLE, pairs=T.C128)


def agree(text: str, *arguments: np.ndarray, capabilities: Capabilities = BARE, rtol: float = 0.0) -> None:
    module = parse_hlo(text)
    legalize(module, capabilities.check)
    verify(module)
    assert not unsupported_instructions(module, capabilities.check)
    for expected, found in zip(evaluate(parse_hlo(text), *arguments), evaluate(module, *arguments), strict=True):
        if rtol:
            scale = np.max(np.abs(expected), initial=0)
            np.testing.assert_allclose(found, expected, rtol=rtol, atol=rtol * scale)
        else:
            np.testing.assert_array_equal(found, expected)


CONVOLUTIONS = {
    "plain": ("f32[2,7,6,3]", "f32[3,2,3,4]", "f32[2,5,5,4]", "window={size=3x2}, dim_labels=b01f_01io->b01f"),
    "strides and padding": (
        "f32[2,7,6,3]", "f32[3,3,3,4]", "f32[2,5,3,4]",
        "window={size=3x3 stride=2x2 pad=3_1x1_0}, dim_labels=b01f_01io->b01f",
    ),
    "dilation and reversal": (
        "f32[2,5,4,3]", "f32[2,3,3,4]", "f32[2,7,5,4]",
        "window={size=2x3 pad=0_0x1_1 lhs_dilate=2x2 rhs_dilate=2x2 rhs_reversal=1x1}, dim_labels=b01f_01io->b01f",
    ),
    "feature groups": (
        "f32[2,7,6]", "f32[3,3,8]", "f32[2,5,8]", "window={size=3}, dim_labels=b0f_0io->b0f, feature_group_count=2",
    ),
    "batch groups": (
        "f32[4,7,3]", "f32[3,3,8]", "f32[2,5,8]", "window={size=3}, dim_labels=b0f_0io->b0f, batch_group_count=2",
    ),
    "other order": ("f32[3,2,7]", "f32[4,3,3]", "f32[5,4,2]", "window={size=3}, dim_labels=fb0_oi0->0fb"),
    "no taps": ("f32[2,7,3]", "f32[0,3,4]", "f32[2,8,4]", "window={size=0}, dim_labels=b0f_0io->b0f"),
    "no dimension": ("f32[2,3]", "f32[3,4]", "f32[2,4]", "dim_labels=bf_io->bf"),
}  # fmt: skip


def _random(shape: str) -> np.ndarray:
    sizes = [int(n) for n in shape[shape.index("[") + 1 : -1].split(",")]
    return np.random.default_rng(0).integers(-3, 4, sizes).astype(np.float32)


@pytest.mark.parametrize("case", CONVOLUTIONS)
def test_convolution(case: str) -> None:
    x, kernel, result, rest = CONVOLUTIONS[case]
    text = f"HloModule m\nENTRY e {{\n x = {x} parameter(0)\n k = {kernel} parameter(1)\n"
    agree(f"{text} ROOT c = {result} convolution(x, k), {rest}\n}}\n", _random(x), _random(kernel))


@pytest.mark.parametrize("size", [0, 1, 2, 5, 16, 37])
@pytest.mark.parametrize("stable", ["true", "false"])
def test_sort_with_ties_and_a_second_operand(size: int, stable: str) -> None:
    text = f"""
HloModule m
less {{
  a = s32[] parameter(0)
  b = s32[] parameter(1)
  c = f32[] parameter(2)
  d = f32[] parameter(3)
  ROOT r = pred[] compare(a, b), direction=LT
}}
ENTRY e {{
  x = s32[3,{size},2] parameter(0)
  y = f32[3,{size},2] parameter(1)
  ROOT s = (s32[3,{size},2], f32[3,{size},2]) sort(x, y), dimensions={{1}}, is_stable={stable}, to_apply=less
}}
"""
    rng = np.random.default_rng(size)
    agree(text, rng.integers(0, 5, (3, size, 2)).astype(np.int32), rng.normal(size=(3, size, 2)).astype(np.float32))


def test_a_sort_calls_what_is_not_elementwise() -> None:
    text = """
HloModule m
less {
  a = s32[] parameter(0)
  b = s32[] parameter(1)
  pair = (s32[], s32[]) tuple(b, a)
  c = s32[] get-tuple-element(pair), index=1
  d = s32[] get-tuple-element(pair), index=0
  ROOT r = pred[] compare(c, d), direction=LT
}
ENTRY e {
  x = s32[2,5] parameter(0)
  ROOT s = s32[2,5] sort(x), dimensions={1}, to_apply=less
}
"""
    agree(text, np.random.default_rng(0).integers(-9, 9, (2, 5)).astype(np.int32))


def test_a_sort_compares_a_pair_once() -> None:
    text = """
HloModule m
less {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  c = f32[] subtract(a, b)
  zero = f32[] constant(0)
  ROOT r = pred[] compare(c, zero), direction=LT
}
ENTRY e {
  x = f32[2,8] parameter(0)
  ROOT s = f32[2,8] sort(x), dimensions={1}, to_apply=less
}
"""
    module = parse_hlo(text)
    legalize(module, BARE.with_ops(["subtract"], [T.F32]).with_ops(["maximum"], [T.S32]).check)
    steps = 6  # of a bitonic sort of 8 elements
    assert sum(i.opcode == Opcode.SUBTRACT for i in module.entry.instructions) == steps
    assert not any(i.opcode == Opcode.MAXIMUM for i in module.entry.instructions)  # of positions: nothing is padded
    agree(text, np.random.default_rng(0).integers(-3, 3, (2, 8)).astype(np.float32))


def test_topk() -> None:
    text = "HloModule m\nENTRY e {\n x = f32[3,20] parameter(0)\n ROOT t = (f32[3,4], s32[3,4]) topk(x), k=4, largest=true\n}\n"
    x = np.random.default_rng(0).integers(-5, 5, (3, 20)).astype(np.float32)
    x[0, 3], x[1, 4], x[2, 5] = np.nan, np.inf, -0.0
    agree(text, x)


@pytest.mark.parametrize(
    ("kind", "operand", "result", "lengths"),
    [
        ("FFT", "c128[3,8]", "c128[3,8]", "8"),
        ("IFFT", "c128[2,6,10]", "c128[2,6,10]", "6,10"),
        ("FFT", "c128[1080]", "c128[1080]", "1080"),
        ("FFT", "c128[2,67]", "c128[2,67]", "67"),
        ("IFFT", "c128[2,134]", "c128[2,134]", "134"),
        ("RFFT", "f64[2,4,9]", "c128[2,4,5]", "4,9"),
        ("RFFT", "f64[3,12]", "c128[3,7]", "12"),
        ("IRFFT", "c128[3,7]", "f64[3,12]", "12"),
        ("IRFFT", "c128[2,4,5]", "f64[2,4,9]", "4,9"),
        ("IRFFT", "c128[4,1]", "f64[4,1]", "1"),
        ("IRFFT", "c128[4,2]", "f64[4,2]", "2"),
        ("FFT", "c128[2,521]", "c128[2,521]", "521"),
        ("IFFT", "c128[2,1042]", "c128[2,1042]", "1042"),
        ("FFT", "c128[16382]", "c128[16382]", "16382"),
        ("FFT", "c128[2,0]", "c128[2,0]", "0"),
        ("IFFT", "c128[2,0]", "c128[2,0]", "0"),
        ("IFFT", "c128[0,3]", "c128[0,3]", "0,3"),
        ("RFFT", "f64[2,0]", "c128[2,0]", "0"),
        ("IRFFT", "c128[2,0]", "f64[2,0]", "0"),
    ],
)
def test_fft(kind: str, operand: str, result: str, lengths: str) -> None:
    text = f"HloModule m\nENTRY e {{\n x = {operand} parameter(0)\n"
    text += f" ROOT f = {result} fft(x), fft_type={kind}, fft_length={{{lengths}}}\n}}\n"
    rng = np.random.default_rng(0)
    sizes = [int(n) for n in operand[operand.index("[") + 1 : -1].split(",")]
    x = rng.normal(size=sizes) + (1j * rng.normal(size=sizes) if operand[0] == "c" else 0)
    agree(text, x, capabilities=DOUBLES, rtol=1e-13)


@pytest.mark.parametrize("length", [2 * 1000003 * 1000033, (1 << 31) - 1, 2 * 2097169])
def test_an_fft_too_long_to_write_out_is_refused_at_once(length: int) -> None:
    text = f"HloModule m\nENTRY e {{\n x = c128[{length}] parameter(0)\n"
    text += f" ROOT f = c128[{length}] fft(x), fft_type=FFT, fft_length={{{length}}}\n}}\n"
    with pytest.raises(UnimplementedError, match="fft"):
        legalize(parse_hlo(text), DOUBLES.check)


@pytest.mark.parametrize("size", [1, 2, 7, 64, 100])
def test_reverse(size: int) -> None:
    text = f"HloModule m\nENTRY e {{\n x = s32[3,{size},2] parameter(0)\n"
    text += f" ROOT r = s32[3,{size},2] reverse(x), dimensions={{0,1}}\n}}\n"
    agree(text, np.arange(3 * size * 2, dtype=np.int32).reshape(3, size, 2))


@pytest.mark.parametrize("kind", ["s32", "u32"])
def test_mulhi(kind: str) -> None:
    dtype = np.dtype("i4" if kind == "s32" else "u4")
    bits = np.random.default_rng(0).integers(0, 2**32, (2, 1000), np.uint32)
    bits[0, :4], bits[1, :4] = [0, 2**31, 2**32 - 1, 2**31], [5, 2**31, 2**32 - 1, 2**32 - 1]
    text = f"HloModule m\nENTRY e {{\n x = {kind}[1000] parameter(0)\n y = {kind}[1000] parameter(1)\n"
    agree(f"{text} ROOT z = {kind}[1000] mulhi(x, y)\n}}\n", *bits.view(dtype))


LINEAR = """
HloModule m
ENTRY e {
  a = f32[2,5,5] parameter(0)
  x = f32[2,5,3] parameter(1)
  c = f32[2,5,5] cholesky(a), lower=true
  t = f32[2,5,3] triangular-solve(c, x), left_side=true, lower=true, transpose_a=NO_TRANSPOSE
  ROOT r = (f32[2,5,5], f32[2,5,3]) tuple(c, t)
}
"""


def test_loops_of_decompositions_are_legal_too() -> None:
    rng = np.random.default_rng(0)
    a = rng.normal(size=(2, 5, 5))
    a = (a @ a.transpose(0, 2, 1) + np.eye(5)).astype(np.float32)
    agree(LINEAR, a, rng.normal(size=(2, 5, 3)).astype(np.float32), rtol=1e-5)


PRIMITIVES = [
    "reduce", "dynamic-slice", "dynamic-update-slice", "add", "multiply", "divide", "and", "shift-left",
    "shift-right-logical", "compare", "select", "convert", "bitcast-convert", "broadcast", "transpose", "slice", "pad",
    "concatenate",
]  # fmt: skip
"""The ops that a device must have. The core runs control flow, reshapes, and what only names or groups values."""

THE_DEVICES = {"infeed", "outfeed", "partition-id", "replica-id", "custom-call", "rng-get-and-update-state"}
"""Ops that can't be decomposed into arithmetic: what reaches outside, or who the device is."""

OF_PAIRS = {"complex"}
"""What only a device that holds pairs is asked."""


STRUCTURED = [
    *(
        "batch_norm_grad",
        "batch_norm_inference",
        "batch_norm_training",
        "cholesky",
        "convolution",
        "dot",
        "dot_general",
    ),
    *("fft", "gather", "map", "reduce_window", "reverse", "rng_bit_generator", "scatter", "select_and_scatter", "sort"),
    "triangular_solve",
]


@pytest.mark.parametrize(
    "name", [*(f"stablehlo.{n}" for n in STRUCTURED), "chlo.ragged_dot", "chlo.scan", "chlo.top_k"]
)
def test_the_decompositions_of_structured_ops_lead_to_primitive_ones(name: str) -> None:
    capabilities = Capabilities.all_of(opcodes=[n for n, op in OPS.items() if Trait.PRIMITIVE in op.traits])
    capabilities = capabilities.with_ops(["real", "imag", "complex"], [T.F32, T.C64])
    module = lower(parse_text(op_example(name).program("complex<f32>" if name == "stablehlo.fft" else "f32")))
    assert unsupported_instructions(module, capabilities.check)
    legalize(module, capabilities.check)
    verify(module)
    assert not unsupported_instructions(module, capabilities.check)


def test_what_is_not_primitive_has_a_decomposition() -> None:
    without = {
        name
        for name, op in OPS.items()
        if not decompositions_of(name)
        and not {Trait.PRIMITIVE, Trait.NOP, Trait.CONTROL_FLOW, Trait.COLLECTIVE, Trait.ASYNC} & op.traits
    }
    assert without == THE_DEVICES | OF_PAIRS


def test_the_primitive_ops_are_about_two_dozen() -> None:
    assert [name for name, op in OPS.items() if Trait.PRIMITIVE in op.traits] == PRIMITIVES


def test_a_window_reduction_in_a_wider_type() -> None:
    """The padding value has the accumulator's type, which the operand hasn't."""
    text = """HloModule m

add {
  a = f64[] parameter(0)
  b = f64[] parameter(1)
  ROOT r = f64[] add(a, b)
}

ENTRY e {
  x = f32[9] parameter(0)
  zero = f64[] parameter(1)
  ROOT r = f64[5] reduce-window(x, zero), window={size=3 stride=2 pad=1_1}, to_apply=add
}
"""
    wide = Capabilities.all_of(without=["reduce-window"])
    agree(text, np.arange(9, dtype=np.float32), np.float64(0), capabilities=wide)


def test_a_gather_of_a_scalar() -> None:
    """Each index takes the whole operand, so the result has the dimensions of the indices."""
    text = """HloModule m

ENTRY e {
  x = f32[] parameter(0)
  i = u64[5,0] parameter(1)
  ROOT r = f32[5] gather(x, i), offset_dims={}, collapsed_slice_dims={}, start_index_map={}, index_vector_dim=1,
    slice_sizes={}
}
"""
    x, indices = np.float32(3), np.zeros((5, 0), np.uint64)
    assert evaluate(parse_hlo(text), x, indices)[0].tolist() == [3.0] * 5
    agree(text, x, indices, capabilities=Capabilities.all_of(without=["gather"]))


def test_a_static_dynamic_reshape_is_a_reshape() -> None:
    module = parse_hlo("""HloModule m
    ENTRY e {
      x = f32[12] parameter(0)
      n = s32[] parameter(1)
      m = s32[] parameter(2)
      ROOT r = f32[3,4] dynamic-reshape(x, n, m)
    }""")
    legalize(module, Capabilities.all_of(without=["dynamic-reshape"]).check)
    verify(module)
    assert module.entry.root.opcode == "reshape"


@pytest.mark.parametrize(
    ("kind", "size"), [("s32", 5), ("s32", 100_003), ("f32", 70_000), ("bf16", 70_000), ("u8", 70_000)]
)
def test_iota_is_a_constant_or_a_sum_of_two(kind: str, size: int) -> None:
    text = f"HloModule m\nENTRY e {{\n  ROOT r = {kind}[2,{size}] iota(), iota_dimension=1\n}}\n"
    agree(text, capabilities=Capabilities.all_of(without=["iota"]))
    module = parse_hlo(text)
    legalize(module, Capabilities.all_of(without=["iota"]).check)
    largest = max(i.shape.num_elements for i in module.entry.instructions if i.opcode == "constant")
    assert largest <= (1 << 16 if kind in ("s32", "f32") else size)
