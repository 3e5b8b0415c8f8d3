"""How LLVM IR becomes machine code: the one step of the CPU compiler that knows a processor's instructions.

`CodeGenerator` is the step, and `LlvmCodeGenerator` is its default. `CCodeGenerator` writes C instead, for processors
that LLVM has no target for. A compiler chooses by overriding `CpuCompiler.code_generator`.
"""

from xla_backend_cpu.machine_code.c import CCodeGenerator
from xla_backend_cpu.machine_code.generator import CodeGenerator
from xla_backend_cpu.machine_code.llvm import LlvmCodeGenerator

__all__ = ["CCodeGenerator", "CodeGenerator", "LlvmCodeGenerator"]
