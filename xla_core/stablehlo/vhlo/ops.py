"""The ops of VHLO in each version, derived from the op table.

VHLO is StableHLO with every attribute spelled out and every op under a version. Structures of dimension numbers and
algorithms are taken apart: each of their fields is an attribute. An attribute that a version of an op lacks has its
default. Source: openxla/stablehlo, stablehlo/dialect/VhloOps.td and stablehlo/transforms/VhloLegalizeToStablehlo.cpp.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterator
from typing import Any, NamedTuple

from xla_core.stablehlo.ir.attributes import (
    ChannelHandle,
    ConvDimensionNumbers,
    DotAlgorithm,
    DotDimensionNumbers,
    GatherDimensionNumbers,
    ScatterDimensionNumbers,
)
from xla_core.stablehlo.table.op_table import OPS, REQUIRED, Attribute, Kind, OpDef, Trait

__all__ = ["ConversionError", "VhloOp", "by_operands", "find_vhlo_op", "versions_of", "vhlo_ops"]

_STRUCTS = (ConvDimensionNumbers, DotAlgorithm, DotDimensionNumbers, GatherDimensionNumbers, ScatterDimensionNumbers)
_ALWAYS_WRITTEN = ("operand_layouts", "result_layouts")
_NEWER_FIELDS: dict[type, tuple[str, ...]] = {
    GatherDimensionNumbers: ("operand_batching_dims", "start_indices_batching_dims"),
    ScatterDimensionNumbers: ("input_batching_dims", "scatter_indices_batching_dims"),
}
"""Fields that the ops' second version brought."""

_DROPPED = {"stablehlo.dynamic_conv": ("padding",)}
"""Attributes of an op's first version that StableHLO does without."""


class ConversionError(ValueError):
    """Why an op of vhlo has no meaning in StableHLO."""


@dataclasses.dataclass(frozen=True)
class VhloOp:
    """An op of one version.

    Attributes:
        name: what it is in StableHLO ("stablehlo.add", "func.call").
        attributes: what it is written with, in the order of its properties.
        optional: those that are left out where they have their default.
        dropped: those that StableHLO does without.
        structs: what is put together.
        first: the release of StableHLO that brought it: (major, minor).
        written: its name in VHLO.
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
"""The attributes of a function, and those that may be left out. The op table lacks it."""


def _fields(name: str, attribute: Attribute) -> Iterator[_Field]:
    """The attributes of VHLO that stand for one of StableHLO."""
    cls = attribute.classes[0] if attribute.kind is Kind.STRUCT and attribute.classes else None
    if cls is ChannelHandle:
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
    """Every version of every op, by its name in VHLO."""
    names, optional = _FUNCTION
    attributes = tuple(sorted((*names, *optional)))
    function = VhloOp("func.func", attributes, frozenset(optional), frozenset(), (), (0, 9), "vhlo.func_v1", False)
    return {op.written: op for op in (function, *(v for op in OPS.values() for v in _versions(op)))}


@functools.cache
def by_operands() -> frozenset[str]:
    """Ops of StableHLO whose version at a release depends on more than their attributes."""
    return frozenset(name for name, op in OPS.items() if Trait.VERSION_BY_OPERANDS in op.traits)


def versions_of(base: str) -> list[VhloOp]:
    """The versions of an op by its name in VHLO without the version, the newest first."""
    found = [vhlo_ops().get(f"vhlo.{base}_v{number}") for number in (2, 1)]
    return [op for op in found if op is not None]


@functools.cache
def find_vhlo_op(name: str) -> VhloOp:
    """The op of a name. Raises ConversionError when there is none."""
    op = vhlo_ops().get(name)
    if op is None:
        base = name.rpartition("_v")[0]
        known = ", ".join(other for other in vhlo_ops() if other.rpartition("_v")[0] == base)
        raise ConversionError(f"unknown op '{name}'" + (f": there is {known}" if known else ""))
    return op
