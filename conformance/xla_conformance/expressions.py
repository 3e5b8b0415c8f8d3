"""What `-k` says which tests run: words joined by "and", "or", "not" and parentheses, as pytest reads it."""

from __future__ import annotations

import re
from collections.abc import Callable

from xla_core.errors import InvalidArgumentError

__all__ = ["Matches", "parse_expression"]

Matches = Callable[[Callable[[str], bool]], bool]
"""Given what a word holds for, whether the expression does."""

_TOKEN = re.compile(r"\s*(?:([()])|((?:\w|[:+\-.\[\]\\/])+))")


def parse_expression(expression: str) -> Matches:
    """Raises InvalidArgumentError for what is no such expression."""
    text = expression.strip()
    tokens: list[str] = []
    position = 0
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            raise _wrong(expression, f"{text[position:].split()[0]!r} is no word")
        tokens.append(match[1] or match[2])
        position = match.end()
    reader = _Reader([*tokens, ""])
    try:
        matches = reader.alternatives()
    except _Unexpected as error:
        raise _wrong(expression, str(error)) from None
    except RecursionError:
        raise _wrong(expression, "it is nested too deeply") from None
    if reader.next != "":
        raise _wrong(expression, f"{reader.next!r} is not expected")
    return matches


def _wrong(expression: str, why: str) -> InvalidArgumentError:
    return InvalidArgumentError(
        f"-k {expression!r} is no expression: {why}", hint='words joined by "and", "or", "not", with parentheses'
    )


class _Unexpected(Exception):
    pass


class _Reader:
    def __init__(self, tokens: list[str]) -> None:
        self._tokens = iter(tokens)
        self.next = next(self._tokens)

    def _take(self) -> str:
        token, self.next = self.next, next(self._tokens, "")
        return token

    def alternatives(self) -> Matches:
        parts = [self._all()]
        while self.next == "or":
            self._take()
            parts.append(self._all())
        return lambda holds: any(part(holds) for part in parts)

    def _all(self) -> Matches:
        parts = [self._one()]
        while self.next == "and":
            self._take()
            parts.append(self._one())
        return lambda holds: all(part(holds) for part in parts)

    def _one(self) -> Matches:
        token = self._take()
        if token == "not":
            negated = self._one()
            return lambda holds: not negated(holds)
        if token == "(":
            inner = self.alternatives()
            if self._take() != ")":
                raise _Unexpected('a ")" is missing')
            return inner
        if token in ("", ")", "and", "or"):
            raise _Unexpected(f"a word is missing {f'before {token!r}' if token else 'at its end'}")
        return lambda holds: holds(token)
