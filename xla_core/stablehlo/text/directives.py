"""The attributes in assembly formats: how each kind is read and written, and an expression that delimits its text."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from xla_core.stablehlo import ir
from xla_core.stablehlo.ir.attribute_text import attribute_text, quoted, struct_text, symbol_text
from xla_core.stablehlo.text.dialect_attributes import DialectAttributeReader

Reader = DialectAttributeReader
_NUMBER = re.compile(r"-?(?:0x[0-9a-fA-F]+|[0-9]+)(\.[0-9]*)?").match
_DIMS = r"\[[-0-9, ]*\]"


class NotPretty(Exception):
    """An op can't be written in its pretty form, and is written in the generic form."""


class Directive(NamedTuple):
    """How one kind is read and written. Without a pattern, `op_reader` reads the op, not `fast_path`."""

    read: Callable[[Reader], Any]
    write: Callable[[Any], str]
    pattern: str | None = None


def checked(kind: type, value: Any) -> Any:
    """Returns the value to write, which must be of exactly this class."""
    if type(value) is not kind:
        raise NotPretty
    return value


# Numbers


def _typed(element: str, pattern: str) -> Directive:
    def read(reader: Reader) -> ir.TypedInt:
        return ir.TypedInt(_integer_of(reader, element), element)

    return Directive(read, lambda value: typed_text(value, element), pattern)


def typed_text(value: Any, element: str) -> str:
    if not isinstance(value, ir.TypedInt) or value.type != element:
        raise NotPretty
    return str(int(value))


def _integer_of(reader: Reader, element: str) -> int:
    """Reads an integer whose type the format gives."""
    start = reader.skip()
    match = _NUMBER(reader.source, start)
    if match is None:
        value = reader.attribute()
        if isinstance(value, int) and not isinstance(value, bool) and getattr(value, "type", "i64") == element:
            return int(value)
        raise reader.form_error("invalid kind of attribute specified", start, f"expected an integer of {element}")
    reader.position = match.end()
    if match[1]:
        raise reader.error(f"floating point value not valid for specified type: {match[0][:40]} for {element}", start)
    value = reader.to_integer(match[0], start)
    bits = int(element.lstrip("ui"))
    low, high = (0, 1 << bits) if element[0] == "u" else (-1 << (bits - 1), 1 << (bits - 1))
    if not low <= value < high:
        raise reader.error(f"integer constant out of range for attribute: {value} for {element}", start)
    return value


def _boolean(reader: Reader) -> bool:
    start = reader.skip()
    value = _integer_of(reader, "ui1") if _NUMBER(reader.source, start) else reader.attribute()
    if value in (0, 1) and isinstance(value, int):
        return bool(value)
    raise reader.form_error("invalid kind of attribute specified", start, "expected true or false")


def _f64(value: Any) -> str:
    return attribute_text(checked(float, value)).removesuffix(" : f64")


def dims_text(value: Any) -> str:
    if not isinstance(value, ir.DenseArray) or value.element != "i64":
        raise NotPretty
    return f"[{', '.join(map(str, value))}]"


# Names and other dialects


def _of_class(cls: type[Any], what: str, write: Callable[[Any], str], pattern: str) -> Directive:
    """Makes the directive of attributes of one class. The error for another class is MLIR's."""

    def read(reader: Reader) -> Any:
        start = reader.skip()
        value = reader.string() if cls is str and reader.at_string() else reader.attribute()
        if type(value) is not cls:
            raise reader.form_error("invalid kind of attribute specified", start, f"expected {what}")
        return value

    return Directive(read, lambda value: write(checked(cls, value)), pattern)


def _enum(kind: str) -> Directive:
    return Directive(lambda reader: reader.enum(kind), lambda value: enum_text(value, kind), "[A-Z_]+")


def enum_text(value: Any, kind: str) -> str:
    if not isinstance(value, ir.EnumAttribute) or value.kind != kind:
        raise NotPretty
    return str(value)


def _foreign(opening: str, name: str, closing: str = "") -> Directive:
    """Makes the directive of another dialect's attribute, which is written without its name."""
    return Directive(lambda reader: kept(reader, opening, name, closing), lambda value: body_of(value, name, closing))


def kept(reader: Reader, opening: str, name: str, closing: str = "") -> ir.OpaqueAttribute:
    """Reads the body of another dialect's attribute. Returns its whole text: `name`, body, `closing`."""
    if not reader.at(opening):
        raise reader.error(f"expected '{opening}', found {reader.found()}")
    return ir.OpaqueAttribute(f"{name}{reader.balanced()}{closing}")


def body_of(value: Any, opening: str, closing: str) -> str:
    """Writes another dialect's attribute without its name, which follows from its place."""
    if not isinstance(value, ir.OpaqueAttribute) or not value.text.startswith(opening):
        raise NotPretty
    return value.text[len(opening) :].removesuffix(closing)


# Dimension numbers


def _read_pair(reader: Reader) -> tuple[tuple[int, ...], tuple[int, ...]]:
    reader.expect("=")
    left = reader.dimension_tuple()
    reader.times("between the dimensions of the two sides")
    return left, reader.dimension_tuple()


def _read_dot_dimensions(reader: Reader) -> ir.DotDimensionNumbers:
    batching: tuple[tuple[int, ...], tuple[int, ...]] = ((), ())
    if reader.accept_word("batching_dims"):
        batching = _read_pair(reader)
        reader.expect(",", "and contracting_dims")
    reader.expect_word("contracting_dims")
    return ir.DotDimensionNumbers(*batching, *_read_pair(reader))


def _dot_dimensions_text(value: Any) -> str:
    dims: ir.DotDimensionNumbers = checked(ir.DotDimensionNumbers, value)
    text = f"contracting_dims = {_pair_text(dims.lhs_contracting_dimensions, dims.rhs_contracting_dimensions)}"
    if dims.lhs_batching_dimensions or dims.rhs_batching_dimensions:
        text = f"batching_dims = {_pair_text(dims.lhs_batching_dimensions, dims.rhs_batching_dimensions)}, {text}"
    return text


def _pair_text(left: Sequence[int], right: Sequence[int]) -> str:
    return f"{list(left)} x {list(right)}"


def _convolution_text(value: Any) -> str:
    text = struct_text(checked(ir.ConvDimensionNumbers, value))
    if text.startswith("<raw"):
        raise NotPretty
    return text[1:-1]


ATTRIBUTES: dict[str, Directive] = {
    "attribute": Directive(Reader.attribute, attribute_text),
    "axis_lists": _foreign("[", "#sdy<list_of_axis_ref_lists", ">"),
    "bool": Directive(_boolean, lambda value: "true" if checked(bool, value) else "false", "true|false"),
    "convolution": Directive(Reader.convolution_dimensions, _convolution_text, r"\[[\w, ]*\]x\[[\w, ]*\]->\[[\w, ]*\]"),
    "dims": Directive(Reader.dimensions, dims_text, _DIMS),
    "dot_dimensions": Directive(
        _read_dot_dimensions,
        _dot_dimensions_text,
        rf"(?:batching_dims = {_DIMS} x {_DIMS}, )?contracting_dims = {_DIMS} x {_DIMS}",
    ),
    "f64": Directive(lambda reader: reader.float_value("f64"), _f64),
    "i32": _typed("i32", "-?[0-9]+"),
    "int": Directive(lambda reader: _integer_of(reader, "i64"), lambda value: str(checked(int, value)), "-?[0-9]+"),
    "sharding": _foreign("<", "#sdy.sharding"),
    "string": _of_class(str, "a string", quoted, r'"[^"\\\n]*"'),
    "symbol": _of_class(ir.SymbolRef, "a symbol such as @name", attribute_text, r"@[\w$.]+"),
    "symbol_name": Directive(Reader.symbol_name, lambda value: symbol_text(checked(str, value)), r"@[\w$.]+"),
    "ui32": _typed("ui32", "[0-9]+"),
    "ui64": _typed("ui64", "[0-9]+"),
    **{kind: _enum(kind) for kind in ir.ENUMS},
}
"""Kinds of one attribute."""
