"""Replica groups, channels and roots of collectives: checks and conversion to HLO."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from xla_core.errors import ResourceExhaustedError
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.attributes import ReplicaGroups, SliceDimension
from xla_core.hlo.table.mesh import MAX_DEVICES
from xla_core.hlo.table.opcode import Opcode
from xla_core.stablehlo import ir
from xla_core.stablehlo.lower.context import LoweringContext
from xla_core.stablehlo.ops.common import CHANNEL, tensor
from xla_core.stablehlo.sharding.mesh import mesh_groups
from xla_core.stablehlo.table.op_table import Attribute, Kind

CHANNEL_AND_GROUPS = {
    "replica_groups": Attribute(
        Kind.STRUCT,
        classes=(ir.DenseElements, ir.ReplicaGroupMeshAxes),
        says="64-bit signless integer elements attribute or mesh and axes based replica groups representation.",
    ),
    "channel_handle": CHANNEL,
}
GLOBAL_IDS = {"use_global_device_ids": Attribute(Kind.ANY, None)}


def _groups(op: ir.Op, module: ir.Module) -> ReplicaGroups:
    value = op.attributes["replica_groups"]
    if isinstance(value, ir.ReplicaGroupMeshAxes):
        return mesh_groups(value, module, op)
    return listed_groups(value)


def listed_groups(value: Any) -> ReplicaGroups:
    """Returns the rows of a tensor of ids, without the -1 that pads short rows.

    Raises ResourceExhaustedError for more than 2^20 ids.
    """
    if isinstance(value, ir.DenseElements) and math.prod(max(1, size) for size in value.type.shape) > MAX_DEVICES:
        raise ResourceExhaustedError(f"replica_groups of {value.type} are for more than {MAX_DEVICES:,} devices")
    rows = value.array.tolist() if isinstance(value, ir.DenseElements) else [list(row) for row in value]
    return tuple(tuple(int(i) for i in row if i >= 0) for row in rows if row)


def _ids(value: ir.DenseElements) -> list[int]:
    """Returns the ids of a tensor that isn't too large to be lowered."""
    return [int(i) for i in value.array.reshape(-1).tolist()] if value.size <= MAX_DEVICES else []


def check_groups(op: ir.Op, *, ragged: bool = False, size: int | None = None) -> int | None:
    """Checks that the groups are a rank-2 tensor with each of the ids 0, 1, ... exactly once.

    `ragged` allows -1 as padding; `size` is the required group size. Returns the group size, or None for the axes of a
    mesh.
    """
    value = op.attributes["replica_groups"]
    if isinstance(value, ir.ReplicaGroupMeshAxes):
        return None
    if not isinstance(value, ir.DenseElements) or value.type.rank != 2:
        op.fail("replica groups should be a rank 2 tensor")
    if value.size == 0 and op.attributes.get("use_global_device_ids"):
        op.fail("if `use_global_device_ids` is set, the replica groups cannot be empty")
    seen: set[int] = set()
    for i in _ids(value):
        if i == -1:
            if not ragged:
                op.fail("Invalid replica id -1")
            continue
        if i in seen:
            op.fail(f"replica id #{i} seen more than once")
        seen.add(i)
    for i in range(len(seen)):
        if i not in seen:
            op.fail(f"replica id #{i} not seen in replica groups")
    if size is not None and (value.type.shape[0] == 0 or value.type.shape[1] != size):
        op.fail(f"group size of replica_groups must be {size}")
    return value.type.shape[1]


def check_mesh(op: ir.Op, module: ir.Module) -> None:
    """Checks that the mesh whose axes `replica_groups` names is in the module."""
    value = op.attributes["replica_groups"]
    if not isinstance(value, ir.ReplicaGroupMeshAxes) or isinstance(value.mesh, ir.Mesh):
        return
    if not _has_symbol(module, str(value.mesh)):
        op.fail(f"replica_groups: mesh symbol '{value.mesh}' not found")


def check_broadcast_groups(op: ir.Op) -> None:
    """Checks the groups of collective_broadcast: the ids are unique, and a process may be in no group."""
    value = op.attributes["replica_groups"]
    if isinstance(value, ir.ReplicaGroupMeshAxes):
        return
    if not isinstance(value, ir.DenseElements) or value.type.rank != 2:
        rank = value.type.rank if isinstance(value, ir.DenseElements) else 0
        op.fail(f"replica groups should be a rank 2 tensor,but instead it is of rank {rank}")
    seen: set[int] = set()
    for i in _ids(value):
        if i < 0:
            op.fail(f"replica_groups values must be positive, but was given {i}")
        if i in seen:
            op.fail(f"replica id #{i} seen more than once")
        seen.add(i)


def _has_symbol(module: ir.Module, name: str) -> bool:
    return name in module.functions or any(str(o.attributes.get("sym_name")) == name for o in module.others)


def check_channel(op: ir.Op, *, negative: str = "") -> None:
    handle = op.attributes.get("channel_handle")
    channel = handle.handle if isinstance(handle, ir.ChannelHandle) else 0
    if not op.attributes.get("use_global_device_ids") or channel > 0:
        return
    if not negative:
        op.fail(f"channel_id must be positive when useGlobalDeviceIds is set but got: {channel}")
    if channel < 0:
        op.fail(negative)


def collective_attributes(ctx: LoweringContext, op: ir.Op) -> dict[str, Any]:
    """Returns HLO's `replica_groups`, `channel_id` and `use_global_device_ids`."""
    attributes: dict[str, Any] = {}
    if "replica_groups" in op.attributes:
        attributes["replica_groups"] = _groups(op, ctx.module.source)
    attributes.update(channel_attributes(op))
    if op.attributes.get("use_global_device_ids"):
        attributes["use_global_device_ids"] = True
    return attributes


def channel_attributes(op: ir.Op) -> dict[str, Any]:
    """Returns HLO's `channel_id`. A handle of 0 gives none, because HLO's channel ids start at 1."""
    handle = op.attributes.get("channel_handle")
    return {"channel_id": handle.handle} if isinstance(handle, ir.ChannelHandle) and handle.handle > 0 else {}


def data_operands(op: ir.Op, name: str) -> list[ir.TensorType]:
    """Returns the types of the data operands; checks the last operand where it holds the roots."""
    types = [tensor(op, i) for i in range(len(op.operands))]
    if not op.attributes.get("has_dynamic_root"):
        if not types:
            op.fail(f"{name} requires at least one data operand")
        return types
    if len(types) < 2:
        op.fail(f"{name} with has_dynamic_root=true requires at least two operands (data + root)")
    *data, root = types
    if root.rank != 1 or root.element != "i32":
        op.fail(f"last operand of {name} with has_dynamic_root=true must be a rank-1 i32 tensor, but got '{root}'")
    if root.shape[0] not in (ir.DYNAMIC, len(data)):
        op.fail(
            f"last operand of {name} with has_dynamic_root=true must have the same number of elements as data operands "
            f"({len(data)}), but got {root.shape[0]}"
        )
    return data


def with_roots(
    ctx: LoweringContext, op: ir.Op, operands: Sequence[HloInstruction]
) -> tuple[list[tuple[HloInstruction, ...]], dict[str, Any]]:
    """Returns the operands of one HLO op for each data operand, and the attribute that marks a root among them."""
    if not op.attributes.get("has_dynamic_root"):
        return [(o,) for o in operands], {}
    *data, roots = operands
    if len(data) == 1:
        return [(data[0], roots)], {"has_dynamic_root": True}
    places = [ctx.add(Opcode.SLICE, roots, slice=(SliceDimension(i, i + 1),)) for i in range(len(data))]
    return list(zip(data, places, strict=True)), {"has_dynamic_root": True}
