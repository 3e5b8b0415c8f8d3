"""What a target wants fused."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

from pydantic import Field

from xla_core.checked_model import CheckedModel
from xla_core.hlo.instruction import HloInstruction

__all__ = ["FusionDecision", "FusionPreferences"]


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


class FusionPreferences(CheckedModel):
    """Limits and wishes that the fusion passes follow. The defaults suit CPUs.

    Attributes:
        enabled: fuse at all.
        unfusible: opcodes that stay on their own, besides those that no kernel emitter computes per element.
        expensive: opcodes that aren't computed twice, besides transcendental functions, divisions and reductions.
        max_operands: of one fusion.
        max_instructions: in one fusion. A transcendental function counts as 32, a complex one as 128: it is as large.
        max_outputs: of one multi-output fusion.
        max_recomputation: how often an element of one fused instruction may be computed for each time its value is
            needed; code size grows with it too.
        multi_output: make fusions with several results.
        fuse_into_reduce: compute a reduction's operand on the fly.
        should_fuse: the target's own word: (producer, consumer) -> decision; asked after the core's rules said yes.
    """

    enabled: bool = True
    unfusible: frozenset[str] = frozenset()
    expensive: frozenset[str] = frozenset()
    max_operands: int = Field(default=64, ge=1)
    max_instructions: int = Field(default=512, ge=1)
    max_outputs: int = Field(default=16, ge=1)
    max_recomputation: int = Field(default=8, ge=1)
    multi_output: bool = True
    fuse_into_reduce: bool = True
    should_fuse: Callable[[HloInstruction, HloInstruction], FusionDecision] | None = None
