"""Dataflow of PTX: reads and writes of instructions, control flow, and live registers."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from xla_backend_gpu.emulator.ptx.program import (
    Address,
    Instruction,
    Kernel,
    Label,
    Negation,
    Operand,
    Register,
    Vector,
)
from xla_backend_gpu.emulator.table import Effect

__all__ = ["kept_in_memory", "leaders", "live_after", "reads", "successors", "targets", "writes"]


def _registers(operand: Operand) -> Iterator[Register]:
    if isinstance(operand, Register):
        yield operand
    elif isinstance(operand, Negation):
        yield operand.register
    elif isinstance(operand, Address):
        yield from _registers(operand.base)
    elif isinstance(operand, Vector):
        for element in operand.elements:
            yield from _registers(element)


def reads(instruction: Instruction) -> Iterator[Register]:
    """Returns the registers that an instruction reads, including its guard."""
    if instruction.guard is not None:
        yield instruction.guard
    for spec, operand in zip(instruction.definition.operands, instruction.operands, strict=True):
        if not spec.written:
            yield from _registers(operand)


def writes(instruction: Instruction) -> Iterator[Register]:
    for spec, operand in zip(instruction.definition.operands, instruction.operands, strict=True):
        if spec.written:
            yield from _registers(operand)


def targets(instruction: Instruction) -> list[int]:
    """Returns the targets of a branch. Other instructions have none."""
    labels = [o for o in instruction.operands if isinstance(o, Label | Vector)]
    if instruction.definition.effect is not Effect.BRANCH:
        return []
    found: list[int] = []
    for operand in labels:
        elements = operand.elements if isinstance(operand, Vector) else (operand,)
        found += [e.index for e in elements if isinstance(e, Label)]
    return found


def successors(instructions: Sequence[Instruction], position: int) -> list[int]:
    """Returns the instructions that may follow an instruction."""
    instruction = instructions[position]
    effect = instruction.definition.effect
    always_leaves = effect in (Effect.BRANCH, Effect.EXIT, Effect.TRAP) and instruction.guard is None
    return targets(instruction) + ([] if always_leaves else [position + 1])


_ENDS = (Effect.BRANCH, Effect.EXIT, Effect.TRAP, Effect.BARRIER, Effect.WARP)


def leaders(kernel: Kernel) -> list[int]:
    """Returns the first instructions of all basic blocks, in order. A barrier also ends a basic block."""
    found = {0}
    for position, instruction in enumerate(kernel.instructions):
        found.update(targets(instruction))
        if instruction.definition.effect in _ENDS:
            found.add(position + 1)
    return sorted(p for p in found if p < len(kernel.instructions))


def kept_in_memory(kernel: Kernel, starts: Collection[int]) -> set[int]:
    """Returns the registers (by index) whose value may come from another basic block, or depends on a guard."""
    found: set[int] = set()
    written: set[int] = set()
    for position, instruction in enumerate(kernel.instructions):
        if position in starts:
            written.clear()
        found.update(r.index for r in reads(instruction) if r.index not in written)
        results = [r.index for r in writes(instruction)]
        if instruction.guard is not None:
            found.update(results)
        written.update(results)
    return found


def live_after(kernel: Kernel) -> dict[int, list[Register]]:
    """Returns the live registers after each barrier and each warp instruction."""
    instructions = kernel.instructions
    waits = [p for p, i in enumerate(instructions) if i.definition.effect in (Effect.BARRIER, Effect.WARP)]
    if not waits:
        return {}
    starts = leaders(kernel)
    ends = [*starts[1:], len(instructions)]
    live_in = dict.fromkeys(starts, 0)

    def before(position: int, live: int) -> int:
        instruction = instructions[position]
        if instruction.guard is None:
            for register in writes(instruction):
                live &= ~(1 << register.index)
        for register in reads(instruction):
            live |= 1 << register.index
        return live

    def after(position: int) -> int:
        live = 0
        for successor in successors(instructions, position):
            live |= live_in[successor]
        return live

    changed = True
    while changed:
        changed = False
        for start, end in zip(reversed(starts), reversed(ends), strict=True):
            live = after(end - 1)
            for position in range(end - 1, start - 1, -1):
                live = before(position, live)
            if live != live_in[start]:
                live_in[start] = live
                changed = True
    return {position: [kernel.registers[i] for i in _bits(after(position))] for position in waits}


def _bits(word: int) -> Iterator[int]:
    while word:
        low = word & -word
        yield low.bit_length() - 1
        word ^= low
