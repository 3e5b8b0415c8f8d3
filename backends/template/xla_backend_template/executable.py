"""The executable: a schedule of thunks."""

from __future__ import annotations

from collections.abc import Sequence

from xla_core.backend import Artifacts, CompilationReport, DeviceMemory, Executable, RunOptions
from xla_core.hlo import HloModule
from xla_core.runtime import ThunkExecutor
from xla_core.schedule import ThunkProgram


class TemplateExecutable(Executable):
    """Runs a program with the core's ThunkExecutor, which enqueues thunks and runs control flow from the host."""

    def __init__(
        self, module: HloModule, program: ThunkProgram, report: CompilationReport, artifacts: Artifacts
    ) -> None:
        super().__init__(module, report, artifacts)
        self._executor = ThunkExecutor(program)

    def execute_async_on_stream(
        self, run_options: RunOptions, arguments: Sequence[DeviceMemory]
    ) -> Sequence[DeviceMemory]:
        return self._executor.execute(run_options, arguments)

    def close(self) -> None:
        self._executor.cancel()
