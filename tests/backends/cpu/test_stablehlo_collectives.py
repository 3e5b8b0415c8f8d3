"""Collectives of StableHLO between virtual devices: every form of groups, against numpy; evaluator and CPU backend."""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import xla_core as xla
from xla_core.errors import InvalidArgumentError
from xla_core.hlo import evaluate_replicas

CHANNEL = "channel_handle = #stablehlo.channel_handle<handle = {}, type = 0>"
ADD = """({
  ^bb0(%a: tensor<i64>, %b: tensor<i64>):
    %s = stablehlo.add %a, %b : tensor<i64>
    stablehlo.return %s : tensor<i64>
})"""
ODD = """({
  ^bb0(%a: tensor<i64>, %b: tensor<i64>):
    %m = stablehlo.maximum %a, %b : tensor<i64>
    %p = stablehlo.multiply %a, %b : tensor<i64>
    %n = stablehlo.abs %p : tensor<i64>
    %s = stablehlo.add %m, %n : tensor<i64>
    stablehlo.return %s : tensor<i64>
})"""


def odd(a, b):
    return np.maximum(a, b) + np.abs(a * b)


def replicas(rows, count, partitions):
    """Groups of replicas: for each partition, the devices of a row."""
    return [[(r, p) for r in row] for row in rows for p in range(partitions)]


# Name: (replicas, partitions, attributes, groups as lists of (replica, partition)).
# The specification: cross_replica without a channel, cross_replica_and_partition with one, flattened_ids with
# use_global_device_ids; cross_partition for ops that have no such attribute.
REDUCING = {
    "replicas": (4, 1, "replica_groups = dense<[[0, 2], [3, 1]]> : tensor<2x2xi64>", [[0, 2], [3, 1]]),
    "replicas of two partitions": (2, 2, "replica_groups = dense<[[1, 0]]> : tensor<1x2xi64>", None),
    "handle 0 is no channel": (
        4,
        1,
        f"replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, {CHANNEL.format(0)}",
        [[0, 1, 2, 3]],
    ),
    "replicas and partitions": (
        2,
        2,
        f"replica_groups = dense<[[0], [1]]> : tensor<2x1xi64>, {CHANNEL.format(1)}",
        [[(0, 0), (0, 1)], [(1, 0), (1, 1)]],
    ),
    "all replicas and partitions": (
        2,
        2,
        f"replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, {CHANNEL.format(1)}",
        [[(0, 0), (1, 0), (0, 1), (1, 1)]],
    ),
    "flattened": (
        2,
        4,
        "replica_groups = dense<[[7, 0, 2, 5], [1, 3, 4, 6]]> : tensor<2x4xi64>, use_global_device_ids, "
        + CHANNEL.format(2),
        [[(1, 3), (0, 0), (0, 2), (1, 1)], [(0, 1), (0, 3), (1, 0), (1, 2)]],
    ),
    "an axis of a mesh": (
        1,
        4,
        "replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @mesh, axes = "
        '[#stablehlo.axis_ref<name = "x">]>, use_global_device_ids, ' + CHANNEL.format(2),
        [[(0, 0), (0, 2)], [(0, 1), (0, 3)]],
    ),
    "both axes of a mesh": (
        1,
        4,
        "replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @mesh, axes = "
        '[#stablehlo.axis_ref<name = "x">, #stablehlo.axis_ref<name = "y">]>, use_global_device_ids, '
        + CHANNEL.format(2),
        [[(0, 0), (0, 1), (0, 2), (0, 3)]],
    ),
}
REDUCING["replicas of two partitions"] = (*REDUCING["replicas of two partitions"][:3], replicas([[1, 0]], 2, 2))
AXES = ", ".join(f'#stablehlo.mesh_axis<name = "{name}", size = 2>' for name in "xy")
MESH = f"func.func private @mesh() attributes {{stablehlo.mesh = #stablehlo.mesh<axes = [{AXES}]>}}\n"


def devices_of(groups):
    return [[g if isinstance(g, tuple) else (g, 0) for g in group] for group in groups]


@pytest.fixture(scope="module")
def client():
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XLA_FLAGS", "--xla_force_host_platform_device_count=8")
        made = xla.Client("cpu")
        yield made
        made.close()


@pytest.fixture(params=["evaluator", "cpu"])
def run(request, client):
    """`run(body, type, results, replicas, partitions, *lists)` -> results a device, as {device: [arrays]}."""

    def run(op, parameters, results, replicas, partitions, rows):
        names = ", ".join(f"%x{i}: {t}" for i, t in enumerate(parameters))
        returned = ", ".join(f"%y#{i}" for i in range(len(results)))
        text = (
            f"{MESH if '@mesh' in op else ''}func.func @main({names}) -> ({', '.join(results)}) {{\n"
            f"%y:{len(results)} = {op}\nreturn {returned} : {', '.join(results)}\n}}"
        )
        module = xla.parse(text)
        module.num_replicas, module.num_partitions = replicas, partitions
        order = list(itertools.product(range(replicas), range(partitions)))
        arguments = [rows[d] for d in order]
        if request.param == "evaluator":
            out = evaluate_replicas(module, arguments, timeout=20)
        else:
            options = xla.CompileOptions(num_replicas=replicas, num_partitions=partitions)
            out = client.compile(module, options).execute_sharded(arguments)
        return dict(zip(order, [[np.asarray(r) for r in row] for row in out], strict=True))

    return run


def inputs(replicas, partitions, *shapes):
    rng = np.random.default_rng(len(shapes))
    order = itertools.product(range(replicas), range(partitions))
    return {d: [rng.integers(-9, 9, s).astype(np.int64) for s in shapes] for d in order}


def group_of(groups, device):
    return next((g for g in groups if device in g), None)


@pytest.mark.parametrize("name", REDUCING)
@pytest.mark.parametrize(("body", "combine"), [(ADD, np.add), (ODD, odd)], ids=["add", "odd"])
def test_all_reduce(run, name, body, combine):
    replicas, partitions, attributes, groups = REDUCING[name]
    rows = inputs(replicas, partitions, (2, 3), (4,))
    types = ["tensor<2x3xi64>", "tensor<4xi64>"]
    op = f'"stablehlo.all_reduce"(%x0, %x1) {body} {{{attributes}}} : ({", ".join(types)}) -> ({", ".join(types)})'
    results = run(op, types, types, replicas, partitions, rows)
    for device, got in results.items():
        group = group_of(devices_of(groups), device)
        for i, value in enumerate(got):
            want = rows[group[0]][i]
            for other in group[1:]:
                want = combine(want, rows[other][i])
            np.testing.assert_array_equal(value, want)


@pytest.mark.parametrize("name", REDUCING)
def test_all_gather_and_reduce_scatter(run, name):
    replicas, partitions, attributes, groups = REDUCING[name]
    size = len(devices_of(groups)[0])
    rows = inputs(replicas, partitions, (3, 4))
    gathered = f"tensor<3x{4 * size}xi64>"
    op = f'"stablehlo.all_gather"(%x0) {{all_gather_dim = 1 : i64, {attributes}}} : (tensor<3x4xi64>) -> {gathered}'
    for device, (got,) in run(op, ["tensor<3x4xi64>"], [gathered], replicas, partitions, rows).items():
        group = group_of(devices_of(groups), device)
        np.testing.assert_array_equal(got, np.concatenate([rows[d][0] for d in group], 1))
    scattered = f"tensor<3x{4 // size}xi64>"
    op = (
        f'"stablehlo.reduce_scatter"(%x0) {ADD} {{scatter_dimension = 1 : i64, {attributes}}} : '
        f"(tensor<3x4xi64>) -> {scattered}"
    )
    for device, (got,) in run(op, ["tensor<3x4xi64>"], [scattered], replicas, partitions, rows).items():
        group = group_of(devices_of(groups), device)
        total = sum(rows[d][0] for d in group)
        np.testing.assert_array_equal(got, np.split(total, size, 1)[group.index(device)])


def test_groups_of_different_sizes_are_filled_up_with_minus_one(run):
    attributes = "replica_groups = dense<[[0, 3, -1], [1, 4, 2]]> : tensor<2x3xi64>"
    rows = inputs(5, 1, (3,))
    op = f'"stablehlo.all_reduce"(%x0) {ADD} {{{attributes}}} : (tensor<3xi64>) -> tensor<3xi64>'
    results = run(op, ["tensor<3xi64>"], ["tensor<3xi64>"], 5, 1, rows)
    for members in ((0, 3), (1, 4, 2)):
        total = sum(rows[m, 0][0] for m in members)
        for member in members:
            np.testing.assert_array_equal(results[member, 0][0], total)


# Of all_to_all and collective_broadcast a channel means cross_partition.
PAIRING = {
    "replicas": (4, 1, "replica_groups = dense<[[0, 2], [3, 1]]> : tensor<2x2xi64>", [[0, 2], [3, 1]]),
    "partitions": (
        2,
        2,
        f"replica_groups = dense<[[1, 0]]> : tensor<1x2xi64>, {CHANNEL.format(1)}",
        [[(0, 1), (0, 0)], [(1, 1), (1, 0)]],
    ),
}


@pytest.mark.parametrize("name", PAIRING)
@pytest.mark.parametrize(("split", "concat"), [(0, 0), (1, 1), (0, 1), (1, 0)])
def test_all_to_all(run, name, split, concat):
    replicas, partitions, attributes, groups = PAIRING[name]
    rows = inputs(replicas, partitions, (4, 6), (2, 2))
    shapes = []
    for shape in ((4, 6), (2, 2)):
        sizes = list(shape)
        sizes[split] //= 2
        sizes[concat] *= 2
        shapes.append(tuple(sizes))
    types, results = (["tensor<" + "x".join(map(str, s)) + "xi64>" for s in g] for g in (((4, 6), (2, 2)), shapes))
    op = (
        f'"stablehlo.all_to_all"(%x0, %x1) {{split_dimension = {split} : i64, concat_dimension = {concat} : i64, '
        f"split_count = 2 : i64, {attributes}}} : ({', '.join(types)}) -> ({', '.join(results)})"
    )
    for device, got in run(op, types, results, replicas, partitions, rows).items():
        group = group_of(devices_of(groups), device)
        for i, value in enumerate(got):
            parts = [np.split(rows[d][i], 2, split)[group.index(device)] for d in group]
            np.testing.assert_array_equal(value, np.concatenate(parts, concat))


@pytest.mark.parametrize("name", PAIRING)
def test_collective_broadcast(run, name):
    replicas, partitions, attributes, groups = PAIRING[name]
    rows = inputs(replicas, partitions, (2,), (3,))
    types = ["tensor<2xi64>", "tensor<3xi64>"]
    op = f'"stablehlo.collective_broadcast"(%x0, %x1) {{{attributes}}} : ({", ".join(types)}) -> ({", ".join(types)})'
    for device, got in run(op, types, types, replicas, partitions, rows).items():
        root = group_of(devices_of(groups), device)[0]
        for i, value in enumerate(got):
            np.testing.assert_array_equal(value, rows[root][i])


def test_a_device_that_no_group_has_gets_zeros(run):
    rows = inputs(4, 1, (1, 2))
    op = (
        '"stablehlo.collective_broadcast"(%x0) {replica_groups = dense<[[2, 1]]> : tensor<1x2xi64>} : '
        "(tensor<1x2xi64>) -> tensor<1x2xi64>"
    )
    results = run(op, ["tensor<1x2xi64>"], ["tensor<1x2xi64>"], 4, 1, rows)
    for replica in range(4):
        want = rows[2, 0][0] if replica in (1, 2) else np.zeros((1, 2), np.int64)
        np.testing.assert_array_equal(results[replica, 0][0], want)


def test_roots_that_are_known_at_run_time(run):
    rows = inputs(4, 1, (2,), (3,))
    for row in rows.values():
        row.append(np.array([1, 0], np.int32))
    types = ["tensor<2xi64>", "tensor<3xi64>"]
    operands = ", ".join([*types, "tensor<2xi32>"])
    groups = "replica_groups = dense<[[0, 2], [3, 1]]> : tensor<2x2xi64>, has_dynamic_root = true"
    op = f'"stablehlo.collective_broadcast"(%x0, %x1, %x2) {{{groups}}} : ({operands}) -> ({", ".join(types)})'
    results = run(op, [*types, "tensor<2xi32>"], types, 4, 1, rows)
    for group in ((0, 2), (3, 1)):
        for member in group:
            np.testing.assert_array_equal(results[member, 0][0], rows[group[1], 0][0])
            np.testing.assert_array_equal(results[member, 0][1], rows[group[0], 0][1])
    op = f'"stablehlo.collective_reduce"(%x0, %x1, %x2) {ADD} {{{groups}}} : ({operands}) -> ({", ".join(types)})'
    results = run(op, [*types, "tensor<2xi32>"], types, 4, 1, rows)
    for group in ((0, 2), (3, 1)):
        for member in group:
            for i, root in enumerate((group[1], group[0])):
                want = sum(rows[m, 0][i] for m in group) if member == root else np.zeros_like(rows[member, 0][i])
                np.testing.assert_array_equal(results[member, 0][i], want)


@pytest.mark.parametrize(("replicas", "partitions", "channel"), [(4, 1, 0), (2, 4, 1)], ids=["replicas", "partitions"])
def test_collective_permute(run, replicas, partitions, channel):
    rows = inputs(replicas, partitions, (3,))
    op = (
        '"stablehlo.collective_permute"(%x0) {source_target_pairs = dense<[[0, 1], [1, 2], [3, 0]]> : tensor<3x2xi64>, '
        f"{CHANNEL.format(channel)}}} : (tensor<3xi64>) -> tensor<3xi64>"
    )
    results = run(op, ["tensor<3xi64>"], ["tensor<3xi64>"], replicas, partitions, rows)
    sources = {1: 0, 2: 1, 0: 3}
    for (replica, partition), (got,) in results.items():
        me = partition if channel else replica
        source = sources.get(me)
        if source is None:
            want = np.zeros(3, np.int64)
        else:
            want = rows[(replica, source) if channel else (source, partition)][0]
        np.testing.assert_array_equal(got, want)


def test_the_numbers_of_a_device(run):
    rows = inputs(2, 3, (1,))
    for name, place in (("replica_id", 0), ("partition_id", 1)):
        results = run(f"stablehlo.{name} : tensor<ui32>", ["tensor<1xi64>"], ["tensor<ui32>"], 2, 3, rows)
        assert {d: int(r[0]) for d, r in results.items()} == {d: d[place] for d in results}


def test_an_asynchronous_all_reduce(run):
    rows = inputs(2, 1, (3,))
    reduce = f'"stablehlo.all_reduce"(%z) {ADD} {{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}}'
    text = f"""func.func @main(%x: tensor<3xi64>) -> tensor<3xi64> {{
      %f = "stablehlo.async_start"(%x) ({{
      ^bb0(%z: tensor<3xi64>):
        %0 = {reduce} : (tensor<3xi64>) -> tensor<3xi64>
        stablehlo.return %0 : tensor<3xi64>
      }}) : (tensor<3xi64>) -> !stablehlo.future<tensor<3xi64>>
      %done = "stablehlo.async_done"(%f) : (!stablehlo.future<tensor<3xi64>>) -> tensor<3xi64>
      return %done : tensor<3xi64>
    }}"""
    module = xla.parse(text)
    total = rows[0, 0][0] + rows[1, 0][0]
    for (got,) in evaluate_replicas(module, [rows[0, 0], rows[1, 0]], num_partitions=1):
        np.testing.assert_array_equal(got, total)


def test_a_root_that_is_in_no_group_is_an_error(client):
    text = """func.func @main(%x: tensor<2xi64>, %r: tensor<1xi32>) -> tensor<2xi64> {
      %y = "stablehlo.collective_broadcast"(%x, %r) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>,
        has_dynamic_root = true} : (tensor<2xi64>, tensor<1xi32>) -> tensor<2xi64>
      return %y : tensor<2xi64>
    }"""
    executable = client.compile(text, xla.CompileOptions(num_replicas=2))
    row = [np.zeros(2, np.int64), np.array([2], np.int32)]
    results = executable.execute_sharded([row, row])
    with pytest.raises(InvalidArgumentError, match="root 2 is none of a group of 2 devices"):
        np.asarray(results[0][0])


JAX = """
import json, sys
import jax, jax.numpy as jnp, numpy as np
from jax.sharding import Mesh, PartitionSpec as P
jax.config.update("jax_enable_x64", True)
mesh = Mesh(np.array(jax.devices()[:4]).reshape(2, 2), ("x", "y"))
x = np.arange(64, dtype=np.float32).reshape(8, 8) - 20
bodies = {
    "psum": lambda v: jax.lax.psum(v, "x"),
    "psum of both": lambda v: jax.lax.psum(v, ("x", "y")),
    "pmax": lambda v: jax.lax.pmax(v, "y"),
    "all_gather": lambda v: jax.lax.all_gather(v, "y", axis=1, tiled=True),
    "ppermute": lambda v: jax.lax.ppermute(v, "x", [(0, 1), (1, 0)]),
    "all_to_all": lambda v: jax.lax.all_to_all(v, "y", 0, 1, tiled=True),
    "psum_scatter": lambda v: jax.lax.psum_scatter(v, "x", scatter_dimension=0, tiled=True),
    "axis_index": lambda v: v + jax.lax.axis_index("x") * 100 + jax.lax.axis_index("y"),
}
out = {}
for name, body in bodies.items():
    f = jax.jit(jax.shard_map(body, mesh=mesh, in_specs=P("x", "y"), out_specs=P("x", "y"), check_vma=False))
    lowered = f.lower(x)
    y = f(x)
    shards = sorted(y.addressable_shards, key=lambda s: s.device.id)
    args = sorted(jax.device_put(x, jax.sharding.NamedSharding(mesh, P("x", "y"))).addressable_shards,
        key=lambda s: s.device.id)
    hlo = f.lower(x).compile().as_text()
    out[name] = dict(hlo=hlo, arguments=[np.asarray(s.data).tolist() for s in args],
        results=[np.asarray(s.data).tolist() for s in shards])
print(json.dumps(out))
"""


def test_what_jax_compiles_for_four_devices(client):
    """The partitioned programs of shard_map, as JAX's compiler prints them, run here with JAX's results."""
    pytest.importorskip("jax")
    environment = {"XLA_FLAGS": "--xla_force_host_platform_device_count=4", "JAX_PLATFORMS": "cpu", "PATH": "/usr/bin"}
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(JAX)], env=environment, capture_output=True, text=True, timeout=240
    )
    assert done.returncode == 0, done.stderr[-2000:]
    programs = json.loads(done.stdout)
    for name, program in programs.items():
        module = xla.parse(program["hlo"])
        arguments = [[np.array(a, np.float32)] for a in program["arguments"]]
        for out in (
            evaluate_replicas(module, arguments, num_partitions=4, timeout=20),
            client.compile(module, xla.CompileOptions(num_partitions=4)).execute_sharded(arguments),
        ):
            for row, want in zip(out, program["results"], strict=True):
                np.testing.assert_array_equal(np.asarray(row[0]), np.array(want, np.float32), err_msg=name)
