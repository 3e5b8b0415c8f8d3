"""The allowed differences of a harness's results, by its group (the name of JAX's primitive).

A group without an entry must equal JAX's result bit by bit: integers, comparisons, data movement, ops that round once. The
result of a function must be near JAX's value or near the oracle's.
"""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from tests.frontends import factorizations
from tests.frontends.jax_harnesses.oracles import ORACLES, oracle
from xla_core.hlo import Tolerance, compare_arrays

Arrays = list[np.ndarray]

ULP = {
    **dict.fromkeys(ORACLES, 4),
    **dict.fromkeys(("bessel_i0e", "bessel_i1e", "erf", "erfc"), 32),  # JAX exports its own polynomials
    **dict.fromkeys(("igamma", "igammac", "random_gamma", "regularized_incomplete_beta"), 64),
    **dict.fromkeys(
        ["abs", "sign", "div", "mul", "integer_pow", "cumlogsumexp"], 4
    ),  # abs and sign: of complex numbers
    **dict.fromkeys(["cumprod", "reduce_prod", "reduce_window_mul", "scatter_mul"], 4),
}
"""Units in the last place."""

COMPLEX_ULP = {"sinh": 8}
"""Of complex numbers: JAX exports e^(x - log 2), and here x - log 2 is rounded to 8 units of the result."""

NORMWISE = frozenset({"logistic", "pow", "sinh"})
"""Of complex numbers, in units of the larger part, as `xla accuracy` measures them: a part may be what cancels."""

NARROW_ULP = 1
"""Of the functions with an oracle, in types of 16 bits."""

SCALED = {
    **dict.fromkeys(("lgamma", "digamma"), 4),  # next to their zeros
    "cumlogsumexp": 1,  # next to a sum of 1, where JAX's is further off than ours
    **dict.fromkeys(("igamma", "igammac", "random_gamma", "regularized_incomplete_beta"), 16),
    **dict.fromkeys(
        [
            "add_any",
            "conv_general_dilated",
            "cumsum",
            "dot_general",
            "fft",
            "reduce",
            "reduce_sum",
            "reduce_window_add",
        ],
        8,
    ),
    **dict.fromkeys(["scatter_add", "select_and_scatter_add", "div", "mul", "integer_pow"], 8),
    **dict.fromkeys(["cholesky", "custom_linear_solve", "lu", "qr", "triangular_solve", "tridiagonal_solve"], 32),
}
"""Epsilons of the largest element: sums in another order, and what is solved by them."""

FACTORIZED = 10.0
"""Units of n * eps * (the largest element), of what a factorization satisfies."""


def differences(harness: Any, arguments: Arrays, got: Arrays, want: Arrays) -> list[str]:
    """Returns what is wrong with the results; `want` are JAX's."""
    forms = [(a.dtype, a.shape) for a in got], [(a.dtype, a.shape) for a in want]
    if forms[0] != forms[1]:
        return [f"results are {forms[0]}, JAX's {forms[1]}"]
    group = harness.group_name
    if group in _FACTORIZATIONS:
        errors = _FACTORIZATIONS[group](harness, arguments[0], got)
        return [f"error {error:.3g} of part {i}" for i, error in enumerate(errors) if not error <= FACTORIZED]
    if group == "approx_top_k":
        return _top_k(harness, arguments[0], got, want)
    if group == "sort" and not harness.params["is_stable"]:
        got, want = _ordered(got, harness.params["dimension"]), _ordered(want, harness.params["dimension"])
    found = [_difference(group, g, w) for g, w in zip(got, want, strict=True)]
    if any(found) and group in ORACLES:
        found = [_difference(group, got[0], oracle(group, arguments, want[0].dtype))]
    return [f"result {i}: {text}" for i, text in enumerate(found) if text]


def _difference(group: str, got: np.ndarray, want: np.ndarray) -> str:
    tolerance = Tolerance()
    if want.dtype.kind not in "biu":
        narrow = want.dtype.itemsize <= 2 and group in ORACLES and ULP[group] == 4
        scaled = SCALED.get(group, 0) * float(ml_dtypes.finfo(want.real.dtype).eps)
        ulp = NARROW_ULP if narrow else ULP.get(group, 0)
        if want.dtype.kind == "c" and group in NORMWISE:
            ulp = COMPLEX_ULP.get(group, ulp)
            got, ulp = np.where(normwise_error(got, want) <= ulp, want, got), 0
        tolerance = Tolerance(ulp=ulp, scaled=scaled)
    difference = compare_arrays(got, want, tolerance)
    return "" if difference.equal else str(difference)


def normwise_error(got: np.ndarray, want: np.ndarray) -> np.ndarray:
    """Returns the larger error of the two parts, in units in the last place of the larger part.

    It is NaN if a part is NaN or infinite.
    """
    with np.errstate(invalid="ignore"):
        unit = np.spacing(np.maximum(np.abs(want.real), np.abs(want.imag)))
        return np.asarray(np.maximum(np.abs(got.real - want.real), np.abs(got.imag - want.imag)) / unit)


def _ordered(arrays: Arrays, axis: int) -> Arrays:
    """The operands of an unstable sort, with those of equal keys in an order of their own."""
    order = np.lexsort(arrays[::-1], axis=axis)
    return [np.take_along_axis(a, order, axis) for a in arrays]


def _top_k(harness: Any, operand: np.ndarray, got: Arrays, want: Arrays) -> list[str]:
    """Equal values, and indices of different elements that have them: which of equal ones is not said."""
    values, indices = got
    found = [_difference("approx_top_k", values, want[0])]
    taken = np.take_along_axis(operand, indices.astype(np.int64), -1)
    found.append(_difference("approx_top_k", taken, values))
    ordered = np.sort(indices, -1)
    found.append("an index twice" if np.any(ordered[..., 1:] == ordered[..., :-1]) else "")
    return [text for text in found if text]


def _svd(harness: Any, a: np.ndarray, got: Arrays) -> list[float]:
    return factorizations.singular_values(a, *got)


def _eigh(harness: Any, a: np.ndarray, got: Arrays) -> list[float]:
    return factorizations.hermitian_eigen(a, *got)


def _eig(harness: Any, a: np.ndarray, got: Arrays) -> list[float]:
    names = [s for s in ("left", "right") if harness.params[f"compute_{s}_eigenvectors"]]
    return factorizations.eigen(a, got[0], **dict(zip(names, got[1:], strict=True)))


_FACTORIZATIONS = {"svd": _svd, "eigh": _eigh, "eig": _eig}
