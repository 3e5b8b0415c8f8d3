"""Writers of attributes and types in assembly formats.

They are the inverse of `text/directives.py` and `text/type_directives.py`. A writer raises `NotPretty` for a value
without a pretty form; the op is then written in the generic form.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from xla_core.stablehlo import ir
from xla_core.stablehlo.ir.attribute_text import attribute_text, quoted, struct_text, symbol_text


class NotPretty(Exception):
    """An op can't be written in its pretty form."""


def _of(kind: type, value: Any) -> Any:
    """Returns the value, which must be of exactly this class."""
    if type(value) is not kind:
        raise NotPretty
    return value


# One attribute


def _dims(value: Any) -> str:
    if not isinstance(value, ir.DenseArray) or value.element != "i64":
        raise NotPretty
    return f"[{', '.join(map(str, value))}]"


def _typed(element: str) -> Callable[[Any], str]:
    def write(value: Any) -> str:
        if not isinstance(value, ir.TypedInt) or value.type != element:
            raise NotPretty
        return str(int(value))

    return write


def _f64(value: Any) -> str:
    return attribute_text(_of(float, value)).removesuffix(" : f64")


def _enum(kind: str) -> Callable[[Any], str]:
    def write(value: Any) -> str:
        if not isinstance(value, ir.EnumAttribute) or value.kind != kind:
            raise NotPretty
        return str(value)

    return write


def body_of(value: Any, opening: str, closing: str) -> str:
    """Writes another dialect's attribute without its name, which follows from its place."""
    if not isinstance(value, ir.OpaqueAttribute) or not value.text.startswith(opening):
        raise NotPretty
    return value.text[len(opening) :].removesuffix(closing)


def _dot_dimensions(value: Any) -> str:
    dims: ir.DotDimensionNumbers = _of(ir.DotDimensionNumbers, value)
    text = f"contracting_dims = {_pair(dims.lhs_contracting_dimensions, dims.rhs_contracting_dimensions)}"
    if dims.lhs_batching_dimensions or dims.rhs_batching_dimensions:
        text = f"batching_dims = {_pair(dims.lhs_batching_dimensions, dims.rhs_batching_dimensions)}, {text}"
    return text


def _pair(left: Sequence[int], right: Sequence[int]) -> str:
    return f"{list(left)} x {list(right)}"


def _convolution(value: Any) -> str:
    text = struct_text(_of(ir.ConvDimensionNumbers, value))
    if text.startswith("<raw"):
        raise NotPretty
    return text[1:-1]


ATTRIBUTES: dict[str, Callable[[Any], str]] = {
    "attribute": attribute_text,
    "axis_lists": lambda value: body_of(value, "#sdy<list_of_axis_ref_lists", ">"),
    "bool": lambda value: "true" if _of(bool, value) else "false",
    "convolution": _convolution,
    "dims": _dims,
    "dot_dimensions": _dot_dimensions,
    "f64": _f64,
    "i32": _typed("i32"),
    "int": lambda value: str(_of(int, value)),
    "sharding": lambda value: body_of(value, "#sdy.sharding", ""),
    "string": lambda value: quoted(_of(str, value)),
    "symbol": lambda value: attribute_text(_of(ir.SymbolRef, value)),
    "symbol_name": lambda value: symbol_text(_of(str, value)),
    "ui32": _typed("ui32"),
    "ui64": _typed("ui64"),
    **{kind: _enum(kind) for kind in ir.ENUMS},
}
"""Kinds of one attribute."""


# Several attributes


def _precision(attributes: dict[str, Any]) -> str:
    """Writes the precision. The writers of groups remove the attributes that they write."""
    values = attributes.pop("precision_config", None)
    if values is None:
        return ""
    if not isinstance(values, tuple):
        raise NotPretty
    return f", precision = [{', '.join(map(_enum('precision'), values))}]"


def _precision_and_algorithm(attributes: dict[str, Any]) -> str:
    text = _precision(attributes)
    algorithm = attributes.pop("algorithm", None)
    return text if algorithm is None else f"{text}, algorithm = {struct_text(_of(ir.DotAlgorithm, algorithm))}"


def _slice_ranges(attributes: dict[str, Any]) -> str:
    columns = [_of(ir.DenseArray, attributes.pop(name, None)) for name in ("start_indices", "limit_indices", "strides")]
    if len({len(column) for column in columns}) != 1 or any(column.element != "i64" for column in columns):
        raise NotPretty
    rows = zip(*columns, strict=True)
    return "[" + ", ".join(f"{a}:{b}" if c == 1 else f"{a}:{b}:{c}" for a, b, c in rows) + "]"


_WINDOW = {"window_strides": "stride", "lhs_dilation": "lhs_dilate", "rhs_dilation": "rhs_dilate"}


def _window(attributes: dict[str, Any]) -> str:
    parts = [f"{word} = {_dims(attributes.pop(name))}" for name, word in _WINDOW.items() if name in attributes]
    padding = attributes.pop("padding", None)
    if padding is not None:
        if not isinstance(padding, ir.DenseElements) or padding.type.shape[1:] != (2,) or padding.type.element != "i64":
            raise NotPretty
        parts.insert(int(parts[:1] != [] and parts[0].startswith("stride")), f"pad = {padding.tolist()}")
    reversal = attributes.pop("window_reversal", None)
    if reversal is not None:
        flags: ir.DenseArray = _of(ir.DenseArray, reversal)
        parts.append(f"reverse = [{', '.join('true' if flag else 'false' for flag in flags)}]")
    return ", ".join(parts)


def _exponent_mantissa(attributes: dict[str, Any]) -> str:
    exponent, mantissa = (_typed("i32")(attributes.pop(f"{name}_bits", None)) for name in ("exponent", "mantissa"))
    if "-" in exponent + mantissa:
        raise NotPretty
    return f"e{exponent}m{mantissa}"


ATTRIBUTE_GROUPS: dict[str, Callable[[dict[str, Any]], str]] = {
    "<exponent_mantissa>": _exponent_mantissa,
    "<precision>": _precision,
    "<precision_and_algorithm>": _precision_and_algorithm,
    "<slice_ranges>": _slice_ranges,
    "<window>": _window,
}
"""Kinds of several attributes at once."""


# Types of operands and results


type_text = functools.lru_cache(maxsize=4096)(ir.type_text)
"""A type's text; programs repeat themselves."""


def types_text(types: Sequence[ir.Type]) -> str:
    return ", ".join([type_text(type) for type in types])


def functional(operands: Sequence[ir.Value], results: Sequence[ir.Value]) -> str:
    """Writes `(types) -> types`."""
    if len(results) == 1 and not isinstance(results[0].type, ir.FunctionType):
        return f"({types_text([o.type for o in operands])}) -> {type_text(results[0].type)}"
    return f"({types_text([o.type for o in operands])}) -> ({types_text([r.type for r in results])})"


def _same(operands: Sequence[ir.Value], results: Sequence[ir.Value]) -> str:
    if len(results) != 1:
        raise NotPretty
    type = results[0].type
    if all(operand.type == type for operand in operands):
        return type_text(type)
    return functional(operands, results)


def _select(operands: Sequence[ir.Value], results: Sequence[ir.Value]) -> str:
    if len(results) == 1 and len(operands) == 3 and all(o.type == results[0].type for o in operands[1:]):
        return types_text([operands[0].type, results[0].type])
    return functional(operands, results)


def _complex(operands: Sequence[ir.Value], results: Sequence[ir.Value]) -> str:
    type = results[0].type
    if isinstance(type, ir.TensorType) and isinstance(type.element, str) and type.element.startswith("complex<"):
        part = ir.TensorType(type.shape, type.element[len("complex<") : -1], type.bounds, type.encoding)
        if all(operand.type == part for operand in operands):
            return type_text(type)
    return functional(operands, results)


def _tuple(operands: Sequence[ir.Value], results: Sequence[ir.Value]) -> str:
    type = results[0].type
    if not isinstance(type, ir.TupleType) or type.elements != tuple([o.type for o in operands]):
        raise NotPretty
    return str(type)


def _arrow(operands: Sequence[ir.Value], results: Sequence[ir.Value]) -> str:
    if len(results) == 1:
        return f"{types_text([o.type for o in operands])} -> {results[0].type}"
    return f"{types_text([o.type for o in operands])} -> ({types_text([r.type for r in results])})"


def _results(operands: Sequence[ir.Value], results: Sequence[ir.Value]) -> str:
    if operands:
        raise NotPretty
    return types_text([r.type for r in results])


def _list(operands: Sequence[ir.Value], results: Sequence[ir.Value]) -> str:
    if results:
        raise NotPretty
    return types_text([o.type for o in operands])


def _each(operands: Sequence[ir.Value], results: Sequence[ir.Value]) -> str:
    if results or not operands or any(o.type != operands[0].type for o in operands):
        raise NotPretty
    return str(operands[0].type)


def _return(operands: Sequence[ir.Value], results: Sequence[ir.Value]) -> str:
    return f": {types_text([o.type for o in operands])}" if operands else ""


def _cast(operands: Sequence[ir.Value], results: Sequence[ir.Value]) -> str:
    return f"{types_text([o.type for o in operands])} to {types_text([r.type for r in results])}"


SIGNATURES: dict[str, Callable[[Sequence[ir.Value], Sequence[ir.Value]], str]] = {
    "functional": functional,
    "same": _same,
    "select": _select,
    "complex": _complex,
    "tuple": _tuple,
    "arrow": _arrow,
    "cast": _cast,
    "results": _results,
    "list": _list,
    "each": _each,
    "return": _return,
}
"""Signature kinds."""
