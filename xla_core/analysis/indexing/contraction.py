"""Access rules of the ops whose result elements each combine many operand elements."""

from __future__ import annotations

from collections.abc import Sequence

from xla_core.analysis.indexing.access import Access, AccessRule, Condition, whole_dimensions, whole_operands
from xla_core.analysis.indexing.expression import Index, IndexExpr, Variable, floor_div
from xla_core.analysis.indexing.movement import inverse_strided
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.attributes import ConvolutionDimensionNumbers, Window
from xla_core.hlo.table.opcode import Opcode
from xla_core.registration import registers_in

CONTRACTIONS: dict[Opcode, AccessRule] = {}

access_rule = registers_in(CONTRACTIONS)

_ZERO = IndexExpr.of(0)


@access_rule(Opcode.REDUCE)
def _reduce(instruction: HloInstruction, index: Index) -> Sequence[Access]:
    count = len(instruction.operands) // 2
    reduced = instruction.attribute("dimensions")
    kept = iter(index)
    rank = instruction.operand(0).shape.rank
    place = [_ZERO if d in reduced else next(kept) for d in range(rank)]
    read = whole_dimensions(instruction, place, sorted(reduced))  # all operands are read at one index
    return [*[read] * count, *[Access(())] * count]


@access_rule(Opcode.REDUCE_WINDOW)
def _reduce_window(instruction: HloInstruction, index: Index) -> Sequence[Access]:
    count = len(instruction.operands) // 2
    read, _ = windowed(instruction, index, instruction.attribute("window"), instruction.operand(0).shape.dimensions)
    return [*[read] * count, *[Access(())] * count]


def windowed(instruction: HloInstruction, index: Index, window: Window, sizes: Sequence[int]) -> tuple[Access, Index]:
    """Returns the access of windows over an array of `sizes`, and the index within the window."""
    found, taps, variables, conditions = [], [], list[Variable](), list[Condition]()
    for d, (expr, w, extent) in enumerate(zip(index, window, sizes, strict=True)):
        variable = Variable((instruction, d, index), w.size, f"s{d}")
        if w.size != 1:
            variables.append(variable)
        tap = IndexExpr.of(variable)
        taps.append(tap)
        position = expr * w.stride + tap * w.window_dilation - w.padding_low
        place, tests = inverse_strided(position, w.base_dilation, extent)
        found.append(place)
        conditions += tests
    return Access(tuple(found), tuple(variables), tuple(conditions)), tuple(taps)


@access_rule(Opcode.DOT)
def _dot(instruction: HloInstruction, index: Index) -> Sequence[Access]:
    contracting = [instruction.attribute(f"{side}_contracting_dims") for side in ("lhs", "rhs")]
    batch = [instruction.attribute(f"{side}_batch_dims") for side in ("lhs", "rhs")]
    sizes = [instruction.operand(0).shape.dimensions[d] for d in contracting[0]]
    terms = [Variable((instruction, k, index), n, f"s{k}") for k, n in enumerate(sizes)]
    free = iter(index[len(batch[0]) :])
    accesses = []
    for number, operand in enumerate(instruction.operands):
        place: list[IndexExpr] = []
        for d in range(operand.shape.rank):
            if d in batch[number]:
                place.append(index[batch[number].index(d)])
            elif d in contracting[number]:
                place.append(IndexExpr.of(terms[contracting[number].index(d)]))
            else:
                place.append(next(free))
        accesses.append(Access(tuple(place), tuple(v for v in terms if v.extent != 1)))
    return accesses


@access_rule(Opcode.CONVOLUTION)
def _convolution(instruction: HloInstruction, index: Index) -> Sequence[Access]:
    labels: ConvolutionDimensionNumbers = instruction.attribute("dim_labels")
    window: Window = instruction.attribute("window")
    lhs, rhs = (o.shape.dimensions for o in instruction.operands)
    outputs = [index[d] for d in labels.output_spatial]
    spatial, taps = windowed(instruction, tuple(outputs), window, [lhs[d] for d in labels.input_spatial])
    features = Variable((instruction, "feature", index), rhs[labels.kernel_input_feature], "feature")
    feature, out_feature = IndexExpr.of(features), index[labels.output_feature]
    groups, batch_groups = instruction.attribute("feature_group_count"), instruction.attribute("batch_group_count")
    of_group = rhs[labels.kernel_output_feature]
    image, kernel = [_ZERO] * len(lhs), [_ZERO] * len(rhs)
    image[labels.input_feature] = floor_div(out_feature, of_group // groups) * features.extent + feature
    batch = lhs[labels.input_batch] // batch_groups
    image[labels.input_batch] = floor_div(out_feature, of_group // batch_groups) * batch + index[labels.output_batch]
    kernel[labels.kernel_input_feature], kernel[labels.kernel_output_feature] = feature, out_feature
    for s, (w, tap) in enumerate(zip(window, taps, strict=True)):
        image[labels.input_spatial[s]] = spatial.index[s]
        kernel[labels.kernel_spatial[s]] = -tap + (w.size - 1) if w.window_reversal else tap
    variables = (*spatial.variables, *((features,) if features.extent != 1 else ()))
    return [Access(tuple(place), variables, spatial.conditions) for place in (image, kernel)]


@access_rule(Opcode.SORT)
def _sort(instruction: HloInstruction, index: Index) -> Sequence[Access]:
    return [whole_dimensions(instruction, index, instruction.attribute("dimensions"))] * len(instruction.operands)


@access_rule(Opcode.TOPK)
def _topk(instruction: HloInstruction, index: Index) -> Sequence[Access]:
    return [whole_dimensions(instruction, index, [len(index) - 1])]


@access_rule(Opcode.FFT)
def _fft(instruction: HloInstruction, index: Index) -> Sequence[Access]:
    rank = len(index)
    return [whole_dimensions(instruction, index, range(rank - len(instruction.attribute("fft_length")), rank))]


@access_rule(Opcode.CHOLESKY)
def _cholesky(instruction: HloInstruction, index: Index) -> Sequence[Access]:
    return [whole_dimensions(instruction, index, range(len(index) - 2, len(index)))]


@access_rule(Opcode.SCATTER)
def _scatter(instruction: HloInstruction, index: Index) -> Sequence[Access]:
    """Returns the accesses of a scatter: the operand at the result's index, and all elements of the updates."""
    count = len(instruction.operands) // 2
    return [*[Access(index)] * count, *whole_operands(instruction, count)]
