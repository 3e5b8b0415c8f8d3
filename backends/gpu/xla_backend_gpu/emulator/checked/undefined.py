"""Follows undefined values until something depends on them. They come from uninitialized memory, and from shuffles that
read a lane outside of their mask.

A load of uninitialized memory is no fault, because compilers load values early that they may not need. The fault is
raised where the kernel depends on the value: in a branch, an address, an atomic, an operand of a warp instruction, or a
store to global memory. A store to shared or local memory marks the stored bytes as uninitialized, and a shuffle gives
undefined values to the lanes that fetch them, because a sum by shuffles has some in lanes whose sums nobody uses.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from xla_backend_gpu.emulator.checked.state import Array, Indices, Threads
from xla_backend_gpu.emulator.faults import EmulatorFault, FaultKind
from xla_backend_gpu.emulator.ptx.dataflow import reads, writes
from xla_backend_gpu.emulator.ptx.program import Address, Instruction, Register

Fault = Callable[[FaultKind, str, int, Instruction], EmulatorFault]


class UndefinedValues:
    """Records, for each register, the threads in which its value is undefined."""

    def __init__(self, threads: Threads, fault: Fault) -> None:
        self.threads, self.fault = threads, fault
        self.marks: dict[int, Array] = {}

    def _of(self, registers: Iterable[Register], indices: Indices) -> Array | None:
        marks = [self.marks[r.index][indices] for r in registers if r.index in self.marks]
        return np.logical_or.reduce(marks) if marks else None

    def _mark(self, register: Register, undefined: Array | None, indices: Indices) -> None:
        mark = self.marks.get(register.index)
        if mark is None:
            if undefined is None or not undefined.any():
                return
            mark = self.marks[register.index] = np.zeros(self.threads.count, np.bool_)
        mark[indices] = False if undefined is None else undefined
        if not mark.any():
            del self.marks[register.index]

    def loaded(self, instruction: Instruction, missing: Array, indices: Indices) -> None:
        if self.marks or missing.any():
            for register in writes(instruction):
                self._mark(register, missing, indices)

    def exchanged(self, instruction: Instruction, undefined: Array, indices: Indices) -> None:
        """Marks the value that a warp instruction fetched; its second result only says which lane that was."""
        if self.marks or undefined.any():
            for register in writes(instruction):
                self._mark(register, undefined if register is instruction.operands[0] else None, indices)

    def computed(self, instruction: Instruction, indices: Indices) -> None:
        """Marks the results as undefined where an operand is; for selp, only where the selected operand is."""
        if not self.marks:
            return
        sources = list(reads(instruction))
        undefined = self._of(sources, indices)
        if instruction.definition.base == "selp" and undefined is not None:
            first, second, condition = instruction.operands[1:]
            assert isinstance(condition, Register)
            chosen = self.threads.register(condition)[indices]
            parts = [self._of([o], indices) if isinstance(o, Register) else None for o in (first, second, condition)]
            x, y, c = (np.zeros(indices.size, np.bool_) if p is None else p for p in parts)
            undefined = np.where(chosen, x, y) | c
        for register in writes(instruction):
            self._mark(register, undefined, indices)

    def stored(self, instruction: Instruction, indices: Indices, space: str) -> Array | None:
        """Returns the threads that store an undefined value, or None if there are none."""
        if not self.marks:
            return None
        undefined = self._of(reads(instruction), indices)
        if undefined is None or not undefined.any():
            return None
        if space == "global":
            self._raise(instruction, undefined, indices, "stores to global memory")
        return undefined

    def check_operands(self, instruction: Instruction, indices: Indices) -> None:
        """Raises a fault if a register that the instruction reads is undefined, unless lanes exchange its value."""
        self._check(instruction, reads(instruction, but=instruction.definition.exchanged), indices, "depends on")

    def offered(self, instruction: Instruction, indices: Indices) -> Array:
        """Tells for each thread whether the value that it offers to other lanes is undefined."""
        place = instruction.definition.exchanged
        operand = None if place is None else instruction.operands[place]
        undefined = self._of([operand], indices) if isinstance(operand, Register) else None
        return np.zeros(indices.size, np.bool_) if undefined is None else undefined

    def check_guard(self, instruction: Instruction, indices: Indices) -> None:
        if self.marks and instruction.guard is not None:
            self._check(instruction, (instruction.guard,), indices, "branches on")

    def check_address(self, instruction: Instruction, address: Address, indices: Indices) -> None:
        if isinstance(address.base, Register):
            self._check(instruction, (address.base,), indices, "uses as an address")

    def _check(self, instruction: Instruction, registers: Iterable[Register], indices: Indices, what: str) -> None:
        if self.marks:
            undefined = self._of(registers, indices)
            if undefined is not None and undefined.any():
                self._raise(instruction, undefined, indices, what)

    def _raise(self, instruction: Instruction, undefined: Array, indices: Indices, what: str) -> None:
        first = int(indices[np.flatnonzero(undefined)[0]])
        detail = f"the thread {what} a value from uninitialized memory, or from a lane outside of a shuffle's mask"
        raise self.fault(FaultKind.UNINITIALIZED, detail, first, instruction)
