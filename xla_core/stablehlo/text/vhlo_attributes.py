"""Reads the attributes of VHLO text as the attributes of StableHLO that they stand for.

Source: openxla/stablehlo, stablehlo/dialect/VhloAttrs.td.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np

from xla_core.hlo.values.scalar_types import DTYPES
from xla_core.stablehlo import ir
from xla_core.stablehlo.text.dialect_attributes import DialectAttributeReader

_VERSIONED = re.compile(r"(\w+)_v1\Z").match


def read_attribute(reader: DialectAttributeReader, mnemonic: str, start: int) -> Any:
    """Reads the brackets of `#vhlo.mnemonic<...>` or `#vhlo<mnemonic ...>`."""
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


def _api_version(reader: DialectAttributeReader) -> ir.TypedInt:
    value = str(reader.enum("custom_call_api_version"))
    return ir.TypedInt(ir.ENUMS["custom_call_api_version"].index(value), "i32")


def _dictionary(reader: DialectAttributeReader) -> dict[str, Any]:
    values: dict[str, Any] = {}

    def entry() -> None:
        start = reader.position
        name = reader.attribute()
        if type(name) is not str or name in values:
            raise reader.error("expected a name that the dictionary doesn't have yet", start)
        reader.expect("=")
        values[name] = reader.attribute()

    reader.list_of("{", "}", entry)
    return values


def _float(reader: DialectAttributeReader) -> float:
    """Reads a float and its type. As in MLIR, a number in hexadecimal has the bits of an f64, whatever the type."""
    value = reader.float_value("f64")
    reader.expect(":")
    start = reader.skip()
    element = reader.element_name()
    dtype = DTYPES.get(element)
    if dtype is None or dtype.kind == "c":
        raise reader.error(f"a float can't have the type {element}", start)
    with np.errstate(over="ignore"):
        return value if element == "f64" else ir.TypedFloat(float(np.array(value).astype(dtype)), element)


def _fields(
    reader: DialectAttributeReader, readers: dict[str, Callable[[], Any]], *, optional: tuple[str, ...] = ()
) -> list[Any]:
    """Reads `name = value, ...`, and returns the values in the order of `readers`; None for an absent one."""
    values = reader.fields(readers, "", "", [name for name in readers if name not in optional])
    return [values.get(name) for name in readers]


def _alias(reader: DialectAttributeReader) -> ir.OutputOperandAlias:
    readers: dict[str, Callable[[], Any]] = {
        "outputTupleIndices": reader.optional_sizes,
        "operandIndex": reader.integer,
        "operandTupleIndices": reader.optional_sizes,
    }
    output, operand, indices = _fields(reader, readers, optional=tuple(readers))
    return ir.OutputOperandAlias(output or (), operand or 0, indices or ())


def _accuracy(reader: DialectAttributeReader) -> ir.ResultAccuracy:
    readers: dict[str, Callable[[], Any]] = {
        "atol": lambda: reader.float_value("f64"),
        "rtol": lambda: reader.float_value("f64"),
        "ulps": reader.integer,
        "mode": lambda: str(reader.attribute()),
    }
    return ir.ResultAccuracy(**reader.fields(readers, "", ""))


def _axis_ref(reader: DialectAttributeReader) -> ir.AxisRef:
    start = reader.position
    fields = {"name": reader.attribute, "sub_axis_info": reader.attribute}
    name, sub_axis = _fields(reader, fields, optional=("sub_axis_info",))
    if type(name) is not str or not (sub_axis is None or (isinstance(sub_axis, tuple) and len(sub_axis) == 2)):
        raise reader.error("expected an axis and a sub-axis", start)
    return ir.AxisRef(name, *(sub_axis or ()))


def _mesh(reader: DialectAttributeReader) -> ir.Mesh:
    start = reader.position
    readers = {"axes": reader.attribute, "device_ids": reader.attribute}
    axes, ids = _fields(reader, readers, optional=("device_ids",))
    if not isinstance(axes, tuple) or not all(isinstance(axis, tuple) and len(axis) == 2 for axis in axes):
        raise reader.error("expected the axes of a mesh", start)
    return ir.Mesh(axes, ids if isinstance(ids, ir.DenseElements) else None)


def _replica_groups(reader: DialectAttributeReader) -> ir.ReplicaGroupMeshAxes:
    start = reader.position
    mesh, axes = _fields(reader, {"mesh": reader.attribute, "axes": reader.attribute})
    if not isinstance(mesh, (str, ir.Mesh)) or not isinstance(axes, tuple):
        raise reader.error("expected a mesh and axes of it", start)
    return ir.ReplicaGroupMeshAxes(ir.SymbolRef(mesh) if isinstance(mesh, str) else mesh, axes)


_ATTRIBUTES: dict[str, Callable[[DialectAttributeReader], Any]] = {
    **{kind: _enum(kind) for kind in ir.ENUMS},
    "api_version": _api_version,
    "array": lambda reader: reader.attribute(),
    "axis_ref": _axis_ref,
    "bool": lambda reader: reader.boolean(),
    "custom_call_api_version": _api_version,
    "dict": _dictionary,
    "float": _float,
    "integer": lambda reader: reader.number(),
    "mesh": _mesh,
    "mesh_axis": lambda reader: tuple(_fields(reader, {"name": reader.attribute, "size": reader.integer})),
    "output_operand_alias": _alias,
    "replica_group_mesh_axes": _replica_groups,
    "result_accuracy": _accuracy,
    "string": lambda reader: reader.string(),
    "sub_axis_info": lambda reader: tuple(_fields(reader, {"pre_size": reader.integer, "size": reader.integer})),
    "tensor": lambda reader: reader.attribute(),
    "type": lambda reader: reader.type(),
    "type_extensions": lambda reader: ir.TypeExtensions(*_fields(reader, {"bounds": reader.optional_sizes})),
}
