"""Makes operand sizes agree in the evaluator where some sizes are dynamic.

The evaluator's arrays have their actual sizes. The sum of an `f32[6]` and an `f32[<=6]` of actual size 3 has 3
elements, so the first operand is sliced. (Compiled code computes at the bound, where nothing has to be sliced.)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from xla_core.errors import InvalidArgumentError
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.op_table import alike


def fit_operands(instruction: HloInstruction) -> Callable[[Sequence[Any]], list[Any]] | None:
    """Returns a function that slices operand values to agreeing sizes, or None where all sizes are static.

    The function raises InvalidArgumentError where two dynamic sizes that must agree differ.
    """
    flags = [o.shape.dynamic_dimensions for o in instruction.operands]
    if not any(flags):
        return None
    ranks = [o.shape.rank if o.shape.is_array else 0 for o in instruction.operands]
    same_sizes = instruction.op.same_sizes
    if same_sizes is not None:
        groups = same_sizes(instruction.op.complete(instruction.attributes), ranks)
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
