"""RegisterArrays: memory for elements that consist of several registers, as one array for each register."""

from __future__ import annotations

from collections.abc import Sequence

from xla_core.codegen.llvm.ir.builder import IrBuilder
from xla_core.codegen.llvm.ir.module import Value
from xla_core.codegen.llvm.ir.types import type_bits
from xla_core.codegen.llvm.target_abi import TargetAbi
from xla_core.sizes import round_up

_ALIGNMENT = 64


def held_type(type_: str) -> str:
    """Returns the type of a register in memory."""
    return "i8" if type_ == "i1" else type_


def element_bytes(types: Sequence[str]) -> int:
    """Returns the bytes of an element whose registers have these types."""
    return sum(type_bits(held_type(t)) // 8 for t in types)


class RegisterArrays:
    """Arrays of registers in memory. A position is the same in all of them."""

    def __init__(self, b: IrBuilder, arrays: Sequence[tuple[str, Value]]) -> None:
        self._b = b
        self._arrays = arrays

    @staticmethod
    def shared(abi: TargetAbi, b: IrBuilder, types: Sequence[str], count: int) -> RegisterArrays:
        """New arrays of `count` elements that the threads of a block share."""
        return RegisterArrays(b, [(t, abi.shared_array(b, held_type(t), count)) for t in types])

    @staticmethod
    def at(b: IrBuilder, memory: Value, types: Sequence[str], count: int) -> RegisterArrays:
        """Arrays of `count` elements in memory of `size(types, count)` bytes."""
        arrays, offset = [], 0
        for type_ in types:
            arrays.append((type_, b.gep("i8", memory, b.int_(offset))))
            offset += RegisterArrays.size([type_], count)
        return RegisterArrays(b, arrays)

    @staticmethod
    def size(types: Sequence[str], count: int) -> int:
        """Returns the bytes of arrays of `count` elements."""
        return sum(round_up(element_bytes([t]) * count, _ALIGNMENT) for t in types)

    def load(self, position: Value) -> list[Value]:
        """Returns the registers at a position."""
        return [self._b.load_register(type_, array, position) for type_, array in self._arrays]

    def store(self, position: Value, values: Sequence[Value]) -> None:
        """Writes the registers at a position."""
        for (_, array), value in zip(self._arrays, values, strict=True):
            self._b.store_register(value, array, position)
