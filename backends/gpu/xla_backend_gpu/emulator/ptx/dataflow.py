"""Dataflow of PTX: reads and writes of instructions, control flow, and live registers."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

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
from xla_backend_gpu.emulator.table import Definition, Effect


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


def reads(instruction: Instruction, *, but: int | None = None) -> list[Register]:
    """Returns the registers that an instruction reads, including its guard, but not the operand at one place."""
    found = [] if instruction.guard is None else [instruction.guard]
    places: Iterable[int] = _places(instruction.definition)[0]
    if but is not None:
        places = [place for place in places if place != but]
    return _add_registers(found, instruction, places)


def writes(instruction: Instruction) -> list[Register]:
    return _add_registers([], instruction, _places(instruction.definition)[1])


@functools.lru_cache(maxsize=4096)
def _places(definition: Definition) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Returns the places of the operands that are read, and of those that are written."""
    places = range(len(definition.operands))
    operands = definition.operands
    return tuple(p for p in places if operands[p].is_read), tuple(p for p in places if operands[p].written)


def _add_registers(found: list[Register], instruction: Instruction, places: Iterable[int]) -> list[Register]:
    operands = instruction.operands
    for place in places:
        operand = operands[place]
        if type(operand) is Register:  # the common case, which this test finds fastest
            found.append(operand)
        elif operand is not None:
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


_ENDS = (Effect.BRANCH, Effect.EXIT, Effect.TRAP)


def leaders(kernel: Kernel) -> list[int]:
    """Returns the first instructions of all basic blocks, in order. A barrier also ends a basic block."""
    found = {0}
    for position, instruction in enumerate(kernel.instructions):
        if instruction.definition.effect in _ENDS or instruction.definition.waits:
            found.update(targets(instruction))
            found.add(position + 1)
    return sorted(p for p in found if p < len(kernel.instructions))


def continued(kernel: Kernel, starts: Sequence[int]) -> dict[int, int]:
    """Returns the basic blocks that have one predecessor, which precedes them, with that predecessor.

    Blocks are named by their first instructions. Where a thread waits, the code after it is entered anew.
    """
    instructions = kernel.instructions
    entries = Counter({0: 1})
    came_from: dict[int, int] = {}
    for start, end in zip(starts, [*starts[1:], len(instructions)], strict=True):
        following = successors(instructions, end - 1)
        entries.update(following)
        if not instructions[end - 1].definition.waits:
            came_from.update(dict.fromkeys((s for s in following if s > start), start))
    return {start: before for start, before in came_from.items() if entries[start] == 1}


def kept_in_memory(kernel: Kernel, starts: Collection[int], before: Mapping[int, int]) -> set[int]:
    """Returns the registers (by index) whose value may come from several basic blocks, or depends on a guard.

    Args:
        starts: the first instructions of the basic blocks.
        before: the block that leads to a block, if that is the only one (`continued`).
    """
    found: set[int] = set()
    written: set[int] = set()
    ends: dict[int, set[int]] = {}  # the registers that are written by the end of each block
    leading = set(before.values())
    for position, instruction in enumerate(kernel.instructions):
        if position in starts:
            written = set(ends[before[position]]) if position in before else set()
            if position in leading:
                ends[position] = written
        found.update([r.index for r in reads(instruction) if r.index not in written])
        results = [r.index for r in writes(instruction)]
        if instruction.guard is not None:
            found.update(results)
        written.update(results)
    return found


def live_after(kernel: Kernel) -> dict[int, list[Register]]:
    """Returns the registers that are live after each instruction where threads wait."""
    instructions = kernel.instructions
    waits = [p for p, i in enumerate(instructions) if i.definition.waits]
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
    found = {position: after(position) for position in waits}
    for position in waits:
        if instructions[position].definition.shares_fragments:  # the rest of the operands is read after the wait
            found[position] |= _effects(instructions[position : position + 1])[0]
    return {position: [kernel.registers[i] for i in _bits(registers)] for position, registers in found.items()}


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
