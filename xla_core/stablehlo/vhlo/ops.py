"""The ops of VHLO in each version, derived from the op table.

VHLO is StableHLO with every attribute written out and a version in each op's name. Each field of a structure (dimension
numbers, dot algorithm) is an attribute of its own. An attribute that a version of an op lacks has its default.

Source: openxla/stablehlo, stablehlo/dialect/VhloOps.td and stablehlo/transforms/VhloLegalizeToStablehlo.cpp.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterator
from typing import Any, NamedTuple

from xla_core.stablehlo import ir
from xla_core.stablehlo.table.op_table import OPS, REQUIRED, Attribute, Kind, OpDef, Trait

_STRUCTS = (
    ir.ConvDimensionNumbers,
    ir.DotAlgorithm,
    ir.DotDimensionNumbers,
    ir.GatherDimensionNumbers,
    ir.ScatterDimensionNumbers,
)
_ALWAYS_WRITTEN = ("operand_layouts", "result_layouts")
_NEWER_FIELDS: dict[type, tuple[str, ...]] = {
    ir.GatherDimensionNumbers: ("operand_batching_dims", "start_indices_batching_dims"),
    ir.ScatterDimensionNumbers: ("input_batching_dims", "scatter_indices_batching_dims"),
}
"""Fields that version 2 of the ops added."""

_DROPPED = {"stablehlo.dynamic_conv": ("padding",)}
"""Attributes of version 1 of an op that StableHLO's op doesn't have."""


class ConversionError(ValueError):
    """A VHLO op can't be converted to StableHLO; the message says why."""


@dataclasses.dataclass(frozen=True)
class VhloOp:
    """One version of a VHLO op.

    Attributes:
        name: the name of the StableHLO op ("stablehlo.add", "func.call").
        attributes: the names of the VHLO attributes, in the order of the op's properties.
        optional: the attributes that StableHLO leaves out if they have their default value.
        dropped: the attributes that StableHLO's op doesn't have.
        structs: StableHLO's attributes that are structures: (name, class).
        first: the release of StableHLO that added this version: (major, minor).
        written: the op's name in VHLO.
        promotes: whether later releases let its results have other element types than its operands.
    """

    name: str
    attributes: tuple[str, ...]
    optional: frozenset[str]
    dropped: frozenset[str]
    structs: tuple[tuple[str, Any], ...]
    first: tuple[int, int]
    written: str
    promotes: bool


class _Field(NamedTuple):
    name: str
    since: int = 1
    is_optional: bool = False


_FUNCTION = ("sym_name", "function_type"), ("sym_visibility", "arg_attrs", "res_attrs")
"""The required and the optional attributes of func.func, which is not in the op table."""


def _fields(name: str, attribute: Attribute) -> Iterator[_Field]:
    """Yields the VHLO attributes that represent one attribute of StableHLO."""
    cls = attribute.classes[0] if attribute.kind is Kind.STRUCT and attribute.classes else None
    if cls is ir.ChannelHandle:
        yield _Field("channel_id", attribute.since, attribute.default is not REQUIRED)
        if attribute.default is REQUIRED:
            yield _Field("channel_type", attribute.since)
    elif cls in _STRUCTS:
        newer = _NEWER_FIELDS.get(cls, ())
        for field in dataclasses.fields(cls):
            yield _Field(field.name, 2 if field.name in newer else attribute.since)
    else:
        is_optional = attribute.default is not REQUIRED and name not in _ALWAYS_WRITTEN
        yield _Field(name, attribute.since, is_optional)


def _versions(op: OpDef) -> Iterator[VhloOp]:
    base = op.name.partition(".")[2]
    fields = [field for name, attribute in op.attributes.items() for field in _fields(name, attribute)]
    structs = tuple((n, a.classes[0]) for n, a in op.attributes.items() if a.classes and a.classes[0] in _STRUCTS)
    for version, release in enumerate(op.releases, 1):
        present = [field for field in fields if field.since <= version]
        dropped = _DROPPED.get(op.name, ()) if version == 1 else ()
        yield VhloOp(
            op.name,
            tuple(sorted([*(field.name for field in present), *dropped])),
            frozenset(field.name for field in present if field.is_optional),
            frozenset(dropped),
            structs,
            release,
            f"vhlo.{base}_v{version}",
            Trait.PROMOTES in op.traits,
        )


@functools.cache
def vhlo_ops() -> dict[str, VhloOp]:
    """Returns every version of every op by its name in VHLO."""
    names, optional = _FUNCTION
    attributes = tuple(sorted((*names, *optional)))
    function = VhloOp("func.func", attributes, frozenset(optional), frozenset(), (), (0, 9), "vhlo.func_v1", False)
    return {op.written: op for op in (function, *(v for op in OPS.values() for v in _versions(op)))}


@functools.cache
def by_operands() -> frozenset[str]:
    """Returns the StableHLO ops whose VHLO version at a release depends on more than their attributes."""
    return frozenset(name for name, op in OPS.items() if Trait.VERSION_BY_OPERANDS in op.traits)


def versions_of(base: str) -> list[VhloOp]:
    """Returns the versions of an op, the newest first. `base` is the VHLO name without dialect and version."""
    found = [vhlo_ops().get(f"vhlo.{base}_v{number}") for number in (2, 1)]
    return [op for op in found if op is not None]


@functools.cache
def find_vhlo_op(name: str) -> VhloOp:
    """Returns the op with this VHLO name. Raises ConversionError if there is no such op."""
    op = vhlo_ops().get(name)
    if op is None:
        base = name.rpartition("_v")[0]
        known = ", ".join(other for other in vhlo_ops() if other.rpartition("_v")[0] == base)
        raise ConversionError(f"unknown op '{name}'" + (f": there is {known}" if known else ""))
    return op
