"""Cases: programs whose results are sums of many terms, with exact results and the sums of the terms' magnitudes."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from xla_conformance.accuracy.frame import Check, Measured, Worst
from xla_conformance.accuracy.real_functions.formats import epsilon
from xla_conformance.subjects import Subject
from xla_core.hlo import ElementType

Array = np.ndarray


@dataclasses.dataclass(frozen=True)
class Expected:
    """An exact result and, for each element, the number of terms and the sum of their magnitudes.

    If the number of terms is 0, the result must be equal to the exact one.
    """

    exact: Array
    terms: float | Array = 0
    magnitude: float | Array = 0.0


@dataclasses.dataclass(frozen=True)
class Trial:
    """A program, its arguments, and the expected results."""

    program: str
    arguments: Sequence[Array]
    expected: Sequence[Expected]


@dataclasses.dataclass(frozen=True)
class Case:
    """A row of the report: trials in one element type. `epsilon` is set for algorithms of another precision."""

    name: str
    types: Sequence[ElementType]
    trials: Callable[[ElementType], Iterator[Trial]]
    epsilon: Callable[[ElementType], float] | None = None


def wide(x: Array) -> Array:
    """Converts to a wider type: float64, longdouble for float64, their complex types, and int64 for integers."""
    if x.dtype.kind == "c":
        return x.astype(np.clongdouble if x.dtype == np.complex128 else np.complex128)
    if x.dtype == np.float64:
        return x.astype(np.longdouble)
    if x.dtype.kind in "iub":
        return x.astype(np.int64)
    return x.astype(np.float32).astype(np.float64)


def inputs(element_type: ElementType, shape: Sequence[int], seed: int) -> Iterator[Array]:
    """Yields arrays of normally distributed numbers, of positive numbers, and of very different magnitudes.

    For integers it yields one array of random bits.
    """
    random, dtype = np.random.default_rng(seed), element_type.dtype
    if element_type.is_integral:
        info = np.iinfo(dtype)
        yield random.integers(info.min, info.max, shape, dtype, endpoint=True)
        return
    spread = 2.0 if element_type.component.bit_width <= 16 else 12.0
    for kind in range(3):
        parts = []
        for _ in range(2 if element_type.is_complex else 1):
            if kind == 0:
                part = np.clip(random.standard_normal(shape), -3, 3)
            elif kind == 1:
                part = random.uniform(0.25, 1, shape)
            else:
                part = random.choice([-1.0, 1.0], shape) * 2.0 ** random.uniform(-spread, 1, shape)
            parts.append(part)
        value: Any = parts[0] + 1j * parts[1] if element_type.is_complex else parts[0]
        if element_type is ElementType.F8E3M4:  # its largest number is 15.5
            value = value / 4
        yield np.asarray(value).astype(dtype)


def check_of(group: str, case: Case, element_type: ElementType) -> Check:
    """The check of a case: the largest |got - exact| / (k eps sum|a||b| + the smallest number of the type)."""

    def measure(subject: Subject, points: int) -> Measured:
        total = _Total(case.epsilon(element_type) if case.epsilon else epsilon(element_type))
        for trial in case.trials(element_type):
            results = subject.run(trial.program, *trial.arguments)
            for number, (got, expected) in enumerate(zip(results, trial.expected, strict=True)):
                total.add(trial.program, number, np.asarray(got), expected)
        return Measured(total.points, total.error, total.worst, total.wrong, total.first_wrong)

    return Check(group, case.name, element_type.value, "k eps sum|a||b|", measure)


class _Total:
    def __init__(self, eps: float) -> None:
        self.eps = eps
        self.points = self.wrong = 0
        self.error = 0.0
        self.worst: Worst | None = None
        self.first_wrong: Worst | None = None

    def add(self, program: str, number: int, got: Array, expected: Expected) -> None:
        self.points += got.size
        if not got.size:
            return
        exact = np.broadcast_to(expected.exact, got.shape)
        where = f"result {number} of {_last_op(program)}"
        if not np.any(expected.terms):
            different = np.atleast_1d(wide(got) != wide(exact.astype(got.dtype)))
            self.wrong += int(np.count_nonzero(different))
            if different.any() and self.first_wrong is None:
                self.first_wrong = _at(where, got, exact, int(np.argmax(different)))
            return
        least = _smallest(got.dtype)
        with np.errstate(all="ignore"):
            error = np.abs(wide(got) - exact) / (self.eps * np.asarray(expected.terms * expected.magnitude) + least)
        error = np.where(np.isnan(error), np.inf, error).astype(np.float64)
        error = np.broadcast_to(error, got.shape)
        place = int(np.argmax(error))
        if error.flat[place] > self.error:
            self.error = float(error.flat[place])
            self.worst = _at(where, got, exact, place)


def _last_op(program: str) -> str:
    """The op that makes the results: "f32[5,18] dot(p0, p1), ..."."""
    return program.rsplit("ROOT r = ", 1)[-1].split("\n", 1)[0]


def _smallest(dtype: np.dtype) -> float:
    """Returns the smallest positive number of a type."""
    part = np.zeros((), dtype).real.dtype
    return float(np.nextafter(np.zeros((), part), np.ones((), part)).astype(np.longdouble))


def _at(where: str, got: Array, exact: Array, place: int) -> Worst:
    index = [int(i) for i in np.unravel_index(place, got.shape)]
    return Worst(f"{where}, at {index}", str(got.flat[place]), str(exact.flat[place]))
