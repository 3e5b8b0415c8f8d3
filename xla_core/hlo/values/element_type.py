"""Element types: XLA's PrimitiveType by HLO text name, with the numpy and ml_dtypes types that hold them."""

from __future__ import annotations

import enum
import math
import re
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np

from xla_core.errors import InvalidArgumentError


class ElementType(enum.Enum):
    """The element type of an array. The value is the name in HLO text. (XLA: xla/xla_data.proto, PrimitiveType.)

    Each row has the type's codes in the formats that programs come in; a new type is a row here.

    Attributes:
        proto: the number in XLA's PrimitiveType.
        pjrt: the number in PJRT's PJRT_Buffer_Type; None where PJRT has no such type.
        dlpack: DLPack's code; None for types that DLPack lacks or that have less than a byte.
        vhlo: VHLO's code in bytecode; None where VHLO has no such type.
        release: the StableHLO release that introduced the type.
        builtin: the bytecode code of an MLIR builtin float type; None for other types.
    """

    proto: int
    pjrt: int | None
    dlpack: int | None
    vhlo: int | None
    release: tuple[int, int]
    builtin: int | None

    PRED = "pred", 1, 1, 6, 0
    S2 = "s2", 26, 24, None, 31, (1, 2)
    S4 = "s4", 21, 21, None, 10
    S8 = "s8", 2, 2, 0, 11
    S16 = "s16", 3, 3, 0, 12
    S32 = "s32", 4, 4, 0, 13
    S64 = "s64", 5, 5, 0, 14
    U2 = "u2", 27, 25, None, 32, (1, 2)
    U4 = "u4", 22, 22, None, 15
    U8 = "u8", 6, 6, 1, 16
    U16 = "u16", 7, 7, 1, 17
    U32 = "u32", 8, 8, 1, 18
    U64 = "u64", 9, 9, 1, 19
    F4E2M1FN = "f4e2m1fn", 32, 29, None, 37, (1, 8), 29
    F6E2M3FN = "f6e2m3fn", 36, None, None, 38, (1, 8), 30
    F6E3M2FN = "f6e3m2fn", 35, None, None, 39, (1, 8), 31
    F8E3M4 = "f8e3m4", 29, 27, 7, 36, (1, 7), 28
    F8E4M3 = "f8e4m3", 28, 26, 8, 35, (1, 7), 23
    F8E4M3B11FNUZ = "f8e4m3b11fnuz", 23, 18, 9, 29, (0, 11), 27
    F8E4M3FN = "f8e4m3fn", 20, 17, 10, 6, (0, 9), 24
    F8E4M3FNUZ = "f8e4m3fnuz", 25, 20, 11, 27, (0, 10), 26
    F8E5M2 = "f8e5m2", 19, 16, 12, 7, (0, 9), 22
    F8E5M2FNUZ = "f8e5m2fnuz", 24, 19, 13, 28, (0, 10), 25
    F8E8M0FNU = "f8e8m0fnu", 33, 28, 14, 40, (1, 8), 32
    BF16 = "bf16", 16, 13, 4, 2, (0, 9), 3
    F16 = "f16", 10, 10, 2, 3, (0, 9), 4
    F32 = "f32", 11, 11, 2, 4, (0, 9), 5
    F64 = "f64", 12, 12, 2, 5, (0, 9), 6
    C64 = "c64", 15, 14, 5
    C128 = "c128", 18, 15, 5
    TUPLE = "tuple", 13
    OPAQUE = "opaque", 14
    TOKEN = "token", 17, 23

    def __new__(
        cls,
        name: Any,  # mypy reads the lookup ElementType("f32") as a call of this
        proto: int = 0,
        pjrt: int | None = None,
        dlpack: int | None = None,
        vhlo: int | None = None,
        release: tuple[int, int] = (0, 9),
        builtin: int | None = None,
    ) -> ElementType:
        self = object.__new__(cls)
        self._value_ = name
        self.proto, self.pjrt, self.dlpack = proto, pjrt, dlpack
        self.vhlo, self.release, self.builtin = vhlo, release, builtin
        return self

    if TYPE_CHECKING:  # mypy infers Any for the value of an enum that has a `__new__`

        @property
        def value(self) -> str: ...

    # The members are dictionary keys on every hot path, and identity hashing is several times faster than Enum's.
    __hash__ = object.__hash__

    @classmethod
    def from_numpy(cls, dtype: np.dtype | type) -> ElementType:
        """Returns the element type of a numpy dtype.

        Raises:
            InvalidArgumentError: for a dtype that has none, such as object, datetime or str.
        """
        try:
            return _FROM_NUMPY[np.dtype(dtype).newbyteorder("=")]
        except KeyError:
            raise InvalidArgumentError(
                f"numpy dtype {np.dtype(dtype)} has no element type",
                hint="use a bool, integer, floating or complex dtype of numpy or ml_dtypes",
            ) from None

    @cached_property
    def mlir_name(self) -> str:
        """The name of the type in MLIR text: `i1` for pred, `i8`, `ui8`, `f8E4M3FN`, `complex<f32>`."""
        kind = self.value[0]
        if self is ElementType.PRED:
            return "i1"
        if self.is_complex:
            return f"complex<{self.component.value}>"
        if kind in "su":
            return ("i" if kind == "s" else "ui") + self.value[1:]
        return kind + self.value[1:].upper() if kind == "f" else self.value

    @cached_property
    def is_array(self) -> bool:
        return self not in (ElementType.TUPLE, ElementType.OPAQUE, ElementType.TOKEN)

    @cached_property
    def dtype(self) -> np.dtype:
        """The numpy dtype that holds one element. Sub-byte types take one byte an element."""
        if self not in _NUMPY:
            raise InvalidArgumentError(f"{self.value} is not an array element type")
        return _NUMPY[self]

    @cached_property
    def is_signed(self) -> bool:
        """Whether this is a signed integer type."""
        return self.value[0] == "s"

    @cached_property
    def is_unsigned(self) -> bool:
        return self.value[0] == "u"

    @cached_property
    def is_integral(self) -> bool:
        """Whether this is a signed or unsigned integer type; pred is not one."""
        return self.is_signed or self.is_unsigned

    @cached_property
    def is_floating(self) -> bool:
        return self.value[0] == "f" or self is ElementType.BF16

    @cached_property
    def is_complex(self) -> bool:
        return self in (ElementType.C64, ElementType.C128)

    @cached_property
    def bit_width(self) -> int:
        """Bits of one packed element: 1 for pred, 4 for s4, 128 for c128, 0 for types that arrays cannot have."""
        if not self.is_array:
            return 0
        if self is ElementType.PRED:
            return 1
        if self is ElementType.BF16:
            return 16
        digits = self.value[1:]
        return int(digits.split("e")[0]) if self.is_floating else int(digits)

    @cached_property
    def has_sign_bit(self) -> bool:
        """Whether the highest bit is the sign: of signed integers and of all float types but F8E8M0FNU."""
        return self.is_signed or (self.is_floating and self is not ElementType.F8E8M0FNU)

    @cached_property
    def exponent_bits(self) -> int:
        """Exponent bits of a float type; 0 for other types."""
        return _FIELDS.get(self.value, (0, 0))[0]

    @cached_property
    def mantissa_bits(self) -> int:
        """Stored mantissa bits of a float type, without the implicit one; 0 for other types."""
        return _FIELDS.get(self.value, (0, 0))[1]

    @cached_property
    def has_infinity(self) -> bool:
        """Whether the type, or a complex type's parts, has an infinity. The float types named "finite" have none."""
        return self.is_complex or (self.is_floating and not self.value.endswith(("fn", "fnuz", "fnu")))

    @cached_property
    def integer_range(self) -> tuple[int, int]:
        """The least and the greatest value of an integer type or pred."""
        width = self.bit_width
        return (-(1 << (width - 1)), (1 << (width - 1)) - 1) if self.is_signed else (0, (1 << width) - 1)

    @cached_property
    def least(self) -> float | None:
        """The least value of the type: -inf where the type has it; None for complex types."""
        if self.is_integral or self is ElementType.PRED:
            return self.integer_range[0]
        if not self.is_floating:
            return None
        return -math.inf if self.has_infinity else float(_finfo(self).min)

    @cached_property
    def greatest(self) -> float | None:
        """The greatest value of the type: inf where the type has it; None for complex types."""
        if self.is_integral or self is ElementType.PRED:
            return self.integer_range[1]
        if not self.is_floating:
            return None
        return math.inf if self.has_infinity else float(_finfo(self).max)

    @cached_property
    def has_zero(self) -> bool:
        """Whether the type has a zero. f8e8m0fnu has none, because its values are powers of two."""
        return self.is_array and self is not ElementType.F8E8M0FNU

    @cached_property
    def byte_width(self) -> int:
        """Bytes of one element in a literal or an unpacked buffer."""
        return self.dtype.itemsize if self.is_array else 0

    @cached_property
    def component(self) -> ElementType:
        """The element type of a complex type's parts; for other types, the type itself."""
        return {ElementType.C64: ElementType.F32, ElementType.C128: ElementType.F64}.get(self, self)

    @cached_property
    def complex(self) -> ElementType:
        """The complex type whose parts have this type (F32 -> C64, F64 -> C128)."""
        if self in (ElementType.F32, ElementType.F64):
            return ElementType.C64 if self is ElementType.F32 else ElementType.C128
        raise InvalidArgumentError(f"there is no complex type with parts of {self.value}")

    def holds(self, other: ElementType) -> bool:
        """Whether this type represents every value of `other`, so that a conversion to it and back is exact."""
        if self is other:
            return True
        wide = self.is_floating and self.bit_width >= 16
        if other is ElementType.PRED:
            return self.is_integral or wide
        if other.is_integral and self.is_integral:
            return self.bit_width > other.bit_width and not (other.is_signed and self.is_unsigned)
        if other.is_integral and wide:
            return other.bit_width - other.is_signed <= self.mantissa_bits + 1
        if other.is_floating and other.has_zero and wide:
            return self.exponent_bits >= other.exponent_bits and self.mantissa_bits >= other.mantissa_bits
        return self is ElementType.C128 and other is ElementType.C64

    def __str__(self) -> str:
        return self.value

    def __repr__(self) -> str:
        return self.name


def _finfo(element_type: ElementType) -> np.finfo[Any]:
    finfo: Callable[..., np.finfo[Any]] = ml_dtypes.finfo
    return finfo(element_type.dtype)


_FIELDS = {"bf16": (8, 7), "f16": (5, 10), "f32": (8, 23), "f64": (11, 52)} | {
    t.value: (int(match[1]), int(match[2])) for t in ElementType if (match := re.match(r"f\d+e(\d)m(\d)", t.value))
}
"""Bits of exponent and mantissa."""

_PLAIN = {
    "pred": "bool",
    "f16": "float16",
    "f32": "float32",
    "f64": "float64",
    "c64": "complex64",
    "c128": "complex128",
}


def _numpy_dtype(element_type: ElementType) -> np.dtype:
    name = element_type.value
    if name in _PLAIN:
        return np.dtype(_PLAIN[name])
    if name == "bf16":
        return np.dtype(_ml_dtype("bfloat16"))
    if name[0] == "f":
        return np.dtype(_ml_dtype({"4": "float4_", "6": "float6_", "8": "float8_"}[name[1]] + name[2:]))
    integer = ("int" if name[0] == "s" else "uint") + name[1:]
    return np.dtype(_ml_dtype(integer) if int(name[1:]) < 8 else integer)


def _ml_dtype(name: str) -> type[np.generic]:
    dtype: type[np.generic] = getattr(ml_dtypes, name)
    return dtype


_NUMPY = {t: _numpy_dtype(t) for t in ElementType if t.value not in ("tuple", "opaque", "token")}
_FROM_NUMPY = {dtype: t for t, dtype in _NUMPY.items()}


def _check_names() -> None:
    """Raises ValueError for two types with one name in MLIR, which readers couldn't tell apart: `s1` would be pred."""
    by_name: dict[str, ElementType] = {}
    for element_type in _NUMPY:
        other = by_name.setdefault(element_type.mlir_name, element_type)
        if other is not element_type:
            raise ValueError(f"the element types {other} and {element_type} are both {other.mlir_name} in MLIR")


_check_names()
