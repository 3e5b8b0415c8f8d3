"""LoadedExecutable: a compiled program on its devices."""

from __future__ import annotations

import abc
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from xla_core.backend.event import Event
from xla_core.backend.executable import CompilationReport, Executable, ExecutableMemoryStats
from xla_core.checks import counted, require
from xla_core.compile_options import CompileOptions
from xla_core.errors import FailedPreconditionError, InvalidArgumentError
from xla_core.handle import Handle
from xla_core.hlo.evaluation.argument_checks import wrong_count
from xla_core.hlo.values.shape import Shape
from xla_core.runtime.buffers.buffer import Buffer
from xla_core.runtime.device import Device, DeviceSet
from xla_core.runtime.executables import serialization
from xla_core.runtime.programs.signature import Signature, shape_of

if TYPE_CHECKING:
    from xla_core.analysis import InstructionPlacement


class LoadedExecutable(Handle, abc.ABC):
    """A compiled program on its devices, as returned by `Client.compile`.

    outs = exe(a, b)             # takes arrays or Buffers, returns a tuple of Buffers without waiting for values
    outs = exe.execute([x, y])   # takes Buffers only, which is faster

    It is a `StaticExecutable`, which has one compilation. A program with dynamic shapes is a `DynamicExecutable`, which
    has one for each signature of its calls; members that describe one compilation (`as_text`, `cost_analysis`, ...)
    need `specialize(...)` there.
    """

    _shapes: tuple[Shape, ...]
    _results: tuple[Shape, ...]
    _donated: tuple[int, ...]
    _deleted = False
    _placement: Sequence[InstructionPlacement] | None = None
    _instead_of_pickle = "give exe.serialize() to Client.deserialize in the other process"

    def __init__(
        self, device_set: DeviceSet, options: CompileOptions, name: str, replicas: int, partitions: int
    ) -> None:
        self._device_set, self._options, self.name = device_set, options, name
        self.num_replicas, self.num_partitions = replicas, partitions
        self._assignment = device_set.assignment(replicas, partitions, options.device_assignment)
        self._devices = tuple(device_set.devices[id] for row in self._assignment for id in row)
        self._single = len(self._devices) == 1

    # -- running -----------------------------------------------------------------------------------------------------

    @abc.abstractmethod
    def execute(
        self,
        arguments: Sequence[Buffer],
        *,
        non_donatable: Collection[int] = (),
        ends: list[Event] | None = None,
    ) -> tuple[Buffer, ...]:
        """Runs on one device, on Buffers of that device. Returns at once, except if it compiles for new sizes.

        An error during the execution is raised where a result is read.

        Args:
            non_donatable: numbers of arguments that the caller keeps although their parameters are donated. The program
                gets copies of them.
            ends: a list to which the event of the execution's end is appended. It has the error of a failed execution,
                also of a program without results.

        Raises:
            InvalidArgumentError: for a wrong number, shape or type of arguments, and for another device's buffer.
            FailedPreconditionError: for a deleted or donated buffer.
            ResourceExhaustedError: where the results don't fit in memory.
        """

    @abc.abstractmethod
    def __call__(self, *arguments: Any) -> tuple[Buffer, ...]:
        """Like `execute`, but takes any mixture of numpy arrays, DLPack objects, Python numbers and Buffers."""

    @abc.abstractmethod
    def execute_sharded(
        self,
        arguments: Sequence[Sequence[Any]],
        *,
        non_donatable: Collection[int] = (),
        ends: list[Event] | None = None,
    ) -> list[tuple[Buffer, ...]]:
        """Runs on all devices of the assignment, with a list of arguments and a tuple of results for each device.

        Both are in the order of `devices`: partition p of replica r is number r * num_partitions + p. The arguments of
        all devices must have the same sizes, because all run one program. `ends` gets an event for each device.

        Raises:
            InvalidArgumentError: for wrong arguments; it names the device.
        """

    def delete(self) -> None:
        """Cancels executions in progress if the backend can, and makes later executions raise FailedPreconditionError.

        The results of a cancelled execution raise CancelledError. Members that describe the program (`as_text()`,
        `artifacts()`, `serialize()`, ...) still work.
        """
        self._delete(FailedPreconditionError(f"the executable {self.name} was deleted"))

    def is_deleted(self) -> bool:
        """Tells whether the executable was deleted or its client closed."""
        return self._deleted or self._devices[0].dead is not None

    @abc.abstractmethod
    def _delete(self, error: FailedPreconditionError) -> None:
        """Deletes the executable; later runs raise `error`."""

    def _wrong_count(self, count: int) -> InvalidArgumentError:
        return wrong_count(self.name, self._shapes, count)

    def _not_single(self) -> InvalidArgumentError:
        return InvalidArgumentError(
            f"{self.name} runs on {len(self._devices)} devices",
            hint="use execute_sharded, one list of arguments a device",
        )

    def _check_rows(self, arguments: Sequence[Sequence[Buffer]]) -> None:
        """Raises InvalidArgumentError unless `arguments` has one list for each device."""
        lists = (Sequence, np.ndarray)
        require("arguments", arguments, lists, "a list of arguments for each device")
        if len(arguments) != len(self._devices):
            layout = f"{counted(self.num_replicas, 'replica')} x {counted(self.num_partitions, 'partition')}"
            raise InvalidArgumentError(
                f"{self.name} runs on {counted(len(self._devices), 'device')} ({layout}), arguments are given for "
                f"{len(arguments)}"
            )
        for device, row in enumerate(arguments):
            require(f"the arguments of device {device}", row, lists, "a list")

    # -- what it is --------------------------------------------------------------------------------------------------

    @property
    def devices(self) -> tuple[Device, ...]:
        """The devices of the program: partition p of replica r is number r * num_partitions + p."""
        return self._devices

    @property
    def parameter_shapes(self) -> tuple[Shape, ...]:
        """The parameters' shapes, with the layouts that the compiler chose unless the program has dynamic shapes."""
        return self._shapes

    @property
    def result_shapes(self) -> tuple[Shape, ...]:
        return self._results

    @property
    def donated_parameters(self) -> tuple[int, ...]:
        return self._donated

    @abc.abstractmethod
    def signatures(self) -> tuple[Signature, ...]:
        """Returns the signatures that the program is compiled for, the least recently used first.

        A program with dynamic shapes may have none yet, or several; any other program has one.
        """

    def specialize(self, *arguments: Any) -> LoadedExecutable:
        """Returns the executable of one compilation for these arguments, and compiles it if needed.

        A `StaticExecutable` returns itself. The returned executable stays usable if this one drops it from its cache.
        If the returned one is deleted, the next call compiles again.

        Args:
            arguments: for each parameter an argument, a Shape, or the sizes as a tuple. A static argument must be given
                by value.
        """
        if len(arguments) != len(self._shapes):
            raise self._wrong_count(len(arguments))
        given = zip(arguments, self._shapes, strict=True)
        return self._specialized(arguments, [shape_of(argument, shape.element_type) for argument, shape in given])

    @abc.abstractmethod
    def _specialized(self, arguments: Sequence[Any], shapes: Sequence[Shape]) -> LoadedExecutable:
        """Returns the compilation for arguments of these shapes. The caller has checked their number."""

    @abc.abstractmethod
    def serialize(self) -> bytes:
        """Returns bytes for `Client.deserialize` in any process with the same backend, version and target."""

    # -- of one compilation ------------------------------------------------------------------------------------------

    @abc.abstractmethod
    def _compilation(self, member: str) -> Executable:
        """Returns the backend's executable for the use by `member`.

        Raises:
            FailedPreconditionError: where the program may have several compilations; it explains `specialize`.
        """

    @property
    def report(self) -> CompilationReport:
        """The compiler's statistics of this compilation."""
        return self._compilation("report").report

    @property
    def executable(self) -> Executable:
        return self._compilation("executable")

    def fingerprint(self) -> str:
        """Returns a digest that is equal for executables of the same program, backend, version and target."""
        return serialization.fingerprint(self._device_set, self._compilation("fingerprint()"))

    def cost_analysis(self) -> Mapping[str, float]:
        """Returns estimates for one execution on one device ("flops", "bytes accessed", ...)."""
        return self._compilation("cost_analysis()").cost_analysis()

    def placement(self) -> Sequence[InstructionPlacement]:
        """Returns where each instruction runs (device or host), why, and the bytes that cross between the two."""
        # Deferred, because runs need no passes.
        from xla_core.passes.legalization.primitive_lacks import with_primitive_lacks

        if self._placement is None:
            executable = self._compilation("placement()")
            target = executable.target_config
            self._placement = executable.placement()
            if target is not None:
                self._placement = with_primitive_lacks(self._placement, executable.module, target)
        return self._placement

    def memory_stats(self) -> ExecutableMemoryStats:
        """Returns the memory use of one execution on one device, in bytes."""
        return self._compilation("memory_stats()").memory_stats()

    def as_text(self) -> str:
        """Returns the optimized program as HLO text."""
        return self._compilation("as_text()").as_text()

    def artifacts(self) -> Mapping[str, str | bytes]:
        """Returns the compiler's intermediate forms by name: "hlo", and those of the backend ("llvm", "asm", ...)."""
        return self._compilation("artifacts()").artifacts()
