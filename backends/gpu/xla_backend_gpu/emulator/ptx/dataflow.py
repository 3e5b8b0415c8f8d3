"""Dataflow of PTX: reads and writes of instructions, control flow, and live registers."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

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


def _registers(operand: Operand) -> Iterable[Register]:
    if isinstance(operand, Register):
        return (operand,)
    if isinstance(operand, Negation):
        return (operand.register,)
    if isinstance(operand, Address):
        return _registers(operand.base)
    if isinstance(operand, Vector):
        return [register for element in operand.elements for register in _registers(element)]
    return ()


def reads(instruction: Instruction) -> list[Register]:
    """Returns the registers that an instruction reads, including its guard."""
    found = [] if instruction.guard is None else [instruction.guard]
    for spec, operand in zip(instruction.definition.operands, instruction.operands, strict=True):
        if not spec.written:
            if type(operand) is Register:  # most are; this is the fastest way to see it
                found.append(operand)
            else:
                found += _registers(operand)
    return found


def writes(instruction: Instruction) -> list[Register]:
    found: list[Register] = []
    for spec, operand in zip(instruction.definition.operands, instruction.operands, strict=True):
        if spec.written:
            if type(operand) is Register:
                found.append(operand)
            else:
                found += _registers(operand)
    return found


def targets(instruction: Instruction) -> list[int]:
    """Returns the targets of a branch. Other instructions have none."""
    if instruction.definition.effect is not Effect.BRANCH:
        return []
    labels = [o for o in instruction.operands if isinstance(o, Label | Vector)]
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
    blocks = [(start, end, *_effects(instructions[start:end])) for start, end in zip(starts, ends, strict=True)]
    live_in = dict.fromkeys(starts, 0)

    def after(position: int) -> int:
        live = 0
        for successor in successors(instructions, position):
            live |= live_in[successor]
        return live

    changed = True
    while changed:
        changed = False
        for start, end, read, written in reversed(blocks):
            live = read | (after(end - 1) & ~written)
            if live != live_in[start]:
                live_in[start] = live
                changed = True
    return {position: [kernel.registers[i] for i in _bits(after(position))] for position in waits}


def _effects(block: Sequence[Instruction]) -> tuple[int, int]:
    """Returns the registers that a basic block reads before it writes them, and those that it always writes."""
    read = written = 0
    for instruction in block:
        for register in reads(instruction):
            if not written >> register.index & 1:
                read |= 1 << register.index
        if instruction.guard is None:
            for register in writes(instruction):
                written |= 1 << register.index
    return read, written


def _bits(word: int) -> Iterator[int]:
    while word:
        low = word & -word
        yield low.bit_length() - 1
        word ^= low
