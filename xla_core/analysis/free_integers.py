"""Finds the arrays of integers among a program's arguments that may have any values."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence

from xla_core.analysis.nondeterminism import find_inexact
from xla_core.hlo.ir.computation import HloComputation
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.ir.module import HloModule
from xla_core.hlo.table.op_table import Trait
from xla_core.hlo.table.opcode import Opcode

Sources = frozenset[int]
Leaves = tuple[Sources, ...]
"""For each leaf of a value, the arguments that it is computed from."""

_NONE: Sources = frozenset()
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


class _Tracer:
    """Follows the arguments through a program.

    Attributes:
        bound: the arguments whose values can't be any.
    """

    def __init__(self, is_rounded: bool) -> None:
        self.bound: Sources = _NONE
        self._is_rounded = is_rounded
        self._known: dict[tuple[HloComputation, tuple[Leaves, ...]], Leaves] = {}

    def computation(self, computation: HloComputation, arguments: Iterable[Leaves]) -> Leaves:
        """Returns the sources of each leaf of the root."""
        given = tuple(arguments)
        if (computation, given) not in self._known:
            found: dict[HloInstruction, Leaves] = {}
            for i in computation.post_order():
                operands = [found[o] for o in i.operands]
                is_given = i.opcode == Opcode.PARAMETER
                found[i] = given[i.parameter_number] if is_given else self._instruction(i, operands)
            self._known[computation, given] = found[computation.root]
        return self._known[computation, given]

    def _instruction(self, i: HloInstruction, operands: Sequence[Leaves]) -> Leaves:
        callees = i.called_computations
        self._bind([operands[n] for n in self._bound_operands(i)])
        match i.opcode:
            case Opcode.TUPLE:
                return sum(operands, ())
            case Opcode.GET_TUPLE_ELEMENT:
                start = i.operand(0).shape.leaf_number((i.tuple_index,))
                return operands[0][start : start + i.shape.leaf_count]
            case Opcode.OPT_BARRIER:
                return operands[0]
            case Opcode.CALL | Opcode.FUSION:
                return self.computation(callees[0], operands)
            case Opcode.CONDITIONAL:
                branches = [self.computation(c, [o]) for c, o in zip(callees, operands[1:], strict=True)]
                return _together(branches)
            case Opcode.WHILE:
                return self._loop(i, operands[0])
        whole = _whole(operands)
        for called in callees:
            self.computation(called, [(whole,) * p.shape.leaf_count for p in called.parameters])
        return (whole,) * i.shape.leaf_count

    def _loop(self, loop: HloInstruction, state: Leaves) -> Leaves:
        while True:
            self._bind([self.computation(loop.attribute("condition"), [state])])
            after = _together([state, self.computation(loop.attribute("body"), [state])])
            if after == state:
                return state
            state = after

    def _bind(self, values: Iterable[Leaves]) -> None:
        self.bound |= _whole(values)

    def _bound_operands(self, i: HloInstruction) -> Sequence[int]:
        """Returns the operands that can't have any values."""
        if i.opcode in _SHIFTS:
            return (1,)
        if i.opcode is Opcode.CONDITIONAL:
            return (0,)
        if i.opcode is Opcode.RAGGED_DOT:
            return (2,)
        if i.opcode in (Opcode.CUSTOM_CALL, Opcode.RNG):
            return range(len(i.operands))
        if self._is_rounded and Trait.CONVERSION in i.op.traits and not i.shape.element_type.is_integral:
            return (0,)
        return i.op.index_operands(len(i.operands))


def _whole(values: Iterable[Leaves]) -> Sources:
    return frozenset().union(*itertools.chain.from_iterable(values))


def _together(values: Sequence[Leaves]) -> Leaves:
    return tuple(frozenset().union(*leaves) for leaves in zip(*values, strict=True))
