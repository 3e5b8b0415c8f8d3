"""Domains of reduce-window and select-and-scatter."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

from xla_conformance.ops.choices import Choice, Group
from xla_conformance.ops.comparison import EQUAL
from xla_conformance.ops.domain import domain
from xla_conformance.ops.element_types import NUMBERS, REAL_WITH_ZERO
from xla_conformance.ops.fills import exactly, tied, with_ends
from xla_conformance.ops.kinds import ENDS, KINDS, beside_identity, identity, of_kind, rows
from xla_conformance.ops.program import Program
from xla_conformance.ops.reducers import (
    PREFERS,
    REDUCERS,
    SECONDS,
    SIDES,
    fill_of,
    known_reducer,
    known_reducers,
    reducer,
    several,
    several_types,
    wider,
)
from xla_conformance.ops.sizes import SIZES, SMALL, dimensions, position
from xla_core.hlo import ElementType, HloComputation, HloInstruction, Opcode, Window, WindowDimension

WINDOW_AXES: dict[str, Any] = {
    "window": (2, 1, 3, 5, "half", "all"),
    "stride": (1, 2, 3, 7),
    "low": (0, 1, 3, -1, -2),
    "high": (0, 2, 4, -1, -3),
    "base": (1, 2, 3),
    "dilation": (1, 2, 3),
}
"""The axes of the window of the chosen dimension. Windows of the other dimensions are small and differ."""

_OTHERS = (
    WindowDimension(size=2, stride=1, padding_low=0, padding_high=1),
    WindowDimension(size=1, stride=2),
    WindowDimension(size=2, padding_low=1, base_dilation=2),
    WindowDimension(),
    WindowDimension(size=2, window_dilation=2, padding_low=1, padding_high=1),
    WindowDimension(size=3, stride=2, padding_low=1, padding_high=1),
)

_TERMS = (
    *("whole", "single", "denormal", "halves"),
    *(Group("ends", "nan"), Group("lowest", "highest"), Group("least finite", "largest finite")),
)
"""Kinds of numbers. Those that are alike take turns, as windows in rows of every kind are cases of each type."""

_RUNNING = (*SMALL[1:], Group(64, 65, 127, 128, 129), Group(255, 257, 512, 513, 1025))

_MOST = 1 << 24
"""The elements that all windows of a case together may have. A processor takes half a second for so many."""


def window_of(c: Choice, size: int) -> WindowDimension:
    """Returns the chosen dimension's window: as chosen, but small enough that one fits, if any can."""
    dilated = (size - 1) * c.base + 1 if size else 0
    low = max(c.low, -max(dilated - 2, 0))
    high = max(c.high, -max(dilated + low - 2, 0))
    room = max(dilated + low + high, 1)
    wanted = {"half": min(max(size // 2, 1), 257), "all": min(room, 513)}.get(c.window, c.window)
    return WindowDimension(
        size=max(1, min(wanted, (room - 1) // c.dilation + 1)),
        stride=c.stride,
        padding_low=low,
        padding_high=high,
        base_dilation=c.base,
        window_dilation=c.dilation,
    )


def _windows(c: Choice, sizes: Sequence[int]) -> tuple[WindowDimension, ...]:
    """Returns the windows of all dimensions. With too many elements, some of the others have windows of one element."""
    windows = list((_OTHERS * 2)[: len(sizes)])
    if sizes:
        at = position(c.place, len(sizes))
        windows[at] = window_of(c, sizes[at])
        for other in {*range(len(sizes))} - {at}:
            if math.prod(w.size * w.output_size(n) for w, n in zip(windows, sizes, strict=True)) > _MOST:
                windows[other] = WindowDimension()
    return tuple(windows)


@domain(
    Opcode.REDUCE_WINDOW,
    rule=EQUAL,
    rank=(3, 1, 2, 4, 5, 6),
    reducer=REDUCERS,
    accumulator=("same", "wider"),
    terms=_TERMS,
    sides=SIDES,
    **WINDOW_AXES,
)
def _reduce_window(p: Program, c: Choice) -> HloInstruction:
    sizes = dimensions(c.rank, c.size, c.place, 1 << 15)
    window = _windows(c, sizes)
    total = wider(p.type) if c.accumulator == "wider" else p.type
    name = known_reducer(c.reducer, total)
    count = math.prod(w.size for w in window)
    if name == "multiply" and count > 100 and not p.type.is_integral:
        name = "maximum"  # of so many numbers, the products would be beyond any range
    terms = 1 + (count // window[-1].size if c.terms == "single" and window else count)
    fill = of_kind(c.terms, name, p.type, total, terms)
    first = fill_of(name, total, 1 + count) if c.terms == "whole" else exactly(identity(name, total))
    operand, start = p.parameter(sizes, fill=fill), p.parameter((), total, first)
    to_apply = reducer(p, name, total, c.sides)
    return p.add(Opcode.REDUCE_WINDOW, operand, start, window=window, to_apply=to_apply)


@domain(Opcode.REDUCE_WINDOW, variant="reducers", rule=EQUAL, sizes=())
def _every_reducer(p: Program, c: Choice) -> HloInstruction:
    """Windows in rows of every kind, which every reducer of the type combines from its identity."""
    results = []
    for name in known_reducers(p.type):
        operand = p.parameter((2 * len(KINDS), 65), fill=rows(name, p.type, p.type, (1,)))
        start = p.parameter((), fill=exactly(identity(name, p.type)))
        to_apply = reducer(p, name, p.type)
        for stride in (1, 2, 3):
            window = (WindowDimension(), WindowDimension(size=5, stride=stride, padding_low=1, padding_high=3))
            results.append(p.add(Opcode.REDUCE_WINDOW, operand, start, window=window, to_apply=to_apply))
    return p.add(Opcode.TUPLE, *results)


@domain(Opcode.REDUCE_WINDOW, variant="start", rule=EQUAL, sizes=(), places=())
def _start(p: Program, c: Choice) -> HloInstruction:
    """Windows that are so small that the initial value, which isn't the identity, changes many results."""
    size = 3
    results = []
    for name in known_reducers(p.type):
        to_apply = reducer(p, name, p.type)
        start = p.parameter((), fill=beside_identity(name, p.type, 1 + size))
        for stride in (1, 3):
            window = (WindowDimension(), WindowDimension(size=size, stride=stride, padding_low=1, padding_high=2))
            operand = p.parameter((9, 33), fill=fill_of(name, p.type, 1 + size))
            results.append(p.add(Opcode.REDUCE_WINDOW, operand, start, window=window, to_apply=to_apply))
    return p.add(Opcode.TUPLE, *results)


_SCANS = (
    ("add", "whole", "rows", True),
    ("maximum", "whole", "columns", True),
    ("add", "whole", "rows", False),
    ("multiply", "whole", "columns", False),
    ("minimum", "whole", "rows", False),
    ("add", "nan", "vector", True),
    ("add", "ends", "vector", False),
    ("maximum", "nan", "columns", False),
    ("minimum", "ends", "vector", True),
)
"""The reducer, the kind of numbers, their arrangement, and whether a result has the elements up to it or from it on."""


@domain(
    Opcode.REDUCE_WINDOW,
    variant="running",
    types_in_turns=True,
    rule=EQUAL,
    sizes=_RUNNING,
    hiding=(),
    places=("minor",),
)
def _running(p: Program, c: Choice) -> HloInstruction:
    """All elements up to each one or from each one on, as frameworks write cumulative sums.

    What computes them in blocks must hand an infinity or a NaN on to all blocks that follow.
    """
    results = []
    for wanted, kind, arrangement, is_forward in _SCANS:
        name = known_reducer(wanted, p.type)
        axis, low = int(arrangement == "rows"), c.size - 1 if is_forward else 0
        sizes = [c.size] if arrangement == "vector" else [2, 2]
        window = [WindowDimension()] * len(sizes)
        sizes[axis] = c.size
        window[axis] = WindowDimension(size=c.size, padding_low=low, padding_high=c.size - 1 - low)
        operand = p.parameter(sizes, fill=of_kind(kind, name, p.type, p.type, 1 + c.size))
        start = p.parameter((), fill=exactly(identity(name, p.type)))
        to_apply = reducer(p, name, p.type)
        results.append(p.add(Opcode.REDUCE_WINDOW, operand, start, window=tuple(window), to_apply=to_apply))
    return p.add(Opcode.TUPLE, *results)


@domain(
    Opcode.REDUCE_WINDOW,
    variant="variadic",
    rule=EQUAL,
    types=NUMBERS,
    sizes=SIZES[:5],
    rank=(2, 1, 3),
    count=(2, 3, 5),
    second=SECONDS,
    window=(2, 3),
    stride=(1, 2),
    low=(1, 0),
    high=(1, 0),
    base=(1, 2),
    dilation=(1, 2),
    prefers=PREFERS,
)
def _variadic_reduce_window(p: Program, c: Choice) -> HloInstruction:
    sizes = dimensions(c.rank, c.size, c.place, 1 << 14)
    window = _windows(c, sizes)
    types = several_types(p, c.count, c.second)
    fills = [tied(fill_of("maximum", t, 1)) for t in types]  # equal ones, beside which another accumulator decides
    operands = [p.parameter(sizes, t, f) for t, f in zip(types, fills, strict=True)]
    starts = [p.parameter((), t, f) for t, f in zip(types, fills, strict=True)]
    return p.add(Opcode.REDUCE_WINDOW, *operands, *starts, window=window, to_apply=several(p, types, c.prefers))


@domain(
    Opcode.REDUCE_WINDOW,
    variant="wide",
    rule=EQUAL,
    pairs=False,
    types_in_turns=True,
    types=[ElementType.F32, ElementType.S64],
    sizes=SMALL,
    hiding=(),
    rank=(2, 1),
    count=(9, 17),
    second=SECONDS,
    window=(2, 3),
    stride=(1, 2),
    low=(1, 0),
    high=(0, 1),
    base=(1,),
    dilation=(1,),
    prefers=PREFERS,
)
def _wide_reduce_window(p: Program, c: Choice) -> HloInstruction:
    return _variadic_reduce_window(p, c)


@domain(
    Opcode.SELECT_AND_SCATTER,
    rule=EQUAL,
    types=REAL_WITH_ZERO,
    sizes=SIZES[:6],
    rank=(2, 1, 3, Group(4, 6)),
    select=("GE", "LE", "GT", "LT"),
    scatter=("add", "maximum", "multiply"),
    sides=SIDES,
    ends=(False, True),
    **{axis: values for axis, values in WINDOW_AXES.items() if axis not in ("window", "base", "dilation")},
    window=(2, 1, 3, 5),
    base=(1, 2, 3),
    dilation=(1, 2, 3),
)
def _select_and_scatter(p: Program, c: Choice) -> HloInstruction:
    sizes = dimensions(c.rank, c.size, c.place, 1 << 14)
    window = _windows(c, sizes)
    count = math.prod(-(-w.size // w.stride) + 1 for w in window)
    name = known_reducer(c.scatter, p.type)
    fill = fill_of(name, p.type, 1 + count)
    operand = p.parameter(sizes, fill=tied(fill_of("maximum", p.type, 1)))
    outputs = [w.output_size(n) for w, n in zip(window, sizes, strict=True)]
    source = p.parameter(outputs, fill=with_ends(fill) if c.ends else fill)

    return _select_and_scatter_of(p, operand, source, p.parameter(fill=fill), window, c.select, name, c.sides)


_POOLS = (
    WindowDimension(size=2, stride=2),
    WindowDimension(size=3, stride=2),
    WindowDimension(size=3, stride=1, padding_low=1, padding_high=1),
)


@domain(
    Opcode.SELECT_AND_SCATTER,
    variant="usual",
    rule=EQUAL,
    types=REAL_WITH_ZERO,
    sizes=(Group(*SIZES[0], *SIZES[1]), SIZES[2], SIZES[3]),
    hiding=(),
    places=("minor",),
)
def _usual_select_and_scatter(p: Program, c: Choice) -> HloInstruction:
    """The gradients of pools of the largest element: of rows, and of images with and without other dimensions."""
    results = []
    for pool, rank in itertools.product(_POOLS, (1, 2, 4)):
        rest = (9,) if rank > 1 else ()
        sizes, window = (max(c.size, 3), *rest), (pool,) * min(rank, 2)
        if rank == 4:
            sizes, window = (1, *sizes, 2), (WindowDimension(), *window, WindowDimension())
        name = known_reducer("add", p.type)
        fill = fill_of(name, p.type, 1 + 3 ** len(window))
        outputs = [w.output_size(n) for w, n in zip(window, sizes, strict=True)]
        operand = p.parameter(sizes, fill=tied(fill_of("maximum", p.type, 1)))
        source = p.parameter(outputs, fill=fill)
        results.append(_select_and_scatter_of(p, operand, source, p.parameter(fill=fill), window, "GE", name))
    return p.add(Opcode.TUPLE, *results)


@domain(
    Opcode.SELECT_AND_SCATTER,
    variant="equal",
    types_in_turns=True,
    rule=EQUAL,
    types=REAL_WITH_ZERO,
    sizes=(Group(6, 7, 8, 9),),
    hiding=(),
    places=("minor",),
    pairs=False,
    select=("GE", "LE", "GT", "LT"),
)
def _of_one_number(p: Program, c: Choice) -> HloInstruction:
    """Windows of one number, with which a search for a larger or a smaller one may begin, or of NaNs alone."""
    name, results = known_reducer("add", p.type), []
    fill = fill_of(name, p.type, 1 + 3)
    for kind, pool in itertools.product(("all nan", *ENDS), _POOLS):
        operand = p.parameter((c.size,), fill=of_kind(kind, "maximum", p.type, p.type, 1))
        source = p.parameter((pool.output_size(c.size),), fill=fill)
        results.append(_select_and_scatter_of(p, operand, source, p.parameter(fill=fill), (pool,), c.select, name))
    return p.add(Opcode.TUPLE, *results)


def _select_and_scatter_of(
    p: Program,
    operand: HloInstruction,
    source: HloInstruction,
    start: HloInstruction,
    window: Window,
    direction: str,
    name: str,
    sides: str = "ordered",
) -> HloInstruction:
    def chooses(made: HloComputation, a: HloInstruction, b: HloInstruction) -> HloInstruction:
        return made.add(Opcode.COMPARE, a, b, direction=direction)

    select, scatter = p.computation("chooses", [p.type, p.type], chooses), reducer(p, name, p.type, sides)
    return p.add(
        Opcode.SELECT_AND_SCATTER, operand, source, start, window=tuple(window), select=select, scatter=scatter
    )
