"""dot_decomposer: every dot becomes a (batched) product of matrices. (XLA: xla/service/dot_decomposer.h.)"""

from __future__ import annotations

import math
from collections.abc import Sequence

from xla_core.hlo.instruction import HloInstruction
from xla_core.passes.expander import OpExpander
from xla_core.passes.rewriter import Builder

__all__ = ["DotDecomposer", "is_canonical_dot"]


def is_canonical_dot(dot: HloInstruction) -> bool:
    """At most one batch dimension, which comes first, one contracted dimension, and at most one other of each operand.
    [B,M,K] x [B,K,N] and its transposed forms, and those without B, M or N.
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
    """Merges batch, contracted and other dimensions into one each, by transposes and reshapes of the operands.

    An operand whose contracted dimensions stand before its others is left so: [B,K,M] needs no transpose.
    """

    name = "dot-decomposer"
    opcodes = frozenset({"dot"})

    def matches(self, instruction: HloInstruction) -> bool:
        return not is_canonical_dot(instruction) and bool(instruction.attributes.get("lhs_contracting_dims"))

    def expand(self, instruction: HloInstruction, b: Builder) -> HloInstruction:
        a = instruction.attributes
        lhs, rhs = instruction.operands
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
        product = b.add("dot", left, right, shape=instruction.shape.with_dimensions(sizes), **{**a, **numbers})
        return b.reshape(product, instruction.shape.dimensions)


def _matrix(
    b: Builder, x: HloInstruction, batch: Sequence[int], contracted: Sequence[int], *, first: bool
) -> tuple[HloInstruction, int, list[int]]:
    """The operand as [B,K,M] (where that costs no transpose, or `first` says so) or [B,M,K]; the place of K; the sizes
    of M's dimensions. There is no B without batch dimensions, and no M without others.
    """
    free = [d for d in range(x.shape.rank) if d not in batch and d not in contracted]
    orders = {True: [*batch, *contracted, *free], False: [*batch, *free, *contracted]}
    in_place = [k_first for k_first in (first, not first) if orders[k_first] == sorted(orders[k_first])]
    k_first = in_place[0] if in_place else first
    sizes = x.shape.dimensions
    k, m = math.prod(sizes[d] for d in contracted), math.prod(sizes[d] for d in free)
    merged = [math.prod(sizes[d] for d in batch)] if batch else []
    merged += ([k, m] if k_first else [m, k]) if free else [k]
    matrix = b.reshape(b.transpose(x, orders[k_first]), merged)
    return matrix, (1 if batch else 0) + (0 if k_first or not free else 1), [sizes[d] for d in free]
