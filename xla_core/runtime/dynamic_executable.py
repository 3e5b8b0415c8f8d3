"""DynamicExecutable: a program whose sizes its arguments decide, compiled for each signature that it is called with."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from xla_core.backend.compile_options import CompileOptions
from xla_core.backend.executable import CompilationReport, Executable, ExecutableMemoryStats
from xla_core.errors import FailedPreconditionError, InvalidArgumentError
from xla_core.hlo.shape import Shape
from xla_core.runtime import serialization
from xla_core.runtime.buffer import Buffer
from xla_core.runtime.host_array import as_argument
from xla_core.runtime.loaded_executable import LoadedExecutable
from xla_core.runtime.program import MAX_KNOWN_ELEMENTS
from xla_core.runtime.signature import Signature, shape_of

if TYPE_CHECKING:
    from xla_core.runtime.bounded_module import BoundedModule
    from xla_core.runtime.client import Client
    from xla_core.stablehlo import PolymorphicProgram

__all__ = ["DynamicExecutable"]

_calls = itertools.count(1)

Key = tuple[Any, ...]  # of a Signature


class _Specialization:
    """One compilation, and when it was last called."""

    __slots__ = ("call", "executable", "execute", "signature", "used")

    def __init__(self, executable: LoadedExecutable, signature: Signature) -> None:
        self.executable = executable
        self.execute = executable.execute
        self.call = executable.__call__
        self.signature = signature
        self.used = next(_calls)


class _Compilation:
    """One that is under way: other threads with the same signature wait for it."""

    def __init__(self) -> None:
        self.done = threading.Event()
        self.result: _Specialization | None = None
        self.error: Exception | None = None


class DynamicExecutable(LoadedExecutable):
    """A `LoadedExecutable` that compiles itself anew for arguments of new sizes, and keeps what it compiled.

    Calls are as of any executable; the first with new sizes compiles, and waits for that. What is of one compilation
    alone (`as_text`, `cost_analysis`, ...) is of `specialize(...)`.

    Sizes that the program gives are checked: InvalidArgumentError names the argument, what is declared and what came.
    So does a program that asserts something of its shapes, in its own words.
    """

    def __init__(
        self,
        client: Client,
        program: PolymorphicProgram | BoundedModule,
        source: str | bytes,
        options: CompileOptions,
    ) -> None:
        """`source` is what the program was read from."""
        self._place(
            client,
            options,
            options.name or program.name,
            options.num_replicas or program.num_replicas,
            options.num_partitions or program.num_partitions,
        )
        self._program = program
        self._source = source
        self._shapes, self._results = program.parameters, program.results
        self._dtypes = [shape.dtype for shape in program.parameters]
        self._donated = program.donated if options.donate is None else self._numbers("donate", options.donate)
        self._static = self._checked_static(options.static_arguments)
        self._table: dict[Key, _Specialization] = {}
        self._under_way: dict[Key, _Compilation] = {}
        self._lock = threading.Lock()
        self._deleted: FailedPreconditionError | None = None

    def _checked_static(self, numbers: tuple[int, ...]) -> tuple[int, ...]:
        numbers = self._numbers("static_arguments", numbers)
        for number in numbers:
            if self._dtypes[number].kind not in "biu":
                raise InvalidArgumentError(
                    f"static_arguments names parameter {number} of {self.name}, {self._shapes[number]}",
                    hint="the values of integers and pred alone can be static",
                )
        return numbers

    def _numbers(self, option: str, numbers: tuple[int, ...]) -> tuple[int, ...]:
        for number in numbers:
            if not 0 <= number < len(self._shapes):
                raise InvalidArgumentError(f"{option} names parameter {number}, {self.name} has {len(self._shapes)}")
        return tuple(sorted(set(numbers)))

    # -- running -----------------------------------------------------------------------------------------------------

    def execute(self, arguments: Sequence[Buffer]) -> tuple[Buffer, ...]:
        found = None
        if not self._static:
            try:
                found = self._table.get(tuple([a._shape.dimensions for a in arguments]))
            except AttributeError:  # not a Buffer: said below
                found = None
        if found is None or found.executable._closed:
            found = self._specialization(arguments)
        found.used = next(_calls)
        try:
            return found.execute(arguments)
        except InvalidArgumentError:
            self._signature(arguments)  # says what the program declares, not what this compilation is for
            raise

    def __call__(self, *arguments: Any) -> tuple[Buffer, ...]:
        found = None
        if not self._static:
            key = [
                a._shape.dimensions if a.__class__ is Buffer else a.shape if a.__class__ is np.ndarray else None
                for a in arguments
            ]
            found = self._table.get(tuple(key))
        if found is None or found.executable._closed:
            arguments = tuple(self._on_host(arguments))
            found = self._specialization(arguments)
        found.used = next(_calls)
        try:
            return found.call(*arguments)
        except InvalidArgumentError:
            self._signature(self._on_host(arguments))  # says what the program declares
            raise

    def execute_sharded(self, arguments: Sequence[Sequence[Buffer]]) -> list[tuple[Buffer, ...]]:
        """As of any executable. The arguments of all devices must have the same sizes: it is one program."""
        if len(arguments) != len(self._devices):
            raise self._wrong_devices(len(arguments))
        rows = [self._on_host(row) for row in arguments]
        (first, values), *rest = [self._signature(row) for row in rows]
        for number, (signature, _) in enumerate(rest, 1):
            if signature != first:
                raise InvalidArgumentError(
                    f"the arguments of device {number} of {self.name} are {signature}, those of device 0 {first}",
                    hint="all devices run one program: give each the same sizes",
                )
        found = self._found_or_compiled(first, values)
        found.used = next(_calls)
        return found.executable.execute_sharded(rows)

    def _on_host(self, arguments: Sequence[Any]) -> list[Any]:
        """The arguments, those that are no Buffers as arrays."""
        if len(arguments) != len(self._dtypes):
            raise self._program.wrong_count(len(arguments))
        return [
            a if a.__class__ is Buffer else as_argument(a, dtype, index, self.name)
            for index, (a, dtype) in enumerate(zip(arguments, self._dtypes, strict=True))
        ]

    # -- signatures --------------------------------------------------------------------------------------------------

    def signatures(self) -> tuple[Signature, ...]:
        """What it is compiled for now, the least recently called first."""
        return tuple(s.signature for s in self._usable())

    def _usable(self) -> list[_Specialization]:
        """What is compiled and not deleted, the least recently called first."""
        with self._lock:
            made = [s for s in self._table.values() if not s.executable._closed]
        return sorted(made, key=lambda s: s.used)

    def specialize(self, *arguments: Any) -> LoadedExecutable:
        """The executable for arguments: compiled now, unless it is there. It stays usable when it is forgotten here,
        and when it is deleted, the next call compiles anew.

        Args:
            arguments: one for each parameter, or what stands for it: a Shape, or sizes as a tuple. A static argument
                must be given itself.
        """
        elements = [shape.element_type for shape in self._shapes]
        if len(arguments) != len(elements):
            raise self._program.wrong_count(len(arguments))
        shapes = [shape_of(a, element) for a, element in zip(arguments, elements, strict=True)]
        self._program.check(shapes)
        values = {i: self._value(i, arguments[i]) for i in self._static}
        return self._found_or_compiled(Signature.of(shapes, values), values).executable

    def _specialization(self, arguments: Sequence[Any]) -> _Specialization:
        """For arguments on one device."""
        if not self._single:
            raise self._not_single()
        if len(arguments) != len(self._shapes):
            raise self._program.wrong_count(len(arguments))
        return self._found_or_compiled(*self._signature(arguments))

    def _signature(self, arguments: Sequence[Any]) -> tuple[Signature, dict[int, np.ndarray]]:
        """With the values of static arguments. Raises where arguments don't fit the program."""
        for index, argument in enumerate(arguments):
            if argument.__class__ is Buffer:
                argument._require()
            elif not isinstance(argument, np.ndarray):
                raise InvalidArgumentError(
                    f"argument {index} of {self.name} is a {type(argument).__name__}, not a Buffer",
                    hint="call the executable itself, exe(...), which takes arrays, or use Client.buffer_from_host",
                )
        shapes = [a._shape if a.__class__ is Buffer else Shape.of(a) for a in arguments]
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

    def _found_or_compiled(self, signature: Signature, values: Mapping[int, np.ndarray]) -> _Specialization:
        """What there is for a signature. Of several threads that ask for one that isn't, one compiles."""
        key = signature.key
        while True:
            with self._lock:
                if self._deleted is not None:
                    raise self._deleted.with_traceback(None)
                found = self._table.get(key)
                if found is not None:
                    if not found.executable._closed:
                        return found
                    del self._table[key]
                theirs = self._under_way.get(key)
                if theirs is None:
                    mine = self._under_way[key] = _Compilation()
                    break
            theirs.done.wait()
            if theirs.result is not None:
                return theirs.result
            if theirs.error is not None:
                raise theirs.error.with_traceback(None)
            # It was interrupted, which is no matter of this thread.
        try:
            made = self._client._specialize(
                lambda: self._program.lower(signature.shapes, values), self._options, self.name, self._source
            )
            mine.result = _Specialization(made, signature)
        except Exception as error:
            mine.error = error
            raise
        finally:
            with self._lock:
                del self._under_way[key]
                if mine.result is not None:
                    self._keep(key, mine.result)
            mine.done.set()
        return mine.result

    def _keep(self, key: Key, made: _Specialization) -> None:
        if self._deleted is not None:
            made.executable.delete()
            return
        table = self._table
        while len(table) >= self._options.max_specializations:
            del table[min(table, key=lambda k: table[k].used)]
        table[key] = made

    def delete(self) -> None:
        with self._lock:
            self._deleted = FailedPreconditionError(f"the executable {self.name} was deleted")
            made = list(self._table.values())
            self._table.clear()
        for specialization in made:
            specialization.executable.delete()

    # -- what is of one compilation ----------------------------------------------------------------------------------

    def _of_one(self, what: str) -> NoReturn:
        have = ", ".join(map(str, self.signatures())) or "nothing yet"
        raise FailedPreconditionError(
            f"{self.name} is compiled for the sizes of its arguments, and {what} is of one compilation",
            hint=f"say which: exe.specialize(...).{what}, with arguments or their sizes; compiled is {have}",
        )

    @property
    def report(self) -> CompilationReport:
        self._of_one("report")

    @property
    def executable(self) -> Executable:
        self._of_one("executable")

    def cost_analysis(self) -> Mapping[str, float]:
        self._of_one("cost_analysis()")

    def memory_stats(self) -> ExecutableMemoryStats:
        self._of_one("memory_stats()")

    def as_text(self) -> str:
        self._of_one("as_text()")

    def artifacts(self) -> Mapping[str, str | bytes]:
        self._of_one("artifacts()")

    # -- serialization -----------------------------------------------------------------------------------------------

    def serialize(self) -> bytes:
        """The program as it was given, and what is compiled of it now."""
        return serialization.pack_dynamic(
            self._client.platform,
            self._client.backend_version,
            self.name,
            self._options,
            self._source,
            [(s.signature, s.executable.serialize()) for s in self._usable()],
        )

    def restore(self, signature: Signature, executable: LoadedExecutable) -> None:
        """Takes what was compiled in another process."""
        with self._lock:
            self._keep(signature.key, _Specialization(executable, signature))

    def __repr__(self) -> str:
        parameters = ", ".join(map(str, self._shapes))
        return f"<DynamicExecutable {self.name}({parameters}) on {', '.join(map(repr, self._devices))}>"
