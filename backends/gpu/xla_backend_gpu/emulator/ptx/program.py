"""A PTX program as data: operands, instructions, variables, functions and linked kernels."""

from __future__ import annotations

import dataclasses
import struct
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from xla_backend_gpu.emulator.ptx.types import PtxType
from xla_core.errors import SourceLocation

if TYPE_CHECKING:
    from xla_backend_gpu.emulator.table.definition import Definition


@dataclasses.dataclass(frozen=True, slots=True)
class Register:
    """A virtual register. `bits` is 1 for a predicate."""

    index: int
    bits: int
    name: str


@dataclasses.dataclass(frozen=True, slots=True)
class Immediate:
    """A constant. `bits` is 0 for an integer, else 32 or 64: the width of the float whose bits `value` holds."""

    value: int
    bits: int = 0

    def bits_in(self, type_: PtxType) -> int:
        """Returns the bits of the constant in a type. A float of another width is converted."""
        value = self.value
        if type_.is_float and self.bits == 32 and type_.bits == 64:
            value = _reinterpreted(_reinterpreted(value, "I", "f"), "d", "Q")
        elif type_.is_float and self.bits == 64 and type_.bits == 32:
            value = _reinterpreted(_reinterpreted(value, "Q", "d"), "f", "I")
        return value & (1 << type_.bits) - 1


def _reinterpreted(value: float, pack: str, unpack: str) -> Any:
    return struct.unpack(f"<{unpack}", struct.pack(f"<{pack}", value))[0]


@dataclasses.dataclass(frozen=True, slots=True)
class SpecialRegister:
    """`%tid.x`, `%laneid`, `%clock64`, ..."""

    name: str


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Variable:
    """A variable in a state space: `global`, `const`, `shared`, `local` or `param`.

    `address` is its offset in its space. In a kernel that is linked, the parameter variables of calls lie in local
    memory; a kernel's own parameters keep the space `param`. `data` are the bytes of an initializer.
    """

    name: str
    space: str
    size: int
    align: int
    data: bytes | None = None
    address: int = 0


@dataclasses.dataclass(frozen=True, slots=True)
class Symbol:
    """The address of a variable, plus an offset in bytes."""

    variable: Variable
    offset: int = 0


@dataclasses.dataclass(frozen=True, slots=True)
class Negation:
    """A negated predicate."""

    register: Register


@dataclasses.dataclass(frozen=True, slots=True)
class Label:
    """A branch target. After linking, `index` is the instruction that it names."""

    name: str
    index: int = -1


@dataclasses.dataclass(frozen=True, slots=True)
class Address:
    """`[base+offset]`."""

    base: Register | Symbol | Immediate
    offset: int = 0


@dataclasses.dataclass(frozen=True, slots=True)
class Vector:
    """`{a, b, ...}`. None stands for `_`."""

    elements: tuple[Operand, ...]


Operand = Register | Immediate | SpecialRegister | Symbol | Negation | Label | Address | Vector | None


@dataclasses.dataclass(slots=True, eq=False)  # a frozen one takes three times as long to make
class Instruction:
    """An instruction: its definition in the table, with modifiers, types and operands. Nothing changes it.

    Attributes:
        modifiers: the chosen modifier of each slot of the table's syntax, by the slot's name.
        types: the types that the mnemonic names, in order.
        operands: as many as the table's syntax has; None for an optional one that is absent.
        guard, guard_negated: the predicate that must hold (or must not) for a thread to execute it.
        space: the state space of a memory access.
        line, text: its line of the PTX text.
        location: the place that the last `.loc` before it names.
    """

    definition: Definition
    modifiers: Mapping[str, str]
    types: tuple[PtxType, ...]
    operands: tuple[Operand, ...]
    line: int
    text: str
    guard: Register | None = None
    guard_negated: bool = False
    space: str = ""
    location: SourceLocation | None = None

    @property
    def type(self) -> PtxType:
        """The first type that the mnemonic names."""
        return self.types[0]

    def has(self, modifier: str) -> bool:
        return modifier in self.modifiers

    @property
    def vector_length(self) -> int:
        """The number of elements that a memory access moves."""
        return int(self.modifiers.get("vec", "v1")[1:])


@dataclasses.dataclass(slots=True, eq=False)
class Call:
    """A call of a device function, before linking."""

    function: str
    results: tuple[Variable, ...]
    arguments: tuple[Variable, ...]
    line: int
    guard: Register | None


@dataclasses.dataclass(slots=True, eq=False)
class Function:
    """An entry or a device function, before linking. `body` has instructions, calls and labels."""

    name: str
    is_entry: bool
    line: int
    results: list[Variable] = dataclasses.field(default_factory=list)
    parameters: list[Variable] = dataclasses.field(default_factory=list)
    variables: list[Variable] = dataclasses.field(default_factory=list)
    registers: list[Register] = dataclasses.field(default_factory=list)
    body: list[Instruction | Call | Label] = dataclasses.field(default_factory=list)
    reqntid: tuple[int, int, int] | None = None
    maxntid: tuple[int, int, int] | None = None
    last_line: int = 0


@dataclasses.dataclass(frozen=True, slots=True, weakref_slot=True, eq=False)
class Kernel:
    """An entry that is ready to run: calls inlined, labels resolved, variables placed.

    Attributes:
        instructions: all instructions; the last one ends the thread.
        registers: all registers, each at its `index`.
        parameters: the entry's parameters, with their offsets among the argument bytes.
        parameter_bytes, local_bytes: sizes.
        shared_bytes: the size of shared memory without its dynamic part, which begins at this offset.
        globals: the variables in global and constant memory that the kernel uses.
    """

    name: str
    instructions: tuple[Instruction, ...]
    registers: tuple[Register, ...]
    parameters: tuple[Variable, ...]
    parameter_bytes: int
    shared_bytes: int
    local_bytes: int
    globals: tuple[Variable, ...]
    reqntid: tuple[int, int, int] | None
    maxntid: tuple[int, int, int] | None
    lines: tuple[int, int]
