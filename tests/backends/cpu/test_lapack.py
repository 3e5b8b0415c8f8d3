"""Linear algebra as JAX exports it for CPUs: residuals, of the CPU's results and of the evaluator's."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

import xla_core as xla

jax = pytest.importorskip("jax")
import jax.numpy as jnp
import jax.scipy.linalg as jsl
from jax import lax

TYPES = [
    np.float32,
    pytest.param(np.float64, marks=pytest.mark.slow),
    pytest.param(np.complex64, marks=pytest.mark.slow),
    np.complex128,
]


@pytest.fixture(autouse=True)
def double_precision():
    with jax.enable_x64(True):
        yield


@pytest.fixture(scope="module", params=["cpu", "evaluator"])
def run(client, request):
    backend = request.param

    def run(function, *arrays):
        """The results of the LAPACK calls that JAX exports for CPUs."""
        cpu = jax.devices("cpu")[0]
        placed = [jax.device_put(a, cpu) for a in arrays]
        text = jax.jit(function).lower(*placed).as_text()
        assert "lapack_" in text or "tridiagonal_solve" in text
        if backend == "cpu":
            return [np.asarray(r) for r in client.compile(text)(*arrays)]
        return list(xla.evaluate(xla.parse(text), *arrays))

    return run


def random(rng, shape, dtype):
    values = rng.standard_normal(shape)
    if np.dtype(dtype).kind == "c":
        values = values + 1j * rng.standard_normal(shape)
    return values.astype(dtype)


def close(got, wanted, dtype, scale=100.0):
    wanted = np.asarray(wanted)
    error = np.max(np.abs(got - wanted), initial=0.0)
    assert error <= scale * np.finfo(dtype).eps * max(np.max(np.abs(wanted), initial=0.0), 1.0)


def adjoint(a):
    return np.conj(np.swapaxes(a, -1, -2))


@pytest.fixture
def rng():
    return np.random.default_rng(5)


@pytest.mark.parametrize("dtype", TYPES)
def test_cholesky(run, rng, dtype):
    a = random(rng, (3, 5, 5), dtype)
    a = a @ adjoint(a) + 5 * np.eye(5, dtype=dtype)
    (lower,) = run(jnp.linalg.cholesky, a)
    close(lower @ adjoint(lower), a, dtype)
    assert np.all(np.triu(lower, 1) == 0)
    a[1, 0, 0] = -1
    (lower,) = run(jnp.linalg.cholesky, a)
    assert np.isnan(lower[1]).any()
    assert not np.isnan(lower[[0, 2]]).any()


@pytest.mark.parametrize("dtype", TYPES)
def test_solve_and_inverse(run, rng, dtype):
    a, b = random(rng, (2, 6, 6), dtype), random(rng, (2, 6, 3), dtype)
    (x,) = run(jnp.linalg.solve, a, b)
    close(a @ x, b, dtype, 1000)
    (inverse,) = run(jnp.linalg.inv, a)
    close(a @ inverse, np.broadcast_to(np.eye(6), a.shape), dtype, 1000)


@pytest.mark.parametrize("shape", [(4, 7), (7, 4)])
def test_lu(run, rng, shape):
    a = random(rng, shape, np.float32)
    permuted, lower, upper = run(jsl.lu, a)
    close(permuted @ lower @ upper, a, np.float32)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("mode", ["reduced", "complete"])
def test_qr(run, rng, dtype, mode):
    a = random(rng, (2, 7, 4), dtype)
    q, r = run(lambda a: tuple(jnp.linalg.qr(a, mode=mode)), a)
    close(q @ r, a, dtype)
    close(adjoint(q) @ q, np.broadcast_to(np.eye(q.shape[-1]), (2, q.shape[-1], q.shape[-1])), dtype)
    assert np.all(np.tril(r, -1) == 0)


def test_qr_with_pivots(run, rng):
    a = random(rng, (6, 4), np.float64)
    q, r, pivots = run(lambda a: jsl.qr(a, pivoting=True, mode="economic"), a)
    close(q @ r, a[:, pivots], np.float64)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("lower", [True, False])
def test_triangular_solve(run, rng, dtype, lower):
    a, b = random(rng, (2, 5, 5), dtype) + 5 * np.eye(5, dtype=dtype), random(rng, (2, 5, 3), dtype)
    triangle = np.tril(a) if lower else np.triu(a)
    for trans, op in ((0, triangle), (1, np.swapaxes(triangle, -1, -2)), (2, adjoint(triangle))):
        (x,) = run(lambda a, b, t=trans: jsl.solve_triangular(a, b, trans=t, lower=lower), a, b)
        close(op @ x, b, dtype)
    (x,) = run(
        lambda a, b: lax.linalg.triangular_solve(a, b, left_side=False, lower=lower, unit_diagonal=True),
        a,
        np.ascontiguousarray(np.swapaxes(b, -1, -2)),
    )
    np.einsum("...ii->...i", triangle)[...] = 1
    close(x @ triangle, np.swapaxes(b, -1, -2), dtype, 1e6)


@pytest.mark.parametrize("dtype", TYPES)
def test_eigh(run, rng, dtype):
    a = random(rng, (2, 5, 5), dtype)
    a = a + adjoint(a)
    values, vectors = run(lambda a: tuple(jnp.linalg.eigh(a)), a)
    close(a @ vectors, vectors * values[:, None, :], dtype)
    close(values, np.linalg.eigvalsh(a), dtype)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("full", [True, False])
def test_svd(run, rng, dtype, full):
    a = random(rng, (2, 6, 4), dtype)
    u, s, vt = run(lambda a: tuple(jnp.linalg.svd(a, full_matrices=full)), a)
    close((u[..., :4] * s[:, None, :]) @ vt, a, dtype)
    close(s, np.linalg.svd(a, compute_uv=False), dtype)
    (s,) = run(lambda a: jnp.linalg.svd(a, compute_uv=False), a)
    close(s, np.linalg.svd(a, compute_uv=False), dtype)


def test_svd_by_qr(run, rng):
    a = random(rng, (5, 3), np.float64)
    u, s, vt = run(lambda a: lax.linalg.svd(a, algorithm=lax.linalg.SvdAlgorithm.QR, full_matrices=False), a)
    s, u = (u, s) if s.ndim == 2 else (s, u)
    close((u * s) @ vt, a, np.float64)


@pytest.mark.parametrize("dtype", TYPES)
def test_eig(run, rng, dtype):
    a = random(rng, (3, 5, 5), dtype)
    values, vectors = run(lambda a: tuple(jnp.linalg.eig(a)), a)
    close(a @ vectors, vectors * values[:, None, :], dtype, 1000)
    values, left, _ = run(lambda a: lax.linalg.eig(a, compute_left_eigenvectors=True), a)
    close(adjoint(left) @ a, values[..., None] * adjoint(left), dtype, 1000)


@pytest.mark.parametrize("dtype", TYPES)
def test_schur(run, rng, dtype):
    a = random(rng, (5, 5), dtype)
    output = "complex" if np.dtype(dtype).kind == "c" else "real"
    triangle, z = run(lambda a: jsl.schur(a, output=output), a)
    close(z @ triangle @ adjoint(z), a, dtype)
    close(adjoint(z) @ z, np.eye(5), dtype)


@pytest.mark.parametrize("dtype", TYPES)
def test_hessenberg_and_tridiagonal(run, rng, dtype):
    a = random(rng, (5, 5), dtype)
    h, q = run(lambda a: jsl.hessenberg(a, calc_q=True), a)
    close(q @ h @ adjoint(q), a, dtype)
    symmetric = a + adjoint(a)
    _, d, e, _ = run(lambda a: lax.linalg.tridiagonal(a, lower=True), symmetric)
    tridiagonal = np.diag(d) + np.diag(e, -1) + np.diag(e, 1)
    close(np.linalg.eigvalsh(tridiagonal), np.linalg.eigvalsh(symmetric), dtype)


@pytest.mark.parametrize("lower", [True, False])
@pytest.mark.parametrize("dtype", TYPES)
def test_tridiagonal_reads_one_triangle_and_a_real_diagonal(run, rng, dtype, lower):
    a = random(rng, (5, 5), dtype)
    part = np.tril(a, -1) if lower else np.triu(a, 1)
    _, d, e, _ = run(lambda a: lax.linalg.tridiagonal(a, lower=lower), a)
    tridiagonal = np.diag(d) + np.diag(e, -1) + np.diag(e, 1)
    meant = part + adjoint(part) + np.diag(np.diagonal(a).real)
    close(np.linalg.eigvalsh(tridiagonal), np.linalg.eigvalsh(meant), dtype)


@pytest.mark.parametrize("dtype", TYPES)
def test_tridiagonal_solve(run, rng, dtype):
    low, d, high = random(rng, 6, dtype), random(rng, 6, dtype) + 5, random(rng, 6, dtype)
    low[0], high[-1] = 0, 0
    b = random(rng, (6, 2), dtype)
    (x,) = run(lax.linalg.tridiagonal_solve, low, d, high, b)
    close((np.diag(d) + np.diag(low[1:], -1) + np.diag(high[:-1], 1)) @ x, b, dtype)


@pytest.mark.parametrize("function", [jnp.linalg.svd, jnp.linalg.eig, jnp.linalg.pinv, jnp.linalg.cond])
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_matrix_that_is_not_finite_gives_nan_as_in_jax(run, rng, function, value):
    a = random(rng, (2, 4, 4), np.float32)
    a[1, 2, 1] = value
    wanted = [np.asarray(x) for x in jax.tree.leaves(jax.jit(function)(a))]
    for got, want in zip(run(lambda a: jax.tree.leaves(function(a)), a), wanted, strict=True):
        np.testing.assert_array_equal(np.isnan(got), np.isnan(want))
        assert not np.isnan(got[0]).any()


@pytest.mark.parametrize("shape", [(3, 5), (5, 3)])
def test_rank_of_a_rectangle(run, rng, shape):
    (rank,) = run(jnp.linalg.matrix_rank, random(rng, (2, *shape), np.float32))
    assert rank.tolist() == [3, 3]


def test_eigenvectors_of_a_tridiagonal_matrix(run, rng):
    """They are computed by inverse iteration, whose systems are singular except for rounding."""
    if "perturb_singular" not in inspect.signature(lax.linalg.tridiagonal_solve).parameters:
        pytest.skip("this JAX has no perturb_singular")
    d, e = random(rng, 7, np.float64), random(rng, 6, np.float64)
    values, vectors = run(lambda d, e: tuple(jsl.eigh_tridiagonal(d, e)), d, e)
    matrix = np.diag(d) + np.diag(e, 1) + np.diag(e, -1)
    close(matrix @ vectors, vectors * values, np.float64, 1000)
    close(vectors.T @ vectors, np.eye(7), np.float64, 1000)


@pytest.mark.parametrize("dtype", [np.float32, np.complex128])
@pytest.mark.parametrize("left", [True, False])
def test_multiply_by_q(run, rng, dtype, left):
    if not hasattr(lax.linalg, "ormqr"):
        pytest.skip("this JAX has no ormqr")
    a = random(rng, (5, 5), dtype)
    c = random(rng, (5, 3) if left else (3, 5), dtype)

    def product(a, c):
        factors, tau = lax.linalg.geqrf(a) if hasattr(lax.linalg, "geqrf") else jnp.linalg.qr(a, mode="raw")
        return lax.linalg.ormqr(factors, tau, c, left=left), lax.linalg.householder_product(factors, tau)

    result, q = run(product, a, c)
    close(result, q @ c if left else c @ q, dtype)


def test_a_program_with_many_of_them(run, rng):
    a = random(rng, (4, 4), np.float64) / 4
    (result,) = run(lambda a: jsl.expm(a) @ jsl.inv(jnp.eye(4) + a), a)
    series, term = np.eye(4), np.eye(4)
    for k in range(1, 30):
        term = term @ a / k
        series = series + term
    close(result, series @ np.linalg.inv(np.eye(4) + a), np.float64, 1000)


def test_gradients(run, rng):
    a = random(rng, (4, 4), np.float64)
    a = a @ a.T + np.eye(4)
    (gradient,) = run(jax.grad(lambda a: jnp.linalg.slogdet(a)[1]), a)
    close(gradient, np.linalg.inv(a).T, np.float64, 1000)


@pytest.mark.parametrize(
    ("target", "shapes", "attributes"),
    [
        ("lapack_dpotrf_ffi", ["f32[50,50]"], "uplo = 76 : ui8"),
        ("lapack_spotrf_ffi", ["f32[300,2]"], "uplo = 76 : ui8"),
        ("lapack_spotrf_ffi", ["f32[]"], "uplo = 76 : ui8"),
        ("lapack_sorgqr_ffi", ["f32[4,9]", "f32[4]"], ""),
        ("lapack_ssyevd_ffi", ["f32[4,4]", "f32[4,4]"], "mode = 86 : ui8, uplo = 76 : ui8"),
    ],
)
def test_operands_that_the_routine_would_read_beyond_are_refused(target, shapes, attributes):
    operands = ", ".join(f"p{i}" for i in range(len(shapes)))
    parameters = "\n".join(f"  p{i} = {shape} parameter({i})" for i, shape in enumerate(shapes))
    text = f"""HloModule wrong
ENTRY main {{
{parameters}
  ROOT c = ({shapes[0]}, s32[]) custom-call({operands}), custom_call_target="{target}", api_version=API_VERSION_TYPED_FFI, backend_config={{{attributes}}}
}}"""
    client = xla.Client("cpu")
    sizes = [[int(n) for n in s[s.index("[") + 1 : -1].split(",") if n] for s in shapes]
    with pytest.raises(xla.XlaError, match=target):
        np.asarray(client.compile(text)(*(np.ones(size, np.float32) for size in sizes))[0])


EIGH = """HloModule eigh
ENTRY main {{
  a = f32[{sizes}]{layout} parameter(0)
  ROOT c = (f32[{sizes}]{layout}, f32[{values}], s32[{batch}]) custom-call(a), custom_call_target="lapack_ssyevd_ffi", operand_layout_constraints={{f32[{sizes}]{layout}}}, api_version=API_VERSION_TYPED_FFI, backend_config={{mode = {mode} : ui8, uplo = 76 : ui8}}
}}"""


@pytest.mark.parametrize("layout", ["{1,0}", "{0,1}"])
def test_matrices_in_any_order(client, rng, layout):
    a = random(rng, (6, 6), np.float32)
    text = EIGH.format(sizes="6,6", values="6", batch="", layout=layout, mode=86)
    vectors, values, info = (np.asarray(r) for r in client.compile(text)(a + a.T))
    assert info == 0
    close(vectors @ np.diag(values) @ vectors.T, a + a.T, np.float32)


def test_a_batch_is_a_kernel_and_no_host_call(client, rng):
    a = random(rng, (40, 8, 8), np.float32)
    symmetric = a + adjoint(a)
    text = EIGH.format(sizes="40,8,8", values="40,8", batch="40", layout="{1,2,0}", mode=86)
    exe = client.compile(text, xla.CompileOptions(keep_artifacts=True))
    assert not exe._executable._program.host_calls
    vectors, values, info = (np.asarray(r) for r in exe(symmetric))
    assert not info.any()
    close(vectors * values[:, None] @ adjoint(vectors), symmetric, np.float32)


@pytest.mark.parametrize(("sizes", "values", "batch"), [("0,0", "0", ""), ("0,3,3", "0,3", "0"), ("2,0,0", "2,0", "2")])
def test_nothing_to_do(client, sizes, values, batch):
    layout = "{0,1}" if sizes.count(",") == 1 else "{1,2,0}"
    exe = client.compile(EIGH.format(sizes=sizes, values=values, batch=batch, layout=layout, mode=86))
    results = [np.asarray(r) for r in exe(np.zeros([int(n) for n in sizes.split(",")], np.float32))]
    assert not results[2].any()


def test_eigenvectors_of_one_number(run):
    values, vectors = run(jnp.linalg.eig, np.array([[3.0]]))
    assert values == [3.0]
    assert abs(vectors[0, 0]) == 1.0


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (EIGH.format(sizes="3,3", values="3", batch="", layout="{0,1}", mode=7), "mode = 7"),
        (EIGH.format(sizes="3,3", values="2", batch="", layout="{0,1}", mode=86), "in the place of w"),
        (EIGH.format(sizes="3,3", values="3", batch="1", layout="{0,1}", mode=86).replace("mode =", "node ="), "mode"),
    ],
)
def test_attributes_and_results_that_lapack_would_refuse(client, text, said):
    with pytest.raises(xla.InvalidArgumentError, match=said):
        client.compile(text)
