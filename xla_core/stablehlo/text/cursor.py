"""A position in MLIR text, and the primitives that advance it. Errors say where and what was expected."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

from xla_core.errors import InvalidArgumentError, SourceLocation
from xla_core.text_map import TextMap

_T = TypeVar("_T")

MAX_DEPTH = 110
"""The greatest nesting depth of types, attributes and regions together."""

MAX_ALIAS_NODES = 10_000
MAX_OP_NODES = 1_000_000
"""The most types and attributes that an alias may expand to, and that one op may have, with aliases expanded.

Aliases of aliases grow exponentially when they are compared or printed.
"""

MAX_INTEGER_DIGITS = 1000
"""Longer numbers are errors, because Python's conversion takes quadratic time."""

_SKIP = re.compile(r"(?:[ \t\r\n]++|//[^\n]*+)*+").match
_BLANK = frozenset(" \t\r\n/")
_WORD = re.compile(r"[A-Za-z_][\w$.]*", re.ASCII).match
_INTEGER = re.compile(r"-?(?:0x[0-9a-fA-F]+|[0-9]+)").match
_STRING = re.compile(r'"([^"\\\n]*(?:\\.[^"\\\n]*)*)"').match
_ESCAPE = re.compile(rb'\\(?:([0-9a-fA-F]{2})|(["\\])|(n)|(t)|(.))')
_TOKEN = re.compile(r"[\w$.]+|->|[^\s]")
_BRACKET = re.compile(r'"[^"\\\n]*(?:\\.[^"\\\n]*)*"|->|[<>()\[\]{}"]')
_CLOSING = {"<": ">", "(": ")", "[": "]", "{": "}"}


class Alias(NamedTuple):
    """The value of an alias, its number of nodes and its nesting depth."""

    value: Any
    nodes: int
    depth: int


class TextLocation:
    """A place in the text, whose line and column are computed on demand."""

    __slots__ = ("offset", "text")

    def __init__(self, text: TextMap, offset: int) -> None:
        self.text = text
        self.offset = offset

    def resolve(self) -> SourceLocation:
        return self.text.location(self.offset)


class Cursor:
    """Reads `source` from `position`. It skips whitespace and // comments before a token."""

    def __init__(self, source: str, file: str) -> None:
        self.source = source
        self.text = TextMap(source, file)
        self.position = 0
        self.depth = 0
        self.deepest = 0
        self.nodes = 0
        self.pretty_op = ""  # the op whose pretty form is being read

    def error(self, message: str, offset: int | None = None, hint: str | None = None) -> InvalidArgumentError:
        """Returns an error at `offset`, by default the current position.

        If the last token is on an earlier line, something is missing at the end of that line, and the error shows that
        place.
        """
        if offset is None:
            offset = self.skip()
            end = offset
            while end and self.source[end - 1] in " \t\r\n":
                end -= 1
            if self.source.find("\n", end, offset) >= 0:
                offset = end
        offset = min(offset, len(self.source))
        return InvalidArgumentError(
            message, location=self.text.location(offset), hint=hint, snippet=self.text.snippet(offset)
        )

    def form_error(self, message: str, offset: int | None = None, hint: str | None = None) -> InvalidArgumentError:
        """Returns an error of an op's pretty form, which names the op as MLIR does.

        MLIR has two kinds of errors. If a comma, type, operand or attribute is missing, its grammar fails, which is an
        `error`. If a keyword or integer is missing, or the parts don't fit together, the op's form fails.
        """
        if offset is None:
            offset = self.skip()
        return self.error(f"custom op '{self.pretty_op}' {message}" if self.pretty_op else message, offset, hint)

    def plain(self, read: Callable[[], _T]) -> _T:
        """Calls `read` for a part of MLIR's grammar that all forms share, so that errors don't name the op."""
        pretty_op, self.pretty_op = self.pretty_op, ""
        try:
            return read()
        finally:
            self.pretty_op = pretty_op

    def found(self) -> str:
        """Returns the next token, for messages."""
        self.skip()
        token = _TOKEN.match(self.source, self.position)
        return f"'{token[0][:40]}'" if token else "the end of the text"

    def skip(self) -> int:
        """Moves over whitespace and comments, and returns the position of the next token."""
        try:
            if self.source[self.position] not in _BLANK:  # mostly no blanks precede it
                return self.position
        except IndexError:  # the end
            return self.position
        found = _SKIP(self.source, self.position)
        assert found is not None  # the pattern matches any text
        self.position = found.end()
        return self.position

    def at(self, text: str) -> bool:
        self.skip()
        return self.source.startswith(text, self.position)

    def accept(self, text: str) -> bool:
        """Moves over punctuation if it is next."""
        if not self.source.startswith(text, self.position):  # mostly no blanks precede it
            self.skip()
            if not self.source.startswith(text, self.position):
                return False
        self.position += len(text)
        return True

    def expect(self, text: str, where: str = "") -> None:
        """Moves over punctuation, which must be next."""
        if not self.accept(text):
            raise self.error(f"expected '{text}'{where and ' ' + where}, found {self.found()}")

    def at_word(self, word: str) -> bool:
        """Tells whether the whole word `word` is next."""
        self.skip()
        match = _WORD(self.source, self.position)
        return match is not None and match[0] == word

    def accept_word(self, word: str) -> bool:
        """Moves over a keyword if it is next."""
        if self.at_word(word):
            self.position += len(word)
            return True
        return False

    def expect_word(self, word: str) -> None:
        """Moves over a keyword, which must be next."""
        if not self.accept_word(word):
            raise self.form_error(f"expected '{word}', found {self.found()}")

    def word(self, what: str) -> str:
        """Reads a bare identifier."""
        self.skip()
        match = _WORD(self.source, self.position)
        if match is None:
            raise self.error(f"expected {what}, found {self.found()}")
        self.position = match.end()
        return match[0]

    def keyword(self, what: str) -> str:
        """Reads a keyword: a word without quotes."""
        self.skip()
        if _WORD(self.source, self.position) is None:
            raise self.form_error(f"expected valid keyword, {what}, found {self.found()}")
        return self.word(what)

    def take(self, match: Callable[[str, int], re.Match[str] | None], what: str) -> re.Match[str]:
        """Returns the match of a compiled pattern here. The error for no match says that `what` was expected."""
        self.skip()
        found = match(self.source, self.position)
        if found is None:
            raise self.error(f"expected {what}, found {self.found()}")
        self.position = found.end()
        return found

    def integer(self, what: str = "") -> int:
        """Reads an integer of 64 bits, decimal or hexadecimal."""
        start = self.skip()
        value = self.any_integer(what)
        if not -(1 << 63) <= value < 1 << 63:
            raise self.form_error("integer value too large: it must fit in 64 bits", start)
        return value

    def any_integer(self, what: str = "") -> int:
        """Reads an integer of at most MAX_INTEGER_DIGITS digits."""
        self.skip()
        match = _INTEGER(self.source, self.position)
        if match is None:
            raise self.form_error(f"expected integer value{what and ', ' + what}, found {self.found()}")
        self.position = match.end()
        return self.to_integer(match[0], match.start())

    def to_integer(self, text: str, offset: int) -> int:
        """Converts the text of an integer. Raises for too many digits."""
        if len(text) > MAX_INTEGER_DIGITS:
            raise self.error("the number has too many digits", offset)
        return int(text, 16) if "x" in text else int(text)

    def string(self, what: str = "a string") -> str:
        """Reads a quoted string with its escapes. Bytes that aren't UTF-8 become surrogates, as in os.fsdecode."""
        text = self.take(_STRING, what)[1]
        if "\\" not in text:
            return text
        data = _ESCAPE.sub(_unescape, text.encode("utf-8", "surrogateescape"))
        return data.decode("utf-8", "surrogateescape")

    def at_string(self) -> bool:
        return self.at('"')

    def list_of(self, opening: str, closing: str, read: Callable[[], object], where: str = "") -> None:
        """Reads `opening item, item closing`, calling `read` for each item."""
        self.expect(opening)
        if self.accept(closing):
            return
        while True:
            read()
            if self.accept(","):
                continue
            if not self.accept(closing):
                raise self.error(f"expected '{closing}'{where and ' ' + where} or ',', found {self.found()}")
            return

    def balanced(self) -> str:
        """Reads from an opening bracket to its closing one; returns the text with both."""
        start = self.position
        stack: list[str] = []
        for match in _BRACKET.finditer(self.source, start):
            token = match[0]
            if token in _CLOSING:
                stack.append(_CLOSING[token])
            elif token == '"':
                raise self.error("the string never ends", match.start())
            elif len(token) == 1:
                if not stack or stack.pop() != token:
                    raise self.error(f"unbalanced '{token}'", match.start())
                if not stack:
                    self.position = match.end()
                    return self.source[start : self.position]
        raise self.error(f"'{self.source[start : start + 1]}' is never closed", start)

    def enter(self) -> None:
        """Enters a nesting level. Call `leave` in a `finally` where reading may go on after an error."""
        depth = self.depth + 1
        if depth > self.deepest:
            if depth > MAX_DEPTH:
                raise self.error(f"nested more than {MAX_DEPTH} levels deep")
            self.deepest = depth
        self.depth = depth

    def leave(self) -> None:
        self.depth -= 1

    def expand(self, alias: Alias, offset: int) -> Any:
        """Returns the value of an alias. Its nodes count as if it were written out."""
        self.nodes += alias.nodes
        self.deepest = max(self.deepest, self.depth + alias.depth)
        if self.nodes > MAX_OP_NODES or self.deepest > MAX_DEPTH:
            raise self.error("the aliases here expand to too much data", offset)
        return alias.value

    def alias(self, read: Callable[[], Any]) -> Alias:
        self.nodes = self.deepest = 0
        start = self.skip()
        alias = Alias(read(), self.nodes, self.deepest)
        if self.nodes > MAX_ALIAS_NODES:
            raise self.error("the alias expands to too much data", start)
        return alias


def _unescape(match: re.Match[bytes]) -> bytes:
    code, char, newline, tab, other = match.groups()
    if code:
        return bytes.fromhex(code.decode("ascii"))
    if newline:
        return b"\n"
    if tab:
        return b"\t"
    return char or b"\\" + other
