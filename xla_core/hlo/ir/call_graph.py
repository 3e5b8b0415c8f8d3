"""Walks the call graph. Each computation is visited once, however often it is called."""

from __future__ import annotations

from collections.abc import Container
from typing import TYPE_CHECKING

from xla_core.errors import InvalidArgumentError
from xla_core.traversal import post_order

if TYPE_CHECKING:  # a module walks its call graph, and computations print themselves
    from xla_core.hlo.ir.computation import HloComputation


def callees_first(
    computation: HloComputation, known: Container[HloComputation] = (), *, refuse_recursion: bool = False
) -> list[HloComputation]:
    """Returns a computation and everything that it calls, callees before callers.

    Computations in `known`, and those that only they call, are left out.

    Raises:
        InvalidArgumentError: for recursion, with `refuse_recursion`. Otherwise a recursive call is not followed.
    """

    def refuse(callee: HloComputation) -> None:
        raise InvalidArgumentError(f"computation {callee.name} calls itself", hint="HLO has no recursion; use while")

    return post_order(
        [computation],
        lambda node: node.called_computations(),
        known=known,
        on_cycle=refuse if refuse_recursion else None,
    )
