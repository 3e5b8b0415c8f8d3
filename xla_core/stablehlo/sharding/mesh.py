"""Finds meshes of devices by name, StableHLO's own and Shardy's.

Source: openxla/shardy, shardy/dialect/sdy/ir/attrs.td; openxla/stablehlo, stablehlo/dialect/StablehloAttrs.td.
"""

from __future__ import annotations

import re

from xla_core.errors import InvalidArgumentError
from xla_core.hlo.table.attributes import ReplicaGroups
from xla_core.hlo.table.mesh import groups_along
from xla_core.spmd import DeviceMesh
from xla_core.stablehlo import ir

_AXIS = re.compile(r'"((?:[^"\\]|\\.)*)"\s*=\s*(\d+)')
_DEVICE_IDS = re.compile(r"device_ids\s*=\s*\[([\d,\s]*)\]")


def find_mesh(name: str, module: ir.Module) -> ir.Mesh | None:
    """Returns the mesh that an op of the module defines under this symbol, or None."""
    for op in (*module.others, *module.functions.values()):
        if str(op.attributes.get("sym_name")) == name:
            for key in ("mesh", "stablehlo.mesh"):
                mesh = op.attributes.get(key)
                if isinstance(mesh, ir.Mesh):
                    return mesh
                if isinstance(mesh, ir.OpaqueAttribute) and op.name == "sdy.mesh":
                    return parse_mesh(mesh.text)
    return None


def parse_mesh(text: str) -> ir.Mesh:
    """Parses a mesh as Shardy writes it: `<["x"=2, "y"=2], device_ids=[3, 2, 1, 0]>`."""
    axes = tuple((name, int(size)) for name, size in _AXIS.findall(text))
    ids = _DEVICE_IDS.search(text)
    if ids is None:
        return ir.Mesh(axes)
    return ir.Mesh(axes, ir.dense([int(number) for number in ids[1].split(",") if number.strip()]))


def device_mesh(mesh: ir.Mesh) -> DeviceMesh:
    ids = mesh.device_ids
    return DeviceMesh(mesh.axes, None if ids is None else tuple(map(int, ids.array.ravel())))


def mesh_groups(groups: ir.ReplicaGroupMeshAxes, module: ir.Module, op: ir.Op) -> ReplicaGroups:
    """Returns the replica groups along mesh axes: devices that differ only along the axes form a group.

    In a group the last axis varies fastest. Raises InvalidArgumentError if the mesh, an axis or a sub-axis doesn't
    exist.
    """
    mesh = groups.mesh if isinstance(groups.mesh, ir.Mesh) else find_mesh(str(groups.mesh), module)
    if mesh is None:
        raise InvalidArgumentError(
            f"replica_groups: mesh symbol '{groups.mesh}' not found", op=op.name, location=op.location
        )
    return groups_along(mesh.axes, None if mesh.device_ids is None else mesh.device_ids.array, groups.axes)
