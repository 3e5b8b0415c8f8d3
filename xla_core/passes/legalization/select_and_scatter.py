"""The decomposition of select-and-scatter into a loop over the elements of a window."""

from __future__ import annotations

import itertools
import math

import numpy as np

from xla_core.hlo.decompositions.loops import Values, counted_loop
from xla_core.hlo.ir.builder import Builder
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.attributes import PaddingDimension, SliceDimension
from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.values.element_type import ElementType
from xla_core.hlo.values.shape import Shape
from xla_core.passes.expanders.gather_expander import start_of
from xla_core.passes.expanders.select_and_scatter_expander import selected
from xla_core.passes.inlining import apply_to_arrays, is_elementwise_of_scalars
from xla_core.passes.legalization.decompositions import decomposition

_NOT_SELECTED = -2  # differs from the index of every element and from that of padding, -1


@decomposition(Opcode.SELECT_AND_SCATTER)
def _select_and_scatter(i: HloInstruction, b: Builder) -> HloInstruction | None:
    """Scatters to one element of every window at once.

    A window contains an element at most once, so the elements that an iteration writes are distinct. The iterations go
    from the last element of the window to the first: each element of the result gets the sources in their order. Where
    a window has more elements than the source, the expander's scatter takes fewer iterations.
    """
    x, source, initial = i.operands
    window, computation = i.attribute("window"), i.attribute("scatter")
    kinds = {s.element_type for s in (source.shape, initial.shape, *(p.shape for p in computation.parameters))}
    size = math.prod(w.size for w in window)
    if 0 in (x.shape.num_elements, source.shape.num_elements) or size > source.shape.num_elements:
        return None
    if kinds != {i.shape.element_type} or not is_elementwise_of_scalars(computation):
        return None
    numbers, chosen = selected(i, b)
    none = b.constant(_NOT_SELECTED, chosen.shape)
    is_selected = b.add(Opcode.COMPARE, chosen, b.constant(0, chosen.shape), direction="GE")
    chosen = b.add(Opcode.SELECT, is_selected, chosen, none)
    spread = tuple(PaddingDimension(0, 0, w.stride - 1) for w in window)  # to the places of one element of each window
    chosen = b.add(Opcode.PAD, chosen, b.constant(_NOT_SELECTED, Shape(ElementType.S32)), padding=spread)
    source = b.add(Opcode.PAD, source, b.constant(0, source.shape.with_dimensions(())), padding=spread)
    padding = tuple(w.padding for w in window)
    numbers = b.add(Opcode.PAD, numbers, b.constant(-1, Shape(ElementType.S32)), padding=padding)
    counts, spans = i.operand(1).shape.dimensions, source.shape.dimensions
    offsets = itertools.product(*(range(w.size) for w in window))
    starts = sorted([w.element(o, n).start for w, o, n in zip(window, at, counts, strict=True)] for at in offsets)
    vectors = b.constant(np.array(starts[::-1], np.int32), Shape(ElementType.S32, (size, len(window))))

    def body(inner: Builder, turn: HloInstruction, changing: Values, constant: Values) -> Values:
        (result,), (vectors, numbers, chosen, source) = changing, constant
        at = start_of(inner, vectors, turn, range(len(window)), len(window))
        here = inner.add(Opcode.DYNAMIC_SLICE, numbers, *at, dynamic_slice_sizes=spans)
        old = inner.add(Opcode.DYNAMIC_SLICE, result, *at, dynamic_slice_sizes=spans)
        (new,) = apply_to_arrays(computation, [old, source], inner)
        new = inner.add(Opcode.SELECT, inner.add(Opcode.COMPARE, here, chosen, direction="EQ"), new, old)
        return [inner.add(Opcode.DYNAMIC_UPDATE_SLICE, result, new, *at)]

    start = b.broadcast(initial, numbers.shape.dimensions)
    (result,) = counted_loop(i, b, size, [start], [vectors, numbers, chosen, source], body)
    back = tuple(PaddingDimension(-w.padding_low, -w.padding_high, 0) for w in window)
    result = b.add(Opcode.PAD, result, initial, padding=back)
    sizes = zip(result.shape.dimensions, window, strict=True)
    return b.add(Opcode.SLICE, result, slice=tuple(SliceDimension(0, n, w.base_dilation) for n, w in sizes))
