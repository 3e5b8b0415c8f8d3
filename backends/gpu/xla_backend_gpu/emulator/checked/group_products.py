"""Runs the products of warpgroups, and finds what uses their registers and matrices too early, or without a fence.

The sums are computed when a product starts. Until the warpgroup has waited for it, no other instruction may use its
registers, and nothing may be stored to its matrices in shared memory. A matrix counts as read by several warps when the
product starts and when the warpgroup has waited.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from xla_backend_gpu.emulator.checked.accesses import Accesses
from xla_backend_gpu.emulator.checked.races import NOBODY
from xla_backend_gpu.emulator.checked.state import Array, Indices, Threads
from xla_backend_gpu.emulator.checked.undefined import Fault, UndefinedValues
from xla_backend_gpu.emulator.faults import FaultKind
from xla_backend_gpu.emulator.ptx.dataflow import reads, writes
from xla_backend_gpu.emulator.ptx.program import Instruction, Kernel, Register
from xla_backend_gpu.emulator.ptx.types import PtxType
from xla_backend_gpu.emulator.table import GROUP_EFFECTS, Effect
from xla_backend_gpu.emulator.table.group_matrices import CHUNK, MatrixArrays
from xla_backend_gpu.emulator.table.group_products import ROWS, THREADS, GroupShape, shape_of

_WARP = 32


@dataclasses.dataclass(slots=True)
class _Running:
    """The products that one instruction started in some warpgroups: a row for each of them.

    Attributes:
        groups: the warpgroups.
        batches: how many groups of products each warpgroup had committed before.
        totals, others: the registers of the result, and those of A.
        octets: the bytes of shared memory that the product reads.
    """

    instruction: Instruction
    groups: Indices
    batches: Array
    totals: frozenset[int]
    others: frozenset[int]
    octets: Array

    def part(self, chosen: Array) -> _Running:
        return dataclasses.replace(
            self, groups=self.groups[chosen], batches=self.batches[chosen], octets=self.octets[chosen]
        )


class GroupProducts:
    def __init__(
        self, kernel: Kernel, threads: Threads, accesses: Accesses, undefined: UndefinedValues, fault: Fault
    ) -> None:
        self.threads, self.accesses, self.undefined, self.fault = threads, accesses, undefined, fault
        size = threads.count // threads.blocks
        self.group = threads.block * -(-size // THREADS) + threads.all % size // THREADS
        count = int(self.group[-1]) + 1
        self.committed = np.zeros(count, np.int64)
        self.fenced = np.zeros(count, np.bool_)
        self.running: list[_Running] = []
        total = accesses.spaces["shared"].data.size
        self.writer = np.full(total, NOBODY, np.int32)  # of bytes that the thread's products may not see yet
        self.pinned = np.zeros(total, np.int32)  # how many running products read a byte
        products = [i for i in kernel.instructions if i.definition.effect is Effect.GROUP_PRODUCT]
        registers = {r.index for i in products for r in _registers(i)}
        self.touched = {
            position: used
            for position, i in enumerate(kernel.instructions)
            if i.definition.effect is not Effect.GROUP_PRODUCT
            and (used := {r.index for r in (*reads(i), *writes(i))} & registers)
        }
        self.used = {index: np.zeros(threads.count, np.bool_) for index in registers}  # since the last fence

    # -- the registers and the memory of other instructions ----------------------------------------------------------

    def check_registers(self, instruction: Instruction, position: int, indices: Indices) -> None:
        """Refuses an instruction that uses a register of a running product, and remembers which registers it uses."""
        touched = self.touched.get(position)
        if touched is None:
            return
        for running in self.running:
            common = touched & (running.totals | running.others)
            if common:
                self._refuse_use(instruction, running, common, indices)
        for index in touched:
            self.used[index][indices] = True

    def _refuse_use(
        self, instruction: Instruction, running: _Running, registers: frozenset[int] | set[int], indices: Indices
    ) -> None:
        uses = np.isin(self.group[indices], running.groups)
        if uses.any():
            name = self.accesses.launch.kernel.registers[min(registers)].name
            detail = f"the product at line {running.instruction.line} uses {name}, and the thread has not waited for it"
            raise self.fault(FaultKind.UNFINISHED, detail, int(indices[np.flatnonzero(uses)[0]]), instruction)

    def stored(self, instruction: Instruction, indices: Indices, octets: Array) -> None:
        """Records what threads store to shared memory: a row of bytes for each thread."""
        pinned = self.pinned[octets].any(axis=1)
        if pinned.any():
            first = int(np.flatnonzero(pinned)[0])
            byte = int(octets[first][np.flatnonzero(self.pinned[octets[first]])[0]])
            lines = {r.instruction.line for r in self.running if (r.octets == byte).any()}
            place = byte % self.accesses.spaces["shared"].stride
            detail = f"byte {place:#x} of shared memory is read by the product at line {min(lines)}, which runs on"
            raise self.fault(FaultKind.UNFINISHED, detail, int(indices[first]), instruction)
        self.writer[octets] = indices[:, None]

    def show_stores(self, indices: Indices) -> None:
        """Runs fence.proxy.async: the threads' stores, and those before the block's last barrier, become visible."""
        fences = np.zeros(self.threads.count, np.bool_)
        fences[indices] = True
        shown = fences[np.maximum(self.writer, 0)]
        if self.accesses.races is not None:
            blocks = np.zeros(self.threads.blocks, np.bool_)
            blocks[self.threads.block[indices]] = True
            before = self.accesses.races.writer == NOBODY
            shown |= before & np.repeat(blocks, self.writer.size // self.threads.blocks)
        self.writer[shown] = NOBODY

    # -- instructions of a warpgroup: `indices` are all threads of some ----------------------------------------------

    def split_complete(self, indices: Indices) -> tuple[Indices, Indices]:
        """Splits threads into those whose warpgroup is complete and those that must wait for it."""
        counts = np.bincount(self.group[indices], minlength=self.fenced.size)
        complete = counts[self.group[indices]] == THREADS
        return indices[complete], indices[~complete]

    def execute(self, instruction: Instruction, indices: Indices) -> None:
        effect, groups = instruction.definition.effect, self.group[indices[::THREADS]]
        if effect is Effect.GROUP_FENCE:
            self.fenced[groups] = True
            for used in self.used.values():
                used[indices] = False
        elif effect is Effect.GROUP_COMMIT:
            self.committed[groups] += 1
        elif effect is Effect.GROUP_AWAIT:
            self._wait(instruction, groups, indices)
        else:
            self._product(instruction, groups, indices)

    def _wait(self, instruction: Instruction, groups: Indices, indices: Indices) -> None:
        before = np.full(self.committed.size, -1)  # the first batch that may run on
        before[groups] = self.committed[groups] - int(self.threads.sources(instruction, indices)[0].flat[0])
        still = []
        for running in self.running:
            ends = running.batches < before[running.groups]
            if ends.any():
                ended = running.part(ends)
                np.subtract.at(self.pinned, ended.octets, 1)
                self._read(instruction, ended)
            if not ends.all():
                still.append(running.part(~ends))
        self.running = still

    def _read(self, instruction: Instruction, running: _Running) -> None:
        """Records that a thread of each of two warps reads the bytes, so that no warp alone orders them."""
        races = self.accesses.races
        assert races is not None
        first = np.searchsorted(self.group, running.groups)
        readers, octets = np.concatenate([first, first + _WARP]), np.concatenate([running.octets] * 2)
        self.accesses.refuse_race(instruction, races.load(readers, octets))

    # -- products ----------------------------------------------------------------------------------------------------

    def _product(self, instruction: Instruction, groups: Indices, indices: Indices) -> None:
        shape = shape_of(instruction.definition.syntax.partition(" ")[0])
        assert shape is not None
        every = [register.index for register in _registers(instruction)]
        totals, others = frozenset(every[: shape.totals]), frozenset(every[shape.totals :])
        self._check_order(instruction, groups, indices, totals, others)
        self.undefined.check_operands(instruction, indices)
        sources = [np.broadcast_to(s, indices.shape) for s in self.threads.sources(instruction, indices)]
        given = [s.reshape(-1, THREADS) for s in sources]
        registers, rest = given[: shape.totals], given[shape.totals :]
        left, (right, scale, *signs) = rest[: 4 if others else 1], rest[4 if others else 1 :]
        self._check_uniform(instruction, indices, [right, scale] if others else [left[0], right, scale])
        turns = [bool(s.flat[0]) for s in signs[2:]]
        octets = [self._places(instruction, indices, right, shape, shape.columns, transposed=any(turns[-1:]))]
        b = self._elements(octets[0], shape, shape.right, transposed=any(turns[-1:]))
        if others:
            a = shape.fragments(left)
        else:
            octets.append(self._places(instruction, indices, left[0], shape, ROWS, transposed=any(turns[:-1])))
            a = self._elements(octets[1], shape, shape.left, transposed=any(turns[:-1]))
        if signs and int(signs[0].flat[0]) * int(signs[1].flat[0]) < 0:
            a = -a
        kept = [np.where(scale, x, x.dtype.type(0)) for x in registers]
        results = tuple(x.reshape(-1) for x in shape.multiplied(a, b, kept))
        self.threads.put_results(instruction, results, indices)
        running = _Running(instruction, groups, self.committed[groups], totals, others, np.concatenate(octets, axis=1))
        self._read(instruction, running)
        np.add.at(self.pinned, running.octets, 1)
        self.running.append(running)

    def _check_order(
        self,
        instruction: Instruction,
        groups: Indices,
        indices: Indices,
        totals: frozenset[int],
        others: frozenset[int],
    ) -> None:
        """Refuses a product whose registers are not ordered after their last use."""
        for running in self.running:
            common = (totals & running.others) | (others & running.totals)
            if running.instruction.definition is not instruction.definition:
                common |= totals & running.totals
            if common:
                self._refuse_use(instruction, running, common, indices)
        unfenced = ~self.fenced[self.group[indices]]
        what = "before the warpgroup's first product"
        for index in sorted(totals | others):
            used = self.used[index][indices]
            if used.any() and not unfenced.any():
                name = self.accesses.launch.kernel.registers[index].name
                what = f"between the last use of {name} and the product"
            unfenced = unfenced | used
        if unfenced.any():
            detail = f"no wgmma.fence is executed {what}"
            raise self.fault(FaultKind.MISSING_FENCE, detail, int(indices[np.flatnonzero(unfenced)[0]]), instruction)

    def _check_uniform(self, instruction: Instruction, indices: Indices, operands: Sequence[Array]) -> None:
        for operand in operands:
            other = operand != operand[:, :1]
            if other.any():
                detail = "the threads of its warpgroup give different descriptors or scales"
                raise self.fault(
                    FaultKind.BARRIER_DIVERGENCE, detail, int(indices[np.flatnonzero(other)[0]]), instruction
                )

    def _places(
        self,
        instruction: Instruction,
        indices: Indices,
        descriptors: Array,
        shape: GroupShape,
        lines: int,
        *,
        transposed: bool,
    ) -> Array:
        """Checks and counts the read of a matrix, and returns the places of its bytes, a row for each warpgroup."""
        matrices = MatrixArrays.of(descriptors[:, 0], transposed=transposed)
        firsts = indices[::THREADS]

        def refuse(bad: Array, kind: FaultKind, what: str) -> None:
            if bad.any():
                group = int(np.flatnonzero(bad)[0])
                detail = f"the matrix of descriptor {int(descriptors[group, 0]):#x} {what}"
                raise self.fault(kind, detail, int(firsts[group]), instruction)

        pattern = "starts inside of a pattern of eight rows, which its base offset does not say"
        refuse(matrices.is_misaligned(), FaultKind.MISALIGNED, pattern)
        places = matrices.places(*shape.chunks(lines, transposed=transposed))
        limit = self.accesses.sizes["shared"]
        outside: Array = places.max(axis=(1, 2)) > limit - CHUNK
        refuse(outside, FaultKind.OUT_OF_BOUNDS, f"is not within shared memory, of which the block has {limit} bytes")
        self.accesses.tally.matrix_access(places)
        space = self.accesses.spaces["shared"]
        first = self.threads.block[firsts] * space.stride
        octets = (places + first[:, None, None])[..., None] + np.arange(CHUNK)
        found = octets.reshape(octets.shape[0], -1)
        missing = ~space.initialized[found].all(axis=1)
        refuse(missing, FaultKind.UNINITIALIZED, "has bytes of uninitialized shared memory")
        hidden = (self.writer[found] != NOBODY).any(axis=1)
        what = "has bytes that were stored to shared memory without fence.proxy.async after that"
        refuse(hidden, FaultKind.MISSING_FENCE, what)
        return found

    def _elements(self, octets: Array, shape: GroupShape, type_: PtxType, *, transposed: bool) -> Array:
        """Returns the matrices whose bytes lie at these places."""
        lines = octets.shape[1] // (shape.terms * type_.size)
        rows, chunks = shape.chunks(lines, transposed=transposed)
        data = self.accesses.spaces["shared"].data[octets]
        return shape.matrix(data.reshape(-1, rows, chunks * CHUNK), type_, transposed=transposed)


def _registers(instruction: Instruction) -> list[Register]:
    """Returns the registers of the result and of A, in order."""
    pairs = zip(instruction.definition.operands, instruction.operands, strict=True)
    return [o for spec, o in pairs if spec.in_vector and isinstance(o, Register)]


def has_group_instructions(kernel: Kernel) -> bool:
    return any(i.definition.effect in GROUP_EFFECTS for i in kernel.instructions)
