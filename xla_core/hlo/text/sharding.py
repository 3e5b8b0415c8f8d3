"""Shardings: `{replicated}`, `{devices=[2,1]<=[2]}`, `{{maximal device=0}, {manual}}`.

Shardings are checked and kept as text; nothing here applies them. (XLA: xla/hlo/ir/hlo_sharding.h, and the syntax of
HloParserImpl::ParseSharding.)
"""

from __future__ import annotations

import math
import re

from xla_core.hlo.text.cursor import Cursor, braced_list

_NUMBERS = r"\d{1,18}(?:,\s*\d{1,18})*+"
_SIZES = r"\d{1,18}(?:,\s*\d{1,18}){0,63}+"
_TYPES = "replicated|manual|unknown|unreduced"
_PART = re.compile(
    rf"(?:(?P<type>{_TYPES})(?![\w=])|maximal\s++(?P<device>device=\d{{1,18}})(?!\w)"
    rf"|devices=\[(?P<tiles>{_SIZES})\](?:(?P<devices>{_NUMBERS})|<=\[(?P<iota>{_SIZES})\](?:T\({_SIZES}\))?)"
    rf"|(?P<more>last_tile_dim_replicate|last_tile_dims=\{{(?:(?:{_TYPES})(?:,\s*|(?=\}})))*+\}}"
    r"|shard_(?:as|like)\s++\d{1,18})(?!\w))\s*"
)
_METADATA = re.compile(r"metadata=(?=\{)")
_MESH = re.compile(r"\{\s*mesh\[")
_TUPLE = re.compile(r"\{\s*[{}]")


def read_sharding(cursor: Cursor) -> str:
    """Reads a sharding, or a tuple of shardings; returns the text as written."""
    start = cursor.position
    if _TUPLE.match(cursor.text, start):
        braced_list(cursor, lambda: _read_one(cursor), "a tuple of shardings")
    else:
        _read_one(cursor)
    return cursor.original[start : cursor.position].rstrip()


def check_sharding(text: str) -> None:
    """Raises InvalidArgumentError for a text that is no sharding; it shows the place in the text."""
    cursor = Cursor(text, "sharding")
    read_sharding(cursor)
    if not cursor.at_end:
        raise cursor.error("expected nothing after the sharding")


def _read_one(cursor: Cursor) -> None:
    if _MESH.match(cursor.text, cursor.position):
        cursor.braced()
        return
    start = cursor.position
    cursor.expect("{", "before a sharding")
    kinds = 0
    while not cursor.accept("}"):
        if cursor.match(_METADATA):
            cursor.braced()
            continue
        at = cursor.position
        match = cursor.match(_PART)
        if not match:
            raise cursor.error(
                "expected replicated, manual, unknown, unreduced, maximal device=N, devices=[...], metadata={...} "
                "or '}' in a sharding"
            )
        kinds += match["more"] is None
        if match["tiles"]:
            tiles, devices = _integers(match["tiles"]), _integers(match["devices"] or "")
            count = len(devices) if devices else math.prod(_integers(match["iota"]))
            if count != math.prod(tiles):
                raise cursor.error(f"{math.prod(tiles)} tiles for {count} devices", position=at)
    if kinds != 1:
        raise cursor.error("expected a sharding to be one of its kinds, such as {replicated}", position=start)


def _integers(text: str) -> list[int]:
    return [int(part) for part in text.split(",") if part]
