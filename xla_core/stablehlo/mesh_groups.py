"""Replica groups that are given by the axes of a mesh."""

from __future__ import annotations

import itertools

import numpy as np

from xla_core.errors import InvalidArgumentError
from xla_core.hlo.attributes import ReplicaGroups
from xla_core.stablehlo import ir
from xla_core.stablehlo.attributes import AxisRef, Mesh, ReplicaGroupMeshAxes
from xla_core.stablehlo.mesh import axis_sizes, device_ids, find_mesh, sub_axis

__all__ = ["mesh_groups"]


def mesh_groups(groups: ReplicaGroupMeshAxes, module: ir.Module, op: ir.Op) -> ReplicaGroups:
    """Devices that differ along the axes alone make a group; those axes count from the last to the first.

    Raises InvalidArgumentError where the mesh, an axis or a part of one is not there.
    """
    mesh = groups.mesh if isinstance(groups.mesh, Mesh) else find_mesh(str(groups.mesh), module)
    if mesh is None:
        raise InvalidArgumentError(
            f"replica_groups: mesh symbol '{groups.mesh}' not found", op=op.name, location=op.location
        )
    sizes = axis_sizes(mesh)
    split: list[int] = []  # the mesh's axes, each cut where a sub-axis begins or ends
    picked: dict[int, int] = {}  # position in `split` -> place among the axes given
    for name, size in sizes.items():
        wanted = [(order, axis) for order, axis in enumerate(groups.axes) if axis.name == name]
        start = len(split)
        cuts = _cuts(size, [axis for _, axis in wanted], op)
        split += [cuts[i + 1] // cuts[i] for i in range(len(cuts) - 1)]
        for order, axis in wanted:
            first, last = sub_axis(size, axis)
            for i in range(len(cuts) - 1):
                if first <= cuts[i] and cuts[i + 1] <= last and cuts[i] != cuts[i + 1]:
                    picked[start + i] = order
    missing = [axis.name for axis in groups.axes if axis.name not in sizes]
    if missing:
        raise InvalidArgumentError(f"the mesh has no axis {missing[0]!r}", op=op.name, location=op.location)
    rest = [i for i in range(len(split)) if i not in picked]
    inner = sorted(picked, key=lambda i: (picked[i], i))
    grid = device_ids(mesh).reshape(split).transpose([*rest, *inner])
    width = int(np.prod([split[i] for i in inner])) if inner else 1
    return tuple(tuple(int(i) for i in row) for row in grid.reshape(-1, width))


def _cuts(size: int, axes: list[AxisRef], op: ir.Op) -> list[int]:
    """Where an axis of `size` has to be cut: products of major parts, from 1 to `size`."""
    cuts = {1, size}
    for axis in axes:
        cuts |= set(sub_axis(size, axis))
    ordered = sorted(cuts)
    if any(b % a for a, b in itertools.pairwise(ordered)):
        raise InvalidArgumentError("sub-axes of a mesh do not divide it", op=op.name, location=op.location)
    return ordered
