"""Kernels for blocks of threads, on threads of this process."""

from __future__ import annotations

import ctypes
import threading
from collections import Counter
from collections.abc import Callable, Collection

from tests.xla_core.codegen.llvm.kernels import Loaded, host_abi
from xla_core.codegen.llvm import EmittedKernel, IrBuilder, LoopAbi, Value
from xla_core.codegen.llvm.ir.types import type_bits
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.target import ParallelModel


class ThreadsAbi(LoopAbi):
    """Blocks are threads of the process. Shared arrays are variables that every thread of the process sees.

    Attributes:
        arrays: the shared arrays.
        used_bytes: the bytes of the shared arrays of each function.
    """

    def __init__(
        self, threads: int, lanes: int = 1, registers: int = 32, vector_bytes: int = 16, shared_bytes: int = 16 << 10
    ) -> None:
        host = host_abi()
        model = ParallelModel(
            threads=threads, lanes=lanes, registers=registers, vector_bytes=vector_bytes, shared_bytes=shared_bytes
        )
        super().__init__(host.triple, host.cpu, host.features, parallel=model)
        self._thread = threading.local()
        self._words: dict[int, int] = {}
        self._callbacks = [
            ctypes.CFUNCTYPE(ctypes.c_int64)(lambda: self._thread.index),
            ctypes.CFUNCTYPE(None)(lambda: self._barrier.wait() and None),
            ctypes.CFUNCTYPE(ctypes.c_uint32, ctypes.c_uint32, ctypes.c_uint32)(self._exchanged),
        ]
        self.arrays: list[str] = []
        self.used_bytes: Counter[str] = Counter()

    def _exchanged(self, word: int, distance: int) -> int:
        self._words[self._thread.index] = word
        self._barrier.wait()
        found = self._words[self._thread.index ^ distance]
        self._barrier.wait()
        return found

    def _address(self, number: int) -> str:
        return f"inttoptr (i64 {ctypes.cast(self._callbacks[number], ctypes.c_void_p).value} to ptr)"

    def thread_index(self, builder: IrBuilder) -> Value:
        return builder.emit("i64", f"call i64 {self._address(0)}()")

    def barrier(self, builder: IrBuilder) -> None:
        builder.line(f"call void {self._address(1)}()")

    def exchange(self, builder: IrBuilder, word: Value, distance: int) -> Value:
        return builder.emit("i32", f"call i32 {self._address(2)}({word}, i32 {distance})")

    def shared_array(self, builder: IrBuilder, type_: str, count: int, *, align: int = 16) -> Value:
        self.used_bytes[builder.function.name] += count * type_bits(type_) // 8
        assert self.used_bytes[builder.function.name] <= self.parallel.shared_bytes
        name = builder.module.symbol("shared")
        self.arrays.append(
            builder.module.add_global(name, f"global [{count} x {type_}] zeroinitializer, align {align}")
        )
        return Value("ptr", f"@{name}")

    def run_block(self, count: int, work: Callable[[int], None]) -> None:
        """Runs a function of a thread's index on all threads of a block."""
        self._barrier = threading.Barrier(count, timeout=60)

        def one(index: int) -> None:
            self._thread.index = index
            work(index)

        threads = [threading.Thread(target=one, args=(n,)) for n in range(count)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def load(self, instruction: HloInstruction, aliasing: Collection[tuple[int, int]] = ()) -> Loaded:
        """The kernel of an instruction. Calling it calls its functions on every thread of one block."""
        return _OnThreads(instruction, self, aliasing)


class _OnThreads(Loaded):
    abi: ThreadsAbi

    def __init__(self, instruction: HloInstruction, abi: ThreadsAbi, aliasing: Collection[tuple[int, int]]) -> None:
        super().__init__(instruction, abi, aliasing)
        self.abi = abi

    def run(self, phase: EmittedKernel, function: Callable[[int, int, int], None], table: int, parts: int) -> None:
        count = phase.partition_count
        if phase.threads > 1:
            self.abi.run_block(phase.threads, lambda index: function(table, 0, count))
            return
        # All threads work on units of their own, at the same time.
        ends = [count * n // self.THREADS for n in range(self.THREADS + 1)]
        self.abi.run_block(self.THREADS, lambda index: function(table, ends[index], ends[index + 1]))

    THREADS = 4
