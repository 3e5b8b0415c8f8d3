"""Logic, shifts, bit fields and bytes."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from xla_backend_gpu.emulator.ptx.program import Instruction
from xla_backend_gpu.emulator.table.definition import define
from xla_backend_gpu.emulator.table.integers import binary, plain
from xla_core.codegen.llvm import IrBuilder, Value

Array = npt.NDArray[Any]

define("and.bitsp d, a, b", plain(np.bitwise_and), lambda b, op, x, y: b.and_(x, y))
define("or.bitsp d, a, b", plain(np.bitwise_or), lambda b, op, x, y: b.or_(x, y))
define("xor.bitsp d, a, b", plain(np.bitwise_xor), binary("xor"))
define("not.bitsp d, a", plain(np.invert), lambda b, op, x: b.not_(x))
define(
    "cnot.bits d, a",
    lambda op, x: (x == 0).astype(x.dtype),
    lambda b, op, x: b.cast("zext", b.icmp("eq", x, b.int_(0, x.type)), x.type),
)


def _table_rows(op: Instruction, table: int, ands: Callable[..., Any], ors: Callable[..., Any], inverses: Any) -> Any:
    """Evaluates a truth table of three inputs (lop3), as the or of the rows whose bit is set."""
    rows = []
    for row in range(8):
        if table >> row & 1:
            chosen = [pair[0] if row >> (2 - place) & 1 else pair[1] for place, pair in enumerate(inverses)]
            rows.append(ands(ands(chosen[0], chosen[1]), chosen[2]))
    result = rows[0] if rows else None
    for row_value in rows[1:]:
        result = ors(result, row_value)
    return result


def _lop3(op: Instruction, x: Array, y: Array, z: Array, table: Array) -> Array:
    pairs = [(v, ~v) for v in (x, y, z)]
    found = _table_rows(op, int(table[0]) & 0xFF, np.bitwise_and, np.bitwise_or, pairs)
    return np.zeros_like(x) if found is None else found


def _lop3_ir(b: IrBuilder, op: Instruction, x: Value, y: Value, z: Value, table: Value) -> Value:
    pairs = [(v, b.not_(v)) for v in (x, y, z)]
    found: Value | None = _table_rows(op, (table.integer or 0) & 0xFF, b.and_, b.or_, pairs)
    return found or b.int_(0, x.type)


define("lop3.b32 d, a, b, c, table:u32", _lop3, _lop3_ir)

# -- shifts: an amount of the width or more shifts everything out ------------------------------------------------------


def _shift(op: Instruction, x: Array, amount: Array, right: bool) -> Array:
    bits = op.type.bits
    within = np.minimum(amount, bits - 1).astype(x.dtype)
    shifted: Array = x >> within if right else x << within
    if right and op.type.is_signed:
        return shifted
    return np.where(amount >= bits, np.zeros((), x.dtype), shifted)


def _shift_ir(b: IrBuilder, op: Instruction, x: Value, amount: Value, right: bool) -> Value:
    bits = op.type.bits
    signed = right and op.type.is_signed
    constant = amount.integer
    if constant is not None and 0 <= constant < bits:
        return b.binary(("ashr" if signed else "lshr") if right else "shl", x, b.int_(constant, x.type))
    if signed:
        return b.binary("ashr", x, b.resize(_at_most(b, amount, bits - 1), x.type, signed=False))
    some = b.resize(b.binary("and", amount, b.int_(bits - 1, "i32")), x.type, signed=False)
    shifted = b.binary("lshr" if right else "shl", x, some)
    return b.select(b.icmp("ult", amount, b.int_(bits, "i32")), shifted, b.int_(0, x.type))


def _at_most(b: IrBuilder, x: Value, most: int) -> Value:
    """The smaller of two numbers, without `llvm.umin`, which LLVM's fast instruction selection doesn't have."""
    limit = b.int_(most, x.type)
    return b.select(b.icmp("ult", x, limit), x, limit)


define(
    "shl.bits d, a, b:u32", lambda op, x, n: _shift(op, x, n, False), lambda b, op, x, n: _shift_ir(b, op, x, n, False)
)
for _types in ("bits", "int"):
    define(
        f"shr.{_types} d, a, b:u32",
        lambda op, x, n: _shift(op, x, n, True),
        lambda b, op, x, n: _shift_ir(b, op, x, n, True),
    )


def _funnel(op: Instruction, low: Array, high: Array, amount: Array) -> Array:
    n = (amount & 31 if op.modifiers["mode"] == "wrap" else np.minimum(amount, 32)).astype(np.uint64)
    both = high.astype(np.uint64) << np.uint64(32) | low
    shifted = both << n >> np.uint64(32) if op.modifiers["direction"] == "l" else both >> n
    return np.asarray(shifted).astype(np.uint32)


def _funnel_ir(b: IrBuilder, op: Instruction, low: Value, high: Value, amount: Value) -> Value:
    left = op.modifiers["direction"] == "l"
    if op.modifiers["mode"] == "wrap":
        return b.intrinsic("fshl" if left else "fshr", high, low, amount)
    n = b.cast("zext", _at_most(b, amount, 32), "i64")
    both = b.or_(b.shl(b.cast("zext", high, "i64"), 32), b.cast("zext", low, "i64"))
    shifted = b.lshr(b.binary("shl", both, n), 32) if left else b.binary("lshr", both, n)
    return b.cast("trunc", shifted, "i32")


define("shf.direction=l/r.mode=wrap/clamp.b32 d, a, b, c:u32", _funnel, _funnel_ir)

# -- bit fields --------------------------------------------------------------------------------------------------------


def _extract(op: Instruction, x: Array, position: Array, length: Array) -> Array:
    """Shifts the field up to the highest bit, and down again. Positions and lengths are modulo 256."""
    bits = op.type.bits
    position, length = position & 255, length & 255
    end = np.minimum(position + length, bits)
    field = x << (bits - end).astype(x.dtype) if op.type.is_signed else _shift(op, x, position, True)
    if op.type.is_signed:
        field = field >> (bits - end).astype(x.dtype) >> np.minimum(position, bits - 1).astype(x.dtype)
    else:
        field = np.where(length >= bits, field, field & ((np.ones((), x.dtype) << np.minimum(length, bits - 1)) - 1))
    return np.where(length == 0, 0, field).astype(x.dtype)


def _low_byte(b: IrBuilder, x: Value) -> Value:
    constant = x.integer
    return b.binary("and", x, b.int_(255, x.type)) if constant is None else b.int_(constant & 255, x.type)


def _extract_ir(b: IrBuilder, op: Instruction, x: Value, position: Value, length: Value) -> Value:
    bits, type_ = op.type.bits, x.type
    position = _low_byte(b, position)
    length = _low_byte(b, length)
    if op.type.is_signed:
        end = _at_most(b, b.add(position, length), bits)
        up = b.resize(b.sub(b.int_(bits, "i32"), end), type_, signed=False)
        up = _at_most(b, up, bits - 1)
        down = b.resize(_at_most(b, position, bits - 1), type_, signed=False)
        field = b.binary("ashr", b.binary("ashr", b.binary("shl", x, up), up), down)
    else:
        field = _shift_ir(b, op, x, position, True)
        some = b.resize(_at_most(b, length, bits - 1), type_, signed=False)
        mask = b.sub(b.binary("shl", b.int_(1, type_), some), b.int_(1, type_))
        mask = b.select(b.icmp("ult", length, b.int_(bits, "i32")), mask, b.int_(-1, type_))
        field = b.binary("and", field, mask)
    return b.select(b.icmp("eq", length, b.int_(0, "i32")), b.int_(0, type_), field)


define("bfe.word d, a, b:u32, c:u32", _extract, _extract_ir)


def _insert(op: Instruction, x: Array, into: Array, position: Array, length: Array) -> Array:
    bits = op.type.bits
    position, length = position & 255, length & 255
    ones = np.where(length >= bits, ~np.zeros((), x.dtype), (np.ones((), x.dtype) << np.minimum(length, bits - 1)) - 1)
    mask = _shift(op, ones.astype(x.dtype), position, False)
    return (into & ~mask) | (_shift(op, x, position, False) & mask)


def _insert_ir(b: IrBuilder, op: Instruction, x: Value, into: Value, position: Value, length: Value) -> Value:
    bits, type_ = op.type.bits, x.type
    position = _low_byte(b, position)
    length = _low_byte(b, length)
    some = b.resize(_at_most(b, length, bits - 1), type_, signed=False)
    ones = b.sub(b.binary("shl", b.int_(1, type_), some), b.int_(1, type_))
    ones = b.select(b.icmp("ult", length, b.int_(bits, "i32")), ones, b.int_(-1, type_))
    mask = _shift_ir(b, op, ones, position, False)
    moved = b.binary("and", _shift_ir(b, op, x, position, False), mask)
    return b.or_(b.binary("and", into, b.not_(mask)), moved)


define("bfi.bits32 d, a, b, c:u32, e:u32", _insert, _insert_ir)

# -- counting and order ------------------------------------------------------------------------------------------------


def _leading_zeros(op: Instruction, x: Array) -> Array:
    """Counts leading zeros by the exponent of the value as a float. A 64-bit value is converted in halves, so that the
    conversion is exact.
    """
    bits = op.type.bits
    wide = x.astype(np.uint64)
    high, low = (wide >> np.uint64(32)).astype(np.float64), (wide & np.uint64(0xFFFFFFFF)).astype(np.float64)
    length = np.where(high > 0, np.frexp(high)[1] + 32, np.frexp(low)[1])
    return (bits - length).astype(np.uint32)


def _counted_ir(name: str, *more: Value) -> Callable[..., Value]:
    return lambda b, op, x: b.resize(b.intrinsic(name, x, *more, suffixes=(x.type,)), "i32", signed=False)


define("popc.bits32 d:u32, a", lambda op, x: np.bitwise_count(x).astype(np.uint32), _counted_ir("ctpop"))
define("clz.bits32 d:u32, a", _leading_zeros, _counted_ir("ctlz", Value("i1", "false")))


def _highest(op: Instruction, x: Array) -> Array:
    """Returns the position of the highest bit that differs from the sign, or all ones if there is none."""
    bits = op.type.bits
    unsigned = np.dtype(f"u{bits // 8}")
    magnitude = np.where(x < 0, ~x, x).view(unsigned) if op.type.is_signed else x
    zeros = _leading_zeros(op, magnitude)
    place = zeros if op.has("shiftamt") else np.uint32(bits - 1) - zeros
    return np.where(magnitude == 0, np.uint32(0xFFFFFFFF), place)


def _highest_ir(b: IrBuilder, op: Instruction, x: Value) -> Value:
    bits = op.type.bits
    if op.type.is_signed:
        x = b.xor(x, b.ashr(x, bits - 1))
    zeros = _counted_ir("ctlz", Value("i1", "false"))(b, op, x)
    place = zeros if op.has("shiftamt") else b.sub(b.int_(bits - 1, "i32"), zeros)
    return b.select(b.icmp("eq", x, b.int_(0, x.type)), b.int_(-1, "i32"), place)


define("bfind.shiftamt?.word d:u32, a", _highest, _highest_ir)


def _reversed(op: Instruction, x: Array) -> Array:
    octets = np.ascontiguousarray(x)[..., None].view(np.uint8)[..., ::-1]
    turned = np.packbits(np.unpackbits(octets[..., None], axis=-1, bitorder="little"), axis=-1, bitorder="big")
    return np.ascontiguousarray(turned[..., 0]).view(x.dtype)[..., 0]


define("brev.bits32 d, a", _reversed, lambda b, op, x: b.intrinsic("bitreverse", x))


def _permuted(op: Instruction, x: Array, y: Array, selector: Array) -> Array:
    both = y.astype(np.uint64) << np.uint64(32) | x
    result = np.zeros_like(both)
    for place in range(4):
        choice = (selector >> 4 * place).astype(np.uint64)
        octet = both >> ((choice & np.uint64(7)) * np.uint64(8)) & np.uint64(255)
        sign = np.where(octet >> np.uint64(7) == 1, np.uint64(255), np.uint64(0))
        octet = np.where(choice & np.uint64(8), sign, octet)
        result = result | octet << np.uint64(8 * place)
    return result.astype(np.uint32)


def _permuted_ir(b: IrBuilder, op: Instruction, x: Value, y: Value, selector: Value) -> Value:
    known = selector.integer
    if known is not None:
        octets = [_chosen_ir(b, y if known >> 4 * place & 4 else x, known >> 4 * place) for place in range(4)]
        return functools.reduce(b.or_, (b.shl(octet, 8 * place) for place, octet in enumerate(octets)))
    both = b.or_(b.shl(b.cast("zext", y, "i64"), 32), b.cast("zext", x, "i64"))
    chosen = b.cast("zext", selector, "i64")
    result = b.int_(0)
    for place in range(4):
        choice = b.lshr(chosen, 4 * place)
        amount = b.shl(b.binary("and", choice, b.int_(7)), 3)
        octet = b.cast("trunc", b.binary("lshr", both, amount), "i8")
        replicated = b.icmp("ne", b.binary("and", choice, b.int_(8)), b.int_(0))
        octet = b.select(replicated, b.ashr(octet, 7), octet)
        result = b.or_(result, b.shl(b.cast("zext", octet, "i64"), 8 * place))
    return b.cast("trunc", result, "i32")


def _chosen_ir(b: IrBuilder, word: Value, choice: int) -> Value:
    """The byte of a word that the selector's digit names, or eight copies of that byte's sign."""
    first = 8 * (choice & 3)
    octet = b.ashr(b.shl(word, 24 - first), 31) if choice & 8 else b.lshr(word, first)
    return b.binary("and", octet, b.int_(255, "i32"))


define("prmt.b32 d, a, b, c", _permuted, _permuted_ir)
