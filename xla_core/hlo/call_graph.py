"""Walks the call graph. Each computation is visited once, however often it is called."""

from __future__ import annotations

from collections.abc import Container
from typing import TYPE_CHECKING

from xla_core.errors import InvalidArgumentError

if TYPE_CHECKING:  # a module walks its call graph, and computations print themselves
    from xla_core.hlo.computation import HloComputation


def callees_first(
    computation: HloComputation, known: Container[HloComputation] = (), *, refuse_recursion: bool = False
) -> list[HloComputation]:
    """Returns a computation and everything that it calls, callees before callers.

    Computations in `known`, and those that only they call, are left out.

    Raises:
        InvalidArgumentError: for recursion, with `refuse_recursion`. Otherwise a recursive call is not followed.
    """
    order: dict[HloComputation, None] = {}
    entered: set[HloComputation] = set()
    stack = [computation]
    while stack:
        node = stack[-1]
        if node in order or node in known:
            stack.pop()
        elif node in entered:
            stack.pop()
            order[node] = None
        else:
            entered.add(node)
            for callee in reversed(list(node.called_computations())):
                if callee not in entered:
                    stack.append(callee)
                elif refuse_recursion and callee not in order:
                    raise InvalidArgumentError(
                        f"computation {callee.name} calls itself", hint="HLO has no recursion; use while"
                    )
    return list(order)
