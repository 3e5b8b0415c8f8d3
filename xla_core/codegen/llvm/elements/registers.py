"""Converts elements to registers and to bits. A complex element takes two registers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from xla_core.codegen.llvm.ir.builder import IrBuilder
from xla_core.codegen.llvm.ir.module import Value
from xla_core.codegen.llvm.ir.types import register_type, type_bits
from xla_core.codegen.llvm.loops.ir_array import Complex, ElementValue, as_register
from xla_core.hlo.values.element_type import ElementType


def parts(value: ElementValue) -> list[Value]:
    """Returns the registers of an element: one, or two for a complex one."""
    return list(value) if isinstance(value, Complex) else [value]


def whole(values: Sequence[Value]) -> ElementValue:
    """Makes an element of the registers that `parts` returns."""
    return Complex(values[0], values[1]) if len(values) == 2 else values[0]


def register_types(types: Iterable[ElementType]) -> list[str]:
    """Returns the types of the registers that `parts` returns for elements of these types, one after another."""
    return [register_type(t.component) for t in types for _ in range(2 if t.is_complex else 1)]


def unflatten(registers: Sequence[Value], types: Sequence[ElementType]) -> list[ElementValue]:
    """Makes elements of registers. A complex element takes two."""
    remaining = iter(registers)
    return [whole([next(remaining) for _ in range(2 if t.is_complex else 1)]) for t in types]


def to_bits(b: IrBuilder, value: ElementValue, element_type: ElementType) -> Value:
    """Returns an element's bits as an integer of at least a byte. A complex element's real part is lowest."""
    if isinstance(value, Complex):
        half = element_type.component
        low, high = to_bits(b, value.real, half), to_bits(b, value.imag, half)
        wide = f"i{element_type.bit_width}"
        return b.or_(b.cast("zext", low, wide), b.shl(b.cast("zext", high, wide), half.bit_width))
    return b.wrap(b.bitcast(value, f"i{type_bits(value.type)}"), element_type.bit_width, signed=False)


def from_bits(b: IrBuilder, bits: Value, element_type: ElementType) -> ElementValue:
    """Returns the element whose bits are the lowest bits of an integer."""
    if element_type.is_complex:
        high = b.lshr(bits, element_type.component.bit_width)
        real, imag = (from_bits(b, part, element_type.component) for part in (bits, high))
        assert isinstance(real, Value)
        assert isinstance(imag, Value)
        return Complex(real, imag)
    type_ = register_type(element_type)
    bits = b.resize(bits, f"i{type_bits(type_)}", signed=False)
    return b.bitcast(as_register(b, bits, element_type), type_)
