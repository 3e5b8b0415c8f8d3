"""Modified Bessel functions, exponentially scaled."""

from __future__ import annotations

from xla_core.stablehlo.expressions import Expression, select
from xla_core.stablehlo.special_functions.chebyshev import chebyshev
from xla_core.stablehlo.special_functions.coefficients import I1E_LARGE, I1E_SMALL

__all__ = ["bessel_i1e"]


def bessel_i1e(x: Expression) -> Expression:
    """exp(-|x|) I1(x) of f32 or f64."""
    y = abs(x)
    # The factor keeps what is fitted from becoming small against its own terms.
    shifted = y + 4.0
    near = y * chebyshev(y * 0.25 - 1.0, I1E_SMALL[x.element_type]) / (shifted * shifted.sqrt())
    far = chebyshev(16.0 / y - 1.0, I1E_LARGE[x.element_type]) / y.sqrt()
    result = select(y <= 8.0, near, far)
    return select(x < 0.0, -result, result)
