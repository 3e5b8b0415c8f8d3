"""Windows of padded arrays, for each op that has windows and each number that a pass may expect as padding.

A pass that makes a pad part of the windows has to compare its number with the one that stands outside of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from xla_conformance.accuracy.real_functions.formats import format_of
from xla_conformance.ops.kinds import identity
from xla_conformance.programs.patterns.values import Value
from xla_conformance.programs.rewrites import Rewritten
from xla_core.hlo import (
    ConvolutionDimensionNumbers,
    ElementType,
    HloComputation,
    HloModule,
    Opcode,
    Shape,
    WindowDimension,
    comparator,
)
from xla_core.passes import Builder

_T, _O = ElementType, Opcode
_TYPES = (_T.F32, _T.S32, _T.F64, _T.BF16, _T.S8, _T.U8)
_SHAPE = (5, 4)
_PADDINGS = ((1, 1, 0), (0, 0, 1), (2, -1, 0), (0, 1, 1), (-1, 1, 0))
"""What is padded: low, high and between the elements."""


def padded_windows(seed: int, *, every: bool) -> tuple[Rewritten, ...]:
    """Returns a program of each op and element type.

    Args:
        every: whether an op has each padding in each type. Otherwise it has one at both ends, in one type.
    """
    found = []
    paddings = _PADDINGS if every else _PADDINGS[:1]
    for element in _TYPES if every else _TYPES[:1]:
        for name, windows in WINDOWS.items():
            module = HloModule("padded_windows")
            entry = module.add_computation(HloComputation("main"), entry=True)
            builder = Builder(entry)
            v = Value(builder, entry.parameter(0, Shape(element, _SHAPE), "v"))
            padded = [v.pad(*how, value=number) for number in _numbers(name, element) for how in paddings]
            results = [windows(one) for one in padded]
            entry.set_root(builder.add(_O.TUPLE, *(result.instruction for result in results)))
            found.append(Rewritten(f"windows of padded {element.value} arrays, {name}", str(module)))
    return tuple(found)


def _numbers(name: str, element: ElementType) -> tuple[float, ...]:
    """Returns the numbers to pad with: 0 and 1, or for extrema 0, the identity, and the finite number next to it."""
    if name in ("add", "multiply", "convolution"):
        return (0, 1)
    neutral = identity("minimum" if name == "minimum" else "maximum", element).real
    if element.is_floating:
        return (0, neutral, float(np.copysign(format_of(element).largest, neutral)))
    return tuple(dict.fromkeys((0, neutral)))


def _reduced(by: str) -> Callable[[Value], Value]:
    return lambda v: v.windows(by, identity(by, v.shape.element_type).real, 2)


def _convolved(v: Value) -> Value:
    """A convolution whose spatial dimension is the first one, and whose second one is the batch."""
    image, kernel = v.form(*v.dimensions, 1), v.constant(np.array([[[1]], [[-2]]]))
    labels = ConvolutionDimensionNumbers(1, 2, (0,), 1, 2, (0,), 1, 2, (0,))
    return image.op(_O.CONVOLUTION, kernel, window=(WindowDimension(size=2),), dim_labels=labels)


def _scattered(v: Value) -> Value:
    """The gradient of a pool of the largest element."""
    module, element = v.builder.hlo_module, v.shape.element_type
    add = module.add_computation(HloComputation("add"))
    add.set_root(add.add(_O.ADD, *(add.parameter(n, Shape(element)) for n in range(2))))
    ones = v.number(1, (v.dimensions[0] // 2, *v.dimensions[1:]))
    return v.op(
        _O.SELECT_AND_SCATTER,
        ones,
        v.number(0, ()),
        window=(WindowDimension(size=2, stride=2), *(WindowDimension() for _ in v.dimensions[1:])),
        select=comparator("GE", element, module=module),
        scatter=add,
    )


WINDOWS: Mapping[str, Callable[[Value], Value]] = {
    **{by: _reduced(by) for by in ("maximum", "minimum", "add", "multiply")},
    "convolution": _convolved,
    "select-and-scatter": _scattered,
}
