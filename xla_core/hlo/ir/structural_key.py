"""Hashable keys that are equal for structurally equal instructions and computations. Names and metadata don't count."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from xla_core.hlo.ir.call_graph import callees_first
from xla_core.hlo.ir.computation import HloComputation
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.op_table import AttributeKind


class StructuralKeys:
    """Gives structurally equal computations the same number.

    Numbers are cached, so the computations must not change afterwards.
    """

    def __init__(self) -> None:
        self._numbers: dict[HloComputation, int] = {}
        self._known: dict[Hashable, int] = {}

    def instruction(self, instruction: HloInstruction) -> Hashable:
        """Returns a key of opcode, shape and attributes, without the operands."""
        attributes = instruction.attributes
        if not attributes:
            return instruction.opcode, instruction.shape
        kinds = instruction.op.attributes
        values: list[Hashable] = []
        for name in sorted(attributes):
            kind = kinds[name].kind if name in kinds else None
            values.append((name, self._attribute(kind, attributes[name])))
        return instruction.opcode, instruction.shape, tuple(values)

    def computation(self, computation: HloComputation) -> int:
        for each in callees_first(computation, self._numbers):
            self._numbers[each] = self._known.setdefault(self._contents(each), len(self._known))
        return self._numbers[computation]

    def _attribute(self, kind: AttributeKind | None, value: Any) -> Hashable:
        if value is None:
            return None
        if kind is AttributeKind.COMPUTATION:
            return self.computation(value)
        if kind is AttributeKind.COMPUTATIONS:
            return tuple(self.computation(c) for c in value)
        hashable: Hashable = value
        return hashable

    def _contents(self, computation: HloComputation) -> Hashable:
        numbers: dict[HloInstruction, int] = {}
        parts: list[Hashable] = []
        for instruction in [*computation.parameters, *computation.post_order()]:
            if instruction in numbers:
                continue
            numbers[instruction] = len(numbers)
            operands = tuple(numbers[o] for o in instruction.operands)
            predecessors = tuple(numbers[p] for p in instruction.control_predecessors)
            parts.append((operands, predecessors, self.instruction(instruction)))
        return numbers[computation.root], tuple(parts)
