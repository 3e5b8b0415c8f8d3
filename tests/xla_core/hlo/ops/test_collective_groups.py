"""Groups of collectives: what they are in each mode, and which are refused before anything runs."""

from __future__ import annotations

import pytest

from xla_core.errors import InvalidArgumentError
from xla_core.hlo import HloModule, verify
from xla_core.hlo.ops.collective_groups import CollectiveGroups, GroupMode
from xla_core.hlo.parsing.parser import parse_hlo
from xla_core.hlo.verifier import verify_collectives

ATTRIBUTES = {
    GroupMode.CROSS_REPLICA: {},
    GroupMode.CROSS_REPLICA_AND_PARTITION: {"channel_id": 1},
    GroupMode.FLATTENED_ID: {"channel_id": 1, "use_global_device_ids": True},
}


def module(root: str, counts: str = "") -> HloModule:
    text = f"""HloModule m{counts}
add {{
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}}
ENTRY e {{
  x = f32[4] parameter(0)
  i = s32[4] parameter(1)
  d = f64[4] parameter(2)
  h = bf16[4] parameter(3)
  z = f32[0,2] parameter(4)
  n = s32[2] parameter(5)
  n2 = s32[2,3] parameter(6)
  ROOT r = {root}
}}"""
    return parse_hlo(text)


def check(root: str, counts: str = "") -> None:
    verify(module(root, counts))


# -- what groups are -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ATTRIBUTES)
def test_modes(mode: GroupMode) -> None:
    groups = CollectiveGroups.of("all-reduce", {"replica_groups": ((1, 0),), **ATTRIBUTES[mode]})
    assert groups.mode is mode
    assert groups.count is None
    assert groups.size == (None if mode is GroupMode.CROSS_REPLICA_AND_PARTITION else 2)


def test_a_channel_makes_partitions_of_what_all_to_all_names() -> None:
    groups = CollectiveGroups.of("all-to-all", {"replica_groups": ((1, 0, 2),), "channel_id": 1}, (2, 3))
    assert groups.mode is GroupMode.CROSS_PARTITION
    assert (groups.count, groups.size) == (3, 3)
    assert groups.of_device((1, 0)) == ((1, 1), (1, 0), (1, 2))


@pytest.mark.parametrize(
    ("mode", "groups", "size", "members"),
    [
        (GroupMode.CROSS_REPLICA, ((1, 0),), 2, ((1, 2), (0, 2))),
        (GroupMode.CROSS_REPLICA, (), 2, ((0, 2), (1, 2))),
        (GroupMode.CROSS_REPLICA_AND_PARTITION, ((0,), (1,)), 3, ((0, 0), (0, 1), (0, 2))),
        (GroupMode.CROSS_REPLICA_AND_PARTITION, (), 6, ((0, 0), (1, 0), (0, 1), (1, 1), (0, 2), (1, 2))),
        (GroupMode.FLATTENED_ID, ((5, 2), (0, 4), (1, 3)), 2, ((1, 2), (0, 2))),
        (GroupMode.FLATTENED_ID, (), 6, ((0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2))),
    ],
)
def test_the_group_of_replica_0_partition_2_of_2_by_3(
    mode: GroupMode, groups: tuple, size: int, members: tuple
) -> None:
    made = CollectiveGroups.of("all-reduce", {"replica_groups": groups, **ATTRIBUTES[mode]}, (2, 3))
    assert made.size == size
    assert made.of_device((0, 2)) == members


def test_groups_of_many_devices_are_not_written_out() -> None:
    assert CollectiveGroups.of("all-gather", {}, (1 << 60, 1)).size == 1 << 60
    check("f32[4] all-reduce(x), to_apply=add", ", replica_count=1152921504606846976")


def test_a_device_may_be_in_no_group_of_a_broadcast() -> None:
    groups = CollectiveGroups.of("collective-broadcast", {"replica_groups": ((2, 0),)}, (3, 1))
    assert groups.of_device((0, 0)) == ((2, 0), (0, 0))
    assert groups.of_device((1, 0)) == ()


# -- what is refused -----------------------------------------------------------------------------------------------

GATHER = "f32[8] all-gather(x), dimensions={0}, replica_groups="


@pytest.mark.parametrize(
    ("root", "counts", "message"),
    [
        (GATHER + "{{0,0}}", "", "names replica 0 twice"),
        (GATHER + "{{0,1},{1}}", "", "names replica 1 twice"),
        (GATHER + "{{0,1},{2}}", "", "groups of different sizes, which all-gather cannot have"),
        (GATHER + "{{0,7}}", "", "replica 1 in no group"),
        (GATHER + "{{0,7}}", ", replica_count=2", "names replica 7; the program runs on 2 replicas"),
        (GATHER + "{{0,1}}", ", replica_count=4", "replica 2 in no group; the program runs on 4 replicas"),
        (GATHER + "{{0,-1}}", "", "names replica -1; numbers are not negative"),
        (GATHER + "{{0,1}}, use_global_device_ids=true", "", "use_global_device_ids without a channel"),
        (
            GATHER + "{{0,1}}, channel_id=1, use_global_device_ids=true",
            ", replica_count=2, num_partitions=2",
            "device 2 in no group; the program runs on 4 devices",
        ),
        ("f32[4] all-reduce(x), to_apply=add, replica_groups={{0,1},{2,2}}", "", "names replica 2 twice"),
        ("f32[4] all-reduce-start(x), to_apply=add, replica_groups={{0,0}}", "", "names replica 0 twice"),
        ("f32[2] reduce-scatter(x), dimensions={0}, to_apply=add, replica_groups={{0,1},{2}}", "", "different sizes"),
        ("f32[4] all-to-all(x), dimensions={0}, replica_groups={{0,1},{2}}", "", "different sizes"),
        (
            "f32[4] all-to-all(x), dimensions={0}, channel_id=1, replica_groups={{0,4}}",
            ", replica_count=8, num_partitions=2",
            "names partition 4; the program runs on 2 partitions",
        ),
        ("(f32[4], f32[4]) all-to-all(x, x), replica_groups={{0,1,2}}", "", "2 operands for a group of 3 devices"),
        ("f32[4] ragged-all-to-all(x, x, n, n, n, n), replica_groups={{0,0}}", "", "names replica 0 twice"),
        ("f32[4] ragged-all-to-all(x, x, n, n, n, n), replica_groups={{0,1,2}}", "", "a group of 3 devices"),
        ("f32[4] ragged-all-to-all(x, x, n2, n2, n2, n2), replica_groups={{0,1,2}}", "", "a group of 3 devices"),
        ("f32[4] collective-broadcast(x), replica_groups={{0,0}}", "", "names replica 0 twice"),
        ("f32[4] collective-broadcast(x), replica_groups={{0,5}}", ", replica_count=2", "names replica 5"),
        ("f32[4] collective-permute(x), source_target_pairs={{0,7}}", ", replica_count=2", "names replica 7"),
        ("f32[4] collective-permute(x), source_target_pairs={{-1,0}}", "", "names replica -1"),
        (
            "f32[4] collective-permute(x), channel_id=1, source_target_pairs={{2,0}}",
            ", replica_count=4, num_partitions=2",
            "names partition 2",
        ),
    ],
)
def test_groups_that_no_program_can_have(root: str, counts: str, message: str) -> None:
    with pytest.raises(InvalidArgumentError, match=message) as caught:
        check(root, counts)
    assert caught.value.message.startswith("r: ")


@pytest.mark.parametrize(
    ("root", "counts"),
    [
        ("f32[4] all-reduce(x), to_apply=add, replica_groups={{0,1},{2}}", ", replica_count=3"),
        ("f32[4] collective-broadcast(x), replica_groups={{2,1},{0}}", ", replica_count=4"),
        # one replica is what a module has that says nothing
        (GATHER + "{{0,1}}", ""),
        ("f32[4] collective-permute(x), source_target_pairs={{0,7}}", ""),
        ("f32[16] all-gather(x), dimensions={0}, channel_id=1, replica_groups={{0,1}}", ", num_partitions=2"),
        ("f32[4] ragged-all-to-all(x, x, n2, n2, n2, n2), replica_groups={{0,1}}", ""),
    ],
)
def test_groups_that_a_program_can_have(root: str, counts: str) -> None:
    check(root, counts)


def test_the_devices_that_run_a_module_decide() -> None:
    gather = module(GATHER + "{{0,1}}")
    verify_collectives(gather, 2, 1)
    for counts in ((1, 1), (4, 1)):
        with pytest.raises(InvalidArgumentError, match=f"the program runs on {counts[0]} replica"):
            verify_collectives(gather, *counts)


# -- shapes that follow from how many devices meet -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("root", "counts", "message"),
    [
        ("f32[16] all-gather(x), dimensions={0}", ", replica_count=2", r"on 2 devices is not f32\[16\]"),
        ("f32[1] reduce-scatter(x), dimensions={0}, to_apply=add", ", replica_count=2", r"declared as f32\[1\]"),
        ("f32[4] all-to-all(x), dimensions={0}", ", replica_count=3", "does not split among 3 devices"),
        ("(f32[4], f32[4]) all-to-all(x, x)", ", replica_count=3", "2 operands for a group of 3 devices"),
        ("f32[4] ragged-all-to-all(x, x, n, n, n, n)", ", replica_count=3", "a group of 3 devices"),
        ("f32[4,2] all-gather(z), dimensions={0}", "", "is not"),
        ("f32[4,2] reduce-scatter(z), dimensions={0}, to_apply=add", "", "does not split"),
    ],
)
def test_a_shape_that_does_not_fit_the_devices(root: str, counts: str, message: str) -> None:
    with pytest.raises(InvalidArgumentError, match=message):
        check(root, counts)


@pytest.mark.parametrize("groups", ["", ", replica_groups={{0,1}}"])
@pytest.mark.parametrize("op", ["all-gather(z), dimensions={0}", "reduce-scatter(z), dimensions={0}, to_apply=add"])
def test_nothing_gathered_or_scattered_is_nothing(op: str, groups: str) -> None:
    check(f"f32[0,2] {op}{groups}")


PERMUTE = "collective-permute-start(x), source_target_pairs={{0,1}}"


@pytest.mark.parametrize(
    ("root", "counts", "message"),
    [
        (f"(f32[4], f32[8]) {PERMUTE}", "", r"collective-permute-start of f32\[4\] is \(f32\[4\], f32\[4\]\)"),
        (f"(f32[4], s8[4]) {PERMUTE}", "", "declared as"),
        (f"(f32[2], f32[4]) {PERMUTE}", "", "declared as"),
        (f"(f32[4], f32[4], token[]) {PERMUTE}", "", "must be of arrays"),
        (f"f32[4] {PERMUTE}", "", r"must be \(operand, result, ...\)"),
        ("(f32[4], f32[32]) all-gather-start(x), dimensions={0}", ", replica_count=2", "on 2 devices"),
        ("(f32[4], f32[32]) all-gather-start(x), dimensions={0}, replica_groups={{0,1}}", "", "on 2 devices"),
        ("(f32[4], f32[2]) all-gather-start(x), dimensions={0}", "", "is not"),
        ("((f32[4], f32[4]), (f32[8], s32[8])) all-gather-start(x, x), dimensions={0}", "", "is not"),
    ],
)
def test_the_result_of_a_start_is_checked(root: str, counts: str, message: str) -> None:
    with pytest.raises(InvalidArgumentError, match=message):
        check(root, counts)


@pytest.mark.parametrize(
    "root",
    [
        f"(f32[4], f32[4]) {PERMUTE}",
        f"(f32[4], f32[4], u32[], u32[]) {PERMUTE}",
        "((f32[4], s32[4]), (f32[4], s32[4])) collective-permute-start(x, i), source_target_pairs={{0,1}}",
        "(f32[4], f32[8]) all-gather-start(x), dimensions={0}, replica_groups={{0,1}}",
        "((f32[4], s32[4]), (f32[8], s32[8])) all-gather-start(x, i), dimensions={0}",
        "((f32[4]), (f32[8])) all-gather-start(x), dimensions={0}",
    ],
)
def test_starts_that_xla_writes(root: str) -> None:
    check(root)


# -- what is combined ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("root", "message"),
    [
        ("(f32[4], s32[4]) all-reduce(x, i), to_apply=add", r"operand 1 is s32\[4\], but to_apply add combines f32"),
        ("(f32[4], f64[4]) all-reduce(x, d), to_apply=add", r"operand 1 is f64\[4\], but to_apply add combines f32"),
        ("(f32[4], s32[4]) all-reduce-start(x, i), to_apply=add", "operand 1"),
        ("(f32[2], s32[2]) reduce-scatter(x, i), dimensions={0}, to_apply=add, replica_groups={{0,1}}", "operand 1"),
        ("(f32[4], s32[4]) collective-reduce(x, i), to_apply=add", "operand 1"),
        ("s32[4] all-reduce(i), to_apply=add", "does not fit s32"),
        ("f64[4] all-reduce(d), to_apply=add", "operand 0"),
    ],
)
def test_an_operand_that_the_computation_cannot_hold(root: str, message: str) -> None:
    with pytest.raises(InvalidArgumentError, match=message):
        check(root)


def test_narrower_operands_are_combined_in_the_computations_type() -> None:
    check("(f32[4], bf16[4]) all-reduce(x, h), to_apply=add")
