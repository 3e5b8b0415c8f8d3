"""Decodes the payload of `dense<...>`: nested lists, a single value, or the hexadecimal dump of raw bytes.

C code does the work for each element: json reads the lists, and numpy makes the array. The size of the result is
bounded by the text, never by the size that a type claims. The exception is `sparse<...>`, whose zeros are not in the
text; `_MOST_SPARSE` bounds it.
"""

from __future__ import annotations

import json
import math
import re
from typing import Any, NoReturn, Protocol

import numpy as np

from xla_core.hlo.values.scalar_types import DTYPES, integer_format

_ALLOWED = re.compile(r"(?:[-+0-9.eE,\[\]\s]++|true|false)*+").fullmatch
_HEX = re.compile(r"-?0x[0-9a-fA-F]+")
_TOKEN = re.compile(r"[^\s,\[\]()]+")
_LEADING_ZERO = re.compile(r"(?<![\w.])(-?)0+(?=[0-9])")
_BARE_POINT = re.compile(r"(?<=[0-9])\.(?![0-9])")
_RAGGED = "tensor literal is invalid; ranks are not consistent between elements"
_EXPECTED = {"Expecting ',' delimiter": "expected ']' or ','", "Extra data": "expected '>'"}  # json's words -> MLIR's
_PLUS = re.compile(r"(?<![\w.])\+(?=[0-9])")
_MOST_SPARSE = 1 << 24
"""How many elements a sparse literal may have: at most 256 MiB for complex<f64>.

A sparse literal of one line becomes a dense array. Without a limit, a text of a few bytes could exhaust the memory;
this limit still admits a matrix of 4096 x 4096.
"""


class DenseType(Protocol):
    """The properties of the literal's type, such as `tensor<2x3xf32>`, that the decoder uses."""

    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def element(self) -> object:
        """A name in `scalar_types.DTYPES`. Literals of other element types are refused."""

    @property
    def is_static(self) -> bool: ...


class LiteralError(ValueError):
    """An error in a literal; `offset` is its position in the literal's text, 0 if not known."""

    def __init__(self, message: str, offset: int = 0) -> None:
        super().__init__(message)
        self.offset = offset


def wrap_integer(value: int, element: str) -> int:
    """Returns `value` as the integer type holds it. A signless type also takes the unsigned spelling of negative
    values.

    Raises:
        LiteralError: where the value is out of the type's range.
    """
    kind, width = integer_format(element) or ("i", 64)
    low = 0 if kind == "ui" else -(1 << (width - 1))
    high = (1 << (width - 1)) - 1 if kind == "si" else (1 << width) - 1
    if not low <= value <= high:
        if value < 0 and kind == "ui":
            raise LiteralError(f"expected unsigned integer elements, but parsed negative value {value} for {element}")
        raise LiteralError(f"integer constant out of range for type {element}: {value}")
    if kind == "i" and width > 1 and value >> (width - 1) > 0:
        value -= 1 << width
    return value


def _dtype_of(type: DenseType) -> np.dtype[Any]:
    dtype = DTYPES.get(type.element) if isinstance(type.element, str) else None
    if dtype is None:
        raise LiteralError(f"a constant can't have the element type {type.element}")
    if not type.is_static:
        raise LiteralError(f"elements literal type must have static shape, found {type}")
    return dtype


def scalar_from_bits(bits: int, dtype: np.dtype[Any]) -> np.ndarray:
    """Returns the 0-d array of a float type whose bit pattern is `bits`."""
    size = dtype.itemsize
    if bits < 0:
        raise LiteralError("hexadecimal float literal should not have a leading minus: it is a bit pattern")
    if bits.bit_length() > 8 * size:
        raise LiteralError(f"hexadecimal float constant out of range for type: {bits:#x} has more than {8 * size} bits")
    return np.frombuffer(bits.to_bytes(size, "little"), dtype).reshape(()).copy()


def from_bytes(text: str, type: DenseType) -> np.ndarray:
    """Decodes a hexadecimal dump "0x...". The result is 0-d where the dump is one value for all elements.

    i1 is packed eight to a byte (or one a byte); every other type is little endian in whole bytes.
    """
    dtype = _dtype_of(type)
    try:
        data = bytes.fromhex(text.removeprefix("0x"))
    except ValueError:
        data = None
    if data is None or not text.startswith("0x"):
        raise LiteralError("expected string containing hex digits starting with `0x`, two for each byte")
    count = math.prod(type.shape)
    if type.element == "i1" and len(data) == (count + 7) // 8 and count != len(data):
        bits = np.frombuffer(data, np.uint8)
        unpacked: np.ndarray = np.unpackbits(bits, count=count, bitorder="little").astype(np.bool_)
        return unpacked.reshape(type.shape)
    if type.element == "i1" and len(data) == 1:
        return np.array(data[0] != 0)
    if len(data) == dtype.itemsize and count != 1:
        return np.frombuffer(data, dtype).reshape(()).copy()
    if len(data) != count * dtype.itemsize:
        wanted = f"it needs {count} elements of {dtype.itemsize} bytes, the text has {len(data)} bytes"
        raise LiteralError(f"elements hex data size is invalid for provided type: '{type}': {wanted}")
    if type.element == "i1":
        return np.frombuffer(data, np.uint8).astype(np.bool_).reshape(type.shape)
    return np.frombuffer(data, dtype).reshape(type.shape)


def from_text(text: str, type: DenseType) -> np.ndarray:
    """Decodes the text between the brackets of `dense<...>`, unless it is a string.

    The result is 0-d where the text is one value for all elements.
    """
    dtype = _dtype_of(type)
    count = math.prod(type.shape)
    if not text or text.isspace():
        if count:
            raise LiteralError(f"parsed zero elements, but type ('{type}') expected at least 1")
        return np.zeros(type.shape, dtype)
    return _shaped(_values(text, type, dtype), type.shape, type)


def from_sparse(indices: str, values: str, type: DenseType) -> np.ndarray:
    """Decodes `sparse<indices, values>`. Each value has an index, a list of one number for each dimension.

    Every other element is zero. Where an index occurs twice, its first value counts. A list of one item may be written
    as the item. Without indices, the result is a single zero for all elements.
    """
    dtype = _dtype_of(type)
    if not indices:
        return np.zeros((), dtype)
    rank = len(type.shape)
    if math.prod(type.shape) > _MOST_SPARSE:
        raise LiteralError(f"{type} has more than {_MOST_SPARSE} elements, which is too many for a sparse literal")
    places = _decode(indices, "i64", np.dtype(np.int64))
    data = _values(values, type, dtype)
    rows = np.full((1, rank), places) if places.ndim == 0 else places
    if rows.ndim == rank == 1:
        rows = rows.reshape(-1, 1)
    flat = np.full(len(rows), data) if data.ndim == 0 else data
    if rows.ndim != 2 or rows.shape[1] != rank or flat.shape != rows.shape[:1]:
        expected, found, given = (", ".join(map(str, sizes)) for sizes in (type.shape, places.shape, data.shape))
        inferred = f"inferred shape of indices literal ([{found}]); inferred shape of values literal ([{given}])"
        raise LiteralError(f"expected shape ([{expected}]); {inferred}")
    for i in np.flatnonzero(((rows < 0) | (rows >= np.array(type.shape, np.int64))).any(axis=1))[:1].tolist():
        index = ", ".join(map(str, rows[i].tolist()))
        within = "is not contained within the value shape"
        raise LiteralError(f"sparse index #{i} {within}, with index=[{index}], and type='{type}'")
    result = np.zeros(type.shape, dtype)
    result[tuple(rows[::-1].T)] = flat[::-1]
    return result


def _values(text: str, type: DenseType, dtype: np.dtype[Any]) -> np.ndarray:
    """Returns the elements of the text, in the shape in which the text nests them."""
    element = str(type.element)
    if element.startswith("complex"):
        return _complex_from_text(text, type, dtype, element[len("complex<") : -1])
    if "(" in text:
        raise LiteralError(f"a pair in parentheses is complex, but the type is {type}")
    return _decode(text, element, dtype)


def _complex_from_text(text: str, type: DenseType, dtype: np.dtype[Any], part: str) -> np.ndarray:
    pairs = text.count("(")
    pair = "pairs are written (real, imaginary)"
    if pairs != text.count(")"):
        raise LiteralError(f"expected ')' after complex elements: {pair}")
    values = _decode(text.replace("(", "[").replace(")", "]"), part, DTYPES[part])
    if not pairs:
        wanted, of = (2 * math.prod(type.shape), type) if values.ndim else (2, type.element)
        if values.ndim and values.size == wanted:
            return values  # the shape differs from the type's
        raise LiteralError(f"parsed {values.size} elements, but type ('{of}') expected {wanted} elements: {pair}")
    if values.size != 2 * pairs or values.ndim == 0 or values.shape[-1:] != (2,):
        missing = "',' between" if values.size < 2 * pairs else "')' after"
        raise LiteralError(f"expected {missing} complex elements: {pair}")
    return np.ascontiguousarray(values).view(dtype).reshape(values.shape[:-1])


def _shaped(values: np.ndarray, shape: tuple[int, ...], type: DenseType) -> np.ndarray:
    if values.ndim == 0 or values.shape == shape:
        return values
    if values.size == 0 and math.prod(shape) == 0 and values.ndim <= max(len(shape), 1):
        return values.reshape(shape)
    have, wanted = (", ".join(map(str, sizes)) for sizes in (values.shape, shape))
    raise LiteralError(f"inferred shape of elements literal ([{have}]) does not match type ([{wanted}])")


def _decode(text: str, element: str, dtype: np.dtype[Any]) -> np.ndarray:
    """Decodes nested lists of one element type to an array of the same nesting."""
    is_integer = integer_format(element) is not None
    bits: list[str] = _HEX.findall(text) if "0x" in text else []
    plain = _HEX.sub("0" if is_integer else "0.0", text) if bits else text
    values = _read_json(plain, element, is_integer)
    try:
        array = _integers(values, element, dtype) if is_integer else _floats(values, dtype)
    except (ValueError, TypeError, OverflowError, RecursionError) as error:
        if isinstance(error, LiteralError):
            raise
        raise LiteralError(_RAGGED) from error
    if array.dtype != dtype:
        raise LiteralError(_RAGGED)
    if bits:
        array = np.array(array)  # makes it writable and contiguous
        flat = array.reshape(-1)
        places = [i for i, token in enumerate(_TOKEN.findall(text)) if "0x" in token]
        if len(places) != len(bits):
            raise LiteralError("malformed number in the literal")
        for place, token in zip(places, bits, strict=True):
            if len(token) > 40:
                raise LiteralError("the number has too many digits")
            value = int(token, 16)
            flat[place] = wrap_integer(value, element) if is_integer else scalar_from_bits(value, dtype)
    return array


def _read_json(text: str, element: str, is_integer: bool) -> Any:
    def refuse_integer(token: str) -> NoReturn:
        found = f"{token[:40]} for {element}, which is written {token[:40]}.0"
        raise LiteralError(f"unexpected decimal integer literal for a floating point value: {found}")

    def refuse_float(token: str) -> NoReturn:
        raise LiteralError(f"expected integer elements, but parsed floating-point: {token[:40]} for {element}")

    if _ALLOWED(text) is None:
        raise LiteralError("expected element literal of primitive type: numbers, true or false, in nested lists")
    normal = _normal(text)
    try:
        if is_integer:
            return json.loads(normal, parse_float=refuse_float, parse_constant=refuse_float)
        return json.loads(normal, parse_int=refuse_integer, parse_constant=refuse_integer)
    except LiteralError:
        raise
    except json.JSONDecodeError as error:
        expected = _EXPECTED.get(error.msg, "expected element literal of primitive type")
        raise LiteralError(f"{expected}: numbers in nested lists", error.pos if normal == text else 0) from error
    except ValueError as error:
        raise LiteralError("a number has too many digits") from error
    except RecursionError as error:
        raise LiteralError("the literal's lists are nested too deeply") from error


def _normal(text: str) -> str:
    """Rewrites numbers to JSON's form: no leading zeros, no plus sign, a digit after the point."""
    if _LEADING_ZERO.search(text) is not None:
        text = _LEADING_ZERO.sub(r"\1", text)
    if "." in text:
        text = _BARE_POINT.sub(".0", text)
    return _PLUS.sub("", text) if "+" in text else text


def _integers(values: Any, element: str, dtype: np.dtype[Any]) -> np.ndarray:
    array = np.array(values)
    if array.dtype == np.bool_ or array.dtype == dtype:
        if array.dtype != dtype:
            raise LiteralError(f"expected i1 type for 'true' or 'false' values, not {element}")
        return array
    if array.size == 0:
        return array.astype(dtype)
    if array.dtype.kind not in "iu":
        array = np.array(values, dtype=object)
        low, high = array.min(), array.max()
        if not isinstance(low, int) or not isinstance(high, int):
            raise LiteralError(_RAGGED)
        wrap_integer(low, element)
        wrap_integer(high, element)
        wrapped: np.ndarray = np.vectorize(lambda v: wrap_integer(v, element), otypes=[dtype])(array)
        return wrapped
    wrap_integer(int(array.min()), element)
    wrap_integer(int(array.max()), element)
    return array.astype(dtype)


def _floats(values: Any, dtype: np.dtype[Any]) -> np.ndarray:
    array = np.array(values)
    if array.size == 0:
        return array.astype(dtype)
    if array.dtype != np.float64:
        raise LiteralError("expected floating point literal" if array.dtype == np.bool_ else _RAGGED)
    with np.errstate(over="ignore"):
        return array.astype(dtype)
