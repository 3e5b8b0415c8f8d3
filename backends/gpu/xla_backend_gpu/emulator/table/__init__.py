"""The table of instructions: an entry for each form of an instruction, with its implementations for both engines."""

from xla_backend_gpu.emulator.table import (
    bits,
    comparisons,
    control,
    conversions,
    floats,
    functions,
    group_products,
    integers,
    matrix,
    matrix_loads,
    memory,
    moves,
    unsupported,
    warp,
)
from xla_backend_gpu.emulator.table.definition import GROUP_EFFECTS, TABLE, Definition, Effect, OperandSpec, find

__all__ = ["GROUP_EFFECTS", "TABLE", "Definition", "Effect", "OperandSpec", "find"]

_GROUPS = (
    bits,
    comparisons,
    control,
    conversions,
    floats,
    functions,
    group_products,
    integers,
    matrix,
    matrix_loads,
    memory,
    moves,
    unsupported,
    warp,
)
