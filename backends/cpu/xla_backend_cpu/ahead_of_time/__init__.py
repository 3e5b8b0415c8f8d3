"""Compiles programs to files that a C program is built with: an object file, its header, a runtime, an example."""

from xla_backend_cpu.ahead_of_time.compilation import compile_files

__all__ = ["compile_files"]
