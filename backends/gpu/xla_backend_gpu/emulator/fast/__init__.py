"""The fast engine: kernels as native code.

A kernel becomes a module of LLVM IR: a function of one thread (`thread_function`), which waits at barriers by returning
to its driver (`driver`), and the driver's rules of who may go on (`releases`). `native` compiles and caches it, and
divides the blocks of a launch between the host's cores.
"""

from xla_backend_gpu.emulator.fast.native import run_fast

__all__ = ["run_fast"]
