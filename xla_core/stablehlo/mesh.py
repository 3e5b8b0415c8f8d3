"""Meshes of devices, StableHLO's own and Shardy's: which one a name means, its devices, the parts of its axes.

Source: openxla/shardy, shardy/dialect/sdy/ir/attrs.td; openxla/stablehlo, stablehlo/dialect/StablehloAttrs.td.
"""

from __future__ import annotations

import math
import re

import numpy as np

from xla_core.stablehlo.attributes import AxisRef, DenseElements, Mesh, OpaqueAttribute
from xla_core.stablehlo.ir import Module, TensorType

__all__ = ["device_ids", "find_mesh", "parse_mesh", "sub_axis"]

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


def device_ids(mesh: Mesh) -> np.ndarray:
    """The devices' numbers, the last axis running fastest: (product of the axes' sizes,)."""
    if mesh.device_ids is not None:
        return mesh.device_ids.array.reshape(-1)
    return np.arange(math.prod(size for _, size in mesh.axes))


def sub_axis(size: int, axis: AxisRef) -> tuple[int, int]:
    """Which part of an axis of `size` a reference means: the products of what is major to it, without it and with it.

    (1, size) is the whole axis; `pre_size` and `size` of a sub-axis say p and s of (p, p * s).
    """
    if axis.size is None:
        return 1, size
    first = axis.pre_size or 1
    return first, first * axis.size
