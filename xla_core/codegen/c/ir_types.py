"""Types of LLVM IR: their sizes in memory, and the names that C has for them."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterator

from xla_core.errors import UnimplementedError
from xla_core.sizes import round_up

_FLOATS = {"float": (32, "f32", "float"), "double": (64, "f64", "double")}
_SMALL_FLOATS = ("half", "bfloat")  # only their bits are moved
_STORAGE_WIDTHS = (8, 16, 32, 64, 128)


@dataclasses.dataclass(frozen=True, slots=True)
class IrType:
    """A type. `kind` is "int", "float", "ptr", "void", "vector", "array" or "struct".

    Attributes:
        name: its spelling in LLVM IR.
        bits: the width of an integer or a floating-point number.
        count: the number of elements of a vector or an array.
        members: the type of the elements, or those of a structure's fields.
    """

    kind: str
    name: str
    bits: int = 0
    count: int = 0
    members: tuple[IrType, ...] = ()

    def __str__(self) -> str:
        return self.name

    @property
    def element(self) -> IrType:
        """The type of a vector's or an array's elements; of a scalar, the type itself."""
        return self.members[0] if self.kind in ("vector", "array") else self

    @property
    def is_float(self) -> bool:
        return self.kind == "float"

    @property
    def is_int(self) -> bool:
        return self.kind == "int"

    @property
    def storage_bits(self) -> int:
        """The width of the C integer that holds an integer: a byte for i1, else the next power of two."""
        for width in _STORAGE_WIDTHS:
            if self.bits <= width:
                return width
        raise UnimplementedError(f"C has no integer of {self.bits} bits: {self.name}")

    @property
    def has_whole_storage(self) -> bool:
        """Whether all bits of an integer's C type are the integer's own."""
        return self.bits == self.storage_bits

    @property
    def is_native_vector(self) -> bool:
        """Whether GCC's and Clang's vector extensions have the vector."""
        element = self.element
        scalar = element.is_float or (element.is_int and element.bits in (8, 16, 32, 64))
        return self.kind == "vector" and scalar and self.count > 1 and self.count & (self.count - 1) == 0

    @property
    def suffix(self) -> str:
        """The suffix of the names of C functions for this type: u32, f64, ptr, f32x4."""
        if self.kind == "int":
            return f"u{self.bits}" if self.bits > 1 else "b"
        if self.kind == "float":
            return _FLOATS[self.name][1] if self.name in _FLOATS else self.name
        if self.kind == "vector":
            return f"{self.element.suffix}x{self.count}"
        if self.kind == "array":
            return f"{self.element.suffix}a{self.count}"
        if self.kind == "struct":
            return "_".join(m.suffix for m in self.members) or "nothing"
        return self.kind

    @property
    def c_name(self) -> str:
        """C's type of a value."""
        if self.kind == "int":
            if self.bits == 1:
                return "bool"
            return "xla_u128" if self.storage_bits == 128 else f"uint{self.storage_bits}_t"
        if self.kind == "float":
            return _FLOATS[self.name][2] if self.name in _FLOATS else "uint16_t"
        if self.kind == "ptr":
            return "char *"
        if self.kind == "void":
            return "void"
        return f"xla_{self.suffix}"

    @property
    def signed_c_name(self) -> str:
        """C's signed type of the same width as the type that holds an integer."""
        return "xla_s128" if self.storage_bits == 128 else f"int{self.storage_bits}_t"

    def size(self, pointer_bytes: int) -> int:
        """The bytes between two elements of this type in memory."""
        if self.kind == "int":
            return self.storage_bits // 8
        if self.kind == "float":
            return self.bits // 8
        if self.kind == "ptr":
            return pointer_bytes
        if self.kind in ("vector", "array"):
            return self.count * self.element.size(pointer_bytes)
        end = 0
        for offset, member in self._places(pointer_bytes):
            end = offset + member.size(pointer_bytes)
        align = self.alignment(pointer_bytes)
        return round_up(end, align)

    def alignment(self, pointer_bytes: int) -> int:
        """The alignment in memory, where an instruction doesn't say it."""
        if self.kind in ("vector", "array", "struct"):
            return max((m.alignment(pointer_bytes) for m in self.members), default=1)
        return max(1, self.size(pointer_bytes)) if self.kind != "void" else 1

    def offset(self, field: int, pointer_bytes: int) -> int:
        """The offset of a structure's field."""
        return list(self._places(pointer_bytes))[field][0]

    def _places(self, pointer_bytes: int) -> Iterator[tuple[int, IrType]]:
        end = 0
        for member in self.members:
            align = member.alignment(pointer_bytes)
            end = round_up(end, align)
            yield end, member
            end += member.size(pointer_bytes)


VOID = IrType("void", "void")
POINTER = IrType("ptr", "ptr")


@functools.cache
def integer(bits: int) -> IrType:
    """The integer type of a width."""
    return IrType("int", f"i{bits}", bits)


BOOL = integer(1)


@functools.cache
def scalar(name: str) -> IrType | None:
    """The scalar type of a name, or None."""
    if name in _FLOATS:
        return IrType("float", name, _FLOATS[name][0])
    if name in _SMALL_FLOATS:
        return IrType("float", name, 16)
    if name in ("ptr", "void"):
        return POINTER if name == "ptr" else VOID
    return integer(int(name[1:])) if name[:1] == "i" and name[1:].isdigit() else None


def vector_of(count: int, element: IrType) -> IrType:
    return IrType("vector", f"<{count} x {element}>", 0, count, (element,))


def array_of(count: int, element: IrType) -> IrType:
    return IrType("array", f"[{count} x {element}]", 0, count, (element,))


def struct_of(members: tuple[IrType, ...]) -> IrType:
    return IrType("struct", f"{{ {', '.join(m.name for m in members)} }}", 0, 0, members)
