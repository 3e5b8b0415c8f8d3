"""CodeGenerator: the step from LLVM IR to machine code, and to functions of this process."""

from __future__ import annotations

import abc
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from xla_core.codegen import LinkedCode
    from xla_core.codegen.llvm import IrPart, LoopAbi


class CodeGenerator(abc.ABC):
    """Makes machine code of the LLVM IR of a program. Its methods may be called from several threads at once.

    The IR is text in the form that `xla_core.codegen.llvm` writes. Code that `compile` returns is only ever given to
    `load` of an equal generator, in this process or in another one, so that its format is the generator's own.
    """

    @abc.abstractmethod
    def compile(
        self, parts: Sequence[IrPart], abi: LoopAbi, level: int, *, what: str, threads: int
    ) -> tuple[bytes, ...]:
        """Compiles the parts of a program, which will be loaded together, for this process.

        Args:
            parts: the modules of the program; a function of one part may call those of another.
            abi: the processor.
            level: the optimization level, 0 to 3.
            what: the program's name, for messages.
            threads: how many threads may compile.

        Raises:
            UnimplementedError: the generator has no code for something in the IR.
            InternalError: the compiler behind it failed.
        """

    @abc.abstractmethod
    def compile_with_artifacts(
        self, ir_text: str, abi: LoopAbi, level: int, *, what: str
    ) -> tuple[tuple[bytes, ...], Mapping[str, str | bytes]]:
        """Compiles a program that is one module. Returns its code, and the code as text by its kind, such as "asm"."""

    @abc.abstractmethod
    def object_file(self, ir_text: str, abi: LoopAbi, level: int, *, what: str) -> bytes:
        """Compiles a module to an object file for the linker of the processor."""

    @abc.abstractmethod
    def load(self, code: Sequence[bytes], exports: Sequence[str], imports: Mapping[str, int]) -> LinkedCode:
        """Loads code that `compile` returned into the process.

        `imports` gives the addresses of functions that the code calls and doesn't define; others are those of the
        process, such as the C library's.

        Raises:
            InternalError: the code could not be linked.
        """

    def fingerprint(self) -> str:
        """Identifies everything besides the processor that the code depends on, such as the version of a compiler."""
        return type(self).__name__
