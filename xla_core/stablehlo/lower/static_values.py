"""Evaluates instructions that depend on constants alone: shape operands, padding amounts, slice sizes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from xla_core.errors import DeadlineExceededError, ResourceExhaustedError
from xla_core.hlo.ir.effects import EFFECTS, EffectAnalysis
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.op_table import Trait
from xla_core.hlo.table.opcode import Opcode
from xla_core.traversal import post_order

if TYPE_CHECKING:
    from xla_core.hlo.evaluation.environment import Value
    from xla_core.hlo.evaluation.evaluation_context import EvaluationContext

_MAX_STEPS = 200_000
_MAX_BYTES = 256 << 20


class StaticValues:
    """Evaluates instructions of one module, each once, and limits the total work."""

    def __init__(self) -> None:
        self._depends_on_state = EffectAnalysis(EFFECTS | {Trait.NONDETERMINISTIC, Trait.PER_DEVICE})
        self._is_static: dict[HloInstruction, bool] = {}
        self._values: dict[HloInstruction, Value] = {}
        self._bytes = 0
        self._context: EvaluationContext | None = None

    def of(self, instruction: HloInstruction) -> np.ndarray | None:
        """Evaluates an instruction with the reference evaluator; None if it depends on a parameter or on state.

        Raises ResourceExhaustedError if the evaluation takes too many steps or too much memory.
        """
        if instruction.opcode == Opcode.CONSTANT:
            return instruction.literal.array
        if not self._check(instruction):
            return None
        try:
            with np.errstate(all="ignore"):
                self._compute(instruction)
        except (DeadlineExceededError, RecursionError) as error:
            raise ResourceExhaustedError(
                f"a value that is needed to lower the program takes more than {_MAX_STEPS:,} steps to compute",
                location=instruction.location,
                hint="look for an endless loop, or write the value as a constant",
            ) from error
        return np.asarray(self._values[instruction])

    def _check(self, root: HloInstruction) -> bool:
        """Tells whether `root` depends on constants alone."""
        known = self._is_static
        for node in post_order([root], lambda i: i.operands, known=known):
            is_free = node.opcode != Opcode.PARAMETER and not self._depends_on_state.of(node)
            known[node] = is_free and all(known[o] for o in node.operands)
        return known[root]

    def _compute(self, root: HloInstruction) -> None:
        for node in post_order([root], lambda i: i.operands, known=self._values):
            self._values[node] = self._evaluate(node)

    def _evaluate(self, instruction: HloInstruction) -> Value:
        if instruction.opcode == Opcode.CONSTANT:
            return instruction.literal.value
        self._bytes += instruction.shape.byte_size
        if self._bytes > _MAX_BYTES:
            raise ResourceExhaustedError(
                f"a value that is needed to lower the program takes more than {_MAX_BYTES >> 20} MiB to compute",
                location=instruction.location,
                hint="write the value as a constant",
            )
        if self._context is None:
            # Only programs with computed shapes need it.
            from xla_core.hlo.evaluation.evaluation_context import EvaluationContext

            self._context = EvaluationContext(max_steps=_MAX_STEPS, max_bytes=_MAX_BYTES)
        return self._context.evaluate(instruction, [self._values[o] for o in instruction.operands])
