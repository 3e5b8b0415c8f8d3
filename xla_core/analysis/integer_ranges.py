"""IntegerRanges: which values the elements of an integer array can have. (LLVM: llvm/Analysis/ValueTracking.h.)"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from xla_core.hlo.ir.computation import HloComputation
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.op_table import Trait
from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.values.element_type import ElementType

Range = tuple[int, int]
"""The least and the greatest value."""


def integer_ranges(computation: HloComputation) -> Mapping[HloInstruction, Range]:
    """Returns a range of values for each instruction of an integer type, or pred, that isn't empty.

    An instruction of which nothing is known has the range of its type.
    """
    ranges: dict[HloInstruction, Range] = {}
    for i in computation.post_order():
        kind = i.shape.element_type if i.shape.is_array else None
        if kind is None or not (kind.is_integral or kind is ElementType.PRED) or 0 in i.shape.dimensions:
            continue
        whole = (0, 1) if kind is ElementType.PRED else kind.integer_range
        found = _range(i, ranges)
        # A result beyond the type wraps around, so that it may be any value.
        ranges[i] = found if found is not None and whole[0] <= found[0] and found[1] <= whole[1] else whole
    return ranges


def _range(i: HloInstruction, ranges: Mapping[HloInstruction, Range]) -> Range | None:
    if i.opcode == Opcode.CONSTANT:
        return int(i.literal.array.min()), int(i.literal.array.max())
    if i.opcode == Opcode.IOTA:
        return 0, max(i.shape.dimensions[i.attribute("iota_dimension")] - 1, 0)
    rule = _RULES.get(i.opcode)
    if rule is None and Trait.DATA_MOVEMENT not in i.op.traits:
        return None
    indices = set(i.op.index_operands(len(i.operands)))
    operands = [o for number, o in enumerate(i.operands) if number not in indices]
    known = [ranges[o] for o in operands if o in ranges]
    if not known or len(known) < len(operands):
        return None
    return _hull(known) if rule is None else rule(known)


def _hull(ranges: Sequence[Range]) -> Range:
    return min(low for low, _ in ranges), max(high for _, high in ranges)


def _corners(op: Callable[[int, int], int]) -> Callable[[Sequence[Range]], Range]:
    """The rule of an op that is monotonic in each operand."""

    def rule(operands: Sequence[Range]) -> Range:
        x, y = operands
        values = [op(a, b) for a in x for b in y]
        return min(values), max(values)

    return rule


def _natural(rule: Callable[[Range, Range], Range | None]) -> Callable[[Sequence[Range]], Range | None]:
    """A rule that holds only where no operand can be negative."""
    return lambda operands: rule(operands[0], operands[1]) if min(low for low, _ in operands) >= 0 else None


def _bits(x: Range, y: Range) -> Range:
    return 0, (1 << max(x[1].bit_length(), y[1].bit_length())) - 1


_MOST_BITS = 64  # the widest type; larger amounts would only make the numbers here large

_RULES: Mapping[Opcode, Callable[[Sequence[Range]], Range | None]] = {
    Opcode.ADD: _corners(lambda a, b: a + b),
    Opcode.SUBTRACT: _corners(lambda a, b: a - b),
    Opcode.MULTIPLY: _corners(lambda a, b: a * b),
    Opcode.MAXIMUM: _corners(max),
    Opcode.MINIMUM: _corners(min),
    Opcode.CONVERT: lambda operands: operands[0],
    Opcode.SELECT: lambda operands: _hull(operands[1:]),
    Opcode.CLAMP: lambda operands: (
        min(max(operands[1][0], operands[0][0]), operands[2][0]),
        min(max(operands[1][1], operands[0][1]), operands[2][1]),
    ),
    Opcode.AND: _natural(lambda x, y: (0, min(x[1], y[1]))),
    Opcode.OR: _natural(_bits),
    Opcode.XOR: _natural(_bits),
    Opcode.DIVIDE: _natural(lambda x, y: (x[0] // y[1], x[1] // y[0]) if y[0] else None),
    Opcode.REMAINDER: _natural(lambda x, y: (0, min(x[1], y[1] - 1)) if y[0] else None),
    Opcode.SHIFT_LEFT: _natural(lambda x, y: (x[0] << y[0], x[1] << y[1]) if y[1] < _MOST_BITS else None),
    Opcode.SHIFT_RIGHT_LOGICAL: _natural(lambda x, y: (x[0] >> y[1], x[1] >> y[0]) if y[1] < _MOST_BITS else None),
}
