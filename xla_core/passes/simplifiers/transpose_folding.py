"""transpose_folding: folds transposes of operands into dots and convolutions.

(XLA: xla/service/transpose_folding.h.)
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

from xla_core.hlo.ir.builder import Builder
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.opcode import Opcode
from xla_core.passes.rewriter import RewritePass

Foldable = Callable[[HloInstruction, int], bool]
"""(dot or convolution, operand number) -> whether to fold the transpose of that operand."""


def keeps_batch_in_front(instruction: HloInstruction, operand: int) -> bool:
    """Whether an instruction is a dot, and the transpose of its operand keeps the batch dimensions in place."""
    if instruction.opcode != Opcode.DOT:
        return False
    side = ("lhs", "rhs")[operand]
    batch = instruction.attribute(f"{side}_batch_dims")
    permutation = instruction.operands[operand].attribute("dimensions")
    return all(permutation[d] == d for d in batch)


class TransposeFolding(RewritePass):
    """Folds transposes into the dimension numbers of the dots and convolutions that use them.

    Args:
        foldable: selects the transposes; by default those that keep a dot's batch dimensions in place.
    """

    name = "transpose-folding"

    def __init__(self, foldable: Foldable = keeps_batch_in_front) -> None:
        super().__init__()
        self._foldable = foldable
        self.rules = {Opcode.DOT: [self._fold_dot], Opcode.CONVOLUTION: [self._fold_convolution]}

    def _operand(self, i: HloInstruction) -> int | None:
        for number, operand in enumerate(i.operands):
            if operand.opcode == Opcode.TRANSPOSE and self._foldable(i, number):
                return number
        return None

    def _fold_dot(self, i: HloInstruction, b: Builder) -> HloInstruction | None:
        number = self._operand(i)
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

    def _fold_convolution(self, i: HloInstruction, b: Builder) -> HloInstruction | None:
        number = self._operand(i)
        if number is None:
            return None
        transpose = i.operands[number]
        permutation = transpose.attribute("dimensions")
        n = i.attribute("dim_labels")
        if number == 0:
            n = dataclasses.replace(
                n,
                input_batch=permutation[n.input_batch],
                input_feature=permutation[n.input_feature],
                input_spatial=tuple(permutation[d] for d in n.input_spatial),
            )
        else:
            n = dataclasses.replace(
                n,
                kernel_input_feature=permutation[n.kernel_input_feature],
                kernel_output_feature=permutation[n.kernel_output_feature],
                kernel_spatial=tuple(permutation[d] for d in n.kernel_spatial),
            )
        operands = list(i.operands)
        operands[number] = transpose.operands[0]
        return b.clone(i, operands, dim_labels=n)
