"""Operands whose sizes must agree, where some of the sizes are what a run decides.

The evaluator's arrays have their actual sizes. The sum of an array of 6 elements and an `f32[<=6]` of 3 has 3: the
first is cut. (Code computes at the bound, where nothing has to be cut.)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from xla_core.errors import InvalidArgumentError
from xla_core.hlo.instruction import HloInstruction
from xla_core.hlo.ops.rules import alike

__all__ = ["fit_operands"]


def fit_operands(instruction: HloInstruction) -> Callable[[Sequence[Any]], list[Any]] | None:
    """What makes the sizes of an instruction's operands agree, given their values; None where all are static.

    It raises InvalidArgumentError where sizes that the run decided differ.
    """
    flags = [o.shape.dynamic_dimensions for o in instruction.operands]
    if not any(flags):
        return None
    ranks = [o.shape.rank if o.shape.is_array else 0 for o in instruction.operands]
    same_sizes = instruction.op.same_sizes
    if same_sizes is not None:
        groups = same_sizes(instruction.attributes, ranks)
    else:
        groups = alike(ranks) if instruction.is_elementwise else []
    groups = [group for group in groups if any(flags[o] and flags[o][d] for o, d in group)]

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
