"""The layout of the context of a launch, and of the state of a thread that waits."""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Mapping

from xla_backend_gpu.emulator.ptx.dataflow import live_after
from xla_backend_gpu.emulator.ptx.program import Kernel, Register
from xla_backend_gpu.emulator.table import Effect
from xla_backend_gpu.emulator.table.group_products import FRAGMENTS, GATHERED
from xla_backend_gpu.emulator.table.matrix_loads import ROW_WORDS


class Context(enum.IntEnum):
    """Indices of words in the context, an array of 64-bit words. The addresses of global variables follow them."""

    MEMORY_BASE = 0  # the first device address
    MEMORY_SIZE = 1
    MEMORY = 2  # where it lies on the host
    PARAMETERS = 3
    GRID_X = 4
    GRID_Y = 5
    GRID_Z = 6
    BLOCK_X = 7
    BLOCK_Y = 8
    BLOCK_Z = 9
    SHARED_BYTES = 10
    FUEL = 11  # instructions that a thread may execute
    FAULT = 12  # the code of a fault; the first thread that sets it writes the next ones
    FAULT_ADDRESS = 13
    FAULT_THREAD = 14  # its number in the block
    FAULT_BLOCK_X = 15
    FAULT_BLOCK_Y = 16
    FAULT_BLOCK_Z = 17
    REPORT = 18  # the address of the function that reports a fault
    GLOBALS = 19


INDICES = ("thread", "ctaid.x", "ctaid.y", "ctaid.z", "tid.x", "tid.y", "tid.z")
"""What the driver tells a thread of its place, an array of 32-bit words: its number in the block, the indices of the
block, and its own. A pointer to them takes less code than seven parameters."""


class Faults(enum.IntEnum):
    """The faults that native code reports."""

    OUT_OF_BOUNDS = 1  # or misaligned, which the address tells
    MISALIGNED = 2
    ENDLESS = 3
    TRAP = 4
    BARRIER_DIVERGENCE = 5


@dataclasses.dataclass(frozen=True)
class StateLayout:
    """The layout of a thread's state, which keeps it while other threads run. In this order, the state has:

    - `site`, an i32: 0 before the start, the number of the barrier or warp instruction where the thread waits, or -1
      after its end.
    - `waits_for`, an i32: 0 if the thread can run, 1 if it waits for its block, 2 if it waits for its warp.
    - the fuel, an i64.
    - 8 bytes for each operand and each result of the instruction where it waits.
    - 8 bytes for each register that is live there.
    - the local memory.

    If registers are resident, those that are live at any site stay in the state while the thread runs, each in a place
    of its own, and so does the fuel. Unoptimized code is shorter then, because it saves and restores nothing.

    Attributes:
        sites: the instructions at which threads wait. The first one has number 1.
        live: the registers that are live at each site.
        resident: the offsets of resident registers, by index; None if each wait saves the live registers.
        results, registers, local: offsets in bytes.
        stride: the size of a state in bytes.
    """

    sites: tuple[int, ...]
    live: tuple[tuple[Register, ...], ...]
    resident: Mapping[int, int] | None
    results: int
    registers: int
    local: int
    stride: int

    SITE = 0
    WAITS_FOR = 4
    FUEL = 8
    OPERANDS = 16

    @staticmethod
    def of(kernel: Kernel, *, resident: bool) -> StateLayout:
        live = live_after(kernel)
        most_operands = most_results = 0
        for position in live:
            definition = kernel.instructions[position].definition
            operands, results = sum(o.is_read for o in definition.operands), sum(o.written for o in definition.operands)
            if definition.loads_rows:
                operands = ROW_WORDS
            elif definition.shares_fragments:
                operands, results = FRAGMENTS, GATHERED
            most_operands, most_results = max(most_operands, operands), max(most_results, results)
        results = StateLayout.OPERANDS + 8 * most_operands
        registers = results + 8 * most_results
        kept = sorted({r.index for each in live.values() for r in each})
        count = len(kept) if resident else max(map(len, live.values()), default=0)
        local = -(-(registers + 8 * count) // 16) * 16
        stride = -(-(local + kernel.local_bytes) // 64) * 64
        return StateLayout(
            tuple(live),
            tuple(map(tuple, live.values())),
            {index: registers + 8 * place for place, index in enumerate(kept)} if resident and live else None,
            results,
            registers,
            local,
            stride if live else 0,
        )


WAITING = {Effect.BARRIER: 1, Effect.WARP: 2, Effect.GROUP_PRODUCT: 2}
"""The values of `waits_for`."""
