"""How LLVM IR becomes machine code: the one step of the CPU compiler that knows how to write a processor's code.

`CodeGenerator` is the step, and `LlvmCodeGenerator` is its default. A compiler for a processor without an LLVM target
overrides `CpuCompiler.code_generator`.
"""

from xla_backend_cpu.machine_code.generator import CodeGenerator, NativeLibrary
from xla_backend_cpu.machine_code.llvm import LlvmCodeGenerator

__all__ = ["CodeGenerator", "LlvmCodeGenerator", "NativeLibrary"]
