"""Code generation.

`llvm` emits kernels for every LLVM target, and `c` writes C from LLVM IR for other processors. They share the
modules here: `loop_plan` plans loops, `thread_split` divides work among threads, and `kernel_choice` records which form
and figures were chosen for a kernel. `object_linker` loads object code into this process, for devices whose kernels the
host runs.
"""

from xla_core.codegen.object_linker import LinkedCode, link_objects

__all__ = ["LinkedCode", "link_objects"]
