"""DynamicExecutable: a program with dynamic shapes, which is compiled for each signature of its calls."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import numpy as np

from xla_core.backend.event import Event
from xla_core.backend.executable import Executable
from xla_core.checks import require
from xla_core.compile_options import CompileOptions
from xla_core.errors import FailedPreconditionError, InvalidArgumentError
from xla_core.hlo.evaluation.dynamic_shape_program import DynamicShapeProgram
from xla_core.hlo.ir.module import HloModule
from xla_core.hlo.values.shape import Shape
from xla_core.runtime.buffers.buffer import Buffer
from xla_core.runtime.device import DeviceSet
from xla_core.runtime.executables import serialization
from xla_core.runtime.executables.loaded_executable import LoadedExecutable
from xla_core.runtime.executables.specialization_cache import Specialization, SpecializationCache
from xla_core.runtime.executables.static_executable import StaticExecutable
from xla_core.runtime.host_array import as_argument
from xla_core.runtime.programs.program import MAX_KNOWN_ELEMENTS
from xla_core.runtime.programs.signature import Signature


class DynamicExecutable(LoadedExecutable):
    """A `LoadedExecutable` that is compiled for each new signature, and keeps its compilations.

    The first call with new sizes waits for the compilation. An argument that doesn't fit the declared shape raises
    InvalidArgumentError, which names the argument and both shapes. A failed shape assertion of the program raises
    InvalidArgumentError with the assertion's message.
    """

    def __init__(
        self,
        device_set: DeviceSet,
        program: DynamicShapeProgram,
        source: str | bytes,
        options: CompileOptions,
        compile: Callable[[Callable[[], HloModule]], StaticExecutable],
    ) -> None:
        """Makes an executable without compilations.

        `source` is the text or bytecode that the program was read from. `compile` takes a function that lowers the
        program, and compiles the module that it returns.
        """
        super().__init__(
            device_set,
            options,
            options.name or program.name,
            options.num_replicas or program.num_replicas,
            options.num_partitions or program.num_partitions,
        )
        self._program = program
        self._compile = compile
        self._source = source
        self._shapes, self._results = program.parameters, program.results
        self._dtypes = [shape.dtype for shape in program.parameters]
        self._donated = program.donated if options.donate is None else self._numbers("donate", options.donate)
        self._static = self._checked_static(options.static_arguments)
        self._cache = SpecializationCache(options.max_specializations)

    def _checked_static(self, numbers: tuple[int, ...]) -> tuple[int, ...]:
        numbers = self._numbers("static_arguments", numbers)
        for number in numbers:
            if self._dtypes[number].kind not in "biu":
                raise InvalidArgumentError(
                    f"static_arguments names parameter {number} of {self.name}, {self._shapes[number]}",
                    hint="only arguments of integer types and pred can be static",
                )
        return numbers

    def _numbers(self, option: str, numbers: tuple[int, ...]) -> tuple[int, ...]:
        for number in numbers:
            if not 0 <= number < len(self._shapes):
                raise InvalidArgumentError(f"{option} names parameter {number}, {self.name} has {len(self._shapes)}")
        return tuple(sorted(set(numbers)))

    # -- running -----------------------------------------------------------------------------------------------------

    def execute(
        self,
        arguments: Sequence[Buffer],
        *,
        non_donatable: Collection[int] = (),
        ends: list[Event] | None = None,
    ) -> tuple[Buffer, ...]:
        found = None
        if not self._static:
            try:
                found = self._cache.lookup(tuple([a.shape.dimensions for a in arguments]))
            except (AttributeError, TypeError):  # not a Buffer: _specialization raises the error
                found = None
        if found is None:
            found = self._specialization(arguments)
        try:
            return found.executable.execute(arguments, non_donatable=non_donatable, ends=ends)
        except InvalidArgumentError:
            self._signature(arguments)  # its errors name the declared shapes, not those of this compilation
            raise

    def __call__(self, *arguments: Any) -> tuple[Buffer, ...]:
        found = None
        if not self._static:
            key = [
                a.shape.dimensions if a.__class__ is Buffer else a.shape if a.__class__ is np.ndarray else None
                for a in arguments
            ]
            found = self._cache.lookup(tuple(key))
        if found is None:
            arguments = tuple(self._on_host(arguments))
            found = self._specialization(arguments)
        try:
            return found.executable(*arguments)
        except InvalidArgumentError:
            self._signature(self._on_host(arguments))  # its errors name the declared shapes
            raise

    def execute_sharded(
        self,
        arguments: Sequence[Sequence[Any]],
        *,
        non_donatable: Collection[int] = (),
        ends: list[Event] | None = None,
    ) -> list[tuple[Buffer, ...]]:
        self._check_rows(arguments)
        rows = [self._on_host(row) for row in arguments]
        (first, values), *rest = [self._signature(row) for row in rows]
        for number, (signature, _) in enumerate(rest, 1):
            if signature != first:
                raise InvalidArgumentError(
                    f"the arguments of device {number} of {self.name} are {signature}, those of device 0 {first}",
                    hint="all devices run one program: give each the same sizes",
                )
        return self._found_or_compiled(first, values).executable.execute_sharded(
            rows, non_donatable=non_donatable, ends=ends
        )

    def _on_host(self, arguments: Sequence[Any]) -> list[Any]:
        """Converts the arguments that are not Buffers to arrays."""
        if len(arguments) != len(self._dtypes):
            raise self._wrong_count(len(arguments))
        return [
            a if a.__class__ is Buffer else as_argument(a, dtype, index, self.name)
            for index, (a, dtype) in enumerate(zip(arguments, self._dtypes, strict=True))
        ]

    # -- signatures --------------------------------------------------------------------------------------------------

    def signatures(self) -> tuple[Signature, ...]:
        return tuple(s.signature for s in self._cache.usable())

    def _specialized(self, arguments: Sequence[Any], shapes: Sequence[Shape]) -> StaticExecutable:
        self._program.check(shapes)
        values = {i: self._value(i, arguments[i]) for i in self._static}
        return self._found_or_compiled(Signature.of(shapes, values), values).executable

    def _specialization(self, arguments: Sequence[Any]) -> Specialization:
        """Returns the compilation for the arguments of a program on one device; compiles it if needed."""
        if not self._single:
            raise self._not_single()
        require("arguments", arguments, (Sequence, np.ndarray), "a list of Buffers")
        if len(arguments) != len(self._shapes):
            raise self._wrong_count(len(arguments))
        return self._found_or_compiled(*self._signature(arguments))

    def _signature(self, arguments: Sequence[Any]) -> tuple[Signature, dict[int, np.ndarray]]:
        """Returns the arguments' signature and the values of static arguments.

        Raises InvalidArgumentError for arguments that don't fit the program.
        """
        for index, argument in enumerate(arguments):
            if argument.__class__ is Buffer:
                argument.require_memory()
            elif not isinstance(argument, np.ndarray):
                raise InvalidArgumentError(
                    f"argument {index} of {self.name} is a {type(argument).__name__}, not a Buffer",
                    hint="call the executable itself, exe(...), which takes arrays, or use Client.buffer_from_host",
                )
        shapes = [a.shape if a.__class__ is Buffer else Shape.of(a) for a in arguments]
        self._program.check(shapes)
        values = {i: self._value(i, arguments[i]) for i in self._static}
        return Signature.of(shapes, values), values

    def _value(self, index: int, argument: Any) -> np.ndarray:
        if isinstance(argument, (Shape, tuple)):
            raise InvalidArgumentError(f"argument {index} of {self.name} is static: give its value, not {argument}")
        dtype = self._dtypes[index]
        is_buffer = argument.__class__ is Buffer
        array = np.asarray(argument) if is_buffer else as_argument(argument, dtype, index, self.name)
        if array.size > MAX_KNOWN_ELEMENTS:
            raise InvalidArgumentError(
                f"argument {index} of {self.name} is static and has {array.size} elements; "
                f"{MAX_KNOWN_ELEMENTS} are the most"
            )
        return array

    def _found_or_compiled(self, signature: Signature, values: Mapping[int, np.ndarray]) -> Specialization:
        return self._cache.find_or_compile(
            signature,
            lambda: self._compile(lambda: self._program.lower(signature.shapes, values)),
        )

    def _delete(self, error: FailedPreconditionError) -> None:
        self._deleted = True
        self._cache.close(error)

    def _compilation(self, member: str) -> Executable:
        have = ", ".join(map(str, self.signatures())) or "nothing yet"
        raise FailedPreconditionError(
            f"{self.name} is compiled for the sizes of its arguments, and {member} is of one compilation",
            hint=f"say which: exe.specialize(...).{member}, with arguments or their sizes; compiled is {have}",
        )

    # -- serialization -----------------------------------------------------------------------------------------------

    def serialize(self) -> bytes:
        """Serializes the program's source and its current compilations."""
        return serialization.pack_dynamic(
            self._device_set,
            self.name,
            self._options,
            self._source,
            [(s.signature, s.executable.serialize()) for s in self._cache.usable()],
        )

    def restore(self, signature: Signature, executable: StaticExecutable) -> None:
        self._cache.add(signature, executable)

    def __repr__(self) -> str:
        parameters = ", ".join(map(str, self._shapes))
        return f"<DynamicExecutable {self.name}({parameters}) on {', '.join(map(repr, self._devices))}>"
