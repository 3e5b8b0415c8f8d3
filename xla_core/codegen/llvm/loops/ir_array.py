"""IrArray: an array in memory. (XLA: xla/service/llvm_ir/ir_array.h.)"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from xla_core.codegen.llvm.ir.builder import IrBuilder
from xla_core.codegen.llvm.ir.module import Value
from xla_core.codegen.llvm.ir.types import storage_type
from xla_core.errors import UnimplementedError
from xla_core.hlo.values.element_type import ElementType
from xla_core.hlo.values.shape import Shape


class Complex(NamedTuple):
    """A complex element: two values of the component's type."""

    real: Value
    imag: Value


ElementValue = Value | Complex


class IrArray:
    """A pointer to an array, and its Shape with the layout.

    `load_metadata` and `store_metadata` (alias scopes, invariance) are appended to its loads and stores.
    """

    __slots__ = ("bits", "load_metadata", "pointer", "shape", "store_metadata")

    def __init__(self, pointer: Value, shape: Shape, *, load_metadata: str = "", store_metadata: str = "") -> None:
        if shape.layout is not None and shape.layout.tiles:
            raise UnimplementedError(
                f"the LLVM emitter cannot address the tiled layout of {shape}",
                hint="give the instruction a kernel of the target's own, or choose layouts without tiles",
            )
        self.pointer = pointer
        self.shape = shape
        self.load_metadata = load_metadata
        self.store_metadata = store_metadata
        packed = shape.layout.element_size_in_bits if shape.layout else 0
        self.bits = packed if 0 < packed < 8 else 0

    def address(self, builder: IrBuilder, linear: Value) -> Value:
        """Returns the address of the element at a position. Packed elements have none."""
        type_ = storage_type(self.shape.element_type)
        if self.shape.element_type.is_complex:
            type_ = f"[2 x {type_}]"
        return builder.gep(type_, self.pointer, linear)

    def load(self, builder: IrBuilder, linear: Value) -> ElementValue:
        """Reads the element at a position."""
        element_type = self.shape.element_type
        storage = storage_type(element_type)
        if element_type.is_complex:
            address = self.address(builder, linear)
            width = element_type.component.byte_width
            real = builder.load(storage, address, align=width, metadata=self.load_metadata)
            second = builder.gep(storage, address, builder.int_(1))
            return Complex(real, builder.load(storage, second, align=width, metadata=self.load_metadata))
        if self.bits:
            byte, shift = self._packed(builder, linear)
            loaded = builder.load("i8", byte, align=1, metadata=self.load_metadata)
            return from_storage(builder, builder.binary("lshr", loaded, shift), self.shape)
        loaded = builder.load(
            storage, self.address(builder, linear), align=element_type.byte_width, metadata=self.load_metadata
        )
        return from_storage(builder, loaded, self.shape)

    def store(self, builder: IrBuilder, linear: Value, value: ElementValue) -> None:
        """Writes the element at a position."""
        element_type = self.shape.element_type
        storage = storage_type(element_type)
        if isinstance(value, Complex):
            address = self.address(builder, linear)
            width = element_type.component.byte_width
            builder.store(value.real, address, align=width, metadata=self.store_metadata)
            second = builder.gep(storage, address, builder.int_(1))
            builder.store(value.imag, second, align=width, metadata=self.store_metadata)
            return
        if self.bits:
            byte, shift = self._packed(builder, linear)
            ones = builder.int_((1 << self.bits) - 1, "i8")
            bits = builder.binary("shl", builder.and_(value, ones), shift)
            mask = builder.not_(builder.binary("shl", ones, shift))
            old = builder.load("i8", byte, align=1, metadata=self.store_metadata)
            new = builder.or_(builder.and_(old, mask), bits)
            builder.store(new, byte, align=1, metadata=self.store_metadata)
            return
        stored = to_storage(builder, value, self.shape)
        builder.store(
            stored, self.address(builder, linear), align=element_type.byte_width, metadata=self.store_metadata
        )

    def load_vector(self, builder: IrBuilder, linear: Value, count: int) -> list[ElementValue]:
        """Reads `count` elements from a position that is a multiple of the count, a power of two, in one access."""
        element_type = self.shape.element_type
        components = 2 if element_type.is_complex else 1
        storage = storage_type(element_type)
        whole = builder.load(
            f"<{count * components} x {storage}>",
            self.address(builder, linear),
            align=count * element_type.byte_width,
            metadata=self.load_metadata,
        )
        items = builder.elements(whole, count * components)
        if components == 2:
            return [Complex(items[k], items[k + 1]) for k in range(0, len(items), 2)]
        return [from_storage(builder, item, self.shape) for item in items]

    def store_vector(self, builder: IrBuilder, linear: Value, values: Sequence[ElementValue]) -> None:
        """Writes elements to a position that is a multiple of their number, a power of two, in one access."""
        element_type = self.shape.element_type
        items = [
            part for v in values for part in (v if isinstance(v, Complex) else (to_storage(builder, v, self.shape),))
        ]
        align = len(values) * element_type.byte_width
        builder.store(builder.vector(items), self.address(builder, linear), align=align, metadata=self.store_metadata)

    def _packed(self, builder: IrBuilder, linear: Value) -> tuple[Value, Value]:
        """Returns (the byte that holds a packed element, the element's shift in it). The first element is lowest."""
        per_byte = 8 // self.bits
        byte = builder.gep("i8", self.pointer, builder.lshr(linear, int(math.log2(per_byte))))
        place = builder.cast("trunc", builder.binary("and", linear, builder.int_(per_byte - 1)), "i8")
        return byte, builder.mul(place, builder.int_(self.bits, "i8"))


def as_register(builder: IrBuilder, value: Value, element_type: ElementType) -> Value:
    """Clears or sign-extends the bits of a register that its element type does not have."""
    if value.type[0] != "i":
        return value
    return builder.wrap(value, element_type.bit_width, signed=element_type.is_signed)


def from_storage(builder: IrBuilder, value: Value, shape: Shape) -> Value:
    """Converts a loaded value to a register's: i1 for pred, the lowest bits for types narrower than a byte."""
    if shape.element_type is ElementType.PRED:
        return builder.from_byte(value)
    return as_register(builder, value, shape.element_type)


def to_storage(builder: IrBuilder, value: Value, shape: Shape) -> Value:
    """Converts a register value to the value that is stored."""
    return builder.cast("zext", value, storage_type(shape.element_type))
