"""Runs optimized programs on a device without any further optimization."""

from __future__ import annotations

from xla_core import Client, CompileOptions, LoadedExecutable
from xla_core.hlo import HloModule
from xla_core.passes import scheduling_pipeline


class OptimizedCompiler:
    """Compiles optimized modules for the first device of a client by `run_backend`, after scheduling alone."""

    def __init__(self, client: Client, options: CompileOptions) -> None:
        self._client, self._options = client, options

    def compile(self, module: HloModule) -> LoadedExecutable:
        """Compiles an optimized module, which it takes over."""
        compiler = self._client.platform.compiler
        scheduling_pipeline(compiler.target_config).run(module)
        executor = self._client.platform.executor(0)
        return self._client.load(compiler.run_backend(module, self._options, executor))
