"""The LAPACK custom calls that JAX emits on CPUs: their reference evaluation and their signatures.

XLA's own calls, such as Qr, are calls of LAPACK without flags. `xla_core.hlo` loads this package when a program first
uses one of its targets. A backend that calls LAPACK itself uses `SIGNATURES`, which define the operands and the
attributes of each routine.
"""

from xla_core.lapack import tridiagonal as _tridiagonal  # registers its target
from xla_core.lapack.portable_calls import has_free_signs, lapack_call
from xla_core.lapack.routines import ROUTINES
from xla_core.lapack.signatures import SIGNATURES, TARGETS, Signature, target_name

assert _tridiagonal is not None
assert SIGNATURES.keys() == ROUTINES.keys()

__all__ = ["SIGNATURES", "TARGETS", "Signature", "has_free_signs", "lapack_call", "target_name"]
