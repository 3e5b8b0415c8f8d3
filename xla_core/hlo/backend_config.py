"""backend_config of custom calls as a dictionary: from MLIR's text of one, `{uplo = 76 : ui8, name = "x"}`, or JSON."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

__all__ = ["parse_backend_config"]

_TOKEN = re.compile(
    r"""\s*(?:(?P<string>"(?:[^"\\]|\\.)*")|(?P<number>-?0x[0-9a-fA-F]+|-?\d+(?:\.\d*)?(?:[eE][-+]?\d+)?)"""
    r"""|(?P<word>[A-Za-z_][\w.$-]*)|(?P<mark>[{}\[\]<>=,:@#!]))""",
)
_ESCAPE = re.compile(rb"\\([0-9A-Fa-f]{2}|.)", re.S)


@functools.lru_cache(maxsize=1024)
def parse_backend_config(text: str) -> Mapping[str, Any]:
    """Numbers, booleans, strings, arrays and dictionaries are Python's; a type after a number is dropped.

    A text that is no dictionary, or has other values in it, is `{"": text}`; an empty one is `{}`.
    """
    text = text.strip()
    if not text:
        return MappingProxyType({})
    for read in (json.loads, _read_mlir):
        try:
            value = read(text)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict):
            return MappingProxyType(value)
    return MappingProxyType({"": text})


def _read_mlir(text: str) -> Any:
    reader = _Reader(text)
    value = reader.value()
    reader.end()
    return value


class _Reader:
    def __init__(self, text: str) -> None:
        self._tokens: list[tuple[str, str]] = []
        position = 0
        while position < len(text):
            match = _TOKEN.match(text, position)
            if match is None or match.lastgroup is None:
                raise ValueError(text[position:])
            self._tokens.append((match.lastgroup, match[match.lastgroup]))
            position = match.end()
        self._next = 0

    def _peek(self) -> tuple[str, str]:
        return self._tokens[self._next] if self._next < len(self._tokens) else ("end", "")

    def _take(self, mark: str = "") -> tuple[str, str]:
        token = self._peek()
        if token[0] == "end" or (mark and token[1] != mark):
            raise ValueError(f"expected {mark}")
        self._next += 1
        return token

    def _accept(self, mark: str) -> bool:
        found = self._peek()[1] == mark
        self._next += found
        return found

    def end(self) -> None:
        if self._peek()[0] != "end":
            raise ValueError("text after the dictionary")

    def value(self) -> Any:
        kind, text = self._take()
        match kind, text:
            case "string", _:
                value: Any = _unquoted(text)
            case "number", _:
                value = float(text) if any(c in text for c in ".eE") and "0x" not in text else int(text, 0)
            case "word", "true" | "false":
                value = text == "true"
            case "word", "array":
                value = self._array()
            case "mark", "{":
                value = self._dictionary()
            case "mark", "[":
                value = self._list("]")
            case _:
                raise ValueError(text)
        if kind in ("number", "string") and self._accept(":"):
            self._take()
        return value

    def _array(self) -> list[Any]:
        """`array<i64: 1, 2>` or `array<i64>`."""
        self._take("<")
        self._take()
        self._accept(":")
        return self._list(">")

    def _list(self, end: str) -> list[Any]:
        values: list[Any] = []
        while not self._accept(end):
            if values:
                self._take(",")
            values.append(self.value())
        return values

    def _dictionary(self) -> dict[str, Any]:
        entries: dict[str, Any] = {}
        while not self._accept("}"):
            if entries:
                self._take(",")
            kind, key = self._take()
            key = _unquoted(key) if kind == "string" else key
            entries[key] = self.value() if self._accept("=") else True
        return entries


def _unquoted(text: str) -> str:
    if "\\" not in text:
        return text[1:-1]
    data = _ESCAPE.sub(_unescape, text[1:-1].encode("utf-8", "surrogateescape"))
    return data.decode("utf-8", "surrogateescape")


def _unescape(match: re.Match[bytes]) -> bytes:
    code = match[1]
    return bytes.fromhex(code.decode()) if len(code) == 2 else {b"n": b"\n", b"t": b"\t"}.get(code, code)
