"""Shardings as bytes: JAX writes those of more than 100 devices as the proto OpSharding. (XLA: xla/xla_data.proto.)"""

from __future__ import annotations

from collections.abc import Iterator

__all__ = ["sharding_text"]

_TYPES = {0: "replicated", 1: "maximal", 4: "manual", 5: "unknown", 6: "unreduced"}
_TUPLE, _OTHER = 2, 3
_VARINT, _BYTES = 0, 2

# Numbers of OpSharding's fields.
_TYPE, _DIMENSIONS, _DEVICES, _PARTS, _REPLICATES_LAST, _LAST_DIMENSIONS = 1, 3, 4, 5, 6, 8
_IOTA_DIMENSIONS, _IOTA_PERMUTATION, _IS_GROUP, _GROUP, _GROUP_KIND = 9, 10, 11, 12, 13


def sharding_text(data: bytes) -> str:
    """XLA's text of a sharding's bytes, its metadata left out. ValueError for bytes that are none."""
    return _text(data, is_part=False)


def _text(data: bytes, *, is_part: bool) -> str:
    fields: dict[int, list[int]] = {}
    parts: list[bytes] = []
    for number, value in _fields(data):
        if isinstance(value, int):
            fields.setdefault(number, []).append(value)
        elif number == _PARTS:
            parts.append(value)
        elif number in (_DIMENSIONS, _DEVICES, _LAST_DIMENSIONS, _IOTA_DIMENSIONS, _IOTA_PERMUTATION):
            fields.setdefault(number, []).extend(_varints(value))
    kind = fields.get(_TYPE, [0])[-1]
    if kind == _TUPLE and not is_part:
        return "{" + ", ".join(_text(part, is_part=True) for part in parts) + "}"
    if kind == _OTHER:
        text = f"devices=[{_list(fields[_DIMENSIONS])}]" if _DIMENSIONS in fields else "devices=[]"
        text += _list(fields[_DEVICES]) if _DEVICES in fields else _iota(fields)
        if fields.get(_REPLICATES_LAST, [0])[-1]:
            text += " last_tile_dim_replicate"
        if _LAST_DIMENSIONS in fields:
            text += f" last_tile_dims={{{', '.join(_type(t) for t in fields[_LAST_DIMENSIONS])}}}"
    else:
        text = _type(kind)
        if text == "maximal":
            text += f" device={_list(fields.get(_DEVICES, []))}"
    if fields.get(_IS_GROUP, [0])[-1]:
        text += f" shard_{'like' if fields.get(_GROUP_KIND, [0])[-1] else 'as'} {fields.get(_GROUP, [0])[-1]}"
    return f"{{{text}}}"


def _type(number: int) -> str:
    if number not in _TYPES:
        raise ValueError(f"there is no sharding of type {number}")
    return _TYPES[number]


def _iota(fields: dict[int, list[int]]) -> str:
    permutation = fields.get(_IOTA_PERMUTATION, [])
    transposed = "" if permutation == sorted(permutation) else f"T({_list(permutation)})"
    return f"<=[{_list(fields.get(_IOTA_DIMENSIONS, []))}]{transposed}"


def _list(numbers: list[int]) -> str:
    return ",".join(map(str, numbers))


def _fields(data: bytes) -> Iterator[tuple[int, int | bytes]]:
    """(number, value) of each field of a message: integers, and messages, lists and texts as bytes."""
    position = 0
    while position < len(data):
        tag, position = _varint(data, position)
        value, position = _varint(data, position)
        if tag & 7 == _VARINT:
            yield tag >> 3, value
        elif tag & 7 == _BYTES and position + value <= len(data):
            yield tag >> 3, data[position : position + value]
            position += value
        else:
            raise ValueError(f"no field of a sharding ends at byte {position}")


def _varints(data: bytes) -> Iterator[int]:
    position = 0
    while position < len(data):
        value, position = _varint(data, position)
        yield value


def _varint(data: bytes, position: int) -> tuple[int, int]:
    value = 0
    for shift in range(0, 70, 7):
        if position == len(data):
            break
        value |= (data[position] & 0x7F) << shift
        position += 1
        if data[position - 1] < 0x80:
            return value, position
    raise ValueError(f"no number ends at byte {position}")
