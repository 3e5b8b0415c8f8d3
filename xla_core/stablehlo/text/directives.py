"""Readers of the attributes in assembly formats, each with a regular expression that delimits its text."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np

from xla_core.stablehlo import ir
from xla_core.stablehlo.text.dialect_attributes import DialectAttributeReader

Reader = DialectAttributeReader
_EXPONENT_MANTISSA = re.compile(r"e([0-9]+)m([0-9]+)\Z").match
_NUMBER = re.compile(r"-?(?:0x[0-9a-fA-F]+|[0-9]+)(\.[0-9]*)?").match
_DIMS = r"\[[-0-9, ]*\]"


def _typed(element: str) -> Callable[[Reader], ir.TypedInt]:
    def read(reader: Reader) -> ir.TypedInt:
        return ir.TypedInt(_integer_of(reader, element), element)

    return read


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


def _of_class(cls: type[Any], what: str) -> Callable[[Reader], Any]:
    """Makes a reader of attributes of one class. The error for another class is MLIR's."""

    def read(reader: Reader) -> Any:
        start = reader.skip()
        value = reader.string() if cls is str and reader.at_string() else reader.attribute()
        if type(value) is not cls:
            raise reader.form_error("invalid kind of attribute specified", start, f"expected {what}")
        return value

    return read


def _f64(reader: Reader) -> float:
    return reader.float_value("f64")


def _enum(kind: str) -> Callable[[Reader], ir.EnumAttribute]:
    return lambda reader: reader.enum(kind)


def kept(reader: Reader, opening: str, name: str, closing: str = "") -> ir.OpaqueAttribute:
    """Reads the body of another dialect's attribute. Returns its whole text: `name`, body, `closing`."""
    if not reader.at(opening):
        raise reader.error(f"expected '{opening}', found {reader.found()}")
    return ir.OpaqueAttribute(f"{name}{reader.balanced()}{closing}")


def _symbol_name(reader: Reader) -> str:
    return reader.symbol_name()


def _pair(reader: Reader) -> tuple[tuple[int, ...], tuple[int, ...]]:
    reader.expect("=")
    left = reader.dimension_tuple()
    reader.times("between the dimensions of the two sides")
    return left, reader.dimension_tuple()


def _dot_dimensions(reader: Reader) -> ir.DotDimensionNumbers:
    batching: tuple[tuple[int, ...], tuple[int, ...]] = ((), ())
    if reader.accept_word("batching_dims"):
        batching = _pair(reader)
        reader.expect(",", "and contracting_dims")
    reader.expect_word("contracting_dims")
    return ir.DotDimensionNumbers(*batching, *_pair(reader))


ATTRIBUTES: dict[str, tuple[Callable[[Reader], Any], str | None]] = {
    "attribute": (Reader.attribute, None),
    "axis_lists": (lambda reader: kept(reader, "[", "#sdy<list_of_axis_ref_lists", ">"), None),
    "bool": (_boolean, "true|false"),
    "convolution": (Reader.convolution_dimensions, r"\[[\w, ]*\]x\[[\w, ]*\]->\[[\w, ]*\]"),
    "dims": (Reader.dimensions, _DIMS),
    "dot_dimensions": (
        _dot_dimensions,
        rf"(?:batching_dims = {_DIMS} x {_DIMS}, )?contracting_dims = {_DIMS} x {_DIMS}",
    ),
    "f64": (_f64, None),
    "i32": (_typed("i32"), "-?[0-9]+"),
    "int": (lambda reader: _integer_of(reader, "i64"), "-?[0-9]+"),
    "sharding": (lambda reader: kept(reader, "<", "#sdy.sharding"), None),
    "string": (_of_class(str, "a string"), r'"[^"\\\n]*"'),
    "symbol": (_of_class(ir.SymbolRef, "a symbol such as @name"), r"@[\w$.]+"),
    "symbol_name": (_symbol_name, r"@[\w$.]+"),
    "ui32": (_typed("ui32"), "[0-9]+"),
    "ui64": (_typed("ui64"), "[0-9]+"),
    **{kind: (_enum(kind), "[A-Z_]+") for kind in ir.ENUMS},
}
"""Directives of one attribute: reader and pattern; without a pattern `op_reader` reads the op."""


def _precision(reader: Reader) -> dict[str, Any]:
    if not reader.accept(","):
        return {}
    return {"precision_config": _precision_list(reader)}


def _precision_list(reader: Reader) -> tuple[ir.EnumAttribute, ...]:
    reader.expect_word("precision")
    reader.expect("=")
    values: list[ir.EnumAttribute] = []
    reader.list_of("[", "]", lambda: values.append(reader.enum("precision")))
    return tuple(values)


def _precision_and_algorithm(reader: Reader) -> dict[str, Any]:
    values: dict[str, Any] = {}
    if not reader.accept(","):
        return values
    if reader.at_word("precision"):
        values["precision_config"] = _precision_list(reader)
        if not reader.accept(","):
            return values
    elif not reader.at_word("algorithm"):
        reader.expect_word("precision")
    reader.expect_word("algorithm")
    reader.expect("=")
    values["algorithm"] = reader.dot_algorithm()
    return values


def _slice_ranges(reader: Reader) -> dict[str, Any]:
    ranges: list[tuple[int, int, int]] = []

    def read() -> None:
        start = reader.integer("the start")
        reader.expect(":", "between the start and the limit")
        limit = reader.integer("the limit")
        ranges.append((start, limit, reader.integer("the stride") if reader.accept(":") else 1))
        if not (reader.at(",") or reader.at("]")):
            raise reader.error(f"expected ',' or ']' after a range, found {reader.found()}")

    reader.list_of("[", "]", read)
    names = ("start_indices", "limit_indices", "strides")
    return {name: ir.DenseArray([r[i] for r in ranges], "i64") for i, name in enumerate(names)}


_WINDOW = {"stride": "window_strides", "lhs_dilate": "lhs_dilation", "rhs_dilate": "rhs_dilation"}


def _window(reader: Reader) -> dict[str, Any]:
    """`stride = [..], pad = [[..], ..], lhs_dilate = [..], rhs_dilate = [..], reverse = [..]`, each optional."""
    values: dict[str, Any] = {}
    while not reader.at("}"):
        start = reader.position
        word = reader.keyword("a window attribute")
        name = {**_WINDOW, "pad": "padding", "reverse": "window_reversal"}.get(word)
        if name is None or name in values:
            hint = "a window has stride, pad, lhs_dilate, rhs_dilate and reverse, each at most once"
            raise reader.form_error(f"Unexpected keyword {word}", start, hint=hint)
        reader.expect("=")
        if word == "pad":
            values[name] = _padding(reader)
        elif word == "reverse":
            values[name] = _reversal(reader)
        else:
            values[name] = reader.dimensions()
        if not reader.accept(","):
            break
    return values


def _padding(reader: Reader) -> ir.DenseElements:
    rows: list[tuple[int, ...]] = []

    def read() -> None:
        start = reader.skip()
        rows.append(reader.dimension_tuple())
        if len(rows[-1]) != 2:
            raise reader.form_error(f"Expected array with 2 elements, got {len(rows[-1])} elements instead", start)

    reader.list_of("[", "]", read)
    data = np.array(rows, np.int64).reshape(len(rows), 2)
    return ir.DenseElements(ir.TensorType(data.shape, "i64"), data)


def _reversal(reader: Reader) -> ir.DenseArray:
    flags: list[bool] = []
    reader.list_of(
        "[", "]", lambda: flags.append(reader.boolean() if reader.at("t") or reader.at("f") else reader.integer() != 0)
    )
    return ir.DenseArray(flags, "i1")


def _exponent_mantissa(reader: Reader) -> dict[str, Any]:
    start = reader.skip()
    word = reader.keyword("a format such as e5m10")
    match = _EXPONENT_MANTISSA(word)
    if match is None:
        raise reader.form_error(f"expected exponent mantissa in format e#m#, saw {word[:40]}", start)
    values = {}
    for name, digits in zip(("exponent", "mantissa"), match.groups(), strict=True):
        if len(digits) > 10 or int(digits) >= 1 << 31:
            raise reader.form_error(f"unable to parse {name} '{digits[:40]}'", start)
        values[f"{name}_bits"] = ir.TypedInt(int(digits), "i32")
    return values


def _properties(reader: Reader) -> dict[str, Any]:
    if not reader.accept("<"):
        return {}
    start = reader.skip()
    values = reader.attribute()
    if not isinstance(values, dict):
        raise reader.error("expected properties such as <{name = value}>", start)
    reader.expect(">", "to close properties")
    return values


def attribute_dictionary(reader: Reader) -> dict[str, Any]:
    """`{name = value, ...}`, or nothing."""
    return reader.dictionary() if reader.at("{") else {}


_BRACES = r"\{[^{}\n]*\}"

ATTRIBUTE_GROUPS: dict[str, tuple[Callable[[Reader], dict[str, Any]], str | None]] = {
    "attr-dict": (attribute_dictionary, rf"(?:{_BRACES})?"),
    "<exponent_mantissa>": (_exponent_mantissa, "e[0-9]+m[0-9]+"),
    "<precision>": (_precision, r"(?:, precision = \[[A-Z, ]*\])?"),
    "<precision_and_algorithm>": (
        _precision_and_algorithm,
        r"(?:, precision = \[[A-Z, ]*\])?(?:, algorithm = <[^<>\n]*>)?",
    ),
    "<properties>": (_properties, rf"(?:<{_BRACES}>)?"),
    "<slice_ranges>": (_slice_ranges, r"\[[-0-9:, ]*\]"),
    "<window>": (_window, r"[^{}\n]*"),
}
"""Directives of several attributes at once: reader and pattern."""
