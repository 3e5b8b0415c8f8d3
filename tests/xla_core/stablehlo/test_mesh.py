"""Meshes: found by name whoever defined them, their devices, and the parts of their axes."""

from __future__ import annotations

import pytest

from xla_core.stablehlo import parse_text
from xla_core.stablehlo.attributes import AxisRef, Mesh
from xla_core.stablehlo.mesh import device_ids, find_mesh, parse_mesh, sub_axis


def test_shardys_meshes_are_found() -> None:
    module = parse_text('sdy.mesh @m = <["x"=2, "y"=3], device_ids=[5, 4, 3, 2, 1, 0]>\nfunc.func @main() { return }')
    mesh = find_mesh("m", module)
    assert mesh is not None
    assert mesh.axes == (("x", 2), ("y", 3))
    assert device_ids(mesh).tolist() == [5, 4, 3, 2, 1, 0]
    assert find_mesh("other", module) is None
    assert find_mesh("main", module) is None


def test_devices_are_in_order_where_nothing_is_said() -> None:
    assert device_ids(parse_mesh('mesh<["a"=2, "b"=2]>')).tolist() == [0, 1, 2, 3]
    assert device_ids(Mesh(())).tolist() == [0]


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
