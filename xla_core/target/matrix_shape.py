"""MatrixShape: a product of small matrices that the lanes of a group compute by one instruction."""

from __future__ import annotations

import dataclasses

from xla_core.hlo.values.element_type import ElementType


@dataclasses.dataclass(frozen=True, slots=True)
class LanePlace:
    """A number that depends on the lane: (lane // divisor % modulus) * factor, and more beyond the modulus.

    Attributes:
        beyond: what each further `divisor * modulus` lanes add.
    """

    divisor: int
    modulus: int
    factor: int = 1
    beyond: int = 0


@dataclasses.dataclass(frozen=True, slots=True)
class Fragment:
    """The elements of a matrix that a lane holds.

    A line is a row of the left operand or of the result, or a column of the right operand. A term is an element of a
    line.

    Attributes:
        line, term: where a lane's elements begin.
        registers: (line, term) of each register's first element, beyond where the lane's begin.
        elements: how many neighbouring terms a register holds.
    """

    line: LanePlace
    term: LanePlace
    registers: tuple[tuple[int, int], ...]
    elements: int = 1


@dataclasses.dataclass(frozen=True, slots=True)
class MatrixShape:
    """total += left * right, of matrices of rows x terms and terms x columns.

    Attributes:
        operand, accumulator: the types of the operands and of the total.
        left, right: how the operands lie in the registers of the lanes, or None where the device reads both from shared
            memory: lines of `shared_widths` bytes whose chunks of 16 bytes are swizzled. See `SharedMatrix`.
        total: how the total lies in the registers of the lanes.
        mantissa_bits: how many bits of the mantissa of each operand are used, if not all of its type's.
        rounds_sums: whether the device may keep fewer bits of a sum than the accumulator's type has. Only products of
            default precision use such a shape.
        lanes: how many lanes multiply together, if not those of `ParallelModel.lanes`.
        shared_widths: the widths, in bytes, in which shared memory may hold operands, the preferred one first.
        turns: whether the lines, and not the terms, of an operand in shared memory may be neighbours.
    """

    rows: int
    columns: int
    terms: int
    operand: ElementType
    accumulator: ElementType
    left: Fragment | None
    right: Fragment | None
    total: Fragment
    mantissa_bits: int | None = None
    rounds_sums: bool = False
    lanes: int | None = None
    shared_widths: tuple[int, ...] = ()
    turns: bool = False

    @property
    def in_shared_memory(self) -> bool:
        """Whether the device reads the operands from shared memory."""
        return self.left is None

    def __str__(self) -> str:
        bits = "" if self.mantissa_bits is None else f" of {self.mantissa_bits} bits"
        return f"{self.rows} x {self.columns} x {self.terms} {self.operand}{bits}"
