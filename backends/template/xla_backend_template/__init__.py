"""The template backend of xla-core. Its entry point is this module; its hook is `xla_backend`."""

from __future__ import annotations

from xla_core.backend import BackendSpec, hookimpl

__all__ = ["xla_backend"]

__version__ = "0.1.0"


@hookimpl
def xla_backend() -> BackendSpec:
    """The backend's description."""
    from xla_backend_template.compiler import TemplateCompiler  # imported when the backend is chosen
    from xla_backend_template.executable import TemplateExecutable
    from xla_backend_template.executor import TemplateExecutor, TemplateStream
    from xla_backend_template.kernel import HloKernel
    from xla_backend_template.platform import TemplateFlags, TemplatePlatform

    return BackendSpec(
        version=__version__,
        contract_versions=((1, 1),),
        platform=TemplatePlatform,
        compiler=TemplateCompiler,
        executable=TemplateExecutable,
        stream_executor=TemplateExecutor,
        stream=TemplateStream,
        kernel=HloKernel,
        priority=0,
        flags=TemplateFlags,
        description="a simulated accelerator: kernels are HLO instructions, run by the reference evaluator",
    )
