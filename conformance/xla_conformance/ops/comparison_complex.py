"""Expected results of functions of complex numbers: within the bound at ordinary points, by C's Annex G at others.

A part of a result is compared by itself. If parts of a function's results are differences of larger numbers, both are
compared by the size of the whole number. Where C leaves a result open, it is free.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from xla_conformance.accuracy.complex_functions.specials import NORMWISE, special_quotient, special_value
from xla_conformance.accuracy.real_functions.formats import epsilon, format_of
from xla_conformance.ops.comparison import Expected, Rule, within
from xla_core.hlo import ElementType

_GROWTH = 1024  # as in the bounds of `xla accuracy`: an exponent multiplies the error of a logarithm


def expected_of_complex(
    function: str, operands: Sequence[np.ndarray], wide: np.ndarray, element_type: ElementType, rule: Rule
) -> Expected:
    """Returns the expected result of a function of complex operands.

    Args:
        function: the opcode.
        operands: the operands, in their own type.
        wide: the result in complex128 (or float64, for a real result).
        element_type: the type of the result.
    """
    made = within(wide, rule, element_type)
    if not element_type.component.is_floating:
        return made
    value = made.value.copy()
    with np.errstate(all="ignore"):
        if element_type.is_complex and made.wide is not None:
            margin = np.asarray(made.margin)
            if function not in NORMWISE:
                margin = rule.factor * format_of(element_type.component).unit(np.abs(made.wide))
            if function == "power":
                margin = margin * (1 + _logarithms(operands) / _GROWTH)[..., None]
            made = dataclasses.replace(made, margin=margin)
        ordinary = np.logical_and.reduce([np.isfinite(z) for z in operands])
        free = ~ordinary | ~np.isfinite(value)
        infinite = np.zeros(value.shape, bool)
        if function in ("multiply", "divide", "power"):
            infinite = ordinary & np.isinf(value) & ~np.isnan(value.real) & ~np.isnan(value.imag)
        if function == "power":  # an angle of more than 1 / epsilon has no digit; exp(log|z|) overflows before a part
            blurred = ~(_logarithms(operands) < 1 / epsilon(element_type))
            blurred |= np.isfinite(value) & (np.abs(wide) > format_of(element_type.component).largest)
            free, infinite = free | blurred, infinite & ~blurred
    parts = np.repeat(free[..., None], 2, axis=-1) if element_type.is_complex else free
    any_sign = np.zeros(parts.shape, bool)
    if len(operands) == 1:
        value = _annex_g(function, operands[0], value, parts, any_sign)
    zero = np.zeros(value.shape, bool)
    if function == "divide":
        infinite, zero = _quotients(operands, infinite)
    return dataclasses.replace(
        made,
        value=value,
        wide=None if made.wide is None else _parts_of(value, made.wide, parts),
        free=parts,
        any_sign=any_sign,
        infinite=infinite,
        zero=zero,
    )


def _logarithms(operands: Sequence[np.ndarray]) -> np.ndarray:
    """Returns the absolute values of the logarithms of powers."""
    base, exponent = (z.astype(np.complex128) for z in operands)
    return np.asarray(np.abs(exponent * np.log(base)))


def _parts_of(value: np.ndarray, wide: np.ndarray, free: np.ndarray) -> np.ndarray:
    """Returns the wide result, with the parts that a table gives in place of those that aren't finite."""
    if value.dtype.kind != "c":
        return np.asarray(np.where(np.isfinite(wide), wide, value.astype(np.float64)))
    given = np.stack([value.real, value.imag], axis=-1).astype(np.float64)
    return np.asarray(np.where(np.isfinite(wide) & np.isfinite(given), wide, given))


def _annex_g(function: str, z: np.ndarray, value: np.ndarray, free: np.ndarray, any_sign: np.ndarray) -> np.ndarray:
    """Returns the results with those of Annex G; marks results that are free or of any sign at these points."""
    result = value.copy()
    unusual = ~np.isfinite(z) | (z.real == 0) | (z.imag == 0) | (np.abs(z.real) == 1)
    for place in np.flatnonzero(unusual.ravel()):
        at = np.unravel_index(place, z.shape)
        parts = special_value(function, complex(z[at]))
        if parts is None:
            continue
        numbers = [np.nan if part.value is None else part.value for part in parts]
        if value.dtype.kind == "c":
            result[at] = complex(*numbers)
            free[at] = [part.value is None for part in parts]
            any_sign[at] = [part.any_sign for part in parts]
        else:
            result[at], free[at] = numbers[0], parts[0].value is None
    return result


def _quotients(operands: Sequence[np.ndarray], infinite: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Returns which quotients are infinite and which are zero, where an operand is infinite or the divisor is zero."""
    a, b = operands
    infinite, zero = infinite.copy(), np.zeros(infinite.shape, bool)
    unusual = ~np.isfinite(a) | ~np.isfinite(b) | (b == 0)
    for place in np.flatnonzero(unusual.ravel()):
        at = np.unravel_index(place, a.shape)
        x, y = complex(a[at]), complex(b[at])
        infinite[at] = special_quotient(x, y, complex(np.inf, 0)) is True
        zero[at] = special_quotient(x, y, 0j) is True
    return infinite, zero
