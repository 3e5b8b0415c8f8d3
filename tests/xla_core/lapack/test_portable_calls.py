"""XLA's own custom calls of linear algebra: the evaluator's values, the CPU's, and what they refuse."""

from __future__ import annotations

import numpy as np
import pytest

import xla_core as xla
from xla_core.errors import InvalidArgumentError
from xla_core.hlo.ops.custom_calls import PORTABLE_LINEAR_ALGEBRA
from xla_core.lapack.portable_calls import PORTABLE_CALLS
from xla_core.lapack.signatures import SIGNATURES

QR = """HloModule m

ENTRY main {
  x = $T[2,5,3] parameter(0)
  qr = ($T[2,5,3], $T[2,3]) custom-call(x), custom_call_target="Qr"
  factors = $T[2,5,3] get-tuple-element(qr), index=0
  tau = $T[2,3] get-tuple-element(qr), index=1
  q = $T[2,5,3] custom-call(factors, tau), custom_call_target="ProductOfElementaryHouseholderReflectors"
  ROOT r = ($T[2,5,3], $T[2,5,3]) tuple(factors, q)
}
"""

EIGH = """HloModule m

ENTRY main {
  x = $T[2,4,4] parameter(0)
  ROOT r = ($T[2,4,4], $R[2,4]) custom-call(x), custom_call_target="Eigh", backend_config="$L,1,100,1e-6"
}
"""

TYPES = {"f32": "f32", "f64": "f64", "c64": "f32", "c128": "f64"}
DTYPES = {"f32": np.float32, "f64": np.float64, "c64": np.complex64, "c128": np.complex128}


def matrices(element_type: str, *shape: int) -> np.ndarray:
    rng = np.random.default_rng(0)
    made = rng.standard_normal(shape) + (1j * rng.standard_normal(shape) if element_type[0] == "c" else 0)
    return made.astype(DTYPES[element_type])


def computed(where: str, text: str, argument: np.ndarray) -> list[np.ndarray]:
    module = xla.parse(text)
    if where == "evaluator":
        return [np.asarray(v) for v in xla.evaluate(module, argument)]
    with xla.Client(where) as client:
        return [np.asarray(v) for v in client.compile(module)(argument)]


@pytest.mark.parametrize("where", ["evaluator", "cpu"])
@pytest.mark.parametrize("element_type", TYPES)
def test_a_qr_factorization(where: str, element_type: str) -> None:
    x = matrices(element_type, 2, 5, 3)
    factors, q = computed(where, QR.replace("$T", element_type), x)
    r = np.triu(factors[:, :3])
    tolerance = 1e-5 if TYPES[element_type] == "f32" else 1e-12
    np.testing.assert_allclose(q @ r, x, atol=tolerance)
    np.testing.assert_allclose(q.conj().transpose(0, 2, 1) @ q, np.broadcast_to(np.eye(3), (2, 3, 3)), atol=tolerance)


@pytest.mark.parametrize("where", ["evaluator", "cpu"])
@pytest.mark.parametrize("element_type", TYPES)
@pytest.mark.parametrize("lower", [True, False])
def test_eigenvalues_of_one_triangle(where: str, element_type: str, lower: bool) -> None:
    x = matrices(element_type, 2, 4, 4)
    text = EIGH.replace("$T", element_type).replace("$R", TYPES[element_type]).replace("$L", str(int(lower)))
    vectors, values = computed(where, text, x)
    triangle = np.tril(x) if lower else np.triu(x)
    full = triangle + triangle.conj().transpose(0, 2, 1)
    diagonal = np.einsum("bii->bi", x).real
    np.einsum("bii->bi", full)[...] = diagonal
    tolerance = 1e-4 if TYPES[element_type] == "f32" else 1e-12
    np.testing.assert_allclose(full @ vectors, vectors * values[:, None], atol=tolerance)
    np.testing.assert_allclose(values, np.linalg.eigvalsh(full), atol=tolerance)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("f32[2,3]) custom-call", "f32[2,4]) custom-call", r"Qr of f32\[2,5,3\] gives"),
        ("x = f32[2,5,3]", "x = s32[2,5,3]", "Qr takes matrices of f32, f64, c64, c128"),
    ],
)
def test_wrong_shapes_are_refused(old: str, new: str, message: str) -> None:
    with pytest.raises(InvalidArgumentError, match=message):
        xla.parse(QR.replace("$T", "f32").replace(old, new))


def test_every_portable_call_has_its_routines() -> None:
    assert PORTABLE_CALLS.keys() == PORTABLE_LINEAR_ALGEBRA
    assert {name for call in PORTABLE_CALLS.values() for name in (call.real, call.complex)} <= SIGNATURES.keys()
