"""Executable: a compiled program, and what a run of it is given. (XLA: xla/service/executable.h.)"""

from __future__ import annotations

import abc
import dataclasses
import hashlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from xla_core.hlo.module import HloModule
from xla_core.hlo.shape import Shape

if TYPE_CHECKING:
    from xla_core.backend.device_memory import DeviceMemory
    from xla_core.backend.stream import Stream
    from xla_core.backend.stream_executor import StreamExecutor
    from xla_core.backend.transfer_manager import TransferManager

__all__ = ["Allocator", "CompilationReport", "Executable", "ExecutableMemoryStats", "RunOptions"]


class Allocator(abc.ABC):
    """Where an execution takes result and temporary memory from. The runtime's is a pool; a backend only calls it.

    Memory is in the order of the stream that the allocator belongs to: what is freed after work was enqueued may be
    handed out at once, since whoever takes it enqueues behind that work.
    """

    @abc.abstractmethod
    def allocate(self, size: int, memory_space: int = 0) -> DeviceMemory:
        """At least `size` bytes (0 is fine). Raises ResourceExhaustedError, which says what holds the rest."""

    @abc.abstractmethod
    def free(self, memory: DeviceMemory) -> None:
        """Gives back what `allocate` gave. May be called as soon as the work that uses it is enqueued. Never blocks."""


class RunOptions:
    """What an execution on one device is given besides its arguments. Made once for each device and used again.

    Attributes:
        executor, stream, allocator: where to run, and where memory comes from.
        transfer_manager: for infeed and outfeed (`transfer_manager.infeed(ordinal)`).
        device_ordinal: the executor's.
        replica_id, partition_id: this device's place in the assignment.
        device_assignment: device ordinals, one row a replica, one column a partition.
        run_id: the same number on all devices of one sharded execution, different between executions.
    """

    __slots__ = (
        "allocator",
        "device_assignment",
        "device_ordinal",
        "executor",
        "partition_id",
        "replica_id",
        "run_id",
        "stream",
        "transfer_manager",
    )

    def __init__(
        self,
        executor: StreamExecutor,
        stream: Stream,
        allocator: Allocator,
        transfer_manager: TransferManager,
        *,
        replica_id: int = 0,
        partition_id: int = 0,
        device_assignment: tuple[tuple[int, ...], ...] = ((0,),),
        run_id: int = 0,
    ) -> None:
        self.executor = executor
        self.stream = stream
        self.allocator = allocator
        self.transfer_manager = transfer_manager
        self.device_ordinal = executor.ordinal
        self.replica_id = replica_id
        self.partition_id = partition_id
        self.device_assignment = device_assignment
        self.run_id = run_id

    def with_run_id(self, run_id: int) -> RunOptions:
        """The same but for the run."""
        return RunOptions(
            self.executor,
            self.stream,
            self.allocator,
            self.transfer_manager,
            replica_id=self.replica_id,
            partition_id=self.partition_id,
            device_assignment=self.device_assignment,
            run_id=run_id,
        )


@dataclasses.dataclass(slots=True)
class CompilationReport:
    """What the compiler did, in numbers. `Compiler.compile` fills counts and times; `run_backend` fills the rest.

    Attributes:
        instructions_before, instructions_after: in all computations, before and after `run_hlo_passes`.
        fusions: fusion instructions of the optimized module.
        kernels: pieces of device code made.
        library_calls: calls into a library (dot, convolution, ...), by library function.
        temp_bytes: planned temporary memory; temp_bytes_without_reuse: what it would be if no two values shared any.
        compile_seconds: all of `Compiler.compile`; stage_seconds: by stage.
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
    """Bytes that one execution needs on one device, and the code's own."""

    argument_bytes: int = 0
    output_bytes: int = 0
    alias_bytes: int = 0
    temp_bytes: int = 0
    constant_bytes: int = 0
    generated_code_bytes: int = 0

    @property
    def peak_bytes(self) -> int:
        """Device memory while it runs: arguments, results with memory of their own, temporaries, constants, code."""
        own = self.argument_bytes + self.output_bytes - self.alias_bytes
        return own + self.temp_bytes + self.constant_bytes + self.generated_code_bytes


class Executable(abc.ABC):
    """A program in the device's language. Immutable; may run on several devices and threads at once.

    Args:
        module: the optimized module it was made from. Its entry is flat: parameters are arrays, the root is an array
            or a tuple of arrays and tokens; tokens are neither passed nor returned.
    """

    def __init__(self, module: HloModule, report: CompilationReport | None = None) -> None:
        self.module = module
        self.report = report or CompilationReport()

    @abc.abstractmethod
    def execute_async_on_stream(
        self, run_options: RunOptions, arguments: Sequence[DeviceMemory]
    ) -> Sequence[DeviceMemory]:
        """Enqueues one execution on `run_options.stream` and returns the results' memory, in order, at once.

        The stream waits for the arguments already. Number, shapes and layouts of the arguments were checked; each is
        whole memory of at least `Compiler.shape_size_bytes` of its shape. Results come from `run_options.allocator`.

        Donation: the parameters in `module.input_output_aliases` and `module.buffer_donors` are donated. Their memory
        may be overwritten, and may be returned as a result (always as a whole); what isn't returned, the runtime frees.
        Where a caller keeps such an argument, the runtime passes a copy. No other argument is written to or returned,
        and no memory is returned twice.

        Raises ResourceExhaustedError when there is no memory, FailedPreconditionError for a run that is refused: both
        before anything is enqueued, and the caller keeps the donated arguments. Whatever else it raises, they are gone.
        In each case it has freed what it allocated. What fails later poisons the stream, and this still returns memory.
        """

    # -- what has a default ------------------------------------------------------------------------------------------

    @property
    def parameter_shapes(self) -> tuple[Shape, ...]:
        """Shapes with the layouts that arguments have on the device. Row-major where the module says nothing."""
        return tuple(s.with_default_layout() for p in self.module.parameter_shapes for s in p.leaves() if s.is_array)

    @property
    def result_shapes(self) -> tuple[Shape, ...]:
        """Of the results' array leaves, with the layouts that they have on the device."""
        return tuple(s.with_default_layout() for s in self.module.result_shape.leaves() if s.is_array)

    def serialize(self) -> bytes:
        """What `Compiler.deserialize` needs; the core adds the header. The default is the optimized module as HLO
        text, which `Compiler.deserialize` gives to `run_backend` again.
        """
        return self.module.to_text().encode()

    def fingerprint(self) -> str:
        """The same for executables that do the same on the same target. The default is a digest of `serialize()`."""
        return hashlib.sha256(self.serialize()).hexdigest()

    def cost_analysis(self) -> Mapping[str, float]:
        """Estimates for one execution: "flops", "transcendentals", "bytes accessed", ..."""
        from xla_core.analysis import HloCostAnalysis  # only those who ask pay for it

        cost = HloCostAnalysis(self.module).module()
        return {
            "flops": cost.flops,
            "transcendentals": cost.transcendentals,
            "bytes accessed": cost.bytes_accessed,
        }

    def memory_stats(self) -> ExecutableMemoryStats:
        """What one execution needs on one device."""
        arguments = self.parameter_shapes
        results = self.result_shapes
        aliased = {a.output_index[0] if a.output_index else 0 for a in self.module.input_output_aliases}
        return ExecutableMemoryStats(
            argument_bytes=sum(s.byte_size for s in arguments),
            output_bytes=sum(s.byte_size for s in results),
            alias_bytes=sum(results[i].byte_size for i in aliased if i < len(results)),
            temp_bytes=self.report.temp_bytes,
        )

    def artifacts(self) -> Mapping[str, str | bytes]:
        """What the compiler made on the way, by name: "hlo", and, where there is such a thing, "buffer-assignment",
        "llvm-unoptimized", "llvm", "asm", "ptx", "object", "thunks"; these are dumped under XLA's file names.
        """
        return {"hlo": self.as_text()}

    def as_text(self) -> str:
        """The optimized module as HLO text."""
        return self.module.to_text()

    def close(self) -> None:  # noqa: B027  (nothing to give back is the common case)
        """It will not be started again: ends the runs under way early, with CancelledError, where that can be done."""
