"""Puts the right side of dots where the blocked product reads it well.

A transposed right side becomes a plain one; one that is too large for the first caches becomes panels, each with the
features of one register block: (k, n) -> (n / panel, k, panel). Both are transposes in the graph, so buffer assignment
plans their memory, constant folding does them once for constants, and they fuse. The dot over panels is an HLO dot like
any other; its result, (m, n / panel, panel), is (m, n) in memory.
"""

from __future__ import annotations

from xla_backend_cpu.codegen.dot import DotShape
from xla_core.hlo import ElementType, HloComputation, HloInstruction, HloModule, Shape
from xla_core.passes import HloPass

__all__ = ["DotPacker"]

_LARGE_BYTES = 1 << 19  # half of a usual second-level cache
_FEW_ROWS = 16  # then every element of the right side is read too few times for packing to pay


class DotPacker(HloPass):
    """See the module's docstring. `panel_bytes` is two vector registers' worth."""

    name = "cpu-dot-packer"

    def __init__(self, panel_bytes: int) -> None:
        self.panel_bytes = panel_bytes

    def run(self, module: HloModule) -> bool:
        """Rewrites each canonical real dot for which it pays."""
        changed = False
        for computation in module.computations:
            for instruction in computation.instructions:
                if instruction.opcode == "dot":
                    changed |= self._dot(computation, instruction)
        return changed

    def _dot(self, computation: HloComputation, dot: HloInstruction) -> bool:
        shape = DotShape.of(dot)
        types = {dot.shape.element_type, *(o.shape.element_type for o in dot.operands)}
        if shape is None or shape.panel or types not in ({ElementType.F32}, {ElementType.F64}):
            return False
        item = dot.shape.element_type.byte_width
        panel = self.panel_bytes // item
        large = shape.k * shape.n * item > _LARGE_BYTES
        if large and shape.m >= _FEW_ROWS and shape.n % panel == 0:
            _pack(computation, dot, shape, panel)
            return True
        if shape.right_transposed and shape.m > 1 and shape.n >= 4 and (shape.m >= _FEW_ROWS or not large):
            _transpose_right(computation, dot)
            return True
        return False


def _transpose_right(computation: HloComputation, dot: HloInstruction) -> None:
    """(batch, n, k) -> (batch, k, n), with however many dimensions n and k have."""
    right = dot.operand(1)
    batch, contracting = len(dot.attribute("rhs_batch_dims")), len(dot.attribute("rhs_contracting_dims"))
    rank = right.shape.rank
    order = (*range(batch), *range(rank - contracting, rank), *range(batch, rank - contracting))
    plain = computation.add("transpose", right, dimensions=order, metadata=dot.metadata)
    new = dot.clone([dot.operand(0), plain], rhs_contracting_dims=tuple(range(batch, batch + contracting)))
    computation.replace_with(dot, computation.add_instruction(new))


def _pack(computation: HloComputation, dot: HloInstruction, shape: DotShape, panel: int) -> None:
    right = dot.operand(1)
    batch = right.shape.dimensions[: len(dot.attribute("rhs_batch_dims"))]
    rank = len(batch)
    first = tuple(range(rank))
    panels = shape.n // panel
    if shape.right_transposed:  # (n, k) -> (panels, panel, k) -> (panels, k, panel)
        split, order = (panels, panel, shape.k), (rank, rank + 2, rank + 1)
    else:  # (k, n) -> (k, panels, panel) -> (panels, k, panel)
        split, order = (shape.k, panels, panel), (rank + 1, rank, rank + 2)
    packed = computation.add(
        "reshape", right, shape=Shape(right.shape.element_type, (*batch, *split)), metadata=dot.metadata
    )
    packed = computation.add("transpose", packed, dimensions=(*first, *order), metadata=dot.metadata)
    element_type = dot.shape.element_type
    left_shape = (shape.k, shape.m) if shape.left_transposed else (shape.m, shape.k)
    left = computation.add("reshape", dot.operand(0), shape=Shape(element_type, (*batch, *left_shape)))
    new = dot.clone(
        [left, packed],
        shape=Shape(element_type, (*batch, shape.m, panels, panel)),
        lhs_contracting_dims=(rank + (0 if shape.left_transposed else 1),),
        rhs_contracting_dims=(rank + 1,),
    )
    product = computation.add_instruction(new)
    computation.replace(dot, "reshape", product, shape=dot.shape.without_layout())
