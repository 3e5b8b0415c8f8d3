"""Walks the call graph. Each computation is visited once, however often it is called."""

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
    """Returns a computation and everything that it calls, callees before callers.

    Computations in `known`, and those that only they call, are left out. A recursive call, which the verifier refuses,
    is not followed.
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
    """Checks that cloning called computations keeps the module's size within bounds.

    Where each computation calls another one twice, cloning doubles the module at each level, so the size is computed
    before any copy is made.

    Args:
        module: the module that is about to change.
        copied: returns the computations that are cloned for an instruction.

    Raises:
        ResourceExhaustedError: when the module would exceed both 100,000 instructions and 64 times its current size.
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
