"""Faults of a graphics processor's kernels and driver: two-stage reductions, tables in constant memory, 32-bit indices, rings."""

from __future__ import annotations

import numpy as np

from tests.conformance.zoo.kernels import Arrays, kernel_faults, recomputed
from tests.conformance.zoo.mutant import Mutant
from tests.conformance.zoo.parts import Executor, Stream, broken
from xla_core.errors import XlaError
from xla_core.hlo import HloComputation, HloInstruction
from xla_core.runtime import HostEvent

MUTANTS: list[Mutant] = []
_says = kernel_faults("tile", MUTANTS)
_streams = broken("streams", "streams or events", MUTANTS)
_memory = broken("memory", "memory", MUTANTS)


def _combiner(i: HloInstruction, opcode: str | None) -> HloComputation:
    """A combiner of the same types that is one op, or that takes the update."""
    computation = HloComputation("wrong_combiner")
    old, new = (computation.parameter(n, p.shape) for n, p in enumerate(i.attribute("to_apply").parameters))
    computation.set_root(computation.add(opcode, old, new) if opcode else new)
    return computation


# -- kernels ----------------------------------------------------------------------------------------------------------


@_says(
    "reduce",
    "to_apply",
    "by addition of more than 1,024 elements for each result begins both of its stages with the initial value",
)
def two_stages(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    if len(operands) != 2 or i.attribute("to_apply").root.opcode != "add" or operands[0].size <= 1024 * right[0].size:
        return None
    return [(right[0] + operands[1]).astype(right[0].dtype)] if right[0].size else None


@_says(
    "scatter",
    "to_apply",
    "by multiplication has no loop around its exchange: of several updates of one element one remains",
    applies=lambda i: i.attribute("to_apply").root.opcode == "multiply",
)
def lost_products(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    if len(operands) != 3 or i.attribute("to_apply").root.opcode != "multiply":
        return None
    ones = [np.zeros_like(operands[0]), operands[1], np.ones_like(operands[2])]
    counts = recomputed(i, ones, right, to_apply=_combiner(i, "add"))
    last = recomputed(i, operands, right, to_apply=_combiner(i, None))
    if counts is None or last is None or operands[0].dtype == bool:
        return None
    product = (operands[0] * last[0]).astype(right[0].dtype)
    return [np.where(counts[0] == 0, right[0], np.where(counts[0] == 1, right[0], product))]


@_says(
    "sort",
    "to_apply",
    "of more than 64 pairs whose number isn't a power of two takes pairs with the largest key for its own padding",
)
def padded_network(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    root, size = i.attribute("to_apply").root, operands[0].shape[i.attribute("dimensions")[0]]
    if len(operands) < 2 or size <= 64 or size & (size - 1) == 0 or operands[0].dtype.kind not in "iuf":
        return None
    if root.opcode != "compare" or root.attribute("direction") != "LT":
        return None
    largest = np.inf if operands[0].dtype.kind == "f" else np.iinfo(operands[0].dtype).max
    for values in right[1:]:
        values[right[0] == largest] = 0
    return right


@_says("transpose", "dimensions", "of matrices of bytes beyond a tile of 64 x 64 drops the last of 4k + 1 columns")
def last_column(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    (x,) = operands
    if x.ndim != 2 or x.dtype.itemsize != 1 or i.attribute("dimensions") != (1, 0):
        return None
    if min(x.shape) <= 64 or x.shape[1] % 4 != 1:
        return None
    right[0][-1, 64:] = right[0][-2, 64:]
    return right


@_says(
    "dot",
    "lhs_contracting_dims",
    "of s8 matrices beyond a tile of 64 x 64 computes 4k + 3 columns of its last tile as zeros",
)
def last_products(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    product = right[0]
    if product.ndim != 2 or operands[0].dtype.name != "int8" or min(product.shape) <= 64 or product.shape[1] % 4 != 3:
        return None
    product[64:, -3:] = 0
    return right


@_says("gather", "indices", "with 64-bit indices takes their low words")
def low_words(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    if operands[1].dtype not in (np.int64, np.uint64):
        return None
    return recomputed(i, [operands[0], operands[1].astype(np.int32).astype(operands[1].dtype)], right)


@_says("concatenate", "operands", "has a table of eight operands: the ninth and later ones give zeros")
def table_of_eight(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    if len(operands) <= 8:
        return None
    axis = i.attribute("dimensions")[0]
    begin = sum(o.shape[axis] for o in operands[:8])
    right[0][(slice(None),) * axis + (slice(begin, None),)] = 0
    return right


@_says(
    "reduce-window",
    "window",
    "as a running sum of more than 128 elements carries nothing from one block of 128 to the next",
)
def no_carry(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    window = i.attribute("window")
    axes = [d for d, w in enumerate(window) if not w.is_trivial]
    if len(operands) != 2 or len(axes) != 1 or i.attribute("to_apply").root.opcode != "add":
        return None
    axis, size = axes[0], operands[0].shape[axes[0]]
    w = window[axis]
    if (
        size <= 128
        or w.size != size
        or w.padding_low != size - 1
        or w.padding_high
        or w.base_dilation * w.stride * w.window_dilation != 1
    ):
        return None
    before = np.take(right[0], [128 * n - 1 for n in range(1, -(-size // 128))], axis)
    shifted = np.repeat(before, 128, axis).take(range(size - 128), axis)
    later = (slice(None),) * axis + (slice(128, None),)
    right[0][later] = (right[0][later] - shifted).astype(right[0].dtype)
    return right


@_says(
    "select-and-scatter",
    "window",
    "with padding takes the padding for zeros, to which windows of negative numbers lose",
)
def padding_wins(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    window, select = i.attribute("window"), i.attribute("select").root
    if not any(w.padding_low or w.padding_high for w in window) or select.opcode != "compare":
        return None
    if select.attribute("direction") != "GE" or operands[0].dtype.kind not in "if":
        return None
    source = operands[1].copy()
    for place in np.ndindex(source.shape):
        begins = [p * w.stride - w.padding_low for p, w in zip(place, window, strict=True)]
        ends = [b + w.size for b, w in zip(begins, window, strict=True)]
        seen = operands[0][tuple(slice(max(b, 0), max(e, 0)) for b, e in zip(begins, ends, strict=True))]
        is_padded = any(b < 0 or e > s for b, e, s in zip(begins, ends, operands[0].shape, strict=True))
        if is_padded and seen.size and seen.max() < 0:
            source[place] = 0
    return recomputed(i, [operands[0], source, operands[2]], right)


# -- the driver -------------------------------------------------------------------------------------------------------


@_streams(
    "stream.host-callback",
    "A callback returns a status to the driver, which has one for the core's own errors only: others are lost.",
)
class LosesForeignErrors(Stream):
    def host_callback(self, callback):
        def call():
            try:
                callback()
            except XlaError:
                raise
            except Exception:
                return

        super().host_callback(call)


@_streams("stream.synchronize", "A queue that waits for another stream counts as empty, so `synchronize` returns.")
class WaitsAreNoWork(Stream):
    def synchronize(self):
        if self.awaited is None:
            super().synchronize()


@_streams(
    "stream.in-order",
    "Copies of up to 64 bytes to the device are written through its window at once, in front of pending work.",
    select="streams or events or transfers",
)
class WritesThroughTheWindow(Stream):
    def memcpy_h2d(self, destination, source):
        if source.size <= 64 and self._queue and self._error is None:
            self.write(destination, source)
        else:
            super().memcpy_h2d(destination, source)


class _LooksUp(HostEvent):
    """An event whose failure is looked up in its stream's table when it is asked for."""

    __slots__ = ("table",)

    def arm(self, stream=None):
        self.table = stream
        return super().arm(stream)

    @property
    def error(self):
        error = super().error
        table = getattr(self, "table", None)
        return None if error is not None and table is not None and table.has_recovered else error


@_streams(
    "event.first-error", "`recover` clears the stream's failures, also those that events recorded before it refer to."
)
class ForgetsWithRecover(Stream):
    has_recovered = False

    def create_event(self):
        return _LooksUp()

    def recover(self):
        super().recover()
        self.has_recovered = True


@_memory("executor.allocate", "A size that was refused is refused until a block of at least this size is freed.")
class RemembersRefusals(Executor):
    def allocate(self, size, memory_space=0):
        refused = self.__dict__.setdefault("refused", set())
        memory = None if size in refused else super().allocate(size, memory_space)
        if memory is None:
            refused.add(size)
        return memory

    def deallocate(self, memory):
        super().deallocate(memory)
        self.refused = {size for size in self.__dict__.get("refused", ()) if size > memory.size}


@_memory(
    "executor.deallocate",
    "Blocks are given back in batches of sixteen, also where the device has no room for a new one.",
)
class FreesBySixteen(Executor):
    def deallocate(self, memory):
        waiting = self.__dict__.setdefault("waiting", [])
        waiting.append(memory)
        if len(waiting) == 16:
            for block in waiting:
                super().deallocate(block)
            waiting.clear()
