"""Rows of costly values that two loops need: the first loop stores them in stack memory, the second reads them back.

Softmax is an example: its exponentials are summed, and then divided by the sum.
"""

from __future__ import annotations

import contextlib
from collections.abc import Hashable, Iterator

from xla_core.analysis.indexing import Index, IndexExpr, Variable, linearized
from xla_core.codegen.llvm.ir.module import Value
from xla_core.codegen.llvm.loops.context import EmissionContext
from xla_core.codegen.llvm.loops.index_values import IndexValues
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.op_table import Trait

_LONGEST = 4096  # elements, so that a row stays in the nearest cache
_SHORTEST = 8


class KeptRows:
    """The rows that one ElementEmitter has stored."""

    def __init__(self, context: EmissionContext, indices: IndexValues, serial: int) -> None:
        self._context = context
        self._indices = indices
        self._serial = serial
        self._open: list[tuple[Variable, dict[Hashable, tuple[Value, str]]]] = []

    @contextlib.contextmanager
    def kept(self, variable: Variable) -> Iterator[None]:
        """Encloses the emission of a loop over a whole row. Afterwards the rows that it stored may be read."""
        found: dict[Hashable, tuple[Value, str]] = {}
        if not _SHORTEST <= variable.extent <= _LONGEST or self._context.abi.parallel.has_blocks:
            yield
            return
        self._open.append((variable, found))
        yield
        self._open.pop()
        for key, row in found.items():
            self._context.remember(key, row)

    def keep(self, instruction: HloInstruction, index: Index, value: object) -> None:
        """Stores a value that was just computed, if the instruction is costly and has another user."""
        if not self._open or Trait.TRANSCENDENTAL not in instruction.op.traits or instruction.user_count < 2:
            return
        variable, found = self._open[-1]
        b = self._context.builder
        split = _split_row(instruction, index)
        if split is None or split[1] != variable or not isinstance(value, Value):
            return
        place = IndexExpr.of(variable)
        if b.level != self._indices.level(place) or self._context.floor >= b.level:
            return
        if self._indices.level(split[0]) >= b.level:
            return
        row = b.alloca(value.type, variable.extent, align=64, address_space=self._context.abi.stack_address_space)
        b.store_register(value, row, self._indices.value(place))
        found[self._key(instruction, split[0], variable)] = (row, value.type)

    def read(self, instruction: HloInstruction, index: Index) -> Value | None:
        """The value, if its row was stored."""
        if Trait.TRANSCENDENTAL not in instruction.op.traits or instruction.user_count < 2:
            return None
        split = _split_row(instruction, index)
        if split is None:
            return None
        kept = self._context.find(self._key(instruction, *split))
        if not isinstance(kept, tuple):
            return None
        row, type_ = kept
        return self._context.builder.load_register(type_, row, self._indices.value(IndexExpr.of(split[1])))

    def _key(self, instruction: HloInstruction, start: IndexExpr, variable: Variable) -> Hashable:
        return ("row", self._serial, instruction, start, variable.extent)


def _split_row(instruction: HloInstruction, index: Index) -> tuple[IndexExpr, Variable] | None:
    """(the position where a row begins, the variable that runs over it) of an element's position."""
    if not index:
        return None
    position = linearized(index, instruction.shape.dimensions)
    last = [atom for atom, c in position.terms.items() if c == 1 and isinstance(atom, Variable) and atom.low == 0]
    if len(last) != 1:
        return None
    (variable,) = last
    return position - IndexExpr.of(variable), variable
