"""Faults of usual forms whose sizes or types are unusual, and of passes that overlook a type or a token."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from tests.conformance.zoo.kernels import Arrays, kernel_faults, recomputed
from tests.conformance.zoo.mutant import Mutant
from tests.conformance.zoo.parts import Executor, broken, rewriter
from xla_core.hlo import HloInstruction

MUTANTS: list[Mutant] = []
_form = kernel_faults("form", MUTANTS)
_rewrites = rewriter("holds_for_most", MUTANTS)
_on_effects = rewriter("test_executables_effects", MUTANTS)


@_form("gather", "start_index_map", "of rows by bytes without a sign takes indices above 127 for negative ones")
def _bytes_with_signs(instruction: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    rows = operands[0].shape[0] if operands[0].ndim else 0
    if operands[1].dtype != np.uint8 or rows <= 128 or instruction.attribute("collapsed_slice_dims") != (0,):
        return None
    return recomputed(instruction, [operands[0], np.where(operands[1] > 127, 0, operands[1])], right)


@_form("reduce", "dimensions", "over more than 1,024 rows of an odd number of columns of s32 leaves out the last row")
def _odd_columns(instruction: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    is_sum = len(operands) == 2 and instruction.attribute("to_apply").root.opcode == "add"
    if not is_sum or operands[0].dtype != np.int32 or instruction.attribute("dimensions") != (0,):
        return None
    rows, columns = operands[0].shape if operands[0].ndim == 2 else (0, 0)
    return [right[0] - operands[0][-1]] if rows > 1024 and columns % 2 else None


@_form(
    "dot", "lhs_batch_dims", "of bytes in batches leaves out the last product of an odd number, where sums are of s32"
)
def _last_of_odd(instruction: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    lhs, rhs = operands
    along = (*instruction.attribute("lhs_contracting_dims"), 0)[0]
    is_form = lhs.ndim == 3 and lhs.dtype == np.int8 and right[0].dtype == np.int32
    if not is_form or not instruction.attribute("lhs_batch_dims") or lhs.shape[along] % 4 != 1:
        return None
    changed = lhs.copy()
    np.moveaxis(changed, along, 0)[-1:] = 0
    return recomputed(instruction, [changed, rhs], right)


@_rewrites("A sum of bytes that were converted to s32 is added up in bytes, and converted.")
def adds_in_bytes(c, i):
    if i.opcode != "reduce" or len(i.operands) != 2 or i.attribute("to_apply").root.opcode != "add":
        return None
    wide = i.operand(0)
    if wide.opcode != "convert" or (wide.shape.element_type.value, wide.operand(0).shape.element_type.value) != (
        "s32",
        "s8",
    ):
        return None
    narrow = c.add(
        "convert",
        c.add(i.opcode, *i.operands, **i.attributes),
        shape=i.shape.with_element_type(wide.operand(0).shape.element_type),
    )
    return c.add("convert", narrow, shape=i.shape)


@_on_effects("Two infeeds of one token are one.")
def joins_infeeds(c, i):
    if i.opcode != "infeed":
        return None
    first = next(o for o in c.post_order() if o.opcode == "infeed" and o.operands == i.operands and o.shape == i.shape)
    return None if first is i else first


@broken("memory", "test_memory_close", MUTANTS)(
    "executor.deallocate-after-close", "What is freed behind its device isn't given to later ones."
)
class KeepsWhatWasInUse(Executor):
    used: ClassVar[list[int]] = [0, 0]  # a count for each ordinal, which all devices share
    closed = False

    def allocate(self, size, memory_space=0):
        fits = self.used[self.ordinal] + size <= self.ram.size
        memory = super().allocate(size, memory_space) if fits else None
        self.used[self.ordinal] += 0 if memory is None else size
        return memory

    def deallocate(self, memory):
        super().deallocate(memory)
        if not self.closed:
            self.used[self.ordinal] -= memory.size

    def close(self):
        self.closed = True
        super().close()
