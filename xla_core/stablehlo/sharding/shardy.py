"""Parses Shardy's meshes and shardings from their text.

Source: openxla/shardy, shardy/dialect/sdy/ir/attrs.td, parsers.cc.
"""

from __future__ import annotations

import re

from xla_core.errors import InvalidArgumentError
from xla_core.hlo.table.mesh import axis_sizes, sub_axis
from xla_core.spmd import DeviceMesh, Sharding
from xla_core.stablehlo import ir
from xla_core.stablehlo.sharding.mesh import device_mesh, find_mesh, parse_mesh

_AXIS = re.compile(r'"((?:[^"\\]|\\.)*)"\s*(?::\s*\(\s*(\d+)\s*\)\s*(\d+))?')
_DIMENSION = re.compile(r"\{([^{}]*)\}")
_UNREDUCED = re.compile(r"unreduced\s*=\s*\{([^{}]*)\}")
_SHARDING = re.compile(r'<\s*(@"(?:[^"\\]|\\.)*"|@[\w$.\-]+|mesh\s*<[^<>]*>)\s*,\s*\[([^\[\]]*)\]([^<>]*)>')


def axis_names(attribute: object) -> frozenset[str]:
    """Returns the names in `#sdy<manual_axes{"x", "y"}>`."""
    return frozenset(match[1] for match in _AXIS.finditer(str(attribute)))


def parse_shardings(attribute: object, module: ir.Module, op: ir.Op) -> list[Sharding]:
    """Parses the shardings of `#sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>, ...]>`.

    Raises InvalidArgumentError if the mesh, an axis or a sub-axis doesn't exist, or an axis is used twice.
    """
    found = []
    for match in _SHARDING.finditer(str(attribute)):
        mesh = _mesh(match[1], module, op)
        sizes = axis_sizes(mesh.axes)
        dimensions = tuple(_axes(part[1]) for part in _DIMENSION.finditer(match[2]))
        summed = _UNREDUCED.search(match[3])
        unreduced = _axes(summed[1]) if summed else ()
        used: dict[str, list[tuple[int, int]]] = {}
        for axis in (axis for axes in (*dimensions, unreduced) for axis in axes):
            if axis.name not in sizes:
                raise InvalidArgumentError(f"the mesh {match[1]} has no axis {axis.name!r}")
            first, last = sub_axis(sizes[axis.name], axis)
            if any(first < other_last and other_first < last for other_first, other_last in used.get(axis.name, ())):
                raise InvalidArgumentError(f"the sharding {match[0]} uses axis {axis.name!r} twice")
            used.setdefault(axis.name, []).append((first, last))
        found.append(Sharding(mesh, dimensions, unreduced))
    return found


def _axes(text: str) -> tuple[ir.AxisRef, ...]:
    return tuple(
        ir.AxisRef(name, int(pre_size), int(size)) if size else ir.AxisRef(name)
        for name, pre_size, size in _AXIS.findall(text)
    )


def _mesh(name: str, module: ir.Module, op: ir.Op) -> DeviceMesh:
    """Returns the mesh for `@mesh`, or for an inlined mesh such as `mesh<["x"=2]>`."""
    mesh = find_mesh(name[1:].strip('"'), module) if name.startswith("@") else parse_mesh(name)
    if mesh is None:
        raise InvalidArgumentError(f"there is no mesh {name}", op=op.name, location=op.location)
    return device_mesh(mesh)
