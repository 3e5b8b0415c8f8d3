"""Formulas of functions that HLO has no op for: lgamma, digamma, zeta, Bessel functions."""

from __future__ import annotations

from xla_core.elementary.special_functions.bessel import bessel_i1e
from xla_core.elementary.special_functions.gamma import digamma, lgamma
from xla_core.elementary.special_functions.zeta import polygamma, zeta

__all__ = ["bessel_i1e", "digamma", "lgamma", "polygamma", "zeta"]
