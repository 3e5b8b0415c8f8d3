"""Matrices in shared memory that a descriptor of 64 bits describes, as products of warpgroups read them.

A matrix has lines (rows of A, columns of B) and terms. It consists of chunks of 16 bytes: neighbouring terms of a line,
or, if it is transposed, neighbouring lines of a term. Chunk c of what is not contiguous, number r, lies at

    start + (r mod 8) * width + (r div 8) * stride + (c mod (width / 16)) * 16 + (c div (width / 16)) * leading

where the width is that of the swizzling mode, or 16 without swizzling. Then stride and leading change places for a
transposed matrix. With swizzling, the lowest bits of the address's number of 128 bytes are added, without carry, to
its number of 16 bytes, so that eight chunks of equal c are in different banks.

    bits 0 to 13    start / 16
    bits 16 to 29   leading / 16
    bits 32 to 45   stride / 16
    bits 49 to 51   base offset: where the pattern of eight rows starts, / 128, modulo 8
    bits 62 and 63  mode: 0 without swizzling; 1, 2 and 3 with widths of 128, 64 and 32 bytes
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import numpy.typing as npt

from xla_core.codegen.llvm import IrBuilder, Value

Array = npt.NDArray[Any]

CHUNK = 16
_LOW = (1 << 14) - 1
_LOGARITHMS = (0, 3, 2, 1)  # of the chunks in a width, by mode


@dataclasses.dataclass(frozen=True, slots=True)
class MatrixArrays:
    """The fields of descriptors, one for each warpgroup."""

    start: Array
    row_stride: Array  # of eight rows of chunks
    chunk_stride: Array  # of a width
    base: Array
    logarithm: Array

    @staticmethod
    def of(descriptors: Array, *, transposed: bool) -> MatrixArrays:
        words = descriptors.astype(np.uint64)

        def field(shift: int, mask: int) -> Array:
            return np.asarray((words >> np.uint64(shift)) & np.uint64(mask)).astype(np.int64)

        leading, stride, mode = field(16, _LOW) * CHUNK, field(32, _LOW) * CHUNK, field(62, 3)
        is_turned = (mode == 0) & transposed
        return MatrixArrays(
            field(0, _LOW) * CHUNK,
            np.where(is_turned, leading, stride),
            np.where(is_turned, stride, leading),
            field(49, 7),
            np.array(_LOGARITHMS)[mode],
        )

    def is_misaligned(self) -> Array:
        """Tells which patterns of eight rows don't begin where the base offset says."""
        width = CHUNK << self.logarithm
        inside = (self.start - (self.base << 7)) & (8 * width - 1)
        return np.asarray((self.logarithm > 0) & (inside >= width))

    def places(self, rows: int, chunks: int) -> Array:
        """Returns the addresses of the chunks: an array of warpgroups x rows x chunks."""
        start, row_stride, chunk_stride, base, log = (
            x[:, None, None] for x in (self.start, self.row_stride, self.chunk_stride, self.base, self.logarithm)
        )
        r, c = np.arange(rows)[None, :, None], np.arange(chunks)[None, None, :]
        mask = (1 << log) - 1
        place = (
            start + (r % 8) * (CHUNK << log) + (r // 8) * row_stride + (c & mask) * CHUNK + (c >> log) * chunk_stride
        )
        return np.asarray(place ^ (((place >> 7) - base) & mask) * CHUNK)


class MatrixValues:
    """The fields of a descriptor as i64 values, in code that is being built."""

    def __init__(self, b: IrBuilder, descriptor: Value, *, transposed: bool) -> None:
        self._b = b

        def field(shift: int, mask: int, scale: int) -> Value:
            bits = b.binary("and", b.binary("lshr", descriptor, b.int_(shift)), b.int_(mask))
            return b.shl(bits, scale)

        self.start = field(0, _LOW, 4)
        leading, stride = field(16, _LOW, 4), field(32, _LOW, 4)
        mode = b.binary("lshr", descriptor, b.int_(62))
        is_plain = b.icmp("eq", mode, b.int_(0))
        self._logarithm = b.select(is_plain, mode, b.sub(b.int_(4), mode))
        if transposed:
            leading, stride = b.select(is_plain, stride, leading), b.select(is_plain, leading, stride)
        self._row_stride, self._chunk_stride = stride, leading
        self._base = field(49, 7, 0)
        self._mask = b.sub(b.binary("shl", b.int_(1), self._logarithm), b.int_(1))

    def is_misaligned(self) -> Value:
        """Whether the pattern of eight rows doesn't begin where the base offset says."""
        b = self._b
        width = b.binary("shl", b.int_(CHUNK), self._logarithm)
        inside = b.binary(
            "and", b.sub(self.start, b.shl(self._base, 7)), b.sub(b.binary("shl", width, b.int_(3)), b.int_(1))
        )
        return b.and_(b.icmp("ne", self._logarithm, b.int_(0)), b.icmp("uge", inside, width))

    def place(self, row: Value, chunk: Value) -> Value:
        """Returns the address of a chunk."""
        b = self._b
        near = b.binary("shl", b.binary("and", row, b.int_(7)), b.add(self._logarithm, b.int_(4)))
        far = b.mul(b.lshr(row, 3), self._row_stride)
        within = b.shl(b.binary("and", chunk, self._mask), 4)
        beyond = b.mul(b.binary("lshr", chunk, self._logarithm), self._chunk_stride)
        place = b.add(b.add(self.start, b.add(near, far)), b.add(within, beyond))
        phase = b.binary("and", b.sub(b.lshr(place, 7), self._base), self._mask)
        return b.xor(place, b.shl(phase, 4))
