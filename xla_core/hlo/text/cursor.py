"""A position in HLO text: regular expressions eat tokens, errors show the line with a caret."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable

from xla_core.errors import InvalidArgumentError, SourceLocation, snippet

__all__ = ["NAME", "Cursor", "nearest"]

_COMMENT = re.compile(r'"(?:[^"\\]|\\.)*"|/\*.*?\*/|//[^\n]*', re.S)
_SPACE = re.compile(r"\s*")
_INTEGER = re.compile(r"([+-]?\d{1,20})(?!\d)\s*")
_STRING = re.compile(r'"((?:[^"\\]|\\.)*)"\s*', re.S)
_BRACKET = re.compile(r'"(?:[^"\\]|\\.)*"|[{}]', re.S)
_ESCAPE = re.compile(r"\\([0-7]{1,3}|x[0-9a-fA-F]{1,2}|.)", re.S)
_PLAIN_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v", "0": "\0"}
NAME = re.compile(r"%?([A-Za-z_][\w.\-]*)\s*")


def _blank(match: re.Match[str]) -> str:
    text = match[0]
    return text if text[0] == '"' else re.sub(r"[^\n]", " ", text)


def nearest(wanted: str, known: Iterable[str]) -> str | None:
    """A hint that names the closest known spellings, or None."""
    close = difflib.get_close_matches(wanted, list(known), 3)
    return f"did you mean {', '.join(close)}?" if close else None


class Cursor:
    """Text and a position that always stands at a token: every reader eats the white space behind what it read.

    Comments (`/* */` and `//`) are blanked first, so positions stay those of the file.
    """

    def __init__(self, text: str, file: str = "") -> None:
        self.original = text
        self.file = file
        self.text = _COMMENT.sub(_blank, text) if "/*" in text or "//" in text else text
        self.position = 0
        self.skip()

    @property
    def at_end(self) -> bool:
        return self.position >= len(self.text)

    def skip(self) -> None:
        """Moves over white space."""
        match = _SPACE.match(self.text, self.position)
        self.position = match.end() if match else self.position

    def match(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """Eats what `pattern` (with its trailing `\\s*`) matches here; None, without moving, when it doesn't."""
        found = pattern.match(self.text, self.position)
        if found:
            self.position = found.end()
        return found

    def starts_with(self, token: str) -> bool:
        return self.text.startswith(token, self.position)

    def accept(self, token: str) -> bool:
        """Eats `token` when it stands here."""
        if self.text.startswith(token, self.position):
            self.position += len(token)
            self.skip()
            return True
        return False

    def expect(self, token: str, where: str = "") -> None:
        if not self.accept(token):
            raise self.error(f"expected {token!r}{' ' + where if where else ''}")

    def integer(self, what: str = "an integer") -> int:
        match = self.match(_INTEGER)
        if not match:
            raise self.error(f"expected {what}")
        return int(match[1])

    def name(self, what: str = "a name") -> str:
        """An identifier, with or without its `%`."""
        match = self.match(NAME)
        if not match:
            raise self.error(f"expected {what}")
        return match[1]

    def string(self) -> str:
        """A quoted string, unescaped."""
        match = self.match(_STRING)
        if not match:
            raise self.error("expected a quoted string")
        body = match[1]
        return _ESCAPE.sub(_unescape, body) if "\\" in body else body

    def braced(self) -> str:
        """A balanced `{...}` as written, whatever stands in it; strings may hold braces."""
        start, depth = self.position, 0
        for match in _BRACKET.finditer(self.text, start):
            token = match[0]
            depth += (token == "{") - (token == "}")
            if depth == 0:
                self.position = match.end()
                # Comments were blanked for reading; what is kept as written comes from the original text.
                written = self.original[start : self.position]
                self.skip()
                return written
        raise self.error("expected a '}' that closes this '{'")

    def error(self, message: str, *, position: int | None = None, hint: str | None = None) -> InvalidArgumentError:
        """An error to raise, with `file:line:column`, the line, and a caret below the position."""
        at = min(self.position if position is None else position, len(self.original))
        line_start = self.original.rfind("\n", 0, at) + 1
        line_end = self.original.find("\n", at)
        line = self.original[line_start : line_end if line_end >= 0 else len(self.original)].rstrip("\r")
        column = at - line_start
        number = self.original.count("\n", 0, at) + 1
        return InvalidArgumentError(
            message if at < len(self.text) else f"{message}, but the text ends here",
            location=SourceLocation(self.file, number, column + 1),
            snippet=snippet(line, column + 1),
            hint=hint,
        )


def _unescape(match: re.Match[str]) -> str:
    code = match[1]
    if code[0] == "x" and len(code) > 1:
        return chr(int(code[1:], 16))
    if code[0].isdigit() and code[0] < "8":
        return chr(int(code, 8))
    return _PLAIN_ESCAPES.get(code, code)
