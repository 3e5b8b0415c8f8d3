"""Converts the attributes of StableHLO ops to VHLO of a release: the inverse of `vhlo/conversion.py`.

Defaults are written out, lists of integers become tensors, structures are taken apart. The newest version of the op
that the release has is used; an attribute which that version lacks must have its default.

Source: openxla/stablehlo, stablehlo/transforms/StablehloLegalizeToVhlo.cpp, VhloToVersion.cpp.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from xla_core.errors import InvalidArgumentError, UnimplementedError
from xla_core.stablehlo import ir
from xla_core.stablehlo.vhlo.conversion import DEFAULTS, EMPTY, PerDimension, is_default
from xla_core.stablehlo.vhlo.ops import VhloOp, versions_of
from xla_core.stablehlo.vhlo.versions import Version, VersionError

_ELSEWHERE = {
    "func.call": "call",
    "func.func": "func",
    "func.return": "return",
    "call": "call",
    "return": "return",
}
_PROMOTION = Version(0, 17)
_FUTURES_IN_CALLS = Version(1, 17)
_NONE = ir.ScalarType("none")


def to_vhlo(op: ir.Op, version: Version) -> tuple[VhloOp, dict[str, Any], dict[str, Any]]:
    """The op of VHLO, its own attributes by name, and all others.

    Raises VersionError for ops that the release lacks, UnimplementedError for ops that no version of VHLO has.
    """
    vhlo = _newest(op, version)
    rest = dict(op.attributes)
    own: dict[str, Any] = {}
    for name, cls in vhlo.structs:
        own.update(_taken_apart(cls, name, rest.pop(name, None), vhlo, version))
    if "channel_handle" in rest:
        own.update(_channel(rest.pop("channel_handle"), vhlo))
    for name in vhlo.dropped:
        own[name] = _default(name, op)
    for name in vhlo.attributes:
        if name in own:
            continue
        value = rest.pop(name, None)
        own[name] = _default(name, op) if value is None else _converted(name, value)
    for name in _newer_attributes(vhlo):
        if (value := rest.pop(name, None)) is not None and not is_default(name, _converted(name, value)):
            raise VersionError(f"{op.name} with {name}", _first_with(vhlo, name), version)
    _check_constraints(op, vhlo, own, version)
    return vhlo, own, rest


def _base(op: VhloOp) -> str:
    return op.written.removeprefix("vhlo.").rpartition("_v")[0]


def _newest(op: ir.Op, version: Version) -> VhloOp:
    known = versions_of(_ELSEWHERE.get(op.name) or op.name.removeprefix("stablehlo."))
    if not known or (op.name not in _ELSEWHERE and not op.name.startswith("stablehlo.")):
        raise UnimplementedError(
            f"{op.name} is no op of StableHLO that portable artifacts can hold",
            hint="CHLO is decomposed; ops of other dialects have to be lowered first",
        )
    needed = known[0].first
    for candidate in known:
        if candidate is not known[0] and not _fits_first(op, candidate):
            break
        if candidate.first <= version[:2]:
            return candidate
        needed = candidate.first
    raise VersionError(op.name, Version(*needed), version)


def _fits_first(op: ir.Op, first: VhloOp) -> bool:
    """Tells whether the first version of an op suffices: its collectives have one operand, composites no regions."""
    if op.name == "stablehlo.composite":
        return not op.regions
    return "replica_groups" not in first.attributes or len(op.operands) == 1


@functools.cache
def _newer_attributes(op: VhloOp) -> set[str]:
    """Returns the attributes that only later versions of the op have."""
    newest = versions_of(_base(op))[0]
    return set(newest.attributes) - set(op.attributes)


def _first_with(op: VhloOp, name: str) -> Version:
    return Version(*min(other.first for other in versions_of(_base(op)) if name in other.attributes))


# Attributes that are written in another way


def _api_version(value: Any) -> ir.EnumAttribute:
    cases = ir.ENUMS["custom_call_api_version"]
    if not 0 <= int(value) < len(cases):
        raise InvalidArgumentError(f"there is no API version {value} of custom calls")
    return ir.EnumAttribute(cases[int(value)], "custom_call_api_version")


def _converted(name: str, value: Any) -> Any:
    if name == "api_version":
        return _api_version(value)
    if isinstance(value, ir.DenseArray):
        return ir.dense(value, value.element)
    return True if isinstance(value, ir.Unit) else value


def _taken_apart(cls: Any, name: str, value: Any, vhlo: VhloOp, version: Version) -> dict[str, Any]:
    """Returns each field of a struct as an attribute."""
    if cls is ir.DotAlgorithm:
        fields = tuple(cls.__dataclass_fields__)
        if fields[0] not in vhlo.attributes:
            if value is not None:
                raise VersionError(f"{vhlo.name} with {name}", _first_with(vhlo, fields[0]), version)
            return {}
        if value is None:
            return dict.fromkeys(fields, _NONE)
        given = {field: getattr(value, field) for field in fields}
        return {field: ir.ScalarType(item) if isinstance(item, str) else item for field, item in given.items()}
    if not isinstance(value, cls):
        raise InvalidArgumentError(f"{vhlo.name} needs the attribute {name}")
    parts = {}
    for field in cls.__dataclass_fields__:
        item = getattr(value, field)
        if field in vhlo.attributes:
            parts[field] = ir.dense(item) if isinstance(item, tuple) else item
        elif item:
            raise VersionError(f"{vhlo.name} with {field}", _first_with(vhlo, field), version)
    return parts


def _channel(value: Any, vhlo: VhloOp) -> dict[str, Any]:
    if not isinstance(value, ir.ChannelHandle):
        raise InvalidArgumentError(f"{vhlo.name}: channel_handle must be a channel handle")
    if "channel_type" in vhlo.attributes:
        return {"channel_id": value.handle, "channel_type": value.type}
    return {"channel_id": value.handle}


# Defaults


def _rank(op: ir.Op) -> int:
    """Returns the number of dimensions of an op's windows."""
    numbers = op.attributes.get("dimension_numbers")
    if numbers is not None:
        return len(numbers.input_spatial_dimensions)
    sizes = op.attributes.get("window_dimensions")
    if sizes is None:
        raise UnimplementedError(f"{op.name} without window_dimensions has no form in portable artifacts")
    return sizes.size if isinstance(sizes, ir.DenseElements) else len(sizes)


def _default(name: str, op: ir.Op) -> Any:
    default = DEFAULTS.get(name)
    if name not in DEFAULTS or (name == "dimension" and op.name != "stablehlo.sort"):
        raise InvalidArgumentError(f"{op.name} needs the attribute {name}")
    if default is EMPTY:
        return ir.dense([])
    if isinstance(default, PerDimension):
        rank = _rank(op)
        if name == "padding":
            return ir.dense(np.full((rank, 2), default.number))
        return ir.dense([default.number] * rank, "i1" if name == "window_reversal" else "i64")
    if name == "backend_config" and op.attributes.get("api_version") == 4:
        return {}
    return _api_version(default) if name == "api_version" else default


# The restrictions of ops before a release


def _element(type: ir.Type) -> str | ir.QuantizedType | None:
    return type.element if isinstance(type, ir.TensorType) else None


def _check_constraints(op: ir.Op, vhlo: VhloOp, own: dict[str, Any], version: Version) -> None:
    if vhlo.promotes and version < _PROMOTION:
        pairs = zip(op.operands, op.results, strict=False)
        if any(_element(operand.type) != _element(result.type) for operand, result in pairs):
            raise VersionError(f"{op.name} whose result has another element type", _PROMOTION, version)
    if op.name == "stablehlo.custom_call":
        futures = [o for o in op.operands if isinstance(o.type, ir.OpaqueType) and "future" in o.type.text]
        if futures and version < _FUTURES_IN_CALLS:
            raise VersionError("stablehlo.custom_call of a future", _FUTURES_IN_CALLS, version)
