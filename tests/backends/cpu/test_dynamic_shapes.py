"""Programs with dynamic shapes in native code: StableHLO's tests, the time of a call, serialization."""

from __future__ import annotations

import gc
import os
import random
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from xla_conformance.stablehlo.suite import find_tests

import xla_core as xla
from xla_core.errors import InvalidArgumentError
from xla_core.hlo import Shape
from xla_core.stablehlo import PolymorphicProgram, read

ROOT = find_tests()
FILES = sorted((ROOT / "testdata" / "dynamic").glob("*.mlir")) if ROOT else []
# Its window_strides has two numbers for one spatial dimension, which the specification (C2 of convolution) forbids.
WRONG = "conv_general_dilated_1d_stride_2_odd_dynamic"
SAMPLE = {p.stem for p in random.Random(2).sample(FILES, min(60, len(FILES)))}

CENTERED = """
func.func @main(%a: tensor<?x4xf32> {jax.buffer_donor = true}, %k: tensor<i32>) -> tensor<?x4xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %sum = stablehlo.reduce(%a init: %zero) applies stablehlo.add across dimensions = [0] :
      (tensor<?x4xf32>, tensor<f32>) -> tensor<4xf32>
  %n = stablehlo.get_dimension_size %a, dim = 0 : (tensor<?x4xf32>) -> tensor<i32>
  %rows = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
  %four = stablehlo.constant dense<4> : tensor<1xi32>
  %shape = stablehlo.concatenate %rows, %four, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %wide = stablehlo.dynamic_broadcast_in_dim %sum, %shape, dims = [1] : (tensor<4xf32>, tensor<2xi32>) -> tensor<?x4xf32>
  %count = stablehlo.convert %n : (tensor<i32>) -> tensor<f32>
  %counts = stablehlo.dynamic_broadcast_in_dim %count, %shape, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x4xf32>
  %mean = stablehlo.divide %wide, %counts : tensor<?x4xf32>
  %0 = stablehlo.subtract %a, %mean : tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}
"""


@pytest.fixture(scope="module")
def client():
    with xla.Client("cpu") as made:
        yield made


def array(shape: Shape, generator: np.random.Generator) -> np.ndarray:
    values = generator.normal(size=shape.dimensions)
    if shape.element_type.is_complex:
        values = values + 1j * generator.normal(size=shape.dimensions)
    elif not shape.element_type.is_floating:
        values = generator.integers(0, 2, shape.dimensions)
    return np.asarray(values).astype(shape.dtype)


def close(got: np.ndarray, want: np.ndarray) -> None:
    assert (got.dtype, got.shape) == (want.dtype, want.shape)
    if got.dtype.kind in "biu":
        np.testing.assert_array_equal(got, want)
        return
    wide = np.complex128 if got.dtype.kind == "c" else np.float64
    scale = 2e-4 if got.dtype.itemsize >= 4 else 2e-2
    np.testing.assert_allclose(got.astype(wide), want.astype(wide), rtol=scale, atol=scale)


@pytest.mark.skipif(not FILES, reason="StableHLO's tests are not there; set STABLEHLO_TESTS")
@pytest.mark.parametrize(
    "path",
    [pytest.param(p, id=p.stem, marks=() if p.stem in SAMPLE or p.stem == WRONG else pytest.mark.slow) for p in FILES],
)
def test_stablehlo_programs_agree_with_the_evaluator(client, path: Path) -> None:
    """Leading i64 scalars are the values of dimension variables; the sizes that a program admits are tried for."""
    text = path.read_text()
    parameters = PolymorphicProgram(read(text)).parameters
    leading = 0
    while leading < len(parameters) and str(parameters[leading]) == "s64[]":
        leading += 1
    exe = client.compile(text, xla.CompileOptions(static_arguments=tuple(range(leading))))
    generator = np.random.default_rng(0)
    errors = []
    for size in (5, 4, 3, 8, 7, 20):
        shapes = [s.with_dimensions([size if n == Shape.UNBOUNDED else n for n in s.dimensions]) for s in parameters]
        arguments = [np.int64(size) if i < leading else array(s, generator) for i, s in enumerate(shapes)]
        try:
            expected = xla.evaluate(text, *arguments)
        except InvalidArgumentError as error:
            errors.append(error)
            continue
        assert path.stem != WRONG
        for got, want in zip(exe(*arguments), expected, strict=True):
            close(np.asarray(got), want)
        return
    assert path.stem == WRONG, errors
    assert "window-strides" in errors[0].message


def test_many_sizes(client) -> None:
    exe = client.compile(CENTERED, xla.CompileOptions(max_specializations=4))
    generator = np.random.default_rng(1)
    for n in (1, 7, 64, 300, 7, 1000, 3):
        x = generator.normal(size=(n, 4)).astype(np.float32)
        buffer = client.buffer_from_host(x)
        (got,) = exe(buffer, 0)
        wide = x.astype(np.float64)
        np.testing.assert_allclose(np.asarray(got), wide - wide.mean(0), rtol=1e-5, atol=1e-5)
        assert buffer.is_deleted()
    assert len(exe.signatures()) == 4


def test_results_outlive_what_made_them(client) -> None:
    exe = client.compile(CENTERED, xla.CompileOptions(max_specializations=1))
    results = [exe(np.full((n, 4), n, np.float32), 0)[0] for n in range(1, 6)]
    gc.collect()
    assert [np.asarray(r).shape[0] for r in results] == [1, 2, 3, 4, 5]
    assert all(np.all(np.asarray(r) == 0) for r in results)


@pytest.mark.parametrize("as_bytes", [False, True])
def test_serialization_carries_the_program_and_what_is_compiled(client, as_bytes: bool, monkeypatch) -> None:
    options = xla.CompileOptions(static_arguments=(1,), max_specializations=3, name="centered")
    exe = client.compile(CENTERED.encode() if as_bytes else CENTERED, options)
    inputs = {n: np.arange(4 * n, dtype=np.float32).reshape(n, 4) for n in (2, 3, 5)}
    expected = {n: np.asarray(exe(x, 7)[0]) for n, x in inputs.items() if n != 5}
    data = exe.serialize()
    compiler = client.platform.compiler
    compilations = []
    right = compiler.compile
    monkeypatch.setattr(compiler, "compile", lambda *a, **k: compilations.append(1) or right(*a, **k))
    loaded = client.deserialize(data)
    assert loaded.name == "centered"
    assert loaded.signatures() == exe.signatures()
    assert (loaded.parameter_shapes, loaded.donated_parameters) == (exe.parameter_shapes, (0,))
    for n, want in expected.items():
        np.testing.assert_array_equal(np.asarray(loaded(inputs[n], 7)[0]), want)
    assert not compilations
    np.testing.assert_allclose(np.asarray(loaded(inputs[5], 7)[0]), inputs[5] - inputs[5].mean(0))
    assert len(compilations) == 1
    with pytest.raises(InvalidArgumentError, match="damaged"):
        client.deserialize(data[:-1])
    empty = client.deserialize(client.compile(CENTERED).serialize())
    assert empty.signatures() == ()
    np.testing.assert_array_equal(np.asarray(empty(inputs[2], 0)[0]), expected[2])


RESHAPED = """
func.func @main(%a: tensor<?x4xf32, #stablehlo.bounds<6, ?>>, %sizes: tensor<2xi32>)
    -> tensor<?x2xf32, #stablehlo.bounds<12, ?>> {
  %0 = stablehlo.dynamic_reshape %a, %sizes :
      (tensor<?x4xf32, #stablehlo.bounds<6, ?>>, tensor<2xi32>) -> tensor<?x2xf32, #stablehlo.bounds<12, ?>>
  return %0 : tensor<?x2xf32, #stablehlo.bounds<12, ?>>
}
"""


def test_a_reshape_to_sizes_within_bounds(client: xla.Client) -> None:
    exe = client.compile(RESHAPED)
    for n in (0, 1, 2, 6):
        a = np.arange(4 * n, dtype=np.float32).reshape(n, 4)
        (made,) = map(np.asarray, exe(a, np.array([2 * n, 2], np.int32)))
        np.testing.assert_array_equal(made, a.reshape(2 * n, 2))


SUMMED = """
import numpy as np
import xla_core as xla

program = '''module attributes {mhlo.num_replicas = 2 : i32} {
  func.func @main(%x: tensor<6xf32>, %n: tensor<i32>) -> tensor<?xf32, #stablehlo.bounds<6>> {
    %s = "stablehlo.all_reduce"(%x) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
      ^bb0(%a: tensor<f32>, %b: tensor<f32>):
        %q = stablehlo.add %a, %b : tensor<f32>
        stablehlo.return %q : tensor<f32>
    }) : (tensor<6xf32>) -> tensor<6xf32>
    %0 = stablehlo.set_dimension_size %s, %n, dim = 0 :
        (tensor<6xf32>, tensor<i32>) -> tensor<?xf32, #stablehlo.bounds<6>>
    return %0 : tensor<?xf32, #stablehlo.bounds<6>>
  }
}'''
x = np.arange(6, dtype=np.float32)
rows = xla.Client("cpu").compile(program).execute_sharded([[x, np.int32(2)], [x, np.int32(3)]])
print([np.asarray(row[0]).tolist() for row in rows])
"""


def test_devices_that_wait_for_each_other_are_all_started_before_sizes_are_waited_for() -> None:
    environment = {**os.environ, "XLA_FLAGS": "--xla_force_host_platform_device_count=2"}
    command = [sys.executable, "-c", SUMMED]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, env=environment)
    assert done.stdout.strip() == "[[0.0, 2.0], [0.0, 2.0, 4.0]]", done.stderr


@pytest.mark.parametrize("level", [0, 2])
def test_the_size_of_a_static_dimension_is_set(client, level: int) -> None:
    text = """HloModule m
ENTRY e {
  x = f32[4] parameter(0)
  n = s32[] constant(4)
  y = f32[4] set-dimension-size(x, n), dimensions={0}
  ROOT r = f32[4] negate(y)
}"""
    x = np.arange(4, dtype=np.float32)
    (done,) = client.compile(text, options=xla.CompileOptions(optimization_level=level))(x)
    np.testing.assert_array_equal(np.asarray(done), -x)


def test_another_size_of_a_static_dimension_is_refused(client) -> None:
    text = """HloModule m
ENTRY e {
  x = f32[4] parameter(0)
  n = s32[] constant(2)
  ROOT y = f32[4] set-dimension-size(x, n), dimensions={0}
}"""
    with pytest.raises(xla.UnimplementedError, match="set-dimension-size"):
        client.compile(text)
