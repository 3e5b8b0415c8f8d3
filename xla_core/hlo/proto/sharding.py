"""Converts an OpSharding to HLO text. (XLA: xla/xla_data.proto, xla/hlo/ir/hlo_sharding.cc.)"""

from __future__ import annotations

from collections.abc import Sequence

from xla_core.errors import InvalidArgumentError
from xla_core.hlo.proto.wire import Message

_TYPES = {0: "replicated", 1: "maximal", 4: "manual", 5: "unknown", 6: "unreduced"}
_TUPLE, _OTHER = 2, 3


def sharding_text(message: Message, *, in_tuple: bool = False) -> str:
    """Returns XLA's text of a sharding, without metadata.

    Raises:
        InvalidArgumentError: for a message that is no sharding.
    """
    kind = message.integer(1)
    if kind == _TUPLE and not in_tuple:
        return "{" + ", ".join(sharding_text(part, in_tuple=True) for part in message.messages(5)) + "}"
    if kind == _OTHER:
        text = f"devices=[{_list(message.integers(3))}]"
        text += _list(message.integers(4)) if message.has(4) else iota_text(message.integers(9), message.integers(10))
        if message.integer(6):
            text += " last_tile_dim_replicate"
        if message.has(8):
            text += f" last_tile_dims={{{', '.join(_type(t) for t in message.integers(8))}}}"
    else:
        text = _type(kind)
        if text == "maximal":
            text += f" device={_list(message.integers(4))}"
    if message.integer(11):
        text += f" shard_{'like' if message.integer(13) else 'as'} {message.integer(12)}"
    return f"{{{text}}}"


def iota_text(dimensions: Sequence[int], permutation: Sequence[int]) -> str:
    """Formats `<=[4,2]T(1,0)`."""
    transposed = "" if list(permutation) == sorted(permutation) else f"T({_list(permutation)})"
    return f"<=[{_list(dimensions)}]{transposed}"


def _type(number: int) -> str:
    if number not in _TYPES:
        raise InvalidArgumentError(f"there is no sharding of type {number}")
    return _TYPES[number]


def _list(numbers: Sequence[int]) -> str:
    return ",".join(map(str, numbers))
