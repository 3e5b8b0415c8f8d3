"""Products of matrices by the four warps of a warpgroup: wgmma.

A has 64 rows and lies in registers or, like B, in shared memory; see `group_matrices`. A warp of the group has 16 rows
of A and of the result. Its lanes hold them as in `matrix`, with further columns of the result in further registers:

    D       row g + 8 (r div 2 mod 2), column 8 (r div 4) + 2 t + r mod 2

The engines wait for the threads, read the matrices and keep track of what is not finished yet.
"""

from __future__ import annotations

import dataclasses
import functools
import re
from typing import Any

import numpy as np
import numpy.typing as npt

from xla_backend_gpu.emulator.ptx.program import Instruction
from xla_backend_gpu.emulator.ptx.types import TYPES, PtxType
from xla_backend_gpu.emulator.table.definition import ON_DEMAND, Effect, define
from xla_backend_gpu.emulator.table.group_matrices import CHUNK
from xla_backend_gpu.emulator.table.matrix import F8, unpacked
from xla_backend_gpu.emulator.table.rounding import NANS
from xla_backend_gpu.emulator.table.warp import WarpValues
from xla_core.codegen.llvm import IrBuilder, Value

Array = npt.NDArray[Any]

THREADS = 128
ROWS = 64
FRAGMENTS = 4
"""The registers of A that a thread has."""
GATHERED = 4 * FRAGMENTS
"""The registers of A of the four lanes that have a thread's rows."""
_BYTES = 32  # of the terms of a line
_THREAD = np.arange(THREADS)
_G, _T = _THREAD % 32 // 4, _THREAD % 4


@dataclasses.dataclass(frozen=True, slots=True)
class GroupShape:
    """The products of matrices of 64 x terms and terms x columns."""

    columns: int
    left: PtxType
    right: PtxType
    total: PtxType

    @property
    def terms(self) -> int:
        return 8 * _BYTES // self.left.bits

    @property
    def each(self) -> int:
        """Elements in a register of A."""
        return 32 // self.left.bits

    @property
    def totals(self) -> int:
        """The registers of a thread for the result."""
        return self.columns // 2

    def chunks(self, lines: int, *, transposed: bool) -> tuple[int, int]:
        """How many rows of chunks a matrix in shared memory has, and how many chunks a row has."""
        return (self.terms, lines * self.left.size // CHUNK) if transposed else (lines, _BYTES // CHUNK)

    # -- arrays: the first axis is that of the warpgroups ------------------------------------------------------------

    def matrix(self, octets: Array, type_: PtxType, *, transposed: bool) -> Array:
        """Returns the lines x terms of a matrix, as f64 or i64, from the bytes of its chunks."""
        words = np.ascontiguousarray(octets).view(np.uint32)
        elements = self._wide(unpacked(words, type_))
        lines = elements.reshape(*octets.shape[:2], -1)
        return lines.swapaxes(1, 2) if transposed else lines

    def fragments(self, registers: list[Array]) -> Array:
        """Returns A from its registers, each of which has an axis of warpgroups and one of threads."""
        found = np.zeros((registers[0].shape[0], ROWS, self.terms))
        for r, x in enumerate(registers):
            rows, terms = 16 * (_THREAD // 32) + _G + 8 * (r % 2), self.each * (_T + 4 * (r // 2))
            found[:, rows[:, None], terms[:, None] + np.arange(self.each)] = unpacked(x, self.left)
        return self._wide(found)

    def _wide(self, elements: Array) -> Array:
        return elements.astype(np.float64 if self.total.is_float else np.int64)

    def multiplied(self, a: Array, b: Array, totals: list[Array]) -> list[Array]:
        """Returns the registers of the result. The given ones have an axis of warpgroups and one of threads."""
        places = [(self._rows(r), 8 * (r // 4) + 2 * _T + r % 2) for r in range(self.totals)]
        sums = np.zeros((a.shape[0], ROWS, self.columns), a.dtype)
        for (rows, columns), x in zip(places, totals, strict=True):
            sums[:, rows, columns] = x
        for term in range(self.terms):
            sums = sums + a[:, :, None, term] * b[:, None, :, term]
        result = sums.astype(self.total.dtype)
        if self.total.is_float:
            nan = np.array(NANS[self.total.name], f"u{self.total.size}").view(self.total.dtype)
            result[np.isnan(sums)] = nan
        return [result[:, rows, columns] for rows, columns in places]

    @staticmethod
    def _rows(r: int) -> Array:
        return np.asarray(16 * (_THREAD // 32) + _G + 8 * (r // 2 % 2))


_MNEMONIC = re.compile(r"wgmma\.mma_async\.sync\.aligned\.m64n(\d+)k(\d+)\.(\w+)\.(\w+)\.(\w+)")
_INTEGERS = ("s8", "u8")
_FLOATS = ("f16", "bf16", "tf32")


@functools.cache
def shape_of(mnemonic: str) -> GroupShape | None:
    """Returns the shape of a product, or None if there is none of this mnemonic."""
    match = _MNEMONIC.fullmatch(mnemonic)
    if match is None:
        return None
    columns, terms, (total, left, right) = int(match[1]), int(match[2]), match.groups()[2:]
    integers = left in _INTEGERS and right in _INTEGERS
    floats = (left in F8 and right in F8) or (left in _FLOATS and left == right)
    step = 16 if integers and columns > 32 else 8
    if not (integers or floats) or total != ("s32" if integers else "f32"):
        return None
    shape = GroupShape(columns, TYPES[left], TYPES[right], TYPES[total])
    return shape if columns % step == 0 and 8 <= columns <= 256 and terms == shape.terms else None


@functools.cache
def _define(mnemonic: str) -> None:
    """Adds the product of a mnemonic to the table: with A in registers, and with its descriptor."""
    shape = shape_of(mnemonic)
    if shape is None:
        return
    result, type_ = f"+d*{shape.totals}:{shape.total.name}", shape.left.name
    scales = ", sa:s32, sb:s32" if shape.total.is_float else ""
    both, right = (", ta:s32, tb:s32", ", tb:s32") if type_ in ("f16", "bf16") else ("", "")
    name = mnemonic
    define(f"{name} {result}, a*4:b32, b:b64, scale:pred{scales}{right}", None, gathered, Effect.GROUP_PRODUCT)
    define(f"{name} {result}, a:b64, b:b64, scale:pred{scales}{both}", effect=Effect.GROUP_PRODUCT)


def gathered(b: IrBuilder, op: Instruction, warp: WarpValues, *registers: Value) -> tuple[Value, ...]:
    """Returns the registers of A of the four lanes that have a lane's rows."""
    first = b.binary("and", warp.lane, b.int_(-4, "i32"))
    lanes = [b.add(first, b.int_(n, "i32")) for n in range(4)]
    return tuple(warp.fetch(operand, lane) for lane in lanes for operand in range(FRAGMENTS))


ON_DEMAND["wgmma"] = _define
define("wgmma.fence.sync.aligned", effect=Effect.GROUP_FENCE)
define("wgmma.commit_group.sync.aligned", effect=Effect.GROUP_COMMIT)
define("wgmma.wait_group.sync.aligned n:u32", effect=Effect.GROUP_AWAIT)
