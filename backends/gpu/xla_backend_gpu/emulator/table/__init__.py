"""The table of instructions: an entry for each form of an instruction, with its implementations for both engines."""

from xla_backend_gpu.emulator.table import (
    bits,
    comparisons,
    control,
    conversions,
    floats,
    functions,
    integers,
    matrix,
    matrix_loads,
    memory,
    moves,
    unsupported,
    warp,
)
from xla_backend_gpu.emulator.table.definition import TABLE, Definition, Effect, OperandSpec, find

__all__ = ["TABLE", "Definition", "Effect", "OperandSpec", "find"]

_GROUPS = (
    bits,
    comparisons,
    control,
    conversions,
    floats,
    functions,
    integers,
    matrix,
    matrix_loads,
    memory,
    moves,
    unsupported,
    warp,
)
