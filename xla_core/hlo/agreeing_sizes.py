"""Operands whose sizes must agree, where some of the sizes are what a run decides.

The evaluator's arrays have their actual sizes. The sum of an array of 6 elements and an `f32[<=6]` of 3 has 3: the
first is cut. (Code computes at the bound, where nothing has to be cut.)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from xla_core.errors import InvalidArgumentError
from xla_core.hlo.instruction import HloInstruction

__all__ = ["fit_operands"]

Group = list[tuple[int, int]]
"""(operand, dimension) pairs of one size."""


def fit_operands(instruction: HloInstruction) -> Callable[[Sequence[Any]], list[Any]] | None:
    """What makes the sizes of an instruction's operands agree, given their values; None where all are static.

    It raises InvalidArgumentError where sizes that the run decided differ.
    """
    flags = [o.shape.dynamic_dimensions for o in instruction.operands]
    if not any(flags):
        return None
    groups = [g for g in _groups(instruction) if any(flags[o] and flags[o][d] for o, d in g)]

    def fit(values: Sequence[Any]) -> list[Any]:
        fitted = list(values)
        for group in groups:
            decided = {fitted[o].shape[d] for o, d in group if flags[o] and flags[o][d]}
            if len(decided) > 1:
                raise InvalidArgumentError(
                    f"{instruction.opcode} of {', '.join(str(list(values[o].shape)) for o, _ in group)}: the run gave "
                    "these operands sizes that differ"
                )
            (size,) = decided
            for o, d in group:
                if fitted[o].shape[d] != size:
                    fitted[o] = fitted[o][(slice(None),) * d + (slice(0, size),)]
        return fitted

    return fit if groups else None


def _groups(instruction: HloInstruction) -> list[Group]:
    ranks = [o.shape.rank if o.shape.is_array else 0 for o in instruction.operands]
    if instruction.opcode == "dot":
        attributes = instruction.attributes
        pairs = [
            pair
            for kind in ("batch", "contracting")
            for pair in zip(attributes.get(f"lhs_{kind}_dims", ()), attributes.get(f"rhs_{kind}_dims", ()), strict=True)
        ]
        return [[(0, lhs), (1, rhs)] for lhs, rhs in pairs]
    if instruction.opcode in ("reduce", "reduce-window"):
        ranks = ranks[: len(ranks) // 2]
    elif not (instruction.is_elementwise or instruction.opcode in ("sort", "concatenate")):
        return []
    rank = max(ranks)
    apart = instruction.attributes["dimensions"] if instruction.opcode == "concatenate" else ()
    return [[(o, d) for o, r in enumerate(ranks) if r == rank] for d in range(rank) if d not in apart]
