"""Meshes of devices: named axes, parts of them, and the groups of devices along some of them.

HLO text and StableHLO have them both. (XLA: xla/hlo/ir/mesh_and_axis.h, MeshAxesReplicaGroupList in
xla/hlo/ir/replica_group.h.)
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Sequence

import numpy as np

from xla_core.errors import InvalidArgumentError, ResourceExhaustedError
from xla_core.hlo.attributes import ReplicaGroups

__all__ = ["MAX_DEVICES", "AxisRef", "MeshAxes", "axis_sizes", "groups_along", "mesh_devices", "sub_axis"]

MAX_DEVICES = 1 << 20

MeshAxes = Sequence[tuple[str, int]]
"""The axes of a mesh, names and sizes, the last one running fastest."""


@dataclasses.dataclass(frozen=True, slots=True)
class AxisRef:
    """An axis of a mesh, or, with `size`, a sub-axis of it: `'a'`, `'a':(pre_size)size`."""

    name: str
    pre_size: int | None = None
    size: int | None = None


def axis_sizes(axes: MeshAxes) -> dict[str, int]:
    """The sizes of the axes by name. Raises InvalidArgumentError for an axis without devices, or two of one name."""
    sizes: dict[str, int] = {}
    for name, size in axes:
        if size < 1:
            raise InvalidArgumentError(f"the axis {name!r} of a mesh has size {size}; 1 is the least")
        if name in sizes:
            raise InvalidArgumentError(f"a mesh has two axes {name!r}")
        sizes[name] = size
    return sizes


def mesh_devices(axes: MeshAxes, ids: np.ndarray | None = None) -> np.ndarray:
    """The devices' numbers, the last axis running fastest: (product of the axes' sizes,).

    Raises InvalidArgumentError where `ids` are more or fewer, ResourceExhaustedError beyond 2^20 of them.
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
    """Which part of an axis of `size` a reference means: the products of what is major to it, without it and with it.

    (1, size) is the whole axis; `pre_size` and `size` of a sub-axis say p and s of (p, p * s). Raises
    InvalidArgumentError where the axis has no such part.
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
    """Devices that differ along the given axes alone make a group, the last of them running fastest.

    Raises InvalidArgumentError where an axis or a part of one is not there, or given twice.
    """
    sizes = axis_sizes(axes)
    devices = mesh_devices(axes, ids)
    parts: dict[str, list[tuple[int, int, int]]] = {}  # (first, last) of `sub_axis`, and which of the given ones
    for order, axis in enumerate(along):
        if axis.name not in sizes:
            raise InvalidArgumentError(f"the mesh has no axis {axis.name!r}", hint=f"its axes are {_listed(sizes)}")
        parts.setdefault(axis.name, []).append((*sub_axis(sizes[axis.name], axis), order))
    split: list[int] = []  # the mesh's axes, each cut where a sub-axis begins or ends; those of 1 don't matter
    picked: dict[int, int] = {}  # position in `split` -> place among the axes given
    for name, size in sizes.items():
        done = 1
        for first, last, order in sorted(parts.get(name, ())):
            if first == last:
                continue
            if first < done:
                raise InvalidArgumentError(f"parts of the axis {name!r} of a mesh overlap")
            if first % done:
                raise InvalidArgumentError(f"sub-axes of a mesh do not divide it: those of {name!r}")
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
