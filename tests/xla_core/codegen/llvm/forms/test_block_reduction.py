"""Reductions by blocks of threads, run on threads of this process."""

from __future__ import annotations

import ctypes
import threading

import numpy as np
import pytest

from tests.xla_core.codegen.llvm.kernels import Loaded, array, f32, fuse, host_abi, random_array, scalar, scalar_body
from xla_core.codegen.llvm import IrBuilder, LoopAbi, Value
from xla_core.hlo.computation import HloComputation
from xla_core.hlo.element_type import ElementType as T


class ThreadsAbi(LoopAbi):
    """A block is this many threads of the process. Shared arrays are variables that every thread of the process sees."""

    def __init__(self, threads: int) -> None:
        host = host_abi()
        super().__init__(host.triple, host.cpu, host.features)
        self.threads_per_block = threads
        self._barrier = threading.Barrier(threads, timeout=60)
        self._thread = threading.local()
        self._callbacks = [
            ctypes.CFUNCTYPE(ctypes.c_int64)(lambda: self._thread.index),
            ctypes.CFUNCTYPE(None)(lambda: self._barrier.wait() and None),
        ]
        self.arrays: list[str] = []

    def _address(self, number: int) -> str:
        return f"inttoptr (i64 {ctypes.cast(self._callbacks[number], ctypes.c_void_p).value} to ptr)"

    def thread_index(self, builder: IrBuilder) -> Value:
        return builder.emit("i64", f"call i64 {self._address(0)}()")

    def barrier(self, builder: IrBuilder) -> None:
        builder.line(f"call void {self._address(1)}()")

    def shared_array(self, builder: IrBuilder, type_: str, count: int) -> Value:
        name = builder.module.symbol("shared")
        self.arrays.append(builder.module.add_global(name, f"global [{count} x {type_}] zeroinitializer, align 16"))
        return Value("ptr", f"@{name}")

    def load(self, instruction) -> Loaded:
        """The kernel of an instruction; calling it calls its function on every thread of one block."""
        loaded = Loaded(instruction, self)
        function = loaded.function

        def one(index: int, table: int, begin: int, end: int) -> None:
            self._thread.index = index
            function(table, begin, end)

        def block(*arguments: int) -> None:
            threads = [threading.Thread(target=one, args=(n, *arguments)) for n in range(self.threads_per_block)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()

        loaded.function = block
        return loaded


def row_sums(c, x):
    return c.add("reduce", x, scalar(c, 0), dimensions=(1,), to_apply=scalar_body("add"))


@pytest.mark.parametrize("threads", [2, 3, 7, 24, 32, 50])
@pytest.mark.parametrize("columns", [32, 33, 100])
def test_any_number_of_threads_adds_up_every_element(threads: int, columns: int) -> None:
    x = random_array(f32(3, columns))
    loaded = ThreadsAbi(threads).load(fuse(row_sums, f32(3, columns)))
    assert loaded.kernel.per_block
    np.testing.assert_allclose(loaded(x, parts=1)[0], x.astype(np.float64).sum(1), rtol=1e-5, atol=1e-5)


def pair() -> HloComputation:
    """(a, b, x, y) -> (a + x, b + y)."""
    body = HloComputation("pair")
    a, b, x, y = (body.parameter(n, array(T.F32)) for n in range(4))
    body.set_root(body.add("tuple", body.add("add", a, x), body.add("add", b, y)))
    return body


def test_each_accumulator_has_a_shared_array_of_its_own() -> None:
    def sums(c, x, y):
        zero = scalar(c, 0)
        return c.add("reduce", x, y, zero, zero, dimensions=(1,), to_apply=pair())

    x, y = random_array(f32(2, 40)), random_array(f32(2, 40), 1)
    abi = ThreadsAbi(6)
    loaded = abi.load(fuse(sums, f32(2, 40), f32(2, 40)))
    assert len(abi.arrays) == len(set(abi.arrays)) == 2
    for got, value in zip(loaded(x, y, parts=1), (x, y), strict=True):
        np.testing.assert_allclose(got, value.astype(np.float64).sum(1), rtol=1e-5, atol=1e-5)
