"""Reads the attribute `mhlo.sharding`, XLA's shardings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from xla_core.errors import InvalidArgumentError, SourceLocation
from xla_core.spmd import Sharding
from xla_core.spmd.sharding import parse_sharding
from xla_core.stablehlo import ir


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
    """Parses an `mhlo.sharding` of `op`: None for a tensor that every device, or a single one, holds whole.

    Raises UnimplementedError for other kinds than replicated, maximal and tiled.
    """
    with op.located():
        return parse_sharding(text)
