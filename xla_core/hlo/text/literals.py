"""Literals in HLO text: `{ { 1, 2 }, { 3, 4 } }`, `nan`, `(1, -2)`.

Decimals have as many digits as XLA prints: the lower of two precisions that gives the same bits back (xla/util.cc,
RoundTripFpToString).
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from xla_core.hlo.text.cursor import Cursor
from xla_core.hlo.values.element_type import ElementType
from xla_core.hlo.values.literal import Literal
from xla_core.hlo.values.shape import Shape

_PLAIN = re.compile(r"([-+0-9.eE,{}\s]*+)\)")
_TO_LISTS = str.maketrans("{}", "[]")
_SCALAR = re.compile(
    r"([-+]?(?:nan(?:\(0x[0-9a-fA-F]{1,16}\))?|[A-Za-z]+|(?:\d[\w.]*|\.\d\w*)(?:(?<=[eE])[-+]?\d+)?))\s*"
)
_NAN = re.compile(r"([-+]?)nan(?:\(0x([0-9a-fA-F]{1,16})\))?")
_DECIMAL = re.compile(r"[-+]?(?:\d++\.?\d*+(?:e[-+]?\d{1,6})?|\.\d++(?:e[-+]?\d{1,6})?|inf|infinity)", re.I)
_HEX_FLOAT = re.compile(r"[-+]?0x[0-9a-f]++(?:\.[0-9a-f]*+)?(?:p[-+]?\d{1,6})?", re.I)
_WHOLE = re.compile(r"[-+]?\d{1,20}")
_MAX_NESTING = 64
_MAX_RANK = 64  # the most dimensions of a numpy array


# -- printing ----------------------------------------------------------------------------------------------------------


def literal_to_text(literal: Literal, *, elide_over: int | None = None) -> str:
    """Prints the payload of `constant(...)`. Arrays of more than `elide_over` elements become `{...}`."""
    if literal.shape.is_tuple:
        return "( " + ", ".join(literal_to_text(e, elide_over=elide_over) for e in literal.elements) + " )"
    if elide_over is not None and literal.array.size > elide_over:
        return "{...}"
    array, element_type = literal.array, literal.shape.element_type
    if not array.ndim:
        if element_type is ElementType.PRED:
            return "true" if array else "false"
        return _texts(array.reshape(1), element_type)[0]
    if array.size and not any(array.strides):
        texts = _texts(array.reshape(-1)[:1], element_type) * array.size
    else:
        texts = _texts(array.reshape(-1), element_type)
    return _nested(texts, array.shape, ())


def _nested(texts: Sequence[str], dimensions: tuple[int, ...], indices: tuple[int, ...]) -> str:
    """Prints an array, or the one at `indices` of a larger array, whose elements have these texts."""
    rank = len(indices) + len(dimensions)
    if len(dimensions) == 1:
        inner = ", ".join(texts)
        return f"{{{inner}}}" if rank == 1 or len(texts) <= 1 else f"{{ {inner} }}"
    # For readability, XLA numbers the sub-arrays of arrays with more than three dimensions.
    mark = f"/*i{len(indices) - 1}={indices[-1]}*/ " if rank > 3 and indices else ""
    size = math.prod(dimensions[1:])
    rows = (texts[i * size : (i + 1) * size] for i in range(dimensions[0]))
    return f"{{ {mark}{', '.join(_nested(row, dimensions[1:], (*indices, i)) for i, row in enumerate(rows))} }}"


def _texts(array: np.ndarray, element_type: ElementType) -> list[str]:
    """Returns the text of each element of an array of one dimension."""
    if element_type.is_complex:
        parts = (_texts(part, element_type.component) for part in (array.real, array.imag))
        return [f"({real}, {imaginary})" for real, imaginary in zip(*parts, strict=True)]
    if element_type.is_floating:
        return _float_texts(array, element_type)
    return list(map(str, array.astype(np.uint8 if element_type is ElementType.PRED else object).tolist()))


_DIGITS = {ElementType.F32: (6, 9), ElementType.F64: (15, 17)}


def _float_texts(array: np.ndarray, element_type: ElementType) -> list[str]:
    with np.errstate(invalid="ignore"):  # signaling NaNs raise the flag
        numbers = array.astype(np.float64).tolist()
    # As many digits identify every power of two, except the smallest f8e8m0fnu, whose two digits read back as the next.
    few, many = _DIGITS.get(element_type) or (_max_digits(element_type), 17)
    texts = list(map(f"%.{few}g".__mod__, numbers))
    with np.errstate(over="ignore"):
        again = np.array(list(map(float, texts)), np.float64).astype(array.dtype)
    for i in np.flatnonzero(again != array).tolist():
        if math.isnan(numbers[i]):
            texts[i] = _nan_to_text(array[i], element_type)
        else:
            texts[i] = f"{numbers[i]:.{many}g}" if element_type in _DIGITS else repr(numbers[i])
    return texts


def _max_digits(element_type: ElementType) -> int:
    """Returns the decimal digits that distinguish all values of a narrow type (std::numeric_limits::max_digits10)."""
    return math.ceil(1 + (element_type.mantissa_bits + 1) * math.log10(2))


def _bits(element_type: ElementType) -> np.dtype:
    return np.dtype(f"u{element_type.byte_width}")


def _nan_to_text(value: Any, element_type: ElementType) -> str:
    bits, default, sign = _nan_bits(np.asarray(value, element_type.dtype), element_type)
    if bits == default:
        return "nan"
    if bits == default | sign:
        return "-nan"
    payload = bits & ((1 << element_type.mantissa_bits) - 1)
    return f"{'-' if bits & sign else ''}nan(0x{payload:x})"


def _nan_bits(value: np.ndarray, element_type: ElementType) -> tuple[int, int, int]:
    """Returns the value's bits, the default NaN's bits, and the sign bit."""
    kind = _bits(element_type)
    default = np.asarray(np.nan).astype(element_type.dtype).view(kind)
    return int(value.view(kind)), int(default), 1 << (element_type.bit_width - 1)


# -- reading -----------------------------------------------------------------------------------------------------------


def read_literal(cursor: Cursor, shape: Shape, depth: int = 0) -> Literal:
    """Reads the payload of a constant of `shape`."""
    if cursor.starts_with("{...}"):
        raise cursor.error(
            "the constant's value was left out of this text",
            hint="print the module with large constants (XLA_FLAGS=--xla_dump_large_constants, or elide_over=None)",
        )
    if shape.is_tuple:
        if depth >= _MAX_NESTING:
            raise cursor.error(f"tuple literals nest deeper than {_MAX_NESTING}")
        cursor.expect("(", "before the elements of a tuple literal")
        elements = []
        for index, element in enumerate(shape.tuple_shapes):
            if index:
                cursor.expect(",", "between the elements of a tuple literal")
            elements.append(read_literal(cursor, element, depth + 1))
        cursor.expect(")", "after the elements of a tuple literal")
        return Literal(elements, shape)
    if not shape.is_array:
        raise cursor.error(f"a constant cannot have shape {shape}")
    if not shape.dimensions:
        values = [_read_element(cursor, shape.element_type)]
    else:
        _check_size(cursor, shape)
        # An array in a tuple doesn't end with the constant; a search for the end from each array would take too long.
        plain = None if depth else _read_plain_array(cursor, shape)
        values = plain or []
        if plain is None:
            _read_dimension(cursor, shape, 0, values)
    array = np.empty(len(values), shape.dtype)
    if values:
        with np.errstate(over="ignore"):  # a number beyond the type's range is an infinity
            array[:] = values if shape.element_type is not ElementType.PRED else [bool(v) for v in values]
    return Literal(array.reshape(shape.dimensions), shape.without_layout() if shape.layout is None else shape)


def _check_size(cursor: Cursor, shape: Shape) -> None:
    """Refuses a shape that claims more elements than there are characters left."""
    if shape.rank > _MAX_RANK:
        raise cursor.error(f"a constant of {shape.rank} dimensions; constants have {_MAX_RANK} at most")
    if shape.num_elements > len(cursor.text) - cursor.position:
        raise cursor.error(
            f"expected {shape.num_elements} elements for a constant of {shape}; the text is too short for them"
        )


def _read_plain_array(cursor: Cursor, shape: Shape) -> list[Any] | None:
    """Reads all elements at once if they are plain numbers, as json knows them.

    It returns None otherwise, and the slower reader then reads them or says what is wrong.
    """
    match, element_type = _PLAIN.match(cursor.text, cursor.position), shape.element_type
    if match is None or element_type.is_complex or element_type is ElementType.PRED:
        return None
    try:
        number = float if element_type.is_floating else int  # float keeps the sign of -0
        array = np.array(json.loads(match[1].translate(_TO_LISTS), parse_int=number))
    except (ValueError, RecursionError):  # numpy's error is of lists that differ in length
        return None
    if array.shape != shape.dimensions or array.dtype.kind not in ("f" if element_type.is_floating else "iu"):
        return None
    if element_type.is_integral and array.size:
        least, greatest = element_type.integer_range
        if int(array.min()) < least or int(array.max()) > greatest:
            return None
    cursor.position = match.end(1)
    return array.reshape(-1).tolist()


def _read_dimension(cursor: Cursor, shape: Shape, dimension: int, values: list[Any]) -> None:
    size, last = shape.dimensions[dimension], dimension == shape.rank - 1
    cursor.expect("{", f"before dimension {dimension} of a constant of {shape}")
    for index in range(size):
        if index and not cursor.accept(","):
            raise cursor.error(f"expected ',' and {size - index} more elements in dimension {dimension} of {shape}")
        if last:
            values.append(_read_element(cursor, shape.element_type))
        else:
            _read_dimension(cursor, shape, dimension + 1, values)
    cursor.expect("}", f"after the {size} elements of dimension {dimension} of {shape}")


def _read_element(cursor: Cursor, element_type: ElementType) -> Any:
    if element_type.is_complex:
        if not cursor.accept("("):
            return _read_element(cursor, element_type.component)
        real = _read_element(cursor, element_type.component)
        cursor.expect(",", "between the parts of a complex number")
        imaginary = _read_element(cursor, element_type.component)
        cursor.expect(")", "after the parts of a complex number")
        value: Any = np.empty((), element_type.dtype)
        value.real, value.imag = real, imaginary
        return value[()]
    start = cursor.position
    match = cursor.take(_SCALAR, f"a value of type {element_type}")
    element = _element(match[1], element_type)
    if element is None:
        raise cursor.error(f"{match[1]!r} is not a value of type {element_type}", position=start)
    return element


def _element(text: str, element_type: ElementType) -> Any | None:
    """Returns the value that `text` spells, exact in Python or of the numpy scalar type; None where it spells none."""
    if element_type is ElementType.PRED:
        return {"true": True, "1": True, "false": False, "0": False}.get(text)
    if element_type.is_integral:
        if text in ("true", "false"):
            return int(text == "true")
        if not _WHOLE.fullmatch(text):
            return None
        least, greatest = element_type.integer_range
        return int(text) if least <= int(text) <= greatest else None
    return _float_element(text, element_type)


def _float_element(text: str, element_type: ElementType) -> Any | None:
    if nan := _NAN.fullmatch(text):
        canonical = np.asarray(np.nan).astype(element_type.dtype)
        if not (nan[1] == "-" or nan[2]):
            return canonical[()] if canonical != canonical else None
        bits, default, sign = _nan_bits(canonical, element_type)
        mantissa = (1 << element_type.mantissa_bits) - 1
        if nan[2]:
            payload = int(nan[2], 16)
            if payload == 0 or payload > mantissa:
                return None
            bits = (default & ~mantissa) | payload
        if nan[1] == "-":
            bits |= sign
        return np.asarray(bits, _bits(element_type)).view(element_type.dtype)[()]
    if _DECIMAL.fullmatch(text):
        return float(text)
    if _HEX_FLOAT.fullmatch(text):
        return float.fromhex(text)
    return None
