"""reduce, reduce-window, cumulative scans, batch norm."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from xla_conformance.accuracy.sums.contractions import FLOATS
from xla_conformance.accuracy.sums.trials import Case, Expected, Trial, inputs, wide
from xla_core.hlo import ElementType

Array = np.ndarray
T = ElementType

_REALS = tuple(t for t in FLOATS if t.is_floating)
_START = {"add": "0", "multiply": "1", "maximum": "-inf"}


def _program(t: T, shape: Sequence[int], op: str, body: str, result: Sequence[int]) -> str:
    name, dims, out = t.value, ",".join(map(str, shape)), ",".join(map(str, result))
    start = f"({_START[body]}, 0)" if t.is_complex else _START[body]
    return (
        f"HloModule m\n\nf {{\n  a = {name}[] parameter(0)\n  b = {name}[] parameter(1)\n"
        f"  ROOT r = {name}[] {body}(a, b)\n}}\n\nENTRY main {{\n  p0 = {name}[{dims}] parameter(0)\n"
        f"  z = {name}[] constant({start})\n  ROOT r = {name}[{out}] {op}, to_apply=f\n}}\n"
    )


# -- reduce ------------------------------------------------------------------------------------------------------------

_SHAPES: tuple[tuple[int, ...], ...] = ((6, 33, 40), (5, 1, 17), (3000,), (2, 1500))


def _reduces(body: str, element_type: T, shapes: Sequence[tuple[int, ...]] = _SHAPES) -> Iterator[Trial]:
    """Makes reductions over every set of dimensions."""
    for number, shape in enumerate(shapes):
        for count in range(1, len(shape) + 1):
            for axes in itertools.combinations(range(len(shape)), count):
                kept = [n for d, n in enumerate(shape) if d not in axes]
                listed = ",".join(map(str, axes))
                text = _program(element_type, shape, f"reduce(p0, z), dimensions={{{listed}}}", body, kept)
                terms = int(np.prod([shape[d] for d in axes]))
                for x in inputs(element_type, shape, number):
                    x = _near_one(x) if body == "multiply" else x
                    yield Trial(text, (x,), [_reduced(body, wide(x), axes, terms)])


def _near_one(x: Array) -> Array:
    """Makes factors near 1, so that the product of thousands neither overflows nor underflows."""
    one = np.ones((), x.dtype)
    size = 1e-3 if x.dtype.itemsize > 2 else 2.0**-6
    centered = wide(x) - wide(x).mean()
    return np.asarray(wide(one) + size * centered).astype(x.dtype)


def _reduced(body: str, x: Array, axes: tuple[int, ...], terms: int) -> Expected:
    if body == "add":
        return Expected(x.sum(axes), terms, np.abs(x).sum(axes))
    if body == "multiply":
        exact = x.prod(axes)
        return Expected(exact, terms, np.abs(exact))
    return Expected(x.max(axes))


# -- windows and scans -------------------------------------------------------------------------------------------------

_WINDOWS: tuple[tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]], ...] = (
    ((7, 9), (3, 3), (1, 2)),
    ((2, 40), (1, 31), (1, 1)),
    ((5, 6, 7), (2, 1, 3), (2, 1, 1)),
)


def _windows(element_type: T) -> Iterator[Trial]:
    for number, (shape, size, stride) in enumerate(_WINDOWS):
        window = f"size={'x'.join(map(str, size))} stride={'x'.join(map(str, stride))}"
        counts = [(n - s) // t + 1 for n, s, t in zip(shape, size, stride, strict=True)]
        text = _program(element_type, shape, f"reduce-window(p0, z), window={{{window}}}", "add", counts)
        for x in inputs(element_type, shape, number):
            exact, magnitude = (_pooled(v, size, stride) for v in (wide(x), np.abs(wide(x))))
            yield Trial(text, (x,), [Expected(exact, int(np.prod(size)), magnitude)])


def _pooled(x: Array, size: Sequence[int], stride: Sequence[int]) -> Array:
    views = np.lib.stride_tricks.sliding_window_view(x, size)[tuple(slice(None, None, s) for s in stride)]
    total: Array = views.sum(tuple(range(x.ndim, 2 * x.ndim)))
    return total


def _scans(element_type: T, *, reverse: bool = False) -> Iterator[Trial]:
    """Makes cumulative sums along the last and along the first dimension."""
    for number, (shape, axis) in enumerate((((1,), 0), ((17,), 0), ((3, 1000), 1), ((200, 6), 0))):
        n = shape[axis]
        pads = [f"0_{n - 1}" if reverse else f"{n - 1}_0" if d == axis else "0_0" for d in range(len(shape))]
        pads = [p if d == axis else "0_0" for d, p in enumerate(pads)]
        size = "x".join(str(m) if d == axis else "1" for d, m in enumerate(shape))
        window = f"size={size} pad={'x'.join(pads)}"
        text = _program(element_type, shape, f"reduce-window(p0, z), window={{{window}}}", "add", shape)
        for x in inputs(element_type, shape, number):
            exact, magnitude = (_accumulated(v, axis, reverse) for v in (wide(x), np.abs(wide(x))))
            terms = _accumulated(np.ones(shape), axis, reverse)
            yield Trial(text, (x,), [Expected(exact, terms, magnitude)])


def _accumulated(x: Array, axis: int, reverse: bool) -> Array:
    x = np.flip(x, axis) if reverse else x
    total: Array = np.cumsum(x, axis)
    return np.flip(total, axis) if reverse else total


# -- batch norm --------------------------------------------------------------------------------------------------------

_BATCH, _FEATURES = (8, 6, 5), 4
_EPSILON = 1e-3
_ATTRIBUTES = f"epsilon={_EPSILON}, feature_index=1"


def _batch(element_type: T) -> Iterator[list[Array]]:
    """Makes (operand, scale, offset, mean, variance, gradient)."""
    shape = (_BATCH[0], _FEATURES, *_BATCH[1:])
    rows = [inputs(element_type, s, 60 + i) for i, s in enumerate((shape, (4,), (4,), (4,), (4,), shape))]
    for arrays in zip(*rows, strict=True):
        yield [np.abs(a) if i == 4 else a for i, a in enumerate(arrays)]


def _along(x: Any) -> Any:
    return np.asarray(x).reshape(1, -1, 1, 1)


_AXES = (0, 2, 3)
_COUNT = _BATCH[0] * _BATCH[1] * _BATCH[2]


def _types(element_type: T) -> tuple[str, str]:
    return (
        f"{element_type.value}[{_BATCH[0]},{_FEATURES},{_BATCH[1]},{_BATCH[2]}]",
        f"{element_type.value}[{_FEATURES}]",
    )


def _norm_program(element_type: T, op: str, operands: Sequence[str], results: Sequence[str]) -> str:
    lines = "\n".join(f"  p{i} = {t} parameter({i})" for i, t in enumerate(operands))
    names = ", ".join(f"p{i}" for i in range(len(operands)))
    result = f"({', '.join(results)})" if len(results) > 1 else results[0]
    return f"HloModule m\n\nENTRY main {{\n{lines}\n  ROOT r = {result} {op}({names}), {_ATTRIBUTES}\n}}\n"


def _inference(element_type: T) -> Iterator[Trial]:
    full, vector = _types(element_type)
    text = _norm_program(element_type, "batch-norm-inference", [full] + [vector] * 4, [full])
    for given in _batch(element_type):
        x, scale, offset, mean, variance = map(wide, given[:5])
        yield Trial(text, given[:5], [_normalized(x, scale, offset, mean, variance, 4)])


def _normalized(x: Array, scale: Array, offset: Array, mean: Array, variance: Array, terms: int) -> Expected:
    """Computes the result as a sum of three terms, those of the operand, the mean and the offset."""
    factor = _along(scale / np.sqrt(variance + _EPSILON))
    size = np.abs(factor) * (np.abs(x) + np.abs(_along(mean))) + np.abs(_along(offset))
    return Expected(factor * (x - _along(mean)) + _along(offset), terms, size)


def _training(element_type: T) -> Iterator[Trial]:
    """Makes trials of batch-norm-training.

    Errors of the variance are relative to the mean of squares, because the variance may be computed as the mean of
    squares minus the squared mean.
    """
    full, vector = _types(element_type)
    text = _norm_program(element_type, "batch-norm-training", [full, vector, vector], [full, vector, vector])
    for given in _batch(element_type):
        x, scale, offset = map(wide, given[:3])
        mean, squares = x.mean(_AXES), (x * x).mean(_AXES)
        variance = ((x - _along(mean)) ** 2).mean(_AXES)
        normal = _normalized(x, scale, offset, mean, variance, _COUNT)
        # A relative error of the variance changes the result by half of it.
        loss = _along(squares / (variance + _EPSILON))
        normal = Expected(normal.exact, _COUNT, normal.magnitude * (1 + loss))
        sums = (Expected(mean, _COUNT, np.abs(x).mean(_AXES)), Expected(variance, _COUNT, squares))
        yield Trial(text, given[:3], [normal, *sums])


def _grad(element_type: T) -> Iterator[Trial]:
    full, vector = _types(element_type)
    text = _norm_program(element_type, "batch-norm-grad", [full, vector, vector, vector, full], [full, vector, vector])
    for given in _batch(element_type):
        arguments = [given[0], given[1], given[3], given[4], given[5]]
        x, scale, mean, variance, gradient = map(wide, arguments)
        deviation = _along(np.sqrt(variance + _EPSILON))
        normal, size = (x - _along(mean)) / deviation, (np.abs(x) + np.abs(_along(mean))) / deviation
        to_scale, to_offset = (gradient * normal).sum(_AXES), gradient.sum(_AXES)
        scales, offsets = (np.abs(gradient) * size).sum(_AXES), np.abs(gradient).sum(_AXES)
        factor = _along(scale) / deviation
        exact = factor * (gradient - (_along(to_offset) + normal * _along(to_scale)) / _COUNT)
        whole = np.abs(factor) * (np.abs(gradient) + (_along(offsets) + size * _along(scales)) / _COUNT)
        expected = [
            Expected(exact, _COUNT, whole),
            Expected(to_scale, _COUNT, scales),
            Expected(to_offset, _COUNT, offsets),
        ]
        yield Trial(text, arguments, expected)


CASES: tuple[Case, ...] = (
    Case("reduce add", FLOATS, lambda t: _reduces("add", t)),
    Case("reduce add, k = 50000", FLOATS, lambda t: _reduces("add", t, ((50000,),))),
    Case("reduce multiply", FLOATS, lambda t: _reduces("multiply", t)),
    Case("reduce maximum", _REALS, lambda t: _reduces("maximum", t)),
    Case("reduce-window add", FLOATS, _windows),
    Case("cumulative sum", FLOATS, _scans),
    Case("cumulative sum, reversed", FLOATS, lambda t: _scans(t, reverse=True)),
    Case("batch-norm-inference", _REALS, _inference),
    Case("batch-norm-training", _REALS, _training),
    Case("batch-norm-grad", _REALS, _grad),
)
