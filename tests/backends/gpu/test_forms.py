"""Kernels whose threads work together, on both engines of the emulator. The checked one finds races and divergence."""

from __future__ import annotations

import re

import numpy as np
import pytest

pytest.importorskip("xla_backend_gpu", reason="xla-backend-gpu is not installed")

import xla_core as xla
from xla_core.errors import InvalidArgumentError

ENGINES = ["fast", "checked"]


def run(client, text: str, *arguments, **options) -> list[np.ndarray]:
    compiled = client.compile(text, options=xla.CompileOptions(backend=options))
    return [np.asarray(result) for result in compiled(*arguments)]


def plan(client, text: str, **options) -> str:
    return str(
        client.compile(text, options=xla.CompileOptions(backend=options, keep_artifacts=True)).artifacts()["plan"]
    )


def same(client, text: str, *arguments, engine: str) -> None:
    """The results have the evaluator's bits."""
    got = run(client, text, *arguments, engine=engine)
    for result, expected in zip(got, xla.evaluate(xla.parse(text), *arguments), strict=True):
        assert result.dtype == expected.dtype
        assert result.tobytes() == expected.tobytes()


EMBEDDING = """HloModule embedding
combine {
  a = $T[] parameter(0)
  b = $T[] parameter(1)
  ROOT r = $T[] $OP(a, b)
}
ENTRY e {
  x = $T[20,7] parameter(0)
  i = s32[100,1] parameter(1)
  u = $T[100,7] parameter(2)
  ROOT r = $T[20,7] scatter(x, i, u), update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=combine
}
"""


def embedding(element_type: str, op: str) -> str:
    return EMBEDDING.replace("$T", element_type).replace("$OP", op)


def updates(text: str, low: int = -2, high: int = 8) -> list[np.ndarray]:
    rng = np.random.default_rng(0)
    x, i, u = xla.parse(text).parameter_shapes
    values = [(rng.standard_normal(s.dimensions) * 9).astype(s.dtype) for s in (x, u)]
    return [values[0], rng.integers(low, high, i.dimensions).astype(np.int32), values[1]]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("element_type", ["f32", "bf16", "f64", "c64"])
def test_updates_of_floats_are_added_in_order(client, element_type: str, engine: str) -> None:
    text = embedding(element_type, "add")
    assert "; sorted" in plan(client, text)
    same(client, text, *updates(text), engine=engine)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("op", ["add", "multiply", "maximum", "or"])
@pytest.mark.parametrize("element_type", ["s8", "s32", "u16", "s64"])
def test_updates_of_integers_are_combined_by_atomics(client, element_type: str, op: str, engine: str) -> None:
    text = embedding(element_type, op)
    assert "; atomic" in plan(client, text)
    same(client, text, *updates(text), engine=engine)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("element_type", ["f32", "f16", "f64"])
def test_updates_of_floats_in_any_order(client, element_type: str, engine: str) -> None:
    text = embedding(element_type, "add")
    assert "; atomic" in plan(client, text, deterministic=False)
    (got,) = run(client, text, *updates(text), engine=engine, deterministic=False)
    (expected,) = xla.evaluate(xla.parse(text), *updates(text))
    tolerance = {"f32": 1e-5, "f16": 0.05, "f64": 1e-12}[element_type]
    np.testing.assert_allclose(got.astype(float), expected.astype(float), rtol=tolerance, atol=tolerance * 10)


@pytest.mark.parametrize("engine", ENGINES)
def test_an_operand_that_is_needed_later_is_copied_first(client, engine: str) -> None:
    text = embedding("f32", "add").replace("ROOT r = f32[20,7] s", "s = f32[20,7] s")
    text = text.replace("to_apply=combine\n}", "to_apply=combine\n  ROOT t = (f32[20,7], f32[20,7]) tuple(s, x)\n}")
    assert "; copy | " in plan(client, text)
    same(client, text, *updates(text), engine=engine)


def test_an_option_of_the_wrong_type(client) -> None:
    with pytest.raises(InvalidArgumentError, match="deterministic"):
        client.compile(embedding("f32", "add"), options=xla.CompileOptions(backend={"deterministic": 3}))


SORT = """HloModule sort
before {
  a = $T[] parameter(0)
  b = $T[] parameter(1)
  p = s32[] parameter(2)
  q = s32[] parameter(3)
  ROOT r = pred[] compare(a, b), direction=$D$ORDER
}
ENTRY e {
  x = $T[$N] parameter(0)
  i = s32[$N] iota(), iota_dimension=$DIM
  ROOT r = ($T[$N], s32[$N]) sort(x, i), dimensions={$DIM}, is_stable=true, to_apply=before
}
"""


def sort_of(element_type: str, dims: str, dimension: int, direction: str = "LT") -> str:
    order = ", type=TOTALORDER" if element_type in ("f32", "bf16") else ""
    text = SORT.replace("$T", element_type).replace("$N", dims).replace("$DIM", str(dimension))
    return text.replace("$ORDER", order).replace("$D", direction)


def keys(text: str) -> np.ndarray:
    (shape,) = xla.parse(text).parameter_shapes
    values = np.random.default_rng(0).integers(-50, 50, shape.dimensions).astype(shape.dtype)
    if shape.dtype.kind not in "iu":
        values.reshape(-1)[::11] = -0.0
        values.reshape(-1)[::13] = np.nan
        values.reshape(-1)[::17] = -np.nan
    return values


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("element_type", "dims", "dimension"),
    [("f32", "2", 0), ("bf16", "3,33", 1), ("s64", "40,5", 0), ("u8", "300,9", 1), ("f32", "2,2500", 1)],
)
def test_rows_are_sorted_by_blocks(client, element_type: str, dims: str, dimension: int, engine: str) -> None:
    text = sort_of(element_type, dims, dimension, "GT" if element_type == "u8" else "LT")
    assert "sort by blocks" in plan(client, text)
    same(client, text, keys(text), engine=engine)


def test_a_long_row_is_merged_in_phases(client) -> None:
    text = sort_of("f32", "100000", 0)
    assert plan(client, text).count("merges runs") == 6
    same(client, text, keys(text), engine="fast")


TOP_K = """HloModule topk
ENTRY e {
  x = $T[$N] parameter(0)
  ROOT r = ($T[$K], s32[$K]) topk(x), k=$C, largest=$L
}
"""


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("element_type", "rows", "length", "k"), [("f32", 3, 40, 7), ("s8", 1, 5000, 3), ("bf16", 2, 2100, 700)]
)
def test_top_k_by_blocks(client, element_type: str, rows: int, length: int, k: int, engine: str) -> None:
    text = TOP_K.replace("$T", element_type).replace("$N", f"{rows},{length}").replace("$K", f"{rows},{k}")
    text = text.replace("$C", str(k)).replace("$L", "true")
    assert "top-k by blocks" in plan(client, text)
    same(client, text, keys(text), engine=engine)


FFT = """HloModule fft
ENTRY e {
  x = c64[$R,$N] parameter(0)
  ROOT r = c64[$R,$N] fft(x), fft_type=FFT, fft_length={$N}
}
"""


@pytest.mark.parametrize(
    ("rows", "length", "engine"),
    [(3, 60, "checked"), (40, 16, "checked"), (2, 97, "checked"), (1, 4096, "checked"), (1, 1 << 17, "fast")],
)
def test_fft_by_blocks(client, rows: int, length: int, engine: str) -> None:
    text = FFT.replace("$N", str(length)).replace("$R", str(rows))
    assert plan(client, text).count("|") == (0 if length < 1000 else 5 if length == 4096 else 8)
    rng = np.random.default_rng(0)
    x = (rng.standard_normal((rows, length)) + 1j * rng.standard_normal((rows, length))).astype(np.complex64)
    (got,) = run(client, text, x, engine=engine)
    expected = np.fft.fft(x.astype(np.complex128))
    assert np.abs(got - expected).max() < 1e-6 * np.abs(expected).max()


@pytest.mark.parametrize("engine", ENGINES)
def test_many_sums_of_columns_fit_the_shared_memory_of_a_block(client, engine: str) -> None:
    """ptxas accepts 48 KiB. The sums need 64 KiB if each has arrays of its own."""
    lines = [
        f"  f{n} = f32[] constant({n})\n  b{n} = f32[1000,64] broadcast(f{n}), dimensions={{}}\n"
        f"  m{n} = f32[1000,64] multiply(x, b{n})\n"
        f"  r{n} = f32[64] reduce(m{n}, zero), dimensions={{0}}, to_apply=sum"
        for n in range(2, 18)
    ]
    results = ", ".join(f"r{n}" for n in range(2, 18))
    text = "\n".join(
        [
            "HloModule sums",
            "sum {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT r = f32[] add(a, b)\n}",
            "ENTRY e {\n  x = f32[1000,64] parameter(0)\n  zero = f32[] constant(0)",
            *lines,
            f"  ROOT t = ({', '.join(['f32[64]'] * 16)}) tuple({results})\n}}",
        ]
    )
    compiled = client.compile(text, xla.CompileOptions(backend={"engine": engine}, keep_artifacts=True))
    assert str(compiled.artifacts()["plan"]).count("units of 1024 threads") == 1
    sizes = re.findall(r"\.shared .*\[(\d+)\]", str(compiled.artifacts()["ptx"]))
    assert 0 < sum(map(int, sizes)) <= 48 << 10
    x = np.random.default_rng(0).standard_normal((1000, 64)).astype(np.float32)
    for factor, got in enumerate(compiled(x), 2):
        np.testing.assert_allclose(np.asarray(got), factor * x.astype(np.float64).sum(0), rtol=1e-4, atol=1e-3)


PRIME = """HloModule prime
sum {
  a = s32[] parameter(0)
  b = s32[] parameter(1)
  ROOT r = s32[] add(a, b)
}
ENTRY e {
  x = s32[$N] parameter(0)
  zero = s32[] constant(0)
  ROOT r = s32[$K] reduce(x, zero), dimensions={$D}, to_apply=sum
}
"""


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("dims", "result", "dimensions"), [("40009", "", "0"), ("211,307", "", "0,1"), ("2003,33", "33", "0")]
)
def test_a_reduction_of_prime_length_has_many_blocks(client, dims: str, result: str, dimensions: str, engine) -> None:
    text = PRIME.replace("$N", dims).replace("$K", result).replace("$D", dimensions)
    first, *_ = re.findall(r"(\d+) units of", plan(client, text))
    assert int(first) > 100
    x = np.random.default_rng(0).integers(-50, 50, [int(n) for n in dims.split(",")]).astype(np.int32)
    same(client, text, x, engine=engine)


POOLING_GRADIENT = """HloModule pooling
at_least {
  a = $T[] parameter(0)
  b = $T[] parameter(1)
  ROOT r = pred[] compare(a, b), direction=GE
}
sum {
  a = $T[] parameter(0)
  b = $T[] parameter(1)
  ROOT r = $T[] add(a, b)
}
ENTRY e {
  x = $T[$N] parameter(0)
  s = $T[$S] parameter(1)
  three = $T[] constant(3)
  ROOT r = $T[$N] select-and-scatter(x, s, three), window={$W}, select=at_least, scatter=sum
}
"""


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("element_type", "dims", "source", "window", "way"),
    [
        ("f32", "2,7,6,3", "2,3,3,3", "size=1x2x2x1 stride=1x2x2x1", "combines 1 window"),
        ("f32", "9", "3", "size=2 stride=4 pad=1_0", "combines 1 window"),
        ("bf16", "2,7,7,3", "2,4,4,3", "size=1x3x3x1 stride=1x2x2x1 pad=0_0x1_1x1_1x0_0", "selects | "),
        ("f32", "9", "13", "size=3 stride=1 pad=3_3", "selects | "),  # the windows at the ends have no elements
        ("s32", "5,9", "2,4", "size=3x4 stride=2x2 pad=-1_2x0_2", "selects | "),
        ("f32", "5", "3", "size=2 rhs_dilate=2", "select-and-scatter: "),
    ],
)
def test_select_and_scatter_by_blocks(client, element_type, dims, source, window, way, engine: str) -> None:
    text = POOLING_GRADIENT.replace("$T", element_type).replace("$N", dims)
    text = text.replace("$S", source).replace("$W", window)
    assert way in plan(client, text)
    rng = np.random.default_rng(0)
    shapes = xla.parse(text).parameter_shapes
    arguments = [(3 * rng.standard_normal(s.dimensions)).round().astype(s.dtype) for s in shapes]
    same(client, text, *arguments, engine=engine)


@pytest.mark.parametrize("processor", ["sm_75", "sm_90", "sm_100", "sm_103", "sm_121f"])
def test_extremes_of_three_numbers_run_for_every_processor(client, processor: str) -> None:
    """Some processors have an instruction for them."""
    program = """HloModule m

ENTRY main {
  x = f32[8,128] parameter(0)
  y = f32[8,128] parameter(1)
  a = f32[8,128] add(x, y)
  b = f32[8,128] maximum(a, x)
  c = f32[8,128] maximum(b, y)
  d = f32[8,128] minimum(a, x)
  e = f32[8,128] minimum(d, y)
  ROOT r = f32[8,128] subtract(c, e)
}
"""
    arguments = np.random.default_rng(0).standard_normal((2, 8, 128)).astype(np.float32)
    executable = client.compile(program, xla.CompileOptions(backend={"sm": processor}))
    (want,) = xla.evaluate(xla.parse(program), *arguments)
    np.testing.assert_array_equal(np.asarray(executable(*arguments)[0]), want)
