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


def _foldable_operand(dot: HloInstruction) -> int | None:
    for number, (operand, side) in enumerate(zip(dot.operands, ("lhs", "rhs"), strict=True)):
        if operand.opcode == Opcode.TRANSPOSE:
            permutation = operand.attribute("dimensions")
            if all(permutation[d] == d for d in dot.attribute(f"{side}_batch_dims")):
                return number
    return None


def _fold(i: HloInstruction, b: Builder) -> HloInstruction | None:
    number = _foldable_operand(i)
    if number is None:
        return None
    side = ("lhs", "rhs")[number]
    transpose = i.operands[number]
    permutation = transpose.attribute("dimensions")
    kinds = (f"{side}_batch_dims", f"{side}_contracting_dims")
    free = [d for d in range(len(permutation)) if not any(d in i.attribute(k) for k in kinds)]
    moved = [permutation[d] for d in free]
    if moved != sorted(moved):
        return None  # the dimensions of the result would change their order
    changed: dict[str, Any] = {k: tuple(permutation[d] for d in i.attribute(k)) for k in kinds}
    operands = list(i.operands)
    operands[number] = transpose.operands[0]
    return b.clone(i, operands, **changed)
