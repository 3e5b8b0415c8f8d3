"""Matrix products by cuBLAS, through ctypes, in the memory of CUDA's runtime library."""

from __future__ import annotations

import ctypes
import ctypes.util
import importlib.util
import time
from pathlib import Path
from typing import Any

_TYPES = {"f32": (0, 4), "bf16": (14, 2)}  # cudaDataType, bytes
_COMPUTE_32F = 68  # sums and products of f32 in f32, without TF32
_DEFAULT_ALGORITHM = -1


class Cublas:
    """A handle of cuBLAS on the current device. Raises OSError where a library is missing."""

    def __init__(self) -> None:
        self._cuda = _load("libcudart.so")
        self._blas = _load("libcublas.so")
        self._handle = ctypes.c_void_p()
        _check("cublasCreate", self._blas.cublasCreate_v2(ctypes.byref(self._handle)))

    def seconds(self, element_type: str, size: int, calls: int = 20) -> float:
        """The time of one product of two square matrices, the mean of `calls` that follow each other."""
        code, width = _TYPES[element_type]
        memory = [ctypes.c_void_p() for _ in range(3)]
        for pointer in memory:
            _check("cudaMalloc", self._cuda.cudaMalloc(ctypes.byref(pointer), ctypes.c_size_t(width * size * size)))
            _check("cudaMemset", self._cuda.cudaMemset(pointer, 0x3C, ctypes.c_size_t(width * size * size)))
        one, zero = ctypes.c_float(1), ctypes.c_float(0)
        a, b, c = memory

        def multiply() -> None:
            n = ctypes.c_int(size)
            status = self._blas.cublasGemmEx(
                *(self._handle, 0, 0, n, n, n, ctypes.byref(one), a, code, n, b, code, n),
                *(ctypes.byref(zero), c, code, n, _COMPUTE_32F, _DEFAULT_ALGORITHM),
            )
            _check("cublasGemmEx", status)

        for _ in range(3):
            multiply()
        _check("cudaDeviceSynchronize", self._cuda.cudaDeviceSynchronize())
        start = time.perf_counter()
        for _ in range(calls):
            multiply()
        _check("cudaDeviceSynchronize", self._cuda.cudaDeviceSynchronize())
        spent = time.perf_counter() - start
        for pointer in memory:
            self._cuda.cudaFree(pointer)
        return spent / calls


def _load(name: str) -> Any:
    """A library of NVIDIA's wheels, or of the system."""
    places = importlib.util.find_spec("nvidia")
    roots = list(places.submodule_search_locations or ()) if places is not None else []
    found = sorted(path for root in roots for path in Path(root).glob(f"**/{name}*"))
    return ctypes.CDLL(str(found[0]) if found else name)


def _check(call: str, status: int) -> None:
    if status:
        raise OSError(f"{call} returned {status}")
