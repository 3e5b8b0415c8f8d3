"""Rewrites attributes that a release of StableHLO can't hold.

Attributes of other dialects direct the compilation and don't change what a program computes. Shardy's attributes become
frontend attributes with their text, as in HLO; the others are dropped.

XLA: xla/service/spmd/shardy/sdy_round_trip
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from xla_core.stablehlo import ir
from xla_core.stablehlo.vhlo.versions import MIXED_DIALECTS, Version

__all__ = ["attributes_for"]

_TYPED_CALLS = Version(1, 3)
_TYPED = 4
_OTHER_DIALECT = re.compile(r"#(?!stablehlo\b|chlo\b)[a-z_]+[.<]").match
_FRONTEND = "mhlo.frontend_attributes"


def attributes_for(op: ir.Op, version: Version) -> Mapping[str, Any]:
    """Returns an op's attributes as the release can hold them: the same mapping if nothing changes."""
    attributes = op.attributes
    if version >= MIXED_DIALECTS or not attributes:
        return attributes
    if version < _TYPED_CALLS and op.name == "stablehlo.custom_call" and attributes.get("api_version") == _TYPED:
        attributes = _untyped(attributes)
    for name in ("arg_attrs", "res_attrs") if op.name == "func.func" else ():
        given = attributes.get(name) or ()
        changed = tuple([_of_one_dialect(of_one) for of_one in given])
        if any(new is not old for new, old in zip(changed, given, strict=True)):
            attributes = {**attributes, name: changed}
    return _of_one_dialect(attributes)


def _untyped(attributes: Mapping[str, Any]) -> Mapping[str, Any]:
    """Writes a typed custom call in JAX's older form, which XLA reads: version 1 with `mhlo.backend_config`."""
    config = attributes.get("backend_config") or {}
    return {**attributes, "api_version": ir.TypedInt(1, "i32"), "backend_config": "", "mhlo.backend_config": config}


def _of_one_dialect(attributes: Mapping[str, Any]) -> Mapping[str, Any]:
    foreign = [name for name, value in attributes.items() if "." in name and _is_foreign(value)]
    if not foreign:
        return attributes
    kept = {name: value for name, value in attributes.items() if name not in foreign}
    shardys = {f"xla.{name}": attributes[name].text for name in foreign if name.startswith("sdy.")}
    return {**kept, _FRONTEND: {**kept.get(_FRONTEND, {}), **shardys}} if shardys else kept


def _is_foreign(value: Any) -> bool:
    return isinstance(value, ir.OpaqueAttribute) and _OTHER_DIALECT(value.text) is not None
