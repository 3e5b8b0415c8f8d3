"""The numbers by which MLIR bytecode tells a dialect's attributes and types apart: reader and writer name them here.

Source: openxla/stablehlo, stablehlo/dialect/VhloBytecode.cpp; llvm-project, BuiltinDialectBytecode.td.
"""

from __future__ import annotations

import enum

__all__ = ["ENUM_CODES", "LOCATION_CODES", "SCALAR_CODES", "BuiltinAttribute", "VhloAttribute", "VhloType"]


class VhloAttribute(enum.IntEnum):
    """Attributes of the dialect vhlo."""

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
"""Enums of StableHLO: code, and the number of the first case."""


class VhloType(enum.IntEnum):
    """Types of the dialect vhlo."""

    I1 = 0
    COMPLEX = 1
    BF16 = 2
    F16 = 3
    F32 = 4
    F64 = 5
    F8E4M3FN = 6
    F8E5M2 = 7
    FUNCTION = 8
    INDEX = 9
    I4 = 10
    I8 = 11
    I16 = 12
    I32 = 13
    I64 = 14
    UI4 = 15
    UI8 = 16
    UI16 = 17
    UI32 = 18
    UI64 = 19
    RANKED_TENSOR = 20
    RANKED_TENSOR_WITH_ENCODING = 21
    TOKEN = 22
    TUPLE = 23
    UNIFORM_QUANTIZED = 24
    UNRANKED_TENSOR = 25
    WITNESS = 26
    F8E4M3FNUZ = 27
    F8E5M2FNUZ = 28
    F8E4M3B11FNUZ = 29
    UNIFORM_QUANTIZED_PER_AXIS = 30
    I2 = 31
    UI2 = 32
    NONE = 33
    TF32 = 34
    F8E4M3 = 35
    F8E3M4 = 36
    F4E2M1FN = 37
    F6E2M3FN = 38
    F6E3M2FN = 39
    F8E8M0FNU = 40
    BUFFER = 41
    FUTURE = 42


_SCALARS = (
    "i1 i2 i4 i8 i16 i32 i64 ui2 ui4 ui8 ui16 ui32 ui64 index none bf16 f16 f32 f64 tf32 f4E2M1FN f6E2M3FN f6E3M2FN"
    " f8E3M4 f8E4M3 f8E4M3FN f8E5M2 f8E4M3FNUZ f8E4M3B11FNUZ f8E5M2FNUZ f8E8M0FNU"
)
SCALAR_CODES: dict[str, VhloType] = {name: VhloType[name.upper()] for name in _SCALARS.split()}
"""Scalar types by their names in StableHLO."""


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


LOCATION_CODES = (
    BuiltinAttribute.CALL_SITE_LOC,
    BuiltinAttribute.FILE_LINE_COL_LOC,
    BuiltinAttribute.FUSED_LOC,
    BuiltinAttribute.FUSED_LOC_WITH_METADATA,
    BuiltinAttribute.NAME_LOC,
    BuiltinAttribute.UNKNOWN_LOC,
    BuiltinAttribute.FILE_LINE_COL_RANGE,
)
"""Those of the builtin dialect's attributes that are locations."""
