"""dot_decomposer: makes every dot a (batched) product of matrices (XLA: xla/service/dot_decomposer.h)."""

from __future__ import annotations

import math

from xla_core.hlo.ir.builder import Builder
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.opcode import Opcode
from xla_core.passes.dot_operands import DotOperand, dot_operands, swapped_attributes
from xla_core.passes.expanders.expander import OpExpander


def is_canonical_dot(dot: HloInstruction) -> bool:
    """Whether a dot is [B,M,K] x [B,K,N], or a form of it that is transposed or lacks B, M or N.

    Each operand has at most one batch dimension, which comes first, one contracting dimension, and at most one free
    dimension.
    """
    return all(len(o.contracted) == 1 and len(o.free) <= 1 and o.batch in ((), (0,)) for o in dot_operands(dot))


class DotDecomposer(OpExpander):
    """Merges batch, contracting and free dimensions into one each, with transposes and reshapes of the operands.

    An operand whose contracting dimensions precede its free ones is not transposed: [B,K,M] is canonical too. The
    operands are swapped if the left one needs a transpose anyway and the right one, [B,N,K], is in the order of a left
    operand.
    """

    opcodes = frozenset({Opcode.DOT})

    def matches(self, instruction: HloInstruction) -> bool:
        return not is_canonical_dot(instruction) and bool(instruction.attribute("lhs_contracting_dims"))

    def expand(self, instruction: HloInstruction, b: Builder) -> HloInstruction:
        if _better_swapped(instruction):
            return self._expand_swapped(instruction, b)
        lhs, rhs = dot_operands(instruction)
        left, left_k = _matrix(b, lhs, first=False)
        right, right_k = _matrix(b, rhs, first=True)
        batch = (0,) if lhs.batch else ()
        sizes = [math.prod(lhs.sizes(lhs.batch))] if batch else []
        sizes += [math.prod(o.sizes(o.free)) for o in (lhs, rhs) if o.free]
        numbers = {
            "lhs_batch_dims": batch,
            "rhs_batch_dims": batch,
            "lhs_contracting_dims": (left_k,),
            "rhs_contracting_dims": (right_k,),
        }
        shape = instruction.shape.with_dimensions(sizes)
        product = b.add(Opcode.DOT, left, right, shape=shape, **{**instruction.attributes, **numbers})
        return b.reshape(product, instruction.shape.dimensions)

    def _expand_swapped(self, instruction: HloInstruction, b: Builder) -> HloInstruction:
        """The transpose of the product of the operands in the other order."""
        lhs, rhs = dot_operands(instruction)
        batch, rank = len(lhs.batch), instruction.shape.rank
        order = [*range(batch), *range(batch + len(lhs.free), rank), *range(batch, batch + len(lhs.free))]
        shape = instruction.shape.with_dimensions([instruction.shape.dimensions[d] for d in order])
        swapped = b.add(Opcode.DOT, rhs.value, lhs.value, shape=shape, **swapped_attributes(instruction))
        back = [order.index(d) for d in range(rank)]
        product = self.expand(swapped, b)
        if swapped.parent is not None:
            swapped.parent.remove(swapped)
        return b.transpose(product, back)


def _better_swapped(dot: HloInstruction) -> bool:
    """Whether to swap the operands.

    That pays if the left operand needs a transpose in any order, the right one needs it only as the right operand, and
    the result, which is transposed instead, is smaller than the right operand.
    """
    lhs, rhs = dot_operands(dot)
    left, right = _orders(lhs), _orders(rhs)
    k_last = right[False] == sorted(right[False]) and right[True] != sorted(right[True])
    moves = all(order != sorted(order) for order in left.values())
    return k_last and moves and dot.shape.num_elements < rhs.value.shape.num_elements


def _orders(o: DotOperand) -> dict[bool, list[int]]:
    """The dimension order of an operand as a matrix, by whether contracting dimensions precede free ones."""
    return {True: [*o.batch, *o.contracted, *o.free], False: [*o.batch, *o.free, *o.contracted]}


def _matrix(b: Builder, o: DotOperand, *, first: bool) -> tuple[HloInstruction, int]:
    """Makes an operand a matrix: [B,K,M] or [B,M,K], whichever needs no transpose, else the one that `first` selects.

    Returns the matrix and the position of K. The matrix has no B if there are no batch dimensions, and no M if there
    are no free dimensions.
    """
    orders = _orders(o)
    in_place = [k_first for k_first in (first, not first) if orders[k_first] == sorted(orders[k_first])]
    k_first = in_place[0] if in_place else first
    groups = [o.batch, *((o.contracted, o.free) if k_first else (o.free, o.contracted))]
    sizes = [math.prod(o.sizes(group)) for group in groups if group or group is o.contracted]
    return b.reshape(b.transpose(o.value, orders[k_first]), sizes), len(sizes) - (2 if k_first and o.free else 1)
