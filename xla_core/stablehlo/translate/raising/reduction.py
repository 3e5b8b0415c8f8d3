"""Raises ops with regions over elements: reductions, windows, scatter, sort, map."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xla_core.errors import UnimplementedError
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.attributes import Window
from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.values.element_type import ElementType
from xla_core.stablehlo import ir
from xla_core.stablehlo.translate.raising.context import RaisingContext, raises
from xla_core.stablehlo.translate.raising.contraction import i64_pairs
from xla_core.stablehlo.translate.raising.data import i64s
from xla_core.stablehlo.translate.raising.values import Raised, single, type_of


def _window(window: Window) -> dict[str, Any]:
    if any(w.window_reversal for w in window):
        raise UnimplementedError("a reversed window has no counterpart in StableHLO here")
    return {
        "window_dimensions": i64s([w.size for w in window]),
        "window_strides": i64s([w.stride for w in window]),
        "padding": i64_pairs([(w.padding_low, w.padding_high) for w in window]),
    }


@raises(Opcode.REDUCE_WINDOW)
def _reduce_window(ctx: RaisingContext, instruction: HloInstruction, operands: Sequence[Raised]) -> Raised:
    window = instruction.attribute("window")
    return ctx.results(
        "stablehlo.reduce_window",
        operands,
        [ctx.region(instruction.attribute("to_apply"))],
        base_dilations=i64s([w.base_dilation for w in window]),
        window_dilations=i64s([w.window_dilation for w in window]),
        **_window(window),
    )


@raises(Opcode.SELECT_AND_SCATTER)
def _select_and_scatter(ctx: RaisingContext, instruction: HloInstruction, operands: Sequence[Raised]) -> Raised:
    window = instruction.attribute("window")
    if any((w.base_dilation, w.window_dilation) != (1, 1) for w in window):
        raise UnimplementedError("a dilated window has no counterpart in StableHLO here")
    regions = [ctx.region(instruction.attribute(name)) for name in ("select", "scatter")]
    return ctx.results("stablehlo.select_and_scatter", operands, regions, **_window(window))


@raises(Opcode.MAP)
def _map(ctx: RaisingContext, instruction: HloInstruction, operands: Sequence[Raised]) -> Raised:
    region = ctx.region(instruction.attribute("to_apply"))
    dimensions = i64s(range(instruction.shape.rank))
    return ctx.results("stablehlo.map", operands, [region], dimensions=dimensions)


@raises(Opcode.TOPK)
def _top_k(ctx: RaisingContext, instruction: HloInstruction, operands: Sequence[Raised]) -> Raised:
    is_largest = bool(instruction.attribute("largest"))
    if is_largest and ctx.program.has_chlo:
        return ctx.results("chlo.top_k", operands[:1], k=int(instruction.attribute("k")))
    return _first_k(ctx, instruction, single(operands[0]), "GT" if is_largest else "LT")


def _first_k(ctx: RaisingContext, instruction: HloInstruction, operand: ir.Value, direction: str) -> Raised:
    """Adds a stable sort with the indices, in total order, and a slice of the first k."""
    shape, sizes = instruction.operand(0).shape, instruction.shape.tuple_shapes[0].dimensions
    scalars = [type_of(s.with_dimensions(())) for s in instruction.shape.tuple_shapes]
    indices_type = type_of(shape.with_element_type(ElementType.S32))
    last = shape.rank - 1
    indices = ctx.add("stablehlo.iota", [], indices_type, iota_dimension=last)
    block = ir.Block([scalars[0], scalars[0], scalars[1], scalars[1]])
    total = (
        {"compare_type": ir.EnumAttribute("TOTALORDER", "comparison_type")} if shape.element_type.is_floating else {}
    )
    before = {"comparison_direction": ir.EnumAttribute(direction, "comparison_direction"), **total}
    compare = ir.Op("stablehlo.compare", block.arguments[:2], [ir.TensorType((), "i1")], before)
    block.ops = [compare, ir.Op("stablehlo.return", compare.results, ())]
    values = [operand, indices]
    types = [v.type for v in values]
    made = ctx.op("stablehlo.sort", values, types, [ir.Region([block])], dimension=last, is_stable=True)
    bounds = {"start_indices": i64s([0] * len(sizes)), "limit_indices": i64s(sizes), "strides": i64s([1] * len(sizes))}
    results = [type_of(s) for s in instruction.shape.tuple_shapes]
    return tuple([ctx.add("stablehlo.slice", [v], t, **bounds) for v, t in zip(made, results, strict=True)])
