"""The plugin interface of backends: one pluggy hook that returns a BackendSpec."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import pluggy
from pydantic import BaseModel

from xla_core.backend.compiler import Compiler
from xla_core.backend.event import Event
from xla_core.backend.executable import Executable
from xla_core.backend.platform import Platform
from xla_core.backend.stream import Kernel, Stream
from xla_core.backend.stream_executor import StreamExecutor
from xla_core.backend.transfer_manager import TransferManager
from xla_core.compile_options import BackendOptions

ENTRY_POINT_GROUP = "xla_core.backends"
PROJECT = "xla_core"

hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)


@dataclasses.dataclass(frozen=True, slots=True)
class Requirement:
    """Something that a backend needs, and whether it is present. `hint` says how to get it."""

    name: str
    met: bool
    detail: str = ""
    hint: str = ""


@dataclasses.dataclass(frozen=True, slots=True)
class Availability:
    """Whether a backend can be used on this machine now. Where it can't, `cause` is one sentence that says why."""

    available: bool
    cause: str = ""
    requirements: tuple[Requirement, ...] = ()

    @staticmethod
    def of(*requirements: Requirement) -> Availability:
        """Makes an Availability that is true if all requirements are met."""
        unmet = [r for r in requirements if not r.met]
        cause = "; ".join(f"{r.name}: {r.detail or 'missing'}" for r in unmet)
        return Availability(not unmet, cause, requirements)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class BackendSpec:
    """The description of a backend, which the core reads before it uses the backend.

    Attributes:
        version: the version of the backend itself; serialized executables record it.
        contract_versions: the versions of the contract (major, minor) that the backend accepts.
        platform: the platform's class; called without arguments, at most once for each process and client.
        compiler, executable, stream_executor, transfer_manager, stream, event, kernel: the classes that the platform
            uses, so that loading can check them without a device. `stream` and `event` may stay None for the core's
            own classes, `kernel` where the backend has none.
        probe: returns whether the backend's requirements are met. It is quick, opens no device and raises nothing.
        priority: the default platform is the available one with the highest priority.
        options: the model of `CompileOptions.backend`.
        flags: the backend's own flags, as a pydantic model; see `xla_core.config`.
        description: one line for `xla backends`.
    """

    version: str
    contract_versions: tuple[tuple[int, int], ...]
    platform: type[Platform]
    compiler: type[Compiler]
    executable: type[Executable]
    stream_executor: type[StreamExecutor]
    transfer_manager: type[TransferManager] = TransferManager
    stream: type[Stream] | None = None
    event: type[Event] | None = None
    kernel: type[Kernel] | None = None
    probe: Callable[[], Availability] = lambda: Availability(True)
    priority: int = 0
    options: type[BackendOptions] = BackendOptions
    flags: type[BaseModel] | None = None
    description: str = ""

    def classes(self) -> dict[str, tuple[type, type]]:
        """Returns the given classes by field name, each with the class of the contract that it must implement."""
        contract: dict[str, type] = {
            "platform": Platform,
            "compiler": Compiler,
            "executable": Executable,
            "stream_executor": StreamExecutor,
            "transfer_manager": TransferManager,
            "stream": Stream,
            "event": Event,
            "kernel": Kernel,
        }
        return {name: (getattr(self, name), base) for name, base in contract.items() if getattr(self, name) is not None}


class BackendHooks:
    """The hooks that the core calls. A backend's entry point names a module that implements them with `hookimpl`."""

    @hookspec(firstresult=True)
    def xla_backend(self) -> BackendSpec:
        """Returns the spec of the backend in this distribution.

        The implementation imports as little as possible and touches no device. Importing it, this hook and the probe
        start no thread, write no file, leave none open, and start no program but those by which Python looks for
        libraries and names the machine (`ctypes.util.find_library`, `platform.processor`).

        Importing the backend prints nothing, and no use of it prints to the standard output. Neither changes what
        belongs to the whole process, such as environment variables, signal handlers, random states or numpy's error
        state.

        Raises:
            XlaError: where the backend can't work in this installation; `xla backends` shows the message. An
                InvalidArgumentError is a mistake in the backend's code.
        """
        raise NotImplementedError  # pluggy calls the implementations, never this
