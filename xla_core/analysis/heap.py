"""Packs blocks of memory with known live ranges into one arena (XLA: GlobalDecreasingSizeBestFitHeap)."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

import numpy as np

from xla_core.analysis.hlo_value import Segment
from xla_core.sizes import round_up

_TRY_BOTH_BELOW = 2000


@dataclasses.dataclass(frozen=True, slots=True)
class HeapBlock:
    """A block of `size` bytes that is alive during `segments`, whose ends are inclusive."""

    size: int
    segments: tuple[Segment, ...]


def padded(size: int, alignment: int) -> int:
    """The least multiple of `alignment` that is at least `size`."""
    return round_up(size, alignment)


def pack(blocks: Sequence[HeapBlock], alignment: int = 1) -> tuple[list[int], int]:
    """Returns the offset of each block, a multiple of `alignment`, and the size of the arena, in bytes.

    Blocks that are alive at the same time don't overlap. Blocks are placed in order of decreasing size, each into the
    smallest gap that holds it. Where there are few blocks, the order of decreasing live range is tried too, and the
    smaller arena is taken.
    """

    def by_size(i: int) -> tuple[int, int, int]:
        return (-blocks[i].size, blocks[i].segments[0][0], i)

    def by_lifetime(i: int) -> tuple[int, int, int]:
        return (blocks[i].segments[0][0] - blocks[i].segments[-1][1], -blocks[i].size, i)

    orders: list[Callable[[int], tuple[int, int, int]]] = [by_size]
    if len(blocks) < _TRY_BOTH_BELOW:
        orders.append(by_lifetime)
    placements = [_place(blocks, sorted(range(len(blocks)), key=order), alignment) for order in orders]
    return min(placements, key=lambda placement: placement[1])


def peak_bytes(blocks: Sequence[HeapBlock], alignment: int = 1) -> int:
    """The most bytes that are alive at one time, with sizes rounded up to `alignment`: a lower bound of the arena."""
    events: dict[int, int] = {}
    for block in blocks:
        size = padded(block.size, alignment)
        for start, end in block.segments:
            events[start] = events.get(start, 0) + size
            events[end + 1] = events.get(end + 1, 0) - size
    peak = now = 0
    for time in sorted(events):
        now += events[time]
        peak = max(peak, now)
    return peak


def _place(blocks: Sequence[HeapBlock], order: Sequence[int], alignment: int) -> tuple[list[int], int]:
    offsets = [0] * len(blocks)
    capacity = sum(len(b.segments) for b in blocks)
    starts, ends = np.zeros(capacity, np.int64), np.zeros(capacity, np.int64)
    lows, highs = np.zeros(capacity, np.int64), np.zeros(capacity, np.int64)
    used = total = 0
    for i in order:
        block = blocks[i]
        size = padded(block.size, alignment)
        busy = np.zeros(used, np.bool_)
        for start, end in block.segments:
            busy |= (starts[:used] <= end) & (ends[:used] >= start)
        offset = _best_fit(lows[:used][busy], highs[:used][busy], size)
        offsets[i] = offset
        total = max(total, offset + size)
        for start, end in block.segments:
            starts[used], ends[used], lows[used], highs[used] = start, end, offset, offset + size
            used += 1
    return offsets, total


def _best_fit(lows: np.ndarray, highs: np.ndarray, size: int) -> int:
    """The start of the smallest gap of at least `size` bytes between occupied ranges, else the end of the last."""
    if not len(lows):
        return 0
    by_offset = np.argsort(lows, kind="stable")
    reached = np.maximum.accumulate(highs[by_offset])
    gap_starts = np.concatenate(([0], reached[:-1]))
    gaps = lows[by_offset] - gap_starts
    fits = np.flatnonzero(gaps >= size)
    if not len(fits):
        return int(reached[-1])
    return int(gap_starts[fits[np.argmin(gaps[fits])]])
