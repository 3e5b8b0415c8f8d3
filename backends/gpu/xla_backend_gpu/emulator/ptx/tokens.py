"""The tokens of PTX text."""

from __future__ import annotations

import dataclasses
import re

from xla_core.errors import InvalidArgumentError, SourceLocation, snippet

__all__ = ["Token", "TokenStream"]

_TOKEN = re.compile(
    r"""(?P<space>[ \t\r\n\f]+|//[^\n]*|/\*.*?\*/)
      | (?P<float>0[fF][0-9a-fA-F]{8}|0[dD][0-9a-fA-F]{16}|\d+\.\d*(?:[eE][-+]?\d+)?|\d+[eE][-+]?\d+)
      | (?P<integer>(?:0[xX][0-9a-fA-F]+|0[bB][01]+|\d+)U?)
      | (?P<numbers>\{(?:\s*\d+\s*,){15,}\s*\d+\s*\})
      | (?P<word>[.%]?[A-Za-z_$][\w$]*(?:\.\w+(?:::\w+)*)*)
      | (?P<string>"[^"\n]*")
      | (?P<mark>[][{}()<>,;:@!|+\-=])""",
    re.VERBOSE | re.DOTALL,
)


@dataclasses.dataclass(frozen=True, slots=True)
class Token:
    """A token: its kind (`word`, `integer`, `float`, `numbers`, `string`, `mark`, `end`), its text, and its position.

    `numbers` is a whole list of at least 16 decimal integers in braces, because a large constant has a million of them.
    """

    kind: str
    text: str
    position: int
    line: int


class TokenStream:
    """The tokens of a text, read one after the other."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.lines = text.split("\n")
        self._tokens = self._tokenize()
        self._next = 0

    def _tokenize(self) -> list[Token]:
        tokens: list[Token] = []
        position, line = 0, 1
        for match in _TOKEN.finditer(self.text):
            if match.start() > position:
                break
            kind, text = match.lastgroup or "", match.group()
            if kind != "space":
                tokens.append(Token(kind, text, position, line))
            if kind in ("space", "numbers"):
                line += text.count("\n")
            position = match.end()
        if position < len(self.text):
            token = Token("mark", self.text[position], position, line)
            raise self.error(f"unexpected character {self.text[position]!r}", token)
        tokens.append(Token("end", "", position, line))
        return tokens

    @property
    def token(self) -> Token:
        """The next token."""
        return self._tokens[self._next]

    def peek(self, distance: int = 1) -> Token:
        return self._tokens[min(self._next + distance, len(self._tokens) - 1)]

    def take(self) -> Token:
        token = self._tokens[self._next]
        if token.kind != "end":
            self._next += 1
        return token

    def accept(self, text: str) -> bool:
        """Takes the next token if it is `text`."""
        if self.token.text == text and self.token.kind != "end":
            self._next += 1
            return True
        return False

    def expect(self, text: str) -> Token:
        if self.token.text != text:
            raise self.error(f"expected {text!r} here, not {self.token.text or 'the end of the text'!r}")
        return self.take()

    def word(self) -> str:
        if self.token.kind != "word":
            raise self.error(f"expected a name here, not {self.token.text or 'the end of the text'!r}")
        return self.take().text

    def integer(self) -> int:
        negative = self.accept("-")
        if self.token.kind != "integer":
            raise self.error(f"expected an integer here, not {self.token.text or 'the end of the text'!r}")
        value = int(self.take().text.rstrip("U"), 0)
        return -value if negative else value

    def line_text(self, line: int) -> str:
        return " ".join(self.lines[line - 1].split())

    def error(self, message: str, token: Token | None = None, *, hint: str | None = None) -> InvalidArgumentError:
        """Returns an error at a token, which is the next one by default. The error has the line."""
        token = token or self.token
        column = token.position - (self.text.rfind("\n", 0, token.position) + 1) + 1
        return InvalidArgumentError(
            message,
            location=SourceLocation("<ptx>", token.line, column),
            snippet=snippet(self.lines[token.line - 1], column),
            hint=hint,
        )
