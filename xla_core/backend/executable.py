"""Executable: a compiled program, with its statistics. (XLA: xla/service/executable.h.)"""

from __future__ import annotations

import abc
import dataclasses
import hashlib
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from xla_core.backend.device_memory import DeviceMemory
from xla_core.backend.native_entry import NativeEntry
from xla_core.backend.stream_executor import RunOptions
from xla_core.handle import Handle
from xla_core.hlo.ir.module import HloModule
from xla_core.hlo.values.shape import Shape

if TYPE_CHECKING:
    from xla_core.analysis import InstructionPlacement
    from xla_core.target import TargetConfig  # loading a device needs no compiler's data


Artifacts = Mapping[str, str | bytes | Callable[[], str | bytes]]
"""Intermediate results of a compilation by name. A function makes one each time it is asked for."""


@dataclasses.dataclass(slots=True)
class CompilationReport:
    """Statistics of a compilation. `Compiler.compile` fills counts and times; `run_backend` fills the rest.

    Attributes:
        instructions_before, instructions_after: instructions of all computations, before and after `run_hlo_passes`.
        fusions: fusion instructions of the optimized module.
        kernels: kernels that were generated.
        library_calls: number of calls into a library (dot, convolution, ...), by library function.
        temp_bytes: planned temporary memory in bytes; temp_bytes_without_reuse: the same without sharing of memory.
        compile_seconds: seconds of the whole `Compiler.compile`; stage_seconds: seconds by stage.
    """

    instructions_before: int = 0
    instructions_after: int = 0
    fusions: int = 0
    kernels: int = 0
    library_calls: dict[str, int] = dataclasses.field(default_factory=dict)
    temp_bytes: int = 0
    temp_bytes_without_reuse: int = 0
    compile_seconds: float = 0.0
    stage_seconds: dict[str, float] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True, slots=True)
class ExecutableMemoryStats:
    """Memory in bytes that one execution needs on one device, and the size of the code."""

    argument_bytes: int = 0
    output_bytes: int = 0
    alias_bytes: int = 0
    temp_bytes: int = 0
    constant_bytes: int = 0
    generated_code_bytes: int = 0

    @property
    def peak_bytes(self) -> int:
        """Device memory during an execution: arguments, unaliased results, temporaries, constants and code."""
        own = self.argument_bytes + self.output_bytes - self.alias_bytes
        return own + self.temp_bytes + self.constant_bytes + self.generated_code_bytes


class Executable(Handle, abc.ABC):
    """A compiled program for a device. It may run on several devices and threads at once: no run changes it.

    Runs on equal arguments give equal bits, unless they read other inputs, or the target (`reorders_sums`) or an option
    that was set lets the device add floats in any order.

    Args:
        module: the optimized module from which it was made. Its entry is flat: parameters are arrays, and the root is
            an array or a tuple of arrays. Tokens of the program are neither passed nor returned.
        report: statistics of the compilation.
        artifacts: what `artifacts` returns besides "hlo".

    Attributes:
        target_config: the target that it was compiled for. The core sets it when it has compiled or loaded the program.
    """

    target_config: TargetConfig | None = None

    def __init__(
        self, module: HloModule, report: CompilationReport | None = None, artifacts: Artifacts | None = None
    ) -> None:
        self.module = module
        self.report = report or CompilationReport()
        self._given_artifacts = dict(artifacts or {})

    @abc.abstractmethod
    def execute_async_on_stream(
        self, run_options: RunOptions, arguments: Sequence[DeviceMemory]
    ) -> Sequence[DeviceMemory]:
        """Enqueues one execution on `run_options.stream` and returns at once the memory of the results, in order.

        The stream already waits for the arguments. The runtime has checked their number, shapes and layouts. Each
        argument is a whole allocation of at least `Compiler.shape_size_bytes` of its shape. Results come from
        `run_options.allocator`.

        Donation: the parameters in `module.input_output_aliases` and `module.buffer_donors` are donated. The execution
        may overwrite their memory and may return it as a result (always as a whole); the runtime frees what isn't
        returned. Where a caller keeps such an argument, the runtime passes a copy. No other argument may be written to
        or returned, and no memory may be returned twice.

        On every error, this method frees what it allocated. It consumes donated arguments on errors other than the two
        below. A later failure poisons the stream; this method still returns memory.

        Raises:
            ResourceExhaustedError: where there isn't enough memory. Nothing is enqueued, and the caller keeps its
                arguments.
            FailedPreconditionError: where the run is refused. Nothing is enqueued, and the caller keeps its arguments.
        """

    # -- what has a default ------------------------------------------------------------------------------------------

    @property
    def parameter_shapes(self) -> tuple[Shape, ...]:
        """Shapes of the arguments with their layouts on the device; row-major where the module has no layout."""
        return tuple(s.with_default_layout() for p in self.module.parameter_shapes for s in p.array_leaves())

    @property
    def result_shapes(self) -> tuple[Shape, ...]:
        """Shapes of the array leaves of the results, with their layouts on the device."""
        return tuple(s.with_default_layout() for s in self.module.result_shape.array_leaves())

    def native_entry(self) -> NativeEntry | None:
        """Returns the function that runs the program without Python, or None where there is none.

        Callers such as the PJRT bridge use it to run short programs at a small cost. It is only for programs on one
        device whose memory the host can address, without donated parameters and without work of the host.
        """
        return None

    def serialize(self) -> bytes:
        """Serializes the executable for `Compiler.deserialize`; the core adds the header.

        The default is the optimized module as HLO text, which `Compiler.deserialize` passes to `run_backend` again.
        """
        return self.module.to_text().encode()

    def fingerprint(self) -> str:
        """Returns a text that is equal for equivalent executables of a target: by default a digest of `serialize()`."""
        return hashlib.sha256(self.serialize()).hexdigest()

    def cost_analysis(self) -> Mapping[str, float]:
        """Returns estimates for one execution: "flops", "transcendentals", "bytes accessed", ..."""
        from xla_core.analysis import HloCostAnalysis  # deferred, so that only callers of this load the analysis

        cost = HloCostAnalysis(self.module).module()
        return {
            "flops": cost.flops,
            "transcendentals": cost.transcendentals,
            "bytes accessed": cost.bytes_accessed,
        }

    def placement(self) -> Sequence[InstructionPlacement]:
        """Returns where each instruction of the program runs, why, and the bytes that cross to the host.

        The default says that the host runs what the target doesn't support.
        """
        from xla_core.analysis import place_instructions  # deferred, like the analysis above

        return () if self.target_config is None else place_instructions(self.module, self.target_config)

    def memory_stats(self) -> ExecutableMemoryStats:
        """Returns the memory use of one execution. Arguments and results have the sizes that the target gives them.

        The default knows no constants and no code.
        """
        target = self.target_config
        results = [target.shape_size_bytes(s) if target else s.byte_size for s in self.result_shapes]
        aliased = {a.output_index[0] if a.output_index else 0 for a in self.module.input_output_aliases}
        return ExecutableMemoryStats(
            argument_bytes=sum(target.shape_size_bytes(s) if target else s.byte_size for s in self.parameter_shapes),
            output_bytes=sum(results),
            alias_bytes=sum(results[i] for i in aliased if i < len(results)),
            temp_bytes=self.report.temp_bytes,
        )

    def artifacts(self) -> Mapping[str, str | bytes]:
        """Returns intermediate results of the compilation by name.

        "hlo" is always there. Others are "buffer-assignment", "plan", "llvm-unoptimized", "llvm", "c", "asm", "ptx",
        "ptxas", "object" and "thunks". Dumps contain all of them: under XLA's file names where XLA has one, else under
        the artifact's name.
        """
        made = {name: given() if callable(given) else given for name, given in self._given_artifacts.items()}
        return {"hlo": self.as_text(), **made}

    def as_text(self) -> str:
        """The optimized module as HLO text."""
        return self.module.to_text()

    def close(self) -> None:
        """Ends running executions early with CancelledError, where the device can.

        No execution is started after this.
        """
