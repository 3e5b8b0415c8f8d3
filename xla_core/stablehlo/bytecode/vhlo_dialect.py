"""How the dialect vhlo encodes its attributes and types, read at once as what they are in StableHLO.

Source: openxla/stablehlo, stablehlo/dialect/VhloBytecode.cpp, VhloEnums.td.
"""

from __future__ import annotations

from typing import Any

from xla_core.stablehlo.attributes import (
    AxisRef,
    DenseElements,
    Mesh,
    OpaqueAttribute,
    ReplicaGroupMeshAxes,
    SymbolRef,
    TypedInt,
)
from xla_core.stablehlo.bytecode import builtin
from xla_core.stablehlo.bytecode.constants import dense_elements, float_number, integer_number
from xla_core.stablehlo.bytecode.pool import Decoder, DialectReader, enum_reader
from xla_core.stablehlo.bytecode.stablehlo_dialect import (
    axis_ref,
    device_ids,
    future,
    mesh_axes,
    output_operand_alias,
    pair,
    result_accuracy,
    type_extensions,
)
from xla_core.stablehlo.dialect_attributes import ENUMS
from xla_core.stablehlo.ir import DYNAMIC, OpaqueType, TokenType, TupleType, type_text

__all__ = ["ATTRIBUTES", "ENUM_CODES", "SCALARS", "TYPES", "mesh_or_name"]


def _boolean(reader: DialectReader) -> bool:
    start = reader.position
    value = reader.varint()
    if value > 1:
        raise reader.error(f"{value} is neither true nor false", start)
    return bool(value)


def _api_version(reader: DialectReader) -> TypedInt:
    start = reader.position
    value = reader.varint()
    if value >= len(ENUMS["custom_call_api_version"]):
        raise reader.error(f"there is no API version {value} of custom calls", start)
    return TypedInt(value, "i32")


def _tensor(reader: DialectReader) -> DenseElements | OpaqueAttribute:
    type = reader.tensor_type()
    start, size = reader.blob()
    return dense_elements(reader, type, start, size)


def mesh_or_name(value: Any) -> SymbolRef | Mesh | None:
    """The mesh of replica groups; None where it is neither a mesh nor the name of one."""
    if isinstance(value, Mesh):
        return value
    return SymbolRef(value) if isinstance(value, str) else None


def _replica_groups(reader: DialectReader) -> ReplicaGroupMeshAxes:
    start = reader.position
    mesh = mesh_or_name(reader.attribute())
    axes = reader.attribute()
    if mesh is None or not isinstance(axes, tuple) or not all(isinstance(axis, AxisRef) for axis in axes):
        raise reader.error("expected a mesh and axes of it", start)
    return ReplicaGroupMeshAxes(mesh, axes)


def _mesh(reader: DialectReader) -> Mesh:
    return Mesh(mesh_axes(reader), device_ids(reader, reader.optional_attribute()))


ENUM_CODES: dict[str, tuple[int, int]] = {
    "comparison_direction": (3, 0),
    "comparison_type": (4, 0),
    "fft_type": (7, 0),
    "precision": (11, 0),
    "rng_algorithm": (12, 0),
    "rng_distribution": (13, 1),
    "transpose": (16, 0),
    "result_accuracy_mode": (19, 0),
}
"""Enums: code, and the number of the first case."""

ATTRIBUTES: dict[int, Decoder] = {
    1: DialectReader.attributes,
    2: _boolean,
    **{code: enum_reader(kind, first) for kind, (code, first) in ENUM_CODES.items()},
    5: _api_version,
    6: builtin.dictionary,
    8: float_number,
    9: integer_number,
    10: output_operand_alias,
    14: DialectReader.string,
    15: _tensor,
    17: DialectReader.type,
    18: type_extensions,
    20: result_accuracy,
    21: pair,
    22: lambda reader: axis_ref(reader, reader.text(), reader.varint() != 0),
    23: _replica_groups,
    24: lambda reader: (reader.text(), reader.signed()),
    25: _mesh,
}


def _buffer(reader: DialectReader) -> OpaqueType:
    dims = "".join("?x" if d == DYNAMIC else f"{d}x" for d in builtin.shape(reader))
    return OpaqueType(f"memref<{dims}{type_text(reader.type())}>")


SCALARS = {
    0: "i1",
    2: "bf16",
    3: "f16",
    4: "f32",
    5: "f64",
    6: "f8E4M3FN",
    7: "f8E5M2",
    9: "index",
    **{10 + i: f"i{width}" for i, width in enumerate((4, 8, 16, 32, 64))},
    **{15 + i: f"ui{width}" for i, width in enumerate((4, 8, 16, 32, 64))},
    27: "f8E4M3FNUZ",
    28: "f8E5M2FNUZ",
    29: "f8E4M3B11FNUZ",
    31: "i2",
    32: "ui2",
    33: "none",
    34: "tf32",
    35: "f8E4M3",
    36: "f8E3M4",
    37: "f4E2M1FN",
    38: "f6E2M3FN",
    39: "f6E3M2FN",
    40: "f8E8M0FNU",
}
"""Scalar types by their codes."""

TYPES: dict[int, Decoder] = {
    **{code: builtin.named(name) for code, name in SCALARS.items()},
    1: builtin.complex_type,
    8: builtin.function_type,
    20: builtin.tensor_type,
    21: builtin.tensor_with_encoding,
    22: lambda reader: TokenType(),
    23: lambda reader: TupleType(reader.types()),
    24: builtin.quantized_per_tensor,
    25: lambda reader: OpaqueType(f"tensor<*x{type_text(reader.raw_type())}>"),
    26: lambda reader: OpaqueType("!shape.witness"),
    30: builtin.quantized_per_axis,
    41: _buffer,
    42: future,
}
