"""convolution_phase_splitter: splits a convolution of a dilated input, which multiplies the zeros between the elements.

A transposed convolution is such a convolution, and so is the gradient of a convolution with strides.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Callable

from xla_core.hlo.ir.builder import Builder
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.attributes import ConvolutionDimensionNumbers, SliceDimension, WindowDimension
from xla_core.hlo.table.opcode import Opcode
from xla_core.passes.expanders.expander import OpExpander
from xla_core.sizes import ceil_div
from xla_core.target import FusionCosts

_MOST_ADDED = 15  # convolutions more than before: each has code of its own


@dataclasses.dataclass(frozen=True, slots=True)
class _Phase:
    """The part of a convolution that computes the outputs at every n-th position of one spatial dimension.

    Attributes:
        taps: the kernel's elements that meet elements of the input, not zeros between them. May be empty.
        window: the window of those taps over the input without its dilation.
        outputs: the number of outputs.
    """

    taps: SliceDimension
    window: WindowDimension
    outputs: int


def _phase_count(window: WindowDimension) -> int:
    """The distance of two outputs that meet elements of the input with the same taps of the kernel."""
    return window.base_dilation // math.gcd(window.base_dilation, window.stride)


def _phases(window: WindowDimension, base: int, outputs: int) -> list[_Phase]:
    """The phases of a dimension of `base` inputs. Each has as many outputs as the longest."""
    count = _phase_count(window)
    return [_phase(window, number, base, ceil_div(outputs, count)) for number in range(count)]


def _phase(window: WindowDimension, number: int, base: int, outputs: int) -> _Phase:
    """The phase of the outputs at `number`, `number` + the count of phases, and so on.

    The output at position p multiplies tap k by the dilated input's element p * stride + k * window_dilation -
    padding_low, which is an element of the input if base_dilation divides that.
    """
    dilation, distance = window.base_dilation, window.window_dilation
    start = number * window.stride - window.padding_low
    common = math.gcd(dilation, distance)
    step = dilation // common
    first = next((k for k in range(min(step, window.size)) if (start + k * distance) % dilation == 0), window.size)
    size = len(range(first, window.size, step))
    low = -(start + first * distance) // dilation
    stride, distance = window.stride // math.gcd(dilation, window.stride), distance // common
    high = (outputs - 1) * stride + (size - 1) * distance + 1 - base - low
    begin = window.size - 1 - first - (size - 1) * step if window.window_reversal else first
    taps = SliceDimension(begin, begin + (size - 1) * step + 1, step) if size else SliceDimension(0, 0)
    return _Phase(taps, WindowDimension(size, stride, low, high, 1, distance, window.window_reversal), outputs)


class ConvolutionPhaseSplitter(OpExpander):
    """Rewrites a convolution with base dilation to several without it, and interleaves their results.

    With dilation d, an output meets elements of the input with every d-th tap of the kernel. Outputs that do so with
    the same taps form a phase, which is a convolution of those taps with the input as it is. A convolution whose
    products take less time than the additional kernels and copies stays.
    """

    opcodes = frozenset({Opcode.CONVOLUTION})

    def __init__(
        self, only: Callable[[HloInstruction], bool] | None = None, *, costs: FusionCosts | None = None
    ) -> None:
        super().__init__(only)
        self._costs = costs or FusionCosts()

    def matches(self, instruction: HloInstruction) -> bool:
        window: tuple[WindowDimension, ...] = instruction.attribute("window")
        if all(d.base_dilation == 1 for d in window):
            return False
        if not all(s.num_elements for s in (instruction.shape, *(o.shape for o in instruction.operands))):
            return False
        return self._saves_time(instruction)

    def _saves_time(self, convolution: HloInstruction) -> bool:
        n: ConvolutionDimensionNumbers = convolution.attribute("dim_labels")
        window: tuple[WindowDimension, ...] = convolution.attribute("window")
        phases = math.prod(map(_phase_count, window))
        groups: int = max(convolution.attribute("feature_group_count"), convolution.attribute("batch_group_count"))
        added = (phases - 1) * groups  # a target may run each group as a convolution
        taps = math.prod(d.size for d in window)
        left = math.prod(d.size / (d.base_dilation // math.gcd(d.base_dilation, d.window_dilation)) for d in window)
        terms = (taps - left) * convolution.operand(1).shape.dimensions[n.kernel_input_feature]
        saved = convolution.shape.num_elements * terms
        copied = 2 * convolution.shape.byte_size if phases > 1 else 0  # a read and a write of each result
        return added <= _MOST_ADDED and saved > 2 * self._costs.kernel * added + self._costs.byte * copied

    def expand(self, instruction: HloInstruction, b: Builder) -> HloInstruction:
        n: ConvolutionDimensionNumbers = instruction.attribute("dim_labels")
        image = instruction.operand(0)
        phases = [
            _phases(d, image.shape.dimensions[i], instruction.shape.dimensions[o])
            for d, i, o in zip(instruction.attribute("window"), n.input_spatial, n.output_spatial, strict=True)
        ]
        results = [_convolution(instruction, chosen, b) for chosen in itertools.product(*phases)]
        for dimension, own in reversed([*zip(n.output_spatial, phases, strict=True)]):
            groups = [results[first : first + len(own)] for first in range(0, len(results), len(own))]
            results = [_interleave(g, dimension, instruction.shape.dimensions[dimension], b) for g in groups]
        return results[0]


def _convolution(convolution: HloInstruction, phases: tuple[_Phase, ...], b: Builder) -> HloInstruction:
    """The outputs of one phase in each spatial dimension."""
    n: ConvolutionDimensionNumbers = convolution.attribute("dim_labels")
    image, kernel = convolution.operands
    sizes = list(convolution.shape.dimensions)
    slices = [SliceDimension(0, size) for size in kernel.shape.dimensions]
    for phase, k, o in zip(phases, n.kernel_spatial, n.output_spatial, strict=True):
        sizes[o] = phase.outputs
        slices[k] = phase.taps
    shape = convolution.shape.without_layout().with_dimensions(sizes)
    if not all(phase.window.size for phase in phases):
        return b.constant(0, shape)
    taps = b.add(Opcode.SLICE, kernel, slice=tuple(slices))
    return b.clone(convolution, [image, taps], shape=shape, window=tuple(phase.window for phase in phases))


def _interleave(parts: list[HloInstruction], dimension: int, size: int, b: Builder) -> HloInstruction:
    """The first `size` elements of parts[0][0], parts[1][0], ..., parts[0][1], parts[1][1], ... in a dimension."""
    if len(parts) == 1:
        return parts[0]
    sizes = parts[0].shape.dimensions
    before, after = sizes[: dimension + 1], sizes[dimension + 1 :]
    columns = [b.reshape(part, (*before, 1, *after)) for part in parts]
    rows = b.add(Opcode.CONCATENATE, *columns, dimensions=(dimension + 1,))
    flat = b.reshape(rows, (*before[:-1], before[-1] * len(parts), *after))
    return b.slice_in_dim(flat, dimension, 0, size)
