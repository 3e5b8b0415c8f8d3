"""Device meshes: their axes and sub-axes, and the replica groups along some of them.

HLO text and StableHLO both have them. (XLA: xla/hlo/ir/mesh_and_axis.h, MeshAxesReplicaGroupList in
xla/hlo/ir/replica_group.h.)
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Sequence

import numpy as np

from xla_core.errors import InvalidArgumentError, ResourceExhaustedError
from xla_core.hlo.table.attributes import ReplicaGroups

MAX_DEVICES = 1 << 20

MeshAxes = Sequence[tuple[str, int]]
"""(name, size) of each axis of a mesh. The last axis varies fastest."""


@dataclasses.dataclass(frozen=True, slots=True)
class AxisRef:
    """An axis of a mesh, or, with `size`, one of its sub-axes: `'a'`, `'a':(pre_size)size`."""

    name: str
    pre_size: int | None = None
    size: int | None = None


def axis_sizes(axes: MeshAxes) -> dict[str, int]:
    """Returns the axes' sizes by name.

    Raises:
        InvalidArgumentError: for an axis of size less than 1, or two axes of one name.
    """
    sizes: dict[str, int] = {}
    for name, size in axes:
        if size < 1:
            raise InvalidArgumentError(f"the axis {name!r} of a mesh has size {size}, but must be at least 1")
        if name in sizes:
            raise InvalidArgumentError(f"a mesh has two axes {name!r}")
        sizes[name] = size
    return sizes


def mesh_devices(axes: MeshAxes, ids: np.ndarray | None = None) -> np.ndarray:
    """Returns the ids of the mesh's devices, of shape (product of the axes' sizes,). The last axis varies fastest.

    Args:
        axes: the axes of the mesh.
        ids: the ids in mesh order; by default 0, 1, 2, ...

    Raises:
        InvalidArgumentError: where the number of `ids` differs from the number of devices.
        ResourceExhaustedError: for a mesh of more than 2^20 devices.
    """
    count = math.prod(size for _, size in axes)
    if count > MAX_DEVICES:
        raise ResourceExhaustedError(f"a mesh has {count} devices; {MAX_DEVICES:,} is the most")
    if ids is None:
        return np.arange(count)
    if ids.size != count:
        raise InvalidArgumentError(f"a mesh of {count} devices names {ids.size}: {ids.reshape(-1)[:16].tolist()}")
    return ids.reshape(-1)


def sub_axis(size: int, axis: AxisRef) -> tuple[int, int]:
    """Returns the sub-axis that `axis` means of an axis of `size`, as (p, q).

    p is the product of the sizes major to the sub-axis, and q is p times the sub-axis' own size. The whole axis is (1,
    size).

    Raises:
        InvalidArgumentError: where the axis has no such sub-axis.
    """
    if axis.size is None:
        return 1, size
    first = 1 if axis.pre_size is None else axis.pre_size
    if first < 1 or axis.size < 1 or size % (first * axis.size):
        raise InvalidArgumentError(
            f"the axis {axis.name!r} of a mesh has size {size}: there is no sub-axis ({first}){axis.size} of it",
            hint="a sub-axis (p)s has positive p and s, and p * s divides the axis",
        )
    return first, first * axis.size


def groups_along(axes: MeshAxes, ids: np.ndarray | None, along: Iterable[AxisRef]) -> ReplicaGroups:
    """Returns the replica groups along axes of a mesh.

    Devices whose coordinates differ only along the axes `along` form a group. The last of these axes varies fastest.

    Raises:
        InvalidArgumentError: where an axis or sub-axis doesn't exist, or is given twice.
    """
    sizes = axis_sizes(axes)
    devices = mesh_devices(axes, ids)
    parts: dict[str, list[tuple[int, int, int]]] = {}  # (first, last) of `sub_axis`, and the index in `along`
    for order, axis in enumerate(along):
        if axis.name not in sizes:
            raise InvalidArgumentError(f"the mesh has no axis {axis.name!r}", hint=f"its axes are {_listed(sizes)}")
        parts.setdefault(axis.name, []).append((*sub_axis(sizes[axis.name], axis), order))
    split: list[int] = []  # sizes of the axes, each split where a sub-axis begins or ends; size 1 is left out
    picked: dict[int, int] = {}  # index in `split` -> index in `along`
    for name, size in sizes.items():
        done = 1
        for first, last, order in sorted(parts.get(name, ())):
            if first == last:
                continue
            if first < done:
                raise InvalidArgumentError(f"parts of the axis {name!r} of a mesh overlap")
            if first % done:
                raise InvalidArgumentError(f"the sub-axes of {name!r} do not divide that axis of the mesh")
            if first > done:
                split.append(first // done)
            picked[len(split)] = order
            split.append(last // first)
            done = last
        if size > done:
            split.append(size // done)
    rest = [i for i in range(len(split)) if i not in picked]
    inner = sorted(picked, key=picked.__getitem__)
    grid = devices.reshape(split).transpose([*rest, *inner])
    return tuple(tuple(row) for row in grid.reshape(-1, math.prod(split[i] for i in inner)).tolist())


def _listed(sizes: dict[str, int]) -> str:
    names = [repr(name) for name in list(sizes)[:8]]
    return ", ".join(names + ["..."] * (len(sizes) > 8)) or "none"
