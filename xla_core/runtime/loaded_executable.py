"""LoadedExecutable: a program on the devices that it was compiled for, ready to be called."""

from __future__ import annotations

import abc
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from xla_core.backend.executable import CompilationReport, Executable, ExecutableMemoryStats
from xla_core.checks import require
from xla_core.compile_options import CompileOptions
from xla_core.errors import FailedPreconditionError, InvalidArgumentError
from xla_core.hlo.argument_checks import wrong_count
from xla_core.hlo.shape import Shape
from xla_core.runtime import serialization
from xla_core.runtime.buffer import Buffer
from xla_core.runtime.device import Device, DeviceSet
from xla_core.runtime.handle import Handle
from xla_core.runtime.signature import Signature, shape_of

__all__ = ["LoadedExecutable"]


class LoadedExecutable(Handle, abc.ABC):
    """What `Client.compile` gives: a program on its devices.

    outs = exe(a, b)             # arrays or Buffers in, a tuple of Buffers out, at once
    outs = exe.execute([x, y])   # Buffers only: the fast path

    It is a `StaticExecutable`, which is one compilation, or for a program with dynamic shapes a `DynamicExecutable`,
    which makes one for each signature that it is called with. Members that describe one compilation (`as_text`,
    `cost_analysis`, ...) need `specialize(...)` first there.
    """

    _shapes: tuple[Shape, ...]
    _results: tuple[Shape, ...]
    _donated: tuple[int, ...]
    _deleted = False
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
    def execute(self, arguments: Sequence[Buffer], *, non_donatable: Collection[int] = ()) -> tuple[Buffer, ...]:
        """Runs on one device, on Buffers that are there. Returns at once, but for compiling for new sizes.

        Args:
            non_donatable: numbers of arguments that the caller keeps though their parameters are donated: the program
                is given copies.

        Raises InvalidArgumentError for a wrong number, shape or type of arguments or another device's buffer,
        FailedPreconditionError for a deleted or donated one, ResourceExhaustedError when there is no memory for the
        results. Whatever happens later is raised where a result is read.
        """

    @abc.abstractmethod
    def __call__(self, *arguments: Any) -> tuple[Buffer, ...]:
        """As `execute`, for numpy arrays, DLPack objects, Python numbers and Buffers in any mixture."""

    @abc.abstractmethod
    def execute_sharded(
        self, arguments: Sequence[Sequence[Any]], *, non_donatable: Collection[int] = ()
    ) -> list[tuple[Buffer, ...]]:
        """Runs on all devices of the assignment: one list of arguments a device, and one tuple of results a device.

        Both are in the order of `devices`: replica r's partition p is number r * num_partitions + p. The arguments of
        all devices must have the same sizes: it is one program. Raises InvalidArgumentError that names the device for
        wrong arguments.
        """

    def delete(self) -> None:
        """Cancels executions in progress, where the backend can: their results raise CancelledError. Later executions
        are errors. Members that describe the program (`as_text()`, `artifacts()`, `serialize()`, ...) still work.
        """
        self._delete(FailedPreconditionError(f"the executable {self.name} was deleted"))

    def is_deleted(self) -> bool:
        """Deleted, or its client is closed."""
        return self._deleted

    @abc.abstractmethod
    def _delete(self, error: FailedPreconditionError) -> None:
        """Later runs raise `error`."""

    def _wrong_count(self, count: int) -> InvalidArgumentError:
        return wrong_count(self.name, self._shapes, count)

    def _not_single(self) -> InvalidArgumentError:
        return InvalidArgumentError(
            f"{self.name} runs on {len(self._devices)} devices",
            hint="use execute_sharded, one list of arguments a device",
        )

    def _check_rows(self, arguments: Sequence[Sequence[Buffer]]) -> None:
        """Raises InvalidArgumentError where they are not one list for each device."""
        lists = (Sequence, np.ndarray)
        require("arguments", arguments, lists, "a list of arguments for each device")
        if len(arguments) != len(self._devices):
            raise InvalidArgumentError(
                f"{self.name} runs on {len(self._devices)} devices ({self.num_replicas} replicas x "
                f"{self.num_partitions} partitions), arguments are given for {len(arguments)}"
            )
        for device, row in enumerate(arguments):
            require(f"the arguments of device {device}", row, lists, "a list")

    # -- what it is --------------------------------------------------------------------------------------------------

    @property
    def devices(self) -> tuple[Device, ...]:
        """Where it runs: replica r's partition p is number r * num_partitions + p."""
        return self._devices

    @property
    def parameter_shapes(self) -> tuple[Shape, ...]:
        """With the layouts that the compiler chose; those of dynamic shapes have none yet."""
        return self._shapes

    @property
    def result_shapes(self) -> tuple[Shape, ...]:
        return self._results

    @property
    def donated_parameters(self) -> tuple[int, ...]:
        return self._donated

    @abc.abstractmethod
    def signatures(self) -> tuple[Signature, ...]:
        """The signatures that it is compiled for. A program with dynamic shapes may have none yet, or several, the
        least recently used first; any other has one.
        """

    def specialize(self, *arguments: Any) -> LoadedExecutable:
        """The executable for these arguments, of a program with dynamic shapes; compiles it if need be. A
        `StaticExecutable` returns itself. What is returned stays usable when this executable drops it; when it is
        deleted, the next call compiles again.

        Args:
            arguments: one for each parameter, or what stands for it: a Shape, or its sizes as a tuple. A static
                argument must be given itself.
        """
        if len(arguments) != len(self._shapes):
            raise self._wrong_count(len(arguments))
        given = zip(arguments, self._shapes, strict=True)
        return self._specialized(arguments, [shape_of(argument, shape.element_type) for argument, shape in given])

    @abc.abstractmethod
    def _specialized(self, arguments: Sequence[Any], shapes: Sequence[Shape]) -> LoadedExecutable:
        """For arguments of these shapes, as many as there are parameters."""

    @abc.abstractmethod
    def serialize(self) -> bytes:
        """For `Client.deserialize`, in any process with the same backend, version and target."""

    # -- of one compilation ------------------------------------------------------------------------------------------

    @abc.abstractmethod
    def _compilation(self, member: str) -> Executable:
        """The backend's executable, for `member`. Raises FailedPreconditionError where there may be several, and says
        how to choose one.
        """

    @property
    def report(self) -> CompilationReport:
        """What the compiler did, in numbers."""
        return self._compilation("report").report

    @property
    def executable(self) -> Executable:
        """The backend's own."""
        return self._compilation("executable")

    def fingerprint(self) -> str:
        """The same for executables that do the same: of this program, backend, version and target."""
        return serialization.fingerprint(self._device_set, self._compilation("fingerprint()"))

    def cost_analysis(self) -> Mapping[str, float]:
        """Estimates for one execution on one device ("flops", "bytes accessed", ...)."""
        return self._compilation("cost_analysis()").cost_analysis()

    def memory_stats(self) -> ExecutableMemoryStats:
        """Bytes of one execution on one device."""
        return self._compilation("memory_stats()").memory_stats()

    def as_text(self) -> str:
        """The optimized program as HLO text."""
        return self._compilation("as_text()").as_text()

    def artifacts(self) -> Mapping[str, str | bytes]:
        """What the compiler made on the way, by name: "hlo", and what the backend adds ("llvm", "asm", ...)."""
        return self._compilation("artifacts()").artifacts()
