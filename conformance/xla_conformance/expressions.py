"""The expressions of `-k`, as pytest reads them: words joined by "and", "or", "not" and parentheses."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xla_core.errors import InvalidArgumentError

if TYPE_CHECKING:
    from _pytest.mark.expression import Expression


def compile_expression(text: str) -> Expression:
    """Compiles an expression. `evaluate` of the result takes a function that says whether a word matches.

    Raises:
        InvalidArgumentError: the expression is not valid.
    """
    from _pytest.mark.expression import Expression  # has no public name; imported here because only -k needs pytest

    try:
        return Expression.compile(text)
    except Exception as error:  # the exception depends on pytest's version; deep nesting raises RecursionError
        raise InvalidArgumentError(
            f"-k {text!r} is not a valid expression: {error}",
            hint='words joined by "and", "or", "not", with parentheses',
        ) from error
