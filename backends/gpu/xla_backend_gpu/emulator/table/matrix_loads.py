"""ldmatrix: the lanes of a warp load matrices of 8 x 8 elements of 16 bits from shared memory.

Lanes 0 to 7 give the addresses of the first matrix's rows, of 16 bytes each, lanes 8 to 15 those of the second matrix,
and so on. The engines load these rows, so that an implementation takes the four words of each lane's row. Register r
of a lane gets two elements of matrix r: those of row lane / 4 in columns 2 (lane mod 4) and the next one. With .trans,
rows and columns change places.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from xla_backend_gpu.emulator.ptx.program import Instruction
from xla_backend_gpu.emulator.table.definition import Effect, define
from xla_backend_gpu.emulator.table.warp import WarpArrays, WarpValues
from xla_core.codegen.llvm import IrBuilder, Value

Array = npt.NDArray[Any]

ROW_BYTES = 16
ROW_WORDS = 4
_ROWS = 8


def row_lanes(op: Instruction) -> int:
    """Returns how many lanes, from lane 0 on, give the address of a row."""
    return _ROWS * _count(op)


def _count(op: Instruction) -> int:
    return int(op.modifiers["count"][1:])


def _loaded(op: Instruction, warp: WarpArrays, *words: Array) -> tuple[Array, ...]:
    rows = np.stack([warp.gather(np.ascontiguousarray(word)) for word in words], axis=-1).view(np.uint16)
    line, pair = warp.lane // 4, 2 * (warp.lane % 4)
    each = np.arange(warp.lane.size)
    found = []
    for first in range(0, row_lanes(op), _ROWS):
        if op.has("trans"):
            low, high = rows[each, first + pair, line], rows[each, first + pair + 1, line]
        else:
            low, high = rows[each, first + line, pair], rows[each, first + line, pair + 1]
        found.append(low.astype(np.uint32) | high.astype(np.uint32) << np.uint32(16))
    return tuple(found)


def _loaded_ir(b: IrBuilder, op: Instruction, warp: WarpValues, *words: Value) -> tuple[Value, ...]:
    line, member = b.lshr(warp.lane, 2), b.binary("and", warp.lane, b.int_(3, "i32"))

    def word(lane: Value, number: Value) -> Value:
        found = warp.fetch(0, lane)
        for n in range(1, len(words)):
            found = b.select(b.icmp("eq", number, b.int_(n, "i32")), warp.fetch(n, lane), found)
        return found

    def element(first: int, following: int) -> Value:
        """Element `line` of the row that is the first of a pair, or the one after it."""
        lane = b.add(b.shl(member, 1), b.int_(first + following, "i32"))
        shift = b.shl(b.binary("and", line, b.int_(1, "i32")), 4)
        return b.binary("and", b.binary("lshr", word(lane, b.lshr(line, 1)), shift), b.int_(0xFFFF, "i32"))

    found = []
    for first in range(0, row_lanes(op), _ROWS):
        if op.has("trans"):
            found.append(b.or_(element(first, 0), b.shl(element(first, 1), 16)))
        else:
            found.append(word(b.add(line, b.int_(first, "i32")), member))
    return tuple(found)


for _number in (1, 2, 4):
    define(
        f"ldmatrix.sync.aligned.m8n8.count=x{_number}.trans?.space=shared/shared::cta.b16 d*{_number}:b32, a:mem",
        _loaded,
        _loaded_ir,
        Effect.WARP,
    )
