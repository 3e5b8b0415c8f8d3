"""JAX's shard_map: programs as JAX exports them, on four virtual devices, with JAX's own results."""

from __future__ import annotations

import base64
import json
import subprocess
import sys
import textwrap
from typing import Any

import numpy as np
import pytest

import xla_core as xla
from xla_core.errors import InvalidArgumentError, UnimplementedError
from xla_core.hlo import evaluate_replicas
from xla_core.stablehlo import parse_bytecode, parse_text

JAX = """
import base64, functools, json
import jax, jax.numpy as jnp, numpy as np
from jax import export, lax
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

line = Mesh(np.array(jax.devices()), ("x",))
grid = Mesh(np.array(jax.devices()).reshape(2, 2), ("x", "y"))
turned = Mesh(np.array(jax.devices())[[3, 1, 0, 2]].reshape(2, 2), ("x", "y"))
programs = {}

def program(mesh, in_specs, out_specs, *shapes, **more):
    def add(function):
        programs[function.__name__] = (
            jax.shard_map(function, mesh=mesh, in_specs=in_specs, out_specs=out_specs, **more), shapes, mesh)
        return function
    return add

@program(line, P("x", None), P(None), (8, 3))
def psum(a):
    return lax.psum(a * 2, "x")

@program(line, (P("x"), P()), (P("x"), P("x")), (8, 3), (3,))
def gather_and_permute(a, b):
    everything = lax.all_gather(a, "x", tiled=True)
    turned = lax.ppermute(a, "x", [(j, (j + 1) % 4) for j in range(4)])
    return turned + b, everything.sum()[None] + lax.axis_index("x")

@program(grid, P("x", "y"), P("y", None), (8, 4))
def all_to_all_on_a_grid(a):
    return lax.all_to_all(lax.psum(a, "x"), "y", 0, 0, tiled=True)

@program(turned, P("x", "y"), P("x", "y"), (4, 6))
def devices_in_another_order(a):
    return a * 10 + lax.axis_index("x") * 2 + lax.axis_index("y")

@program(turned, P(("y", "x")), P(("y", "x")), (8,))
def two_axes_on_one_dimension(a):
    return a + lax.axis_index(("y", "x")).astype(a.dtype) * 100 + lax.psum_scatter(
        jnp.tile(a, 2), "x", tiled=True)

@program(grid, P("x"), P("x"), (8, 3), axis_names={"x"})
def one_manual_axis(a):
    return lax.pmax(a, "x") - a

@program(line, P("x"), P("x"), (8, 3))
def loop(a):
    def body(i, x):
        return lax.ppermute(x, "x", [(j, (j + 1) % 4) for j in range(4)]) + i
    return lax.fori_loop(0, 3, body, a)

@program(line, P(None, "x"), P("x", None), (4, 8))
def around(a):
    return lax.all_to_all(a, "x", 0, 1, tiled=True).T * 1.0

def inner(a):
    sharded, _, _ = programs["psum"]
    return jnp.sin(sharded(jnp.cos(a)) + 1).sum(), sharded(a[::-1])

programs["work_on_both_sides"] = (inner, [(8, 3)], line)

out = {}
for name, (function, shapes, mesh) in programs.items():
    arrays = [np.sin(np.arange(np.prod(s), dtype=np.float32)).reshape(s) for s in shapes]
    whole = NamedSharding(mesh, P())
    jitted = jax.jit(function, in_shardings=whole)
    results = jax.tree.leaves(jitted(*arrays))
    exported = export.export(jitted)(*(jax.ShapeDtypeStruct(s, np.float32) for s in shapes))
    out[name] = dict(
        text=jitted.lower(*arrays).as_text(),
        artifact=base64.b64encode(exported.mlir_module_serialized).decode(),
        arguments=[a.tolist() for a in arrays],
        results=[np.asarray(r).tolist() for r in results])
print(json.dumps(out))
"""
NAMES = (
    "psum gather_and_permute all_to_all_on_a_grid devices_in_another_order two_axes_on_one_dimension one_manual_axis"
    " loop around work_on_both_sides"
)


@pytest.fixture(scope="module")
def programs() -> dict[str, Any]:
    pytest.importorskip("jax")
    environment = {"XLA_FLAGS": "--xla_force_host_platform_device_count=4", "JAX_PLATFORMS": "cpu", "PATH": "/usr/bin"}
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(JAX)], env=environment, capture_output=True, text=True, timeout=240
    )
    assert done.returncode == 0, done.stderr[-2000:]
    found: dict[str, Any] = json.loads(done.stdout)
    assert set(found) == set(NAMES.split())
    return found


@pytest.fixture(scope="module")
def client() -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XLA_FLAGS", "--xla_force_host_platform_device_count=4")
        made = xla.Client("cpu")
        yield made
        made.close()


@pytest.mark.parametrize("name", NAMES.split())
def test_shard_map_computes_what_jax_does(programs: dict[str, Any], client: xla.Client, name: str) -> None:
    """Every device takes the whole arguments and returns the whole results."""
    program = programs[name]
    arguments = [[np.array(a, np.float32) for a in program["arguments"]]] * 4
    want = [np.array(r) for r in program["results"]]
    for source in (program["text"], base64.b64decode(program["artifact"])):
        module = xla.parse(source)
        assert module.num_partitions == 4
        for rows in (
            evaluate_replicas(module, arguments, timeout=30),
            client.compile(source).execute_sharded(arguments),
        ):
            assert len(rows) == 4
            for row in rows:
                for got, expected in zip(row, want, strict=True):
                    np.testing.assert_allclose(np.asarray(got), expected, rtol=2e-6, atol=1e-6)


def program(body: str, mesh: str = '<["x"=4]>', partitions: int = 4) -> str:
    return (
        f"module attributes {{mhlo.num_partitions = {partitions} : i32}} {{\n  sdy.mesh @mesh = {mesh}\n"
        f"  func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {{\n    {body}\n    return %0 : tensor<8xf32>\n  }}\n}}\n"
    )


def manual(sharding: str, shard: str = "tensor<2xf32>", more: str = "") -> str:
    return (
        f"%0 = sdy.manual_computation(%x) in_shardings=[{sharding}] out_shardings=[{sharding}]"
        f' manual_axes={{"x"}} (%a: {shard}) {{\n sdy.return %a : {shard}\n }} : (tensor<8xf32>) -> tensor<8xf32>{more}'
    )


@pytest.mark.parametrize(
    ("text", "kind", "message"),
    [
        (program(manual('<@mesh, [{"x"}]>', "tensor<4xf32>")), InvalidArgumentError, "in 4 parts"),
        (program(manual('<@other, [{"x"}]>')), InvalidArgumentError, "there is no mesh @other"),
        (program(manual('<@mesh, [{"z"}]>')), InvalidArgumentError, "has no axis 'z'"),
        (program(manual('<@mesh, [{"x"}], unreduced={"x"}>')), InvalidArgumentError, "uses axis 'x' twice"),
        (program(manual('<@mesh, [{"x":(1)2, "x"}]>')), InvalidArgumentError, "uses axis 'x' twice"),
        (program(manual('<@mesh, [{"x"}]>'), partitions=2), InvalidArgumentError, "a mesh of 4 devices"),
        (program(manual('<@mesh, [{"x"}]>'), '<["x"=4], device_ids=[4, 5, 6, 7]>'), UnimplementedError, "partitioner"),
    ],
)
def test_what_is_wrong_is_said(text: str, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message) as caught:
        xla.parse(text, file="p.mlir")
    assert "p.mlir" in str(caught.value)


def test_text_and_bytecode_say_the_same(programs: dict[str, Any]) -> None:
    for each in programs.values():
        modules = parse_text(each["text"]), parse_bytecode(base64.b64decode(each["artifact"]))
        names = [[op.name for op in m.walk() if op.name.startswith("sdy.manual")] for m in modules]
        assert names[0] == names[1] != []


GSPMD = """
module @m attributes {mhlo.num_partitions = 4 : i32} {
  func.func @main(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
    %0 = stablehlo.custom_call @Sharding(%x) {mhlo.sharding = "{devices=[2,2]<=[4]}"} : (tensor<4x8xf32>) -> tensor<4x8xf32>
    %1 = stablehlo.custom_call @SPMDFullToShardShape(%0) {mhlo.sharding = "{manual}"} : (tensor<4x8xf32>) -> tensor<2x4xf32>
    %2 = stablehlo.partition_id : tensor<ui32>
    %3 = stablehlo.convert %2 : (tensor<ui32>) -> tensor<f32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [] : (tensor<f32>) -> tensor<2x4xf32>
    %5 = stablehlo.add %1, %4 : tensor<2x4xf32>
    %6 = stablehlo.custom_call @Sharding(%5) {mhlo.sharding = "{manual}"} : (tensor<2x4xf32>) -> tensor<2x4xf32>
    %7 = stablehlo.custom_call @SPMDShardToFullShape(%6) {mhlo.sharding = "{devices=[2,2]<=[2,2]T(1,0)}"} : (tensor<2x4xf32>) -> tensor<4x8xf32>
    return %7 : tensor<4x8xf32>
  }
}
"""


def test_gspmds_form_of_shard_map() -> None:
    """By hand: device d adds d to tile d of 2 x 2, row-major; the result's tiles are transposed."""
    x = np.arange(32, dtype=np.float32).reshape(4, 8)
    tiles = [x[r : r + 2, c : c + 4] + 2 * (r // 2) + c // 4 for r in (0, 2) for c in (0, 4)]
    want = np.block([[tiles[0], tiles[2]], [tiles[1], tiles[3]]])
    for row in evaluate_replicas(xla.parse(GSPMD), [[x]] * 4):
        np.testing.assert_array_equal(row[0], want)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('@Sharding(%x) {mhlo.sharding = "{devices=[2,2]<=[4]}"}', "@Sharding(%x)", "without a sharding"),
        ('{mhlo.sharding = "{devices=[2,2]<=[2,2]T(1,0)}"}', "", "without a sharding"),
        ("[2,2]<=[4]", "[4,1]<=[4]", r"a shard of .* is f32\[1,8\], not 'tensor<2x4xf32>'"),
    ],
)
def test_gspmds_form_with_a_wrong_sharding(old: str, new: str, message: str) -> None:
    with pytest.raises(InvalidArgumentError, match=message):
        xla.parse(GSPMD.replace(old, new))
