"""Estimates of the time of a kernel on one core, in nanoseconds.

By them a caller runs a short program itself, and threads share a long kernel. The constants are measured on processors
with vectors of 32 and 64 bytes; an estimate is seldom off by more than a factor of three.
"""

from __future__ import annotations

import math

from xla_backend_cpu.codegen.processor import Processor
from xla_core.analysis import Cost
from xla_core.hlo import HloInstruction, Opcode, Trait, fused_instructions

_BYTES = 15.0  # that one nanosecond reads and writes
_BYTES_IN_LAST_CACHE = 30.0
_BYTES_IN_SECOND_CACHE = 40.0
_LAST_CACHE_SHARE = 0.25  # of the last cache, which several cores share and which holds other data too
_FUNCTION = 0.2  # of a lane, for each of the additions that take as long as a function (`OpDef.cost`)
_COMPARISON = 1.7  # of a sort, which compares and moves one element at a time
_COMPARISON_FLOP = 0.3
_FOURIER_FLOPS = 3.0  # of a lane of complex numbers: its two parts, and additions joined with multiplications
_SCAN_STEP = 0.45  # of an element that topk compares with the smallest of those that it keeps
_HEAP_STEP = 4.2  # of a level of topk's heap, for an element that is kept
_UNOPTIMIZED_STEP = 0.15  # of an operation, a load or a store that LLVM doesn't optimize, where others run beside it
_UNOPTIMIZED_CHAIN = 1.2  # of one that waits for the one before it


def memory_nanoseconds(size: float, processor: Processor) -> float:
    """Estimates the time in which one core reads and writes `size` bytes in total."""
    if size <= processor.cache.size_bytes:
        return size / _BYTES_IN_SECOND_CACHE
    is_cached = size <= _LAST_CACHE_SHARE * processor.last_cache_bytes
    return size / (_BYTES_IN_LAST_CACHE if is_cached else _BYTES)


def kernel_nanoseconds(instruction: HloInstruction, cost: Cost, processor: Processor) -> float:
    """Estimates the time of an instruction's kernel, unless it is a product or a routine of a library."""
    return max(_computing(instruction, cost, processor), memory_nanoseconds(cost.bytes_accessed, processor))


def unoptimized_nanoseconds(instruction: HloInstruction, cost: Cost, written: int, processor: Processor) -> float:
    """Estimates the time of an instruction's kernel whose code LLVM doesn't optimize; it writes `written` elements."""
    steps = cost.operations + max(cost.bytes_accessed / _widest(instruction), 2.0 * written)
    in_chains = not all(map(is_simple, fused_instructions(instruction)))
    least = steps * (_UNOPTIMIZED_CHAIN if in_chains else _UNOPTIMIZED_STEP)
    return max(least, kernel_nanoseconds(instruction, cost, processor))


def is_simple(instruction: HloInstruction) -> bool:
    """Whether each element of the result needs a few instructions of the processor that wait for no other element."""
    traits = instruction.op.traits
    return (
        instruction.opcode == Opcode.DYNAMIC_UPDATE_SLICE
        or Trait.NOP in traits
        or (Trait.ELEMENTWISE in traits and not instruction.op.calls)
        or Trait.INDEX_MAP in traits
    )


def _computing(instruction: HloInstruction, cost: Cost, processor: Processor) -> float:
    if instruction.opcode == Opcode.SORT:
        assert instruction.op.applications is not None
        comparisons: float = instruction.op.applications(instruction)
        return _COMPARISON * comparisons + _COMPARISON_FLOP * cost.flops
    if instruction.opcode == Opcode.TOPK:
        return _selecting(instruction)
    # Each lane computes one operation a nanosecond, with its loads.
    lanes = max(1.0, processor.register_bytes / _widest(instruction))
    computing = (cost.flops + _FUNCTION * cost.transcendental_flops) / lanes
    return computing / _FOURIER_FLOPS if instruction.opcode == Opcode.FFT else computing


def _selecting(instruction: HloInstruction) -> float:
    """Estimates the time of topk on rows in random order, of which the heap takes k (1 + ln(n / k)) elements."""
    *rows, length = instruction.operand(0).shape.dimensions
    kept: int = max(1, instruction.attribute("k"))
    taken = kept * (1 + math.log(max(1, length) / kept))
    return math.prod(rows) * (_SCAN_STEP * length + _HEAP_STEP * taken * max(1.0, math.log2(kept)))


def _widest(instruction: HloInstruction) -> int:
    """The bytes of the widest element that a kernel computes with. Narrow floats are widened to four bytes."""
    leaves = [leaf for value in (instruction, *instruction.operands) for leaf in value.shape.array_leaves()]
    return max(4, *(leaf.element_type.byte_width for leaf in leaves))
