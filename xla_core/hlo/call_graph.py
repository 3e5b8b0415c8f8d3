"""The call graph, walked so that each computation is met once, however often and however deep it is called."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable
from typing import TYPE_CHECKING

from xla_core.errors import ResourceExhaustedError

if TYPE_CHECKING:
    from xla_core.hlo.computation import HloComputation
    from xla_core.hlo.instruction import HloInstruction
    from xla_core.hlo.module import HloModule

__all__ = ["callees_first", "check_growth"]

_MAX_INSTRUCTIONS = 100_000
_MAX_GROWTH = 64


def callees_first(computation: HloComputation, known: Container[HloComputation] = ()) -> list[HloComputation]:
    """A computation and all that it calls, each after what it calls; those that are `known` are left out, with what
    only they call. Recursion, which the verifier refuses, ends where it meets itself.
    """
    order: dict[HloComputation, None] = {}
    entered: set[HloComputation] = set()
    stack = [computation]
    while stack:
        node = stack[-1]
        if node in order or node in known:
            stack.pop()
            continue
        entered.add(node)
        missing = [c for c in node.called_computations() if c not in entered and c not in known]
        if missing:
            stack += missing
        else:
            stack.pop()
            order[node] = None
    return list(order)


def check_growth(module: HloModule, copied: Callable[[HloInstruction], Iterable[HloComputation]]) -> None:
    """Tells whether a module would become far too large by copies, before one is made: computations that refer to
    another one twice double it at each level.

    Args:
        module: what is about to change.
        copied: the computations of which an instruction gets a copy of its own.

    Raises:
        ResourceExhaustedError: when it would have more than 100,000 instructions, and 64 times as many as now.
    """
    sizes: dict[HloComputation, int] = {}
    for computation in module.post_order():
        inside = sum(sizes[c] for i in computation.instructions if i.op.calls for c in copied(i))
        sizes[computation] = computation.instruction_count + inside
    limit = max(_MAX_INSTRUCTIONS, _MAX_GROWTH * module.instruction_count)
    if max(sizes.values()) > limit:
        raise ResourceExhaustedError(
            f"module {module.name} has more than {limit} instructions once each instruction that calls a computation "
            "has a copy of it",
            hint="computations that call another one twice double the program at each level; use while for repetition",
        )
