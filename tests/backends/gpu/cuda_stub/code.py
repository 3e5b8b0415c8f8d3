"""Modules, launches, and the stub of cuBLASLt."""

from __future__ import annotations

import ctypes
import functools
from ctypes import POINTER, c_char_p, c_int, c_uint, c_uint64, c_void_p
from typing import Any

from xla_backend_gpu.driver import Function, LaunchArguments
from xla_backend_gpu.processors import processor_number
from xla_backend_gpu.ptx import processor_of_ptx

from tests.backends.gpu.cuda_stub.state import (
    ATTRIBUTES,
    INVALID_PTX,
    JIT_ERROR_LOG,
    JIT_ERROR_LOG_BYTES,
    MEMORY,
    NO_BINARY,
    NOT_FOUND,
    OK,
    Code,
    Failure,
    Stream,
    current,
    devices,
    function,
    handles,
    made,
    new,
    require,
    state,
    take,
    undefined,
)
from xla_core.errors import XlaError

cubins: dict[bytes, str] = {}
"""The PTX of machine code, which the stub can't run. A test enters it here."""

images: list[bytes] = []
"""What was loaded: the first bytes of each image."""


@function(POINTER(c_void_p), c_void_p, c_uint, POINTER(c_int), POINTER(c_void_p))
def cuModuleLoadDataEx(module, image, count, options, values):
    log = {options[i]: values[i] for i in range(count)}
    images.append(ctypes.string_at(image, 4))
    known = [ptx for cubin, ptx in cubins.items() if ctypes.string_at(image, len(cubin)) == cubin]
    try:
        ptx = known[0] if known else ctypes.string_at(image).decode()
        require(processor_number(processor_of_ptx(ptx)) <= 10 * ATTRIBUTES[75] + ATTRIBUTES[76], NO_BINARY)
        loaded = current().emulated.load(ptx, "fast")
    except (UnicodeDecodeError, XlaError) as error:
        said = str(error).encode()[: log[JIT_ERROR_LOG_BYTES] - 1]
        ctypes.memmove(log[JIT_ERROR_LOG], said + b"\0", len(said) + 1)
        raise Failure(INVALID_PTX) from None
    module[0] = new(Code(loaded))


@function(c_void_p)
def cuModuleUnload(module):
    """The module's kernels go with it. None of them is enqueued."""
    loaded = take(module, Code)
    loaded.check()
    undefined(loaded.running > 0, "a module is unloaded while its kernel runs")
    loaded.loaded = False
    for handle in [h for h, value in handles.items() if isinstance(value, Function) and value.handle is loaded]:
        del handles[handle]
    del handles[module]


@function(POINTER(c_void_p), c_void_p, c_char_p)
def cuModuleGetFunction(found, module, name):
    loaded = take(module, Code)
    require(name.decode() in loaded.kernels, NOT_FOUND)
    found[0] = new(Function(name.decode(), loaded))


@function(c_void_p, c_int, c_int)
def cuFuncSetAttribute(kernel, attribute, value):
    chosen = take(kernel, Function)
    require(attribute == 8)  # CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
    require(0 <= value <= ATTRIBUTES[97] - chosen.handle.declared(chosen.name))
    chosen.handle.shared[chosen.name] = value


@function(c_void_p, *[c_uint] * 7, c_void_p, POINTER(c_void_p), POINTER(c_void_p))
def cuLaunchKernel(kernel, gx, gy, gz, bx, by, bz, shared, stream, parameters, extra):
    own, chosen = take(stream, Stream), take(kernel, Function)
    require(not extra and 0 < bx * by * bz <= 1024 and 0 < gx < 1 << 31 and 0 < gy * gz < 1 << 32)
    code: Code = chosen.handle
    kernel = code.kernels[chosen.name]
    sizes = [parameter.size for parameter in kernel.handle.module.kernels[chosen.name].parameters]
    require(set(sizes) <= {8})
    require(shared <= code.shared.get(chosen.name, (48 << 10) - code.declared(chosen.name)))
    values = tuple(ctypes.cast(parameters[n], POINTER(c_uint64))[0] for n in range(len(sizes)))
    launch = LaunchArguments((gx, gy, gz), (bx, by, bz), shared, values)
    emulated = own.device.emulated

    def run(queue: Any) -> None:
        undefined(not code.loaded, f"{chosen.name} is launched after its module was unloaded")
        code.count(1)
        emulated.launch(queue, kernel, launch)
        emulated.later(queue, lambda: code.count(-1), "counted")

    own.enqueue(run)


def connect_cublas(path: str) -> ctypes.CDLL:
    """Lets the stub of cuBLASLt at a path use the contexts, the memory and the streams of this driver."""
    library = ctypes.CDLL(path)

    @ctypes.CFUNCTYPE(c_int)
    def has_context():
        return int(bool(state.contexts))

    @ctypes.CFUNCTYPE(c_void_p, c_uint64, c_uint64)
    def translate(address, size):
        memory = next(d.emulated.memory for d in devices if 0 <= address - d.emulated.memory.base < MEMORY)
        return memory.view(address, size).ctypes.data

    @ctypes.CFUNCTYPE(c_int, c_void_p, c_void_p)
    def enqueue(stream, job):
        try:
            own = take(stream, Stream)
            emulated = own.device.emulated
            run = functools.partial(library.cublaslt_stub_run, c_void_p(job))
            own.enqueue(lambda queue: emulated.later(queue, run, "cuBLASLt"))
        except Failure:
            return 13  # CUBLAS_STATUS_EXECUTION_FAILED
        return OK

    library.cublaslt_stub_set_hooks(has_context, translate, enqueue)
    made[path] = has_context, translate, enqueue
    return library
