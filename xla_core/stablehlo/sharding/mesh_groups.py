"""Replica groups that the axes of a mesh give."""

from __future__ import annotations

from xla_core.errors import InvalidArgumentError
from xla_core.hlo.attributes import ReplicaGroups
from xla_core.hlo.mesh import groups_along
from xla_core.stablehlo import ir
from xla_core.stablehlo.ir.attributes import Mesh, ReplicaGroupMeshAxes
from xla_core.stablehlo.sharding.mesh import find_mesh

__all__ = ["mesh_groups"]


def mesh_groups(groups: ReplicaGroupMeshAxes, module: ir.Module, op: ir.Op) -> ReplicaGroups:
    """Devices that differ along the axes alone make a group, the last of the axes running fastest.

    Raises InvalidArgumentError where the mesh, an axis or a part of one is not there.
    """
    mesh = groups.mesh if isinstance(groups.mesh, Mesh) else find_mesh(str(groups.mesh), module)
    if mesh is None:
        raise InvalidArgumentError(
            f"replica_groups: mesh symbol '{groups.mesh}' not found", op=op.name, location=op.location
        )
    return groups_along(mesh.axes, None if mesh.device_ids is None else mesh.device_ids.array, groups.axes)
