"""The emulator: runs PTX without a GPU.

    memory = Memory(1 << 30)
    address = memory.allocate(1024)
    module = Module(ptx_text, engine="checked")
    counters = module.launch("kernel", grid=(4, 1, 1), block=(64, 1, 1), arguments=[address], memory=memory)

One reader makes kernels from PTX text. One table defines every instruction for both engines. The engine `checked` runs
threads in lockstep with numpy, raises `EmulatorFault` for errors of a kernel, and counts instructions and memory
accesses. The engine `fast` translates a kernel to LLVM IR and runs native code on the host's cores.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from xla_backend_gpu.emulator.counters import SECTOR_BYTES, Counters
from xla_backend_gpu.emulator.faults import EmulatorFault, FaultKind
from xla_backend_gpu.emulator.leaks import MemoryLeakWarning, warn_of_leaks
from xla_backend_gpu.emulator.memory import Memory

if TYPE_CHECKING:
    from xla_backend_gpu.emulator.launch import Access
    from xla_backend_gpu.emulator.module import KernelInfo, Module, Parameter

__all__ = [
    "SECTOR_BYTES",
    "Access",
    "Counters",
    "EmulatorFault",
    "FaultKind",
    "KernelInfo",
    "Memory",
    "MemoryLeakWarning",
    "Module",
    "Parameter",
    "warn_of_leaks",
]


def __getattr__(name: str) -> Any:
    """Loads the reader and the engines when the first module is made, so that a device opens without a compiler."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from xla_backend_gpu.emulator import module

    return getattr(module, name)
