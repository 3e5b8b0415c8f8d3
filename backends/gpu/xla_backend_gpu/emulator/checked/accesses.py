"""Runs the loads, stores and atomics of many threads, and checks every access."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np

from xla_backend_gpu.emulator.checked.counting import Tally
from xla_backend_gpu.emulator.checked.global_races import GlobalRace, GlobalRaces
from xla_backend_gpu.emulator.checked.partial_races import PartialRaceDetector, has_partial_barriers
from xla_backend_gpu.emulator.checked.races import Race, RaceDetector
from xla_backend_gpu.emulator.checked.state import Array, Indices, Threads
from xla_backend_gpu.emulator.checked.undefined import UndefinedValues
from xla_backend_gpu.emulator.faults import EmulatorFault, FaultKind
from xla_backend_gpu.emulator.launch import Access, Launch
from xla_backend_gpu.emulator.ptx.program import Address, Instruction, Operand, Register, Symbol, Vector
from xla_backend_gpu.emulator.spaces import WINDOW_BYTES, window
from xla_backend_gpu.emulator.table import Effect
from xla_backend_gpu.emulator.table.matrix_loads import ROW_BYTES, row_lanes

Fault = Callable[[FaultKind, str, int, Instruction], EmulatorFault]


@dataclasses.dataclass(frozen=True)
class _Space:
    """The memory of a state space. The parts of the blocks or threads follow each other, `stride` bytes apart."""

    data: Array
    initialized: Array
    stride: int
    owners: Array | None  # which block or thread each thread uses


class Accesses:
    def __init__(
        self,
        launch: Launch,
        threads: Threads,
        tally: Tally,
        undefined: UndefinedValues,
        global_races: GlobalRaces | None,
        fault: Fault,
    ) -> None:
        self.global_races = global_races
        self.launch, self.threads, self.tally, self.undefined, self.fault = launch, threads, tally, undefined, fault
        memory = launch.memory
        shared = -(-launch.shared_bytes // 16) * 16
        local = -(-launch.kernel.local_bytes // 16) * 16
        self.spaces = {
            "global": _Space(memory.data, memory.initialized, 0, None),
            "shared": _space(shared, threads.blocks, threads.block),
            "local": _space(local, threads.count, threads.all),
        }
        parameters = np.frombuffer(launch.parameters.ljust(8, b"\0"), np.uint8)
        self.parameters = np.pad(parameters, (0, -parameters.size % 16))
        self.sizes = {"shared": launch.shared_bytes, "local": launch.kernel.local_bytes}
        detector = PartialRaceDetector if has_partial_barriers(launch.kernel) else RaceDetector
        self.races = detector(threads, shared) if shared else None
        self.stored: Callable[[Instruction, Indices, Array], None] | None = None  # learns of stores to shared memory

    def execute(self, instruction: Instruction, indices: Indices) -> None:
        """Executes an instruction whose effect is LOAD, STORE or ATOMIC."""
        place = next(i for i, o in enumerate(instruction.operands) if isinstance(o, Address))
        address = instruction.operands[place]
        assert isinstance(address, Address)
        if instruction.space == "param":
            self._load_parameter(instruction, address, indices)
            return
        self.undefined.check_address(instruction, address, indices)
        where = self.addresses(address, indices)
        space = "global" if instruction.space == "const" else instruction.space
        if space != "generic":
            self._access(instruction, space, where, indices)
            return
        rest = np.ones(indices.size, np.bool_)
        for name in ("shared", "local"):
            inner = where - np.uint64(window(name))
            inside = inner < np.uint64(WINDOW_BYTES)
            if inside.any():
                self._access(instruction, name, inner[inside], indices[inside])
                rest &= ~inside
        if rest.any():
            self._access(instruction, "global", where[rest], indices[rest])

    def addresses(self, address: Address, indices: Indices) -> Array:
        base, offset = address.base, np.array(address.offset & (1 << 64) - 1, np.uint64)
        if isinstance(base, Symbol):
            first: Array = np.array(self.launch.address(base), np.uint64)
        elif isinstance(base, Register):
            first = self.threads.register(base)[indices].astype(np.uint64)
        else:
            first = np.array(base.value & (1 << 64) - 1, np.uint64)
        return np.broadcast_to(first + offset, indices.shape)

    def _load_parameter(self, instruction: Instruction, address: Address, indices: Indices) -> None:
        type_, size = instruction.type, instruction.type.size * instruction.vector_length
        if isinstance(address.base, Symbol):
            where = self.addresses(address, indices[:1])  # one for all threads
        else:
            self.undefined.check_address(instruction, address, indices)
            where = self.addresses(address, indices)
        limit = self.launch.kernel.parameter_bytes
        outside = (where > np.uint64(max(limit - size, 0))) | (where % np.uint64(size) > 0)
        if outside.any():
            first = int(np.flatnonzero(outside)[0])
            detail = f"{size} bytes at {int(where[first]):#x} of the parameters, which have {limit} bytes"
            kind = FaultKind.MISALIGNED if int(where[first]) % size else FaultKind.OUT_OF_BOUNDS
            raise self.fault(kind, detail, int(indices[first]), instruction)
        for position, element in enumerate(_elements(instruction, 0)):
            places = where.astype(np.int64) + position * type_.size
            bits = self.parameters[places[:, None] + np.arange(type_.size)].view(f"u{type_.size}")[:, 0]
            self._put(instruction, element, bits, indices)

    def _put(self, instruction: Instruction, element: Operand, bits: Array, indices: Indices) -> None:
        type_ = instruction.type
        value = bits[:, None].view(type_.dtype) if type_.lanes > 1 else bits.view(type_.dtype)
        self.threads.put(element, type_, value, indices)

    # -- checks ------------------------------------------------------------------------------------------------------

    def _access(self, instruction: Instruction, name: str, where: Array, indices: Indices) -> None:
        size = instruction.type.size * instruction.vector_length
        store = instruction.definition.effect is not Effect.LOAD
        offsets = self.place(instruction, name, where, size, indices, store=store)
        operation = {Effect.LOAD: self._load, Effect.STORE: self._store, Effect.ATOMIC: self._atomic}
        operation[instruction.definition.effect](instruction, name, self.spaces[name], offsets, indices)

    def place(
        self,
        instruction: Instruction,
        name: str,
        where: Array,
        size: int,
        indices: Indices,
        *,
        store: bool,
        align: int = 0,
    ) -> Indices:
        """Checks and counts an access of `size` bytes at each address, and returns the places in the space's data.

        The addresses must be multiples of `align`, which is the size by default.
        """
        low = where & np.uint64((align or size) - 1)
        if low.any():
            first = int(np.flatnonzero(low)[0])
            detail = f"address {int(where[first]):#x} of {name} memory is not a multiple of {align or size}"
            raise self.fault(FaultKind.MISALIGNED, detail, int(indices[first]), instruction)
        space = self.spaces[name]
        if name == "global":
            offsets = self._global_offsets(instruction, where, size, indices)
            self.tally.global_access(self.threads, indices, where, size, store=store)
            if self.launch.observe is not None:
                numbers = self.threads.first_block * self.launch.threads + indices
                self.launch.observe(Access(instruction.line, store, size, numbers, where.copy()))
            if self.global_races is not None and not store:
                race = self.global_races.load(instruction, self._blocks(indices), offsets, size)
                self._refuse_global_race(instruction, race, where, indices)
        else:
            limit = self.sizes[name]
            outside = where > np.uint64(limit - size) if limit >= size else np.ones(where.shape, np.bool_)
            if outside.any():
                first = int(np.flatnonzero(outside)[0])
                owner = "the block" if name == "shared" else "the thread"
                detail = f"{size} bytes at {int(where[first]):#x} of {name} memory, of which {owner} has {limit} bytes"
                raise self.fault(FaultKind.OUT_OF_BOUNDS, detail, int(indices[first]), instruction)
            assert space.owners is not None
            offsets = where.astype(np.int64)
            if name == "shared":
                self.tally.shared_access(self.threads, indices, offsets, size)
            else:
                self.tally.add("local_bytes", size * indices.size)
            offsets = offsets + space.owners[indices] * space.stride
            if name == "shared" and store and self.stored is not None:
                self.stored(instruction, indices, offsets[:, None] + np.arange(size))
        return offsets

    def _global_offsets(self, instruction: Instruction, where: Array, size: int, indices: Indices) -> Indices:
        memory = self.launch.memory
        starts, ends = memory.bounds()
        block = np.searchsorted(starts, where, side="right") - 1
        last = where + np.uint64(size)
        inside = (block >= 0) & (last > where)
        inside[inside] &= last[inside] <= ends[block[inside]]
        if not inside.all():
            first = int(np.flatnonzero(~inside)[0])
            detail = f"{size} bytes at {int(where[first]):#x} are not within allocated memory"
            near = int(block[first])
            if near >= 0:
                beyond = int(where[first]) - int(ends[near])
                relation = f"{beyond} bytes after the end" if beyond >= 0 else "across the end"
                detail += f"; they start {relation} of one of {int(ends[near] - starts[near])} bytes"
            raise self.fault(FaultKind.OUT_OF_BOUNDS, detail, int(indices[first]), instruction)
        return (where - np.uint64(memory.base)).astype(np.int64)

    def refuse_race(self, instruction: Instruction, race: Race | None) -> None:
        if race is None:
            return
        other = "several threads" if race.other < 0 else f"thread {race.other % self.launch.threads} of the block"
        detail = f"byte {race.byte:#x} of shared memory is used by {other} too, {race.detail}"
        raise self.fault(FaultKind.SHARED_MEMORY_RACE, detail, race.thread, instruction)

    def _blocks(self, indices: Indices) -> Indices:
        """Returns the places of the threads' blocks in the grid."""
        return np.asarray(self.threads.first_block + self.threads.block[indices])

    def _refuse_global_race(
        self, instruction: Instruction, race: GlobalRace | None, where: Array, indices: Indices
    ) -> None:
        if race is not None:
            detail = f"it uses {int(where[race.position]):#x} of global memory, {race.detail}; nothing orders blocks"
            raise self.fault(FaultKind.GLOBAL_MEMORY_RACE, detail, int(indices[race.position]), instruction)

    def _write_globally(
        self, instruction: Instruction, indices: Indices, places: Indices, changes: Array, kept: Array
    ) -> None:
        """Looks for races of a store, or of an atomic, of one element of each thread."""
        if self.global_races is not None:
            size = instruction.type.size
            offsets = places * size
            race = self.global_races.write(instruction, self._blocks(indices), offsets, size, changes, kept)
            where = offsets + self.launch.memory.base
            self._refuse_global_race(instruction, race, where, indices)

    def _tracks(self, name: str) -> bool:
        return name != "global" or self.launch.memory.tracks_initialization

    # -- operations --------------------------------------------------------------------------------------------------

    def _load(self, instruction: Instruction, name: str, space: _Space, offsets: Indices, indices: Indices) -> None:
        type_ = instruction.type
        if name == "shared" and self.races is not None:
            size = type_.size * instruction.vector_length
            self.refuse_race(instruction, self.races.load(indices, offsets[:, None] + np.arange(size)))
        whole = np.dtype(f"u{type_.size}")
        data, initialized = space.data.view(whole), space.initialized.view(np.uint8).view(whole)
        complete = np.array(int.from_bytes(b"\1" * type_.size, "little"), whole)
        missing = np.zeros(indices.size, np.bool_)
        for position, element in enumerate(_elements(instruction, 0)):
            place = offsets // type_.size + position
            self._put(instruction, element, data[place], indices)
            if self._tracks(name):
                missing |= initialized[place] != complete
        self.undefined.loaded(instruction, missing, indices)

    def load_rows(self, instruction: Instruction, indices: Indices) -> list[Array]:
        """Loads the rows of matrices in shared memory, and returns their words: an array over the threads for each."""
        (address,) = (o for o in instruction.operands if isinstance(o, Address))
        self.undefined.check_address(instruction, address, indices)
        gives_row = self.threads.lane[indices] < row_lanes(instruction)
        chosen = indices[gives_row]
        where = self.addresses(address, indices)[gives_row]
        octets = self.place(instruction, "shared", where, ROW_BYTES, chosen, store=False)[:, None] + np.arange(
            ROW_BYTES
        )
        space = self.spaces["shared"]
        if self.races is not None:
            self.refuse_race(instruction, self.races.load(chosen, octets))
        missing = ~space.initialized[octets].all(axis=1)
        if missing.any():
            detail = "the thread loads a row of a matrix from uninitialized shared memory"
            raise self.fault(FaultKind.UNINITIALIZED, detail, int(chosen[np.flatnonzero(missing)[0]]), instruction)
        rows = np.zeros((indices.size, ROW_BYTES), np.uint8)
        rows[gives_row] = space.data[octets]
        return list(rows.view(np.uint32).T)

    def _store(self, instruction: Instruction, name: str, space: _Space, offsets: Indices, indices: Indices) -> None:
        type_ = instruction.type
        undefined = self.undefined.stored(instruction, indices, name)
        whole = np.dtype(f"u{type_.size}")
        data, initialized = space.data.view(whole), space.initialized.view(np.uint8).view(whole)
        complete = np.array(int.from_bytes(b"\1" * type_.size, "little"), whole)
        for position, element in enumerate(_elements(instruction, 1)):
            value = np.ascontiguousarray(self.threads.get(element, type_, indices))
            bits = np.broadcast_to(value.view(whole).reshape(-1), indices.shape)
            place = offsets // type_.size + position
            before = data[place]
            data[place] = bits
            if self._tracks(name):
                initialized[place] = complete if undefined is None else np.where(undefined, whole.type(0), complete)
            if name == "shared" and self.races is not None:
                octets = place[:, None] * type_.size + np.arange(type_.size)
                written = np.ascontiguousarray(bits)[:, None].view(np.uint8)
                changes = written != before[:, None].view(np.uint8)
                self.refuse_race(instruction, self.races.store(indices, octets, changes, space.data, written))
            elif name == "global":
                self._write_globally(instruction, indices, place, bits != before, data[place] == bits)

    def _atomic(self, instruction: Instruction, name: str, space: _Space, offsets: Indices, indices: Indices) -> None:
        """Executes an atomic. Threads that use the same address take turns, in the order of their numbers."""
        type_ = instruction.type
        if name == "shared" and self.races is not None:
            self.refuse_race(instruction, self.races.atomic(indices, offsets[:, None] + np.arange(type_.size)))
        whole = np.dtype(f"u{type_.size}")
        data, initialized = space.data.view(whole), space.initialized.view(np.uint8).view(whole)
        places = offsets // type_.size
        complete = np.array(int.from_bytes(b"\1" * type_.size, "little"), whole)
        missing = initialized[places] != complete if self._tracks(name) else np.zeros(indices.size, np.bool_)
        if missing.any():
            first = int(np.flatnonzero(missing)[0])
            detail = f"an atomic reads uninitialized {name} memory"
            raise self.fault(FaultKind.UNINITIALIZED, detail, int(indices[first]), instruction)
        self.undefined.check_operands(instruction, indices)
        sources = [np.broadcast_to(s, (indices.size, *s.shape[1:])) for s in self.threads.sources(instruction, indices)]
        if name == "global":
            every = np.ones(indices.size, np.bool_)
            self._write_globally(instruction, indices, places, every, every)
        waiting = np.arange(indices.size)
        while waiting.size:
            _, first_of = np.unique(places[waiting], return_index=True)
            now = waiting[first_of]
            old = data[places[now]]
            typed = old[:, None].view(type_.dtype) if type_.lanes > 1 else old.view(type_.dtype)
            new = instruction.definition.numpy(instruction, typed, *(s[now] for s in sources))
            new = np.ascontiguousarray(np.asarray(new).astype(type_.dtype, copy=False))
            data[places[now]] = new.view(whole).reshape(-1)
            self.threads.put_results(instruction, typed, indices[now])
            waiting = np.delete(waiting, first_of)


def _space(stride: int, owners: int, owner_of: Indices) -> _Space:
    return _Space(np.zeros(stride * owners, np.uint8), np.zeros(stride * owners, np.bool_), stride, owner_of)


def _elements(instruction: Instruction, place: int) -> tuple[Operand, ...]:
    operand = instruction.operands[place]
    return operand.elements if isinstance(operand, Vector) and instruction.has("vec") else (operand,)
