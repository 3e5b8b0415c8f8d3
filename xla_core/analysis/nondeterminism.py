"""Finds the results of a module that may differ between correct executions.

They depend on nondeterministic ops, on eigenvectors or singular vectors, whose signs LAPACK does not specify, or on ops
that correct devices round in different ways.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

from xla_core.analysis.leaf_tracer import LeafTracer
from xla_core.hlo.ir.effects import EffectAnalysis
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.ir.module import HloModule
from xla_core.hlo.table.op_table import Trait
from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.values.shape import Shape

_WITHOUT_ROUNDING = frozenset(
    (Trait.KEEPS_BITS, Trait.DATA_MOVEMENT, Trait.INDEX_MAP, Trait.FORWARDING, Trait.NOP, Trait.GIVEN)
)

Leaves = tuple[bool, ...]
"""For each leaf of a value: whether it depends on one of the instructions."""


@dataclasses.dataclass(frozen=True, slots=True)
class Nondeterminism:
    """Which arrays of the entry's result depend on one of the instructions, and whether any outfeed does."""

    results: Leaves
    outfeed: bool


def find_nondeterminism(module: HloModule) -> Nondeterminism:
    """Propagates dependence on ops with `Trait.NONDETERMINISTIC` through tuples, calls, branches and loops."""
    return _find(module, EffectAnalysis(frozenset({Trait.NONDETERMINISTIC})).of)


def find_free_signs(module: HloModule) -> Nondeterminism:
    """Propagates dependence on calls that compute eigenvectors or singular vectors, in the same way."""

    def computes_vectors(i: HloInstruction) -> bool:
        if i.opcode != Opcode.CUSTOM_CALL:
            return False
        from xla_core.lapack import has_free_signs  # few programs need it

        return has_free_signs(i.attribute("custom_call_target"))

    return _find(module, computes_vectors)


def find_inexact(module: HloModule) -> Nondeterminism:
    """Propagates dependence on ops whose result is not the same on every correct device, such as sums and `tanh`.

    The others move elements, or compute each element of a real type by one correctly rounded operation.
    """

    def is_inexact(i: HloInstruction) -> bool:
        if not _WITHOUT_ROUNDING.isdisjoint(i.op.traits):
            return False
        if Trait.ELEMENTWISE not in i.op.traits or Trait.TRANSCENDENTAL in i.op.traits or i.called_computations:
            return True
        return any(leaf.element_type.is_complex for o in i.operands for leaf in o.shape.array_leaves())

    return _find(module, is_inexact)


def _find(module: HloModule, begins: Callable[[HloInstruction], bool]) -> Nondeterminism:
    tracer = _Tracer(module, begins)
    parameters = [_all(False, p.shape) for p in module.entry.parameters]
    leaves = tracer.computation(module.entry, parameters)
    arrays = [leaf.is_array for leaf in module.entry.root.shape.leaves()]
    return Nondeterminism(tuple(n for n, keep in zip(leaves, arrays, strict=True) if keep), tracer.outfeed)


class _Tracer(LeafTracer[bool]):
    def __init__(self, module: HloModule, begins: Callable[[HloInstruction], bool]) -> None:
        super().__init__()
        self._begins = begins
        self._module_begins = any(begins(i) for c in module.computations for i in c.instructions)
        self.outfeed = False

    def join(self, facts: Leaves) -> bool:
        return any(facts)

    def decided(self, instruction: HloInstruction, decision: Leaves) -> Leaves | None:
        return _all(True, instruction.shape) if any(decision) else None

    def compute(self, instruction: HloInstruction, operands: Sequence[Leaves]) -> Leaves:
        if instruction.opcode == Opcode.OUTFEED:
            self.outfeed |= any(operands[0])
        depends = self._begins(instruction) or any(
            leaf
            for operand, leaves in zip(instruction.operands, operands, strict=True)
            for leaf, shape in zip(leaves, operand.shape.leaves(), strict=True)
            if not shape.is_token  # a token orders effects and carries no data
        )
        if instruction.opcode in (Opcode.RECV, Opcode.RECV_DONE):
            depends = self._module_begins  # a device may send random values
        return _all(depends, instruction.shape)


def _all(value: bool, shape: Shape) -> Leaves:
    return (value,) * shape.leaf_count
