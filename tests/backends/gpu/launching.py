"""Compiles single kernels to PTX and runs them on the emulator."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
from xla_backend_gpu.abi import PtxAbi
from xla_backend_gpu.emulator import Counters, Memory, Module
from xla_backend_gpu.ptxas import assemble, find_ptxas

from xla_core.codegen.llvm import EmittedKernel, KernelEmitter, compile_ir
from xla_core.hlo import HloInstruction


@dataclasses.dataclass(frozen=True)
class Compiled:
    """A kernel, its PTX, its grid, and the shared memory that a launch asks for."""

    kernel: EmittedKernel
    ptx: str
    blocks: int
    threads: int
    shared_bytes: int = 0

    def __call__(self, *arguments: np.ndarray, engine: str = "fast") -> tuple[list[np.ndarray], Counters]:
        """Runs the kernel; returns the results, which are row-major, and what was counted."""
        memory = Memory(1 << 26)
        addresses, results = [], []
        given = iter(arguments)
        for parameter in self.kernel.parameters:
            address = memory.allocate(max(1, parameter.shape.byte_size))
            assert address is not None
            addresses.append(address)
            if parameter.is_result:
                results.append((address, parameter.shape))
                continue
            order = list(reversed(parameter.shape.minor_to_major()))
            memory.write(address, np.ascontiguousarray(np.transpose(next(given), order)))
        module = Module(self.ptx, engine=engine)
        grid, block = (self.blocks,), (self.threads,)
        counters = module.launch(self.kernel.name, grid, block, addresses, memory, self.shared_bytes)
        return [_array(memory.read(address, shape.byte_size), shape) for address, shape in results], counters


def _array(data: bytes, shape) -> np.ndarray:
    order = list(reversed(shape.minor_to_major()))
    physical = np.frombuffer(data, shape.dtype).reshape([shape.dimensions[d] for d in order])
    return physical.transpose(np.argsort(order)) if order else physical


def compile_kernel(instruction: HloInstruction, processor: str = "sm_90") -> Compiled:
    """Compiles a fusion or an instruction. ptxas, where there is one, accepts the PTX."""
    abi = PtxAbi(processor)
    emitter = KernelEmitter(abi)
    kernel = emitter.emit(instruction, "kernel")
    ptx = compile_ir(emitter.module.to_text(), abi, what="kernel", features=emitter.module.features).assembly()
    blocks, needs = abi.blocks(kernel.partition_count, kernel.threads), kernel.resources
    return Compiled(kernel, ptx, blocks, needs.block_threads, needs.launch_shared_bytes)


def assembled(compiled: Compiled, processor: str = "sm_90") -> str:
    """Returns what ptxas says of the kernel: its registers, its spills."""
    return assemble(compiled.ptx, processor) if find_ptxas() is not None else ""


def evaluated(instruction: HloInstruction, arguments: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Returns the results of a fusion by the reference evaluator."""
    from xla_core.hlo.evaluator import evaluate_computation

    return [np.asarray(r) for r in evaluate_computation(instruction.attribute("calls"), list(arguments))]
