"""Puts the right side of dots where the blocked product reads it well.

A right side that can't be read in rows is transposed; one that is too large for the first caches becomes panels, each
with the features of one register block: (k, n) -> (n / panel, k, panel). Both are transposes in the graph, so buffer
assignment plans their memory, and constant folding does them once for constants. The dot over panels is an HLO dot like
any other; its result, (m, n / panel, panel), is (m, n) in memory.
"""

from __future__ import annotations

import math

from xla_backend_cpu.codegen.dot import DotShape, dot_product
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
        types = {dot.shape.element_type, *(o.shape.element_type for o in dot.operands)}
        if types not in ({ElementType.F32}, {ElementType.F64}) or 0 in (
            *dot.operand(0).shape.dimensions,
            *dot.shape.dimensions,
        ):
            return False
        item = dot.shape.element_type.byte_width
        panel = self.panel_bytes // item
        product = dot_product(dot)
        shape = DotShape.of(dot)
        if shape is not None and not (product is not None and product.panel):
            large = shape.k * shape.n * item > _LARGE_BYTES
            if large and shape.m >= _FEW_ROWS and shape.n % panel == 0:
                _pack(computation, dot, shape, panel)
                return True
            if large and shape.right_transposed and shape.m < _FEW_ROWS:
                return False
        if product is None and math.prod(_free_sizes(dot, "rhs")) >= 4:
            _transpose_right(computation, dot)
            return True
        return False


def _free_sizes(dot: HloInstruction, side: str) -> list[int]:
    taken = {*dot.attribute(f"{side}_batch_dims"), *dot.attribute(f"{side}_contracting_dims")}
    shape = dot.operand(0 if side == "lhs" else 1).shape
    return [n for d, n in enumerate(shape.dimensions) if d not in taken]


def _transpose_right(computation: HloComputation, dot: HloInstruction) -> None:
    """The right side in the order batch, contracting, other dimensions."""
    right = dot.operand(1)
    batch, contracting = dot.attribute("rhs_batch_dims"), dot.attribute("rhs_contracting_dims")
    free = tuple(d for d in range(right.shape.rank) if d not in batch and d not in contracting)
    plain = computation.add("transpose", right, dimensions=(*batch, *contracting, *free), metadata=dot.metadata)
    new = dot.clone(
        [dot.operand(0), plain],
        rhs_batch_dims=tuple(range(len(batch))),
        rhs_contracting_dims=tuple(range(len(batch), len(batch) + len(contracting))),
    )
    computation.replace_with(dot, computation.add_instruction(new))


def _pack(computation: HloComputation, dot: HloInstruction, shape: DotShape, panel: int) -> None:
    """The right side in panels: (k, n) -> (n / panel, k, panel)."""
    left, right = dot.operands
    rank = len(dot.attribute("rhs_batch_dims"))
    batch = right.shape.dimensions[:rank]
    panels = shape.n // panel
    if shape.right_transposed:  # (n, k) -> (panels, panel, k) -> (panels, k, panel)
        split, order = (panels, panel, shape.k), (rank, rank + 2, rank + 1)
    else:  # (k, n) -> (k, panels, panel) -> (panels, k, panel)
        split, order = (shape.k, panels, panel), (rank + 1, rank, rank + 2)
    element_type = dot.shape.element_type
    packed = computation.add("reshape", right, shape=Shape(element_type, (*batch, *split)), metadata=dot.metadata)
    packed = computation.add("transpose", packed, dimensions=(*range(rank), *order), metadata=dot.metadata)
    flat = (shape.k, shape.m) if shape.left_transposed else (shape.m, shape.k)
    left = computation.add("reshape", left, shape=Shape(element_type, (*batch, *flat)), metadata=dot.metadata)
    new = dot.clone(
        [left, packed],
        shape=Shape(element_type, (*batch, shape.m, panels, panel)),
        lhs_contracting_dims=(rank + (0 if shape.left_transposed else 1),),
        rhs_contracting_dims=(rank + 1,),
    )
    product = computation.add_instruction(new)
    computation.replace(dot, "reshape", product, shape=dot.shape.without_layout())
