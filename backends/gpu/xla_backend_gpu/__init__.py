"""The GPU backend of xla-core: compiles programs to PTX with LLVM, for NVIDIA's GPUs and for an emulated device.

Its entry point is this module; its hook is `xla_backend`.
"""

from __future__ import annotations

from xla_core.backend import BackendSpec, hookimpl

__all__ = ["xla_backend"]

__version__ = "0.1.0"

_PRIORITY, _EMULATED_PRIORITY = 200, 10  # above the CPU's and below it


@hookimpl
def xla_backend() -> BackendSpec:
    """The backend's description."""
    from xla_backend_gpu.availability import probe, shows_gpu, why_emulated  # imported when the backend is chosen
    from xla_backend_gpu.compiler import GpuCompiler, GpuOptions
    from xla_backend_gpu.device import GpuExecutor, GpuStream
    from xla_backend_gpu.events import GpuEvent
    from xla_backend_gpu.executable import GpuExecutable
    from xla_backend_gpu.flags import GpuFlags
    from xla_backend_gpu.kernel import GpuKernel
    from xla_backend_gpu.platform import GpuPlatform

    emulated = why_emulated()
    return BackendSpec(
        version=__version__,
        contract_versions=((1, 1),),
        platform=GpuPlatform,
        compiler=GpuCompiler,
        executable=GpuExecutable,
        stream_executor=GpuExecutor,
        stream=GpuStream,
        event=GpuEvent,
        kernel=GpuKernel,
        probe=probe,
        priority=_PRIORITY if not emulated and shows_gpu() else _EMULATED_PRIORITY,
        options=GpuOptions,
        flags=GpuFlags,
        description="PTX by LLVM for NVIDIA's GPUs" + (f"; emulated: {emulated}" if emulated else ""),
    )
