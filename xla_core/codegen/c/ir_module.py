"""LLVM IR as data, as far as the translation to C needs it."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

from xla_core.codegen.c.ir_types import IrType


@dataclasses.dataclass(frozen=True, slots=True)
class Name:
    """A value that the module gives a name: %x of a function, or @x of the module."""

    type: IrType
    name: str

    @property
    def is_global(self) -> bool:
        return self.name.startswith("@")


@dataclasses.dataclass(frozen=True, slots=True)
class Constant:
    """A constant.

    `value` is an int (an integer, or the bits of a floating-point number), "zero" for zeros of any type, "undef" for
    undef and poison, bytes for text, a tuple of operands for a vector, an array or a structure, or an `Instruction`
    for a constant expression.
    """

    type: IrType
    value: int | str | bytes | tuple[Operand, ...] | Instruction


Operand = Name | Constant


@dataclasses.dataclass(frozen=True, slots=True)
class Instruction:
    """An instruction, or a constant expression.

    Attributes:
        op: its opcode.
        type: the type of its result.
        operands: in order; those of a phi are the incoming values, those of a call the arguments.
        result: its name (%x), or "".
        flags: words such as "volatile", "tail", "disjoint".
        word: the predicate of a comparison, the operation of an atomicrmw.
        source: the type that an address is computed for, that memory is allocated for, or that is stored.
        labels: the blocks that it refers to.
        numbers: the cases of a switch, the indices of extractvalue, the lanes of a shuffle (-1 is any).
        align: the alignment of memory in bytes; 0 is the type's own.
        callee: the called function.
        facts: the kinds of its metadata.
        text: the instruction as LLVM writes it.
    """

    op: str
    type: IrType
    operands: tuple[Operand, ...] = ()
    result: str = ""
    flags: frozenset[str] = frozenset()
    word: str = ""
    source: IrType | None = None
    labels: tuple[str, ...] = ()
    numbers: tuple[int, ...] = ()
    align: int = 0
    callee: Name | None = None
    facts: frozenset[str] = frozenset()
    text: str = ""


@dataclasses.dataclass(slots=True)
class BasicBlock:
    """A block: its label, and its instructions; the last one is the terminator."""

    label: str
    instructions: list[Instruction]


@dataclasses.dataclass(slots=True)
class Function:
    """A function that is defined, or that is only declared and has no blocks.

    `words` are those of its header, such as "internal" and "noinline"; `disjoint` are the numbers of the parameters
    through which memory is reached that no other parameter reaches.
    """

    name: str
    type: IrType
    parameters: Sequence[Name]
    words: frozenset[str]
    blocks: list[BasicBlock]
    disjoint: frozenset[int] = frozenset()

    @property
    def is_internal(self) -> bool:
        return bool(self.words & {"internal", "private"})


@dataclasses.dataclass(frozen=True, slots=True)
class GlobalVariable:
    """A variable or a table of constants; `value` is None where another module defines it."""

    name: str
    type: IrType
    value: Operand | None
    is_constant: bool
    is_internal: bool
    align: int


@dataclasses.dataclass(frozen=True, slots=True)
class Module:
    variables: Mapping[str, GlobalVariable]
    functions: Mapping[str, Function]
