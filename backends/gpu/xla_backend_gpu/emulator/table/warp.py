"""Instructions that the lanes of a warp execute together.

Their implementations take the warp as an argument after the instruction: numpy functions a `WarpArrays`, IR functions a
`WarpValues`. Both give the operands of other lanes, and say which lanes take part.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from xla_backend_gpu.emulator.ptx.program import Instruction
from xla_backend_gpu.emulator.table.definition import Effect, define
from xla_core.codegen.llvm import IrBuilder, Value

Array = npt.NDArray[Any]

LANES = 32


class WarpArrays(Protocol):
    """The warps of the threads that execute an instruction."""

    @property
    def lane(self) -> Array:
        """The lane of each thread."""

    @property
    def members(self) -> Array:
        """Has 32 booleans for each thread, which say which lanes of its warp take part."""

    def gather(self, values: Array) -> Array:
        """Returns, for each thread, the values of the 32 lanes of its warp."""

    def fetch(self, values: Array, source: Array) -> Array:
        """Returns, for each thread, the value of one lane of its warp. It is undefined if that takes no part."""


class WarpValues(Protocol):
    """A warp while the result of one lane is computed."""

    @property
    def lane(self) -> Value:
        """The number of the lane, an i32."""

    @property
    def members(self) -> Value:
        """An i32 that has the bits of the lanes that take part."""

    def fetch(self, operand: int, lane: Value) -> Value:
        """Returns the value of an operand in another lane."""


# -- shuffles ----------------------------------------------------------------------------------------------------------


def _shuffled(op: Instruction, warp: WarpArrays, x: Array, b: Array, c: Array, mask: Array) -> tuple[Array, Array]:
    lane = warp.lane.astype(np.int64)
    distance, clamp, segment = b.astype(np.int64) & 31, c.astype(np.int64) & 31, c.astype(np.int64) >> 8 & 31
    last = (lane & segment) | (clamp & ~segment)
    mode = op.modifiers["mode"]
    if mode == "up":
        source = lane - distance
    elif mode == "down":
        source = lane + distance
    elif mode == "bfly":
        source = lane ^ distance
    else:
        source = (lane & segment) | (distance & ~segment)
    within = source >= last if mode == "up" else source <= last
    source = np.where(within, source, lane)
    return warp.fetch(x, source), within


def _shuffled_ir(
    b: IrBuilder, op: Instruction, warp: WarpValues, x: Value, distance: Value, c: Value, mask: Value
) -> tuple[Value, Value]:
    low = b.int_(31, "i32")
    lane, mode = warp.lane, op.modifiers["mode"]
    distance, clamp = b.binary("and", distance, low), b.binary("and", c, low)
    segment = b.binary("and", b.lshr(c, 8), low)
    first = b.binary("and", lane, segment)
    last = b.or_(first, b.binary("and", clamp, b.not_(segment)))
    if mode == "up":
        source = b.sub(lane, distance)
    elif mode == "down":
        source = b.add(lane, distance)
    elif mode == "bfly":
        source = b.xor(lane, distance)
    else:
        source = b.or_(first, b.binary("and", distance, b.not_(segment)))
    within = b.icmp("sge" if mode == "up" else "sle", source, last)
    return warp.fetch(0, b.select(within, source, lane)), within


define("shfl.sync.mode=up/down/bfly/idx.b32 d|p?, a, b, c, mask:u32", _shuffled, _shuffled_ir, Effect.WARP)

# -- votes -------------------------------------------------------------------------------------------------------------

_WEIGHTS = np.uint32(1) << np.arange(LANES, dtype=np.uint32)


def _bits(lanes: Array) -> Array:
    """Returns an integer with a bit for each lane."""
    return np.asarray(np.sum(lanes * _WEIGHTS, axis=1, dtype=np.uint32))


def _ballot(op: Instruction, warp: WarpArrays, x: Array, mask: Array) -> Array:
    return _bits(warp.gather(x) & warp.members)


def _ballot_ir(b: IrBuilder, op: Instruction, warp: WarpValues, x: Value, mask: Value) -> Value:
    result = b.int_(0, "i32")
    for lane in range(LANES):
        result = b.or_(result, b.shl(b.cast("zext", warp.fetch(0, b.int_(lane, "i32")), "i32"), lane))
    return b.binary("and", result, warp.members)


def _vote(op: Instruction, warp: WarpArrays, x: Array, mask: Array) -> Array:
    values, members = warp.gather(x), warp.members
    every, some = (values | ~members).all(axis=1), (values & members).any(axis=1)
    return np.asarray({"all": every, "any": some, "uni": every | ~some}[op.modifiers["mode"]])


def _vote_ir(b: IrBuilder, op: Instruction, warp: WarpValues, x: Value, mask: Value) -> Value:
    ballot = _ballot_ir(b, op, warp, x, mask)
    every = b.icmp("eq", ballot, warp.members)
    none = b.icmp("eq", ballot, b.int_(0, "i32"))
    mode = op.modifiers["mode"]
    if mode == "all":
        return every
    return b.not_(none) if mode == "any" else b.or_(every, none)


define("vote.sync.mode=all/any/uni.pred p, a, mask:u32", _vote, _vote_ir, Effect.WARP)
define("vote.sync.ballot.b32 d, a:pred, mask:u32", _ballot, _ballot_ir, Effect.WARP)

# -- matches -----------------------------------------------------------------------------------------------------------


def _matching(op: Instruction, warp: WarpArrays, x: Array, mask: Array) -> Array:
    return _bits((warp.gather(x) == x[:, None]) & warp.members)


def _matching_ir(b: IrBuilder, op: Instruction, warp: WarpValues, x: Value, mask: Value) -> Value:
    result = b.int_(0, "i32")
    for lane in range(LANES):
        same = b.icmp("eq", warp.fetch(0, b.int_(lane, "i32")), x)
        result = b.or_(result, b.shl(b.cast("zext", same, "i32"), lane))
    return b.binary("and", result, warp.members)


def _all_matching(op: Instruction, warp: WarpArrays, x: Array, mask: Array) -> tuple[Array, Array]:
    found = _matching(op, warp, x, mask)
    same = found == _bits(warp.members)
    return np.where(same, found, np.uint32(0)), same


def _all_matching_ir(b: IrBuilder, op: Instruction, warp: WarpValues, x: Value, mask: Value) -> tuple[Value, Value]:
    found = _matching_ir(b, op, warp, x, mask)
    same = b.icmp("eq", found, warp.members)
    return b.select(same, found, b.int_(0, "i32")), same


define("match.any.sync.bits32 d:b32, a, mask:u32", _matching, _matching_ir, Effect.WARP)
define("match.all.sync.bits32 d:b32|p?, a, mask:u32", _all_matching, _all_matching_ir, Effect.WARP)

# -- reductions of integers --------------------------------------------------------------------------------------------

_REDUCTIONS: dict[str, tuple[Any, int, Callable[..., Value]]] = {
    # the ufunc, what lanes that take no part contribute (in bits of an s32), and the IR
    "add": (np.add, 0, lambda b, op, x, y: b.add(x, y)),
    "min": (np.minimum, -1, lambda b, op, x, y: b.intrinsic("smin" if op.type.is_signed else "umin", x, y)),
    "max": (np.maximum, 0, lambda b, op, x, y: b.intrinsic("smax" if op.type.is_signed else "umax", x, y)),
    "and": (np.bitwise_and, -1, lambda b, op, x, y: b.and_(x, y)),
    "or": (np.bitwise_or, 0, lambda b, op, x, y: b.or_(x, y)),
    "xor": (np.bitwise_xor, 0, lambda b, op, x, y: b.xor(x, y)),
}


def _neutral(op: Instruction) -> int:
    name = op.modifiers["operation"]
    if op.type.is_signed and name in ("min", "max"):
        return 0x7FFFFFFF if name == "min" else -0x80000000
    return _REDUCTIONS[name][1]


def _reduced(op: Instruction, warp: WarpArrays, x: Array, mask: Array) -> Array:
    ufunc = _REDUCTIONS[op.modifiers["operation"]][0]
    neutral = np.array(_neutral(op) & 0xFFFFFFFF, np.uint32).view(x.dtype)
    return np.asarray(ufunc.reduce(np.where(warp.members, warp.gather(x), neutral), axis=1, dtype=x.dtype))


def _reduced_ir(b: IrBuilder, op: Instruction, warp: WarpValues, x: Value, mask: Value) -> Value:
    combine = _REDUCTIONS[op.modifiers["operation"]][2]
    neutral = result = b.int_(_neutral(op), "i32")
    for lane in range(LANES):
        member = b.cast("trunc", b.lshr(warp.members, lane), "i1")
        result = combine(b, op, result, b.select(member, warp.fetch(0, b.int_(lane, "i32")), neutral))
    return result


define("redux.sync.operation=add/min/max.type=u32/s32 d, a, mask:u32", _reduced, _reduced_ir, Effect.WARP)
define("redux.sync.operation=and/or/xor.b32 d, a, mask:u32", _reduced, _reduced_ir, Effect.WARP)

# -- waiting -----------------------------------------------------------------------------------------------------------

define("bar.warp.sync mask:u32", lambda *_: None, lambda *_: None, Effect.WARP)
