"""Compares results with those of another implementation, within a number of roundings."""

from __future__ import annotations

import ml_dtypes
import numpy as np


def assert_within(roundings: float, got: np.ndarray, want: np.ndarray, label: str = "") -> None:
    """Types and shapes are the same, and |got - want| <= roundings * eps(type) * the largest magnitude in `want`.

    Infinities and NaN must be the same, and so must integers and booleans. (A sum of n terms in another order has at
    most about n, of random terms about the root of n.)
    """
    assert (got.dtype, got.shape) == (want.dtype, want.shape), label
    kind = want.dtype.kind
    wide = want.dtype if kind in "biu" else np.complex128 if kind == "c" else np.float64
    g, w = got.astype(wide), want.astype(wide)
    if roundings == 0 or kind in "biu" or want.dtype.name.startswith(("int", "uint")):
        np.testing.assert_array_equal(g, w, err_msg=label)
        return
    finite = np.isfinite(w)
    np.testing.assert_array_equal(np.where(finite, 0, g), np.where(finite, 0, w), err_msg=label)
    unit = float(ml_dtypes.finfo(want.dtype).eps) * np.max(np.abs(w[finite]), initial=0.0)
    error = np.max(np.abs(g[finite] - w[finite]), initial=0.0)
    assert error <= roundings * unit, f"{label}: differs by {error}, which is {error / (unit or 1):.3g} roundings"
