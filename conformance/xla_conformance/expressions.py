"""The expressions of `-k`, as pytest reads them: words joined by "and", "or", "not" and parentheses."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xla_core.errors import InvalidArgumentError

if TYPE_CHECKING:
    from _pytest.mark.expression import Expression

__all__ = ["compile_expression"]


def compile_expression(text: str) -> Expression:
    """`evaluate` of the result takes a function that says whether a word holds. Raises InvalidArgumentError."""
    from _pytest.mark.expression import Expression  # has no public name; pytest is imported only where -k is given

    try:
        return Expression.compile(text)
    except Exception as error:  # its class depends on pytest's version; deep nesting is a RecursionError
        raise InvalidArgumentError(
            f"-k {text!r} is not a valid expression: {error}",
            hint='words joined by "and", "or", "not", with parentheses',
        ) from error
