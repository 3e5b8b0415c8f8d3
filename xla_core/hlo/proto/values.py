"""Decodes shapes, literals, windows and other parts of an instruction's proto. (XLA: xla/xla_data.proto.)"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

import numpy as np

from xla_core.errors import InvalidArgumentError
from xla_core.hlo.proto.wire import Message, write_field, write_varint
from xla_core.hlo.table.attributes import (
    ConvolutionDimensionNumbers,
    OutputToOperandAlias,
    PaddingDimension,
    SliceDimension,
    WindowDimension,
)
from xla_core.hlo.values.element_type import ElementType
from xla_core.hlo.values.literal import Literal
from xla_core.hlo.values.shape import Layout, Shape

T = TypeVar("T")

_MAX_TUPLE_DEPTH = 64

# LiteralProto has a field of its own for the values of most types.
_ELEMENT_TYPES = {t.proto: t for t in ElementType}

_VARINT_FIELDS = {
    ElementType.PRED: 2,
    ElementType.S32: 4,
    ElementType.S64: 5,
    ElementType.U32: 6,
    ElementType.U64: 7,
}
_FIXED_FIELDS = {ElementType.F32: 8, ElementType.F64: 9, ElementType.C64: 12, ElementType.C128: 18}
_BYTE_FIELDS = {
    ElementType.S8: 15,
    ElementType.U8: 3,
    ElementType.S16: 17,
    ElementType.U16: 16,
    ElementType.F16: 11,
    ElementType.BF16: 13,
} | {t: number for number, t in _ELEMENT_TYPES.items() if number > 18}


def read_shape(message: Message, depth: int = 0) -> Shape:
    if depth > _MAX_TUPLE_DEPTH:
        raise InvalidArgumentError(f"a shape has tuples in tuples, more than {_MAX_TUPLE_DEPTH} deep")
    number = message.integer(2)
    element_type = _ELEMENT_TYPES.get(number)
    if element_type is None:
        raise InvalidArgumentError(f"a shape has the element type number {number}, which is not supported")
    if element_type is ElementType.TUPLE:
        return Shape.tuple([read_shape(part, depth + 1) for part in message.messages(4)])
    if not element_type.is_array:
        return Shape(element_type)
    dimensions = message.integers(3)
    dynamic = tuple(bool(flag) for flag in message.integers(6))
    if any(dynamic) and len(dynamic) != len(dimensions):
        raise InvalidArgumentError(f"a shape has {len(dimensions)} dimensions and {len(dynamic)} is_dynamic_dimension")
    layout = None
    if message.has(5):
        part = message.message(5)
        tiles = tuple(tile.integers(1) for tile in part.messages(6))
        layout = Layout(part.integers(1), tiles, part.integer(7), part.integer(8))
    shape = Shape(element_type, dimensions, layout, dynamic if any(dynamic) else ())
    shape.validate()
    return shape


def write_shape(shape: Shape) -> bytes:
    """Encodes an array's shape as a ShapeProto."""
    data = write_field(2, shape.element_type.proto)
    data += write_field(3, b"".join(map(write_varint, shape.dimensions))) if shape.rank else b""
    layout = shape.layout
    if layout is not None:
        part = write_field(1, b"".join(map(write_varint, layout.minor_to_major))) if shape.rank else b""
        for tile in layout.tiles:
            part += write_field(6, write_field(1, b"".join(map(write_varint, tile))))
        for number, value in ((7, layout.element_size_in_bits), (8, layout.memory_space)):
            part += write_field(number, value) if value else b""
        data += write_field(5, part)
    return data


def read_literal(message: Message) -> Literal:
    """Decodes a LiteralProto: an array or a tuple."""
    shape = read_shape(message.message(1))
    if shape.is_tuple:
        parts = [read_literal(part) for part in message.messages(10)]
        if len(parts) != len(shape.tuple_shapes):
            raise InvalidArgumentError(f"a literal of {shape} has {len(parts)} elements")
        return Literal(parts)
    if not shape.is_array:
        raise InvalidArgumentError(f"a literal cannot have the shape {shape}")
    array = _read_array(message, shape)
    if array.size != math.prod(shape.dimensions):
        raise InvalidArgumentError(f"a literal of {shape} has {array.size} values", hint="the message is truncated")
    return Literal(array.reshape(shape.dimensions), shape)


def _read_array(message: Message, shape: Shape) -> np.ndarray:
    element_type, dtype = shape.element_type, shape.dtype
    if field := _VARINT_FIELDS.get(element_type):
        return message.array(field).astype(dtype)
    if field := _FIXED_FIELDS.get(element_type):
        return _from_bytes(message.fixed(field, width=element_type.component.byte_width), dtype)
    data = message.data(_BYTE_FIELDS[element_type])
    if element_type.bit_width >= 8 or element_type.is_floating:
        return _from_bytes(data, dtype)
    return _unpack(np.frombuffer(data, np.uint8), shape)


def _from_bytes(data: bytes | memoryview, dtype: np.dtype) -> np.ndarray:
    return np.frombuffer(data[: len(data) - len(data) % dtype.itemsize], dtype)


def _unpack(data: np.ndarray, shape: Shape) -> np.ndarray:
    """Unpacks integers of 2 and 4 bits, which are one in each byte or, in other releases of XLA, packed from the low
    bits.
    """
    width = shape.element_type.bit_width
    count = math.prod(shape.dimensions)
    per_byte = 1 if data.size == count else 8 // width
    if data.size != -(-count // per_byte):
        return data[:0]
    shifts = np.arange(per_byte, dtype=np.uint8) * width
    values = ((data[:, None] >> shifts) & ((1 << width) - 1)).reshape(-1)[:count].astype(np.int8)
    if shape.element_type.is_signed:
        values = np.where(values >> (width - 1), values - (1 << width), values)
    unpacked: np.ndarray = values.astype(shape.dtype)
    return unpacked


_STRUCTURES: Mapping[type, Mapping[str, int]] = {
    WindowDimension: {
        "size": 1, "stride": 2, "padding_low": 3, "padding_high": 4, "window_dilation": 5, "base_dilation": 6,
        "window_reversal": 7,
    },
    ConvolutionDimensionNumbers: {
        "input_batch": 7, "input_feature": 8, "input_spatial": 11, "kernel_input_feature": 3,
        "kernel_output_feature": 4, "kernel_spatial": 6, "output_batch": 9, "output_feature": 10, "output_spatial": 12,
    },
    PaddingDimension: {"low": 1, "high": 2, "interior": 3},
    SliceDimension: {"start": 1, "limit": 2, "stride": 3},
    OutputToOperandAlias: {"output_index": 1, "operand_number": 2, "operand_index": 3},
}  # fmt: skip
"""A structure of `xla_core.hlo.table.attributes` -> the number of each of its fields in its proto."""

_READERS: Mapping[str, Callable[[Message, int], Any]] = {
    "int": Message.integer,
    "bool": lambda message, number: bool(message.integer(number)),
    "tuple[int, ...]": Message.integers,
}
"""A field's type, as the dataclass spells it -> its decoder."""


def read_structure(message: Message, structure: type[T]) -> T:
    """Decodes a message whose fields are integers, booleans and lists of integers."""
    types = structure.__annotations__
    return structure(**{n: _READERS[types[n]](message, number) for n, number in _STRUCTURES[structure].items()})


def read_structures(messages: Iterable[Message], structure: type[T]) -> tuple[T, ...]:
    return tuple(read_structure(message, structure) for message in messages)
