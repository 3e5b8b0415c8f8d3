"""Reads the attribute `mhlo.sharding`, XLA's shardings."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from xla_core.errors import InvalidArgumentError, SourceLocation, UnimplementedError
from xla_core.stablehlo import ir
from xla_core.stablehlo.sharding.shardy import Sharding

_WHOLE = re.compile(r"\{\s*(replicated|maximal device=\d+)\s*\}")
_TILED = re.compile(
    r"\{\s*devices=\[(?P<tiles>[\d, ]+)\](?:(?P<ids>[\d, ]+)|<=\[(?P<iota>[\d, ]+)\](?:T\((?P<order>[\d, ]+)\))?)\s*"
    r"(?P<last>last_tile_dim_replicate|last_tile_dims=\{[\w, ]*\})?\s*\}"
)


def sharding_of(attributes: Mapping[str, Any], location: SourceLocation | None) -> dict[str, str]:
    """Returns HLO's attribute `sharding` for `mhlo.sharding`, which is text or the bytes of a proto.

    Returns an empty dict if there is no sharding. Raises InvalidArgumentError for a malformed sharding.
    """
    text = attributes.get("mhlo.sharding")
    if not isinstance(text, str) or not text:
        return {}
    from xla_core.hlo.proto.sharding import sharding_text
    from xla_core.hlo.proto.wire import Message
    from xla_core.hlo.text.sharding import check_sharding  # few programs have shardings

    given = text
    try:
        if text[0] != "{" and not text.isprintable():
            text = sharding_text(Message(text.encode("utf-8", "surrogateescape")))
        check_sharding(text)
    except InvalidArgumentError as error:
        raise InvalidArgumentError(
            f"mhlo.sharding is {given[:200]!r}: {error.message}",
            location=location,
            hint='XLA\'s text of a sharding, such as "{replicated}" or "{devices=[2,1]<=[2]}"',
        ) from None
    return {"sharding": text}


def tiled_sharding(text: str, op: ir.Op) -> Sharding | None:
    """Converts a sharding to one along the axes of a mesh, which has an axis for each dimension of the tiles.

    Returns None for a tensor that each device, or one, has whole. Raises UnimplementedError for other kinds.
    """
    if _WHOLE.fullmatch(text):
        return None
    match = _TILED.fullmatch(text)
    last = re.findall(r"replicate|unreduced|manual|unknown", match["last"] or "") if match else ["unknown"]
    if match is None or not {"replicate", "unreduced"}.issuperset(last):
        raise UnimplementedError(
            f"the mhlo.sharding {text} is not supported",
            op=op.name,
            location=op.location,
            hint="use Shardy's shardings: jax.config.update('jax_use_shardy_partitioner', True)",
        )
    tiles = _integers(match["tiles"])
    if match["ids"]:
        devices = np.array(_integers(match["ids"]), np.int64)
    else:
        iota = _integers(match["iota"])
        order = _integers(match["order"]) if match["order"] else range(len(iota))
        devices = np.arange(np.prod(iota), dtype=np.int64).reshape(iota).transpose(order).ravel()
    ids = ir.DenseElements(ir.TensorType((len(devices),), "i64"), devices)
    mesh = ir.Mesh(tuple((str(number), size) for number, size in enumerate(tiles)), ids)
    axes = [ir.AxisRef(str(number)) for number in range(len(tiles))]
    rank = len(tiles) - len(last)
    unreduced = tuple(axis for axis, kind in zip(axes[rank:], last, strict=True) if kind == "unreduced")
    return Sharding(mesh, tuple((axis,) for axis in axes[:rank]), unreduced)


def _integers(text: str) -> list[int]:
    return [int(number) for number in text.split(",")]
