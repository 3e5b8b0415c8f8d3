"""Rows of costly values that two loops need: the first loop stores them in stack memory, the second reads them back.

Softmax is an example: its exponentials are summed, and then divided by the sum.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Hashable, Iterator, Sequence

from xla_core.codegen.llvm.ir.module import Value
from xla_core.codegen.llvm.loops.context import EmissionContext
from xla_core.codegen.llvm.loops.index import Digit, Index
from xla_core.hlo.instruction import HloInstruction
from xla_core.hlo.op_table import Trait

_LONGEST = 4096  # elements, so that a row stays in the nearest cache
_SHORTEST = 8

Visit = Callable[[Digit, Callable[[], Sequence[Value]]], Sequence[Value]]


class Rows:
    """The rows that one FusedIrEmitter has stored."""

    def __init__(self, context: EmissionContext, serial: int) -> None:
        self._context = context
        self._serial = serial
        self._open: list[tuple[Digit, dict[Hashable, tuple[Value, str]]]] = []

    @contextlib.contextmanager
    def kept(self, extent: int) -> Iterator[Visit]:
        """Encloses a loop over a whole row. It yields a function that encloses the emission of the loop's body."""
        found: dict[Hashable, tuple[Value, str]] = {}

        def visit(digit: Digit, body: Callable[[], Sequence[Value]]) -> Sequence[Value]:
            if not _SHORTEST <= extent <= _LONGEST or self._context.abi.flatten:
                return body()
            self._open.append((digit, found))
            result = body()
            self._open.pop()
            return result

        yield visit
        for key, row in found.items():
            self._context.remember(key, row)

    def keep(self, instruction: HloInstruction, index: Index, value: object) -> None:
        """Stores a value that was just computed, if the instruction is costly and has another user."""
        if not self._open or Trait.TRANSCENDENTAL not in instruction.op.traits or instruction.user_count < 2:
            return
        digit, found = self._open[-1]
        b = self._context.builder
        last = index.digits[-1] if index.digits else None
        if last is not digit or not isinstance(value, Value) or b.level != digit.level:
            return
        if self._context.floor >= digit.level or any(d.level >= digit.level for d in index.digits[:-1]):
            return
        row = b.alloca(value.type, digit.extent, align=64, address_space=self._context.abi.stack_address_space)
        b.store_register(value, row, digit.value)
        found[self._key(instruction, index)] = (row, value.type)

    def read(self, instruction: HloInstruction, index: Index) -> Value | None:
        """Returns the value, if its row was stored."""
        if not index.digits or Trait.TRANSCENDENTAL not in instruction.op.traits:
            return None
        kept = self._context.find(self._key(instruction, index))
        if not isinstance(kept, tuple):
            return None
        row, type_ = kept
        return self._context.builder.load_register(type_, row, index.digits[-1].value)

    def _key(self, instruction: HloInstruction, index: Index) -> Hashable:
        return ("row", self._serial, instruction, index.key[:-1], index.digits[-1].extent)
