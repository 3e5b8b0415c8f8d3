"""The domain of convolution."""

from __future__ import annotations

import dataclasses
import math

from xla_conformance.ops.choices import Choice, Group
from xla_conformance.ops.comparison import EQUAL
from xla_conformance.ops.domain import domain
from xla_conformance.ops.domains.contraction import BITS, OTHERS, PRECISIONS, other_type, result_type
from xla_conformance.ops.domains.window import WINDOW_AXES, window_of
from xla_conformance.ops.element_types import WITH_ZERO
from xla_conformance.ops.fills import factors, with_ends, with_one_product, with_scales
from xla_conformance.ops.program import Program
from xla_conformance.ops.sizes import SIZES
from xla_core.hlo import ConvolutionDimensionNumbers, HloInstruction, Opcode, WindowDimension

_ORDERS = ("bfs", "bsf", "sbf", "fbs", "fsb", "sfb")
_GROUPS = ((1, 1), (2, 1), (3, 1), (6, 1), (1, 2), (1, 3))
_OTHER_WINDOWS = (WindowDimension(size=2, padding_low=1), WindowDimension(size=3, stride=2, window_dilation=2))


_MOST = 1 << 23
"""The products that a case may have. A processor takes about a second for so many of complex numbers."""


@domain(
    Opcode.CONVOLUTION,
    rule=EQUAL,
    types=WITH_ZERO,
    sizes=SIZES[:6],
    places=("minor",),
    spatial=(2, 1, Group(3, 4), 0),
    along=("last", "first"),
    large=("spatial", "batch", "input_feature", "output_feature", "every"),
    input=_ORDERS,
    kernel=_ORDERS,
    output=_ORDERS,
    crossed=(False, True),
    groups=_GROUPS,
    reversal=(False, True),
    result=("same", "wider"),
    other=OTHERS,
    bits=BITS,
    terms=("whole", "special", "scales", "all bits"),
    precision=PRECISIONS,
    kind=(None, "fprop", "dgrad", "wgrad"),
    **{axis: values for axis, values in WINDOW_AXES.items() if axis != "window"},
    window=(2, 1, 3, 5),
)
def _convolution(p: Program, c: Choice) -> HloInstruction:
    feature_groups, batch_groups = c.groups
    own = {"batch": 2, "input_feature": 3, "output_feature": 2}
    space = [5, 6, 4, 3][: c.spatial]
    windows = list((_OTHER_WINDOWS * 2)[: c.spatial])
    chosen = {"last": c.spatial - 1, "first": 0}[c.along]
    if c.large == "every":
        own = dict.fromkeys(own, min(c.size, 4))
        space = [min(c.size, 4)] * c.spatial
        windows = [dataclasses.replace(w, size=c.window) for w in windows]
    elif c.large == "spatial" and c.spatial:
        space[chosen] = c.size
    elif c.large in own:
        own[c.large] = max(1, c.size // max(c.groups)) if max(c.groups) > 1 and c.size else c.size
    if c.spatial:
        windows[chosen] = dataclasses.replace(window_of(c, space[chosen]), window_reversal=c.reversal)
    batch, output_features = own["batch"] * batch_groups, own["output_feature"] * max(c.groups)
    input_features = own["input_feature"] * feature_groups
    products = batch * own["input_feature"] * output_features
    for at in {*range(c.spatial)} - {chosen}:
        if products * math.prod(w.size * w.output_size(n) for w, n in zip(windows, space, strict=True)) > _MOST:
            windows[at] = WindowDimension(stride=space[at] + 1)  # of one result
    place = _places(c.input, c.spatial, crossed=False)
    of_kernel = _places(c.kernel, c.spatial, crossed=c.crossed)
    of_output = _places(c.output, c.spatial, crossed=c.crossed and c.reversal)
    numbers = ConvolutionDimensionNumbers(
        place["b"][0], place["f"][0], place["s"],
        of_kernel["b"][0], of_kernel["f"][0], of_kernel["s"],
        of_output["b"][0], of_output["f"][0], of_output["s"],
    )  # fmt: skip
    lhs, rhs = [0] * (2 + c.spatial), [0] * (2 + c.spatial)
    lhs[numbers.input_batch], lhs[numbers.input_feature] = batch, input_features
    rhs[numbers.kernel_input_feature], rhs[numbers.kernel_output_feature] = own["input_feature"], output_features
    for n, w, of_lhs, of_rhs in zip(space, windows, numbers.input_spatial, numbers.kernel_spatial, strict=True):
        lhs[of_lhs], rhs[of_rhs] = n, w.size
    made = result_type(c.result, p.type)
    left, right = factors(own["input_feature"] * math.prod(w.size for w in windows), made, c.bits)
    other = other_type(c.other, p.type)
    free = ((numbers.input_batch,), (numbers.kernel_output_feature,))
    if c.terms == "scales":  # which differ between batches, and between output features
        left, right = with_scales((left, right), (p.type, other), made, free, c.size % 2)
    if c.terms == "all bits":
        left, right = with_one_product((left, right), (p.type, other), made, free, c.size % 2)
    result = [0] * (2 + c.spatial)
    result[numbers.output_batch], result[numbers.output_feature] = own["batch"], output_features
    for n, w, at in zip(space, windows, numbers.output_spatial, strict=True):
        result[at] = w.output_size(n)
    return p.add(
        Opcode.CONVOLUTION,
        p.parameter(lhs, fill=with_ends(left) if c.terms == "special" else left),
        p.parameter(rhs, other, right),
        shape=p.shape(result, made),
        window=tuple(windows),
        dim_labels=numbers,
        feature_group_count=feature_groups,
        batch_group_count=batch_groups,
        operand_precision=c.precision,
        conv_kind=c.kind,
    )


@domain(
    Opcode.CONVOLUTION,
    variant="sizes",
    rule=EQUAL,
    types=WITH_ZERO,
    pairs=False,
    types_in_turns=True,
    sizes=SIZES[:6],
    hiding=(),
    places=("minor",),
    spatial=(1,),
    along=("last",),
    large=("spatial", "batch", "input_feature", "output_feature"),
    input=("bsf",),
    kernel=("sbf",),
    output=("bsf",),
    crossed=(False,),
    groups=((1, 1),),
    reversal=(False,),
    result=("same",),
    other=("same",),
    bits=("even",),
    terms=("whole",),
    precision=((),),
    kind=(None,),
    **{axis: values[:1] for axis, values in WINDOW_AXES.items()},
)
def _sizes(p: Program, c: Choice) -> HloInstruction:
    """Without groups, which divide features and batches: so the dimensions have the very sizes."""
    return _convolution(p, c)


def _places(order: str, spatial: int, *, crossed: bool) -> dict[str, tuple[int, ...]]:
    """Returns where the dimensions of each kind are. Crossed spatial dimensions are in descending order."""
    places: dict[str, tuple[int, ...]] = {}
    number = 0
    for kind in order:
        count = spatial if kind == "s" else 1
        at = range(number, number + count)
        places[kind] = tuple(at[::-1] if crossed and kind == "s" else at)
        number += count
    return places
