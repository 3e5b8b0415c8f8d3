"""The CPU backend with faulty machine code: LLVM IR is rewritten between emission and code generation.

A rewriting is a function from the text of a module to its faulty text. It is applied to the emitter's IR, or to the IR
after LLVM's passes, where loops have vector bodies and tails.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import re
from collections.abc import Callable, Sequence
from typing import Any

from xla_backend_cpu import xla_backend
from xla_backend_cpu.compiler import CpuCompiler
from xla_backend_cpu.machine_code import CodeGenerator, LlvmCodeGenerator
from xla_backend_cpu.platform import CpuPlatform

from tests.conformance.zoo.kernels import EFFECTS
from tests.conformance.zoo.mutant import Mutant
from xla_core.backend import BackendSpec
from xla_core.codegen.llvm import IrPart, LoopAbi, compile_ir

Rewriting = Callable[[str], str]


def native_mutant(name: str, fault: str, rewriting: Rewriting, *, optimized: bool = False, **fields: Any) -> Mutant:
    """The CPU backend whose code `rewriting` changes: what the emitter wrote or, if `optimized`, what LLVM made of it."""
    make = functools.partial(_backend, rewriting, optimized)
    return Mutant(name=f"code/{name}", breaks="ops", fault=fault, make=make, **{"select": "test_ops", **fields})


def _backend(rewriting: Rewriting, optimized: bool) -> BackendSpec:
    class Compiler(CpuCompiler):
        @functools.cached_property
        def code_generator(self) -> CodeGenerator:
            return _WrongGenerator(rewriting, optimized)

    class Platform(CpuPlatform):
        def create_compiler(self) -> CpuCompiler:
            return Compiler()

    return dataclasses.replace(xla_backend(), platform=Platform, compiler=Compiler)


class _WrongGenerator(LlvmCodeGenerator):
    """LLVM's code generator, with IR that a rewriting changes before or after LLVM's passes."""

    def __init__(self, rewriting: Rewriting, optimized: bool) -> None:
        self._rewriting, self._optimized = rewriting, optimized

    def compile(
        self, parts: Sequence[IrPart], abi: LoopAbi, level: int, *, what: str, threads: int
    ) -> tuple[bytes, ...]:
        return tuple(self._object(part, abi, level, what) for part in parts)

    def _object(self, part: IrPart, abi: LoopAbi, level: int, what: str) -> bytes:
        right = part.text
        if self._optimized:
            right = compile_ir(right, abi, level, jit=True, what=what, optimized=part.optimized).ir()
        wrong = self._rewriting(right)
        EFFECTS[0] += wrong != right
        level = 0 if self._optimized else level
        return compile_ir(_declared_once(wrong), abi, level, jit=True, what=what, optimized=part.optimized).object()


def _declared_once(text: str) -> str:
    """Drops declarations of functions that are declared before, which LLVM refuses."""
    lines = text.splitlines()
    declared = dict.fromkeys(line for line in lines if line.startswith("declare"))
    return "\n".join([*(line for line in lines if not line.startswith("declare")), *declared, ""])


def replaced(pattern: str, replacement: str | Callable[[re.Match[str]], str]) -> Rewriting:
    """Replaces each match of a regular expression, in which ^ and $ match at lines."""
    return functools.partial(re.compile(pattern, re.MULTILINE).sub, replacement)


def bounds(loop: str, changed: str) -> Rewriting:
    """Changes the bound of the loops of a name: `changed` has the instructions that compute %wrong from {bound}.

    {counter} is the loop's counter; other names of values must begin with %wrong.
    """
    numbers = itertools.count()

    def change(found: re.Match[str]) -> str:
        own = f"%wrong{next(numbers)}"
        lines = changed.format(bound=found["bound"], counter=found["counter"]).replace("%wrong", own)
        is_within, counter, label = found["name"], found["counter"], found["label"]
        return f"  {lines}\n  {is_within} = icmp ult i64 {counter}, {own}\n  br i1 {is_within}, label %{label}."

    pattern = (
        r"^  (?P<name>%v\d+) = icmp ult i64 (?P<counter>%v\d+), (?P<bound>\S+)\n"
        rf"  br i1 %v\d+, label %(?P<label>{loop}\.body)\."
    )
    return replaced(pattern, change)


_KERNEL = re.compile(r"^define void @kernel_\d+_\w*\(.*\n(?:[^}].*\n)*?}", re.MULTILINE)
_BEGIN = """entry:
  %control = alloca i32
  %control.before = alloca i32
  call void @llvm.x86.sse.stmxcsr(ptr %control.before)
  %control.right = load volatile i32, ptr %control.before
  %control.wrong = or i32 %control.right, BITS
  store volatile i32 %control.wrong, ptr %control
  call void @llvm.x86.sse.ldmxcsr(ptr %control)
"""
_END = "  call void @llvm.x86.sse.ldmxcsr(ptr %control.before)\n  ret void"
_DECLARATIONS = "declare void @llvm.x86.sse.stmxcsr(ptr)\ndeclare void @llvm.x86.sse.ldmxcsr(ptr)\n"


def with_control_bits(bits: int) -> Rewriting:
    """Sets bits of MXCSR, which rules rounding and denormals, while a kernel runs."""

    def change(kernel: re.Match[str]) -> str:
        return kernel[0].replace("entry:\n", _BEGIN.replace("BITS", str(bits)), 1).replace("  ret void", _END)

    return lambda text: _KERNEL.sub(change, text) + _DECLARATIONS
