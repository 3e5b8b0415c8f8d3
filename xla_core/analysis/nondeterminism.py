"""Finds the results of a module that depend on nondeterministic ops, so that two correct executions may differ."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable

from xla_core.hlo.ir.computation import HloComputation
from xla_core.hlo.ir.effects import EffectAnalysis
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.ir.module import HloModule
from xla_core.hlo.table.op_table import Trait
from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.values.shape import Shape

Leaves = tuple[bool, ...]
"""For each leaf of a value: whether it depends on an op with `Trait.NONDETERMINISTIC`."""


@dataclasses.dataclass(frozen=True, slots=True)
class Nondeterminism:
    """Which arrays of the entry's result depend on a nondeterministic op, and whether any outfeed does."""

    results: Leaves
    outfeed: bool


def find_nondeterminism(module: HloModule) -> Nondeterminism:
    """Propagates dependence on ops with `Trait.NONDETERMINISTIC` through tuples, calls, branches and loops."""
    tracer = _Tracer(module)
    parameters = [_all(False, p.shape) for p in module.entry.parameters]
    leaves = tracer.computation(module.entry, parameters)
    arrays = [leaf.is_array for leaf in module.entry.root.shape.leaves()]
    return Nondeterminism(tuple(n for n, keep in zip(leaves, arrays, strict=True) if keep), tracer.outfeed)


class _Tracer:
    def __init__(self, module: HloModule) -> None:
        self._draws = EffectAnalysis(frozenset({Trait.NONDETERMINISTIC}))
        self._module_draws = any(self._draws.of_computation(c) for c in module.computations)
        self._known: dict[tuple[HloComputation, tuple[Leaves, ...]], Leaves] = {}
        self.outfeed = False

    def computation(self, computation: HloComputation, arguments: Iterable[Leaves]) -> Leaves:
        """Whether each leaf of the root depends on a nondeterministic op, given the same of the arguments."""
        given = tuple(arguments)
        known = self._known.get((computation, given))
        if known is not None:
            return known
        found: dict[HloInstruction, Leaves] = {}
        for instruction in computation.post_order():
            if instruction.opcode == Opcode.PARAMETER:
                found[instruction] = given[instruction.parameter_number]
            else:
                found[instruction] = self._instruction(instruction, [found[o] for o in instruction.operands])
        self._known[computation, given] = root = found[computation.root]
        return root

    def _instruction(self, instruction: HloInstruction, operands: list[Leaves]) -> Leaves:
        callees = instruction.called_computations
        match instruction.opcode:
            case Opcode.TUPLE:
                return sum(operands, ())
            case Opcode.GET_TUPLE_ELEMENT:
                start = instruction.operand(0).shape.leaf_number((instruction.tuple_index,))
                return operands[0][start : start + instruction.shape.leaf_count]
            case Opcode.OPT_BARRIER:
                return operands[0]
            case Opcode.CALL | Opcode.FUSION:
                return self.computation(callees[0], operands)
            case Opcode.CONDITIONAL:
                branches = [self.computation(c, [o]) for c, o in zip(callees, operands[1:], strict=True)]
                return _all(True, instruction.shape) if any(operands[0]) else _either(branches)
            case Opcode.WHILE:
                return self._loop(instruction, operands[0])
            case Opcode.OUTFEED:
                self.outfeed |= any(operands[0])
        depends = self._draws.of(instruction) or any(
            leaf
            for operand, leaves in zip(instruction.operands, operands, strict=True)
            for leaf, shape in zip(leaves, operand.shape.leaves(), strict=True)
            if not shape.is_token  # a token orders effects and carries no data
        )
        if instruction.opcode in (Opcode.RECV, Opcode.RECV_DONE):
            depends = self._module_draws  # a device may send what it drew at random
        return _all(depends, instruction.shape)

    def _loop(self, loop: HloInstruction, state: Leaves) -> Leaves:
        body, condition = loop.attribute("body"), loop.attribute("condition")
        while True:
            if any(self.computation(condition, [state])):
                return _all(True, loop.shape)
            after = _either([state, self.computation(body, [state])])
            if after == state:
                return state
            state = after


def _all(value: bool, shape: Shape) -> Leaves:
    return (value,) * shape.leaf_count


def _either(values: list[Leaves]) -> Leaves:
    return tuple(map(any, zip(*values, strict=True)))
