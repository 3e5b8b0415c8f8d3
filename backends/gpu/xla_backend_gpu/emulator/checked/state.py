"""The state of the threads of some blocks, as arrays: registers, indices, and the memory of blocks and threads."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from xla_backend_gpu.emulator.launch import Launch
from xla_backend_gpu.emulator.ptx.program import (
    Immediate,
    Instruction,
    Negation,
    Operand,
    Register,
    SpecialRegister,
    Symbol,
    Vector,
)
from xla_backend_gpu.emulator.ptx.types import PtxType, register_type
from xla_core.errors import UnimplementedError

Array = npt.NDArray[Any]
Indices = npt.NDArray[np.int64]

_LANES = 32


class Threads:
    """The threads of the blocks from `first_block` on, numbered from 0. The arrays are indexed by that number.

    Attributes:
        count: the number of threads.
        block, warp, lane: the indices of each thread. Blocks and warps are numbered among these threads.
        alive: whether each thread is still running.
    """

    def __init__(self, launch: Launch, first_block: int, blocks: int) -> None:
        self.launch, self.first_block, self.blocks = launch, first_block, blocks
        size = launch.threads
        self.count = blocks * size
        number = np.arange(self.count)
        within = number % size
        self.block = number // size
        self.warps_per_block = -(-size // _LANES)
        self.warp = self.block * self.warps_per_block + within // _LANES
        self.lane = within % _LANES
        self.warps = blocks * self.warps_per_block
        self.alive = np.ones(self.count, np.bool_)
        self.all = number
        self._registers: list[Array | None] = [None] * len(launch.kernel.registers)
        self._special = self._special_registers(within)

    def _special_registers(self, within: Indices) -> dict[str, Array]:
        launch = self.launch
        block = self.first_block + self.block
        (x, y, z), (gx, gy, gz) = launch.block, launch.grid
        one = np.uint32(1)
        lane = self.lane.astype(np.uint32)
        own = one << lane
        indices: dict[str, Any] = {
            "%tid.x": within % x,
            "%tid.y": within // x % y,
            "%tid.z": within // (x * y),
            "%ctaid.x": block % gx,
            "%ctaid.y": block // gx % gy,
            "%ctaid.z": block // (gx * gy),
            **{f"%ntid.{a}": s for a, s in zip("xyz", (x, y, z), strict=True)},
            **{f"%nctaid.{a}": s for a, s in zip("xyz", (gx, gy, gz), strict=True)},
            "%laneid": lane,
            "%warpid": within // _LANES,
            "%nwarpid": 32,
            "%lanemask_eq": own,
            "%lanemask_lt": own - one,
            "%lanemask_le": own | (own - one),
            "%lanemask_gt": ~(own | (own - one)),
            "%lanemask_ge": ~(own - one),
            "%dynamic_smem_size": launch.dynamic_shared,
            "%total_smem_size": launch.shared_bytes,
            **dict.fromkeys(("%smid", "%gridid", "%clock", "%clock64", "%globaltimer"), 0),
            **{f"%clusterid.{a}": 0 for a in "xyz"},
            **{f"%cluster_ctaid.{a}": 0 for a in "xyz"},
            **{f"%nclusterid.{a}": 1 for a in "xyz"},
            **{f"%cluster_nctaid.{a}": 1 for a in "xyz"},
            "%nsmid": 1,
        }
        return {name: np.atleast_1d(np.asarray(value, np.uint64)) for name, value in indices.items()}

    # -- operands ----------------------------------------------------------------------------------------------------

    def register(self, register: Register) -> Array:
        """Returns a writable array of the bits of a register in every thread."""
        found = self._registers[register.index]
        if found is None:
            if register.bits == 128:
                raise UnimplementedError("the checked engine does not support registers of 128 bits")
            found = np.zeros(self.count, register_type(register.bits).dtype)
            self._registers[register.index] = found
        return found

    def _all(self, indices: Indices) -> bool:
        return indices.size == self.count

    def get(self, operand: Operand, type_: PtxType, indices: Indices) -> Array:
        """Returns the values of an operand in a type: one for each thread of `indices`, or one for all of them."""
        if isinstance(operand, Register):
            bits = self.register(operand)
            bits = bits if self._all(indices) else bits[indices]
        elif isinstance(operand, Immediate):
            bits = np.array([operand.bits_in(type_)], register_type(type_.bits).dtype)
        elif isinstance(operand, Negation):
            bits = ~self.register(operand.register)[indices]
        elif isinstance(operand, Symbol):
            bits = np.array([self.launch.address(operand)], np.uint64)
        elif isinstance(operand, SpecialRegister):
            if operand.name not in self._special:
                raise UnimplementedError(f"the checked engine does not support special register {operand.name}")
            bits = self._special[operand.name]
            bits = bits if bits.size == 1 else bits[indices]
        elif isinstance(operand, Vector):
            bits = self._packed(operand, type_, indices)
        else:
            raise UnimplementedError(f"the checked engine cannot read operand {operand}")
        return _as_type(bits, type_)

    def _packed(self, vector: Vector, type_: PtxType, indices: Indices) -> Array:
        """Packs the elements of a vector into one integer. The first element has the lowest bits."""
        element = register_type(type_.bits // len(vector.elements))
        whole = register_type(type_.bits).dtype
        result = np.zeros(1, whole)
        for position, operand in enumerate(vector.elements):
            piece = self.get(operand, element, indices).astype(whole)
            result = result | piece << np.array(position * element.bits, whole)
        return result

    def put(self, operand: Operand, type_: PtxType, value: Array, indices: Indices) -> None:
        """Writes a result to a register of the threads of `indices`.

        In a wider register it is extended with zeros or with its sign, depending on its type.
        """
        if operand is None:
            return
        value = value if value.dtype == type_.dtype else value.astype(type_.dtype)
        bits = np.ascontiguousarray(value).view(register_type(type_.bits).dtype)
        if type_.lanes > 1:
            bits = bits[..., 0]
        if isinstance(operand, Vector):
            width = type_.bits // len(operand.elements)
            for position, element in enumerate(operand.elements):
                if isinstance(element, Register):
                    piece = (bits >> np.array(position * width, bits.dtype)).astype(register_type(width).dtype)
                    self._write(element, piece, indices)
        elif isinstance(operand, Register):
            if operand.bits > type_.bits:
                wide = register_type(operand.bits).dtype
                bits = value.astype(np.dtype(f"i{wide.itemsize}")).view(wide) if type_.is_signed else bits.astype(wide)
            self._write(operand, bits, indices)

    def _write(self, register: Register, bits: Array, indices: Indices) -> None:
        if self._all(indices):
            self.register(register)[...] = bits
        else:
            self.register(register)[indices] = bits

    def sources(self, instruction: Instruction, indices: Indices) -> list[Array]:
        """Returns the values of the operands that an instruction reads."""
        return [
            self.get(operand, spec.type_of(instruction.types), indices)
            for spec, operand in zip(instruction.definition.operands, instruction.operands, strict=True)
            if spec.is_read and spec.is_typed and operand is not None
        ]

    def put_results(
        self, instruction: Instruction, results: Array | tuple[Array, ...] | None, indices: Indices
    ) -> None:
        if results is None:
            return
        values = results if isinstance(results, tuple) else (results,)
        written = [
            (operand, spec.type_of(instruction.types))
            for spec, operand in zip(instruction.definition.operands, instruction.operands, strict=True)
            if spec.written
        ]
        for (operand, type_), value in zip(written, values, strict=False):
            self.put(operand, type_, value, indices)

    def guarded(self, instruction: Instruction, indices: Indices) -> tuple[Indices, Indices]:
        """Returns the threads whose guard holds, and the others."""
        if instruction.guard is None:
            return indices, indices[:0]
        holds = self.register(instruction.guard)[indices] != instruction.guard_negated
        return indices[holds], indices[~holds]


def _as_type(bits: Array, type_: PtxType) -> Array:
    """Returns the bits of registers as values of a type that is not wider. Packed pairs get another axis at the end."""
    plain = register_type(type_.bits).dtype
    if bits.dtype != plain:
        bits = bits.astype(plain)
    if type_.lanes > 1:
        return np.ascontiguousarray(bits)[:, None].view(type_.dtype)
    return bits.view(type_.dtype)
