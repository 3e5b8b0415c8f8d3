"""IndexExpr: an integer expression of index variables, in a canonical form with a known range.

An expression is a constant plus a sum of atoms times coefficients. An atom is a variable or the floor of an expression
divided by a positive constant. A remainder is not an atom: `x mod c` is written as `x - c * (x floordiv c)`. An index
that is delinearized and linearized again is therefore equal to itself. (XLA: xla/hlo/analysis/indexing_map.h, on
MLIR's AffineExpr.)
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from typing import Union


class Variable:
    """An integer in [low, low + extent).

    Two variables are equal if their keys are. `name` is only for printing.
    """

    __slots__ = ("_hash", "extent", "high", "key", "low", "name", "variables")

    def __init__(self, key: Hashable, extent: int, name: str = "", low: int = 0) -> None:
        self.key = key
        self.extent = extent
        self.name = name or str(key)
        self.low, self.high = low, low + max(extent - 1, 0)
        self._hash = hash(key)
        self.variables: frozenset[Variable] = frozenset((self,))

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Variable) and self.key == other.key)

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"Variable({self.name}, {self.extent})"


class FloorDiv:
    """The floor of `dividend` / `divisor`."""

    __slots__ = ("_hash", "dividend", "divisor", "high", "low")

    def __init__(self, dividend: IndexExpr, divisor: int) -> None:
        self.dividend = dividend
        self.divisor = divisor
        self.low, self.high = dividend.low // divisor, dividend.high // divisor
        self._hash = hash((dividend, divisor))

    @property
    def variables(self) -> frozenset[Variable]:
        return self.dividend.variables

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, FloorDiv) or self._hash != other._hash:
            return False
        return self.divisor == other.divisor and self.dividend == other.dividend

    def __str__(self) -> str:
        return f"{_nested(self.dividend)} floordiv {self.divisor}"


Atom = Union[Variable, FloorDiv]  # noqa: UP007 - both classes are below `from __future__`, but not yet at run time


class IndexExpr:
    """constant + the sum of coefficient * atom over `terms`, whose value is in [low, high].

    Immutable. Equal expressions compare equal; expressions with equal values for all variables nearly always do.
    """

    __slots__ = ("_bounds", "_hash", "_variables", "constant", "terms")

    def __init__(self, terms: Mapping[Atom, int], constant: int = 0) -> None:
        self.terms = terms
        self.constant = constant
        # Computed on first use: most expressions are only parts of others, and these figures of them are never read.
        self._bounds: tuple[int, int] | None = None
        self._hash: int | None = None
        self._variables: frozenset[Variable] | None = None

    @property
    def low(self) -> int:
        """A lower bound of the value."""
        if self._bounds is None:
            self._bounds = _range(self.terms, self.constant)
        return self._bounds[0]

    @property
    def high(self) -> int:
        """An upper bound of the value."""
        if self._bounds is None:
            self._bounds = _range(self.terms, self.constant)
        return self._bounds[1]

    @property
    def variables(self) -> frozenset[Variable]:
        """The variables that the value depends on."""
        if self._variables is None:
            self._variables = frozenset().union(*(atom.variables for atom in self.terms))
        return self._variables

    def is_multiple_of(self, number: int) -> bool:
        """Whether the value is known to be a multiple of a number."""
        return not self.constant % number and not any(c % number for c in self.terms.values())

    @staticmethod
    def of(value: IndexExpr | Atom | int) -> IndexExpr:
        """Converts a number or a variable to an expression."""
        if isinstance(value, IndexExpr):
            return value
        if isinstance(value, int):
            return _ZERO if value == 0 else IndexExpr({}, value)
        if isinstance(value, Variable) and value.extent == 1:
            return IndexExpr.of(value.low)
        return IndexExpr({value: 1})

    def __hash__(self) -> int:
        if self._hash is None:
            self._hash = hash((frozenset(self.terms.items()), self.constant))
        return self._hash

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        return isinstance(other, IndexExpr) and self.constant == other.constant and self.terms == other.terms

    def __add__(self, other: IndexExpr | int) -> IndexExpr:
        if isinstance(other, int):
            return IndexExpr(self.terms, self.constant + other) if other else self
        if not self.terms and not self.constant:
            return other
        if not other.terms:
            return self + other.constant
        terms = dict(self.terms)
        for atom, coefficient in other.terms.items():
            total = terms.get(atom, 0) + coefficient
            if total:
                terms[atom] = total
            else:
                del terms[atom]
        return IndexExpr(terms, self.constant + other.constant)

    def __sub__(self, other: IndexExpr | int) -> IndexExpr:
        return self + -other

    def __neg__(self) -> IndexExpr:
        return self * -1

    def __mul__(self, factor: int) -> IndexExpr:
        if factor == 1:
            return self
        if factor == 0:
            return _ZERO
        return IndexExpr({atom: c * factor for atom, c in self.terms.items()}, self.constant * factor)

    @property
    def value(self) -> int | None:
        """The value of an expression without variables, else None."""
        return self.low if self.low == self.high else None

    def substitute(self, values: Mapping[Variable, IndexExpr]) -> IndexExpr:
        """Returns the expression with variables replaced by other expressions."""
        if self.variables.isdisjoint(values):
            return self
        result = IndexExpr.of(self.constant)
        for atom, coefficient in self.terms.items():
            if isinstance(atom, Variable):
                part = values.get(atom) or IndexExpr.of(atom)
            else:
                part = floor_div(atom.dividend.substitute(values), atom.divisor)
            result = result + part * coefficient
        return result

    def evaluate(self, values: Mapping[Variable, int]) -> int:
        """Returns the value for given values of all variables."""
        total = self.constant
        for atom, coefficient in self.terms.items():
            if isinstance(atom, Variable):
                total += coefficient * values[atom]
            else:
                total += coefficient * (atom.dividend.evaluate(values) // atom.divisor)
        return total

    def __str__(self) -> str:
        remainders, rest = split_remainders(self.terms)
        parts = [(k, f"{_nested(dividend)} mod {divisor}") for k, dividend, divisor in remainders]
        parts += [(c, str(atom)) for atom, c in rest.items()]
        constant = self.constant - sum(k * dividend.constant for k, dividend, _ in remainders)
        text = ""
        for coefficient, part in parts:
            size = abs(coefficient)
            if size != 1:
                part = f"({part}) * {size}" if " " in part else f"{part} * {size}"
            elif " " in part and len(parts) + bool(constant) > 1:
                part = f"({part})"
            sign = "-" if coefficient < 0 else "+" if text else ""
            text += f" {sign} {part}" if text else f"{sign}{part}"
        if constant or not text:
            text += f" {'-' if constant < 0 else '+'} {abs(constant)}" if text else str(constant)
        return text

    def __repr__(self) -> str:
        return f"IndexExpr({self})"


Index = tuple[IndexExpr, ...]
"""An element of an array: one expression for each dimension."""

Remainder = tuple[int, IndexExpr, int]
"""(coefficient, dividend, divisor) of coefficient * (dividend mod divisor)."""


def split_remainders(terms: Mapping[Atom, int]) -> tuple[list[Remainder], Mapping[Atom, int]]:
    """Finds remainders in a sum of terms. Returns them, and the other terms.

    The dividends' constants are not part of `terms`: coefficient * constant of each belongs to the sum's constant.
    """
    quotients = [atom for atom in terms if isinstance(atom, FloorDiv)]
    if not quotients:
        return [], terms
    rest = dict(terms)
    found: list[Remainder] = []
    for atom in sorted(quotients, key=lambda a: -a.divisor):
        coefficient = rest.get(atom)
        remainder = _remainder(rest, atom, coefficient) if coefficient else None
        if remainder is None:
            continue
        found.append(remainder)
        del rest[atom]
        k, dividend, _ = remainder
        for part, c in dividend.terms.items():
            if rest[part] == k * c:
                del rest[part]
            else:
                rest[part] -= k * c
    return found, rest


def _remainder(terms: Mapping[Atom, int], atom: FloorDiv, coefficient: int) -> Remainder | None:
    """Returns the remainder that coefficient * atom and another one of the terms form, or None."""
    dividend, divisor = atom.dividend, atom.divisor
    if coefficient % divisor == 0:
        k = -coefficient // divisor
        if all(terms.get(part) == k * c for part, c in dividend.terms.items()):
            return k, dividend, divisor
    for other in terms:  # x floordiv a - b * (x floordiv (a * b)) is (x floordiv a) mod b
        if not isinstance(other, FloorDiv) or other is atom or divisor % other.divisor:
            continue
        ratio = divisor // other.divisor
        if coefficient % ratio == 0 and terms[other] == -coefficient // ratio and other.dividend == dividend:
            return -coefficient // ratio, IndexExpr({other: 1}), ratio
    return None


def _range(terms: Mapping[Atom, int], constant: int) -> tuple[int, int]:
    """Returns bounds of a sum.

    They are exact if the terms are remainders and quotients of one variable, or have different variables.
    """
    remainders, rest = split_remainders(terms)
    low = high = constant
    for k, dividend, divisor in remainders:
        most = k * (divisor - 1)
        low += min(most, 0) - k * dividend.constant
        high += max(most, 0) - k * dividend.constant
    for atom, c in rest.items():
        if c > 0:
            low += c * atom.low
            high += c * atom.high
        else:
            low += c * atom.high
            high += c * atom.low
    return low, high


_ZERO = IndexExpr({})


def floor_div(dividend: IndexExpr, divisor: int) -> IndexExpr:
    """Returns the floor of dividend / divisor, for a positive divisor, in canonical form.

    Multiples of the divisor are divided term by term. Terms that are too small to change the quotient are dropped.
    """
    if divisor == 1:
        return dividend
    if dividend.low // divisor == dividend.high // divisor:
        return IndexExpr.of(dividend.low // divisor)
    whole: dict[Atom, int] = {}
    rest: dict[Atom, int] = {}
    for atom, c in dividend.terms.items():
        (rest if c % divisor else whole)[atom] = c
    result = IndexExpr({atom: c // divisor for atom, c in whole.items()}, dividend.constant // divisor)
    return result + _quotient(IndexExpr(rest, dividend.constant % divisor), divisor)


def _quotient(dividend: IndexExpr, divisor: int) -> IndexExpr:
    """Implements `floor_div` where no term of the dividend is a multiple of the divisor."""
    if dividend.low // divisor == dividend.high // divisor:
        return IndexExpr.of(dividend.low // divisor)
    steps = sorted({math.gcd(c, divisor) for c in dividend.terms.values()}, reverse=True)
    for step in steps:
        if step == 1:
            break
        small = IndexExpr({a: c for a, c in dividend.terms.items() if c % step}, dividend.constant % step)
        if small.low >= 0 and small.high < step:  # it doesn't reach the next multiple of `step`
            large = {a: c // step for a, c in dividend.terms.items() if c % step == 0}
            return floor_div(IndexExpr(large, dividend.constant // step), divisor // step)
    if len(dividend.terms) == 1 and not dividend.constant:
        ((atom, c),) = dividend.terms.items()
        if c == 1 and isinstance(atom, FloorDiv):
            return floor_div(atom.dividend, atom.divisor * divisor)
    return IndexExpr({FloorDiv(dividend, divisor): 1})


def modulo(dividend: IndexExpr, divisor: int) -> IndexExpr:
    """Returns the remainder of a division that rounds down, by a positive divisor. It is in [0, divisor)."""
    return dividend - floor_div(dividend, divisor) * divisor


def linearized(index: Sequence[IndexExpr], dimensions: Sequence[int]) -> IndexExpr:
    """Returns the row-major position of the element at `index` in an array of `dimensions`."""
    position = _ZERO
    for expr, extent in zip(index, dimensions, strict=True):
        position = position * extent + expr if extent != 1 else position
    return position


def delinearized(position: IndexExpr, dimensions: Sequence[int]) -> Index:
    """Returns the index of the element at a row-major position in an array of `dimensions`."""
    if 0 in dimensions:  # there is no element
        return (_ZERO,) * len(dimensions)
    index: list[IndexExpr] = []
    for d, extent in enumerate(dimensions):
        inner = math.prod(dimensions[d + 1 :])
        if extent == 1:
            index.append(_ZERO)
            continue
        quotient = floor_div(position, inner)
        index.append(modulo(quotient, extent) if d and any(n != 1 for n in dimensions[:d]) else quotient)
    return tuple(index)


def _nested(expr: IndexExpr) -> str:
    text = str(expr)
    return f"({text})" if " " in text else text
