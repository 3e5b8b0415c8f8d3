"""Compiles a program, or loads a serialized executable, for a client's devices."""

from __future__ import annotations

import traceback
import warnings
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from pydantic import BaseModel

from xla_core import profiler
from xla_core.backend.compiler import Compiler
from xla_core.backend.executable import Executable
from xla_core.compile_options import BackendOptions, CompileOptions
from xla_core.errors import InternalError, InvalidArgumentError, ResourceExhaustedError, XlaError
from xla_core.hlo.ir.entry import donated_parameters, flatten_entry, set_donation
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.ir.module import HloModule
from xla_core.interruptible import run_interruptible
from xla_core.runtime.device import DeviceSet
from xla_core.runtime.executables import serialization
from xla_core.runtime.executables.loaded_executable import LoadedExecutable
from xla_core.runtime.executables.static_executable import StaticExecutable
from xla_core.runtime.programs.program import lower, read

if TYPE_CHECKING:
    from xla_core.runtime.executables.dynamic_executable import (
        DynamicExecutable,  # loaded only for programs with dynamic shapes
    )
    from xla_core.stablehlo import Module  # HLO programs don't need it


class Compilation:
    """Compiles programs for one client's devices.

    Args:
        model: the class of the backend's own options.
    """

    def __init__(self, devices: DeviceSet, model: type[BackendOptions], options: CompileOptions | None) -> None:
        self._devices = devices
        self._options = _checked_options(options, model)

    def compile(self, program: str | bytes | HloModule, file: str) -> LoadedExecutable:
        """Compiles like `Client.compile`, in a way that Ctrl-C can interrupt."""
        executable = run_interruptible(lambda: self._compile(program, file), "xla compile")
        if self._options.fallback == "host" and isinstance(executable, StaticExecutable):
            _warn_of_the_host(executable, stacklevel=4)  # the caller of Client.compile
        return executable

    def _compile(self, program: str | bytes | HloModule, file: str) -> LoadedExecutable:
        found = read(program, file=file)
        if isinstance(found, HloModule):
            if self._options.static_arguments:
                raise InvalidArgumentError(
                    "static_arguments are only for StableHLO programs; the sizes of HLO are static"
                )
            if any(shape.is_dynamic for shape in found.parameter_shapes):
                return self.of_dynamic_shapes(found, found.to_text())
            return self._static(lambda: found, found.name, None)
        from xla_core.stablehlo.shapes import polymorphism  # deferred: HLO programs don't need it

        assert not isinstance(program, HloModule)  # it is StableHLO
        source = program if isinstance(program, str) else bytes(program)
        if self._options.static_arguments or polymorphism.has_polymorphic_entry(found):
            return self.of_dynamic_shapes(found, source)
        module = lower(found)
        return self._static(lambda: module, module.name, source)

    def of_dynamic_shapes(self, module: Module | HloModule, source: str | bytes) -> DynamicExecutable:
        """Makes an executable that compiles the program for each signature of its calls."""
        from xla_core.runtime.executables.dynamic_executable import DynamicExecutable
        from xla_core.runtime.programs.bounded_module import BoundedModule
        from xla_core.stablehlo import PolymorphicProgram

        program = BoundedModule(module) if isinstance(module, HloModule) else PolymorphicProgram(module)

        def specialize(lower: Callable[[], HloModule]) -> StaticExecutable:
            self._devices.require_alive()
            executable = run_interruptible(lambda: self._static(lower, program.name, source), "xla compile")
            if self._options.fallback == "host":
                _warn_of_the_host(executable, stacklevel=2)
            return executable

        return DynamicExecutable(self._devices, program, source, self._options, specialize)

    def _static(self, lower: Callable[[], HloModule], name: str, source: str | bytes | None) -> StaticExecutable:
        from xla_core.passes.dump import ModuleDump  # deferred: running a program needs no passes

        options = self._options
        with ModuleDump.of_compilation(options.name or name, options.dump_to) as dump:
            if dump is not None and source is not None:
                dump.write("stablehlo.mlir", source)
            return self._compile_module(lower())

    def _compile_module(self, module: HloModule) -> StaticExecutable:
        from xla_core.hlo.verifier import verify_collectives  # deferred: running a program needs no verifier

        options, devices = self._options, self._devices
        module.num_replicas = options.num_replicas or module.num_replicas
        module.num_partitions = options.num_partitions or module.num_partitions
        verify_collectives(module, module.num_replicas, module.num_partitions)
        assignment = devices.assignment(module.num_replicas, module.num_partitions, options.device_assignment)
        module.entry_layouts_fixed |= options.use_entry_layouts
        flatten_entry(module)
        if options.donate is not None:
            set_donation(module, options.donate)
        name = options.name or module.name
        module.name = name
        donated = donated_parameters(module)
        with profiler.span(f"compile {name}", "compile"):
            executor = devices.devices[assignment[0][0]].executor
            executable = _by_backend(devices, lambda c: c.compile(module, options, executor))
        _require_no_other_donation(devices, executable.module, donated)
        return StaticExecutable(devices, executable, options, name)


def _require_no_other_donation(devices: DeviceSet, module: HloModule, donated: tuple[int, ...]) -> None:
    """Raises InternalError if the compiled module donates a parameter whose array the caller keeps."""
    others = set(donated_parameters(module)) - set(donated)
    if others:
        names = ", ".join(f"{n} (%{module.entry.parameters[n].name})" for n in sorted(others))
        raise InternalError(
            f"the compiler of backend {devices.platform.name!r} donates parameter {names} of {module.name}, which the "
            "program does not donate; a run would overwrite or delete the caller's array",
            hint="this is a bug of the backend: a pass adds to module.input_output_aliases or module.buffer_donors",
        )


def _warn_of_the_host(executable: StaticExecutable, stacklevel: int) -> None:
    """Warns which instructions the host runs and what the device lacks for them, because the program may be slow."""
    from xla_core.analysis import host_summary  # deferred: most programs have no fallback

    summary = host_summary(executable.placement())
    if summary:
        warnings.warn(f"{executable.name}: {summary}", RuntimeWarning, stacklevel)


def load(devices: DeviceSet, executable: Executable) -> StaticExecutable:
    executable.target_config = devices.platform.compiler.target_config
    return StaticExecutable(devices, executable, CompileOptions(), executable.module.name)


def deserialize(
    devices: DeviceSet,
    model: type[BackendOptions],
    data: bytes,
    assignment: tuple[tuple[int, ...], ...] | None = None,
) -> LoadedExecutable:
    header, payload = serialization.unpack(data, devices)
    if assignment is not None:
        options = header.options.model_copy(update={"device_assignment": assignment})
        header = header.model_copy(update={"options": options})
    dynamic = serialization.unpack_dynamic(header, payload)
    if dynamic is None:
        return _load(devices, model, header, payload)
    source, compiled = dynamic
    options = header.options.model_copy(update={"name": header.name})
    made = Compilation(devices, model, options).of_dynamic_shapes(read(source), source)
    for signature, part in compiled:
        made.restore(signature, _load(devices, model, *serialization.unpack(part, devices)))
    return made


def _load(
    devices: DeviceSet, model: type[BackendOptions], header: serialization.Header, payload: bytes
) -> StaticExecutable:
    options = _checked_options(header.options, model)
    assignment = options.device_assignment
    executor = devices.find(assignment[0][0] if assignment and assignment[0] else None).executor
    executable = run_interruptible(
        lambda: _by_backend(devices, lambda c: c.deserialize(payload, options, executor)), "xla deserialize"
    )
    executable.target_config = devices.platform.compiler.target_config
    return StaticExecutable(devices, executable, options, header.name)


def _by_backend(devices: DeviceSet, work: Callable[[Compiler], Executable]) -> Executable:
    """Runs a part of a backend's compiler. Its exceptions become an XlaError: INTERNAL, unless memory ran out."""
    try:
        return work(devices.platform.compiler)
    except XlaError:
        raise
    except MemoryError as error:
        raise ResourceExhaustedError(
            f"the compiler of backend {devices.platform.name!r} ran out of memory",
            hint="free memory, raise the process's limits (ulimit -v), or compile the program in smaller parts",
        ) from error
    except Exception as error:  # a vendor's compiler may raise anything
        frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
        seen = (value for frame in reversed(frames) for value in frame.f_locals.values())
        instruction = next((value for value in seen if isinstance(value, HloInstruction)), None)
        at = "" if instruction is None else f" at the instruction {instruction}"
        last = traceback.extract_tb(error.__traceback__)[-1]
        raise InternalError(
            f"the compiler of backend {devices.platform.name!r} failed{at}: {type(error).__name__}: {error} "
            f"({last.filename}:{last.lineno} in {last.name})",
            op=None if instruction is None else instruction.opcode,
            location=None if instruction is None else instruction.location,
            hint="this is a bug of the backend; its maker needs the program and the exception that caused this one",
        ) from error


def _checked_options(options: CompileOptions | None, model: type[BackendOptions]) -> CompileOptions:
    options = options if options is not None else CompileOptions()
    if not isinstance(options, CompileOptions):
        raise InvalidArgumentError(f"options must be CompileOptions, not {type(options).__name__}")
    if isinstance(options.backend, model):
        return options
    given = options.backend.model_dump() if isinstance(options.backend, BaseModel) else options.backend
    if not isinstance(given, Mapping):
        raise InvalidArgumentError(
            f"CompileOptions.backend must be {model.__name__} or a mapping, not {type(given).__name__}"
        )
    return options.model_copy(update={"backend": model(**given)})
