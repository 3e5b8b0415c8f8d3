"""Products of small matrices that lie in the registers of a warp: mma.sync.

With e elements in a register of an operand, and g and t the quotient and remainder of the lane's number by 4,
register r of a lane holds these elements. A is 16 x k (8 x k for f64), B is k x 8.

    A       rows g + 8 (r mod 2), columns e t + 4 e (r div 2) and the next ones
    B       rows e t + 4 e r and the next ones, column g
    C and D row g + 8 (r div 2), column 2 t + r mod 2
"""

from __future__ import annotations

import dataclasses
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt

from xla_backend_gpu.emulator.ptx.program import Instruction
from xla_backend_gpu.emulator.ptx.types import TYPES, PtxType
from xla_backend_gpu.emulator.table.definition import Effect, define
from xla_backend_gpu.emulator.table.ir_floats import canonical
from xla_backend_gpu.emulator.table.rounding import NANS
from xla_backend_gpu.emulator.table.warp import LANES, WarpArrays, WarpValues
from xla_core.codegen.llvm import IrBuilder, Value

Array = npt.NDArray[Any]

_LANE = np.arange(LANES)
F8 = {"e4m3": np.dtype(ml_dtypes.float8_e4m3fn), "e5m2": np.dtype(ml_dtypes.float8_e5m2)}
_TF32 = 0xFFFFE000  # the bits of an f32 that a product of tf32 uses


@dataclasses.dataclass(frozen=True, slots=True)
class _Shape:
    """The products of m x k and k x 8 matrices of two types. Both types have the same width."""

    rows: int
    terms: int
    left: PtxType
    right: PtxType
    total: PtxType

    @property
    def register_bits(self) -> int:
        return max(32, self.left.bits)

    @property
    def each(self) -> int:
        """Elements in a register."""
        return self.register_bits // self.left.bits

    @property
    def counts(self) -> tuple[int, int, int]:
        """The registers of A, B and C."""
        blocks = self.terms // (4 * self.each)
        return self.rows // 8 * blocks, blocks, self.rows // 4

    # -- arrays ------------------------------------------------------------------------------------------------------

    def numpy(self, op: Instruction, warp: WarpArrays, *operands: Array) -> tuple[Array, ...]:
        is_first = warp.lane == 0
        registers = [warp.gather(np.ascontiguousarray(x))[is_first] for x in operands]
        left_count, right_count, _ = self.counts
        halves, each = self.rows // 8, self.each
        g, t = _LANE // 4, _LANE % 4
        count = registers[0].shape[0]
        wide = np.float64 if self.total.is_float else np.int64
        a, b = np.zeros((count, self.rows, self.terms), wide), np.zeros((count, 8, self.terms), wide)
        for r, x in enumerate(registers[:left_count]):
            rows, terms = g + 8 * (r % halves), each * t + 4 * each * (r // halves)
            a[:, rows[:, None], terms[:, None] + np.arange(each)] = unpacked(x, self.left)
        for r, x in enumerate(registers[left_count : left_count + right_count]):
            terms = each * t + 4 * each * r
            b[:, g[:, None], terms[:, None] + np.arange(each)] = unpacked(x, self.right)
        total = np.zeros((count, self.rows, 8), wide)
        for r, x in enumerate(registers[left_count + right_count :]):
            total[:, g + 8 * (r // 2), 2 * t + r % 2] = x
        for term in range(self.terms):
            total = total + a[:, :, None, term] * b[:, None, :, term]
        result = total.astype(self.total.dtype)
        if self.total.is_float:
            nan = np.array(NANS[self.total.name], f"u{self.total.size}").view(self.total.dtype)
            result[np.isnan(total)] = nan
        number = np.cumsum(is_first) - 1
        lane = warp.lane
        return tuple(result[number, lane // 4 + 8 * (r // 2), 2 * (lane % 4) + r % 2] for r in range(self.counts[2]))

    # -- LLVM IR -----------------------------------------------------------------------------------------------------

    def ir(self, b: IrBuilder, op: Instruction, warp: WarpValues, *operands: Value) -> tuple[Value, ...]:
        left_count, right_count, _ = self.counts
        halves = self.rows // 8
        g, t = b.lshr(warp.lane, 2), b.binary("and", warp.lane, b.int_(3, "i32"))
        is_float = self.total.is_float
        totals = [self._widened(b, x) for x in operands[left_count + right_count :]]

        def fetched(operand: int, line: Value, member: Value, type_: PtxType) -> list[Value]:
            """The elements in a register of the lane that holds a line's part `member`."""
            word = warp.fetch(operand, b.add(b.shl(line, 2), member))
            return [element(b, word, type_, n) for n in range(self.each)]

        for block in range(right_count):
            loop, totals = b.open_loop(b.int_(0, "i32"), b.int_(4, "i32"), carried=totals, name="terms")
            left = [fetched(block * halves + h, g, loop.index, self.left) for h in range(halves)]
            columns = [b.add(b.shl(t, 1), b.int_(n, "i32")) for n in range(2)]
            right = [fetched(left_count + block, column, loop.index, self.right) for column in columns]
            following = list(totals)
            for n in range(self.each):
                for r, total in enumerate(following):
                    x, y = left[r // 2][n], right[r % 2][n]
                    following[r] = b.fadd(total, b.fmul(x, y)) if is_float else b.add(total, b.mul(x, y))
            totals = b.close_loop(loop, following)
        if not is_float:
            return tuple(totals)
        return tuple(canonical(b, self.total, b.cast("fptrunc", x, self.total.ir), x) for x in totals)

    def _widened(self, b: IrBuilder, total: Value) -> Value:
        return b.cast("fpext", total, "double") if self.total.is_float else total


def unpacked(registers: Array, type_: PtxType) -> Array:
    """The elements of registers, along a further axis."""
    if type_.name == "tf32":
        registers = (registers & np.uint32(_TF32)).view(np.float32)
        return registers[..., None]
    return np.ascontiguousarray(registers)[..., None].view(F8.get(type_.name, type_.dtype))


def element(b: IrBuilder, word: Value, type_: PtxType, number: int) -> Value:
    """An element of a register as a double, or as an i32."""
    if type_.name == "f64":
        return word
    if type_.name == "tf32":
        return b.cast("fpext", b.bitcast(b.binary("and", word, b.int_(_TF32 - (1 << 32), "i32")), "float"), "double")
    bits = b.cast("trunc", b.lshr(word, number * type_.bits), f"i{type_.bits}")
    if type_.name in F8:
        return _octet(b, bits, type_.name)
    if not type_.is_float:
        return b.cast("sext" if type_.is_signed else "zext", bits, "i32")
    if type_.name == "bf16":
        return b.cast("fpext", b.bitcast(b.shl(b.cast("zext", bits, "i32"), 16), "float"), "double")
    return b.cast("fpext", b.bitcast(bits, "half"), "double")


def _octet(b: IrBuilder, bits: Value, name: str) -> Value:
    """A float of 8 bits as a double, by the half that has its fields."""
    if name == "e5m2":
        return b.cast("fpext", b.bitcast(b.shl(b.cast("zext", bits, "i16"), 8), "half"), "double")
    magnitude = b.binary("and", bits, b.int_(0x7F, "i8"))
    sign = b.shl(b.cast("zext", b.xor(bits, magnitude), "i16"), 8)
    half = b.bitcast(b.or_(sign, b.shl(b.cast("zext", magnitude, "i16"), 7)), "half")
    scaled = b.fmul(b.cast("fpext", half, "double"), b.float_(2.0**8, "double"))  # the exponents' biases are 8 apart
    return b.select(b.icmp("eq", magnitude, b.int_(0x7F, "i8")), b.float_(float("nan"), "double"), scaled)


def _define(rows: int, terms: int, left: str, right: str, total: str) -> None:
    shape = _Shape(rows, terms, TYPES[left], TYPES[right], TYPES[total])
    register = "f64" if left == "f64" else "b32"
    a, b, c = shape.counts
    define(
        f"mma.sync.aligned.m{rows}n8k{terms}.row.col.dtype={total}.atype={left}.btype={right}.ctype={total}"
        f" d*{c}:{total}, a*{a}:{register}, b*{b}:{register}, c*{c}:{total}",
        shape.numpy,
        shape.ir,
        Effect.WARP,
    )


for _terms, _types in ((8, ("f16", "bf16")), (16, ("f16", "bf16")), (4, ("tf32",)), (8, ("tf32",))):
    for _type in _types:
        _define(16, _terms, _type, _type, "f32")
for _left in F8:
    for _right in F8:
        _define(16, 32, _left, _right, "f32")
for _terms in (16, 32):
    for _left in ("s8", "u8"):
        for _right in ("s8", "u8"):
            _define(16, _terms, _left, _right, "s32")
_define(8, 4, "f64", "f64", "f64")
