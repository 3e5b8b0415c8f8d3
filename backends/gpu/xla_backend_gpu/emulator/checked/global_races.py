"""Finds races in global memory between the blocks of a launch, which nothing orders.

Two blocks use an element, and one of them writes another value there, without atomics. For each element, this module
records the last block that wrote it, and the block that read it. Accesses within a block are not compared, except that
nothing may write what `ld.global.nc` reads. Kernels with fences of the device order their blocks by themselves, and are
not looked at.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from xla_backend_gpu.emulator.checked.state import Array, Indices
from xla_backend_gpu.emulator.launch import Launch
from xla_backend_gpu.emulator.ptx.program import Instruction, Kernel
from xla_backend_gpu.emulator.table import Effect

_NOBODY, _SEVERAL = 0, -1
"""In place of a block's number, which is one more than its place in the grid here."""
_ACCESSES = frozenset({Effect.LOAD, Effect.STORE, Effect.ATOMIC})
_WEAK = frozenset({"", "weak"})


@dataclasses.dataclass(frozen=True, slots=True)
class GlobalRace:
    """A race: the position of the thread among those that execute the instruction, and what happened."""

    position: int
    detail: str


def global_races(launch: Launch) -> GlobalRaces | None:
    """Returns what finds the races of a launch, or None if its kernel orders its blocks."""
    return None if _orders_blocks(launch.kernel) else GlobalRaces(launch)


def _orders_blocks(kernel: Kernel) -> bool:
    return any(
        (i.definition.base == "membar" and i.modifiers["level"] != "cta")
        or (i.definition.base == "fence" and i.modifiers.get("scope", "cta") != "cta")
        or i.modifiers.get("sem") in ("acquire", "release", "acq_rel")
        for i in kernel.instructions
    )


class GlobalRaces:
    def __init__(self, launch: Launch) -> None:
        _, ends = launch.memory.bounds()
        accesses = [i for i in launch.kernel.instructions if i.definition.effect in _ACCESSES and i.space != "param"]
        self._unit = min((i.type.size for i in accesses), default=1)
        units = -(-(int(ends[-1]) - launch.memory.base) // self._unit) if ends.size else 0
        self._writer = np.zeros(units, np.int32)
        self._strong = np.zeros(units, np.bool_)  # whether it is written only by atomics, and stores that aren't weak
        self._reader = np.zeros(units, np.int32)

    def _places(self, offsets: Indices, size: int) -> Indices:
        return np.asarray(offsets[:, None] // self._unit + np.arange(size // self._unit))

    def load(self, instruction: Instruction, blocks: Indices, offsets: Indices, size: int) -> GlobalRace | None:
        """Records that threads of some blocks load `size` bytes, and returns a race if there is one."""
        own = np.full((blocks.size, 1), _SEVERAL, np.int32) if instruction.has("nc") else _numbers(blocks)
        places = self._places(offsets, size)
        writer = self._writer[places]
        suspect = (writer != _NOBODY) & (writer != own)
        if _is_strong(instruction):
            return _race(suspect & ~self._strong[places], writer, "wrote")
        race = _race(suspect, writer, "wrote")
        before = self._reader[places]
        self._reader[places] = own
        several = ((before != _NOBODY) & (before != own)) | (self._reader[places] != own)
        if several.any():
            self._reader[places[several]] = _SEVERAL
        return race

    def write(
        self, instruction: Instruction, blocks: Indices, offsets: Indices, size: int, changes: Array, kept: Array
    ) -> GlobalRace | None:
        """Records that threads write `size` bytes, and returns a race if there is one.

        Args:
            instruction, blocks, offsets, size: see `load`.
            changes: whether each thread writes another value than was there.
            kept: whether its value is there after the instruction.
        """
        own, places, strong = _numbers(blocks), self._places(offsets, size), _is_strong(instruction)
        writer, reader = self._writer[places], self._reader[places]
        written = (writer != _NOBODY) & (writer != own)
        if strong:
            written &= ~self._strong[places]
        read = (reader != _NOBODY) & (reader != own)
        self._writer[places] = own
        together = (self._writer[places] != own) & ~kept[:, None]
        self._strong[places] = strong & ((writer == _NOBODY) | self._strong[places])
        return (
            _race(written & changes[:, None], writer, "wrote")
            or _race(read & changes[:, None], reader, "read")
            or (None if strong else _race(together, self._writer[places], "writes by the same instruction"))
        )


def _numbers(blocks: Indices) -> Array:
    return np.asarray((blocks + 1).astype(np.int32)[:, None])


def _is_strong(instruction: Instruction) -> bool:
    return instruction.definition.effect is Effect.ATOMIC or instruction.modifiers.get("sem", "") not in _WEAK


def _race(found: Array, others: Array, what: str) -> GlobalRace | None:
    if not found.any():
        return None
    row, column = (int(v[0]) for v in np.nonzero(found))
    other = int(others[row, column])
    if other == _SEVERAL:
        return GlobalRace(row, f"which several blocks {what}, or a block by ld.global.nc")
    return GlobalRace(row, f"which block {other - 1} of the grid {what}")
