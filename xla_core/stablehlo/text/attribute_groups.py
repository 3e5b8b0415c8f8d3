"""The directives of assembly formats that stand for several attributes at once.

A writer gets a dictionary of the attributes that are still to be written, and removes those that it writes.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from xla_core.stablehlo import ir
from xla_core.stablehlo.ir.attribute_text import struct_text
from xla_core.stablehlo.text.directives import Directive, NotPretty, Reader, checked, dims_text, enum_text, typed_text

_EXPONENT_MANTISSA = re.compile(r"e([0-9]+)m([0-9]+)\Z").match


def _read_precision(reader: Reader) -> dict[str, Any]:
    if not reader.accept(","):
        return {}
    return {"precision_config": _precision_list(reader)}


def _precision_list(reader: Reader) -> tuple[ir.EnumAttribute, ...]:
    reader.expect_word("precision")
    reader.expect("=")
    values: list[ir.EnumAttribute] = []
    reader.list_of("[", "]", lambda: values.append(reader.enum("precision")))
    return tuple(values)


def _precision_text(attributes: dict[str, Any]) -> str:
    values = attributes.pop("precision_config", None)
    if values is None:
        return ""
    if not isinstance(values, tuple):
        raise NotPretty
    return f", precision = [{', '.join([enum_text(value, 'precision') for value in values])}]"


def _read_precision_and_algorithm(reader: Reader) -> dict[str, Any]:
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


def _precision_and_algorithm_text(attributes: dict[str, Any]) -> str:
    text = _precision_text(attributes)
    algorithm = attributes.pop("algorithm", None)
    return text if algorithm is None else f"{text}, algorithm = {struct_text(checked(ir.DotAlgorithm, algorithm))}"


_RANGES = ("start_indices", "limit_indices", "strides")


def _read_slice_ranges(reader: Reader) -> dict[str, Any]:
    ranges: list[tuple[int, int, int]] = []

    def read() -> None:
        start = reader.integer("the start")
        reader.expect(":", "between the start and the limit")
        limit = reader.integer("the limit")
        ranges.append((start, limit, reader.integer("the stride") if reader.accept(":") else 1))
        if not (reader.at(",") or reader.at("]")):
            raise reader.error(f"expected ',' or ']' after a range, found {reader.found()}")

    reader.list_of("[", "]", read)
    return {name: ir.DenseArray([r[i] for r in ranges], "i64") for i, name in enumerate(_RANGES)}


def _slice_ranges_text(attributes: dict[str, Any]) -> str:
    columns = [checked(ir.DenseArray, attributes.pop(name, None)) for name in _RANGES]
    if len({len(column) for column in columns}) != 1 or any(column.element != "i64" for column in columns):
        raise NotPretty
    rows = zip(*columns, strict=True)
    return "[" + ", ".join(f"{a}:{b}" if c == 1 else f"{a}:{b}:{c}" for a, b, c in rows) + "]"


_WINDOW = {"stride": "window_strides", "lhs_dilate": "lhs_dilation", "rhs_dilate": "rhs_dilation"}


def _read_window(reader: Reader) -> dict[str, Any]:
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
            values[name] = _read_padding(reader)
        elif word == "reverse":
            values[name] = _read_reversal(reader)
        else:
            values[name] = reader.dimensions()
        if not reader.accept(","):
            break
    return values


def _read_padding(reader: Reader) -> ir.DenseElements:
    rows: list[tuple[int, ...]] = []

    def read() -> None:
        start = reader.skip()
        rows.append(reader.dimension_tuple())
        if len(rows[-1]) != 2:
            raise reader.form_error(f"Expected array with 2 elements, got {len(rows[-1])} elements instead", start)

    reader.list_of("[", "]", read)
    return ir.dense(np.reshape(rows, (len(rows), 2)))


def _read_reversal(reader: Reader) -> ir.DenseArray:
    flags: list[bool] = []
    reader.list_of(
        "[", "]", lambda: flags.append(reader.boolean() if reader.at("t") or reader.at("f") else reader.integer() != 0)
    )
    return ir.DenseArray(flags, "i1")


def _window_text(attributes: dict[str, Any]) -> str:
    parts = [f"{word} = {dims_text(attributes.pop(name))}" for word, name in _WINDOW.items() if name in attributes]
    padding = attributes.pop("padding", None)
    if padding is not None:
        if not isinstance(padding, ir.DenseElements) or padding.type.shape[1:] != (2,) or padding.type.element != "i64":
            raise NotPretty
        parts.insert(int(parts[:1] != [] and parts[0].startswith("stride")), f"pad = {padding.tolist()}")
    reversal = attributes.pop("window_reversal", None)
    if reversal is not None:
        flags: ir.DenseArray = checked(ir.DenseArray, reversal)
        parts.append(f"reverse = [{', '.join('true' if flag else 'false' for flag in flags)}]")
    return ", ".join(parts)


def _read_exponent_mantissa(reader: Reader) -> dict[str, Any]:
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


def _exponent_mantissa_text(attributes: dict[str, Any]) -> str:
    exponent, mantissa = (typed_text(attributes.pop(f"{name}_bits", None), "i32") for name in ("exponent", "mantissa"))
    if "-" in exponent + mantissa:
        raise NotPretty
    return f"e{exponent}m{mantissa}"


def _read_properties(reader: Reader) -> dict[str, Any]:
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


def _unwritten(attributes: dict[str, Any]) -> str:
    raise NotPretty  # `translate` writes dictionaries and properties itself


_BRACES = r"\{[^{}\n]*\}"

ATTRIBUTE_GROUPS: dict[str, Directive] = {
    "attr-dict": Directive(attribute_dictionary, _unwritten, rf"(?:{_BRACES})?"),
    "<exponent_mantissa>": Directive(_read_exponent_mantissa, _exponent_mantissa_text, "e[0-9]+m[0-9]+"),
    "<precision>": Directive(_read_precision, _precision_text, r"(?:, precision = \[[A-Z, ]*\])?"),
    "<precision_and_algorithm>": Directive(
        _read_precision_and_algorithm,
        _precision_and_algorithm_text,
        r"(?:, precision = \[[A-Z, ]*\])?(?:, algorithm = <[^<>\n]*>)?",
    ),
    "<properties>": Directive(_read_properties, _unwritten, rf"(?:<{_BRACES}>)?"),
    "<slice_ranges>": Directive(_read_slice_ranges, _slice_ranges_text, r"\[[-0-9:, ]*\]"),
    "<window>": Directive(_read_window, _window_text, r"[^{}\n]*"),
}
