"""Module: the kernels of a PTX text, ready to run."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Literal

from xla_backend_gpu.emulator.checked import run_checked
from xla_backend_gpu.emulator.counters import Counters
from xla_backend_gpu.emulator.fast import FastLaunch
from xla_backend_gpu.emulator.launch import Access, Argument, GlobalVariables, check_shared_bytes, launch_of
from xla_backend_gpu.emulator.memory import Memory
from xla_backend_gpu.emulator.ptx.linker import link
from xla_backend_gpu.emulator.ptx.program import Kernel
from xla_backend_gpu.emulator.ptx.reader import read
from xla_backend_gpu.ptx import processor_of_ptx
from xla_core.errors import InvalidArgumentError, NotFoundError

_LIMITS = {"checked": 1 << 24, "fast": 1 << 32}
"""Instructions of a thread, unless a launch says otherwise."""


@dataclasses.dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a kernel: its name, its size in bytes, and its offset among the bytes of all arguments."""

    name: str
    size: int
    offset: int


@dataclasses.dataclass(frozen=True, slots=True)
class KernelInfo:
    """A kernel of a module.

    Attributes:
        reqntid: the threads of a block (x, y, z) that the kernel asks for, or None.
        shared_bytes: shared memory of a block, without its dynamic part.
        local_bytes: local memory of a thread.
        registers: the number of virtual registers; ptxas assigns fewer.
        instructions: the number of instructions after inlining.
        lines: the first and the last line of the kernel in the text.
    """

    name: str
    parameters: tuple[Parameter, ...]
    reqntid: tuple[int, int, int] | None
    shared_bytes: int
    local_bytes: int
    registers: int
    instructions: int
    lines: tuple[int, int]


class Module:
    """The kernels of a PTX text, run by one of two engines.

    Args:
        ptx_text: the text, from LLVM's NVPTX target or written by hand.
        engine: `checked` runs all threads in lockstep, finds faults and counts; `fast` runs native code.

    Raises:
        InvalidArgumentError: the text is not PTX that the emulator knows; the error has the line.
        UnimplementedError: a function calls itself.
    """

    def __init__(self, ptx_text: str, engine: Literal["checked", "fast"] = "checked") -> None:
        if engine not in _LIMITS:
            raise InvalidArgumentError(f"the emulator's engines are {' and '.join(_LIMITS)}, not {engine!r}")
        self.engine = engine
        self._kernels = _kernels(ptx_text)
        self._processor = processor_of_ptx(ptx_text)
        self._variables = GlobalVariables()
        self.kernels: Mapping[str, KernelInfo] = {name: _info(kernel) for name, kernel in self._kernels.items()}

    def check_shared_bytes(self, name: str, dynamic_shared: int) -> None:
        """Checks that a block may have the shared memory of a launch on the processor that the PTX is for.

        Raises:
            NotFoundError: the module has no such kernel.
            InvalidArgumentError: it may not.
        """
        check_shared_bytes(self._kernel(name), dynamic_shared, self._processor)

    def _kernel(self, name: str) -> Kernel:
        kernel = self._kernels.get(name)
        if kernel is None:
            raise NotFoundError(f"the module has no kernel {name}; it has {', '.join(self._kernels) or 'none'}")
        return kernel

    def launch(
        self,
        name: str,
        grid: Sequence[int],
        block: Sequence[int],
        arguments: Sequence[Argument],
        memory: Memory,
        dynamic_shared: int = 0,
        limit: int | None = None,
        observe: Callable[[Access], None] | None = None,
    ) -> Counters:
        """Runs a kernel to its end. See `ready` for the arguments and the errors.

        Raises:
            EmulatorFault: the kernel has an error.
        """
        return self.ready(name, grid, block, arguments, memory, dynamic_shared, limit, observe)()

    def ready(
        self,
        name: str,
        grid: Sequence[int],
        block: Sequence[int],
        arguments: Sequence[Argument],
        memory: Memory,
        dynamic_shared: int = 0,
        limit: int | None = None,
        observe: Callable[[Access], None] | None = None,
    ) -> Callable[[], Counters]:
        """Returns a function that runs a kernel to its end. It may be called again, and by several threads.

        If the engine is `fast`, the kernel is compiled here.

        Args:
            name: the name of the kernel.
            grid, block: up to three sizes each: the blocks of the grid, and the threads of a block.
            arguments: one for each parameter: an address or another integer, a float, a numpy scalar, or bytes.
            memory: the device's global memory.
            dynamic_shared: bytes of shared memory beyond those that the kernel declares.
            limit: how many instructions a thread may execute.
            observe: is called with each access of global memory. Only the checked engine can do that.

        Raises:
            NotFoundError: the module has no such kernel.
            InvalidArgumentError: the sizes or the arguments don't fit the kernel, or the engine can't be observed.
            UnimplementedError: the kernel has an instruction that the engine doesn't run.
        """
        if observe is not None and self.engine != "checked":
            raise InvalidArgumentError(f"engine={self.engine!r} can't be observed", hint='use engine="checked"')
        kernel = self._kernel(name)
        check_shared_bytes(kernel, dynamic_shared, self._processor)
        limit = limit or _LIMITS[self.engine]
        launch = launch_of(kernel, grid, block, arguments, memory, self._variables, dynamic_shared, limit, observe)
        if self.engine == "checked":
            return functools.partial(run_checked, launch)
        return FastLaunch(launch, self._kernels.values()).run


@functools.lru_cache(maxsize=256)
def _kernels(ptx_text: str) -> Mapping[str, Kernel]:
    functions = read(ptx_text)
    return {name: link(function, functions) for name, function in functions.items() if function.is_entry}


def _info(kernel: Kernel) -> KernelInfo:
    return KernelInfo(
        kernel.name,
        tuple(Parameter(p.name, p.size, p.address) for p in kernel.parameters),
        kernel.reqntid,
        kernel.shared_bytes,
        kernel.local_bytes,
        len(kernel.registers),
        len(kernel.instructions),
        kernel.lines,
    )
