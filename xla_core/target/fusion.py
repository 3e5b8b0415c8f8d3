"""What a target wants fused, and what fusion costs there."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping

from pydantic import Field

from xla_core.checked_model import CheckedModel
from xla_core.hlo.instruction import HloInstruction
from xla_core.hlo.opcode import Opcode

__all__ = ["FusionCosts", "FusionDecision", "FusionPreferences"]


@dataclasses.dataclass(frozen=True, slots=True)
class FusionDecision:
    """Yes, or no with a reason. (XLA: FusionDecision.)"""

    reason: str = ""

    def __bool__(self) -> bool:
        return not self.reason

    @staticmethod
    def yes() -> FusionDecision:
        return _YES

    @staticmethod
    def no(reason: str) -> FusionDecision:
        return FusionDecision(reason)


_YES = FusionDecision()


class FusionCosts(CheckedModel):
    """What fusion weighs: computing an element again against memory traffic and kernels that are saved.

    The unit is one cheap vectorized operation on one element.

    Attributes:
        opcodes: of one element of an op, its operands given; 1 for what isn't named. Four times as much where the
            elements are complex.
        transcendental: of an op with `Trait.TRANSCENDENTAL` that `opcodes` doesn't name.
        integer_division: of integer division and remainder.
        branch: of choosing between two operands for each element, as `pad` and `concatenate` do.
        byte: of reading or writing a byte of memory.
        kernel: of starting a kernel.
    """

    opcodes: Mapping[Opcode, float] = Field(default_factory=lambda: dict(_OPCODES))
    transcendental: float = Field(default=40.0, ge=0)
    integer_division: float = Field(default=24.0, ge=0)
    branch: float = Field(default=12.0, ge=0)
    byte: float = Field(default=2.0, ge=0)
    kernel: float = Field(default=10_000.0, ge=0)


_OPCODES: Mapping[Opcode, float] = {
    Opcode.DIVIDE: 4.0,
    Opcode.SQRT: 4.0,
    Opcode.RSQRT: 4.0,
    Opcode.REMAINDER: 16.0,
    Opcode.EXPONENTIAL: 14.0,
    Opcode.EXPONENTIAL_MINUS_ONE: 20.0,
    Opcode.LOGISTIC: 18.0,
    Opcode.TANH: 18.0,
    Opcode.GATHER: 4.0,
    Opcode.TRANSPOSE: 2.0,
}


class FusionPreferences(CheckedModel):
    """What the fusion passes follow. The defaults suit kernels that are loops over their result.

    Attributes:
        enabled: fuse at all.
        unfusible: opcodes that stay on their own, besides those that no kernel emitter computes per element.
        costs: what decides whether a fusion that is possible is profitable.
        expensive: opcodes that aren't computed twice, besides transcendental functions, divisions and reductions.
        max_operands: of one fusion.
        max_instructions: in one fusion. A transcendental function counts as 32, a complex one as 128: it is as large.
        max_outputs: of one multi-output fusion.
        max_consumers: into how many kernels one instruction may be fused.
        max_recomputation: at how many different indices one kernel may compute a fused instruction; each is code of
            its own.
        max_reduction_recomputation: the same for reductions.
        multi_output: make fusions with several results.
        fuse_into_reduce: compute a reduction's operand on the fly.
        should_fuse: (producer, consumer) -> decision of the target; asked after the core's own rules agreed.
    """

    enabled: bool = True
    costs: FusionCosts = FusionCosts()
    unfusible: frozenset[Opcode] = frozenset()
    expensive: frozenset[Opcode] = frozenset()
    max_operands: int = Field(default=64, ge=1)
    max_instructions: int = Field(default=512, ge=1)
    max_outputs: int = Field(default=16, ge=1)
    max_consumers: int = Field(default=4, ge=1)
    max_recomputation: int = Field(default=8, ge=1)
    max_reduction_recomputation: int = Field(default=2, ge=1)
    multi_output: bool = True
    fuse_into_reduce: bool = True
    should_fuse: Callable[[HloInstruction, HloInstruction], FusionDecision] | None = None
