"""Machine: a target, the C compiler for it, and the command that runs its programs."""

from __future__ import annotations

import functools
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from xla_core import parse
from xla_core.backend import AheadOfTimeOptions, CompileOptions, Compiler
from xla_core.errors import InternalError, InvalidArgumentError, NotFoundError
from xla_core.hlo import HloModule, Shape

_DOUBLE = "HloModule double\nENTRY main { x = f32[300] parameter(0)\n ROOT y = f32[300] add(x, x) }"
_BYTE_ORDER = "int main(void) { unsigned one = 1; return *(unsigned char *)&one == 1 ? 11 : 12; }\n"


class NoProgramError(InvalidArgumentError):
    """The backend's files are no C program."""


class Machine:
    """Compiles modules by a backend, builds the examples of their files, and runs them.

    Args:
        compiler: the backend's.
        target: the target of the compilation; its name is replaced.
        options: the options of the passes.
        c_compiler: a C compiler for the target, with its options: "aarch64-linux-gnu-gcc -static".
        runner: the command that runs a program of the target, with its options: "qemu-aarch64 -L
            /usr/aarch64-linux-gnu".
        seconds: how long a program may run.
    """

    def __init__(
        self,
        compiler: Compiler,
        target: AheadOfTimeOptions,
        options: CompileOptions,
        c_compiler: str,
        runner: str,
        seconds: float = 60.0,
    ) -> None:
        self._seconds = seconds
        self._compiler, self._target, self._options = compiler, target, options
        self._c_compiler, self._runner = shlex.split(c_compiler), shlex.split(runner)
        for option, words in (("--cc", self._c_compiler), ("--runner", self._runner)):
            if words and shutil.which(words[0]) is None:
                raise NotFoundError(f"{option} {shlex.join(words)}: there is no command {words[0]!r}")
        if not self._c_compiler:
            raise InvalidArgumentError("--cc is empty", hint="name a C compiler for the target")

    @functools.cached_property
    def is_swapped(self) -> bool:
        """Whether the target's numbers have their bytes in the order that this machine doesn't use.

        Raises:
            InvalidArgumentError: the compiler makes no program that the command runs.
        """
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "order.c").write_text(_BYTE_ORDER)
            built = self._build(Path(folder), "order", "order.c")
            code = built.returncode or self._started(Path(folder), "order").returncode
        if code not in (11, 12):
            runner = shlex.join(self._runner) or "this machine"
            raise InvalidArgumentError(
                f"{shlex.join(self._c_compiler)} makes no program that {runner} runs",
                hint=f"--cc names a C compiler for the target, --runner the command that runs its programs. "
                f"{built.stderr[-300:]}",
            )
        return (code == 11) != (sys.byteorder == "little")

    def check(self) -> None:
        """Checks with a small program that the C compiler and the command accept the backend's code.

        Raises:
            InvalidArgumentError: they don't, for example because they are for another processor.
        """
        triple = self._target.triple or self._compiler.target_config.triple
        try:
            self.run(parse(_DOUBLE), [np.zeros(300, np.float32)], 2)
        except InternalError as error:
            own = self._c_compiler_triple()
            hint = "name the target by --set triple=..., and its features by --set features=... or --set cpu=..."
            if own:
                hint += f"; {self._c_compiler[0]} compiles for {own}"
            raise InvalidArgumentError(
                f"code for {triple} doesn't fit --cc and --runner: {error.message}", hint=hint
            ) from error

    def _c_compiler_triple(self) -> str:
        """The triple that GCC and Clang print, or ""."""
        done = subprocess.run([*self._c_compiler, "-dumpmachine"], capture_output=True, text=True)
        return done.stdout.strip() if done.returncode == 0 else ""

    def run(self, module: HloModule, arguments: Sequence[np.ndarray], level: int) -> list[np.ndarray]:
        """Compiles a module, which it takes over, and runs it.

        Raises:
            UnimplementedError: the backend can't compile an instruction ahead of time.
            InternalError: the program can't be built, fails or takes too long.
        """
        shapes = [s.without_layout() for s in module.result_shape.array_leaves()]
        target = self._target.model_copy(update={"name": "model"})
        options = self._options.model_copy(update={"optimization_level": level})
        files = self._compiler.ahead_of_time_files(module, target, options)
        if not {"model.o", "model_example.c"} <= files.keys():
            raise NoProgramError(
                f"the backend compiles to {', '.join(files)}, from which no C program can be built",
                hint="--runner is for backends whose `ahead_of_time_files` has an object file and an example in C",
            )
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            for file, content in files.items():
                (folder / file).write_bytes(content if isinstance(content, bytes) else content.encode())
            built = self._build(folder, "example", "model_example.c", "xla_aot.c", "model.o")
            if built.returncode:
                raise InternalError(f"the C compiler refuses the files: {built.stderr[-500:]}")
            for number, array in enumerate(arguments):
                (folder / f"{number}.bin").write_bytes(
                    self._in_order(np.ascontiguousarray(array).tobytes(), array.dtype)
                )
            done = self._started(folder, "example", *(f"{number}.bin" for number in range(len(arguments))))
            if done.returncode:
                raise InternalError(
                    f"the program {_ending(done.returncode)}: {done.stderr[-500:] or 'it printed nothing'}"
                )
            return [self._array(folder / f"model.result{number}", shape) for number, shape in enumerate(shapes)]

    def _array(self, path: Path, shape: Shape) -> np.ndarray:
        return np.frombuffer(self._in_order(path.read_bytes(), shape.dtype), shape.dtype).reshape(shape.dimensions)

    def _in_order(self, data: bytes, dtype: np.dtype) -> bytes:
        width = dtype.itemsize // (2 if dtype.kind == "c" else 1)
        return np.frombuffer(data, f"u{width}").byteswap().tobytes() if self.is_swapped and width > 1 else data

    def _build(self, folder: Path, output: str, *sources: str) -> subprocess.CompletedProcess[str]:
        command = [*self._c_compiler, "-O1", *sources, "-o", output, "-lm"]
        return subprocess.run(command, cwd=folder, capture_output=True, text=True)

    def _started(self, folder: Path, program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        command = [*self._runner, f"./{program}", *arguments]
        try:
            return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=self._seconds)
        except subprocess.TimeoutExpired:
            raise InternalError(f"the program ran for more than {self._seconds:g} seconds") from None


def _ending(status: int) -> str:
    if status >= 0:
        return f"ends with status {status}"
    name = signal.Signals(-status).name
    lacks = ", so the runner's processor lacks an instruction of the code" if name == "SIGILL" else ""
    return f"ends by {name}{lacks}"
