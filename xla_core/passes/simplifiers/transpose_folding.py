"""transpose_folding: folds transposes of operands into dots.

(XLA: xla/service/transpose_folding.h.)
"""

from __future__ import annotations

from typing import Any

from xla_core.hlo.ir.builder import Builder
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.opcode import Opcode
from xla_core.passes.rewriter import RewritePass


class TransposeFolding(RewritePass):
    """Folds transposes into the dimension numbers of the dots that use them, if batch dimensions stay in place."""

    def __init__(self) -> None:
        super().__init__()
        self.rules = {Opcode.DOT: [_fold]}


def _fold(i: HloInstruction, b: Builder) -> HloInstruction | None:
    for number, (operand, side) in enumerate(zip(i.operands, ("lhs", "rhs"), strict=True)):
        if operand.opcode != Opcode.TRANSPOSE:
            continue
        batch, contracting = f"{side}_batch_dims", f"{side}_contracting_dims"
        permutation = operand.attribute("dimensions")
        free = set(range(len(permutation))).difference(i.attribute(batch), i.attribute(contracting))
        moved = [permutation[d] for d in sorted(free)]
        if moved != sorted(moved) or any(permutation[d] != d for d in i.attribute(batch)):
            continue  # the dimensions of the result would change their order
        changed: dict[str, Any] = {k: tuple(permutation[d] for d in i.attribute(k)) for k in (batch, contracting)}
        operands = list(i.operands)
        operands[number] = operand.operands[0]
        return b.clone(i, operands, **changed)
    return None
