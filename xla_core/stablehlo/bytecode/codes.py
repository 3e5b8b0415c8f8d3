"""Codes of attributes and types in MLIR bytecode, for readers and writers.

Source: openxla/stablehlo, stablehlo/dialect/VhloBytecode.cpp; llvm-project, BuiltinDialectBytecode.td.
"""

from __future__ import annotations

import enum

from xla_core.hlo.values.element_type import ElementType


class VhloAttribute(enum.IntEnum):
    ARRAY = 1
    BOOLEAN = 2
    COMPARISON_DIRECTION = 3
    COMPARISON_TYPE = 4
    CUSTOM_CALL_API_VERSION = 5
    DICTIONARY = 6
    FFT_TYPE = 7
    FLOAT = 8
    INTEGER = 9
    OUTPUT_OPERAND_ALIAS = 10
    PRECISION = 11
    RNG_ALGORITHM = 12
    RNG_DISTRIBUTION = 13
    STRING = 14
    TENSOR = 15
    TRANSPOSE = 16
    TYPE = 17
    TYPE_EXTENSIONS = 18
    RESULT_ACCURACY_MODE = 19
    RESULT_ACCURACY = 20
    SUB_AXIS_INFO = 21
    AXIS_REF = 22
    REPLICA_GROUP_MESH_AXES = 23
    MESH_AXIS = 24
    MESH = 25


ENUM_CODES: dict[str, tuple[VhloAttribute, int]] = {
    "comparison_direction": (VhloAttribute.COMPARISON_DIRECTION, 0),
    "comparison_type": (VhloAttribute.COMPARISON_TYPE, 0),
    "fft_type": (VhloAttribute.FFT_TYPE, 0),
    "precision": (VhloAttribute.PRECISION, 0),
    "rng_algorithm": (VhloAttribute.RNG_ALGORITHM, 0),
    "rng_distribution": (VhloAttribute.RNG_DISTRIBUTION, 1),
    "transpose": (VhloAttribute.TRANSPOSE, 0),
    "result_accuracy_mode": (VhloAttribute.RESULT_ACCURACY_MODE, 0),
}
"""For each enum of StableHLO: its attribute code, and the number of its first case."""


class VhloType(enum.IntEnum):
    """Types of the dialect vhlo that are not in `ElementType`."""

    COMPLEX = 1
    FUNCTION = 8
    INDEX = 9
    RANKED_TENSOR = 20
    RANKED_TENSOR_WITH_ENCODING = 21
    TOKEN = 22
    TUPLE = 23
    UNIFORM_QUANTIZED = 24
    UNRANKED_TENSOR = 25
    WITNESS = 26
    UNIFORM_QUANTIZED_PER_AXIS = 30
    NONE = 33
    TF32 = 34
    BUFFER = 41
    FUTURE = 42


SCALAR_CODES: dict[str, int] = {t.mlir_name: t.vhlo for t in ElementType if t.vhlo is not None} | {
    "index": VhloType.INDEX,
    "none": VhloType.NONE,
    "tf32": VhloType.TF32,
}
"""Codes of scalar types, by their names in StableHLO."""


class BuiltinAttribute(enum.IntEnum):
    """Attributes and locations of the dialect builtin."""

    ARRAY = 0
    DICTIONARY = 1
    STRING = 2
    STRING_WITH_TYPE = 3
    FLAT_SYMBOL_REF = 4
    SYMBOL_REF = 5
    TYPE = 6
    UNIT = 7
    INTEGER = 8
    FLOAT = 9
    CALL_SITE_LOC = 10
    FILE_LINE_COL_LOC = 11
    FUSED_LOC = 12
    FUSED_LOC_WITH_METADATA = 13
    NAME_LOC = 14
    UNKNOWN_LOC = 15
    DENSE_RESOURCE_ELEMENTS = 16
    DENSE_ARRAY = 17
    DENSE_INT_OR_FP_ELEMENTS = 18
    DENSE_STRING_ELEMENTS = 19
    SPARSE_ELEMENTS = 20
    DISTINCT = 21
    FILE_LINE_COL_RANGE = 22


LOCATION_CODES = tuple(code for code in BuiltinAttribute if "_LOC" in code.name or "_RANGE" in code.name)
"""The builtin attributes that are locations."""
