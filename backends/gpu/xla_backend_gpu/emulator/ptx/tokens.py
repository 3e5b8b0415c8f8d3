"""The tokens of PTX text."""

from __future__ import annotations

import dataclasses
import functools
import itertools
import re

from xla_core.errors import InvalidArgumentError, SourceLocation, snippet

_SPACE = re.compile(r"[ \t\r\n\f]*(?:(?://[^\n]*|/\*.*?\*/)[ \t\r\n\f]*)*", re.DOTALL)
_TOKEN = re.compile(
    r"""(?P<float>0[fF][0-9a-fA-F]{8}|0[dD][0-9a-fA-F]{16}|\d+\.\d*(?:[eE][-+]?\d+)?|\d+[eE][-+]?\d+)
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
        self._position = 0  # the position after the tokens in `_ahead`
        self._line = 1
        self._ahead: list[Token] = []

    @functools.cached_property
    def lines(self) -> list[str]:
        return self.text.split("\n")

    @functools.cached_property
    def _starts(self) -> list[int]:
        """The positions where lines begin."""
        return list(itertools.accumulate((len(line) + 1 for line in self.lines[:-1]), initial=0))

    def _read(self) -> Token:
        """Returns the token after those in `_ahead`."""
        self._skip_space()
        position, line = self._position, self._line
        match = _TOKEN.match(self.text, position)
        if match is None:
            if position == len(self.text):
                return Token("end", "", position, line)
            token = Token("mark", self.text[position], position, line)
            raise self.error(f"unexpected character {self.text[position]!r}", token)
        kind, text = match.lastgroup or "", match.group()
        if kind == "numbers":
            self._line += text.count("\n")
        self._position = match.end()
        return Token(kind, text, position, line)

    def _skip_space(self) -> None:
        space = _SPACE.match(self.text, self._position)
        assert space is not None
        self._line += space.group().count("\n")
        self._position = space.end()

    def whole_line(self) -> int | None:
        """Returns the line of the next token if it is the first one there, else None."""
        if self._ahead:
            position, line = self._ahead[0].position, self._ahead[0].line
        else:
            self._skip_space()
            position, line = self._position, self._line
        before = self.text[self._starts[line - 1] : position]
        return None if before.strip() else line

    def skip_to_line(self, line: int) -> None:
        """Continues at the beginning of a line, or at the end of the text."""
        self._ahead.clear()
        self._line = min(line, len(self.lines))
        self._position = self._starts[line - 1] if line <= len(self.lines) else len(self.text)

    @property
    def token(self) -> Token:
        """The next token."""
        if not self._ahead:
            self._ahead.append(self._read())
        return self._ahead[0]

    def peek(self) -> Token:
        """Returns the token after the next one."""
        first = self.token
        if len(self._ahead) == 1 and first.kind != "end":
            self._ahead.append(self._read())
        return self._ahead[-1]

    def take(self) -> Token:
        token = self.token
        if token.kind != "end":
            del self._ahead[0]
        return token

    def match(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """Takes the next tokens if they match a pattern, which has no line break and ends with a whole token."""
        match = pattern.match(self.text, self.token.position)
        if match is not None:
            self._line = self.token.line
            self._position = match.end()
            self._ahead.clear()
        return match

    def accept(self, text: str) -> bool:
        """Takes the next token if it is `text`."""
        if self.token.text == text and self.token.kind != "end":
            del self._ahead[0]
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
