"""Rewrites dots of integers of at most 8 bits to dots of bytes with results of 32 bits, which have a fast kernel.

A contraction of more taps than 32 bits can sum becomes a sum of dots of slices, if the result has more bits.
"""

from __future__ import annotations

import math

from xla_core.hlo import ElementType, HloInstruction, Opcode
from xla_core.passes import Builder, OpExpander

_FEWEST_PRODUCTS = 32**3  # with fewer, converting whole operands costs more than it saves
_SUMS = (ElementType.S32, ElementType.U32)


class IntegerDotUpcaster(OpExpander):
    """See the module's docstring."""

    name = "cpu-integer-dot-upcaster"
    opcodes = frozenset({Opcode.DOT})

    def matches(self, instruction: HloInstruction) -> bool:
        left, right = (o.shape for o in instruction.operands)
        types = left.element_type, right.element_type
        result = instruction.shape.element_type
        if (
            not all(t.is_integral and t.bit_width <= 8 for t in (*types,))
            or not result.is_integral
            or 0 in (*left.dimensions, *right.dimensions)
            or (result in _SUMS and all(t.bit_width == 8 for t in types))
        ):
            return False
        taps = [left.dimensions[d] for d in instruction.attribute("lhs_contracting_dims")]
        fits = result.bit_width <= 32 or math.prod(taps) <= _longest_sum(*types)
        return instruction.shape.num_elements * math.prod(taps) >= _FEWEST_PRODUCTS and (fits or len(taps) == 1)

    def expand(self, instruction: HloInstruction, b: Builder) -> HloInstruction:
        left, right = (
            b.convert(o, o.shape.with_element_type(_byte(o.shape.element_type))) for o in instruction.operands
        )
        lhs, rhs = (instruction.attribute(f"{side}_contracting_dims") for side in ("lhs", "rhs"))
        whole = longest = math.prod(left.shape.dimensions[d] for d in lhs)
        if instruction.shape.element_type.bit_width > 32:
            longest = _longest_sum(*(o.shape.element_type for o in instruction.operands))
        sums = instruction.shape.with_element_type(ElementType.S32).without_layout()
        total: HloInstruction | None = None
        for begin in range(0, whole, longest):
            operands = [left, right]
            if whole > longest:
                operands = [
                    b.slice_in_dim(o, dims[0], begin, min(begin + longest, whole))
                    for o, dims in zip(operands, (lhs, rhs), strict=True)
                ]
            part = b.convert(b.clone(instruction, operands, shape=sums), instruction.shape)
            total = part if total is None else b.add(Opcode.ADD, total, part)
        assert total is not None
        return total


def _byte(element_type: ElementType) -> ElementType:
    return ElementType.S8 if element_type.is_signed else ElementType.U8


def _longest_sum(left: ElementType, right: ElementType) -> int:
    """Returns how many products of two integer types 32 bits can sum."""
    return (2**31 - 1) // (_largest(left) * _largest(right))


def _largest(element_type: ElementType) -> int:
    """Returns the largest magnitude of an integer type."""
    return int(2 ** (element_type.bit_width - 1 if element_type.is_signed else element_type.bit_width))
