"""Runs the threads of some blocks in lockstep. The group of threads at the lowest instruction runs next."""

from __future__ import annotations

import numpy as np

from xla_backend_gpu.emulator.checked.accesses import Accesses
from xla_backend_gpu.emulator.checked.copies import AsynchronousCopies
from xla_backend_gpu.emulator.checked.counting import Tally
from xla_backend_gpu.emulator.checked.global_races import GlobalRaces, global_races
from xla_backend_gpu.emulator.checked.group_products import GroupProducts, has_group_instructions
from xla_backend_gpu.emulator.checked.state import Array, Indices, Threads
from xla_backend_gpu.emulator.checked.undefined import UndefinedValues
from xla_backend_gpu.emulator.checked.waiting import Barriers, Lanes, split_complete
from xla_backend_gpu.emulator.counters import Counters
from xla_backend_gpu.emulator.faults import EmulatorFault, FaultKind
from xla_backend_gpu.emulator.launch import Launch
from xla_backend_gpu.emulator.ptx.dataflow import targets
from xla_backend_gpu.emulator.ptx.program import Instruction
from xla_backend_gpu.emulator.table import GROUP_EFFECTS, Effect
from xla_core.errors import UnimplementedError

_THREADS_AT_ONCE = 8192
_GOES_ON = frozenset(
    {
        *(Effect.VALUE, Effect.LOAD, Effect.STORE, Effect.ATOMIC, Effect.NOTHING),
        *(Effect.COPY, Effect.COMMIT, Effect.AWAIT, Effect.PROXY_FENCE),
    }
)
"""The effects after which a thread executes the next instruction."""
_ALL_LANES = np.uint32(0xFFFFFFFF)


def run_checked(launch: Launch) -> Counters:
    """Runs all blocks and returns the counts. Raises EmulatorFault for the first error of the kernel."""
    for instruction in launch.kernel.instructions:
        if instruction.definition.effect is Effect.UNSUPPORTED:
            base = instruction.definition.base
            raise UnimplementedError(
                f"the emulator does not implement {base} yet", op=launch.kernel.name, hint=instruction.text
            )
    launch.memory.expect_writes()
    tally, races = Tally(), global_races(launch)
    at_once = max(1, _THREADS_AT_ONCE // launch.threads)
    with np.errstate(all="ignore"):
        for first in range(0, launch.blocks, at_once):
            _Blocks(launch, first, min(at_once, launch.blocks - first), tally, races).run()
    return tally.counters(launch.blocks, launch.blocks * launch.threads)


class _Blocks:
    """Runs some blocks. `groups` maps an instruction to the threads that execute it next."""

    def __init__(self, launch: Launch, first_block: int, blocks: int, tally: Tally, races: GlobalRaces | None) -> None:
        self.launch, self.tally = launch, tally
        self.instructions = launch.kernel.instructions
        self.threads = Threads(launch, first_block, blocks)
        self.undefined = UndefinedValues(self.threads, self.fault)
        self.accesses = Accesses(launch, self.threads, tally, self.undefined, races, self.fault)
        self.copies = AsynchronousCopies(self.threads, self.accesses, self.undefined)
        self.barriers = Barriers(self.threads, self.fault)
        self.products: GroupProducts | None = None
        if has_group_instructions(launch.kernel):
            self.products = GroupProducts(launch.kernel, self.threads, self.accesses, self.undefined, self.fault)
            self.accesses.stored = self.products.stored
        self.groups: dict[int, Indices] = {0: self.threads.all}
        self.lanes_waiting: dict[int, Indices] = {}
        self.executed = np.zeros(self.threads.count, np.int64)  # in loops

    def fault(self, kind: FaultKind, detail: str, thread: int, instruction: Instruction) -> EmulatorFault:
        first = self.threads.first_block * self.launch.threads
        return self.launch.fault(kind, detail, first + thread, instruction)

    def run(self) -> None:
        while self.groups or self._released():
            position = min(self.groups)
            indices = self.groups.pop(position)
            limit = min(self.groups, default=len(self.instructions))
            warps = self._warp_count(indices)
            going: int | None = position
            while going is not None and going < limit:
                self.tally.add("instructions", indices.size)
                self.tally.add("warp_instructions", warps)
                going = self._execute(going, indices)
            if going is not None:
                self._join(going, indices)

    def _warp_count(self, indices: Indices) -> int:
        warp = self.threads.warp[indices]
        return int(np.count_nonzero(np.diff(warp))) + 1

    def _join(self, position: int, indices: Indices) -> None:
        if indices.size:
            there = self.groups.get(position)
            self.groups[position] = indices if there is None else np.sort(np.concatenate([there, indices]))

    def _released(self) -> bool:
        """Releases threads that wait at barriers. Returns False when all threads have ended."""
        released = [self.threads.all[:0]]
        for position, indices in self.barriers.release(self.instructions):
            self._join(position + 1, indices)
            self.tally.add("barriers", np.unique(self.threads.block[indices]).size)
            released.append(indices)
        if self.accesses.races is not None:
            met = np.concatenate(released)
            self.accesses.races.barrier(met, self.barriers.meeting[met])
        if self.groups:
            return True
        if self.lanes_waiting:
            position, indices = next(iter(self.lanes_waiting.items()))
            instruction = self.instructions[position]
            others = (
                "threads of its warpgroup" if instruction.definition.effect in GROUP_EFFECTS else "lanes in its mask"
            )
            detail = f"{others} never reach the instruction"
            raise self.fault(FaultKind.BARRIER_DIVERGENCE, detail, int(indices[0]), instruction)
        stuck = self.barriers.stuck(self.instructions)
        if stuck is not None:
            raise stuck
        return False

    # -- instructions ------------------------------------------------------------------------------------------------

    def _execute(self, position: int, indices: Indices) -> int | None:
        """Executes an instruction.

        Returns the next instruction of all threads, or None if they diverge or wait.
        """
        instruction = self.instructions[position]
        effect = instruction.definition.effect
        acting = indices
        if instruction.guard is not None:
            self.undefined.check_guard(instruction, indices)
            acting, passing = self.threads.guarded(instruction, indices)
            if not acting.size:
                return position + 1
            if passing.size and effect not in _GOES_ON:
                self._join(position + 1, passing)
                going = self._effect(instruction, position, acting)
                if going is not None:
                    self._join(going, acting)
                return None
        return self._effect(instruction, position, acting)

    def _effect(self, instruction: Instruction, position: int, indices: Indices) -> int | None:
        effect = instruction.definition.effect
        if self.products is not None:
            self.products.check_registers(instruction, position, indices)
            if effect in GROUP_EFFECTS:
                return self._group(self.products, instruction, position, indices)
            if effect is Effect.PROXY_FENCE:
                self.products.show_stores(indices)
        if effect is Effect.VALUE:
            sources = self.threads.sources(instruction, indices)
            self.undefined.computed(instruction, indices)
            self.threads.put_results(instruction, instruction.definition.numpy(instruction, *sources), indices)
        elif effect in (Effect.LOAD, Effect.STORE, Effect.ATOMIC):
            self.accesses.execute(instruction, indices)
        elif effect is Effect.COPY:
            self.copies.start(instruction, indices)
        elif effect is Effect.COMMIT:
            self.copies.commit(indices)
        elif effect is Effect.AWAIT:
            self.copies.wait(instruction, indices)
        elif effect is Effect.BRANCH:
            return self._branch(instruction, position, indices)
        elif effect is Effect.WARP:
            return self._warp(instruction, position, indices)
        elif effect is Effect.BARRIER:
            barrier, *count = self.threads.sources(instruction, indices)
            self.barriers.wait(instruction, position, indices, barrier, count[0] if count else np.zeros(1, np.uint32))
            return None
        elif effect is Effect.EXIT:
            self.threads.alive[indices] = False
            return None
        elif effect is Effect.TRAP:
            raise self.fault(FaultKind.TRAP, "the kernel trapped", int(indices[0]), instruction)
        return position + 1

    def _branch(self, instruction: Instruction, position: int, indices: Indices) -> int | None:
        goals = targets(instruction)
        nearest = min(goals)
        if nearest <= position:
            self.executed[indices] += position - nearest + 1
            endless = self.executed[indices] > self.launch.limit
            if endless.any():
                detail = f"the thread executed more than {self.launch.limit} instructions"
                raise self.fault(FaultKind.ENDLESS, detail, int(indices[np.flatnonzero(endless)[0]]), instruction)
        if instruction.definition.base != "brx":
            return goals[0]
        self.undefined.check_operands(instruction, indices)
        chosen = np.broadcast_to(self.threads.sources(instruction, indices)[0], indices.shape)
        for number, goal in enumerate(goals):
            self._join(goal, indices[chosen == number])
        if (chosen >= len(goals)).any():
            first = int(indices[np.flatnonzero(chosen >= len(goals))[0]])
            raise self.fault(FaultKind.OUT_OF_BOUNDS, "the index has no target", first, instruction)
        return None

    def _warp(self, instruction: Instruction, position: int, indices: Indices) -> int | None:
        if position in self.lanes_waiting:
            indices = np.sort(np.concatenate([self.lanes_waiting.pop(position), indices]))
        mask = self._mask(instruction, indices)
        absent = mask >> self.threads.lane[indices].astype(np.uint32) & 1 == 0
        if absent.any():
            thread = int(indices[np.flatnonzero(absent)[0]])
            raise self.fault(FaultKind.BARRIER_DIVERGENCE, "the mask lacks the thread's own lane", thread, instruction)
        complete, waiting = split_complete(self.threads, indices, mask)
        if waiting.size:
            self.lanes_waiting[position] = waiting
        if complete.size:
            self.undefined.check_operands(instruction, complete)
            sources = [np.broadcast_to(s, complete.shape) for s in self.threads.sources(instruction, complete)]
            if instruction.definition.loads_rows:
                sources += self.accesses.load_rows(instruction, complete)
            offered = self.undefined.offered(instruction, complete)
            lanes = Lanes(self.threads, complete, self._mask(instruction, complete), offered)
            results = instruction.definition.numpy(instruction, lanes, *sources)
            self.threads.put_results(instruction, results, complete)
            self.undefined.exchanged(instruction, lanes.undefined, complete)
            if self.accesses.races is not None and instruction.definition.orders_lanes:
                self.accesses.races.warp_barrier(complete)
        self._join(position + 1, complete)
        return None

    def _group(self, products: GroupProducts, instruction: Instruction, position: int, indices: Indices) -> int | None:
        """Executes an instruction of warpgroups. Threads wait until all of their warpgroup have arrived."""
        if position in self.lanes_waiting:
            indices = np.sort(np.concatenate([self.lanes_waiting.pop(position), indices]))
        complete, waiting = products.split_complete(indices)
        if waiting.size:
            self.lanes_waiting[position] = waiting
        if complete.size:
            products.execute(instruction, complete)
        self._join(position + 1, complete)
        return None

    def _mask(self, instruction: Instruction, indices: Indices) -> Array:
        if not instruction.definition.has_mask:
            return np.full(indices.shape, _ALL_LANES)
        return np.broadcast_to(self.threads.sources(instruction, indices)[-1], indices.shape)
