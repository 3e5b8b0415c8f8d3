"""Finds the arrays of integers among a program's arguments that may have any values."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence

from xla_core.analysis.leaf_tracer import LeafTracer
from xla_core.analysis.nondeterminism import find_inexact
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.ir.module import HloModule
from xla_core.hlo.table.op_table import Trait
from xla_core.hlo.table.opcode import Opcode

Sources = frozenset[int]
Leaves = tuple[Sources, ...]
"""For each leaf of a value, the arguments that it is computed from."""

_SHIFTS = {Opcode.SHIFT_LEFT, Opcode.SHIFT_RIGHT_ARITHMETIC, Opcode.SHIFT_RIGHT_LOGICAL}


def free_integers(module: HloModule) -> Sources:
    """Returns the numbers of the entry's arrays of integers, tuples flattened, that may have any values.

    Others are indices, shift counts, numbers of branches, or limits of loops or random numbers, or may be, in a custom
    call. Where results are rounded, numbers that become floats are not free either: large ones would make all errors
    large.
    """
    number = itertools.count()
    integers, given = set[int](), list[Leaves]()
    for parameter in module.entry.parameters:
        leaves = [(shape, next(number) if shape.is_array else -1) for shape in parameter.shape.leaves()]
        integers |= {n for shape, n in leaves if shape.is_array and shape.element_type.is_integral}
        given.append(tuple(frozenset((n,)) for _, n in leaves))
    tracer = _Tracer(is_rounded=any(find_inexact(module).results))
    tracer.computation(module.entry, given)
    return frozenset(integers - tracer.bound)


class _Tracer(LeafTracer[Sources]):
    """Follows the arguments through a program.

    Attributes:
        bound: the arguments whose values can't be any.
    """

    def __init__(self, is_rounded: bool) -> None:
        super().__init__()
        self.bound: Sources = frozenset()
        self._is_rounded = is_rounded

    def join(self, facts: Leaves) -> Sources:
        return frozenset().union(*facts)

    def decided(self, instruction: HloInstruction, decision: Leaves) -> None:
        self.bound |= self.join(decision)

    def compute(self, instruction: HloInstruction, operands: Sequence[Leaves]) -> Leaves:
        self.bound |= self._whole([operands[n] for n in self._bound_operands(instruction)])
        whole = self._whole(operands)
        for called in instruction.called_computations:
            self.computation(called, [(whole,) * p.shape.leaf_count for p in called.parameters])
        return (whole,) * instruction.shape.leaf_count

    def _whole(self, values: Iterable[Leaves]) -> Sources:
        return self.join(tuple(itertools.chain.from_iterable(values)))

    def _bound_operands(self, i: HloInstruction) -> Sequence[int]:
        """Returns the operands that can't have any values."""
        if i.opcode in _SHIFTS:
            return (1,)
        if i.opcode is Opcode.RAGGED_DOT:
            return (2,)
        if i.opcode in (Opcode.CUSTOM_CALL, Opcode.RNG):
            return range(len(i.operands))
        if self._is_rounded and Trait.CONVERSION in i.op.traits and not i.shape.element_type.is_integral:
            return (0,)
        return i.op.index_operands(len(i.operands))
