"""Meshes, and which shard each device has."""

from __future__ import annotations

import numpy as np
import pytest

from xla_core.errors import InvalidArgumentError, UnimplementedError
from xla_core.hlo.table.mesh import AxisRef
from xla_core.hlo.values.shape import ElementType, Shape
from xla_core.spmd import DeviceMesh, Sharding
from xla_core.spmd.sharding import parse_sharding, shard_indices, sharding_text
from xla_core.spmd.shards import shard_shape


def test_parts_of_axes() -> None:
    """By hand: device d of a mesh ["x"=4, "y"=2] has x = d // 2, y = d % 2."""
    mesh = DeviceMesh((("x", 4), ("y", 2)))
    d = np.arange(8)
    for axes, want in (
        ((AxisRef("x"),), d // 2),
        ((AxisRef("y"),), d % 2),
        ((AxisRef("y"), AxisRef("x")), d % 2 * 4 + d // 2),
        ((AxisRef("x", 1, 2),), d // 4),
        ((AxisRef("x", 2, 2),), d // 2 % 2),
        ((), d * 0),
    ):
        np.testing.assert_array_equal(shard_indices(mesh, axes), want)
    np.testing.assert_array_equal(shard_indices(DeviceMesh((("x", 4),), (3, 1, 0, 2)), (AxisRef("x"),)), [2, 1, 3, 0])


def test_a_sharding_counts_shards_and_terms() -> None:
    mesh = DeviceMesh((("x", 4), ("y", 2)))
    sharding = Sharding(mesh, ((AxisRef("x", 1, 2),), ()), (AxisRef("y"),))
    assert (sharding.shard_counts, sharding.term_count, sharding.is_divided) == ([2, 1], 2, True)
    assert shard_shape(Shape(ElementType.F32, (4, 3)), sharding).dimensions == (2, 3)
    assert not Sharding(mesh, ((), ())).is_divided
    with pytest.raises(InvalidArgumentError, match=r"dimension 0 .* can't be split evenly into 2 shards"):
        shard_shape(Shape(ElementType.F32, (5, 3)), sharding)


def test_a_mesh_over_some_of_the_devices_is_refused() -> None:
    with pytest.raises(UnimplementedError, match="needs a partitioner"):
        shard_indices(DeviceMesh((("x", 2),), (1, 3)), (AxisRef("x"),))


@pytest.mark.parametrize(
    "text",
    ["{devices=[2,1]0,1}", "{devices=[2,1,2]0,2,1,3 last_tile_dim_replicate}", "{devices=[1,4]3,1,0,2}"],
)
def test_text_of_a_sharding(text: str) -> None:
    assert sharding_text(parse_sharding(text)) == text
