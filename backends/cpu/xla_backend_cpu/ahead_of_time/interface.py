"""The interface of a program that is compiled ahead of time, as its header declares it."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from xla_core.hlo import ElementType, Shape

ARENA_ALIGNMENT = 64

_C_TYPES = {ElementType.F32: "float", ElementType.F64: "double", ElementType.C64: "float", ElementType.C128: "double"}


@dataclasses.dataclass(frozen=True, slots=True)
class Interface:
    """The properties of a model that a C program must know.

    Attributes:
        name: the prefix of its symbols.
        target: the triple and the processor, for display.
        arguments, results: the arrays of the entry.
        arena_bytes: the memory that a run needs, at a multiple of `ARENA_ALIGNMENT`.
        constant_bytes: the constants in the object file.
        threads: the number of threads among which a kernel is divided.
    """

    name: str
    target: str
    arguments: Sequence[Shape]
    results: Sequence[Shape]
    arena_bytes: int
    constant_bytes: int
    threads: int

    @property
    def entry(self) -> str:
        """The symbol of the entry."""
        return f"{self.name}_run"


def c_type(element_type: ElementType) -> str:
    """C's type of an element in memory. Types that C doesn't have are unsigned integers; a complex number is two."""
    if element_type in _C_TYPES:
        return _C_TYPES[element_type]
    sign = "" if element_type.is_signed and not element_type.is_floating else "u"
    return f"{sign}int{8 * element_type.byte_width}_t"
