"""The fast engine: runs kernels as native code.

A kernel becomes a module of LLVM IR with three parts. `thread_function` runs one thread, and returns where the thread
waits at a barrier. `driver` calls it for all threads of a block. `releases` has the functions that decide which waiting
threads continue. `native` compiles and caches the module, and divides the blocks of a launch between the host's cores.
"""

from xla_backend_gpu.emulator.fast.native import FastLaunch, compile_kernel

__all__ = ["FastLaunch", "compile_kernel"]
