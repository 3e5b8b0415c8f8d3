"""Reads replica groups in HLO text, in any form, as lists of groups.

The forms are `{{0,1},{2,3}}`, `[2,2]<=[4]T(1,0)` and `mesh['a'=2,'b'=2] {'b'}`.
"""

from __future__ import annotations

import math
import re

import numpy as np

from xla_core.errors import XlaError
from xla_core.hlo.table.attributes import ReplicaGroups
from xla_core.hlo.table.mesh import AxisRef, axis_sizes, groups_along, mesh_devices
from xla_core.hlo.text.cursor import Cursor, braced_list
from xla_core.hlo.text.strings import unescaped

_MOST = 1 << 24
_SIZES = r"(\d{1,18}(?:,\d{1,18}){0,63}+)"
_IOTA = re.compile(rf"\[{_SIZES}\](?:T\({_SIZES}\))?\s*")
_IOTA_GROUPS = re.compile(rf"\[{_SIZES}\]<=\[{_SIZES}\](?:T\({_SIZES}\))?\s*")
_MESH = re.compile(r"mesh\s*\[\s*")
_DEVICE_IDS = re.compile(r",\s*device_ids\s*=\s*\(\s*")
_AXIS = re.compile(r"""(?:'((?:[^'\\]|\\.)*+)'|"((?:[^"\\]|\\.)*+)")\s*""", re.S)


def read_groups(cursor: Cursor, _: object) -> ReplicaGroups:
    """Reads groups in any of the three forms."""
    start = cursor.position
    if cursor.match(_MESH):
        return _along_axes(cursor, start)
    if match := cursor.match(_IOTA_GROUPS):
        what = "these replica groups"
        groups = _sizes(cursor, start, what, match[1])
        if len(groups) > 2:
            raise cursor.error(f"{what} have {len(groups)} sizes; 2 is the most", position=start)
        devices = _iota(cursor, start, what, match[2], match[3], math.prod(groups))
        table = devices.reshape(groups[0], math.prod(groups[1:]))
        return tuple(tuple(row) for row in table.tolist())
    groups_read = braced_list(cursor, lambda: braced_list(cursor, cursor.integer))
    return () if groups_read == ((),) else groups_read


def _along_axes(cursor: Cursor, start: int) -> ReplicaGroups:
    """Reads the text after `mesh[`: `'a'=2,'b'=4], device_ids=([4,2]T(1,0)) {'a','b':(1)2}`.

    Without device_ids, the devices are 0, 1, 2, ...
    """

    def axis() -> tuple[str, int]:
        name = _axis(cursor)
        cursor.expect("=", "before the size of an axis")
        return name, cursor.integer("the size of an axis")

    axes = braced_list(cursor, axis, "a mesh", ("", "]"))
    at = start
    try:
        axis_sizes(axes)
        devices = mesh_devices(axes)
        at = cursor.position
        if cursor.match(_DEVICE_IDS):
            devices = mesh_devices(axes, _device_ids(cursor, at, devices.size))
        at = cursor.position
        return groups_along(axes, devices, braced_list(cursor, lambda: _axis_ref(cursor)))
    except XlaError as error:
        if error.location is not None:
            raise
        raise cursor.error(error.message, position=at, hint=error.hint) from None


def _device_ids(cursor: Cursor, start: int, count: int) -> np.ndarray:
    """Reads `count` device ids: `[4,2]T(1,0))` or `0,2,1,3)`."""
    if match := cursor.match(_IOTA):
        devices = _iota(cursor, start, "device_ids", match[1], match[2], count)
        cursor.expect(")", "after device_ids")
        return devices
    ids = braced_list(cursor, lambda: cursor.integer("the number of a device"), "device_ids", ("", ")"))
    if len(ids) == count and sorted(ids) != list(range(count)):
        raise cursor.error(f"device_ids are not the numbers from 0 to {count - 1}, each once", position=start)
    return np.array(ids)


def _axis_ref(cursor: Cursor) -> AxisRef:
    """Reads `'a'` or `'a':(1)2`."""
    name = _axis(cursor)
    if not cursor.accept(":"):
        return AxisRef(name)
    cursor.expect("(", "before what is major to a sub-axis")
    pre_size = cursor.integer("the product of what is major to a sub-axis")
    cursor.expect(")", "before the size of a sub-axis")
    return AxisRef(name, pre_size, cursor.integer("the size of a sub-axis"))


def _axis(cursor: Cursor) -> str:
    match = cursor.take(_AXIS, "an axis's name in quotes")
    return unescaped(match[1] if match[1] is not None else match[2])


def _iota(cursor: Cursor, start: int, what: str, sizes: str, order: str | None, count: int) -> np.ndarray:
    """Returns the numbers below `count` as `[4,2]T(1,0)` arranges them, for sizes "4,2" and order "1,0"."""
    reshape, transpose = _sizes(cursor, start, what, sizes), _integers(order)
    if math.prod(reshape) != count:
        raise cursor.error(
            f"the sizes of {what} don't agree: they are {math.prod(reshape)}, not {count}", position=start
        )
    if transpose and sorted(transpose) != list(range(len(reshape))):
        raise cursor.error(f"the transposition of {what} is not a permutation", position=start)
    table = np.arange(count).reshape(reshape)
    return (table.transpose(transpose) if transpose else table).reshape(-1)


def _sizes(cursor: Cursor, start: int, what: str, text: str) -> list[int]:
    sizes = _integers(text)
    if math.prod(max(1, size) for size in sizes) > _MOST:
        raise cursor.error(f"the sizes of {what} are more than {_MOST:,}", position=start)
    return sizes


def _integers(text: str | None) -> list[int]:
    return [int(part) for part in (text or "").split(",") if part]
