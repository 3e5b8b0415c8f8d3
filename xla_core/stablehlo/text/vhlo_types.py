"""Reads the types of VHLO text as the types of StableHLO that they stand for.

Source: openxla/stablehlo, stablehlo/dialect/VhloTypes.td.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from xla_core.hlo.values.element_type import ElementType
from xla_core.stablehlo import ir
from xla_core.stablehlo.ir.quantized_types import canonical, problem_of
from xla_core.stablehlo.text.dialect_attributes import DialectAttributeReader

_DIMENSION = re.compile(r"([0-9]{1,19}|\?)x").match
_VERSIONED = re.compile(r"(\w+)_v1\Z").match
_SCALARS = {
    **{t.mlir_name: t.mlir_name for t in ElementType if t.vhlo is not None and t is not ElementType.PRED},
    "bool": "i1",  # VHLO's name of pred differs from MLIR's
    "index": "index",
    "none": "none",
    "tf31": "tf32",  # VHLO misspells it
    "tf32": "tf32",
}


def read_type(reader: DialectAttributeReader, name: str, start: int) -> ir.Type:
    """Reads the rest of `!vhlo.name<...>` after the name."""
    match = _VERSIONED(name)
    kind = match[1] if match else ""
    if kind in _SCALARS:
        return ir.ScalarType(_SCALARS[kind])
    read = _TYPES.get(kind)
    if read is None:
        raise reader.error(f"unknown vhlo type: {name}", start)
    return read(reader)


def _in_brackets(reader: DialectAttributeReader, read: Callable[[], Any]) -> Any:
    reader.expect("<")
    value = read()
    reader.expect(">")
    return value


def _shape(reader: DialectAttributeReader) -> tuple[int, ...]:
    reader.skip()
    sizes = []
    while (match := _DIMENSION(reader.source, reader.position)) is not None:
        reader.position = match.end()
        sizes.append(ir.DYNAMIC if match[1] == "?" else reader.to_integer(match[1], match.start()))
    if max(sizes, default=0) >= 1 << 63:
        raise reader.error("a dimension doesn't fit in 64 bits")
    return tuple(sizes)


def _element(reader: DialectAttributeReader) -> str | ir.QuantizedType:
    start = reader.position
    type = reader.type()
    if isinstance(type, ir.OpaqueType) and type.text in reader.quantized_types:
        return reader.quantized_types[type.text]
    if not isinstance(type, (ir.ScalarType, ir.OpaqueType, ir.TokenType)):
        raise reader.error("a tensor can't hold this type", start)
    return str(type)


def _tensor(reader: DialectAttributeReader) -> ir.TensorType:
    reader.expect("<")
    start = reader.position
    shape = _shape(reader)
    element = _element(reader)
    encoding = reader.attribute() if reader.accept(",") else None
    reader.expect(">", "to end the tensor type")
    type = ir.with_encoding(shape, element, encoding)
    if (problem := ir.bounds_problem(type)) is not None:
        raise reader.error(problem, start)
    return type


def _buffer(reader: DialectAttributeReader) -> ir.OpaqueType:
    reader.expect("<")
    text = f"memref<{ir.dimensions_text(_shape(reader))}{reader.type()}>"
    reader.expect(">")
    return ir.OpaqueType(text)


def _types(reader: DialectAttributeReader) -> tuple[ir.Type, ...]:
    types: list[ir.Type] = []
    reader.list_of("<", ">", lambda: types.append(reader.type()))
    return tuple(types)


def _function(reader: DialectAttributeReader) -> ir.FunctionType:
    """Reads `<(inputs) -> results>`. Several results have no parentheses; none is `()`."""
    reader.expect("<")
    inputs: list[ir.Type] = []
    if not _accept_none(reader):
        reader.list_of("(", ")", lambda: inputs.append(reader.type()))
    reader.expect("->")
    results: list[ir.Type] = []
    if not _accept_none(reader):
        results = reader.type_list()
    reader.expect(">")
    return ir.FunctionType(tuple(inputs), tuple(results))


def _accept_none(reader: DialectAttributeReader) -> bool:
    """Reads `()` or, as the printer nests them, `(())`."""
    return reader.accept("(())") or reader.accept("()")


def _quantized(reader: DialectAttributeReader, per_axis: bool = False) -> ir.OpaqueType:
    """Reads `<storage:expressed, scale:zero point, low:high, flags>`; with an axis, lists of scales and zero points."""
    start = reader.position
    reader.expect("<")
    storage = reader.type()
    reader.expect(":")
    expressed = reader.type()
    reader.expect(",")
    axis = None
    scales: list[float] = []
    zeros: list[int] = []
    if per_axis:
        axis = reader.integer("an axis")
        reader.expect(",")
        reader.list_of("[", "]", lambda: scales.append(reader.float_value("f64")))
        reader.expect(",")
        reader.list_of("[", "]", lambda: zeros.append(reader.integer("a zero point")))
    else:
        scales.append(reader.float_value("f64"))
        reader.expect(":")
        zeros.append(reader.integer("a zero point"))
    reader.expect(",")
    low = reader.integer("the storage minimum")
    reader.expect(":")
    high = reader.integer("the storage maximum")
    reader.expect(",")
    is_signed = bool(reader.integer("flags") & 1)
    reader.expect(">")
    name = str(storage)
    if (
        not re.fullmatch(r"u?i[0-9]{1,2}", name)
        or not isinstance(expressed, ir.ScalarType)
        or len(scales) != len(zeros)
    ):
        raise reader.error("malformed quantized type", start)
    type = canonical(is_signed, ir.QuantizedType(name, str(expressed), tuple(scales), tuple(zeros), axis, low, high))
    if (problem := problem_of(type)) is not None:
        raise reader.error(problem.message, start, problem.hint)
    return reader.opaque(type)


def _complex(reader: DialectAttributeReader) -> ir.ScalarType:
    return ir.ScalarType(f"complex<{_in_brackets(reader, reader.type)}>")


_TYPES: dict[str, Callable[[DialectAttributeReader], ir.Type]] = {
    "buffer": _buffer,
    "complex": _complex,
    "func": _function,
    "future": lambda reader: ir.future(_types(reader)),
    "quant": _quantized,
    "quant_per_axis": lambda reader: _quantized(reader, per_axis=True),
    "tensor": _tensor,
    "token": lambda reader: ir.TokenType(),
    "tuple": lambda reader: ir.TupleType(_types(reader)),
    "unranked_tensor": lambda reader: ir.unranked(str(_in_brackets(reader, reader.type))),
    "witness": lambda reader: ir.OpaqueType("!shape.witness"),
}
