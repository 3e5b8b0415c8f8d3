"""reduce-window and select-and-scatter."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence

import numpy as np

from xla_core.errors import InvalidArgumentError
from xla_core.hlo.evaluation.environment import Value
from xla_core.hlo.evaluation.evaluation_context import EvaluationContext
from xla_core.hlo.ir.combiner import combiner
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.ops.combining import as_value, combine_at, few, fold, windows
from xla_core.hlo.ops.conversion import convert
from xla_core.hlo.ops.numerics import round_to, widen
from xla_core.hlo.ops.reduction import split_operands
from xla_core.hlo.ops.rules import (
    OpGroup,
    array,
    attr,
    check,
    check_comparator,
    dims,
    same_dimensions,
    scalar_signature,
    shape_of_parts,
)
from xla_core.hlo.table.attributes import Window, WindowDimension
from xla_core.hlo.table.op_table import Attributes, Trait, alike
from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.values.shape import Shape

entry = OpGroup("window").entry


def check_window(window: Window, rank: int) -> None:
    """Checks that the window has the operand's rank and positive sizes, strides and dilations."""
    check(len(window) == rank, lambda: f"a window of {len(window)} dimensions over rank {rank}")
    for w in window:
        if w.size <= 0 or w.stride <= 0 or w.base_dilation <= 0 or w.window_dilation <= 0:
            raise InvalidArgumentError(f"sizes, strides and dilations of a window must be positive: {w}")


def windowed(dimensions: Sequence[int], window: Window) -> list[int]:
    """Returns how many windows fit along each dimension."""
    return [w.output_size(d) for w, d in zip(window, dimensions, strict=True)]


def _reduce_window_shape(operands: Sequence[Shape], attributes: Attributes, declared: Shape | None) -> Shape:
    inputs, initial = split_operands(operands)
    first, window = same_dimensions(inputs), attributes["window"]
    check_window(window, first.rank)
    scalar_signature(attributes["to_apply"], inputs, "to_apply")
    types = scalar_signature(attributes["to_apply"], initial, "to_apply")
    sizes = windowed(first.dimensions, window)
    return shape_of_parts([dims(t, sizes, first.dynamic_dimensions) for t in types])


def _reduce_window(context: EvaluationContext, instruction: HloInstruction, values: list[Value]) -> Value:
    """Combines one dimension after another, the last one first.

    This keeps the order of elements, and the work is the sum, not the product, of the window's sizes.
    """
    n = len(values) // 2
    computation, window = instruction.attribute("to_apply"), instruction.attribute("window")
    types = [p.shape.dtype for p in computation.parameters]
    initial = [convert(v, t) for v, t in zip(values[n:], types, strict=False)]
    op = combiner(computation)
    elements = math.prod(w.size for w in window)
    if op is not None and (
        Trait.IDEMPOTENT in op.traits or initial[0] == op.identity(computation.root.shape.element_type)
    ):
        window = tuple(_cropped(w, size) for w, size in zip(window, values[0].shape, strict=True))
    passes = sum(w.size.bit_length() for w in window)
    context.charge(n * math.prod(_padded_sizes(values[0].shape, window)) * passes)
    bases = [padded(context, convert(v, t), i, window) for v, t, i in zip(values[:n], types, initial, strict=False)]
    wide = op is not None and op.opcode in (Opcode.ADD, Opcode.MULTIPLY)
    if wide and not few(elements, types[0]):
        bases, initial = [widen(b) for b in bases], [widen(i) for i in initial]
    counts = windowed(values[0].shape, window)
    for axis in range(len(window) - 1, -1, -1):
        w = window[axis]
        bases = windows(context, computation, bases, axis, w.size, w.stride, w.window_dilation, counts[axis])
    if op is not None and op.evaluate is not None and wide:
        return round_to(op.evaluate(context, computation.root, [initial[0], bases[0]]), types[0])
    return as_value(fold(context, computation, [b[None] for b in bases], initial, (0,)))


def _cropped(w: WindowDimension, size: int) -> WindowDimension:
    """Removes the positions of a window that are padding in every window, so that none of them is computed."""
    if w.window_dilation != 1:
        return w
    base = (size - 1) * w.base_dilation + 1 if size else 0
    last_start = (w.output_size(size) - 1) * w.stride - w.padding_low
    low = min(max(0, -last_start), w.size - 1)
    high = min(max(0, w.size - w.padding_low - base), w.size - 1 - low)
    return dataclasses.replace(
        w, size=w.size - low - high, padding_low=w.padding_low - low, padding_high=w.padding_high - high
    )


def _select_and_scatter_shape(operands: Sequence[Shape], attributes: Attributes, declared: Shape | None) -> Shape:
    operand, source, initial = array(operands[0]), array(operands[1]), operands[2]
    window, select = attributes["window"], attributes["select"]
    check_window(window, operand.rank)
    expected = tuple(windowed(operand.dimensions, window))
    check(
        source.dimensions == expected,
        lambda: f"the source is {source.without_layout()}; expected dimensions {list(expected)}",
    )
    check(initial.is_scalar, lambda: f"the initial value is {initial}; expected a scalar")
    check_comparator(select, [operand.element_type], "select")
    scalar_signature(attributes["scatter"], [source], "scatter")
    (result,) = scalar_signature(attributes["scatter"], [initial], "scatter")
    return dims(result, operand.dimensions, operand.dynamic_dimensions)


def _select_and_scatter(context: EvaluationContext, instruction: HloInstruction, values: list[Value]) -> Value:
    """Padding is never selected; a window that covers only padding scatters nothing."""
    operand, source, initial = values
    window, select, scatter = map(instruction.attribute, ("window", "select", "scatter"))
    numbers = np.arange(operand.size).reshape(operand.shape)
    numbers = padded(context, numbers, np.asarray(-1), window)
    base = padded(context, operand, operand.dtype.type(0), window)
    best = chosen = None
    sizes = [w.size for w in window] if source.size else [0]
    context.charge(source.size * math.prod(sizes))
    for offset in np.ndindex(*sizes):
        context.check_time()
        cut = at_offset(offset, window, source.shape)
        value, number = base[cut], numbers[cut]
        if best is None or chosen is None:
            best, chosen = value, number
            continue
        (keeps,) = context.map(select, [best, value])
        take = (number >= 0) & ((chosen < 0) | ~keeps)
        best, chosen = np.where(take, value, best), np.where(take, number, chosen)
    if chosen is None:
        chosen = np.zeros(source.shape, np.int64)
    target = np.broadcast_to(convert(initial, scatter.parameters[0].shape.dtype), operand.shape)
    return combine_at(context, scatter, [target], chosen, chosen >= 0, [source])


def at_offset(offset: Sequence[int], window: Window, counts: Sequence[int]) -> tuple[slice, ...]:
    """Returns the slices that take the element at `offset` of each of `counts` windows along every dimension."""
    starts = [o * w.window_dilation for o, w in zip(offset, window, strict=True)]
    rows = zip(starts, window, counts, strict=True)
    return tuple([slice(start, start + (n - 1) * w.stride + 1 if n else 0, w.stride) for start, w, n in rows])


def padded(context: EvaluationContext, x: np.ndarray, value: np.ndarray, window: Window) -> np.ndarray:
    """Returns the base area that windows move over: x, dilated and padded with a value. Negative padding crops it."""
    sizes = [(n - 1) * w.base_dilation + 1 if n else 0 for n, w in zip(x.shape, window, strict=True)]
    area = _padded_sizes(x.shape, window)
    context.charge(math.prod(area), x.dtype.itemsize)
    result = np.full(area, value, x.dtype)
    target, source = [], []
    for n, w, size in zip(x.shape, window, sizes, strict=True):
        first = -(min(0, w.padding_low) // w.base_dilation)
        start = w.padding_low + first * w.base_dilation
        target.append(slice(start, start + max(0, size - first * w.base_dilation), w.base_dilation))
        source.append(slice(min(first, n), n))
    result[tuple(target)] = x[tuple(source)]
    cut = tuple(slice(0, max(0, n + w.padding_low + w.padding_high)) for n, w in zip(sizes, window, strict=True))
    return result[cut]


def _padded_sizes(dimensions: Sequence[int], window: Window) -> list[int]:
    """Returns the sizes of the base area before cropping at the high end."""
    sizes = [(n - 1) * w.base_dilation + 1 if n else 0 for n, w in zip(dimensions, window, strict=True)]
    return [max(0, n + w.padding_low) + max(0, w.padding_high) for n, w in zip(sizes, window, strict=True)]


def _window_size(i: HloInstruction) -> int:
    return math.prod(dimension.size for dimension in i.attribute("window"))


entry(
    Opcode.REDUCE_WINDOW,
    (2, None),
    _reduce_window_shape,
    _reduce_window,
    Trait.EXACT_IN_WIDER_INTEGERS,
    Trait.SIGNLESS,
    Trait.ACCUMULATES,
    Trait.SUPERLINEAR,
    doc="Reduces every window of the padded, dilated inputs; padding counts as the initial value.",
    same_sizes=lambda attributes, ranks: alike(ranks[: len(ranks) // 2]),
    applications=lambda i: next(i.shape.leaves()).num_elements * max(_window_size(i) - 1, 0),
    window=attr("window", ()),
    to_apply=attr("computation"),
)
entry(
    Opcode.SELECT_AND_SCATTER,
    3,
    _select_and_scatter_shape,
    _select_and_scatter,
    Trait.SIGNLESS,
    Trait.SUPERLINEAR,
    doc="Selects one element of each window of the operand, and combines the source into its place. This is the "
    "gradient of pooling.",
    flops=lambda i: i.operand(1).shape.num_elements * _window_size(i),
    window=attr("window", ()),
    select=attr("computation"),
    scatter=attr("computation"),
)
