"""Computes dots of integers of at most 8 bits in f32, which has faster kernels, without rounding.

A contraction whose sums f32 may not represent becomes a sum of dots of slices. Dots of few rows or columns stay as they
are: the kernels of `codegen/dot.py` convert their elements.
"""

from __future__ import annotations

import math

from xla_backend_cpu.codegen.dot import longest_exact_sum
from xla_core.hlo import ElementType, HloInstruction, Opcode
from xla_core.passes import Builder, OpExpander

__all__ = ["IntegerDotUpcaster"]

_FEWEST_ROWS = 16  # with fewer rows or columns, converting whole operands costs more than it saves
_FEWEST_PRODUCTS = 32**3


class IntegerDotUpcaster(OpExpander):
    """See the module's docstring."""

    name = "cpu-integer-dot-upcaster"
    opcodes = frozenset({Opcode.DOT})

    def matches(self, instruction: HloInstruction) -> bool:
        left, right = (o.shape for o in instruction.operands)
        narrow = all(s.element_type.is_integral and s.element_type.bit_width <= 8 for s in (left, right))
        if not (
            narrow and instruction.shape.element_type.is_integral and 0 not in (*left.dimensions, *right.dimensions)
        ):
            return False
        k = math.prod(left.dimensions[d] for d in instruction.attribute("lhs_contracting_dims"))
        batch = math.prod(left.dimensions[d] for d in instruction.attribute("lhs_batch_dims"))
        rows, columns = left.num_elements // (k * batch), right.num_elements // (k * batch)
        one_slice = k <= longest_exact_sum(left.element_type, right.element_type)
        return (
            min(rows, columns) >= _FEWEST_ROWS
            and rows * columns * k >= _FEWEST_PRODUCTS
            and (one_slice or len(instruction.attribute("lhs_contracting_dims")) == 1)
        )

    def expand(self, instruction: HloInstruction, b: Builder) -> HloInstruction:
        left, right = instruction.operands
        lhs, rhs = (instruction.attribute(f"{side}_contracting_dims") for side in ("lhs", "rhs"))
        whole = math.prod(left.shape.dimensions[d] for d in lhs)
        longest = longest_exact_sum(left.shape.element_type, right.shape.element_type)
        floats = instruction.shape.with_element_type(ElementType.F32).without_layout()
        total: HloInstruction | None = None
        for begin in range(0, whole, longest):
            operands = [left, right]
            if whole > longest:
                operands = [
                    b.slice_in_dim(o, dims[0], begin, min(begin + longest, whole))
                    for o, dims in zip(operands, (lhs, rhs), strict=True)
                ]
            part = b.clone(
                instruction, [b.convert(o, o.shape.with_element_type(ElementType.F32)) for o in operands], shape=floats
            )
            # Convert through s32: a conversion from float clamps, and the result must wrap like an integer.
            part = b.convert(b.convert(part, floats.with_element_type(ElementType.S32)), instruction.shape)
            total = part if total is None else b.add(Opcode.ADD, total, part)
        assert total is not None
        return total
