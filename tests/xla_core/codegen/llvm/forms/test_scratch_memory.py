"""A kernel that gets no scratch memory counts the failure and returns."""

from __future__ import annotations

import ctypes

import numpy as np

from tests.xla_core.codegen.llvm.kernels import F32, Loaded, array, host_abi, scalar_body
from xla_core.codegen.llvm import LoopAbi
from xla_core.hlo.ir.computation import HloComputation


class Greedy(LoopAbi):
    """Asks for more memory than there is."""

    def allocate(self, builder, size):
        return super().allocate(builder, 1 << 62)


def sort(length):
    less = scalar_body("compare", direction="LT")
    outer = HloComputation("outer")
    return outer.add("sort", outer.parameter(0, array(F32, length)), dimensions=(0,), to_apply=less)


def test_a_kernel_without_memory_counts_it():
    host = host_abi()
    abi = Greedy(host.triple, host.cpu, host.features, failure_counter=True)
    kernel = Loaded(sort(8), abi)
    assert kernel.kernel.resources.allocates
    counter = ctypes.c_int32(0)
    x, result = np.arange(16, dtype=np.float32)[::-1].copy(), np.full(32, -1, np.float32)
    aligned = [a.ctypes.data + (-a.ctypes.data % 64) for a in (x, result)]
    table = (ctypes.c_void_p * 3)(ctypes.addressof(counter), *aligned)
    for calls in (1, 2):
        kernel.functions[0](ctypes.addressof(table) + 8, 0, 1)
        assert counter.value == calls
    assert np.all(result == -1)


def test_small_scratch_memory_is_on_the_stack():
    host = host_abi()
    abi = LoopAbi(host.triple, host.cpu, host.features)
    kernel = Loaded(sort(8), abi)
    (got,) = kernel(np.arange(8, dtype=np.float32)[::-1])
    assert np.array_equal(got, np.arange(8))
    assert not kernel.kernel.resources.allocates
