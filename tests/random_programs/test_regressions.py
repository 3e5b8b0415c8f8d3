"""Reduced programs whose results were once wrong."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import xla_core as xla


@pytest.fixture(scope="module", params=["cpu", "template"])
def client(request):
    with xla.Client(request.param) as made:
        yield made


def agree(client, text, *arguments, options=None):
    module = xla.parse(text)
    expected = xla.evaluate(module, *arguments)
    results = [np.asarray(r) for r in client.compile(module, options)(*arguments)]
    for result, want in zip(results, expected, strict=True):
        np.testing.assert_array_equal(result, want)


def agree_in_bits(client, text, *arguments):
    module = xla.parse(text)
    for result, want in zip(client.compile(module)(*arguments), xla.evaluate(module, *arguments), strict=True):
        assert np.asarray(result).tobytes() == want.tobytes()


def test_an_argument_without_elements_that_is_returned(client):
    """Its memory was the argument's and the result's, and was given to two others after both had gone."""
    text = "HloModule m\nENTRY e {\n  x = f32[2,0] parameter(0)\n  y = f32[3] parameter(1)\n"
    text += "  ROOT t = (f32[2,0], f32[3], f32[2,0]) tuple(x, y, x)\n}\n"
    exe = client.compile(text)
    empty = np.zeros((2, 0), np.float32)
    held = [exe(empty, np.full(3, i, np.float32)) for i in range(4)]
    memories = [id(buffer.memory) for results in held for buffer in results]
    assert len(set(memories)) == len(memories)
    given = [client.buffer_from_host(a) for a in (empty, np.ones(3, np.float32))]
    assert not {id(b.memory) for b in given} & {id(b.memory) for b in exe(*given)}
    del held, given
    held = [exe(empty, np.full(3, i, np.float32)) for i in range(8)]
    assert [np.asarray(results[1]).tolist() for results in held] == [[i] * 3 for i in range(8)]


def test_a_kernel_of_one_operand_twice_is_not_shared_with_one_of_two_operands(client):
    """f(x, x) and f(x, y) shared a kernel, and y was read twice."""
    text = """HloModule m
gt { a = s8[] parameter(0)  b = s8[] parameter(1)  c = s8[] parameter(2)  d = s8[] parameter(3)
     ROOT r = pred[] compare(a, b), direction=GT }
ENTRY e {
  x = s8[33] parameter(0)
  y = s8[33] parameter(1)
  s = (s8[33], s8[33]) sort(x, x), dimensions={0}, is_stable=true, to_apply=gt
  t = (s8[33], s8[33]) sort(x, y), dimensions={0}, is_stable=true, to_apply=gt
  s1 = s8[33] get-tuple-element(s), index=1
  t0 = s8[33] get-tuple-element(t), index=0
  t1 = s8[33] get-tuple-element(t), index=1
  ROOT r = (s8[33], s8[33], s8[33]) tuple(s1, t0, t1)
}
"""
    x, y = (np.random.default_rng(seed).integers(-9, 9, 33).astype(np.int8) for seed in range(2))
    agree(client, text, x, y)


def test_windows_over_nothing_but_padding(client):
    """The initial value was combined with itself once, whatever the window's size."""
    text = """HloModule m
add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] add(a, b) }
ENTRY e {
  x = f32[8,7,0] parameter(0)
  i = f32[] parameter(1)
  ROOT w = f32[4,4,1] reduce-window(x, i), window={size=2x2x1 stride=2x2x2 pad=1_0x1_0x1_1 lhs_dilate=1x1x2}, to_apply=add
}
"""
    agree(client, text, np.zeros((8, 7, 0), np.float32), np.float32(1))


@pytest.mark.parametrize("narrow", ["f16", "bf16"])
def test_integers_converted_through_f64_to_a_narrow_type(client, narrow):
    """LLVM proves the rounding to f32 exact, and calls a routine that rounds f64 to f16 at once."""
    text = f"""HloModule m
ENTRY e {{
  x = s16[9] parameter(0)
  w = f64[9] convert(x)
  h = {narrow}[9] convert(w)
  p = u8[9] convert(x)
  v = f64[9] convert(p)
  k = {narrow}[9] convert(v)
  r = f64[9] sqrt(v)
  q = {narrow}[9] convert(r)
  ROOT t = ({narrow}[9], {narrow}[9], {narrow}[9]) tuple(h, k, q)
}}
"""
    agree(client, text, np.array([0, 1, -1, 2047, 2049, 4099, -32768, 32767, 255], np.int16))


@pytest.mark.parametrize("kind", ["bf16", "f16"])
def test_denormals_and_nans_are_moved_as_they_are(client, kind):
    """Sorting bf16 went through f32 and an instruction that flushes denormals; f16 through one that quiets NaNs."""
    text = """HloModule m
order { a = bf16[] parameter(0)  b = bf16[] parameter(1)  c = bf16[] parameter(2)  d = bf16[] parameter(3)
        ROOT r = pred[] compare(a, b), direction=LT, type=TOTALORDER }
ENTRY e {
  x = bf16[33] parameter(0)
  y = bf16[33] parameter(1)
  s = (bf16[33], bf16[33]) sort(x, y), dimensions={0}, is_stable=true, to_apply=order
  ROOT r = bf16[33] get-tuple-element(s), index=0
}
"""
    bits = np.random.default_rng(0).integers(0, 1 << 16, (2, 33)).astype(np.uint16)
    bits[0, ::2] &= 0x807F
    agree_in_bits(client, text.replace("bf16", kind), *bits.view(ml_dtypes.bfloat16 if kind == "bf16" else np.float16))


@pytest.mark.parametrize("mantissa", [9, 4, 1])
def test_reduce_precision_of_f16_denormals(client, mantissa):
    """They were normal numbers in f32, and flushed as too small."""
    text = f"""HloModule m
ENTRY e {{
  x = f16[4096] parameter(0)
  ROOT r = f16[4096] reduce-precision(x), exponent_bits=5, mantissa_bits={mantissa}
}}
"""
    agree(client, text, np.arange(0, 4096, dtype=np.uint16).view(np.float16))


@pytest.mark.parametrize("level", [0, 1, 2])
def test_constants_that_are_tuples(client, level):
    """Given, or folded from an op of several results: their elements had memory that nothing filled."""
    text = """HloModule m
ENTRY e {
  c = (u64[3], (s32[], f32[2])) constant(({2, 3, 4}, (5, {6, 7})))
  o = (u64[3], (s32[], f32[2])) opt-barrier(c)
  x = u64[3] get-tuple-element(o), index=0
  p = (s32[], f32[2]) get-tuple-element(o), index=1
  y = s32[] get-tuple-element(p), index=0
  z = f32[2] get-tuple-element(p), index=1
  k = u64[2] constant({2, 2})
  r = (u64[2], u32[4]) rng-bit-generator(k), algorithm=rng_three_fry
  b = (u64[2], u32[4]) opt-barrier(r)
  q = u64[2] get-tuple-element(b), index=0
  w = u32[4] get-tuple-element(b), index=1
  ROOT t = (u64[3], s32[], f32[2], u64[2], u32[4]) tuple(x, y, z, q, w)
}
"""
    agree(client, text, options=xla.CompileOptions(optimization_level=level))


@pytest.mark.parametrize("level", [0, 2])
def test_sizes_of_static_dimensions(client, level):
    """Without simplification nobody made a constant of them."""
    text = """HloModule m
ENTRY e {
  x = f32[3,5] parameter(0)
  ROOT n = s32[] get-dimension-size(x), dimensions={1}
}
"""
    agree(client, text, np.zeros((3, 5), np.float32), options=xla.CompileOptions(optimization_level=level))


@pytest.mark.parametrize("level", [0, 2])
def test_reductions_of_two_operands_over_nothing(client, level):
    """The index of an element that isn't there was divided by the extents of its dimensions."""
    text = """HloModule m
combine { a = s32[] parameter(0)  b = s32[] parameter(1)  c = s32[] parameter(2)  d = s32[] parameter(3)
          m = s32[] minimum(a, c)  o = s32[] or(b, d)  ROOT t = (s32[], s32[]) tuple(m, o) }
ENTRY e {
  x = s32[7,1,4,0] parameter(0)
  k = s32[] constant(7)
  l = s32[] constant(3)
  ROOT r = (s32[1,4], s32[1,4]) reduce(x, x, k, l), dimensions={0,3}, to_apply=combine
}
"""
    agree(client, text, np.zeros((7, 1, 4, 0), np.int32), options=xla.CompileOptions(optimization_level=level))


def test_unsigned_numbers(client):
    """x - 1 became x + -1, which f8e8m0fnu doesn't have."""
    text = """HloModule m
ENTRY e {
  x = f8e8m0fnu[2] parameter(0)
  one = f8e8m0fnu[] constant(1)
  k = f8e8m0fnu[2] broadcast(one), dimensions={}
  ROOT r = f8e8m0fnu[2] subtract(x, k)
}
"""
    agree(client, text, np.array([2, 16], ml_dtypes.float8_e8m0fnu))


def test_the_high_half_of_two_bits(client):
    """LLVM's code generator aborted on vectors of products of four bits."""
    text = """HloModule m
ENTRY e {
  a = u8[20] parameter(0)
  x = u2[20,4] bitcast-convert(a)
  m = u2[20,4] mulhi(x, x)
  c = pred[20,4] compare(m, x), direction=EQ
  s = u2[20,4] subtract(m, x)
  ROOT r = u2[20,4] select(c, s, x)
}
"""
    agree(client, text, np.arange(20, dtype=np.uint8) * 13)


def test_two_bits_of_four(client):
    """LLVM's code generator aborted on vectors that were cut from four bits to two."""
    text = """HloModule m
ENTRY e {
  x = u4[16] parameter(0)
  s = u4[16] shift-right-arithmetic(x, x)
  c = s2[16] convert(s)
  p = s2[16] power(c, c)
  h = u2[16,2] bitcast-convert(s)
  q = u2[16,2] multiply(h, h)
  ROOT r = (s2[16], u2[16,2]) tuple(p, q)
}
"""
    agree(client, text, np.arange(16).astype(ml_dtypes.uint4))


def test_two_bits_of_four_by_a_byte(client):
    """As before, where LLVM itself put the cut together, of two conversions."""
    text = """HloModule m
ENTRY e {
  x = u4[2,1] parameter(0)
  y = s2[2,1] parameter(1)
  a = s4[2,1] convert(x)
  b = s4[2,1] abs(a)
  w = u8[2,1] convert(b)
  c = u2[2,1] convert(w)
  d = s2[2,1] convert(c)
  ROOT r = s2[2,1] shift-right-logical(y, d)
}
"""
    agree(client, text, np.array([[9], [14]], ml_dtypes.uint4), np.array([[-2], [-1]], ml_dtypes.int2))
