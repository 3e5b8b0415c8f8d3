"""Makes the results static whose declared type is static, although HLO infers a bounded dynamic shape.

StableHLO allows the result type `tensor<6xf32>` for an op on `tensor<?xf32, #stablehlo.bounds<6>>`; HLO infers
`f32[<=6]`.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from xla_core.hlo.ir.builder import Builder
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.attributes import SliceDimension
from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.values.element_type import ElementType
from xla_core.hlo.values.shape import INT_MAX, Shape
from xla_core.stablehlo import ir


def as_declared(ctx: Builder, value: HloInstruction, type: ir.Type, op: ir.Op) -> HloInstruction:
    """Makes the dimensions of `value` static that `type` declares static; elements beyond the run-time size are 0."""
    if not value.shape.dynamic_dimensions or not isinstance(type, ir.TensorType):
        return value
    for d, bound in enumerate(value.shape.dimensions):
        flags = list(value.shape.dynamic_dimensions or (False,) * value.shape.rank)
        if flags[d] and type.shape[d] != ir.DYNAMIC:
            flags[d] = False
            shape = dataclasses.replace(value.shape, dynamic_dimensions=tuple(flags))
            if bound > INT_MAX:
                op.fail(f"is static, but dimension {d} of {value.shape} has more elements than s32 can represent")
            size = ctx.constant(np.int32(bound), Shape(ElementType.S32))
            value = ctx.add(Opcode.SET_DIMENSION_SIZE, value, size, shape=shape, dimensions=(d,))
    bounds = value.shape.dimensions
    sizes = [bound if size == ir.DYNAMIC else size for size, bound in zip(type.shape, bounds, strict=True)]
    if sizes == list(bounds):
        return value
    return ctx.add(
        Opcode.SLICE, value, slice=tuple(SliceDimension(0, size) for size in sizes)
    )  # of less than the bound
