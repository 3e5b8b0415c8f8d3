"""Patterns that compilers know, each with a program that looks like it and is another one.

A pass that replaces a pattern by a kernel of its own must see that all uses of a value are those of the pattern, that
they are of one array, along one dimension, and with the pattern's constants. Arrays are square, so that the result of a
wrong rewriting has the right shape.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from xla_core.hlo import (
    ElementType,
    HloComputation,
    HloInstruction,
    HloModule,
    Opcode,
    Shape,
    WindowDimension,
    scalar_computation,
)
from xla_core.passes import Builder

_T, _O = ElementType, Opcode
_N = 8
_V = HloInstruction
_Make = Callable[..., Sequence[HloInstruction]]
"""Adds instructions to a Builder, from the parameters of a program, and returns the results."""


@dataclasses.dataclass(frozen=True)
class Resemblance:
    """A pattern and programs that look like it.

    Attributes:
        pattern, near_misses: functions that add a program to a builder: its parameters, and then its results.
        types: the element types of the parameters, each of `dimensions`.
        whole: whether the arguments are small whole numbers, many of which are equal.
    """

    name: str
    pattern: _Make
    near_misses: Mapping[str, _Make]
    types: tuple[ElementType, ...] = (_T.F32, _T.F32)
    dimensions: tuple[int, ...] = (_N, _N)
    whole: bool = False

    def programs(self) -> dict[str, HloModule]:
        """The pattern's program, named "", and those that look like it, by what they have instead."""
        return {name: self._module(make) for name, make in {"": self.pattern, **self.near_misses}.items()}

    def arguments(self, seed: int) -> list[np.ndarray]:
        random = np.random.default_rng(seed)
        least, most = (-2.0, 3.0) if self.whole else (-3.0, 3.0)
        made = []
        for element in self.types:
            if element.is_integral and not self.whole:  # numbers that shorter types and floats don't hold
                low, high = element.integer_range
                made.append(random.integers(low // 2, high // 2, self.dimensions).astype(element.dtype))
                continue
            values = random.uniform(least, most, self.dimensions)
            made.append((np.floor(values) if self.whole else values).astype(element.dtype))
        return made

    def _module(self, make: _Make) -> HloModule:
        module, entry = HloModule("resembles_a_pattern"), HloComputation("main")
        module.add_computation(entry, entry=True)
        parameters = [entry.parameter(n, Shape(t, self.dimensions)) for n, t in enumerate(self.types)]
        results = make(Builder(entry), *parameters)
        entry.set_root(results[0] if len(results) == 1 else entry.add(_O.TUPLE, *results))
        return module


# -- functions of one array, or of two ---------------------------------------------------------------------------------


def _times(b: Builder, *values: _V | float) -> _V:
    """The product of arrays and numbers."""
    first, *rest = values
    assert isinstance(first, _V)
    for value in rest:
        first = b.add(_O.MULTIPLY, first, value if isinstance(value, _V) else b.constant(value, first.shape))
    return first


def _plus(b: Builder, x: _V, y: _V | float) -> _V:
    return b.add(_O.ADD, x, y if isinstance(y, _V) else b.constant(y, x.shape))


def _silu(b: Builder, x: _V, y: _V) -> Sequence[_V]:
    return (_times(b, x, b.add(_O.LOGISTIC, y)),)


def _logistic(b: Builder, x: _V, factor: float) -> Sequence[_V]:
    grows = _plus(b, b.add(_O.EXPONENTIAL, _times(b, x, factor)), 1)
    return (b.add(_O.DIVIDE, b.constant(1, x.shape), grows),)


def _mish(b: Builder, x: _V, y: _V) -> Sequence[_V]:
    return (_times(b, x, b.add(_O.TANH, b.add(_O.LOG_PLUS_ONE, b.add(_O.EXPONENTIAL, y)))),)


def _gelu(b: Builder, x: _V, y: _V) -> Sequence[_V]:
    return (_times(b, _times(b, x, 0.5), _plus(b, b.add(_O.ERF, _times(b, y, math.sqrt(0.5))), 1)),)


def _tanh_gelu(b: Builder, x: _V, y: _V) -> Sequence[_V]:
    inner = _times(b, _plus(b, y, _times(b, y, y, y, 0.044715)), math.sqrt(2 / math.pi))
    return (_times(b, _times(b, x, 0.5), _plus(b, b.add(_O.TANH, inner), 1)),)


def _relu(b: Builder, x: _V, least: float) -> Sequence[_V]:
    return (b.add(_O.MAXIMUM, x, b.constant(least, x.shape)),)


def _leaky_relu(b: Builder, x: _V, y: _V) -> Sequence[_V]:
    positive = b.compare(y, b.constant(0, y.shape), "GT")
    return (b.add(_O.SELECT, positive, x, _times(b, x, 0.25)),)


def _hard_swish(b: Builder, x: _V, y: _V) -> Sequence[_V]:
    zero, six = (b.constant(n, x.shape) for n in (0, 6))
    return (_times(b, x, b.add(_O.CLAMP, zero, _plus(b, y, 3), six), 1 / 6),)


def _multiply_add(b: Builder, x: _V, y: _V, z: _V, *, product_too: bool) -> Sequence[_V]:
    product = _times(b, x, y)
    return (_plus(b, product, z), *([product] if product_too else []))


# -- sums and maxima along a dimension ---------------------------------------------------------------------------------


def _fold(b: Builder, opcode: Opcode, x: _V, over: int = 1) -> _V:
    """The sum or the maximum of a matrix over a dimension, repeated along it."""
    start = -math.inf if opcode == _O.MAXIMUM else 0
    return b.broadcast(b.reduce(x, opcode, start, (over,)), x.shape.dimensions, (1 - over,))


def _mean(b: Builder, x: _V) -> _V:
    return _times(b, _fold(b, _O.ADD, x), 1 / _N)


def _rms_norm(b: Builder, x: _V, y: _V) -> Sequence[_V]:
    return (_times(b, x, b.add(_O.RSQRT, _plus(b, _mean(b, _times(b, y, y)), 0.01))),)


def _layer_norm(b: Builder, x: _V, y: _V) -> Sequence[_V]:
    centered = {v: b.add(_O.SUBTRACT, v, _mean(b, v)) for v in (x, y)}
    variance = _mean(b, _times(b, centered[y], centered[y]))
    return (_times(b, centered[x], b.add(_O.RSQRT, _plus(b, variance, 0.01))),)


def _softmax(b: Builder, x: _V, most: int, total: int) -> Sequence[_V]:
    powers = b.add(_O.EXPONENTIAL, b.add(_O.SUBTRACT, x, _fold(b, _O.MAXIMUM, x, most)))
    return (b.add(_O.DIVIDE, powers, _fold(b, _O.ADD, powers, total)),)


def _log_of_sum(b: Builder, x: _V, y: _V) -> Sequence[_V]:
    most = {v: _fold(b, _O.MAXIMUM, v) for v in (x, y)}
    powers = b.add(_O.EXPONENTIAL, b.add(_O.SUBTRACT, x, most[x]))
    return (_plus(b, b.add(_O.LOG, _fold(b, _O.ADD, powers)), most[y]),)


def _biased(b: Builder, x: _V, y: _V, *, along: int = 1, with_relu: bool = False, sum_too: bool = False) -> list[_V]:
    """A product of matrices, with its own first row as a bias."""
    product = b.add(_O.DOT, x, y, lhs_contracting_dims=(1,), rhs_contracting_dims=(0,))
    bias = b.reshape(b.slice_in_dim(x, 0, 0, 1), (_N,))
    total = _plus(b, product, b.broadcast(bias, (_N, _N), (along,)))
    return [*(_relu(b, total, 0) if with_relu else [total]), *([total] if sum_too else [])]


def _running_sum(b: Builder, x: _V, *, backwards: bool) -> Sequence[_V]:
    low, high = (0, _N - 1) if backwards else (_N - 1, 0)
    window = (WindowDimension(), WindowDimension(size=_N, padding_low=low, padding_high=high))
    body = scalar_computation(_O.ADD, x.shape.element_type, module=b.hlo_module)
    start = b.constant(0, x.shape.with_dimensions(()))
    return (b.add(_O.REDUCE_WINDOW, x, start, window=window, to_apply=body),)


def _place_of_maximum(b: Builder, x: _V, *, last: bool) -> Sequence[_V]:
    body, number, place = HloComputation("greater"), Shape(x.shape.element_type), Shape(_T.S32)
    a, i, c, j = (body.parameter(n, shape) for n, shape in enumerate((number, place, number, place)))
    first = Builder(body)
    prior = first.compare(i, j, "GT" if last else "LT")
    equal = first.add(_O.AND, first.compare(a, c, "EQ"), prior)
    chosen = first.add(_O.OR, first.compare(a, c, "GT"), equal)
    body.set_root(first.tuple([first.add(_O.SELECT, chosen, a, c), first.add(_O.SELECT, chosen, i, j)]))
    b.hlo_module.add_computation(body)
    places = b.add(_O.IOTA, shape=place.with_dimensions(x.shape.dimensions), iota_dimension=1)
    starts = b.constant(-math.inf, number), b.constant(0, place)
    return b.elements(b.add(_O.REDUCE, x, places, *starts, dimensions=(1,), to_apply=body))


# -- pairs that cancel, or don't ---------------------------------------------------------------------------------------


def _transposed(b: Builder, x: _V, *permutations: Sequence[int]) -> Sequence[_V]:
    for permutation in permutations:
        x = b.transpose(x, permutation)
    return (x,)


def _reversed(b: Builder, x: _V, *dimensions: int) -> Sequence[_V]:
    for dimension in dimensions:
        x = b.add(_O.REVERSE, x, dimensions=(dimension,))
    return (x,)


def _slice_of_pad(b: Builder, x: _V, start: int) -> Sequence[_V]:
    return (b.slice_in_dim(b.pad_in_dim(x, 1, 1, 1), 1, start, start + _N),)


def _joined(b: Builder, x: _V, *starts: int) -> Sequence[_V]:
    halves = [b.slice_in_dim(x, 1, start, start + _N // 2) for start in starts]
    return (b.add(_O.CONCATENATE, *halves, dimensions=(1,)),)


def _round_trip(b: Builder, x: _V, through: ElementType) -> Sequence[_V]:
    return (b.convert(b.convert(x, Shape(through)), x.shape),)


_OTHER = "another array"


def _of_two(name: str, make: Callable[[Builder, _V, _V], Sequence[_V]]) -> Resemblance:
    """A pattern that uses one array twice, and the same with another array the second time."""
    return Resemblance(name, lambda b, x, y: make(b, x, x), {_OTHER: make})


_ONE, _THREE = (_T.F32,), (_T.F32,) * 3
_TURNED, _BACK = (1, 2, 0), (2, 0, 1)

RESEMBLANCES = (
    _of_two("silu", _silu),
    _of_two("mish", _mish),
    _of_two("gelu", _gelu),
    _of_two("gelu of tanh", _tanh_gelu),
    _of_two("leaky relu", _leaky_relu),
    _of_two("hard swish", _hard_swish),
    _of_two("rms norm", _rms_norm),
    _of_two("layer norm", _layer_norm),
    _of_two("log of a sum of exponentials", _log_of_sum),
    Resemblance(
        "logistic",
        lambda b, x: _logistic(b, x, -1),
        {"the other sign": lambda b, x: _logistic(b, x, 1), "steeper": lambda b, x: _logistic(b, x, -2)},
        _ONE,
    ),
    Resemblance(
        "relu",
        lambda b, x: _relu(b, x, 0),
        {"above 0": lambda b, x: _relu(b, x, 0.5), "below 0": lambda b, x: _relu(b, x, -1)},
        _ONE,
    ),
    Resemblance(
        "softmax",
        lambda b, x: _softmax(b, x, 1, 1),
        {
            "maximum over another dimension": lambda b, x: _softmax(b, x, 0, 1),
            "sum over another dimension": lambda b, x: _softmax(b, x, 1, 0),
            "both over another dimension": lambda b, x: _softmax(b, x, 0, 0),
        },
        _ONE,
    ),
    Resemblance(
        "multiply and add",
        lambda b, x, y, z: _multiply_add(b, x, y, z, product_too=False),
        {"the product too": lambda b, x, y, z: _multiply_add(b, x, y, z, product_too=True)},
        _THREE,
    ),
    Resemblance("dot and bias", _biased, {"along rows": lambda b, x, y: _biased(b, x, y, along=0)}),
    Resemblance(
        "dot, bias and relu",
        lambda b, x, y: _biased(b, x, y, with_relu=True),
        {"the sum too": lambda b, x, y: _biased(b, x, y, with_relu=True, sum_too=True)},
    ),
    Resemblance(
        "running sum",
        lambda b, x: _running_sum(b, x, backwards=False),
        {"backwards": lambda b, x: _running_sum(b, x, backwards=True)},
        _ONE,
    ),
    Resemblance(
        "place of the maximum",
        lambda b, x: _place_of_maximum(b, x, last=False),
        {"the last of equals": lambda b, x: _place_of_maximum(b, x, last=True)},
        _ONE,
        whole=True,
    ),
    Resemblance(
        "transposed and back",
        lambda b, x: _transposed(b, x, _TURNED, _BACK),
        {"onwards": lambda b, x: _transposed(b, x, _TURNED, _TURNED)},
        _ONE,
        (4, 4, 4),
    ),
    Resemblance(
        "reversed and back",
        lambda b, x: _reversed(b, x, 0, 0),
        {"another dimension": lambda b, x: _reversed(b, x, 0, 1)},
        _ONE,
    ),
    Resemblance(
        "padded and cut",
        lambda b, x: _slice_of_pad(b, x, 1),
        {"too early": lambda b, x: _slice_of_pad(b, x, 0), "too late": lambda b, x: _slice_of_pad(b, x, 2)},
        _ONE,
    ),
    Resemblance(
        "cut and joined",
        lambda b, x: _joined(b, x, 0, _N // 2),
        {
            "in the other order": lambda b, x: _joined(b, x, _N // 2, 0),
            "one half twice": lambda b, x: _joined(b, x, 0, 0),
        },
        _ONE,
    ),
    Resemblance(
        "a longer float and back",
        lambda b, x, y: _round_trip(b, y, _T.F32),
        {"a shorter float": lambda b, x, y: _round_trip(b, x, _T.BF16)},
        (_T.F32, _T.BF16),
    ),
    Resemblance(
        "a longer integer and back",
        lambda b, x, y: _round_trip(b, y, _T.S32),
        {
            "a shorter integer": lambda b, x, y: _round_trip(b, x, _T.S8),
            "a float": lambda b, x, y: _round_trip(b, x, _T.F32),
        },
        (_T.S32, _T.S8),
    ),
)
"""The table of patterns."""
