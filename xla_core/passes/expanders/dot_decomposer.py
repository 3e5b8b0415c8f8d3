"""dot_decomposer: makes every dot a (batched) product of matrices (XLA: xla/service/dot_decomposer.h)."""

from __future__ import annotations

import math
from collections.abc import Sequence

from xla_core.hlo.builder import Builder
from xla_core.hlo.instruction import HloInstruction
from xla_core.hlo.opcode import Opcode
from xla_core.passes.expanders.expander import OpExpander


def is_canonical_dot(dot: HloInstruction) -> bool:
    """Whether a dot is [B,M,K] x [B,K,N], or a form of it that is transposed or lacks B, M or N.

    Each operand has at most one batch dimension, which comes first, one contracting dimension, and at most one free
    dimension.
    """
    a = dot.attributes
    for side, operand in zip(("lhs", "rhs"), dot.operands, strict=True):
        batch, contracted = a.get(f"{side}_batch_dims", ()), a.get(f"{side}_contracting_dims", ())
        if len(contracted) != 1 or len(batch) > 1 or operand.shape.rank - len(batch) > 2:
            return False
        if batch and batch[0] != 0:
            return False
    return True


class DotDecomposer(OpExpander):
    """Merges batch, contracting and free dimensions into one each, with transposes and reshapes of the operands.

    An operand whose contracting dimensions precede its free ones is not transposed: [B,K,M] is canonical too. The
    operands are swapped if the left one needs a transpose anyway and the right one, [B,N,K], is in the order of a left
    operand.
    """

    name = "dot-decomposer"
    opcodes = frozenset({Opcode.DOT})

    def matches(self, instruction: HloInstruction) -> bool:
        return not is_canonical_dot(instruction) and bool(instruction.attributes.get("lhs_contracting_dims"))

    def expand(self, instruction: HloInstruction, b: Builder) -> HloInstruction:
        a = instruction.attributes
        lhs, rhs = instruction.operands
        if _better_swapped(instruction):
            return self._expand_swapped(instruction, b)
        batch = len(a.get("lhs_batch_dims", ()))
        left, left_k, left_free = _matrix(b, lhs, a.get("lhs_batch_dims", ()), a["lhs_contracting_dims"], first=False)
        right, right_k, right_free = _matrix(b, rhs, a.get("rhs_batch_dims", ()), a["rhs_contracting_dims"], first=True)
        batches = [lhs.shape.dimensions[d] for d in a.get("lhs_batch_dims", ())]
        sizes = [math.prod(batches)] if batch else []
        sizes += [math.prod(free) for free in (left_free, right_free) if free]
        numbers = {
            "lhs_batch_dims": (0,) if batch else (),
            "rhs_batch_dims": (0,) if batch else (),
            "lhs_contracting_dims": (left_k,),
            "rhs_contracting_dims": (right_k,),
        }
        product = b.add(Opcode.DOT, left, right, shape=instruction.shape.with_dimensions(sizes), **{**a, **numbers})
        return b.reshape(product, instruction.shape.dimensions)

    def _expand_swapped(self, instruction: HloInstruction, b: Builder) -> HloInstruction:
        """The transpose of the product of the operands in the other order."""
        attributes = dict(instruction.attributes)
        for name in ("batch_dims", "contracting_dims"):
            for side, other in (("lhs", "rhs"), ("rhs", "lhs")):
                attributes[f"{side}_{name}"] = instruction.attributes.get(f"{other}_{name}", ())
        if attributes.get("operand_precision"):
            attributes["operand_precision"] = tuple(reversed(attributes["operand_precision"]))
        lhs, rhs = instruction.operands
        batch = len(attributes["lhs_batch_dims"])
        left_free = lhs.shape.rank - batch - len(attributes["rhs_contracting_dims"])
        rank = instruction.shape.rank
        order = [*range(batch), *range(batch + left_free, rank), *range(batch, batch + left_free)]
        shape = instruction.shape.with_dimensions([instruction.shape.dimensions[d] for d in order])
        swapped = b.add(Opcode.DOT, rhs, lhs, shape=shape, **attributes)
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
    a = dot.attributes
    lhs, rhs = dot.operands
    left = _orders(lhs, a.get("lhs_batch_dims", ()), a["lhs_contracting_dims"])
    right = _orders(rhs, a.get("rhs_batch_dims", ()), a["rhs_contracting_dims"])
    k_last = right[False] == sorted(right[False]) and right[True] != sorted(right[True])
    moves = all(order != sorted(order) for order in left.values())
    return k_last and moves and dot.shape.num_elements < rhs.shape.num_elements


def _orders(x: HloInstruction, batch: Sequence[int], contracted: Sequence[int]) -> dict[bool, list[int]]:
    """The dimension order of an operand as a matrix, by whether contracting dimensions precede free ones."""
    free = [d for d in range(x.shape.rank) if d not in batch and d not in contracted]
    return {True: [*batch, *contracted, *free], False: [*batch, *free, *contracted]}


def _matrix(
    b: Builder, x: HloInstruction, batch: Sequence[int], contracted: Sequence[int], *, first: bool
) -> tuple[HloInstruction, int, list[int]]:
    """Makes an operand a matrix: [B,K,M] or [B,M,K], whichever needs no transpose, else the one that `first` selects.

    Returns the matrix, the position of K, and the sizes of the dimensions in M. The matrix has no B if there are no
    batch dimensions, and no M if there are no free dimensions.
    """
    free = [d for d in range(x.shape.rank) if d not in batch and d not in contracted]
    orders = _orders(x, batch, contracted)
    in_place = [k_first for k_first in (first, not first) if orders[k_first] == sorted(orders[k_first])]
    k_first = in_place[0] if in_place else first
    sizes = x.shape.dimensions
    k, m = math.prod(sizes[d] for d in contracted), math.prod(sizes[d] for d in free)
    merged = [math.prod(sizes[d] for d in batch)] if batch else []
    merged += ([k, m] if k_first else [m, k]) if free else [k]
    matrix = b.reshape(b.transpose(x, orders[k_first]), merged)
    return matrix, (1 if batch else 0) + (0 if k_first or not free else 1), [sizes[d] for d in free]
