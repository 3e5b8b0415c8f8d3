"""Reads the attributes of VHLO text as the attributes of StableHLO that they stand for.

Source: openxla/stablehlo, stablehlo/dialect/VhloAttrs.td.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np

from xla_core.hlo.scalar_types import DTYPES
from xla_core.stablehlo.ir import (
    ScalarType,
)
from xla_core.stablehlo.ir.attributes import (
    ENUMS,
    AxisRef,
    DenseElements,
    Mesh,
    OutputOperandAlias,
    ReplicaGroupMeshAxes,
    ResultAccuracy,
    SymbolRef,
    TypedFloat,
    TypedInt,
    TypeExtensions,
)
from xla_core.stablehlo.text.dialect_attributes import DialectAttributeReader

__all__ = ["read_attribute"]

_VERSIONED = re.compile(r"(\w+)_v1\Z").match


def read_attribute(reader: DialectAttributeReader, mnemonic: str, start: int) -> Any:
    """`#vhlo.mnemonic<...>`, or `#vhlo<mnemonic ...>`, of which the brackets are next."""
    reader.expect("<")
    mnemonic = mnemonic or reader.word("an attribute of vhlo")
    match = _VERSIONED(mnemonic)
    read = _ATTRIBUTES.get(match[1] if match else "")
    if read is None:
        raise reader.error(f"unknown vhlo attribute: {mnemonic}", start)
    value = read(reader)
    reader.expect(">", "to end the attribute")
    return value


def _enum(kind: str) -> Callable[[DialectAttributeReader], Any]:
    return lambda reader: reader.enum(kind)


def _api_version(reader: DialectAttributeReader) -> TypedInt:
    value = str(reader.enum("custom_call_api_version"))
    return TypedInt(ENUMS["custom_call_api_version"].index(value), "i32")


def _dictionary(reader: DialectAttributeReader) -> dict[str, Any]:
    values: dict[str, Any] = {}

    def entry() -> None:
        start = reader.position
        name = reader.attribute()
        if type(name) is not str or name in values:
            raise reader.error("expected a name that isn't there yet", start)
        reader.expect("=")
        values[name] = reader.attribute()

    reader.list_of("{", "}", entry)
    return values


def _float(reader: DialectAttributeReader) -> float:
    start = reader.position
    value = reader.float_value("f64")
    reader.expect(":")
    element = reader.type()
    if not isinstance(element, ScalarType):
        raise reader.error("expected the type of a float", start)
    if element == "f64":
        return value
    dtype = DTYPES.get(element)
    if dtype is None or dtype.kind == "c":
        raise reader.error(f"a float can't have the type {element}", start)
    with np.errstate(over="ignore"):
        return TypedFloat(float(np.array(value).astype(dtype)), str(element))


def _sizes(reader: DialectAttributeReader) -> tuple[int | None, ...]:
    """`[1, ?]`."""
    sizes: list[int | None] = []
    reader.list_of("[", "]", lambda: sizes.append(None if reader.accept("?") else reader.integer()))
    return tuple(sizes)


def _fields(reader: DialectAttributeReader, readers: dict[str, Callable[[], Any]]) -> dict[str, Any]:
    """`name = value, ...`."""
    values: dict[str, Any] = {}
    while not reader.at(">"):
        start = reader.position
        name = reader.word("a field's name")
        if name not in readers or name in values:
            raise reader.error(f"unexpected field '{name}'", start)
        reader.expect("=")
        values[name] = readers[name]()
        if not reader.accept(","):
            break
    return values


def _alias(reader: DialectAttributeReader) -> OutputOperandAlias:
    names = {"outputTupleIndices": _sizes, "operandIndex": None, "operandTupleIndices": _sizes}
    values = _fields(
        reader, {name: (lambda: _sizes(reader)) if read else reader.integer for name, read in names.items()}
    )
    return OutputOperandAlias(
        values.get("outputTupleIndices", ()), values.get("operandIndex", 0), values.get("operandTupleIndices", ())
    )


def _accuracy(reader: DialectAttributeReader) -> ResultAccuracy:
    values = _fields(
        reader,
        {
            "atol": lambda: reader.float_value("f64"),
            "rtol": lambda: reader.float_value("f64"),
            "ulps": reader.integer,
            "mode": lambda: str(reader.attribute()),
        },
    )
    return ResultAccuracy(**values)


def _required(reader: DialectAttributeReader, names: dict[str, Callable[[], Any]], optional: str = "") -> list[Any]:
    """The fields of a struct in the order of `names`, all of which but `optional` must be there."""
    start = reader.position
    values = _fields(reader, names)
    missing = [name for name in names if name not in values and name != optional]
    if missing:
        raise reader.error(f"missing: {', '.join(missing)}", start)
    return [values.get(name) for name in names]


def _axis_ref(reader: DialectAttributeReader) -> AxisRef:
    start = reader.position
    fields = {"name": reader.attribute, "sub_axis_info": reader.attribute}
    name, sub_axis = _required(reader, fields, "sub_axis_info")
    if type(name) is not str or not (sub_axis is None or (isinstance(sub_axis, tuple) and len(sub_axis) == 2)):
        raise reader.error("expected an axis and a sub-axis", start)
    return AxisRef(name, *(sub_axis or ()))


def _mesh(reader: DialectAttributeReader) -> Mesh:
    start = reader.position
    axes, ids = _required(reader, {"axes": reader.attribute, "device_ids": reader.attribute}, "device_ids")
    if not isinstance(axes, tuple) or not all(isinstance(axis, tuple) and len(axis) == 2 for axis in axes):
        raise reader.error("expected the axes of a mesh", start)
    return Mesh(axes, ids if isinstance(ids, DenseElements) else None)


def _replica_groups(reader: DialectAttributeReader) -> ReplicaGroupMeshAxes:
    start = reader.position
    mesh, axes = _required(reader, {"mesh": reader.attribute, "axes": reader.attribute})
    if not isinstance(mesh, (str, Mesh)) or not isinstance(axes, tuple):
        raise reader.error("expected a mesh and axes of it", start)
    return ReplicaGroupMeshAxes(SymbolRef(mesh) if isinstance(mesh, str) else mesh, axes)


_ENUMS = (
    "comparison_direction comparison_type fft_type precision result_accuracy_mode rng_algorithm rng_distribution"
    " transpose"
)

_ATTRIBUTES: dict[str, Callable[[DialectAttributeReader], Any]] = {
    **{kind: _enum(kind) for kind in _ENUMS.split()},
    "api_version": _api_version,
    "array": lambda reader: reader.attribute(),
    "axis_ref": _axis_ref,
    "bool": lambda reader: reader.boolean(),
    "custom_call_api_version": _api_version,
    "dict": _dictionary,
    "float": _float,
    "integer": lambda reader: reader.number(),
    "mesh": _mesh,
    "mesh_axis": lambda reader: tuple(_required(reader, {"name": reader.attribute, "size": reader.integer})),
    "output_operand_alias": _alias,
    "replica_group_mesh_axes": _replica_groups,
    "result_accuracy": _accuracy,
    "string": lambda reader: reader.string(),
    "sub_axis_info": lambda reader: tuple(_required(reader, {"pre_size": reader.integer, "size": reader.integer})),
    "tensor": lambda reader: reader.attribute(),
    "type": lambda reader: reader.type(),
    "type_extensions": lambda reader: TypeExtensions(*_required(reader, {"bounds": lambda: _sizes(reader)})),
}
