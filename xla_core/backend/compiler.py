"""Compiler: compiles an HLO module to an executable. (XLA: xla/service/compiler.h.)"""

from __future__ import annotations

import abc
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING

from xla_core import profiler
from xla_core.backend.ahead_of_time import AheadOfTimeOptions
from xla_core.backend.executable import CompilationReport, Executable
from xla_core.compile_options import CompileOptions
from xla_core.errors import InvalidArgumentError, UnimplementedError
from xla_core.hlo.ir.entry import flatten_entry
from xla_core.hlo.ir.module import HloModule
from xla_core.hlo.ir.names import sanitized_name
from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.values.shape import Shape

if TYPE_CHECKING:
    from xla_core.backend.stream_executor import StreamExecutor
    from xla_core.passes import HloPass
    from xla_core.target import TargetConfig

# Artifacts -> XLA's file names for their dumps. Dumps of others have the artifact's own name.
_DUMPED = {
    "llvm-unoptimized": "ir-no-opt.ll",
    "llvm": "ir-with-opt.ll",
    "c": "c",
    "asm": "s",
    "ptx": "ptx",
    "buffer-assignment": "{platform}_after_optimizations-buffer-assignment.txt",
    "thunks": "thunks.txt",
}


class Compiler(abc.ABC):
    """Compiles for one target. It is thread-safe and needs no device unless a backend says otherwise.

    Without a device, `executor` is None. A vendor writes `target_config` (data) and `run_backend`.
    """

    host_fallback: bool = False
    """Whether `run_backend` accepts unsupported instructions and runs them on the host, for fallback="host"."""

    @property
    @abc.abstractmethod
    def target_config(self) -> TargetConfig:
        """The capabilities, layouts and memory spaces of the target, as data."""

    @abc.abstractmethod
    def run_backend(
        self, module: HloModule, options: CompileOptions, executor: StreamExecutor | None = None
    ) -> Executable:
        """Makes an executable that gives the results of an optimized module, as the reference evaluator defines them.

        After `run_hlo_passes` every instruction satisfies `target_config.supports`, layouts are assigned, and
        `module.schedule` orders each computation. With `fallback="host"`, a backend that declares `host_fallback` also
        gets instructions that `supports` refuses, which the host runs. The entry is flat: its parameters are arrays,
        and its root is an array or a tuple of arrays. This method owns `module`: it may keep and change it.
        """

    # -- what has a default ------------------------------------------------------------------------------------------

    def run_hlo_passes(
        self, module: HloModule, options: CompileOptions, executor: StreamExecutor | None = None
    ) -> HloModule:
        """Runs the target's HLO pipeline on `module` in place.

        The default is the core's pipeline for `target_config`.
        """
        from xla_core.passes.pipeline import run_hlo_passes  # deferred, so that a backend loads quickly

        return run_hlo_passes(module, self.target_config, options, self.hlo_stages(options))

    def hlo_stages(self, options: CompileOptions) -> Mapping[str, HloPass]:
        """Returns the stages of the core's pipeline that this target replaces, by name (`xla_core.passes.STAGES`).

        `xla opt --pipeline` shows the stages. The stage "target" is empty in the core's pipeline and is meant for a
        backend's own patterns.
        """
        return {}

    def compile(
        self, module: HloModule, options: CompileOptions | None = None, executor: StreamExecutor | None = None
    ) -> Executable:
        """Runs `run_hlo_passes` and `run_backend`, and fills the executable's report. It takes over `module`."""
        from xla_core.passes.dump import ModuleDump

        options = options or CompileOptions()
        with ModuleDump.of_compilation(options.name or module.name, options.dump_to) as dump:
            if dump is not None:
                options = options.model_copy(update={"keep_artifacts": True})
                dump.hlo("before_optimizations", module)
            executable = self._compile(module, options, executor)
            if dump is not None:
                platform = self.target_config.name
                dump.hlo(f"{platform}_after_optimizations", executable.module)
                for name, content in executable.artifacts().items():
                    if name != "hlo":  # that is the optimized module
                        dump.write(_DUMPED.get(name, sanitized_name(name)).format(platform=platform), content)
        return executable

    def _compile(self, module: HloModule, options: CompileOptions, executor: StreamExecutor | None) -> Executable:
        if options.fallback == "host" and not self.host_fallback:
            return self._compile_without_fallback(module, options, executor)
        start = time.perf_counter()
        flatten_entry(module)
        before = module.instruction_count
        with profiler.span("run_hlo_passes", category="compile", module=module.name):
            module = self.run_hlo_passes(module, options, executor)
        middle = time.perf_counter()
        after = module.instruction_count
        fusions = sum(i.opcode == Opcode.FUSION for c in module.computations for i in c.instructions)
        with profiler.span("run_backend", category="compile", module=module.name):
            executable = self.run_backend(module, options, executor)
        end = time.perf_counter()
        executable.target_config = self.target_config
        report: CompilationReport = executable.report
        report.instructions_before, report.instructions_after = before, after
        report.fusions = report.fusions or fusions
        report.compile_seconds = end - start
        report.stage_seconds = {"hlo_passes": middle - start, "backend": end - middle, **report.stage_seconds}
        return executable

    def _compile_without_fallback(
        self, module: HloModule, options: CompileOptions, executor: StreamExecutor | None
    ) -> Executable:
        """Compiles with fallback="none". This backend has no host fallback, so its errors must not recommend it."""
        from xla_core.passes.legalization.unmet import NeedsFallbackError

        try:
            return self._compile(module, options.model_copy(update={"fallback": "none"}), executor)
        except NeedsFallbackError as error:
            error.hint = f'{self.target_config.name} has no fallback="host"; run these ops outside of the program'
            raise

    def compile_ahead_of_time(self, module: HloModule, options: CompileOptions | None = None) -> bytes:
        """Compiles without a device; returns the bytes that `deserialize` loads on a machine with a device."""
        return self.compile(module, options, None).serialize()

    def ahead_of_time_files(
        self, module: HloModule, target: AheadOfTimeOptions, options: CompileOptions | None = None
    ) -> Mapping[str, str | bytes]:
        """Compiles a program to files, for `xla aot`: returns the contents of each file by its name.

        The default is one file with the bytes of `compile_ahead_of_time`, for the compiler's own target. It takes over
        `module`.

        Raises:
            UnimplementedError: the compiler has no code for such a target.
        """
        asked = sorted(target.model_dump(exclude_defaults=True, exclude={"name"}))
        if asked:
            raise UnimplementedError(
                f"the compiler of {self.target_config.name} compiles ahead of time for its own target only; it has no "
                f"{', '.join(asked)}",
                hint="leave these options out, or name the backend of a processor",
            )
        return {f"{target.name}.xla": self.compile_ahead_of_time(module, options)}

    def deserialize(
        self, data: bytes, options: CompileOptions | None = None, executor: StreamExecutor | None = None
    ) -> Executable:
        """Restores a serialized executable. The core has checked the header and the target."""
        # Imported here, so that only programs that read HLO text load the parser.
        from xla_core.hlo.parsing.parser import parse_hlo

        try:
            text = data.decode()
        except UnicodeDecodeError as error:
            raise InvalidArgumentError(f"the serialized program is damaged: it is no text: {error}") from None
        return self.run_backend(parse_hlo(text), options or CompileOptions(), executor)

    def shape_size_bytes(self, shape: Shape) -> int:
        """Returns the bytes of an array of `shape` on the device, with padding, tiles and packing."""
        return self.target_config.shape_size_bytes(shape)

    def fingerprint(self) -> str:
        """Identifies what serialized executables depend on besides the backend's version and the target.

        An example is the version of a library.
        """
        return ""
