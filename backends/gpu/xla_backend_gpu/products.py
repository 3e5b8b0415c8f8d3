"""Chooses between cuBLASLt and the backend's own kernels for each product of a program."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator

from xla_backend_gpu import __version__
from xla_backend_gpu.autotuning import seconds_of
from xla_backend_gpu.chips import Chip
from xla_backend_gpu.cublas.call import expanded
from xla_backend_gpu.cublas.rewriter import Candidate, CublasLtRewriter
from xla_backend_gpu.device import GpuExecutor
from xla_backend_gpu.driver import Driver
from xla_backend_gpu.executable import GpuExecutable
from xla_backend_gpu.program import Products
from xla_core.codegen.llvm import KernelChoice, TuningCache
from xla_core.errors import XlaError
from xla_core.hlo import HloInstruction, HloModule, Opcode, PrintOptions, Trait, extract_module
from xla_core.passes import HloPass, HloPassPipeline, create_pass
from xla_core.target import FusionCosts

LIBRARY = "library"
"""The form of the `KernelChoice` of a product that cuBLASLt computes faster."""

_GAIN = 0.5  # the share of an own kernel's arithmetic that the library is expected to save
_OTHER_DIMENSIONS = (Opcode.BITCAST, Opcode.RESHAPE)
_CALL = 0.1  # what a call costs the host, in launches of kernels


def rewriter(driver: Driver, chooses: Callable[[Candidate, HloInstruction], bool]) -> HloPass:
    """Returns the passes that replace products with calls of a device's library."""
    return HloPassPipeline("products", [CublasLtRewriter(driver.workspace, chooses), create_pass("hlo-dce")])


def always(candidate: Candidate, call: HloInstruction) -> bool:
    """Chooses the library for whatever it computes."""
    return True


def by_cost(costs: FusionCosts) -> Callable[[Candidate, HloInstruction], bool]:
    """Chooses the library where it saves more arithmetic than it costs.

    A kernel of our own also computes the product's operands, and what follows. Beside a call, that takes kernels and
    memory of its own.
    """

    def chooses(candidate: Candidate, call: HloInstruction) -> bool:
        apart = [o for o in (candidate.lhs, candidate.rhs) if _fuses(_source(o))]
        if any(map(_fuses, _readers(candidate.last))):
            apart.append(candidate.last)
        extra = sum(costs.kernel + costs.byte * value.shape.byte_size for value in apart)
        return _GAIN * candidate.matmul.multiplications > _CALL * costs.kernel + extra

    return chooses


def _fuses(instruction: HloInstruction) -> bool:
    """Whether a kernel of our own would compute an instruction together with a product."""
    return Trait.ELEMENTWISE in instruction.op.traits or Trait.INDEX_MAP in instruction.op.traits


def _source(value: HloInstruction) -> HloInstruction:
    """Returns what computes a value that has other dimensions."""
    while value.opcode in _OTHER_DIMENSIONS:
        value = value.operand(0)
    return value


def _readers(value: HloInstruction) -> Iterator[HloInstruction]:
    """Yields what reads a value, also with other dimensions."""
    for user in value.users:
        if user.opcode in _OTHER_DIMENSIONS:
            yield from _readers(user)
        else:
            yield user


class Measured:
    """Chooses what takes less time on the device, or what is estimated to on an emulated one.

    Args:
        executor: the device.
        chip: the chip that an emulated device stands for.
        compile: compiles a module with kernels of our own only, or with the library wherever it can.
        cache: a file that keeps what was found; "" for none.
    """

    def __init__(
        self, executor: GpuExecutor, chip: Chip, compile: Callable[[HloModule, Products], GpuExecutable], cache: str
    ) -> None:
        self._executor = executor
        self._chip = chip
        self._compile = compile
        self._cache = TuningCache(cache)

    def __call__(self, candidate: Candidate, call: HloInstruction) -> bool:
        key = self._key(call)
        known = self._cache.get(key)
        if known is None:
            known = KernelChoice(form=LIBRARY if self._is_faster(call) else "")
            self._cache.put(key, known)
        return known.form == LIBRARY

    def _key(self, call: HloInstruction) -> str:
        """Returns a digest of the product and of what times depend on. It does not depend on names."""
        library = self._executor.driver.blas
        module = extract_module(call, "product")
        for number, each in enumerate(module.entry.post_order()):
            each.name = f"i{number}"
        names = f"{self._executor.description.name}, {self._chip.name}"
        device = f"gpu {__version__}, {names}, cuBLASLt {library.version if library else 0}"
        return hashlib.sha256(f"{device}\n{module.to_text(PrintOptions(metadata=False))}".encode()).hexdigest()

    def _is_faster(self, call: HloInstruction) -> bool:
        """Whether the library takes less time than our own kernels. What can't be measured is not chosen."""
        own = HloModule(call.name)
        own.add_computation(expanded(call), entry=True)
        own.entry_layouts_fixed = True
        library = extract_module(call)
        try:
            theirs = self._seconds(library, "library")
        except XlaError:
            return False
        try:
            return theirs < self._seconds(own, "own")
        except XlaError:
            return True

    def _seconds(self, module: HloModule, by: Products) -> float:
        return seconds_of(self._executor, self._chip, self._compile(module, by).device_thunks())
