"""Meshes: found by name whoever defined them, their devices, and the parts of their axes."""

from __future__ import annotations

import re

import pytest

from xla_core.errors import InvalidArgumentError, ResourceExhaustedError
from xla_core.stablehlo import lower, parse_text, read
from xla_core.stablehlo.ir.attributes import Mesh
from xla_core.stablehlo.sharding.mesh import device_mesh, find_mesh, parse_mesh

GROUPS = """
func.func @main(%x: tensor<4xf32>) -> tensor<8xf32> {
  %0 = "stablehlo.all_gather"(%x) {all_gather_dim = 0 : i64, replica_groups =
    #stablehlo.replica_group_mesh_axes<mesh = #stablehlo.mesh<axes = [MESH]>, axes = [AXIS]>}
    : (tensor<4xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
"""
MANUAL = """
sdy.mesh @mesh = <[MESH]>
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{AXIS}]>] out_shardings=[<@mesh, [{AXIS}]>]
      manual_axes={"x"} (%a: tensor<4xf32>) {
    sdy.return %a : tensor<4xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
"""


def test_shardys_meshes_are_found() -> None:
    module = parse_text('sdy.mesh @m = <["x"=2, "y"=3], device_ids=[5, 4, 3, 2, 1, 0]>\nfunc.func @main() { return }')
    mesh = find_mesh("m", module)
    assert mesh is not None
    assert mesh.axes == (("x", 2), ("y", 3))
    assert device_mesh(mesh).devices().tolist() == [5, 4, 3, 2, 1, 0]
    assert find_mesh("other", module) is None
    assert find_mesh("main", module) is None


def test_devices_are_in_order_where_nothing_is_said() -> None:
    assert device_mesh(parse_mesh('mesh<["a"=2, "b"=2]>')).devices().tolist() == [0, 1, 2, 3]
    assert device_mesh(Mesh(())).devices().tolist() == [0]


def test_a_mesh_names_as_many_devices_as_it_has() -> None:
    with pytest.raises(InvalidArgumentError, match=r"a mesh of 4 devices names 2: \[0, 1\]"):
        device_mesh(parse_mesh('mesh<["x"=4], device_ids=[0, 1]>')).devices()


@pytest.mark.parametrize(
    ("sizes", "part", "message"),
    [
        ((4,), (1, 0), "the axis 'x' of a mesh has size 4: there is no sub-axis (1)0 of it"),
        ((4,), (0, 2), "there is no sub-axis (0)2"),
        ((4,), (1, 3), "there is no sub-axis (1)3"),
        ((4,), (2, 4), "there is no sub-axis (2)4"),
        ((4,), (-1, 2), "there is no sub-axis (-1)2"),
        ((0,), (1, 1), "the axis 'x' of a mesh has size 0, but must be at least 1"),
        ((2, 2), (1, 2), "a mesh has two axes 'x'"),
    ],
)
def test_parts_that_an_axis_does_not_have(sizes: tuple[int, ...], part: tuple[int, int], message: str) -> None:
    first, size = part
    axes = ", ".join(f'#stablehlo.mesh_axis<name = "x", size = {n}>' for n in sizes)
    axis = f'#stablehlo.axis_ref<name = "x", sub_axis_info = ({first}){size}>'
    with pytest.raises(InvalidArgumentError, match=rf"^<input>:3:8: .*{re.escape(message)}"):
        lower(read(GROUPS.replace("MESH", axes).replace("AXIS", axis)))
    if first >= 0:  # Shardy's attributes have no signs
        axes = ", ".join(f'"x"={n}' for n in sizes)
        with pytest.raises(InvalidArgumentError, match=rf"^<input>:4:8: .*{re.escape(message)}"):
            read(MANUAL.replace("MESH", axes).replace("AXIS", f'"x":({first}){size}'))


@pytest.mark.parametrize(
    "groups",
    [
        "#stablehlo.replica_group_mesh_axes<mesh = #stablehlo.mesh<axes = [#stablehlo.mesh_axis<name = "
        '"x", size = 1000000000000>]>, axes = [#stablehlo.axis_ref<name = "x">]>',
        "dense<-1> : tensor<1000x1000000000xi64>",
        "dense<> : tensor<1000000000000x0xi64>",
    ],
)
def test_more_devices_than_there_are_anywhere(groups: str) -> None:
    text = f"""func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {{
  %0 = "stablehlo.all_reduce"(%x) ({{
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }}) {{replica_groups = {groups}}} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}}"""
    with pytest.raises(ResourceExhaustedError, match="1,048,576") as raised:
        lower(read(text))
    assert raised.value.location is not None
    assert raised.value.location.line == 2
