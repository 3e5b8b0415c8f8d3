"""Decorators that enter functions in a table, such as the emitters of ops by opcode."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])


def registers_in(table: dict[Any, Any]) -> Callable[..., Callable[[F], F]]:
    """Makes a decorator, called with keys, that enters a function in `table` under each of them."""

    def decorator(*keys: Hashable) -> Callable[[F], F]:
        def register(function: F) -> F:
            table.update(dict.fromkeys(keys, function))
            return function

        return register

    return decorator
