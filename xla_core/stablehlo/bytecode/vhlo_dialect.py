"""Decodes attributes and types of the dialect vhlo to the StableHLO ones that they represent.

Source: openxla/stablehlo, stablehlo/dialect/VhloBytecode.cpp, VhloEnums.td.
"""

from __future__ import annotations

from typing import Any

from xla_core.stablehlo import ir
from xla_core.stablehlo.bytecode import builtin
from xla_core.stablehlo.bytecode.codes import ENUM_CODES, SCALAR_CODES, VhloAttribute, VhloType
from xla_core.stablehlo.bytecode.constants import dense_elements, float_number, integer_number
from xla_core.stablehlo.bytecode.pool import Decoder, DialectReader, enum_reader
from xla_core.stablehlo.bytecode.stablehlo_dialect import (
    axis_ref,
    device_ids,
    mesh_axes,
    output_operand_alias,
    pair,
    result_accuracy,
    type_extensions,
)


def _boolean(reader: DialectReader) -> bool:
    start = reader.position
    value = reader.varint()
    if value > 1:
        raise reader.error(f"{value} is neither true nor false", start)
    return bool(value)


def _api_version(reader: DialectReader) -> ir.TypedInt:
    start = reader.position
    value = reader.varint()
    if value >= len(ir.ENUMS["custom_call_api_version"]):
        raise reader.error(f"there is no API version {value} of custom calls", start)
    return ir.TypedInt(value, "i32")


def _tensor(reader: DialectReader) -> ir.DenseElements | ir.OpaqueAttribute:
    type = reader.tensor_type()
    start, size = reader.blob()
    return dense_elements(reader, type, start, size)


def mesh_or_name(value: Any) -> ir.SymbolRef | ir.Mesh | None:
    """Returns the mesh of replica groups, or the symbol that names it; None for any other value."""
    if isinstance(value, ir.Mesh):
        return value
    return ir.SymbolRef(value) if isinstance(value, str) else None


def _replica_groups(reader: DialectReader) -> ir.ReplicaGroupMeshAxes:
    start = reader.position
    mesh = mesh_or_name(reader.attribute())
    axes = reader.attribute()
    if mesh is None or not isinstance(axes, tuple) or not all(isinstance(axis, ir.AxisRef) for axis in axes):
        raise reader.error("expected a mesh and axes of it", start)
    return ir.ReplicaGroupMeshAxes(mesh, axes)


def _mesh(reader: DialectReader) -> ir.Mesh:
    return ir.Mesh(mesh_axes(reader), device_ids(reader, reader.optional_attribute()))


ATTRIBUTES: dict[int, Decoder] = {
    VhloAttribute.ARRAY: DialectReader.attributes,
    VhloAttribute.BOOLEAN: _boolean,
    **{code: enum_reader(kind, first) for kind, (code, first) in ENUM_CODES.items()},
    VhloAttribute.CUSTOM_CALL_API_VERSION: _api_version,
    VhloAttribute.DICTIONARY: builtin.dictionary,
    VhloAttribute.FLOAT: float_number,
    VhloAttribute.INTEGER: integer_number,
    VhloAttribute.OUTPUT_OPERAND_ALIAS: output_operand_alias,
    VhloAttribute.STRING: DialectReader.string,
    VhloAttribute.TENSOR: _tensor,
    VhloAttribute.TYPE: DialectReader.type,
    VhloAttribute.TYPE_EXTENSIONS: type_extensions,
    VhloAttribute.RESULT_ACCURACY: result_accuracy,
    VhloAttribute.SUB_AXIS_INFO: pair,
    VhloAttribute.AXIS_REF: lambda reader: axis_ref(reader, reader.text(), reader.varint() != 0),
    VhloAttribute.REPLICA_GROUP_MESH_AXES: _replica_groups,
    VhloAttribute.MESH_AXIS: lambda reader: (reader.text(), reader.signed()),
    VhloAttribute.MESH: _mesh,
}


def _buffer(reader: DialectReader) -> ir.OpaqueType:
    return ir.OpaqueType(f"memref<{ir.dimensions_text(builtin.shape(reader))}{ir.type_text(reader.type())}>")


TYPES: dict[int, Decoder] = {
    **{code: builtin.named(name) for name, code in SCALAR_CODES.items()},
    VhloType.COMPLEX: builtin.complex_type,
    VhloType.FUNCTION: builtin.function_type,
    VhloType.RANKED_TENSOR: builtin.tensor_type,
    VhloType.RANKED_TENSOR_WITH_ENCODING: builtin.tensor_with_encoding,
    VhloType.TOKEN: lambda reader: ir.TokenType(),
    VhloType.TUPLE: lambda reader: ir.TupleType(reader.types()),
    VhloType.UNIFORM_QUANTIZED: builtin.quantized_per_tensor,
    VhloType.UNRANKED_TENSOR: lambda reader: ir.unranked(reader.raw_type()),
    VhloType.WITNESS: lambda reader: ir.OpaqueType("!shape.witness"),
    VhloType.UNIFORM_QUANTIZED_PER_AXIS: builtin.quantized_per_axis,
    VhloType.BUFFER: _buffer,
    VhloType.FUTURE: lambda reader: ir.future(reader.types()),
}
