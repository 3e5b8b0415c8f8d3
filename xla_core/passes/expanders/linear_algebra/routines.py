"""The table of routines: (call, operands with one batch dimension) -> results."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Mapping
from typing import Any

from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.values.element_type import ElementType
from xla_core.passes.expanders.linear_algebra import jacobi, reflectors, schur, triangular
from xla_core.passes.expanders.linear_algebra.matrices import (
    Expression,
    along_columns,
    conjugate,
    diagonal,
    filled,
    largest,
    numbers,
    spread,
    squares,
    total,
    zeros_like,
)

_NOT_FINITE = -4  # jaxlib's `info` of geev for a matrix with NaN or infinity


@dataclasses.dataclass(frozen=True)
class Call:
    """A call of a routine: the instruction, and the routine's attributes."""

    source: HloInstruction
    attributes: Mapping[str, Any]

    def flag(self, name: str) -> str:
        return chr(self.attributes[name])

    def is_lower(self) -> bool:
        return self.flag("uplo") == "L"


def _trsm(call: Call, a: Expression, right: Expression) -> list[Expression]:
    transpose = {"N": "NO_TRANSPOSE", "T": "TRANSPOSE", "C": "ADJOINT"}[call.flag("trans_x")]
    left, unit = call.flag("side") == "L", call.flag("diag") == "U"
    return [triangular.trsm(a, right, left_side=left, lower=call.is_lower(), unit=unit, transpose=transpose)]


def _svd(call: Call, a: Expression) -> list[Expression]:
    found = jacobi.gesdd(call.source, a, call.flag("mode"))
    if call.flag("mode") == "N":
        found[2:2] = [filled(a.b, 0, a.element_type, (0,))] * 2
    return found


def _geev(call: Call, a: Expression) -> list[Expression]:
    """The order of conjugate eigenvalues and the phases of vectors are LAPACK's.

    A matrix with NaN or infinity is refused as in jaxlib.
    """
    is_real = not a.element_type.is_complex
    parts = [a] if is_real else [a.real(), a.imag()]
    bad = functools.reduce(lambda x, y: x | y, [(p - p).differs(0) for p in parts])
    refused = largest(bad.astype(ElementType.S32), 1, 2) > 0
    t, z, info = schur.schur(call.source, spread(refused, a.shape.dimensions).where(0, a))
    real = schur.eigenvalues_of_blocks(t) if is_real else None
    if is_real:
        t, z, _ = schur.complex_from_real(call.source, t, z)
    vectors = [
        _with_real_pivots(schur.eigenvectors(call.source, t, z, left=left)) if call.flag(name) == "V" else zeros_like(t)
        for name, left in (("compute_left", True), ("compute_right", False))
    ]
    if real is not None:
        # The complex form may have the eigenvalues of a block in the other order. Their vectors are conjugate, too.
        found = diagonal(t).imag()
        swapped = ((found < 0) & (real[1] > 0)) | ((found > 0) & (real[1] < 0))
        vectors = [along_columns(swapped, v).where(conjugate(v), v) for v in vectors]
    results = [*(real or (diagonal(t),)), *vectors]
    cleared = [spread(refused, r.shape.dimensions).where(0, r) for r in results]
    return [*cleared, refused.where(_NOT_FINITE, info)]


def _with_real_pivots(vectors: Expression) -> Expression:
    """Multiplies the columns by numbers of absolute value 1 that make their largest elements real."""
    sizes = squares(vectors)
    is_largest = sizes >= along_columns(largest(sizes, 1), sizes)
    ranks = is_largest.where(vectors.shape.dimensions[1] - numbers(vectors.b, sizes.shape.dimensions, 1), 0)
    pivots = total(ranks.equals(along_columns(largest(ranks, 1), ranks)).where(vectors, 0), 1)
    length = abs(pivots)
    factors = conjugate(pivots) / (length > 0).where(length, 1).astype(vectors.element_type)
    return vectors * along_columns((length > 0).where(factors, 1), vectors)


def _gees(call: Call, a: Expression) -> list[Expression]:
    """No eigenvalues are chosen."""
    t, z, info = schur.schur(call.source, a)
    if call.flag("mode") == "N":
        z = zeros_like(z)
    values = schur.eigenvalues_of_blocks(t) if not a.element_type.is_complex else (diagonal(t),)
    return [t, z, *values, filled(a.b, 0, ElementType.S32, info.shape.dimensions), info]


def _gehrd(call: Call, a: Expression) -> list[Expression]:
    low, high = call.attributes["low"], call.attributes["high"]
    return reflectors.gehrd(call.source, a, low=low, high=high)


def _ormqr(call: Call, a: Expression, taus: Expression, c: Expression) -> list[Expression]:
    left, transpose = bool(call.attributes["left"]), bool(call.attributes["transpose"])
    return [reflectors.ormqr(call.source, a, taus, c, left=left, transpose=transpose)]


ROUTINES: Mapping[str, Callable[..., list[Expression]]] = {
    "potrf": lambda call, a: triangular.potrf(call.source, a, lower=call.is_lower()),
    "getrf": lambda call, a: triangular.getrf(call.source, a),
    "geqrf": lambda call, a: reflectors.geqrf(call.source, a),
    "geqp3": lambda call, a, given: reflectors.geqp3(call.source, a, given),
    "orgqr": lambda call, a, taus: [reflectors.orgqr(call.source, a, taus)],
    "ungqr": lambda call, a, taus: [reflectors.orgqr(call.source, a, taus)],
    "ormqr": _ormqr,
    "unmqr": _ormqr,
    "trsm": _trsm,
    "syevd": lambda call, a: jacobi.syevd(call.source, a, lower=call.is_lower()),
    "heevd": lambda call, a: jacobi.syevd(call.source, a, lower=call.is_lower()),
    "gesdd": _svd,
    "gesvd": _svd,
    "geev": _geev,
    "gees": _gees,
    "gehrd": _gehrd,
    "sytrd": lambda call, a: reflectors.sytrd(call.source, a, lower=call.is_lower()),
    "hetrd": lambda call, a: reflectors.sytrd(call.source, a, lower=call.is_lower()),
    "gtsv": lambda call, *operands: triangular.gtsv(call.source, *operands),
    "tridiagonal_solve_perturbed_ffi": lambda call, *operands: [
        triangular.tridiagonal_solve_perturbed(call.source, *operands)
    ],
}
