"""Shardings: how a tensor is divided between the devices of a mesh."""

from __future__ import annotations

import dataclasses
import math
import re

import numpy as np

from xla_core.errors import UnimplementedError
from xla_core.hlo.table.mesh import AxisRef, mesh_devices, sub_axis

REPLICATED = "{replicated}"

_WHOLE = re.compile(r"\{\s*(replicated|maximal device=\d+)\s*\}")
_TILED = re.compile(
    r"\{\s*devices=\[(?P<tiles>[\d, ]+)\](?:(?P<ids>[\d, ]+)|<=\[(?P<iota>[\d, ]+)\](?:T\((?P<order>[\d, ]+)\))?)\s*"
    r"(?P<last>last_tile_dim_replicate|last_tile_dims=\{[\w, ]*\})?\s*\}"
)


@dataclasses.dataclass(frozen=True)
class DeviceMesh:
    """A mesh of devices.

    Attributes:
        axes: (name, size) of each axis. The last axis varies fastest.
        ids: the devices in mesh order; None stands for 0, 1, 2, ...
    """

    axes: tuple[tuple[str, int], ...]
    ids: tuple[int, ...] | None = None

    def devices(self) -> np.ndarray:
        """Returns the device ids in row-major order of the axes, of shape (product of the axes' sizes,).

        Raises:
            InvalidArgumentError: if the mesh lists more or fewer devices.
            ResourceExhaustedError: beyond 2^20 devices.
        """
        return mesh_devices(self.axes, None if self.ids is None else np.array(self.ids, np.int64))


@dataclasses.dataclass(frozen=True)
class Sharding:
    """The sharding of a tensor: for each dimension the mesh axes that split it, the major axis first.

    Attributes:
        unreduced: axes along which each device has a term, and the tensor is the sum of these.
    """

    mesh: DeviceMesh
    dimensions: tuple[tuple[AxisRef, ...], ...]
    unreduced: tuple[AxisRef, ...] = ()

    @property
    def shard_counts(self) -> list[int]:
        """The number of shards along each dimension."""
        return [shard_count(self.mesh, axes) for axes in self.dimensions]

    @property
    def term_count(self) -> int:
        """The number of terms of which the tensor is the sum."""
        return shard_count(self.mesh, self.unreduced)

    @property
    def is_divided(self) -> bool:
        """Whether a device has less than the whole tensor."""
        return self.term_count > 1 or any(count > 1 for count in self.shard_counts)


def _size(mesh: DeviceMesh, axis: AxisRef) -> int:
    first, last = sub_axis(dict(mesh.axes)[axis.name], axis)
    return last // first


def shard_count(mesh: DeviceMesh, axes: tuple[AxisRef, ...]) -> int:
    """Returns the number of shards of a dimension that is split along these axes."""
    return math.prod(_size(mesh, axis) for axis in axes)


def shard_indices(mesh: DeviceMesh, axes: tuple[AxisRef, ...]) -> np.ndarray:
    """Returns the shard index of each device along a dimension that is split by these axes: int64[devices].

    Raises UnimplementedError for a mesh over only some of the devices.
    """
    sizes = [size for _, size in mesh.axes]
    count = math.prod(sizes)
    ids = mesh.devices()
    if sorted(ids.tolist()) != list(range(count)):
        raise UnimplementedError(f"a mesh over the devices {ids.tolist()} alone needs a partitioner")
    coordinates = dict(
        zip([name for name, _ in mesh.axes], np.unravel_index(np.arange(count), sizes or [1]), strict=False)
    )
    index = np.zeros(count, np.int64)
    for axis in axes:
        whole = dict(mesh.axes)[axis.name]
        first, last = sub_axis(whole, axis)
        part = last // first
        index = index * part + coordinates[axis.name] // (whole // last) % part
    by_device = np.zeros(count, np.int64)
    by_device[ids] = index
    return by_device


# -- XLA's text ------------------------------------------------------------------------------------------------------


def sharding_text(sharding: Sharding | None) -> str:
    """Writes a sharding as HLO text, such as `{replicated}` and `{devices=[2,1]0,1}`.

    The last dimensions of the devices are copies of a tile and, the minor one, the terms of a sum.
    """
    if sharding is None or not sharding.is_divided:
        return REPLICATED
    counts, terms = sharding.shard_counts, sharding.term_count
    devices = len(shard_indices(sharding.mesh, ()))
    tiles = np.zeros(devices, np.int64)  # the number of each device's tile, in row-major order
    for axes, count in zip(sharding.dimensions, counts, strict=True):
        tiles = tiles * count + shard_indices(sharding.mesh, axes)
    by_term = np.lexsort((np.arange(devices), shard_indices(sharding.mesh, sharding.unreduced), tiles))
    copies = devices // (math.prod(counts) * terms)
    order = by_term.reshape(-1, terms, copies).transpose(0, 2, 1).ravel()
    last = {kind: count for kind, count in (("replicated", copies), ("unreduced", terms)) if count > 1}
    suffix = f" last_tile_dims={{{', '.join(last)}}}" if terms > 1 else " last_tile_dim_replicate" * (copies > 1)
    sizes = ",".join(map(str, (*counts, *last.values())))
    return f"{{devices=[{sizes}]{','.join(map(str, order))}{suffix}}}"


def parse_sharding(text: str) -> Sharding | None:
    """Parses HLO's text of a sharding. Its mesh has an axis for each dimension of the tiles.

    Returns None for a tensor that every device, or a single one, holds whole. Raises UnimplementedError for other
    kinds.
    """
    if _WHOLE.fullmatch(text):
        return None
    match = _TILED.fullmatch(text)
    last = re.findall(r"replicate|unreduced|manual|unknown", match["last"] or "") if match else ["unknown"]
    if match is None or not {"replicate", "unreduced"}.issuperset(last):
        raise UnimplementedError(
            f"the sharding {text} is not supported",
            hint="use Shardy's shardings: jax.config.update('jax_use_shardy_partitioner', True)",
        )
    tiles = _integers(match["tiles"])
    if match["ids"]:
        devices = np.array(_integers(match["ids"]), np.int64)
    else:
        iota = _integers(match["iota"])
        order = _integers(match["order"]) if match["order"] else range(len(iota))
        devices = np.arange(np.prod(iota), dtype=np.int64).reshape(iota).transpose(order).ravel()
    mesh = DeviceMesh(tuple((str(number), size) for number, size in enumerate(tiles)), tuple(devices.tolist()))
    axes = [AxisRef(str(number)) for number in range(len(tiles))]
    rank = len(tiles) - len(last)
    unreduced = tuple(axis for axis, kind in zip(axes[rank:], last, strict=True) if kind == "unreduced")
    return Sharding(mesh, tuple((axis,) for axis in axes[:rank]), unreduced)


def _integers(text: str) -> list[int]:
    return [int(number) for number in text.split(",")]
