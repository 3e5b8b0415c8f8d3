"""Domains of ops whose operands have no elements, and whose results have some: zeros, initial values or padding."""

from __future__ import annotations

from xla_conformance.ops.choices import Choice
from xla_conformance.ops.comparison import BITS, EQUAL
from xla_conformance.ops.domain import domain
from xla_conformance.ops.element_types import USUAL
from xla_conformance.ops.fills import terms
from xla_conformance.ops.kinds import beside_identity
from xla_conformance.ops.program import Program
from xla_conformance.ops.reducers import NAMES, known_reducers, reducer, several
from xla_core.hlo import (
    ConvolutionDimensionNumbers,
    ElementType,
    HloInstruction,
    Opcode,
    PaddingDimension,
    WindowDimension,
)

_SOME = [ElementType(name) for name in ("f32", "s32", "bf16", "u8", "f64", "c64")]
_PRODUCTS = (
    ((3, 0), (0, 5), (), (1,), (0,)),
    ((0, 3), (5, 0), (), (0,), (1,)),
    ((0,), (0,), (), (0,), (0,)),
    ((2, 3, 0), (2, 0, 5), (0,), (2,), (1,)),
    ((3, 0, 2), (2, 0), (), (1, 2), (1, 0)),
    ((70, 0), (0, 65), (), (1,), (0,)),
)
"""Sizes of both operands of a dot, the batch dimensions of both, and the contracted dimensions of each."""


@domain(Opcode.REDUCE, variant="hollow", rule=EQUAL, types=USUAL, sizes=(), places=())
def _reduce(p: Program, c: Choice) -> HloInstruction:
    """Each result is the initial value, which is not the reducer's identity."""
    results: list[HloInstruction] = []
    for name in known_reducers(p.type):
        to_apply, start = reducer(p, name, p.type), p.parameter((), fill=beside_identity(name, p.type, 2))
        for sizes, along in (((0, 70), (0,)), ((70, 0), (1,)), ((2, 0, 3), (1, 2))):
            operand = p.parameter(sizes)
            results.append(p.add(Opcode.REDUCE, operand, start, dimensions=along, to_apply=to_apply))
    return p.add(Opcode.TUPLE, *results)


@domain(Opcode.REDUCE, variant="hollow-variadic", rule=EQUAL, types=_SOME[:5], sizes=(), places=())
def _variadic_reduce(p: Program, c: Choice) -> HloInstruction:
    types = (p.type, ElementType.S32)
    operands, starts = [p.parameter((0, 7), t) for t in types], [p.parameter((), t) for t in types]
    return p.add(Opcode.REDUCE, *operands, *starts, dimensions=(0,), to_apply=several(p, types))


@domain(Opcode.REDUCE_WINDOW, variant="hollow", rule=EQUAL, types=_SOME, sizes=(), places=())
def _reduce_window(p: Program, c: Choice) -> HloInstruction:
    """All windows lie in the padding, so each result is the initial value, which is the reducer's identity or not."""
    results: list[HloInstruction] = []
    for name in known_reducers(p.type, NAMES[:4]):
        to_apply, start = reducer(p, name, p.type), p.parameter((), fill=beside_identity(name, p.type, 10))
        for window in (
            (WindowDimension(), WindowDimension(size=1, padding_low=2, padding_high=3)),
            (WindowDimension(), WindowDimension(size=1, stride=2, padding_low=4, padding_high=1)),
        ):
            operand = p.parameter((3, 0))
            results.append(p.add(Opcode.REDUCE_WINDOW, operand, start, window=window, to_apply=to_apply))
    return p.add(Opcode.TUPLE, *results)


@domain(Opcode.DOT, variant="hollow", rule=EQUAL, types=USUAL, sizes=(), places=())
def _dot(p: Program, c: Choice) -> HloInstruction:
    """Sums of no products are zeros."""
    results = [
        p.add(
            Opcode.DOT,
            p.parameter(lhs),
            p.parameter(rhs),
            lhs_batch_dims=batch,
            rhs_batch_dims=batch,
            lhs_contracting_dims=left,
            rhs_contracting_dims=right,
        )
        for lhs, rhs, batch, left, right in _PRODUCTS
    ]
    return p.add(Opcode.TUPLE, *results)


@domain(Opcode.CONVOLUTION, variant="hollow", rule=EQUAL, types=_SOME, sizes=(), places=())
def _convolution(p: Program, c: Choice) -> HloInstruction:
    """An image that is all padding, and one without features."""
    numbers = ConvolutionDimensionNumbers(
        input_batch=0,
        input_feature=2,
        input_spatial=(1,),
        kernel_input_feature=1,
        kernel_output_feature=2,
        kernel_spatial=(0,),
        output_batch=0,
        output_feature=2,
        output_spatial=(1,),
    )
    window = (WindowDimension(size=2, padding_low=3, padding_high=2),)
    results = [
        p.add(
            Opcode.CONVOLUTION,
            p.parameter(image, fill=terms(9)),
            p.parameter(kernel, fill=terms(9)),
            window=window,
            dim_labels=numbers,
        )
        for image, kernel in (((3, 0, 2), (2, 2, 5)), ((3, 4, 0), (2, 0, 5)))
    ]
    return p.add(Opcode.TUPLE, *results)


@domain(Opcode.PAD, variant="hollow", rule=BITS, types=_SOME, sizes=(), places=())
def _pad(p: Program, c: Choice) -> HloInstruction:
    """Each element is the padding."""
    results = []
    for sizes, paddings in (
        ((0,), ((1, 0, 0),)),
        ((0,), ((3, 2, 0),)),
        ((0,), ((70, 0, 3),)),
        ((3, 0), ((0, 1, 1), (5, 4, 0))),
        ((0, 3), ((65, -1, 0), (1, 0, 2))),
    ):
        padding = tuple(PaddingDimension(*numbers) for numbers in paddings)
        results.append(p.add(Opcode.PAD, p.parameter(sizes), p.parameter(), padding=padding))
    return p.add(Opcode.TUPLE, *results)
