"""Lowers ops on quantized tensors. A quantized tensor in HLO is the tensor of its storage type.

The specification defines a quantized op as dequantize, the op on expressed values, quantize. Ops that only move
elements run on the storage type directly.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from xla_core.hlo.ir.builder import Builder
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.values.element_type import ElementType
from xla_core.hlo.values.shape import Shape
from xla_core.stablehlo import ir
from xla_core.stablehlo.lower.type_conversion import shape_of
from xla_core.stablehlo.table.op_table import OpDef, Trait


def is_quantized(type: ir.Type) -> bool:
    return isinstance(type, ir.TensorType) and isinstance(type.element, ir.QuantizedType)


def has_quantized_types(module: ir.Module) -> bool:
    return any(map(is_quantized, module.types()))


def expressed(type: ir.Type) -> ir.Type:
    """Returns the type of the values that a quantized tensor represents; any other type unchanged."""
    if isinstance(type, ir.TensorType) and isinstance(type.element, ir.QuantizedType):
        return ir.TensorType(type.shape, type.element.expressed, type.bounds)
    return type


def lower_quantized(
    ctx: Builder, op: ir.Op, definition: OpDef, operands: Sequence[HloInstruction]
) -> HloInstruction | Sequence[HloInstruction] | None:
    """Lowers a quantized op: on the storage if it only moves elements, else on expressed values."""
    assert definition.lower is not None
    if definition.traits & {Trait.ON_STORAGE} or definition.regions != 0:
        return definition.lower(ctx, op, *operands)
    inner = ir.Op(op.name, [], [expressed(r.type) for r in op.results], op.attributes, op.regions, op.location)
    inner.operands = [ir.Value(expressed(v.type), v.owner, v.index, v.name) for v in op.operands]
    values = [
        dequantize(ctx, o, v.type) if isinstance(v.type, ir.TensorType) and is_quantized(v.type) else o
        for o, v in zip(operands, op.operands, strict=True)
    ]
    made = definition.lower(ctx, inner, *values)
    results = [made] if isinstance(made, HloInstruction) else list(made or ())
    out = [
        quantize(ctx, m, r.type) if isinstance(r.type, ir.TensorType) and is_quantized(r.type) else m
        for m, r in zip(results, op.results, strict=True)
    ]
    return out[0] if isinstance(made, HloInstruction) else out


def dequantize(ctx: Builder, value: HloInstruction, type: ir.TensorType) -> HloInstruction:
    """Computes (storage - zero point) * scale. The difference is taken in integers that can hold it."""
    quantized = type.element
    assert isinstance(quantized, ir.QuantizedType)
    target = shape_of(expressed(type))
    if any(quantized.zero_points):
        bits = value.shape.element_type.bit_width
        wide = value.shape.with_element_type(ElementType.S32 if bits < 32 else ElementType.S64)
        zero = _spread(ctx, quantized.zero_points, quantized, wide)
        value = ctx.add(Opcode.SUBTRACT, ctx.convert(value, wide), zero)
    return ctx.add(Opcode.MULTIPLY, ctx.convert(value, target), _spread(ctx, quantized.scales, quantized, target))


def quantize(ctx: Builder, value: HloInstruction, type: ir.TensorType) -> HloInstruction:
    """Computes round(value / scale + zero point), ties to even, clamped to the storage's range."""
    quantized = type.element
    assert isinstance(quantized, ir.QuantizedType)
    source = shape_of(expressed(type))
    result = ctx.add(Opcode.DIVIDE, ctx.convert(value, source), _spread(ctx, quantized.scales, quantized, source))
    if any(quantized.zero_points):
        result = ctx.add(Opcode.ADD, result, _spread(ctx, quantized.zero_points, quantized, source))
    bounds = [np.asarray(b).astype(source.dtype) for b in quantized.storage_range]
    lower, upper = (ctx.constant(b, Shape(source.element_type)) for b in bounds)
    rounded = ctx.add(Opcode.ROUND_NEAREST_EVEN, ctx.add(Opcode.CLAMP, lower, result, upper))
    return ctx.convert(rounded, shape_of(type))


def _spread(ctx: Builder, values: Sequence[float], quantized: ir.QuantizedType, shape: Shape) -> HloInstruction:
    array = np.asarray(values, np.float64).astype(shape.dtype)
    if quantized.block_sizes:
        blocks = dict(quantized.block_sizes)
        counts = [n // blocks[d] if d in blocks else 1 for d, n in enumerate(shape.dimensions)]
        array = array.reshape(counts)
        for dim, n in enumerate(shape.dimensions):
            array = np.repeat(array, n // counts[dim], axis=dim)
        return ctx.constant(array)
    if quantized.axis is None:
        return ctx.constant(array.reshape(()), shape)
    return ctx.broadcast(ctx.constant(array), shape.dimensions, (quantized.axis,))
