"""Propagates what is known of each leaf of a value through tuples, calls, branches and loops."""

from __future__ import annotations

import abc
from collections.abc import Iterable, Sequence
from typing import Generic, TypeVar

from xla_core.hlo.ir.computation import HloComputation
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.opcode import Opcode

Fact = TypeVar("Fact")


class LeafTracer(abc.ABC, Generic[Fact]):
    """Follows the leaves of values from a computation's parameters to its root. A fact of a leaf only ever grows."""

    def __init__(self) -> None:
        self._known: dict[tuple[HloComputation, tuple[tuple[Fact, ...], ...]], tuple[Fact, ...]] = {}

    @abc.abstractmethod
    def join(self, facts: tuple[Fact, ...]) -> Fact:
        """Returns the fact of a leaf that is one of several."""

    @abc.abstractmethod
    def decided(self, instruction: HloInstruction, decision: tuple[Fact, ...]) -> tuple[Fact, ...] | None:
        """Returns the leaves of a conditional or a loop if its index or condition alone gives them; otherwise None."""

    @abc.abstractmethod
    def compute(self, instruction: HloInstruction, operands: Sequence[tuple[Fact, ...]]) -> tuple[Fact, ...]:
        """Returns the leaves of an instruction that doesn't only pass leaves on."""

    def computation(self, computation: HloComputation, arguments: Iterable[tuple[Fact, ...]]) -> tuple[Fact, ...]:
        """Returns the leaves of the root, given those of the arguments."""
        given = tuple(arguments)
        if (computation, given) not in self._known:
            found: dict[HloInstruction, tuple[Fact, ...]] = {}
            for i in computation.post_order():
                is_given = i.opcode == Opcode.PARAMETER
                found[i] = given[i.parameter_number] if is_given else self._trace(i, [found[o] for o in i.operands])
            self._known[computation, given] = found[computation.root]
        return self._known[computation, given]

    def _trace(self, i: HloInstruction, operands: Sequence[tuple[Fact, ...]]) -> tuple[Fact, ...]:
        match i.opcode:
            case Opcode.TUPLE:
                return sum(operands, ())
            case Opcode.GET_TUPLE_ELEMENT:
                start = i.operand(0).shape.leaf_number((i.tuple_index,))
                return operands[0][start : start + i.shape.leaf_count]
            case Opcode.OPT_BARRIER:
                return operands[0]
            case Opcode.CALL | Opcode.FUSION:
                return self.computation(i.called_computations[0], operands)
            case Opcode.CONDITIONAL:
                choices = zip(i.called_computations, operands[1:], strict=True)
                branches = [self.computation(branch, [operand]) for branch, operand in choices]
                given = self.decided(i, operands[0])
                return self._together(branches) if given is None else given
            case Opcode.WHILE:
                return self._loop(i, operands[0])
        return self.compute(i, operands)

    def _loop(self, loop: HloInstruction, state: tuple[Fact, ...]) -> tuple[Fact, ...]:
        while True:
            given = self.decided(loop, self.computation(loop.attribute("condition"), [state]))
            if given is not None:
                return given
            after = self._together([state, self.computation(loop.attribute("body"), [state])])
            if after == state:
                return state
            state = after

    def _together(self, values: Sequence[tuple[Fact, ...]]) -> tuple[Fact, ...]:
        return tuple(map(self.join, zip(*values, strict=True)))
