"""The elementary functions: the ranges of arguments to use, and magnitudes and slopes in these ranges."""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Callable

from xla_conformance.accuracy.bounds import bound

from xla_core.hlo import ElementType


@dataclasses.dataclass(frozen=True)
class Function:
    """For arguments, or parts of complex ones, up to b <= limit: the largest magnitude and the largest slope."""

    limit: float
    bound: Callable[[float], float]
    slope: Callable[[float], float]


@functools.cache
def ulps(opcode: str, element_type: ElementType, strict: bool) -> float:
    """Units in the last place that an elementary function may be off, by the table of accuracy: on the average of the
    evaluator and the emitter, so that twice as many lie between them; or, where not `strict`, of any backend.

    Raises LookupError where the table has none.
    """
    group, function = check_name(opcode, element_type)
    found = []
    for column in ("evaluator", "emitter") if strict else ("backend", "backend"):
        limit = bound(group, function, element_type.value, column)
        if limit is None:
            raise LookupError(f"no bound for {group} {function} {element_type} of {column}")
        found.append(limit)
    return sum(found) / 2


def check_name(opcode: str, element_type: ElementType) -> tuple[str, str]:
    """(group, function) of the check of accuracy that measures an opcode: that of real numbers has StableHLO's names."""
    return ("complex", opcode) if element_type.is_complex else ("real", opcode.replace("-", "_"))


def _one(b: float) -> float:
    return 1.0


def _cosh(b: float) -> float:
    return math.cosh(min(b, 80))


def _exp(b: float) -> float:
    return math.exp(min(b, 80))


REAL = {
    "exponential": Function(8, _exp, _exp),
    "exponential-minus-one": Function(8, _exp, _exp),
    "sinh": Function(8, _cosh, _cosh),
    "cosh": Function(8, _cosh, _cosh),
    "tanh": Function(math.inf, lambda b: min(b, 1), _one),
    "sine": Function(1e4, lambda b: min(b, 1), _one),
    "cosine": Function(1e4, _one, _one),
    "logistic": Function(math.inf, _one, lambda b: 0.25),
    "erf": Function(math.inf, lambda b: min(1.13 * b, 1), lambda b: 1.13),
    "erfc": Function(math.inf, lambda b: 2.0, lambda b: 1.13),
    "erf-inv": Function(0.75, lambda b: 1.1 * b, lambda b: 1.8),
    "atan": Function(math.inf, lambda b: min(b, 1.6), _one),
    "asinh": Function(math.inf, lambda b: math.asinh(b), _one),
    "cbrt": Function(0, math.cbrt, _one),
    "tan": Function(1, math.tan, lambda b: 1 / math.cos(min(b, 1.2)) ** 2),
    "asin": Function(0.75, math.asin, lambda b: 1 / math.sqrt(1 - min(b, 0.9) ** 2)),
    "acos": Function(0.75, lambda b: 1.6 + b, lambda b: 1 / math.sqrt(1 - min(b, 0.9) ** 2)),
    "atanh": Function(0.75, math.atanh, lambda b: 1 / (1 - min(b, 0.9) ** 2)),
}
"""Of any argument up to the limit in magnitude."""

GUARDED = {
    "log": Function(math.inf, math.log, _one),
    "sqrt": Function(math.inf, math.sqrt, lambda b: 0.5),
    "rsqrt": Function(math.inf, _one, lambda b: 0.5),
    "cbrt": Function(math.inf, math.cbrt, lambda b: 0.34),
    "log-plus-one": Function(math.inf, math.log1p, lambda b: 0.5),
    "acosh": Function(0, math.acosh, _one),
}
"""Of arguments of at least 1. (acosh is vertical there: it is given at least 2.)"""

COMPLEX = {
    "exponential": Function(4, _exp, _exp),
    "exponential-minus-one": Function(4, lambda b: _exp(b) + 1, _exp),
    "sine": Function(2, _cosh, _cosh),
    "cosine": Function(2, _cosh, _cosh),
    "sinh": Function(2, _cosh, _cosh),
    "cosh": Function(2, _cosh, _cosh),
    "tanh": Function(0.5, _one, lambda b: 2),
    "tan": Function(0.5, _one, lambda b: 2),
    "logistic": Function(1, _one, _one),
    "asin": Function(0.5, _one, lambda b: 1.5),
    "acos": Function(0.5, lambda b: 3, lambda b: 1.5),
    "atan": Function(0.5, _one, lambda b: 2.1),
    "asinh": Function(0.5, _one, lambda b: 1.5),
    "atanh": Function(0.5, _one, lambda b: 2.1),
}
"""Of any number whose parts are up to the limit: away from poles and branch points."""

GUARDED_COMPLEX = {
    "log": Function(math.inf, lambda b: math.log(1.5 * b) + 1.6, _one),
    "sqrt": Function(math.inf, lambda b: math.sqrt(1.5 * b), lambda b: 0.5),
    "rsqrt": Function(math.inf, _one, lambda b: 0.5),
    "cbrt": Function(math.inf, lambda b: math.cbrt(1.5 * b), lambda b: 0.34),
    "log-plus-one": Function(math.inf, lambda b: math.log(1.5 * b + 1) + 1.6, lambda b: 0.5),
    "sign": Function(math.inf, _one, lambda b: 2),
    "abs": Function(math.inf, lambda b: 1.5 * b, lambda b: 1),
}
"""Of numbers whose real part is at least 1."""
