"""Formulas of functions that HLO has no op for: lgamma, digamma, zeta, the inverse of erf, Bessel functions."""

from __future__ import annotations

from xla_core.elementary.special_functions.bessel import bessel_i1e
from xla_core.elementary.special_functions.error_function import erf_inv
from xla_core.elementary.special_functions.gamma import digamma, lgamma
from xla_core.elementary.special_functions.zeta import polygamma, zeta

__all__ = ["bessel_i1e", "digamma", "erf_inv", "lgamma", "polygamma", "zeta"]
