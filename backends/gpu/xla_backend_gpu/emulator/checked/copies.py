"""Runs cp.async: copies from global to shared memory that a thread starts, and waits for later.

The bytes are copied when the copy starts, but they count as uninitialized until the thread has waited for the copy, and
as written by the thread at both times. A kernel that reads them too early therefore has a fault: it depends on
uninitialized memory, or it races with the thread.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from xla_backend_gpu.emulator.checked.accesses import Accesses
from xla_backend_gpu.emulator.checked.state import Array, Indices, Threads
from xla_backend_gpu.emulator.checked.undefined import UndefinedValues
from xla_backend_gpu.emulator.ptx.program import Address, Immediate, Instruction


@dataclasses.dataclass(slots=True)
class _Copies:
    """The copies that one instruction started in some threads: a row for each of them.

    Attributes:
        threads: the indices of the threads.
        groups: how many groups of copies each thread had committed before.
        octets: the bytes of shared memory.
        known: whether each of them gets a value that is initialized.
    """

    threads: Indices
    groups: Array
    octets: Array
    known: Array


class AsynchronousCopies:
    def __init__(self, threads: Threads, accesses: Accesses, undefined: UndefinedValues) -> None:
        self.threads, self.accesses, self.undefined = threads, accesses, undefined
        self.committed = np.zeros(threads.count, np.int64)
        self.running: list[_Copies] = []

    def start(self, instruction: Instruction, indices: Indices) -> None:
        to, source, count, *given = instruction.operands
        assert isinstance(to, Address)
        assert isinstance(source, Address)
        assert isinstance(count, Immediate)
        for address in (to, source):
            self.undefined.check_address(instruction, address, indices)
        self.undefined.check_operands(instruction, indices)
        accesses, size = self.accesses, count.value
        sizes = np.full(indices.size, size)
        if given[0] is not None:
            sizes = np.minimum(np.broadcast_to(self.threads.sources(instruction, indices)[-1], indices.shape), size)
        where = accesses.addresses(to, indices)
        octets = accesses.place(instruction, "shared", where, size, indices, store=True)[:, None] + np.arange(size)
        data, known = np.zeros(octets.shape, np.uint8), np.ones(octets.shape, np.bool_)
        memory = self.accesses.spaces["global"]
        sources = accesses.addresses(source, indices)
        for length in np.unique(sizes[sizes > 0]):  # the rest of a copy is filled with zeros
            some = np.flatnonzero(sizes == length)
            first = accesses.place(
                instruction, "global", sources[some], int(length), indices[some], store=False, align=size
            )
            places = first[:, None] + np.arange(length)
            data[some, :length] = memory.data[places]
            if self.accesses.launch.memory.tracks_initialization:
                known[some, :length] = memory.initialized[places]
        shared = accesses.spaces["shared"]
        shared.data[octets], shared.initialized[octets] = data, False
        self._write(instruction, indices, octets)
        self.running.append(_Copies(indices, self.committed[indices], octets, known))

    def _write(self, instruction: Instruction, indices: Indices, octets: Array) -> None:
        races, memory = self.accesses.races, self.accesses.spaces["shared"].data
        if races is not None and indices.size:
            every = np.ones(octets.shape, np.bool_)
            self.accesses.refuse_race(instruction, races.store(indices, octets, every, memory, memory[octets]))

    def commit(self, indices: Indices) -> None:
        self.committed[indices] += 1

    def wait(self, instruction: Instruction, indices: Indices) -> None:
        """Ends the copies of threads, except those of the last groups, which the instruction allows to continue."""
        before = np.full(self.threads.count, np.iinfo(np.int64).max)  # the first group that runs on
        if instruction.operands:
            before[indices] = self.committed[indices] - self.threads.sources(instruction, indices)[0]
        waits = np.zeros(self.threads.count, np.bool_)
        waits[indices] = True
        still = []
        for copies in self.running:
            ends = waits[copies.threads] & (copies.groups < before[copies.threads])
            if ends.any():
                shared, octets = self.accesses.spaces["shared"], copies.octets[ends]
                shared.initialized[octets] = copies.known[ends]
                self._write(instruction, copies.threads[ends], octets)
                if self.accesses.stored is not None:
                    self.accesses.stored(instruction, copies.threads[ends], octets)
            if not ends.all():
                rest = ~ends
                still.append(
                    _Copies(copies.threads[rest], copies.groups[rest], copies.octets[rest], copies.known[rest])
                )
        self.running = still
