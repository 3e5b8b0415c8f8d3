"""Meshes of devices: the parts of their axes, and the groups along them, as HLO text has them."""

from __future__ import annotations

import re

import pytest

from xla_core.errors import InvalidArgumentError, ResourceExhaustedError
from xla_core.hlo.parsing.parser import parse_hlo
from xla_core.hlo.table.attributes import ReplicaGroups
from xla_core.hlo.table.mesh import AxisRef, groups_along, sub_axis

EIGHT = "mesh['a'=2,'b'=4]"


def read(groups: str) -> ReplicaGroups:
    text = (
        "HloModule m, num_partitions=8\nENTRY e {\n p = f32[8] parameter(0)\n"
        f" ROOT r = f32[8] all-to-all(p), channel_id=1, replica_groups={groups}, dimensions={{0}}\n}}\n"
    )
    found: ReplicaGroups = parse_hlo(text).entry.root.attribute("replica_groups")
    return found


@pytest.mark.parametrize(
    ("axis", "part"),
    [
        (AxisRef("x"), (1, 12)),
        (AxisRef("x", 1, 2), (1, 2)),
        (AxisRef("x", 2, 3), (2, 6)),
        (AxisRef("x", 6, 2), (6, 12)),
    ],
)
def test_parts_of_an_axis(axis: AxisRef, part: tuple[int, int]) -> None:
    assert sub_axis(12, axis) == part


def test_axes_of_one_device_are_as_many_as_one_likes() -> None:
    axes = [*((f"x{i}", 1) for i in range(100)), ("y", 2)]
    assert groups_along(axes, None, [AxisRef("x3"), AxisRef("y")]) == ((0, 1),)
    assert groups_along(axes, None, [AxisRef("x3")]) == ((0,), (1,))


# Those without device_ids are what XLA's CPU compiler runs of the same text (jaxlib 0.10.2, an all-gather of 8
# devices' numbers); it reads device_ids too, but forgets them on the way through MLIR.
@pytest.mark.parametrize(
    ("text", "groups"),
    [
        (f"{EIGHT} {{'b'}}", "0123 4567"),
        (f"{EIGHT} {{'a'}}", "04 15 26 37"),
        (f"{EIGHT} {{'b':(1)2}}", "02 13 46 57"),
        (f"{EIGHT} {{'b':(2)2}}", "01 23 45 67"),
        (f"{EIGHT} {{'a','b':(1)2}}", "0246 1357"),
        (f"{EIGHT} {{'b':(1)2,'a'}}", "0426 1537"),
        (f"{EIGHT} {{'a','b'}}", "01234567"),
        (f"{EIGHT} {{'b','a'}}", "04152637"),
        ("mesh['a'=8] {'a':(4)2,'a':(1)2}", "0415 2637"),
        ("mesh['a'=8] {'a':(1)2,'a':(4)2}", "0145 2367"),
        ("mesh['a'=8] {'a':(2)2}", "02 13 46 57"),
        ("mesh['a'=8] {'a':(4)2,'a':(2)2}", "0213 4657"),
        ("mesh['a'=2,'b'=2,'c'=2] {'c','a'}", "0415 2637"),
        (f"{EIGHT}, device_ids=([8]) {{'b'}}", "0123 4567"),
        (f"{EIGHT}, device_ids=([4,2]T(1,0)) {{'b'}}", "0246 1357"),
        (f"{EIGHT}, device_ids=([2,4]T(1,0)) {{'b'}}", "0415 2637"),
        (f"{EIGHT}, device_ids=([2,2,2]T(2,1,0)) {{'a'}}", "01 45 23 67"),
        (f"{EIGHT}, device_ids=(0,2,4,6,1,3,5,7) {{'b'}}", "0246 1357"),
        (f"{EIGHT},device_ids=([2,2,2]T(0,2,1)){{'b':(2)2}}", "02 13 46 57"),
        ("mesh[ 'a' = 2, \"b c\"=4 ]\n { 'a' , \"b c\":(1)2 }", "0246 1357"),
        (f"{EIGHT} {{}}", "0 1 2 3 4 5 6 7"),
    ],
)
def test_groups_along_axes(text: str, groups: str) -> None:
    assert read(text) == tuple(tuple(map(int, group)) for group in groups.split())


@pytest.mark.parametrize(
    ("text", "message", "at"),
    [
        (f"{EIGHT} {{'c'}}", "the mesh has no axis 'c'", "{'c'"),
        (f"{EIGHT} {{'b':(3)2}}", "the axis 'b' of a mesh has size 4: there is no sub-axis (3)2 of it", "{'b'"),
        (f"{EIGHT} {{'b':(1)3}}", "there is no sub-axis (1)3", "{'b'"),
        (f"{EIGHT} {{'b':(0)2}}", "there is no sub-axis (0)2", "{'b'"),
        (f"{EIGHT} {{'b':(1)-2}}", "there is no sub-axis (1)-2", "{'b'"),
        (f"{EIGHT} {{'b','b'}}", "parts of the axis 'b' of a mesh overlap", "{'b'"),
        (f"{EIGHT} {{'b':(2)2,'b'}}", "parts of the axis 'b' of a mesh overlap", "{'b'"),
        ("mesh['a'=12] {'a':(1)2,'a':(3)2}", "the sub-axes of 'a' do not divide that axis of the mesh", "{'a'"),
        ("mesh['a'=2,'a'=4] {'a'}", "a mesh has two axes 'a'", "mesh"),
        ("mesh['a'=0] {'a'}", "the axis 'a' of a mesh has size 0, but must be at least 1", "mesh"),
        ("mesh['a'=-2] {'a'}", "the axis 'a' of a mesh has size -2", "mesh"),
        ("mesh['a'=1000000000000] {'a'}", "a mesh has 1000000000000 devices; 1,048,576 is the most", "mesh"),
        ("mesh['a'=4], device_ids=([2,4]T(1,0)) {'a'}", "sizes of device_ids don't agree: they are 8, not 4", ", device"),
        (f"{EIGHT}, device_ids=([2,4]T(1,1)) {{'b'}}", "the transposition of device_ids is not a perm", ", device"),
        (f"{EIGHT}, device_ids=([2,4]T(1)) {{'b'}}", "the transposition of device_ids is not a permutation", ", device"),
        ("mesh['a'=4], device_ids=(0,1,2) {'a'}", "a mesh of 4 devices names 3: [0, 1, 2]", ", device"),
        ("mesh['a'=4], device_ids=() {'a'}", "a mesh of 4 devices names 0: []", ", device"),
        ("mesh['a'=4], device_ids=(0,1,2,2) {'a'}", "not the numbers from 0 to 3, each once", ", device"),
        ("mesh['a'=4], device_ids=(0,1,2,-1) {'a'}", "not the numbers from 0 to 3, each once", ", device"),
        ("mesh['a'=4], device_ids=([4]) 'a'", "expected '{'", "'a',"),
        ("mesh[a=4] {a}", "expected an axis's name in quotes", "a=4"),
        ("mesh['a=4] {a}", "expected an axis's name in quotes", "'a=4"),
        ("mesh['a'=4,] {'a'}", "expected an axis's name in quotes", "] {"),
        ("mesh['a'] {'a'}", "expected '='", "] {"),
        ("mesh['a'=x] {'a'}", "expected the size of an axis", "x] {"),
        ("mesh['a'=8] {'a':1(2)}", "expected '('", "1(2"),
        ("mesh['a'=8] {'a':(1)}", "expected the size of a sub-axis", "},"),
    ],
)  # fmt: skip
def test_malformed_groups_along_axes(text: str, message: str, at: str) -> None:
    with pytest.raises(InvalidArgumentError, match=re.escape(message)) as caught:
        read(text)
    line = f" ROOT r = f32[8] all-to-all(p), channel_id=1, replica_groups={text}, dimensions={{0}}"
    assert caught.value.location is not None
    assert caught.value.location.line == 4
    assert line[caught.value.location.column - 1 :].startswith(at)


def test_groups_along_axes_beyond_any_memory() -> None:
    with pytest.raises(ResourceExhaustedError, match="1,048,576 is the most"):
        groups_along([("a", 1 << 40)], None, [])


def test_groups_that_count_up_to_nothing() -> None:
    assert read("[0,2]<=[0]") == read("[0]<=[0]") == ()
    assert read("[2,0]<=[0]") == ((), ())
    with pytest.raises(InvalidArgumentError, match="sizes of these replica groups"):
        read("[100000000000000000,0]<=[0]")


@pytest.mark.parametrize(
    "text",
    ["[0,1]<=[0,999999999999999999,999999999999999999]", "[0,1]<=[999999999999999999,0,999999999999999999]T(2,1,0)"],
)
def test_what_groups_count_up_in_beyond_any_memory(text: str) -> None:
    with pytest.raises(InvalidArgumentError, match="the sizes of these replica groups are more than 16,777,216"):
        read(text)
    with pytest.raises(InvalidArgumentError, match="the sizes of device_ids are more than 16,777,216"):
        read("mesh['a'=4], device_ids=(" + text.partition("<=")[2] + ") {'a'}")
