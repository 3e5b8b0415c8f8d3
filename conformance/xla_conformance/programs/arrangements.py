"""Arrays that are taken apart and put together again: as they were, or almost.

A pass that finds the array itself in its parts has to look at the place, the array and the stride of each part. So each
way to put parts together has the parts in order, and with one of these disturbed.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from xla_conformance.programs.rewrites import Rewritten
from xla_core.hlo import (
    ElementType,
    HloComputation,
    HloInstruction,
    HloModule,
    Opcode,
    PaddingDimension,
    Shape,
    SliceDimension,
)

_O = Opcode
_V = HloInstruction
_SIZE = 12
_SHAPE = Shape(ElementType.S32, (_SIZE, 3))
_COUNTS = (2, 3, 4, 6)

_Part = tuple[int, int, int, int]
"""The number of the array, and start, limit and stride of the part."""


def _kept(parts: list[_Part], at: int) -> list[_Part]:
    return parts


def _exchanged(parts: list[_Part], at: int) -> list[_Part]:
    parts[at], parts[at - 1] = parts[at - 1], parts[at]
    return parts


def _repeated(parts: list[_Part], at: int) -> list[_Part]:
    parts[at] = parts[at - 1]
    return parts


def _of_another_array(parts: list[_Part], at: int) -> list[_Part]:
    parts[at] = (1, *parts[at][1:])
    return parts


def _shifted(parts: list[_Part], at: int) -> list[_Part]:
    array, start, limit, stride = parts[at]
    parts[at] = (array, start - 1, limit - 1, stride)
    return parts


def _with_a_stride(parts: list[_Part], at: int) -> list[_Part]:
    array, start, limit, _ = parts[at]
    size = limit - start
    start = min(start, _SIZE - 2 * size)
    parts[at] = (array, start, start + 2 * size - 1, 2)
    return parts


_DISTURBED: Mapping[str, Callable[[list[_Part], int], list[_Part]]] = {
    "in order": _kept,
    "exchanged": _exchanged,
    "repeated": _repeated,
    "of another array": _of_another_array,
    "shifted": _shifted,
    "with a stride": _with_a_stride,
}


def arrangements(seed: int, *, every: bool) -> tuple[Rewritten, ...]:
    """Returns a program of each way and each disturbance: of each number of parts, or of one of them.

    Where there are more than three parts, the first and the last one are where they were.
    """
    random = np.random.default_rng([seed, 2])
    found = []
    for (way, put), (said, disturb) in itertools.product(_WAYS.items(), _DISTURBED.items()):
        for count in _COUNTS if every else [_COUNTS[random.integers(1, len(_COUNTS))]]:
            size = _SIZE // count
            parts = [(0, n * size, (n + 1) * size, 1) for n in range(count)]
            at = int(random.integers(2, count - 1)) if count > 3 else count - 1
            found.append(Rewritten(f"{count} parts {way}, part {at} {said}", _text(put, disturb(parts, at))))
    return tuple(found)


def _text(put: Callable[[HloComputation, Sequence[_V]], _V], parts: Sequence[_Part]) -> str:
    module = HloModule("arrangement")
    entry = module.add_computation(HloComputation("main"), entry=True)
    arrays = [entry.parameter(n, _SHAPE, name) for n, name in enumerate("wv")]
    rows = SliceDimension(0, _SHAPE.dimensions[1])
    cut = [
        entry.add(_O.SLICE, arrays[a], slice=(SliceDimension(start, limit, stride), rows))
        for a, start, limit, stride in parts
    ]
    entry.set_root(put(entry, cut))
    return str(module)


def _joined(entry: HloComputation, parts: Sequence[_V]) -> _V:
    return entry.add(_O.CONCATENATE, *parts, dimensions=(0,))


def _written(entry: HloComputation, parts: Sequence[_V]) -> _V:
    whole, size = entry.constant(np.int32(0), _SHAPE), parts[0].shape.dimensions[0]
    zero = entry.constant(np.int32(0))
    for n, part in enumerate(parts):
        whole = entry.add(_O.DYNAMIC_UPDATE_SLICE, whole, part, entry.constant(np.int32(n * size)), zero)
    return whole


def _padded(entry: HloComputation, parts: Sequence[_V]) -> _V:
    size, zero, whole = parts[0].shape.dimensions[0], entry.constant(np.int32(0)), None
    for n, part in enumerate(parts):
        around = PaddingDimension(n * size, _SIZE - (n + 1) * size), PaddingDimension(0, 0)
        padded = entry.add(_O.PAD, part, zero, padding=around)
        whole = padded if whole is None else entry.add(_O.ADD, whole, padded)
    assert whole is not None
    return whole


_WAYS: Mapping[str, Callable[[HloComputation, Sequence[_V]], _V]] = {
    "joined": _joined,
    "written": _written,
    "padded and added": _padded,
}
