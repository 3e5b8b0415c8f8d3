"""CCodeGenerator: C source from LLVM IR, compiled by any C compiler and loaded as a shared library."""

from __future__ import annotations

import concurrent.futures
import ctypes
import functools
import os
import shlex
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from xla_backend_cpu.machine_code.generator import CodeGenerator
from xla_core.errors import InternalError, UnavailableError

if TYPE_CHECKING:
    from xla_core.codegen import LinkedCode
    from xla_core.codegen.c import CSource
    from xla_core.codegen.llvm import IrPart, LoopAbi


_LEVELS = {0: "-O0", 1: "-O1", 2: "-O3", 3: "-O3"}
_MEANING = ("-std=c11", "-fPIC", "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math")
_LINKED = ("-lm", "-pthread")


class CCodeGenerator(CodeGenerator):
    """Translates a program to C and compiles it. LLVM's passes that don't depend on the processor run before.

    Args:
        compiler: the command of the C compiler, with its options for the processor; None takes $CC, or else `cc`.
        options: more options, such as `-march=native`.
    """

    def __init__(self, compiler: str | None = None, options: Sequence[str] = ()) -> None:
        self.command = (*shlex.split(compiler or os.environ.get("CC") or "cc"), *options)

    def compile(
        self, parts: Sequence[IrPart], abi: LoopAbi, level: int, *, what: str, threads: int
    ) -> tuple[bytes, ...]:
        """Makes one shared library of all parts."""
        defined = {name for part in parts for name in _defined(part.text)}
        sources = [self._translated(part.text, abi, level, what, defined) for part in parts]
        return (self._library(sources, level, what, threads),)

    def compile_with_artifacts(
        self, ir_text: str, abi: LoopAbi, level: int, *, what: str
    ) -> tuple[tuple[bytes, ...], Mapping[str, str | bytes]]:
        source = self._translated(ir_text, abi, level, what, set(_defined(ir_text)))
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "program.c")
            path.write_text(source.text)
            self._run([_LEVELS[level], *_MEANING, "-S", "program.c", "-o", "program.s"], path.parent, what)
            asm = Path(folder, "program.s").read_text()
        return (self._library([source], level, what, 1),), {"c": source.text, "asm": asm}

    def object_file(self, ir_text: str, abi: LoopAbi, level: int, *, what: str) -> bytes:
        from xla_core.codegen.c import CTarget, prepare_ir, translate

        target = CTarget(abi.pointer_bytes, abi.big_endian)
        source = translate(prepare_ir(ir_text, target, level=level, what=what), target)
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "program.c").write_text(source.text)
            self._run([_LEVELS[level], *_MEANING, "-c", "program.c", "-o", "program.o"], Path(folder), what)
            return Path(folder, "program.o").read_bytes()

    def load(self, code: Sequence[bytes], exports: Sequence[str], imports: Mapping[str, int]) -> LinkedCode:
        from xla_core.codegen import LinkedCode
        from xla_core.codegen.c import IMPORT_PREFIX

        (data,) = code
        with tempfile.NamedTemporaryFile(suffix=".so") as file:
            file.write(data)
            file.flush()
            try:
                library = ctypes.CDLL(file.name, mode=os.RTLD_LOCAL | os.RTLD_NOW)
            except OSError as error:
                raise InternalError(f"the program could not be loaded: {error}") from error
        for name, address in imports.items():
            try:
                place = ctypes.c_void_p.in_dll(library, f"{IMPORT_PREFIX}{name}")
            except ValueError:  # the program doesn't call it
                continue
            place.value = address
        addresses = {name: ctypes.cast(getattr(library, name), ctypes.c_void_p).value or 0 for name in exports}
        return LinkedCode(library, addresses)

    def fingerprint(self) -> str:
        return f"{shlex.join(self.command)} ({_version(self.command[0])})"

    # -- steps -------------------------------------------------------------------------------------------------------

    def _translated(self, ir_text: str, abi: LoopAbi, level: int, what: str, defined: set[str]) -> CSource:
        """The C of a part. The functions that no part defines are called through variables, which `load` sets."""
        from xla_core.codegen.c import CTarget, prepare_ir, translate

        target = CTarget(abi.pointer_bytes, abi.big_endian)
        text = prepare_ir(ir_text, target, level=level, what=what)
        return translate(text, target, imported=lambda name: name not in defined and not _is_system(name))

    def _library(self, sources: Sequence[CSource], level: int, what: str, threads: int) -> bytes:
        """Compiles the sources, and the variables of the functions that they import, to a shared library."""
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            imports: dict[str, str] = {}
            for number, source in enumerate(sources):
                (folder / f"part{number}.c").write_text(source.text)
                imports |= source.imports
            variables = "".join(f"{text};\n" for text in imports.values())
            (folder / "imports.c").write_text(f"#include <stdint.h>\n#include <stdbool.h>\n{variables}")
            flags = [_LEVELS[level], *_MEANING]

            def compile_part(number: int) -> None:
                self._run([*flags, "-c", f"part{number}.c", "-o", f"part{number}.o"], folder, what)

            with concurrent.futures.ThreadPoolExecutor(max_workers=max(1, threads)) as pool:
                list(pool.map(compile_part, range(len(sources))))
            objects = [f"part{number}.o" for number in range(len(sources))]
            linked = ["-shared", "-Wl,-Bsymbolic", "-o", "program.so", *objects, "imports.c", *_LINKED]
            self._run([*flags, *linked], folder, what)
            return (folder / "program.so").read_bytes()

    def _run(self, arguments: Sequence[str], folder: Path, what: str) -> None:
        try:
            done = subprocess.run([*self.command, *arguments], cwd=folder, capture_output=True, text=True)
        except OSError as error:
            raise UnavailableError(
                f"the C compiler {self.command[0]!r} cannot be started: {error}",
                hint="install one, or name another in the environment variable CC",
            ) from error
        if done.returncode:
            said = [line for line in done.stderr.splitlines() if "error" in line] or done.stderr.splitlines()[-1:]
            raise InternalError(
                f"{self.command[0]} failed on the C of {what}: {' '.join(said)[:500]}",
                hint="`xla compile --emit c` shows the C; this is a defect of the translation or of the compiler",
            )


def _is_system(name: str) -> bool:
    """Whether the C library or the thread library of the process has a function."""
    return name.startswith(("pthread_", "sched_"))


def _defined(ir_text: str) -> list[str]:
    """The names of the functions that a module defines."""
    heads = (line.partition("(")[0] for line in ir_text.splitlines() if line.startswith("define "))
    return [head.rpartition("@")[2] for head in heads]


@functools.cache
def _version(compiler: str) -> str:
    try:
        done = subprocess.run([compiler, "--version"], capture_output=True, text=True)
    except OSError:
        return "not installed"
    return (done.stdout.splitlines() or ["unknown"])[0]
