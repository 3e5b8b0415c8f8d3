"""HLO's collectives between two and four devices, against numpy; evaluator and CPU backend.

The CPU backend computes a collective by the evaluator's definition, so that comparing the two can't find an error of both.
Device i is replica i // partitions and partition i % partitions; the groups contain these numbers.
"""

from __future__ import annotations

import functools

import numpy as np
import pytest

import xla_core as xla
from xla_core.errors import InternalError, InvalidArgumentError
from xla_core.hlo import evaluate_replicas

# Name: (replicas, partitions, attributes, the groups that these mean).
ALIKE = {
    "two replicas": (2, 1, "", [[0, 1]]),
    "two replicas, the last first": (2, 1, "replica_groups={{1,0}}", [[1, 0]]),
    "each of two alone": (2, 1, "replica_groups={{0},{1}}", [[0], [1]]),
    "four replicas": (4, 1, "", [[0, 1, 2, 3]]),
    "pairs of replicas": (4, 1, "replica_groups={{0,2},{3,1}}", [[0, 2], [3, 1]]),
    "columns of a grid": (4, 1, "replica_groups=[2,2]<=[2,2]T(1,0)", [[0, 2], [1, 3]]),
    "replicas of each partition": (2, 2, "replica_groups={{1,0}}", [[2, 0], [3, 1]]),
}
REDUCING = ALIKE | {
    "two partitions": (1, 2, "channel_id=1, replica_groups={{1,0}}, use_global_device_ids=true", [[1, 0]]),
    "replicas with their partitions": (2, 2, "channel_id=1, replica_groups={{0},{1}}", [[0, 1], [2, 3]]),
    "numbers of devices": (
        2,
        2,
        "channel_id=1, replica_groups={{3,0},{1,2}}, use_global_device_ids=true",
        [[3, 0], [1, 2]],
    ),
}
MOVING = ALIKE | {
    "two partitions": (1, 2, "channel_id=1, replica_groups={{1,0}}", [[1, 0]]),
    "partitions of each replica": (2, 2, "channel_id=1, replica_groups={{1,0}}", [[1, 0], [3, 2]]),
    "all partitions": (1, 4, "channel_id=1", [[0, 1, 2, 3]]),
}
COMBINERS = {
    "add": ("c = f32[] add(a, b)", np.add),
    "maximum": ("c = f32[] maximum(a, b)", np.maximum),
    "odd": ("s = f32[] subtract(a, b)\n  c = f32[] abs(s)", lambda a, b: np.abs(a - b)),
}


@pytest.fixture(scope="module")
def client():
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XLA_FLAGS", "--xla_force_host_platform_device_count=4")
        with xla.Client("cpu") as made:
            yield made


@pytest.fixture(params=["evaluator", "cpu"])
def run(request, client):
    """`run(replicas, partitions, lines, rows)`: the entry's last line is its root; what each device gets."""

    def run(replicas, partitions, lines, rows, combiner="add"):
        parameters = "\n  ".join(
            f"x{i} = {xla.hlo.Shape.of(x).without_layout()} parameter({i})" for i, x in enumerate(rows[0])
        )
        *before, root = lines.splitlines()
        body = "\n  ".join([*before, f"ROOT {root.strip()}"])
        combined = COMBINERS[combiner][0].replace("c =", "ROOT c =")
        text = (
            f"HloModule m, replica_count={replicas}, num_partitions={partitions}\n"
            f"combine {{\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  {combined}\n}}\n"
            f"ENTRY e {{\n  {parameters}\n  {body}\n}}"
        )
        if request.param == "evaluator":
            out = evaluate_replicas(xla.parse(text), rows, timeout=20)
        else:
            out = client.compile(text).execute_sharded(rows)
        return [[np.asarray(r) for r in row] for row in out]

    return run


def numbers(count, *shapes, dtype=np.float32):
    """Makes an array of each shape for each device, of small whole numbers, whose sums are exact."""
    rng = np.random.default_rng(count)
    return [[rng.integers(-9, 9, shape).astype(dtype) for shape in shapes] for _ in range(count)]


def group_of(groups, device):
    return next((group for group in groups if device in group), [])


def joined(*parts):
    return ", ".join(part for part in parts if part)


def reduced(rows, group, index, function=np.add):
    return functools.reduce(function, [rows[d][index] for d in group])


# -- that combine --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("asynchronous", [False, True], ids=["", "start"])
@pytest.mark.parametrize("combiner", COMBINERS)
@pytest.mark.parametrize("name", REDUCING)
def test_all_reduce(run, name, combiner, asynchronous):
    replicas, partitions, attributes, groups = REDUCING[name]
    rows = numbers(replicas * partitions, (8, 3), (5,))
    shape = "(f32[8,3], f32[5])"
    attributes = joined(attributes, "to_apply=combine")
    lines = f"y = {shape} all-reduce(x0, x1), {attributes}"
    if asynchronous:
        lines = f"s = {shape} all-reduce-start(x0, x1), {attributes}\ny = {shape} all-reduce-done(s)"
    for device, got in enumerate(run(replicas, partitions, lines, rows, combiner)):
        for i, value in enumerate(got):
            wanted = reduced(rows, group_of(groups, device), i, COMBINERS[combiner][1])
            np.testing.assert_array_equal(value, wanted)


def test_all_reduce_in_groups_of_different_sizes(run):
    rows = numbers(4, (6,))
    results = run(4, 1, "y = f32[6] all-reduce(x0), replica_groups={{3,0},{1},{2}}, to_apply=combine", rows)
    for device, (got,) in enumerate(results):
        np.testing.assert_array_equal(got, reduced(rows, group_of([[3, 0], [1], [2]], device), 0))


def test_narrow_operands_are_combined_in_the_computations_type(run):
    """256 + 1 + 1 is 258 in f32, and 256 where every sum is rounded to bf16."""
    bf16 = xla.hlo.ElementType.BF16.dtype
    rows = [[np.array([value], bf16)] for value in (256, 1, 1, 0)]
    for (got,) in run(4, 1, "y = bf16[1] all-reduce(x0), to_apply=combine", rows):
        np.testing.assert_array_equal(got, np.array([258], bf16))


@pytest.mark.parametrize("name", REDUCING)
def test_reduce_scatter(run, name):
    replicas, partitions, attributes, groups = REDUCING[name]
    rows = numbers(replicas * partitions, (8, 3))
    size = len(groups[0])
    attributes = joined(attributes, "dimensions={0}, to_apply=combine")
    for device, (got,) in enumerate(
        run(replicas, partitions, f"y = f32[{8 // size},3] reduce-scatter(x0), {attributes}", rows)
    ):
        group = group_of(groups, device)
        np.testing.assert_array_equal(got, np.split(reduced(rows, group, 0), size)[group.index(device)])


# -- that move -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("asynchronous", [False, True], ids=["", "start"])
@pytest.mark.parametrize("name", REDUCING)
def test_all_gather(run, name, asynchronous):
    replicas, partitions, attributes, groups = REDUCING[name]
    rows = numbers(replicas * partitions, (2, 3))
    shape = f"f32[2,{3 * len(groups[0])}]"
    attributes = joined(attributes, "dimensions={1}")
    lines = f"y = {shape} all-gather(x0), {attributes}"
    if asynchronous:
        lines = f"s = (f32[2,3], {shape}) all-gather-start(x0), {attributes}\ny = {shape} all-gather-done(s)"
    for device, (got,) in enumerate(run(replicas, partitions, lines, rows)):
        np.testing.assert_array_equal(got, np.concatenate([rows[d][0] for d in group_of(groups, device)], 1))


@pytest.mark.parametrize(
    "op", ["all-gather(x0), dimensions={0}", "reduce-scatter(x0), dimensions={0}, to_apply=combine"]
)
def test_nothing_gathered_or_scattered(run, op):
    for (got,) in run(2, 1, f"y = f32[0,2] {op}", numbers(2, (0, 2))):
        assert got.shape == (0, 2)


@pytest.mark.parametrize("name", MOVING)
def test_all_to_all(run, name):
    replicas, partitions, attributes, groups = MOVING[name]
    rows = numbers(replicas * partitions, (8, 3))
    size = len(groups[0])
    results = run(replicas, partitions, f"y = f32[8,3] all-to-all(x0), {joined(attributes, 'dimensions={0}')}", rows)
    for device, (got,) in enumerate(results):
        group = group_of(groups, device)
        place = group.index(device)
        np.testing.assert_array_equal(got, np.concatenate([np.split(rows[d][0], size)[place] for d in group]))


@pytest.mark.parametrize("name", MOVING)
def test_all_to_all_of_an_operand_a_device(run, name):
    replicas, partitions, attributes, groups = MOVING[name]
    size = len(groups[0])
    rows = numbers(replicas * partitions, *[(2, 3)] * size)
    shape = f"({', '.join(['f32[2,3]'] * size)})"
    operands = ", ".join(f"x{i}" for i in range(size))
    results = run(replicas, partitions, f"y = {shape} {joined(f'all-to-all({operands})', attributes)}", rows)
    for device, got in enumerate(results):
        group = group_of(groups, device)
        np.testing.assert_array_equal(got, [rows[d][group.index(device)] for d in group])


@pytest.mark.parametrize("name", MOVING)
def test_collective_broadcast(run, name):
    replicas, partitions, attributes, groups = MOVING[name]
    rows = numbers(replicas * partitions, (5,))
    results = run(replicas, partitions, f"y = f32[5] {joined('collective-broadcast(x0)', attributes)}", rows)
    for device, (got,) in enumerate(results):
        np.testing.assert_array_equal(got, rows[group_of(groups, device)[0]][0])


def test_a_broadcast_leaves_zeros_where_no_group_is(run):
    rows = numbers(4, (5,))
    results = run(4, 1, "y = f32[5] collective-broadcast(x0), replica_groups={{2,0}}", rows)
    np.testing.assert_array_equal([r for (r,) in results], [rows[2][0], 0 * rows[1][0], rows[2][0], 0 * rows[3][0]])


# Name: (replicas, partitions, attributes, the device that each device gets its operand from).
PERMUTATIONS = {
    "swap": (2, 1, "source_target_pairs={{0,1},{1,0}}", [1, 0]),
    "one way": (2, 1, "source_target_pairs={{0,1}}", [None, 0]),
    "to itself": (2, 1, "source_target_pairs={{1,1}}", [None, 1]),
    "none": (2, 1, "source_target_pairs={}", [None, None]),
    "ring": (4, 1, "source_target_pairs={{0,1},{1,2},{2,3},{3,0}}", [3, 0, 1, 2]),
    "replicas of each partition": (2, 2, "source_target_pairs={{0,1}}", [None, None, 0, 1]),
    "partitions of each replica": (2, 2, "channel_id=1, source_target_pairs={{1,0}}", [1, None, 3, None]),
}


@pytest.mark.parametrize("asynchronous", [False, True], ids=["", "start"])
@pytest.mark.parametrize("name", PERMUTATIONS)
def test_collective_permute(run, name, asynchronous):
    replicas, partitions, attributes, sources = PERMUTATIONS[name]
    rows = numbers(replicas * partitions, (2, 3))
    lines = f"y = f32[2,3] collective-permute(x0), {attributes}"
    if asynchronous:
        lines = (
            f"s = (f32[2,3], f32[2,3], u32[], u32[]) collective-permute-start(x0), {attributes}\n"
            "y = f32[2,3] collective-permute-done(s)"
        )
    for (got,), source in zip(run(replicas, partitions, lines, rows), sources, strict=True):
        np.testing.assert_array_equal(got, np.zeros((2, 3)) if source is None else rows[source][0])


# -- ragged-all-to-all ---------------------------------------------------------------------------------------------


def ragged_arguments(groups, count, ranges, rows):
    """Each device sends ranges of random sizes to the devices of its group, which concatenate them."""
    rng = np.random.default_rng(rows)
    sizes = {}
    for group in groups:
        for sender in group:
            for receiver in group:
                sizes[sender, receiver] = rng.integers(0, rows // (len(group) * ranges) + 1, ranges)
    table = {device: [] for device in range(count)}
    for group in groups:
        free = dict.fromkeys(group, 0)
        for sender in group:
            targets = []
            for receiver in group:
                ends = free[receiver] + np.cumsum(sizes[sender, receiver])
                targets.append(ends - sizes[sender, receiver])
                free[receiver] = int(ends[-1])
            sends = np.stack([sizes[sender, receiver] for receiver in group])
            ends = np.cumsum(sends).reshape(sends.shape)
            received = np.stack([sizes[other, sender] for other in group])
            table[sender] = [ends - sends, sends, np.stack(targets), received]
    return table


@pytest.mark.parametrize("ranges", [1, 2, "table"])
@pytest.mark.parametrize("name", MOVING)
def test_ragged_all_to_all(run, name, ranges):
    replicas, partitions, attributes, groups = MOVING[name]
    count, size, rows = replicas * partitions, len(groups[0]), 12
    flat = ranges != "table"
    tables = ragged_arguments(groups, count, ranges if flat else 2, rows)
    data = numbers(count, (rows, 2), (rows, 2))
    dtype = np.int32 if flat else np.int64
    arguments = [[*data[d], *((t.reshape(-1) if flat else t).astype(dtype) for t in tables[d])] for d in range(count)]
    lines = f"y = f32[{rows},2] {joined('ragged-all-to-all(x0, x1, x2, x3, x4, x5)', attributes)}"
    moved = 0
    for receiver, (got,) in enumerate(run(replicas, partitions, lines, arguments)):
        group = group_of(groups, receiver)
        wanted = data[receiver][1].copy()
        for sender in group:
            starts, sends, targets, _ = (t[group.index(receiver)] for t in tables[sender])
            for start, length, target in zip(starts, sends, targets, strict=True):
                wanted[target : target + length] = data[sender][0][start : start + length]
                moved += length
        np.testing.assert_array_equal(got, wanted)
    assert moved > size


RAGGED = "y = f32[4] ragged-all-to-all(x0, x1, x2, x3, x4, x5), replica_groups={{1,0}}"
GOOD = {"input_offsets": [0, 1], "send_sizes": [1, 1], "output_offsets": [0, 1], "recv_sizes": [1, 1]}


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"send_sizes": [-1, 1]}, "send_sizes and input_offsets .* name -1 rows from row 0 on; the operand has 2"),
        ({"send_sizes": [3, 1]}, "name 3 rows from row 0 on; the operand has 2"),
        ({"input_offsets": [2, 1]}, "name 1 rows from row 2 on; the operand has 2"),
        ({"input_offsets": [-1, 1]}, "name 1 rows from row -1 on; the operand has 2"),
        ({"output_offsets": [9, 0]}, "send_sizes and output_offsets .* name 1 rows from row 9 on; the output has 4"),
        ({"output_offsets": [-1, 0]}, "name 1 rows from row -1 on; the output has 4"),
        ({"recv_sizes": [0, 1]}, "send_sizes has 1 rows .*, whose recv_sizes has 0"),
    ],
)
def test_rows_that_are_not_there(run, wrong, message):
    """The error of every device of the group names the sender and the receiver. Device 1 is the first of the group."""
    fine, bad = ([np.array(v, np.int32) for v in (GOOD | w).values()] for w in ({}, wrong))
    data = numbers(2, (2,), (4,))
    with pytest.raises(InvalidArgumentError, match=message) as caught:
        run(2, 1, RAGGED, [[*data[0], *fine], [*data[1], *bad]])
    assert "from replica 1, partition 0 to replica 1, partition 0" in str(caught.value)
    assert not isinstance(caught.value, InternalError)


def test_an_empty_range_may_be_anywhere(run):
    tables = [np.array(t, np.int32) for t in ([0, 77], [1, 0], [0, 99], [1, 0])]
    other = [np.array(t, np.int32) for t in ([-5, 0], [0, 1], [-7, 3], [0, 1])]
    data = numbers(2, (2,), (4,))
    lines = "y = f32[4] ragged-all-to-all(x0, x1, x2, x3, x4, x5), replica_groups={{0,1}}"
    (first,), (second,) = run(2, 1, lines, [[*data[0], *tables], [*data[1], *other]])
    np.testing.assert_array_equal(first, [data[0][0][0], *data[0][1][1:]])
    np.testing.assert_array_equal(second, [*data[1][1][:3], data[1][0][0]])


# -- what is known before it runs ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("op", "message"),
    [
        (
            "f32[4] all-gather(x0), dimensions={0}, replica_groups={{0,1}}",
            "names replica 1; the program runs on 1 replica",
        ),
        (
            "f32[2] collective-permute(x0), source_target_pairs={{0,7}}",
            "names replica 7; the program runs on 1 replica",
        ),
        ("f32[4] all-gather(x0), dimensions={0}", r"on 1 device is not f32\[4\]"),
    ],
)
def test_a_program_that_its_devices_cannot_run_is_not_compiled(client, op, message):
    """Text without a number of replicas can be read for any number, but is compiled for one."""
    text = f"HloModule m\nENTRY e {{\n  x0 = f32[2] parameter(0)\n  ROOT y = {op}\n}}"
    with pytest.raises(InvalidArgumentError, match=message):
        client.compile(text)
    if "{{0,1}}" in op:
        client.compile(text, xla.CompileOptions(num_replicas=2))
    with pytest.raises(InvalidArgumentError, match=r"the program runs on 1 replica|on 1 device"):
        evaluate_replicas(xla.parse(text), [[np.zeros(2, np.float32)]])
