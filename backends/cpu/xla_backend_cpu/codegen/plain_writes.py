"""Copies and fills without kernels: calls of memcpy and memset.

LLVM would need milliseconds to find that the loop of a kernel is such a call.
"""

from __future__ import annotations

from xla_core.codegen.llvm import IrBuilder, Value
from xla_core.hlo import HloInstruction, Opcode
from xla_core.target import keeps_layout


def is_copy(instruction: HloInstruction) -> bool:
    """Whether an instruction copies the bytes of an array as they are."""
    return instruction.opcode == Opcode.COPY and instruction.shape.is_array and keeps_layout(instruction)


def filled_byte(instruction: HloInstruction) -> int | None:
    """Returns the value of all bytes of a result; None if they differ or depend on the program's arguments."""
    if instruction.opcode != Opcode.BROADCAST or instruction.operand(0).opcode != Opcode.CONSTANT:
        return None
    values = set(instruction.operand(0).literal.array.tobytes())
    return values.pop() if len(values) == 1 else None


def move(b: IrBuilder, target: Value, source: Value, size: int) -> None:
    """Copies bytes to other ones."""
    b.intrinsic("memcpy", target, source, b.int_(size), b.bool_(False), suffixes=("p0", "p0", "i64"), result="void")


def fill(b: IrBuilder, target: Value, byte: int, size: int) -> None:
    b.intrinsic(
        "memset", target, b.int_(byte, "i8"), b.int_(size), b.bool_(False), suffixes=("p0", "i64"), result="void"
    )
