"""A position in HLO text. Regular expressions match tokens, and errors show the line with a caret."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeVar

from xla_core.errors import InvalidArgumentError, SourceLocation
from xla_core.hlo.text.strings import STRING_BODY, unescaped
from xla_core.text_map import TextMap

T = TypeVar("T")

# A string or comment that never ends matches up to the end of the text, because searching for the next start would take
# too long.
_COMMENT = re.compile(rf'"{STRING_BODY}(?:"|\\?\Z)|/\*.*?(?:\*/|\Z)|//[^\n]*', re.S)
_SPACE = re.compile(r"\s*")
_INTEGER = re.compile(r"([+-]?\d{1,20})(?!\d)\s*")
_STRING = re.compile(rf'"({STRING_BODY})"\s*', re.S)
_BRACKET = re.compile(rf'"{STRING_BODY}(?:"|\\?\Z)|[{{}}]', re.S)
_WORD = re.compile(r"[^\s,{}]*\s*")
NAME = re.compile(r"%?([A-Za-z_][\w.\-]*)\s*")


class Cursor:
    """A text and a position, which is always at a token: every method skips the white space behind what it reads.

    Comments (`/* */` and `//`) are replaced by blanks first, so that positions stay those of the file.
    """

    def __init__(self, text: str, file: str = "") -> None:
        self.original = text
        self.file = file
        self.text = text
        self.position = 0
        self._map = TextMap(text, file)
        if "/*" in text or "//" in text:
            self.text = _COMMENT.sub(self._blank, text)
        self.skip()

    def _blank(self, match: re.Match[str]) -> str:
        text = match[0]
        if text[0] == '"':
            return text
        if text[1] == "*" and (len(text) < 4 or not text.endswith("*/")):
            raise self.error("unterminated comment", position=match.start())
        return re.sub(r"[^\n]", " ", text)

    @property
    def at_end(self) -> bool:
        return self.position >= len(self.text)

    def skip(self) -> None:
        match = _SPACE.match(self.text, self.position)
        self.position = match.end() if match else self.position

    def match(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """Reads what `pattern` (with its trailing `\\s*`) matches here; returns None if it doesn't match."""
        found = pattern.match(self.text, self.position)
        if found:
            self.position = found.end()
        return found

    def take(self, pattern: re.Pattern[str], what: str) -> re.Match[str]:
        """Reads what `pattern` matches here. The error where it doesn't match says that `what` was expected."""
        found = pattern.match(self.text, self.position)
        if not found:
            raise self.error(f"expected {what}")
        self.position = found.end()
        return found

    def starts_with(self, token: str) -> bool:
        return self.text.startswith(token, self.position)

    def accept(self, token: str) -> bool:
        """Reads `token` if it is next; returns whether it was."""
        if self.text.startswith(token, self.position):
            self.position += len(token)
            self.skip()
            return True
        return False

    def expect(self, token: str, where: str = "") -> None:
        if not self.accept(token):
            raise self.error(f"expected {token!r}{' ' + where if where else ''}")

    def integer(self, what: str = "an integer") -> int:
        return int(self.take(_INTEGER, what)[1])

    def name(self, what: str = "a name") -> str:
        """Reads an identifier, with or without its `%`."""
        return self.take(NAME, what)[1]

    def string(self) -> str:
        """Reads a quoted string; returns it unescaped."""
        return unescaped(self.take(_STRING, "a quoted string")[1])

    def braced(self) -> str:
        """Reads a balanced `{...}`; returns it as written. Braces within strings don't count."""
        start, depth = self.position, 0
        for match in _BRACKET.finditer(self.text, start):
            token = match[0]
            depth += (token == "{") - (token == "}")
            if depth == 0:
                self.position = match.end()
                # Comments are blank in `text`, so the written value comes from the original text.
                written = self.original[start : self.position]
                self.skip()
                return written
        raise self.error("expected a '}' that closes this '{'")

    def skip_value(self) -> None:
        """Skips the value of an attribute that is ignored."""
        if self.starts_with("{"):
            self.braced()
        elif self.starts_with('"'):
            self.string()
        else:
            self.match(_WORD)

    def location(self, position: int) -> SourceLocation:
        return self._map.location(position)

    def error(self, message: str, *, position: int | None = None, hint: str | None = None) -> InvalidArgumentError:
        """Returns an error with `file:line:column`, the line, and a caret below the position."""
        at = min(self.position if position is None else position, len(self.original))
        return InvalidArgumentError(
            message if at < len(self.text) else f"{message}, but the text ends here",
            location=self._map.location(at),
            snippet=self._map.snippet(at),
            hint=hint,
        )


def braced_list(
    cursor: Cursor, read: Callable[[], T], what: str = "a list", brackets: tuple[str, str] = ("{", "}")
) -> tuple[T, ...]:
    """Reads a list `{a, b}`, which errors call `what`. Without an opening bracket, the cursor is just behind it."""
    opening, closing = brackets
    if opening:
        cursor.expect(opening)
    values: list[T] = []
    while not cursor.accept(closing):
        if values:
            cursor.expect(",", f"or {closing!r} in {what}")
        values.append(read())
    return tuple(values)
