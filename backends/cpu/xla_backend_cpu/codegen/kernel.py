"""What a native kernel is to the code that calls it, and how the CPU's own kernels begin."""

from __future__ import annotations

import dataclasses

from xla_core.codegen.llvm import IrModule, KernelFrame, KernelParameter, LoopAbi
from xla_core.hlo import HloInstruction

__all__ = ["NativeKernel", "begin_kernel"]


@dataclasses.dataclass(frozen=True, slots=True)
class NativeKernel:
    """`void @name(ptr buffers, i64 begin, i64 end)`, as `LoopAbi` has it.

    Attributes:
        name: of the LLVM function.
        size: how many independent pieces of work there are; any [begin, end) within [0, size) may be a call.
        nanoseconds: an estimate of the whole on one core.
    """

    name: str
    size: int
    nanoseconds: float


def begin_kernel(module: IrModule, abi: LoopAbi, name: str, instruction: HloInstruction) -> KernelFrame:
    """A kernel for an instruction with one result: its buffers are the operands', then the result's."""
    parameters = [KernelParameter(o.name, o.shape) for o in instruction.operands]
    parameters.append(KernelParameter(instruction.name, instruction.shape, is_result=True))
    return abi.begin_kernel(module, name, parameters, 0)
