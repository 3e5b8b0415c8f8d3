"""Estimates times on a chip, for what an emulated device can't measure."""

from __future__ import annotations

from xla_backend_gpu.chips import Chip
from xla_backend_gpu.cublas.matmul import Matmul
from xla_backend_gpu.emulator import SECTOR_BYTES, Counters

_ISSUED = 4  # instructions of warps that a multiprocessor issues in a cycle
_LATENCY = 4  # cycles until a thread's next instruction
_CACHE_BYTES = 30  # that the cache moves in a cycle of a multiprocessor, for each of them
_LAUNCH_SECONDS = 2e-6
_REACHED = 0.7  # of the peak, by the library


def estimated_seconds(counters: Counters, chip: Chip) -> float:
    """Estimates the time on a chip from the counts of an emulated device.

    The slowest of these decides: the memory, the cache, the multiprocessors that have blocks, and the longest chain of
    a thread's instructions. Each launch adds to it.
    """
    busy = max(1, min(chip.multiprocessors, counters.blocks // max(counters.launches, 1))) * chip.clock_hz
    shared = counters.shared_accesses + counters.shared_bank_conflicts
    slowest: float = max(
        SECTOR_BYTES * counters.touched_sectors / chip.memory_bandwidth,
        SECTOR_BYTES * counters.global_sectors / (_CACHE_BYTES * chip.cycles),
        (counters.warp_instructions / _ISSUED + counters.local_bytes / SECTOR_BYTES) / busy,
        shared / busy,
        _LATENCY * counters.instructions / max(counters.threads, 1) / chip.clock_hz,
    )
    return counters.launches * _LAUNCH_SECONDS + slowest


def estimated_seconds_of_library(matmul: Matmul, chip: Chip) -> float:
    """Estimates the time of a product by cuBLASLt."""
    matrices = (matmul.a, matmul.b, matmul.d, *([matmul.c] if matmul.c is not None else []))
    moved = sum(matrix.byte_size(matmul.batch) for matrix in matrices)
    peak = chip.product_operations(matmul.config.compute_type, matmul.a.element_type.byte_width)
    return _LAUNCH_SECONDS + max(moved / chip.memory_bandwidth, 2 * matmul.multiplications / (peak * _REACHED))
