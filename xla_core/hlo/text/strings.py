"""Quoted strings, in the form of absl::CEscape, and texts in braces, in the form of XLA's JSON lexer."""

from __future__ import annotations

import re

STRING_BODY = r'[^"\\]*+(?:\\.[^"\\]*+)*+'
"""A regular expression (with re.S) for the text between quotes, which never backtracks."""

_is_plain = re.compile(r"[ !#-&(-\[\]-~]*").fullmatch
_NAMED = {"\n": "\\n", "\r": "\\r", "\t": "\\t", '"': '\\"', "'": "\\'", "\\": "\\\\"}
_SPELLED = [_NAMED.get(chr(b), chr(b) if 32 <= b < 127 else f"\\{b:03o}") for b in range(256)]

_ESCAPE = re.compile(rb"\\([0-7]{1,3}|x[0-9a-fA-F]{1,2}|.)", re.S)
_MEANT = {b"n": b"\n", b"t": b"\t", b"r": b"\r", b"a": b"\a", b"b": b"\b", b"f": b"\f", b"v": b"\v"}

_MARK = re.compile(rf'"{STRING_BODY}(?:"|\\?\Z)|[{{}}]|/[/*]', re.S)


def quote(text: str) -> str:
    """Quotes a text as a C string.

    Bytes other than ASCII's printable ones are octal escapes. The encoding is UTF-8; lone surrogates are those of
    os.fsdecode.
    """
    if _is_plain(text):
        return f'"{text}"'
    return '"' + "".join([_SPELLED[b] for b in _bytes(text)]) + '"'


def unescaped(body: str) -> str:
    """Returns the text that the body of a quoted string spells."""
    if "\\" not in body:
        return body
    return _ESCAPE.sub(_unescape, _bytes(body)).decode("utf-8", "surrogateescape")


def _bytes(text: str) -> bytes:
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # surrogates that stand for no byte
        return text.encode("utf-8", "surrogatepass")


def _unescape(match: re.Match[bytes]) -> bytes:
    code = match[1]
    if code[:1] == b"x" and len(code) > 1:
        return bytes([int(code[1:], 16)])
    if b"0" <= code[:1] < b"8":
        return bytes([int(code, 8) & 0xFF])
    return _MEANT.get(code, code)


def is_braced(text: str) -> bool:
    """Whether `text` extends from a "{" to the "}" that closes it, like a JSON or MLIR dictionary.

    Such a text needs no quotes in HLO text. Strings in it may contain braces. Comments outside of strings are not
    allowed, because readers of HLO text blank them. (XLA: xla/hlo/parser/hlo_lexer.cc, LexesAsJsonDict.)
    """
    if not text.startswith("{") or not text.endswith("}"):
        return False
    depth = 0
    for match in _MARK.finditer(text):
        mark = match[0]
        if mark[0] == "/" or (mark[0] == '"' and not _ends(mark)):
            return False
        depth += (mark == "{") - (mark == "}")
        if not depth:
            return match.end() == len(text) and not _has_surrogates(text)
    return False


def _ends(string: str) -> bool:
    return len(string) > 1 and string[-1] == '"'


def _has_surrogates(text: str) -> bool:
    return not text.isascii() and any("\ud800" <= c <= "\udfff" for c in text)
