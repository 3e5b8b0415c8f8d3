"""Decodes attributes and types of the dialects builtin and quant.

Source: llvm-project, mlir/include/mlir/IR/BuiltinDialectBytecode.td, Dialect/Quant/IR/QuantDialectBytecode.td.
"""

from __future__ import annotations

from typing import Any

from xla_core.hlo.values.element_type import ElementType
from xla_core.hlo.values.scalar_types import integer_format
from xla_core.stablehlo import ir
from xla_core.stablehlo.bytecode.codes import LOCATION_CODES, BuiltinAttribute
from xla_core.stablehlo.bytecode.constants import dense_array, dense_elements, float_number, integer_number
from xla_core.stablehlo.bytecode.locations import location_reader
from xla_core.stablehlo.bytecode.pool import Decoder, DialectReader
from xla_core.stablehlo.ir.quantized_types import canonical, problem_of

_SMALLEST = -(1 << 63)
_SIGNED = 1


# Attributes


def dictionary(reader: DialectReader) -> dict[str, Any]:
    """Reads a dictionary attribute: a count, then that many names and values."""
    values: dict[str, Any] = {}
    attribute, varint = reader.pool.attribute, reader.varint
    for _ in range(reader.count()):
        start = reader.position
        name = attribute(varint(), reader)
        if type(name) is not str:
            raise reader.error("expected a string", start)
        if name in values:
            raise reader.error(f"the attribute '{name}' is given twice", start)
        values[name] = attribute(varint(), reader)
    return values


def _string_with_type(reader: DialectReader) -> str:
    text = reader.string()
    reader.type()
    return text


def _nested_symbol(reader: DialectReader) -> ir.SymbolRef:
    return ir.SymbolRef("::@".join([reader.text(), *map(str, reader.attributes())]))


def _dense(reader: DialectReader) -> Any:
    type = reader.raw_type()
    start, size = reader.blob()
    if not isinstance(type, ir.TensorType):
        return ir.OpaqueAttribute(f'dense<"0x{reader.data[start : start + size].hex().upper()}"> : {type}')
    return dense_elements(reader, type, start, size)


def _resource(reader: DialectReader) -> Any:
    type = reader.tensor_type()
    place = reader.position
    index = reader.varint()
    resources = reader.pool.sections.resources
    if index >= len(resources):
        raise reader.error(f"there is no resource {index}", place)
    resource = resources[index]
    if resource is None:
        raise reader.error(f"the data of the resource {index} are not in the file", place)
    return dense_elements(reader, type, resource[0], resource[1] - resource[0])


def _strings(reader: DialectReader) -> ir.OpaqueAttribute:
    type = reader.raw_type()
    reader.varint()  # whether this is a splat
    strings = []
    while reader.position < reader.end:
        strings.append(f'"{reader.string()}"')
    return ir.OpaqueAttribute(f"dense<[{', '.join(strings)}]> : {type}")


def _sparse(reader: DialectReader) -> ir.OpaqueAttribute:
    type = reader.raw_type()
    return ir.OpaqueAttribute(f"sparse<{reader.attribute()}, {reader.attribute()}> : {type}")


def _distinct(reader: DialectReader) -> ir.OpaqueAttribute:
    return ir.OpaqueAttribute(f"distinct[{reader.index}]<{reader.attribute()}>")


ATTRIBUTES: dict[int, Decoder] = {
    BuiltinAttribute.ARRAY: DialectReader.attributes,
    BuiltinAttribute.DICTIONARY: dictionary,
    BuiltinAttribute.STRING: DialectReader.string,
    BuiltinAttribute.STRING_WITH_TYPE: _string_with_type,
    BuiltinAttribute.FLAT_SYMBOL_REF: lambda reader: ir.SymbolRef(reader.text()),
    BuiltinAttribute.SYMBOL_REF: _nested_symbol,
    BuiltinAttribute.TYPE: DialectReader.type,
    BuiltinAttribute.UNIT: lambda reader: ir.UNIT,
    BuiltinAttribute.INTEGER: integer_number,
    BuiltinAttribute.FLOAT: float_number,
    **dict.fromkeys(LOCATION_CODES, location_reader),
    BuiltinAttribute.DENSE_RESOURCE_ELEMENTS: _resource,
    BuiltinAttribute.DENSE_ARRAY: dense_array,
    BuiltinAttribute.DENSE_INT_OR_FP_ELEMENTS: _dense,
    BuiltinAttribute.DENSE_STRING_ELEMENTS: _strings,
    BuiltinAttribute.SPARSE_ELEMENTS: _sparse,
    BuiltinAttribute.DISTINCT: _distinct,
}


# Types


def _integer(reader: DialectReader) -> ir.ScalarType:
    start = reader.position
    value = reader.varint()
    prefix = ("i", "si", "ui", None)[value & 3]
    width = value >> 2
    if prefix is None or not 0 < width < 1 << 24:
        raise reader.error(f"there is no integer type of {width} bits", start)
    return ir.ScalarType(f"{prefix}{width}")


def named(name: str) -> Decoder:
    """Makes the decoder of a scalar type that has no parameters besides its code."""
    type = ir.ScalarType(name)
    return lambda reader: type


def function_type(reader: DialectReader) -> ir.FunctionType:
    return ir.FunctionType(reader.types(), reader.types())


def complex_type(reader: DialectReader) -> ir.ScalarType:
    return ir.ScalarType(f"complex<{reader.scalar()}>")


def shape(reader: DialectReader) -> tuple[int, ...]:
    """Reads a shape; a dynamic size is a negative number."""
    start = reader.position
    sizes = reader.integers()
    if min(sizes, default=0) >= 0:
        return sizes
    if any(size < 0 and size not in (ir.DYNAMIC, _SMALLEST) for size in sizes):
        raise reader.error("a dimension is negative", start)
    return tuple([ir.DYNAMIC if size < 0 else size for size in sizes])


def _element(reader: DialectReader) -> str | ir.QuantizedType:
    start = reader.position
    type = reader.raw_type()
    if isinstance(type, ir.QuantizedType):
        return type
    if isinstance(type, (ir.ScalarType, ir.OpaqueType, ir.TokenType)):
        return str(type)
    raise reader.error(f"a tensor can't hold the type {type}", start)


def tensor_type(reader: DialectReader, encoding: Any = None) -> ir.TensorType:
    """Reads a tensor type: shape and element type. An encoding of type `TypeExtensions` gives the bounds."""
    start = reader.position
    dims = shape(reader)
    element = _element(reader)
    type = ir.with_encoding(dims, element, encoding)
    if (problem := ir.bounds_problem(type)) is not None:
        raise reader.error(problem, start)
    return type


def tensor_with_encoding(reader: DialectReader) -> ir.TensorType:
    return tensor_type(reader, reader.attribute())


def _kept(word: str, has_space: bool, has_layout: bool = True) -> Decoder:
    """Makes the decoder of a type that no op of StableHLO uses; the type is kept as text."""

    def read(reader: DialectReader) -> ir.OpaqueType:
        parts = [str(reader.attribute())] if has_space else []
        text = ir.dimensions_text(shape(reader)) + ir.type_text(reader.type())
        if has_layout:
            layout = str(reader.attribute())
            if not layout.startswith("affine_map") or not _is_identity(layout):
                parts.insert(0, layout)
        return ir.OpaqueType(f"{word}<{', '.join([text, *parts])}>")

    return read


def _is_identity(layout: str) -> bool:
    inputs, _, outputs = layout.removeprefix("affine_map<").removesuffix(">").partition(" -> ")
    return inputs == outputs


TYPES: dict[int, Decoder] = {
    0: _integer,
    1: named("index"),
    2: function_type,
    **{t.builtin: named(t.mlir_name) for t in ElementType if t.builtin is not None},
    7: named("f80"),
    8: named("f128"),
    21: named("tf32"),
    9: complex_type,
    10: _kept("memref", has_space=False),
    11: _kept("memref", has_space=True),
    12: named("none"),
    13: tensor_type,
    14: tensor_with_encoding,
    15: lambda reader: ir.TupleType(reader.types()),
    16: lambda reader: ir.OpaqueType(f"memref<*x{reader.type()}>"),
    18: lambda reader: ir.unranked(reader.type()),
    19: _kept("vector", has_space=False, has_layout=False),
    20: _kept("vector", has_space=False, has_layout=False),
}


# Quantized types


def quantized_per_tensor(reader: DialectReader) -> ir.QuantizedType:
    """Reads flags, storage type, expressed type, scale, zero point, smallest and largest storage value."""
    flags = reader.varint()
    storage, expressed = reader.scalar(), reader.scalar()
    scale, zero = reader.double(), reader.signed()
    low, high = reader.signed(), reader.signed()
    return _quantized(reader, flags, storage, expressed, (scale,), (zero,), low, high)


def quantized_per_axis(reader: DialectReader) -> ir.QuantizedType:
    """Reads flags, storage type, expressed type, axis, smallest and largest storage value, scales, zero points."""
    flags = reader.varint()
    storage, expressed = reader.scalar(), reader.scalar()
    axis = reader.varint()
    low, high = reader.signed(), reader.signed()
    scales = tuple(reader.list_of(reader.double))
    zeros = reader.integers()
    return _quantized(reader, flags, storage, expressed, scales, zeros, low, high, axis)


def _quantized_per_block(reader: DialectReader) -> ir.QuantizedType:
    """Reads flags, storage and expressed types, dimensions, block sizes, storage range, scales, zero points."""
    start = reader.position
    flags = reader.varint()
    storage, expressed = reader.scalar(), reader.scalar()
    dimensions, sizes = reader.integers(), reader.integers()
    low, high = reader.signed(), reader.signed()
    scales, zeros = reader.attribute(), reader.attribute()
    try:
        flat = [tuple(v.array.reshape(-1).tolist()) if v.size <= 1 << 16 else () for v in (scales, zeros)]
        blocks = tuple(zip(dimensions, sizes, strict=True))
    except (AttributeError, ValueError):
        raise reader.error("malformed scales of a type that is quantized per block", start) from None
    return _quantized(reader, flags, storage, expressed, flat[0], flat[1], low, high, None, blocks)


def _quantized(
    reader: DialectReader,
    flags: int,
    storage: str,
    expressed: str,
    scales: tuple[float, ...],
    zeros: tuple[int, ...],
    low: int | None,
    high: int | None,
    axis: int | None = None,
    blocks: tuple[tuple[int, int], ...] = (),
) -> ir.QuantizedType:
    if len(scales) != len(zeros):
        raise reader.error("the scales and zero points of a quantized type don't go together")
    type = ir.QuantizedType(storage, expressed, scales, zeros, axis, low, high, blocks)
    if (kind := integer_format(storage)) is not None and kind[1] <= 64:
        type = canonical(bool(flags & _SIGNED), type)
    if (problem := problem_of(type)) is not None:
        raise reader.error(problem.message)
    return type


QUANT_TYPES: dict[int, Decoder] = {
    1: lambda reader: ir.OpaqueType(_any_quantized(reader, has_expressed=False)),
    2: lambda reader: ir.OpaqueType(_any_quantized(reader, has_expressed=True)),
    4: quantized_per_tensor,
    5: quantized_per_axis,
    6: _quantized_per_block,
}


def _any_quantized(reader: DialectReader, has_expressed: bool) -> str:
    reader.varint()
    storage = reader.scalar()
    expressed = f":{reader.scalar()}" if has_expressed else ""
    return f"!quant.any<{storage}<{reader.signed()}:{reader.signed()}>{expressed}>"
