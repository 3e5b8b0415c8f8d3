"""The CPU backend of xla-core. Its entry point is this module; its hook is `xla_backend`.

`register_custom_call` is the core's `register_in_place_call`, by which Python functions run custom calls on views of
the program's memory.
"""

from __future__ import annotations

from xla_core.backend import BackendSpec, hookimpl
from xla_core.hlo import CustomCall
from xla_core.hlo import register_in_place_call as register_custom_call

__all__ = ["CustomCall", "register_custom_call", "xla_backend"]

__version__ = "0.1.0"


@hookimpl
def xla_backend() -> BackendSpec:
    """The backend's description."""
    from xla_backend_cpu.compiler import CpuCompiler, CpuOptions  # imported when the backend is chosen
    from xla_backend_cpu.executable import CpuExecutable
    from xla_backend_cpu.executor import CpuExecutor
    from xla_backend_cpu.platform import CpuPlatform

    return BackendSpec(
        version=__version__,
        contract_versions=((1, 1),),
        platform=CpuPlatform,
        compiler=CpuCompiler,
        executable=CpuExecutable,
        stream_executor=CpuExecutor,
        priority=100,
        options=CpuOptions,
        description="native code by LLVM for the host's processor, OpenBLAS for complex products and LAPACK",
    )
