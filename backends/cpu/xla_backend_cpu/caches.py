"""The caches of a processor: those that Linux reports of the host, or the usual ones of a processor by its name."""

from __future__ import annotations

import functools
import os
import pathlib

from xla_backend_cpu.host import host_cpu
from xla_core.target import CacheLevel

_SYSTEM = pathlib.Path("/sys/devices/system/cpu")
_USUAL = (32, 8, 1024, 16)
_BY_NAME = (  # KiB and ways of the first level's data cache, and of the second level
    (("sapphirerapids", "emeraldrapids", "graniterapids"), (48, 12, 2048, 16)),
    (("icelake-server",), (48, 12, 1280, 20)),
    (("skylake-avx512", "cascadelake", "cooperlake", "znver4", "znver5"), _USUAL),
    (("haswell", "broadwell", "skylake", "ivybridge", "sandybridge", "nehalem"), (32, 8, 256, 8)),
    (("znver1", "znver2", "znver3"), (32, 8, 512, 8)),
    (("neoverse-n1", "neoverse-v1", "neoverse-v2"), (64, 4, 1024, 8)),
    (("apple",), (128, 8, 4096, 16)),
)


def processor_caches(cpu: str) -> tuple[CacheLevel, ...]:
    """The levels of data cache, at least the first two, of a processor. `cpu` is LLVM's name of it."""
    return (cpu == host_cpu() and _host_caches()) or usual_caches(cpu)


def usual_caches(cpu: str) -> tuple[CacheLevel, ...]:
    """The first two levels of data cache of most processors of this name."""
    usual = next((figures for names, figures in _BY_NAME if cpu.startswith(names)), _USUAL)
    first, first_ways, second, second_ways = usual
    return (
        CacheLevel(size_bytes=first << 10, ways=first_ways),
        CacheLevel(size_bytes=second << 10, ways=second_ways),
    )


@functools.cache
def _host_caches() -> tuple[CacheLevel, ...]:
    """The levels of data cache that Linux reports, or none. The cores of a processor are taken to be alike."""
    number = min(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 0
    levels: dict[int, CacheLevel] = {}
    for folder in sorted(_SYSTEM.glob(f"cpu{number}/cache/index*")):
        try:
            if (folder / "type").read_text().strip() == "Instruction":
                continue
            level, line, ways, sets = (
                int((folder / name).read_text())
                for name in ("level", "coherency_line_size", "ways_of_associativity", "number_of_sets")
            )
            cores = len(_cores((folder / "shared_cpu_list").read_text()))
        except (OSError, ValueError):  # the firmware doesn't say, as on some ARM machines
            return ()
        if line * ways * sets > 0:
            levels[level] = CacheLevel(size_bytes=line * ways * sets, line_bytes=line, cores=cores, ways=ways)
    return tuple(levels[level] for level in sorted(levels)) if {1, 2} <= levels.keys() else ()


def _cores(text: str) -> set[int]:
    """The numbers in a list of ranges such as "0-3,8"."""
    numbers: set[int] = set()
    for part in text.strip().split(","):
        first, _, last = part.partition("-")
        numbers |= set(range(int(first), int(last or first) + 1))
    return numbers
