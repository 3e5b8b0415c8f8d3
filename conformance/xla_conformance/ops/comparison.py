"""Comparison of results with the expected ones, by a rule for each op.

bits         the bits of the reference evaluator's result, in NaNs too: for ops that move elements
exact        the bits of the reference evaluator's result, but any NaN for a NaN
equal        the numbers of the reference evaluator's result, but any zero for a zero: for exact sums in any order
ulp N        at most N units in the last place from the same program in float64
sum N        at most N * eps * (the same program of magnitudes) from the same program in float64: rounding of N terms
scaled N     at most N * eps * (the largest element) from the same program in float64

Whatever the rule, a NaN for a number and a number for a NaN are wrong; a type without NaN has any result there.
So is an infinity for a finite number, unless the exact result isn't a number of the type and is as near to the limit of
overflow as the rule allows. With `ulp`, a zero has the sign of the exact result.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Literal, get_args

import numpy as np

from xla_conformance.accuracy.bounds import bound
from xla_conformance.accuracy.real_functions.formats import epsilon, format_of
from xla_conformance.bits import same_bits, split_parts
from xla_conformance.failures import Failure, snapshot
from xla_conformance.wording import wrong_of
from xla_core import evaluate
from xla_core.errors import InvalidArgumentError
from xla_core.hlo import ElementType, HloModule, Opcode, OpDef, Trait, ulp_distance

Kind = Literal["bits", "exact", "equal", "ulp", "sum", "scaled"]
_KINDS: tuple[Kind, ...] = get_args(Kind)


@dataclasses.dataclass(frozen=True, slots=True)
class Rule:
    kind: Kind
    factor: float = 0.0

    @staticmethod
    def parse(text: str) -> Rule:
        """Reads "exact" or "sum 9"."""
        kind, _, factor = text.strip().partition(" ")
        for known in _KINDS:
            if kind == known:
                return Rule(known, float(factor or 0))
        raise InvalidArgumentError(f"unknown tolerance {text!r}", hint=f"write one of {', '.join(_KINDS)}")

    def __str__(self) -> str:
        return self.kind if self.is_exact else f"{self.kind} {self.factor:g}"

    @property
    def is_exact(self) -> bool:
        return self.kind in ("bits", "exact", "equal")


BITS, EXACT, EQUAL = Rule("bits"), Rule("exact"), Rule("equal")


def rule_for(op: OpDef, element_type: ElementType) -> Rule:
    """Returns the rule of an elementwise op, from the bounds of errors and the op's traits."""
    if Trait.KEEPS_BITS in op.traits:
        return BITS
    # f8e8m0fnu has no zero to round to, so the evaluator's result is the definition.
    inexact = element_type.is_floating and element_type.has_zero and Trait.TRANSCENDENTAL in op.traits
    if not (inexact or element_type.is_complex):
        return EXACT
    group = "complex" if element_type.is_complex else "real"
    name = op.opcode.value if element_type.is_complex else op.opcode.value.replace("-", "_")
    limit = bound(group, name, element_type.value, "backend")
    return EXACT if limit is None or limit <= 0.5 else Rule("ulp", limit)


def wide_type(element_type: ElementType) -> ElementType:
    """Returns the type in which the expected result is computed."""
    if element_type.is_complex:
        return ElementType.C128
    return ElementType.F64 if element_type.is_floating else element_type


@dataclasses.dataclass(frozen=True, eq=False)
class Expected:
    """A result as it should be. Arrays other than `value` have a last dimension of 2 for complex results: the parts.

    Attributes:
        value: the result in its type.
        wide: the result before it is rounded to that type; None compares bits.
        margin: how far each element may be from `wide`.
        nan_bits: whether the bits of NaNs count.
        zero_signs: whether the signs of zeros count.
        free: elements that may be anything.
        any_sign: elements of which only the magnitude counts.
        infinite, zero: complex elements with an infinite part, whatever the other is, and zeros of any signs.
    """

    value: np.ndarray
    wide: np.ndarray | None = None
    margin: np.ndarray | float = 0.0
    nan_bits: bool = False
    zero_signs: bool = True
    free: np.ndarray | None = None
    any_sign: np.ndarray | None = None
    infinite: np.ndarray | None = None
    zero: np.ndarray | None = None

    def wrong(self, got: np.ndarray) -> np.ndarray:
        """Returns for each element of `got`, a result of the type and shape, whether it is wrong."""
        mine, other = split_parts(self.value), split_parts(got)
        with np.errstate(all="ignore"):  # signaling NaNs of bfloat16 raise the flag
            wrong = self._wrong_bits(mine, other)
            if self.wide is not None and wrong.any():
                wrong &= self._outside(mine, other)
            if self.any_sign is not None:
                wrong &= ~(self.any_sign & (np.abs(mine) == np.abs(other)))
        if self.free is not None:
            wrong &= ~self.free
        if self.value.dtype.kind == "c":
            wrong = np.asarray(wrong.any(axis=-1))
        if self.infinite is not None:
            wrong = np.where(self.infinite, ~np.isinf(got), wrong)
        if self.zero is not None:
            wrong = np.where(self.zero, got != 0, wrong)
        return np.asarray(wrong)

    def _wrong_bits(self, mine: np.ndarray, other: np.ndarray) -> np.ndarray:
        differ = ~same_bits(mine, other)
        if self.nan_bits or not ElementType.from_numpy(mine.dtype).is_floating:
            return differ
        return np.asarray(differ & ~(np.isnan(mine) & np.isnan(other)))

    def _outside(self, mine: np.ndarray, other: np.ndarray) -> np.ndarray:
        """Returns which elements are farther from the exact result than the margin, or of another kind."""
        assert self.wide is not None
        element = ElementType.from_numpy(mine.dtype)
        form = format_of(element)
        got, value = other.astype(np.float64), mine.astype(np.float64)
        near = np.abs(got - self.wide) <= self.margin
        if self.zero_signs and form.has_negative_zero:
            near &= ~((got == 0) & (np.signbit(got) != np.signbit(self.wide)))
        apart = ~np.isfinite(got) | ~np.isfinite(value)
        half = np.asarray(form.unit(np.asarray(form.largest))) / 2
        limit = np.abs(np.abs(self.wide) - form.largest - half) <= self.margin
        limit &= (self.wide != value) & ~np.isnan(got) & ~np.isnan(value) & (np.signbit(got) == np.signbit(value))
        limit &= np.isfinite(got) | np.isfinite(value)
        limit &= np.where(np.isfinite(got), np.abs(got) >= form.largest - 2 * np.asarray(self.margin), True)
        return np.asarray(~np.where(apart, limit, near))


def expected_results(
    build: Callable[[ElementType], HloModule],
    element_type: ElementType,
    arguments: Sequence[np.ndarray],
    rule: Rule,
) -> list[Expected]:
    """Returns the expected results of the program of `element_type`.

    Args:
        build: makes the program for an element type: the case's own, or the wide one.
    """
    module = build(element_type)
    if rule.is_exact:
        made = [
            Expected(v, nan_bits=rule.kind == "bits", any_sign=split_parts(v) == 0 if rule.kind == "equal" else None)
            for v in evaluate(module, *arguments)
        ]
        if rule.kind != "exact" or not element_type.is_floating or format_of(element_type).has_nan:
            return made
        if all(e.value.dtype != element_type.dtype for e in made):  # a conversion, which may have no wider form
            return made
        broad, widened = _widened(build, element_type, arguments)
        return [  # a type without NaN may have any value in its place
            dataclasses.replace(e, free=np.isnan(wide)) if e.value.dtype == element_type.dtype else e
            for e, wide in zip(made, evaluate(broad, *widened), strict=True)
        ]
    broad, widened = _widened(build, element_type, arguments)
    values = evaluate(broad, *widened)
    sizes = evaluate(broad, *(np.abs(a).astype(a.dtype) for a in widened)) if rule.kind == "sum" else values
    types = [s.element_type for s in module.result_shape.leaves()]
    return [within(wide, rule, t, size) for wide, t, size in zip(values, types, sizes, strict=True)]


def _widened(
    build: Callable[[ElementType], HloModule], element_type: ElementType, arguments: Sequence[np.ndarray]
) -> tuple[HloModule, list[np.ndarray]]:
    """Returns the program in the wide type, and its arguments."""
    broad = build(wide_type(element_type))
    with np.errstate(all="ignore"):
        return broad, [a.astype(s.dtype) for a, s in zip(arguments, broad.parameter_shapes, strict=True)]


@np.errstate(all="ignore")
def within(wide: np.ndarray, rule: Rule, element_type: ElementType, size: np.ndarray | None = None) -> Expected:
    """Returns the expected result of a rule that isn't exact, from the result in a wide type."""
    value = wide.astype(element_type.dtype)
    part = element_type.component
    if not part.is_floating:
        return Expected(value)
    exact = split_parts(wide).astype(np.float64)
    magnitude = np.abs(wide).astype(np.float64)
    unit = format_of(part).unit(magnitude)
    if rule.kind == "ulp":
        margin = rule.factor * unit
    elif rule.kind == "sum":
        margin = unit + rule.factor * epsilon(part) * np.abs(wide if size is None else size).astype(np.float64)
    else:
        finite = magnitude[np.isfinite(magnitude)]
        margin = unit + rule.factor * epsilon(part) * (float(finite.max()) if finite.size else 0.0)
    if element_type.is_complex:
        margin = np.repeat(np.asarray(margin)[..., None], 2, axis=-1)
    free = None if format_of(part).has_nan else np.isnan(exact)
    zero_signs = rule.kind == "ulp" and not element_type.is_complex
    return Expected(value, exact, margin, zero_signs=zero_signs, free=free)


def sentence_of(opcode: Opcode, element_type: ElementType, rule: Rule) -> str:
    """The sentence of a failure of `check`: what the results of an op must be."""
    return f"{opcode} of {element_type} must be the reference evaluator's result by the rule {rule}"


def check(
    sentence: str,
    results: Sequence[np.ndarray],
    expected: Sequence[Expected],
    *,
    module: HloModule | str = "",
    arguments: Sequence[np.ndarray] = (),
    operands: Callable[[int], Sequence[np.ndarray]] = lambda number: (),
    promise: str = "",
    seed: int | None = None,
) -> float:
    """Compares results with the expected ones and returns the largest difference in units in the last place.

    `operands` gives those of the instruction under test that computes a result, for messages.

    Raises:
        Failure: `sentence`, with the first wrong element of the first wrong result.
    """
    results = snapshot(results)

    def failure(what: str, number: int = 0, index: Sequence[int] | None = None, ulp: float | None = None) -> Failure:
        return Failure(
            f"{sentence} {what}",
            promise=promise,
            module=module,
            arguments=arguments,
            operands=operands(number),
            results=results,
            expected=[e.value for e in expected],
            number=number,
            index=index,
            ulp=ulp,
            seed=seed,
        )

    if len(results) != len(expected):
        raise failure(f"There are {len(results)} results, {len(expected)} are expected.")
    largest = 0.0
    for number, (got, wanted) in enumerate(zip(results, expected, strict=True)):
        value = wanted.value
        if got.dtype != value.dtype or got.shape != value.shape:
            raise failure(
                f"Result {number} is {got.dtype}{list(got.shape)}, expected {value.dtype}{list(value.shape)}.", number
            )
        if not got.size:
            continue
        if wanted.infinite is None and wanted.zero is None and same_bits(value, got).all():
            continue  # the distances would take longer than the run
        wrong = wanted.wrong(got)
        distances = ulp_distance(got, value)
        if wrong.any():
            ranked = np.where(wrong, np.where(np.isfinite(distances), distances, np.finfo(np.float64).max), -1.0)
            index = np.unravel_index(int(np.argmax(ranked)), got.shape)
            many = f"{wrong_of(int(np.count_nonzero(wrong)), got.size, 'element')}."
            raise failure(many, number, [int(i) for i in index], float(distances[index]))
        finite = distances[np.isfinite(distances)]
        largest = max(largest, float(finite.max()) if finite.size else 0.0)
    return largest
