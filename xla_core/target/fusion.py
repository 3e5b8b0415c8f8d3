"""A target's limits for fusion, and the costs by which fusions are chosen."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping

from pydantic import Field

from xla_core.checked_model import CheckedModel
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.opcode import Opcode


@dataclasses.dataclass(frozen=True, slots=True)
class FusionDecision:
    """Whether to fuse, and if not, the reason why (XLA: FusionDecision)."""

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
    """Costs by which the fusion passes weigh recomputation against memory traffic and kernel launches.

    The unit is the cost of one cheap vectorized operation on one element.

    Attributes:
        opcodes: cost of one element of an op without its operands, in place of that of the op table (`OpDef.cost`).
        complex: how many times as much an op of complex elements costs.
        transcendental: the most that an op with `Trait.TRANSCENDENTAL` costs, unless `opcodes` names it.
        transcendental_code: the size of its code, in instructions.
        integer_division: cost of integer division and remainder.
        branch: cost of choosing between two operands for each element, as `pad` and `concatenate` do.
        byte: cost of reading or writing one byte of memory.
        kernel: cost of launching a kernel.
    """

    opcodes: Mapping[Opcode, float] = Field(default_factory=dict)
    complex: float = Field(default=4.0, ge=0)
    transcendental: float = Field(default=40.0, ge=0)
    transcendental_code: int = Field(default=32, ge=1)
    integer_division: float = Field(default=24.0, ge=0)
    branch: float = Field(default=12.0, ge=0)
    byte: float = Field(default=2.0, ge=0)
    kernel: float = Field(default=10_000.0, ge=0)


class FusionPreferences(CheckedModel):
    """Limits and costs for the fusion passes. The defaults suit kernels that are loops over their result.

    Attributes:
        enabled: whether instructions are fused.
        unfusible: opcodes that are never fused, besides those that kernel emitters don't compute per element.
        costs: the costs that decide whether a possible fusion is profitable.
        expensive: opcodes that are not recomputed, besides transcendental functions, divisions and reductions.
        max_operands: most operands of one fusion.
        max_instructions: most instructions that the code of one fusion has. An instruction counts once for each index
            at which the kernel computes it, and a transcendental function counts as many (see `FusionCosts`).
        max_copies: how often the code of one instruction may be in a fusion: once for each index at which the kernel
            computes it, in each operand of a concatenation or a pad apart.
        max_outputs: most results of one multi-output fusion.
        max_consumers: most kernels into which one instruction is fused.
        max_recomputation: most different indices at which one kernel computes a fused instruction; the code of the
            instruction is emitted once for each.
        max_reduction_recomputation: the same limit for reductions.
        multi_output: whether to make fusions with several results.
        least_shared_bytes: two kernels that only read the same array are merged if it has so many bytes. It is 0 where
            a launch takes longer than the work of a small kernel.
        fuse_into_reduce: whether a reduction's operand may be fused into it.
        fuse_products: whether the kernel of a dot or a convolution may compute its operands, and what is computed from
            each element of its result. A kernel computes one product then.
        should_fuse: (producer, consumer) -> the target's decision, asked where the core's own rules allow the fusion.
    """

    enabled: bool = True
    costs: FusionCosts = FusionCosts()
    unfusible: frozenset[Opcode] = frozenset()
    expensive: frozenset[Opcode] = frozenset()
    max_operands: int = Field(default=64, ge=1)
    max_instructions: int = Field(default=512, ge=1)
    max_copies: int = Field(default=16, ge=1)
    max_outputs: int = Field(default=16, ge=1)
    max_consumers: int = Field(default=4, ge=1)
    max_recomputation: int = Field(default=8, ge=1)
    max_reduction_recomputation: int = Field(default=2, ge=1)
    multi_output: bool = True
    least_shared_bytes: int = Field(default=256, ge=0)
    fuse_into_reduce: bool = True
    fuse_products: bool = False
    should_fuse: Callable[[HloInstruction, HloInstruction], FusionDecision] | None = None
