"""Meshes of devices, StableHLO's own and Shardy's: which one a name means, its devices, the parts of its axes.

Source: openxla/shardy, shardy/dialect/sdy/ir/attrs.td; openxla/stablehlo, stablehlo/dialect/StablehloAttrs.td.
"""

from __future__ import annotations

import math
import re

import numpy as np

from xla_core.errors import InvalidArgumentError, ResourceExhaustedError
from xla_core.stablehlo.attributes import AxisRef, DenseElements, Mesh, OpaqueAttribute
from xla_core.stablehlo.ir import Module, TensorType

__all__ = ["MAX_DEVICES", "axis_sizes", "device_ids", "find_mesh", "parse_mesh", "sub_axis"]

MAX_DEVICES = 1 << 20

_AXIS = re.compile(r'"((?:[^"\\]|\\.)*)"\s*=\s*(\d+)')
_DEVICE_IDS = re.compile(r"device_ids\s*=\s*\[([\d,\s]*)\]")


def find_mesh(name: str, module: Module) -> Mesh | None:
    """The mesh that an op of the module defines under this symbol; None where there is none."""
    for op in (*module.others, *module.functions.values()):
        if str(op.attributes.get("sym_name")) == name:
            for key in ("mesh", "stablehlo.mesh"):
                mesh = op.attributes.get(key)
                if isinstance(mesh, Mesh):
                    return mesh
                if isinstance(mesh, OpaqueAttribute) and op.name == "sdy.mesh":
                    return parse_mesh(mesh.text)
    return None


def parse_mesh(text: str) -> Mesh:
    """`<["x"=2, "y"=2], device_ids=[3, 2, 1, 0]>`, as Shardy writes it."""
    axes = tuple((name, int(size)) for name, size in _AXIS.findall(text))
    ids = _DEVICE_IDS.search(text)
    if ids is None:
        return Mesh(axes)
    data = np.array([int(number) for number in ids[1].split(",") if number.strip()], np.int64)
    return Mesh(axes, DenseElements(TensorType(data.shape, "i64"), data))


def axis_sizes(mesh: Mesh) -> dict[str, int]:
    """The sizes of the axes by name. Raises InvalidArgumentError for an axis without devices, or two of one name."""
    sizes: dict[str, int] = {}
    for name, size in mesh.axes:
        if size < 1:
            raise InvalidArgumentError(f"the axis {name!r} of a mesh has size {size}; 1 is the least")
        if name in sizes:
            raise InvalidArgumentError(f"a mesh has two axes {name!r}")
        sizes[name] = size
    return sizes


def device_ids(mesh: Mesh) -> np.ndarray:
    """The devices' numbers, the last axis running fastest: (product of the axes' sizes,).

    Raises InvalidArgumentError where the mesh names more or fewer devices, ResourceExhaustedError beyond 2^20 of them.
    """
    count = math.prod(size for _, size in mesh.axes)
    if count > MAX_DEVICES:
        raise ResourceExhaustedError(f"a mesh has {count} devices; {MAX_DEVICES:,} is the most")
    if mesh.device_ids is None:
        return np.arange(count)
    ids = mesh.device_ids.array.reshape(-1)
    if ids.size != count:
        raise InvalidArgumentError(f"a mesh of {count} devices names {ids.size}: {ids[:16].tolist()}")
    return ids


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
