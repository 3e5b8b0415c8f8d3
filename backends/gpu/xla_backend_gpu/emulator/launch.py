"""Launch: a kernel with everything that an engine needs to run it."""

from __future__ import annotations

import dataclasses
import math
import weakref
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from xla_backend_gpu.emulator.faults import EmulatorFault, FaultKind
from xla_backend_gpu.emulator.memory import Memory
from xla_backend_gpu.emulator.ptx.program import Instruction, Kernel, Symbol, Variable
from xla_backend_gpu.processors import DECLARED_SHARED_BYTES, shared_bytes
from xla_core.errors import InvalidArgumentError, ResourceExhaustedError

Argument = int | float | bytes | np.generic

_MOST_THREADS = 1024
Triple = tuple[int, int, int]


@dataclasses.dataclass(frozen=True, slots=True)
class Access:
    """One instruction by which threads use global memory at the same time.

    Attributes:
        line: the instruction's line in the PTX.
        store: whether it stores. An atomic does.
        size: how many bytes each thread uses.
        threads: the threads, numbered through the grid, block by block.
        addresses: the address that each of these threads uses.
    """

    line: int
    store: bool
    size: int
    threads: npt.NDArray[np.int64]
    addresses: npt.NDArray[np.uint64]


@dataclasses.dataclass(slots=True, eq=False)  # a frozen one takes three times as long to make
class Launch:
    """A launch of a kernel. Nothing changes it.

    Attributes:
        parameters: the bytes of the arguments.
        addresses: the addresses of variables in global and constant memory.
        shared_bytes: shared memory of a block, including its dynamic part.
        limit: how many instructions a thread may execute before it counts as endless.
        observe: is called with each access of global memory, by the checked engine.
    """

    kernel: Kernel
    grid: Triple
    block: Triple
    parameters: bytes
    memory: Memory
    addresses: Mapping[Variable, int]
    dynamic_shared: int
    limit: int
    observe: Callable[[Access], None] | None = None

    @property
    def threads(self) -> int:
        """The number of threads of a block."""
        return math.prod(self.block)

    @property
    def blocks(self) -> int:
        return math.prod(self.grid)

    @property
    def shared_bytes(self) -> int:
        return self.kernel.shared_bytes + self.dynamic_shared

    def address(self, symbol: Symbol) -> int:
        """Returns the address of a variable in its space."""
        variable = symbol.variable
        return self.addresses.get(variable, variable.address) + symbol.offset

    def place(self, thread: int) -> tuple[Triple, Triple]:
        """Returns the block and the thread of a number. Threads are numbered through the grid, block by block."""
        block, inner = divmod(thread, self.threads)
        return _unravel(block, self.grid), _unravel(inner, self.block)

    def fault(self, kind: FaultKind, detail: str, thread: int, instruction: Instruction | None = None) -> EmulatorFault:
        """Returns a fault of the thread with this number in the grid."""
        block, inner = self.place(thread)
        return EmulatorFault(
            kind,
            detail,
            kernel=self.kernel.name,
            line=instruction.line if instruction else 0,
            text=instruction.text if instruction else "",
            block=block,
            thread=inner,
            location=instruction.location if instruction else None,
        )


def _unravel(number: int, sizes: Triple) -> Triple:
    return number % sizes[0], number // sizes[0] % sizes[1], number // (sizes[0] * sizes[1])


class GlobalVariables:
    """The global variables of a module, in each memory in which it ran. They are freed together with the module."""

    def __init__(self) -> None:
        self._places: weakref.WeakKeyDictionary[Memory, dict[Variable, int]] = weakref.WeakKeyDictionary()

    def addresses(self, kernel: Kernel, memory: Memory) -> Mapping[Variable, int]:
        """Returns the addresses of the variables that a kernel uses. New variables are allocated and initialized."""
        if not kernel.globals:
            return {}
        places = self._places.setdefault(memory, {})
        for variable in kernel.globals:
            if variable in places:
                continue
            address = memory.allocate(variable.size, max(variable.align, 16), of_module=True)
            if address is None:
                raise ResourceExhaustedError(
                    f"there is no memory for {variable.name}, which has {variable.size} bytes; {kernel.name} uses it"
                )
            memory.write(address, (variable.data or b"").ljust(variable.size, b"\0"))
            weakref.finalize(self, memory.free, address)
            places[variable] = address
        return places


def launch_of(
    kernel: Kernel,
    grid: Sequence[int],
    block: Sequence[int],
    arguments: Sequence[Argument],
    memory: Memory,
    variables: GlobalVariables,
    dynamic_shared: int,
    limit: int,
    observe: Callable[[Access], None] | None = None,
) -> Launch:
    """Checks a launch, but for its shared memory, as a driver does, and packs its arguments."""
    g, b = _triple("grid", grid), _triple("block", block)
    threads = math.prod(b)
    if threads > _MOST_THREADS or b[2] > 64:
        raise InvalidArgumentError(f"a block has {_MOST_THREADS} threads at most, 64 in z; not {b}", op=kernel.name)
    if kernel.reqntid not in (None, b):
        raise InvalidArgumentError(f"{kernel.name} needs blocks of {kernel.reqntid} threads, not {b}", op=kernel.name)
    if kernel.maxntid is not None and threads > math.prod(kernel.maxntid):
        raise InvalidArgumentError(f"{kernel.name} takes blocks of {kernel.maxntid} at most, not {b}", op=kernel.name)
    if len(arguments) != len(kernel.parameters):
        raise InvalidArgumentError(
            f"{kernel.name} takes {len(kernel.parameters)} arguments, not {len(arguments)}", op=kernel.name
        )
    packed = bytearray(kernel.parameter_bytes)
    for parameter, argument in zip(kernel.parameters, arguments, strict=True):
        data = _packed(argument, parameter)
        packed[parameter.address : parameter.address + parameter.size] = data
    return Launch(
        kernel, g, b, bytes(packed), memory, variables.addresses(kernel, memory), dynamic_shared, limit, observe
    )


def check_shared_bytes(kernel: Kernel, dynamic_shared: int, processor: str) -> None:
    """Checks a launch's shared memory as the driver of a processor does."""
    if kernel.shared_bytes > DECLARED_SHARED_BYTES:
        raise InvalidArgumentError(
            f"{kernel.name} declares {kernel.shared_bytes} bytes of shared memory, more than {DECLARED_SHARED_BYTES}",
            op=kernel.name,
            hint="declare less, or an extern array whose size the launch gives",
        )
    needed, most = kernel.shared_bytes + dynamic_shared, shared_bytes(processor)
    if dynamic_shared < 0 or needed > most:
        raise InvalidArgumentError(
            f"{kernel.name} needs {needed} bytes of shared memory; a block has {most} at most on {processor}",
            op=kernel.name,
        )


def _triple(what: str, sizes: Sequence[int]) -> Triple:
    x, y, z = (*map(int, sizes), 1, 1)[:3]
    if len(sizes) > 3 or min(x, y, z) < 1 or x >= 1 << 31 or max(y, z) >= 1 << 16:
        raise InvalidArgumentError(f"a {what} needs three sizes from 1 to 2^31 - 1, 2^16 - 1 and 2^16 - 1, not {sizes}")
    return x, y, z


def _packed(argument: Argument, parameter: Variable) -> bytes:
    if isinstance(argument, float):
        argument = np.float64(argument) if parameter.size == 8 else np.float32(argument)
    if isinstance(argument, np.generic):
        argument = argument.tobytes()
    if isinstance(argument, int):
        argument = (argument & (1 << 8 * parameter.size) - 1).to_bytes(parameter.size, "little")
    if len(argument) != parameter.size:
        raise InvalidArgumentError(f"{parameter.name} has {parameter.size} bytes; the argument has {len(argument)}")
    return argument
