"""Parses the backend_config of a custom call into a dictionary.

The text is JSON or an MLIR dictionary attribute such as `{uplo = 76 : ui8, name = "x"}`.
"""

from __future__ import annotations

import dataclasses
import functools
import json
import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from xla_core.hlo.values.dense_literals import LiteralError, from_bytes, from_text, scalar_from_bits, wrap_integer
from xla_core.hlo.values.scalar_types import DTYPES, FLOATS, OTHER_FLOATS, integer_format

_TOKEN = re.compile(
    r"""\s*(?:(?P<string>"(?:[^"\\]|\\.)*")|(?P<number>-?0x[0-9a-fA-F]+|-?\d+(?:\.\d*)?(?:[eE][-+]?\d+)?)"""
    r"""|(?P<word>[A-Za-z_][\w.$-]*)|(?P<mark>[{}\[\]<>=,:@#!(])|(?P<end>\Z))""",
    re.S,
)
_DENSE = re.compile(
    r"""\s*<(?P<payload>"[^"]*"|[^<>"]*)>\s*:\s*(?:tensor|vector)<(?P<sizes>(?:\d+x)*)(?P<element>\w+(?:<f\d+>)?)>""",
)
_ATTRIBUTE = re.compile(r"[@#!(]|[A-Za-z_][\w.]*[<(]|(?:(?:si|ui|i)\d+|none)\Z").match
_NAME = r'@([\w$.-]+|"(?:[^"\\]|\\.)*")'
_SYMBOL = re.compile(rf"{_NAME}(?:::{_NAME})*\Z", re.S).match
_NAMES = re.compile(_NAME, re.S).findall
_SKIPPED = re.compile(r'"(?:[^"\\]|\\.)*"|->|[^"]', re.S)
_CLOSING = {"<": ">", "(": ")", "[": "]", "{": "}"}
_ESCAPE = re.compile(rb"\\([0-9A-Fa-f]{2}|.)", re.S)


def parse_backend_config(text: str) -> Mapping[str, Any]:
    """Parses a backend_config into a read-only mapping.

    Numbers, booleans, strings, arrays and dictionaries become Python values; a number with a type is rounded to it.
    `dense<...>` becomes a read-only numpy array, an element type a numpy dtype, and `@a::@b` the string "a::@b". Any
    other MLIR attribute becomes its text, such as `#stablehlo<...>` or `tensor<2xf32>`. So does a number that its type
    cannot hold, such as `300 : i8`. A text that is no dictionary becomes `{"": text}`; an empty text becomes `{}`.
    """
    value = read_backend_config(text)
    return MappingProxyType({"": text.strip()} if value is None else value)


def read_backend_config(text: str) -> dict[str, Any] | None:
    """Parses a dictionary as `parse_backend_config` does, but returns None for a text that is no dictionary."""
    value = _read(text.strip())
    return None if value is None else _fresh(value)


def read_typed_attributes(text: str) -> dict[str, Any] | None:
    """Reads a dictionary of MLIR's attributes with the types of its numbers; returns None for a text that is none.

    A number or a boolean is a numpy scalar, an `array<...>` or `dense<...>` a numpy array. A number without a type is
    an i64 or an f64. Strings, lists, dictionaries and element types are as in `parse_backend_config`. The result is
    None where that makes a text of an attribute, such as `#stablehlo<...>`.
    """
    try:
        value = _read_mlir(text, _TypedReader) if text.strip() else {}
    except (ValueError, OverflowError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


@functools.lru_cache(maxsize=1024)
def _read(text: str) -> Mapping[str, Any] | None:
    if not text:
        return {}
    for read in (json.loads, _read_mlir):
        try:
            value = read(text)
        except (ValueError, OverflowError, RecursionError):
            continue
        if isinstance(value, dict):
            return value
    return None


def _fresh(value: Mapping[str, Any]) -> dict[str, Any]:
    """Copies nested lists and dictionaries, so that the caller may change them."""
    copy = dict(value)
    left: list[Any] = [copy]
    while left:
        container = left.pop()
        for key, item in container.items() if isinstance(container, dict) else enumerate(container):
            if isinstance(item, (dict, list)):
                container[key] = item.copy()
                left.append(container[key])
    return copy


def _read_mlir(text: str, make_reader: type[_Reader] | None = None) -> Any:
    reader = (make_reader or _Reader)(text)
    value = reader.value()
    if reader.take()[0] != "end":
        raise ValueError("text after the dictionary")
    return value


class _Reader:
    def __init__(self, text: str) -> None:
        self._text = text
        self._position = 0

    def _match(self) -> re.Match[str]:
        match = _TOKEN.match(self._text, self._position)
        if match is None:
            raise ValueError(self._text[self._position :])
        return match

    def take(self, mark: str = "") -> tuple[str, str]:
        match = self._match()
        kind = str(match.lastgroup)
        if mark and match[kind] != mark:
            raise ValueError(f"expected {mark}")
        self._position = match.end()
        return kind, match[kind]

    def _accept(self, mark: str) -> bool:
        match = self._match()
        found = match["mark"] == mark
        if found:
            self._position = match.end()
        return found

    def value(self) -> Any:
        start = self._position
        kind, text = self.take()
        match kind, text:
            case "string", _:
                if self._accept(":"):
                    self._type()
                return _unquoted(text)
            case "number", _:
                type = self._type() if self._accept(":") else ""
                try:
                    return self._number(text, type)
                except LiteralError:
                    return self._as_text(self._text[start : self._position].strip())
            case "word", "true" | "false":
                return self._boolean(text == "true")
            case "word", "unit":
                return True
            case "word", "array":
                try:
                    return self._array()
                except LiteralError:
                    self._position = start
                    return self._as_text(self._other())
            case "word", "dense":
                return self._dense(start)
            case "mark", "{":
                return self._dictionary()
            case "mark", "[":
                return self._list("]")
        self._position = start
        other = self._other()
        if _SYMBOL(other) is not None:
            return "::@".join([_unquoted(n) if n[0] == '"' else n for n in _NAMES(other)])
        return DTYPES[other] if other in DTYPES else self._as_text(other)

    def _number(self, text: str, type: str) -> Any:
        return _scalar(text, type)

    def _boolean(self, value: bool) -> Any:
        return value

    def _as_text(self, attribute: str) -> Any:
        """Returns the value of an attribute that Python has no type for: its text."""
        return attribute

    def _type(self) -> str:
        match = self._match()
        if match["word"] is None:
            return self._other()
        self._position = match.end()
        return match["word"]

    def _other(self) -> str:
        """Returns the text of an attribute or type that has no Python counterpart, up to the next delimiter."""
        start = self._position
        open_: list[str] = []
        while self._position < len(self._text):
            match = _SKIPPED.match(self._text, self._position)
            if match is None:
                raise ValueError("unterminated string")
            part = match[0]
            if not open_ and part in ",]}>":
                break
            if part in "<>" and open_[-1:] == [")"] and self._text.startswith("=", match.end()):
                pass  # a comparison, as in `(d0 >= 0)`
            elif part in _CLOSING:
                open_.append(_CLOSING[part])
            elif open_ and part == open_[-1]:
                open_.pop()
            elif part in _CLOSING.values():
                raise ValueError("unmatched bracket")
            self._position = match.end()
        text = self._text[start : self._position].strip()
        if open_ or not (_ATTRIBUTE(text) or text in DTYPES or text in OTHER_FLOATS):
            raise ValueError(text)
        return text

    def _array(self) -> Any:
        """Reads `array<i64: 1, 2>` or `array<i64>`."""
        self.take("<")
        element = self.take()[1]
        self._accept(":")
        values: list[Any] = []
        while not self._accept(">"):
            if values:
                self.take(",")
            kind, text = self.take()
            if kind == "number":
                values.append(_scalar(text, element))
            elif text in ("true", "false"):
                values.append(text == "true")
            else:
                raise ValueError(text)
        return self._array_of(values, element)

    def _array_of(self, values: list[Any], element: str) -> Any:
        return values

    def _dense(self, start: int) -> Any:
        """Reads `<[1.0, 2.0]> : tensor<2xf32>`, `<1.0> : tensor<2xf32>` or `<"0x0000803F"> : tensor<1xf32>`."""
        match = _DENSE.match(self._text, self._position)
        if match is None or match["element"] not in DTYPES:
            self._position = start
            return self._as_text(self._other())
        sizes, payload = match["sizes"].split("x")[:-1], match["payload"]
        try:
            type = _ArrayType(tuple([int(size) for size in sizes]), match["element"])
            data = from_bytes(payload[1:-1], type) if payload[:1] == '"' else from_text(payload, type)
            array = np.broadcast_to(data, type.shape)
        except (ValueError, OverflowError):
            self._position = start
            return self._as_text(self._other())
        self._position = match.end()
        array.flags.writeable = False  # `_read` caches the array, so callers share it
        return array

    def _list(self, end: str) -> list[Any]:
        values: list[Any] = []
        while not self._accept(end):
            if values:
                self.take(",")
            values.append(self.value())
        return values

    def _dictionary(self) -> dict[str, Any]:
        entries: dict[str, Any] = {}
        while not self._accept("}"):
            if entries:
                self.take(",")
            kind, key = self.take()
            if kind not in ("string", "word"):
                raise ValueError(key)
            key = _unquoted(key) if kind == "string" else key
            entries[key] = self.value() if self._accept("=") else True
        return entries


class _TypedReader(_Reader):
    """Reads a number as a numpy scalar of the type that the text gives it."""

    def _number(self, text: str, type: str) -> Any:
        value = super()._number(text, type)
        dtype = DTYPES.get(type or ("f64" if isinstance(value, float) else "i64"))
        if dtype is None:
            raise LiteralError(f"numpy has no {type}")
        return np.array(value).astype(dtype)[()]

    def _boolean(self, value: bool) -> Any:
        return np.bool_(value)

    def _as_text(self, attribute: str) -> Any:
        raise ValueError(attribute)

    def _array_of(self, values: list[Any], element: str) -> Any:
        if element not in DTYPES:
            raise LiteralError(f"{element} has no arrays")
        return np.array(values).astype(DTYPES[element])


@dataclasses.dataclass(frozen=True, slots=True)
class _ArrayType:
    shape: tuple[int, ...]
    element: str
    is_static: bool = True


def _scalar(text: str, type: str = "") -> Any:
    """Reads a number as Python's. `type` is "" where the text has none. Hexadecimal digits of a float are its bits.

    Raises:
        LiteralError: where the type cannot hold the number.
    """
    dtype = DTYPES.get(type)
    is_float = type in FLOATS or type in OTHER_FLOATS
    is_hex = "0x" in text
    if is_float and is_hex:
        if dtype is None:
            raise LiteralError(f"{type} has no arrays")
        return float(scalar_from_bits(int(text, 16), dtype))
    if not is_float and (is_hex or not any(c in text for c in ".eE")):
        value = int(text, 16 if is_hex else 10)
        return value if integer_format(type) is None else wrap_integer(value, type)
    if integer_format(type) is not None:
        raise LiteralError(f"{type} is no type of floats")
    with np.errstate(over="ignore", invalid="ignore"):
        return float(text) if dtype is None else float(np.array(float(text)).astype(dtype))


def _unquoted(text: str) -> str:
    if "\\" not in text:
        return text[1:-1]
    data = _ESCAPE.sub(_unescape, text[1:-1].encode("utf-8", "surrogateescape"))
    return data.decode("utf-8", "surrogateescape")


def _unescape(match: re.Match[bytes]) -> bytes:
    code = match[1]
    return bytes.fromhex(code.decode()) if len(code) == 2 else {b"n": b"\n", b"t": b"\t"}.get(code, code)
