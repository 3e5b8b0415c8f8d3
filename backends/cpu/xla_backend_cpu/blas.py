"""Loads OpenBLAS and gives the addresses of the routines that compiled programs call.

OpenBLAS runs single-threaded. Programs divide a product among the threads of the process's own pool.
"""

from __future__ import annotations

import ctypes
import functools
import mmap
import os
import pathlib

from xla_backend_cpu.host import host_features, once
from xla_core.errors import ResourceExhaustedError

_PREFIX = "scipy_"
_BUFFER_BYTES = 33 << 20  # 32 MiB, and 1 MiB for their alignment
_HINT = "raise the limit of the process's address space (`ulimit -v`), or let programs use fewer threads"

_reserved = 0  # the largest number of threads that `reserve` has checked


@once
def library() -> ctypes.CDLL:
    """Loads OpenBLAS, single-threaded, with the fastest kernels that the processor's features allow.

    OpenBLAS chooses kernels by processor model and uses AVX2 kernels on models that it doesn't know. This function
    therefore chooses the AVX-512 kernels on any processor with these features, unless the user set OPENBLAS_CORETYPE.

    Raises:
        ResourceExhaustedError: the library could not be loaded.
    """
    wanted = {"OPENBLAS_NUM_THREADS": "1"}
    if {"avx512f", "avx512dq", "avx512cd", "avx512bw", "avx512vl"} <= host_features():
        wanted["OPENBLAS_CORETYPE"] = os.environ.get("OPENBLAS_CORETYPE", "SkylakeX")
    before = {name: os.environ.get(name) for name in wanted}
    os.environ.update(wanted)
    try:
        lib = ctypes.CDLL(str(_path()))
    except OSError as error:
        raise ResourceExhaustedError(f"OpenBLAS could not be loaded: {error}", hint=_HINT) from error
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
    lib.scipy_openblas_set_num_threads(1)
    return lib


def reserve(threads: int) -> None:
    """Checks that `threads` threads can call OpenBLAS.

    OpenBLAS maps a buffer at the first call of each thread, and ends the process if it can't.

    Raises:
        ResourceExhaustedError: there is not enough address space for the buffers.
    """
    global _reserved
    if threads <= _reserved:
        return
    library()
    size = (threads - _reserved) * _BUFFER_BYTES
    try:
        mmap.mmap(-1, size).close()
    except OSError as error:
        raise ResourceExhaustedError(
            f"OpenBLAS needs {size >> 20} MiB of address space for {threads} threads: {error}", hint=_HINT
        ) from error
    _reserved = threads


def _path() -> pathlib.Path:
    import scipy_openblas32  # imported when a program first calls OpenBLAS

    return next(pathlib.Path(scipy_openblas32.get_lib_dir()).glob("libscipy_openblas.*"))


@functools.cache
def symbol_address(name: str) -> int:
    """The address of a BLAS or LAPACK routine under its usual name ("cblas_sgemm", "spotrf_")."""
    function = getattr(library(), _PREFIX + name)
    address = ctypes.cast(function, ctypes.c_void_p).value
    assert address is not None
    return address
