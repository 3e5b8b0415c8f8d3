"""Bitcasts in programs, to another type and another layout, also in fusions and called computations."""

from __future__ import annotations

import jax
import numpy as np
import pytest

import xla_core as xla
from xla_core.hlo import ElementType

WIDTHS = (4, 8, 16, 32, 64, 128)
LOOP = """HloModule loop
condition { s = (s32[], f32[2,3]{0,1}) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(3)
  ROOT less = pred[] compare(i, n), direction=LT }
body { s = (s32[], f32[2,3]{0,1}) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = f32[2,3]{0,1} get-tuple-element(s), index=1
  bits = s32[3,2]{1,0} bitcast(x)
  more = s32[3,2]{1,0} add(bits, bits)
  y = f32[2,3]{0,1} bitcast(more)
  one = s32[] constant(1)
  j = s32[] add(i, one)
  ROOT r = (s32[], f32[2,3]{0,1}) tuple(j, y) }
ENTRY main { x = f32[2,3]{0,1} parameter(0)
  zero = s32[] constant(0)
  s = (s32[], f32[2,3]{0,1}) tuple(zero, x)
  w = (s32[], f32[2,3]{0,1}) while(s), condition=condition, body=body
  ROOT y = f32[2,3]{0,1} get-tuple-element(w), index=1 }"""
FUSION = """HloModule fusion
f { x = f32[2,3]{0,1} parameter(0)
  y = f32[2,3]{0,1} negate(x)
  b = u8[6,4]{0,1} bitcast(y)
  ROOT r = u8[6,4]{0,1} add(b, b) }
ENTRY main { x = f32[2,3]{0,1} parameter(0)
  ROOT r = u8[6,4]{0,1} fusion(x), kind=kLoop, calls=f }"""
MAP = """HloModule map
f { a = f32[] parameter(0)
  b = s32[] bitcast(a)
  ROOT c = s32[] add(b, b) }
ENTRY main { x = f32[2,3]{1,0} parameter(0)
  ROOT r = s32[2,3]{1,0} map(x), dimensions={0,1}, to_apply=f }"""
REDUCE = """HloModule reduce
f { a = f32[] parameter(0)
  b = f32[] parameter(1)
  i = s32[] bitcast(a)
  j = s32[] bitcast(b)
  m = s32[] maximum(i, j)
  ROOT r = f32[] bitcast(m) }
ENTRY main { x = f32[2,3]{1,0} parameter(0)
  z = f32[] constant(0)
  ROOT r = f32[2]{0} reduce(x, z), dimensions={1}, to_apply=f }"""


@pytest.fixture(scope="module")
def client():
    with xla.Client("cpu") as client:
        yield client


@pytest.fixture
def check(client):
    """check(text, *arrays): the backend's results are the evaluator's, bit by bit, at each level."""

    def run(text, *arrays):
        expected = xla.evaluate(xla.parse(text), *arrays)
        for level in (0, 2):
            results = client.compile(text, xla.CompileOptions(optimization_level=level))(*arrays)
            for result, want in zip(results, expected, strict=True):
                have = np.asarray(result)
                assert (have.dtype, have.shape) == (want.dtype, want.shape)
                assert have.tobytes() == want.tobytes()

    return run


@pytest.mark.parametrize("text", [LOOP, FUSION, MAP, REDUCE], ids=["while", "fusion", "map", "reduce"])
def test_in_a_called_computation(check, text):
    check(text, np.linspace(0.5, 3, 6, dtype=np.float32).reshape(2, 3))


@pytest.mark.parametrize("bits", WIDTHS)
def test_types_of_a_width_become_one_another(check, bits):
    types = [t for t in ElementType if t.is_array and t.bit_width == bits]
    lines, results = [], []
    for number, source in enumerate(types):
        lines += [f"x{number} = {source}[5] parameter({number})"]
        lines += [f"y{number} = {source}[5] reverse(x{number}), dimensions={{0}}"]
    near = range(min(4, len(types)))  # of the types in a circle: all pairs, where there are few
    for n, target in enumerate(types):
        sources = [(n + step) % len(types) for step in near]
        lines += [f"b{n}_{source} = {target}[5] bitcast(y{source})" for source in sources]
        parts, size = ", ".join(f"b{n}_{source}" for source in sources), 5 * len(sources)
        lines += [f"all{n} = {target}[{size}] concatenate({parts}), dimensions={{0}}"]
        results.append((f"{target}[{size}]", f"all{n}"))
    shapes, names = (", ".join(column) for column in zip(*results, strict=True))
    text = "HloModule m\nENTRY main {\n" + "\n".join([*lines, f"ROOT r = ({shapes}) tuple({names})"]) + "\n}"
    generator = np.random.default_rng(bits)
    arrays = []
    for t in types:
        if bits < 8:
            arrays.append(generator.integers(0, 4, 5).astype(t.dtype))
        else:
            arrays.append(np.frombuffer(generator.bytes(5 * bits // 8), t.dtype))
    check(text, *arrays)


@pytest.mark.parametrize("function", ["sort", "argsort"])
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_xlas_own_optimized_sorts(check, function, dtype):
    with jax.enable_x64(True):
        argument = jax.ShapeDtypeStruct((7, 3), dtype)
        ordered = jax.jit(lambda x: getattr(jax.numpy, function)(x, 0))
        text = ordered.lower(argument).compile().as_text()
    assert "bitcast(" in text
    values = np.random.default_rng(0).normal(size=(7, 3))
    values[2] = np.nan, -0.0, np.inf
    values[5] = -np.inf, 0.0, np.nan
    check(text, values.astype(argument.dtype))
