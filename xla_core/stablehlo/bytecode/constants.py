"""Decodes numbers, arrays and tensors of constants. Tensors are views of the file's bytes, not copies."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from xla_core.errors import SourceLocation, UnimplementedError
from xla_core.hlo.values.scalar_types import BIT_WIDTHS, DTYPES, integer_format
from xla_core.stablehlo import ir
from xla_core.stablehlo.bytecode.encoding import ByteReader, wrap_bits
from xla_core.stablehlo.bytecode.pool import DialectReader


def integer_number(reader: DialectReader) -> Any:
    """Reads an integer attribute: type and bits."""
    start = reader.position
    element = reader.scalar()
    kind, width = integer_format(element) or ("", 0)
    if not kind:
        raise reader.error(f"an integer can't have the type {element}", start)
    bits = reader.bits(width)
    if element == "i1":
        return bool(bits)
    value = bits if kind == "ui" else wrap_bits(bits, width)
    return value if element == "i64" else ir.TypedInt(value, element)


def float_number(reader: DialectReader) -> Any:
    """Reads a float attribute: type and bits."""
    start = reader.position
    element = reader.scalar()
    dtype = DTYPES.get(element)
    if dtype is None or integer_format(element) is not None or dtype.kind == "c":
        raise reader.error(f"a float of the type {element} can't be read", start)
    width = BIT_WIDTHS[element]
    data = reader.bits(width).to_bytes(dtype.itemsize, "little")
    value = float(np.frombuffer(data, dtype)[0])
    return value if element == "f64" else ir.TypedFloat(value, element)


def dense_array(reader: DialectReader) -> ir.DenseArray:
    """Reads an attribute such as `array<i64: 1, 2>`: element type, number of elements, blob."""
    place = reader.position
    element = reader.scalar()
    count = reader.varint()
    start, size = reader.blob()
    dtype = DTYPES.get(element)
    if dtype is None or size != count * dtype.itemsize:
        raise reader.error(f"an array of {count} {element} can't have {size} bytes", place)
    return ir.DenseArray(np.frombuffer(reader.data, dtype, count, start).tolist(), element)


def dense_elements(
    reader: ByteReader, type: ir.TensorType, start: int, size: int
) -> ir.DenseElements | ir.OpaqueAttribute:
    """Makes a tensor constant as a view of the `size` bytes at `start`.

    If there are only the bytes of one element, the constant is a splat. Elements of i1 take a byte each or a bit each,
    and a single byte of ones is a splat of true. Elements of other types below 8 bits take a byte each.
    """
    dtype = DTYPES.get(type.element) if isinstance(type.element, str) else None
    if dtype is None:
        if isinstance(type.element, str) and type.element.startswith("!"):
            return ir.OpaqueAttribute(f'dense<"0x{reader.data[start : start + size].hex().upper()}"> : {type}')
        raise UnimplementedError(
            f"MLIR bytecode, byte {start}: constants of type {type} can't be read",
            location=SourceLocation(reader.file),
        )
    if not type.is_static:
        raise reader.error(f"a constant must have a static shape, found {type}", start)
    if len(type.shape) > 64:
        raise reader.error(f"a constant of {len(type.shape)} dimensions can't be read", start)
    count = math.prod(type.shape)
    if type.element == "i1":
        return ir.DenseElements(type, _booleans(reader, type, count, start, size))
    if size == dtype.itemsize and count != 1:
        shape: tuple[int, ...] = ()
    elif size == count * dtype.itemsize:
        shape = type.shape
    else:
        raise reader.error(f"{type} needs {count} elements of {dtype.itemsize} bytes, found {size} bytes", start)
    count = math.prod(shape)
    data = np.frombuffer(reader.data, dtype, count, start) if size else np.empty(0, dtype)
    bits = BIT_WIDTHS.get(str(type.element), 8)
    if bits < 8 and data.view(np.uint8).max(initial=0) >> bits:
        data = (data.view(np.uint8) & np.uint8((1 << bits) - 1)).view(dtype)
    return ir.DenseElements(type, data.reshape(shape))


def _booleans(reader: ByteReader, type: ir.TensorType, count: int, start: int, size: int) -> np.ndarray:
    raw = np.frombuffer(reader.data, np.uint8, size, start) if size else np.empty(0, np.uint8)
    if size == 1 and raw[0] == 0xFF:
        data = np.array(True)
    elif size == count:
        return (raw.view(np.bool_) if raw.max(initial=0) <= 1 else raw != 0).reshape(type.shape)
    elif size == (count + 7) // 8:
        data = np.unpackbits(raw, count=count, bitorder="little").view(np.bool_).reshape(type.shape)
    elif size == 1 and raw[0] <= 1:
        data = np.array(bool(raw[0]))
    else:
        raise reader.error(f"{type} needs {count} bytes or bits, found {size} bytes", start)
    return data
