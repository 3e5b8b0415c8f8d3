"""Decodes attributes and types of the dialects stablehlo and chlo.

Source: openxla/stablehlo, stablehlo/dialect/StablehloBytecode.cpp, ChloBytecode.cpp.
"""

from __future__ import annotations

from typing import Any

from xla_core.stablehlo import ir
from xla_core.stablehlo.bytecode.pool import Decoder, DialectReader, enum_reader


def _struct(cls: Any) -> Decoder:
    """Makes the decoder of a struct whose fields are signed integers and lists of signed integers."""
    kinds = [isinstance(field.default, tuple) for field in cls.__dataclass_fields__.values()]
    return lambda reader: cls(*[reader.integers() if is_list else reader.signed() for is_list in kinds])


output_operand_alias: Decoder = _struct(ir.OutputOperandAlias)


def type_extensions(reader: DialectReader) -> ir.TypeExtensions:
    """Reads a tensor's bounds; a negative number means that the dimension has no bound."""
    return ir.TypeExtensions(tuple([None if bound < 0 else bound for bound in reader.integers()]))


def _dot_algorithm(reader: DialectReader) -> ir.DotAlgorithm:
    lhs, rhs, accumulation = reader.scalar(), reader.scalar(), reader.scalar()
    counts = reader.signed(), reader.signed(), reader.signed()
    return ir.DotAlgorithm(lhs, rhs, accumulation, *counts, reader.boolean())


def result_accuracy(reader: DialectReader) -> ir.ResultAccuracy:
    atol, rtol, ulps = reader.double(), reader.double(), reader.signed()
    return ir.ResultAccuracy(atol, rtol, ulps, str(reader.attribute()))


def pair(reader: DialectReader) -> tuple[int, int]:
    """Reads a sub-axis: its pre-size and size."""
    return reader.signed(), reader.signed()


def axis_ref(reader: DialectReader, name: str, has_sub_axis: bool) -> ir.AxisRef:
    """Makes the reference to a mesh axis; reads the sub-axis, an attribute, if there is one."""
    start = reader.position
    sub_axis = reader.attribute() if has_sub_axis else ()
    if has_sub_axis and not _is_pair(sub_axis, int):
        raise reader.error("expected a sub-axis", start)
    return ir.AxisRef(name, *sub_axis)


def mesh_axes(reader: DialectReader) -> tuple[tuple[str, int], ...]:
    """Reads the axes of a mesh as (name, size) pairs."""
    start = reader.position
    axes: Any = reader.attribute()
    if not isinstance(axes, tuple) or not all(_is_pair(axis, str) for axis in axes):
        raise reader.error("expected the axes of a mesh", start)
    return axes


def _is_pair(value: Any, first: type) -> bool:
    return isinstance(value, tuple) and len(value) == 2 and isinstance(value[0], first) and isinstance(value[1], int)


def device_ids(reader: DialectReader, value: Any) -> ir.DenseElements | None:
    """Checks the device ids of a mesh, which may be absent."""
    if value is not None and not isinstance(value, ir.DenseElements):
        raise reader.error("expected the devices of a mesh")
    return value


def _mesh(reader: DialectReader) -> ir.Mesh:
    axes = mesh_axes(reader)
    return ir.Mesh(axes, device_ids(reader, reader.attribute() if reader.boolean() else None))


def _replica_groups(reader: DialectReader) -> ir.ReplicaGroupMeshAxes:
    start = reader.position
    mesh = reader.attribute()
    axes = reader.attributes()
    if not isinstance(mesh, (ir.SymbolRef, ir.Mesh)) or not all(isinstance(axis, ir.AxisRef) for axis in axes):
        raise reader.error("expected a mesh and axes of it", start)
    return ir.ReplicaGroupMeshAxes(mesh, axes)


def _channel_handle(reader: DialectReader) -> ir.ChannelHandle:
    return ir.ChannelHandle(reader.signed(), reader.signed())


ATTRIBUTES: dict[int, Decoder] = {
    1: _channel_handle,
    2: enum_reader("comparison_direction"),
    3: enum_reader("comparison_type"),
    4: _struct(ir.ConvDimensionNumbers),
    5: _struct(ir.DotDimensionNumbers),
    6: enum_reader("fft_type"),
    7: _struct(ir.GatherDimensionNumbers),
    8: enum_reader("precision"),
    9: enum_reader("rng_algorithm"),
    10: enum_reader("rng_distribution", 1),
    11: _struct(ir.ScatterDimensionNumbers),
    12: enum_reader("transpose"),
    13: type_extensions,
    14: output_operand_alias,
    15: _dot_algorithm,
    16: enum_reader("result_accuracy_mode"),
    17: result_accuracy,
    18: _replica_groups,
    19: pair,
    20: lambda reader: axis_ref(reader, reader.string(), reader.boolean()),
    21: lambda reader: (reader.string(), reader.signed()),
    22: _mesh,
}

CHLO_ATTRIBUTES: dict[int, Decoder] = {
    0: enum_reader("comparison_direction"),
    1: enum_reader("comparison_type"),
}

TYPES: dict[int, Decoder] = {0: lambda reader: ir.TokenType(), 1: lambda reader: ir.future(reader.types())}
