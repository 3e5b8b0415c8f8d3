"""How element types are held in LLVM: in registers, in memory, as constants."""

from __future__ import annotations

import struct
from typing import Any

import ml_dtypes
import numpy as np

from xla_core.errors import UnimplementedError
from xla_core.hlo.values.element_type import ElementType

# 16-bit floats are held as their bits: LLVM may move a `half` or `bfloat` through f32 and back, by instructions that
# flush denormals and change NaNs.
_FLOATS = {ElementType.F32: "float", ElementType.F64: "double"}
_FLOAT_BITS = {"half": 16, "bfloat": 16, "float": 32, "double": 64}


def register_type(element_type: ElementType) -> str:
    """Returns the type of an SSA value: i1 for pred; integers for integers and for the bits of small floats.

    Types narrower than a byte are held in an i8: signed integers sign-extended, others zero-extended. (LLVM 22's code
    generator for x86 aborts on some vectors of i2 and i4.) Complex values have no type of their own: they are pairs of
    the component's type.
    """
    if element_type is ElementType.PRED:
        return "i1"
    if element_type.is_array and not element_type.is_complex:
        return storage_type(element_type)
    raise UnimplementedError(f"{element_type} is no element type that LLVM registers hold")


def storage_type(element_type: ElementType) -> str:
    """Returns an element's type in memory: the register type, a byte for pred, or a complex type's component."""
    element_type = element_type.component
    if element_type in _FLOATS:
        return _FLOATS[element_type]
    return f"i{8 * element_type.byte_width}"


def is_float_type(type_: str) -> bool:
    return type_ in _FLOAT_BITS


def type_bits(type_: str) -> int:
    """Bits of a scalar register type; 0 for a pointer."""
    if type_.startswith("ptr"):
        return 0
    return _FLOAT_BITS.get(type_) or int(type_[1:])


def float_constant(type_: str, value: float) -> str:
    """Returns the LLVM spelling of a floating constant, bit-exact, infinities and NaN included."""
    if type_ == "double":
        return f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}"
    with np.errstate(over="ignore", invalid="ignore"):
        if type_ == "float":
            rounded = float(np.float32(value))
            return f"0x{struct.unpack('<Q', struct.pack('<d', rounded))[0]:016X}"
        if type_ == "half":
            return f"0xH{np.float16(value).view(np.uint16):04X}"
        return f"0xR{np.asarray(value, ml_dtypes.bfloat16).view(np.uint16):04X}"


def constant_text(element_type: ElementType, value: Any) -> str:
    """Returns one element, a real numpy scalar of the type's dtype, as an LLVM constant of its register type."""
    type_ = register_type(element_type)
    if type_ in ("float", "double"):
        if np.isnan(value):  # keep the payload and sign
            bits = int(np.asarray(value).view(np.uint64 if type_ == "double" else np.uint32))
            if type_ == "float":
                bits = (bits & 0x80000000) << 32 | 0x7FF << 52 | (bits & 0x7FFFFF) << 29
            return f"0x{bits:016X}"
        return float_constant(type_, float(value))
    if element_type is ElementType.PRED:
        return "true" if value else "false"
    if element_type.is_integral:
        return str(int(value))
    unsigned = np.uint16 if element_type.byte_width == 2 else np.uint8
    return str(int(np.asarray(value).view(unsigned)) & (1 << element_type.bit_width) - 1)  # the bits of a small float
