"""Linear algebra: dense factorizations, solvers, functions of matrices, products."""

from __future__ import annotations

import functools

import jax
import jax.numpy as jnp
import jax.scipy.linalg as jsl
import jax.scipy.sparse.linalg as sparse
from jax import lax

from tests.frontends.jax_programs.table import c64, f32, kind, program, typed


def definite(a):
    """Positive definite and well conditioned."""
    return a @ jnp.conj(jnp.swapaxes(a, -1, -2)) + a.shape[-1] * jnp.eye(a.shape[-1], dtype=a.dtype)


def symmetric(a):
    return (a + jnp.conj(jnp.swapaxes(a, -1, -2))) / 2


def dominant(a):
    return a + a.shape[-1] * jnp.eye(a.shape[-1], dtype=a.dtype)


f64 = functools.partial(typed, "float64")

kind(
    "cholesky",
    program("lower", lambda a: jnp.linalg.cholesky(definite(a)), f32(5, 5), roundings=32),
    program("upper of a batch", lambda a: jnp.linalg.cholesky(definite(a), upper=True), f32(3, 4, 4), roundings=32),
    program("complex", lambda a: jnp.linalg.cholesky(definite(a)), c64(4, 4), roundings=32),
    program(
        "gradient",
        jax.grad(lambda a: jnp.sum(jnp.log(jnp.diag(jnp.linalg.cholesky(definite(a)))))),
        f32(5, 5),
        roundings=64,
    ),
    program("not definite gives NaN", lambda a: jnp.linalg.cholesky(-definite(a)), f32(3, 3)),
    program(
        "cho_solve", lambda a, b: jsl.cho_solve(jsl.cho_factor(definite(a)), b), f32(5, 5), f32(5, 2), roundings=64
    ),
    program(
        "cholesky update",
        lambda a, x: lax.linalg.cholesky_update(jnp.linalg.cholesky(definite(a)).T, x),
        f32(5, 5),
        f32(5),
        roundings=64,
    ),
)

kind(
    "solve and inverse",
    program("solve", lambda a, b: jnp.linalg.solve(dominant(a), b), f32(6, 6), f32(6, 2), roundings=64),
    program(
        "solve of a batch", lambda a, b: jnp.linalg.solve(dominant(a), b), f32(3, 4, 4), f32(3, 4, 1), roundings=64
    ),
    program("complex", lambda a, b: jnp.linalg.solve(dominant(a), b), c64(4, 4), c64(4, 2), roundings=64),
    program("double", lambda a, b: jnp.linalg.solve(dominant(a), b), f64(6, 6), f64(6), roundings=64, x64=True),
    program("inverse", lambda a: jnp.linalg.inv(dominant(a)), f32(5, 5), roundings=64),
    program(
        "determinant", lambda a: (jnp.linalg.det(dominant(a)), jnp.linalg.slogdet(dominant(a))), f32(5, 5), roundings=64
    ),
    program("gradient of slogdet", jax.grad(lambda a: jnp.linalg.slogdet(dominant(a))[1]), f32(5, 5), roundings=128),
    program(
        "gradient of solve",
        jax.grad(lambda a, b: jnp.sum(jnp.linalg.solve(dominant(a), b) ** 2), (0, 1)),
        f32(4, 4),
        f32(4),
        roundings=128,
    ),
    program(
        "matrix_power and pinv",
        lambda a: (jnp.linalg.matrix_power(a, 5), jnp.linalg.pinv(dominant(a))),
        f32(4, 4),
        roundings=256,
    ),
    program(
        "tensorsolve and tensorinv",
        lambda a, b: (
            jnp.linalg.tensorsolve(dominant(a).reshape(2, 3, 6), b),
            jnp.linalg.tensorinv(dominant(a).reshape(2, 3, 2, 3), 2),
        ),
        f32(6, 6),
        f32(2, 3),
        roundings=64,
    ),
    program("singular", lambda a: jnp.linalg.solve(a * 0, jnp.ones(3)), f32(3, 3)),
)

kind(
    "triangular solve",
    program("lower", lambda a, b: jsl.solve_triangular(dominant(a), b, lower=True), f32(5, 5), f32(5, 3), roundings=64),
    program(
        "upper transposed unit",
        lambda a, b: jsl.solve_triangular(a / 4, b, trans=1, unit_diagonal=True),
        f32(5, 5),
        f32(5, 3),
        roundings=64,
    ),
    program(
        "right side",
        lambda a, b: lax.linalg.triangular_solve(dominant(a), b, left_side=False, lower=True, transpose_a=True),
        f32(2, 5, 5),
        f32(2, 3, 5),
        roundings=64,
    ),
    program(
        "complex conjugate",
        lambda a, b: lax.linalg.triangular_solve(dominant(a), b, left_side=True, conjugate_a=True, transpose_a=True),
        c64(4, 4),
        c64(4, 2),
        roundings=64,
    ),
    program(
        "gradient",
        jax.grad(lambda a, b: jnp.sum(jsl.solve_triangular(dominant(a), b) ** 2), (0, 1)),
        f32(4, 4),
        f32(4),
        roundings=128,
    ),
)

kind(
    "LU",
    program("lu", lambda a: jsl.lu(dominant(a)), f32(5, 5), roundings=64),
    program("lu_factor of a batch", lambda a: jax.vmap(jsl.lu_factor)(a), f32(3, 4, 4), roundings=64),
    program("wide and tall", lambda a: (lax.linalg.lu(a), lax.linalg.lu(a.T)), f32(3, 6), roundings=64),
    program(
        "lu_solve", lambda a, b: jsl.lu_solve(jsl.lu_factor(dominant(a)), b, trans=1), f32(5, 5), f32(5), roundings=64
    ),
    program(
        "gradient", jax.grad(lambda a: jnp.sum(jsl.lu(dominant(a), permute_l=True)[1] ** 2)), f32(4, 4), roundings=128
    ),
)

kind(
    "QR",
    program("reduced", lambda a: jnp.linalg.qr(a), f32(6, 4), roundings=64),
    program("complete", lambda a: jnp.linalg.qr(a, mode="complete"), f32(6, 4), roundings=64),
    program("wide", lambda a: jnp.linalg.qr(a), f32(3, 5), roundings=64),
    program("r only, batch", lambda a: jnp.linalg.qr(a, mode="r"), f32(2, 5, 3), roundings=64),
    program("raw", lambda a: jnp.linalg.qr(a, mode="raw"), f32(5, 3), roundings=64),
    program("complex", lambda a: jnp.linalg.qr(a), c64(5, 3), roundings=64),
    program("gradient", jax.grad(lambda a: jnp.sum(jnp.linalg.qr(a)[1] ** 3)), f32(5, 3), roundings=256),
    program("lstsq", lambda a, b: jnp.linalg.lstsq(a, b)[0], f32(8, 3), f32(8), roundings=256),
    program("pivoted", lambda a: jsl.qr(a, pivoting=True, mode="economic"), f32(6, 4), roundings=64),
    program(
        "householder product",
        lambda a, t: lax.linalg.householder_product(jnp.tril(a, -1) + jnp.eye(5, 3), t),
        f32(5, 3),
        f32(3),
        roundings=64,
    ),
)

kind(
    "eigenvalues",
    program("eigvalsh", lambda a: jnp.linalg.eigvalsh(symmetric(a)), f32(6, 6), roundings=64),
    program(
        "eigh rebuilds",
        lambda a: (lambda w, v: (w, (v * w) @ v.T, v.T @ v))(*jnp.linalg.eigh(symmetric(a))),
        f32(5, 5),
        roundings=64,
    ),
    program(
        "eigh of a batch, upper",
        lambda a: jnp.abs(jnp.linalg.eigh(a, UPLO="U", symmetrize_input=False)[1]),
        f32(2, 4, 4),
        roundings=256,
    ),
    program(
        "complex eigh",
        lambda a: (lambda w, v: (w, (v * w) @ v.conj().T))(*jnp.linalg.eigh(symmetric(a))),
        c64(4, 4),
        roundings=64,
    ),
    program(
        "gradient of eigvalsh",
        jax.grad(lambda a: jnp.sum(jnp.linalg.eigvalsh(symmetric(a)) ** 3)),
        f32(5, 5),
        roundings=256,
    ),
    program("eig", lambda a: jnp.sort(jnp.abs(jnp.linalg.eig(a)[0])), f32(5, 5), roundings=256),
    program("eigvals", lambda a: jnp.sort(jnp.abs(jnp.linalg.eigvals(a))), c64(5, 5), roundings=256),
    program("eig in double", lambda a: jnp.sort(jnp.linalg.eig(a)[0].real), f64(5, 5), roundings=1024, x64=True),
    program(
        "tridiagonal eigenvalues",
        lambda d, e: jsl.eigh_tridiagonal(d, e, eigvals_only=True),
        f32(6),
        f32(5),
        roundings=64,
    ),
    program(
        "schur",
        lambda a: (lambda t, z: (jnp.abs(jnp.diag(t)), z @ t @ z.T))(*jsl.schur(symmetric(a))),
        f32(4, 4),
        roundings=256,
    ),
    program(
        "hessenberg",
        lambda a: (lambda h, q: (h, q @ h @ q.T))(*jsl.hessenberg(a, calc_q=True)),
        f32(5, 5),
        roundings=128,
    ),
)

kind(
    "SVD",
    program("singular values", lambda a: jnp.linalg.svd(a, compute_uv=False), f32(6, 4), roundings=64),
    program(
        "rebuilds",
        lambda a: (lambda u, s, v: (s, (u * s) @ v))(*jnp.linalg.svd(a, full_matrices=False)),
        f32(5, 3),
        roundings=64,
    ),
    program("full, wide, batch", lambda a: [jnp.abs(x) for x in jnp.linalg.svd(a)[1:2]], f32(2, 3, 5), roundings=64),
    program(
        "complex",
        lambda a: (lambda u, s, v: (u * s) @ v)(*jnp.linalg.svd(a, full_matrices=False)),
        c64(4, 3),
        roundings=64,
    ),
    program(
        "gradient", jax.grad(lambda a: jnp.sum(jnp.linalg.svd(a, compute_uv=False) ** 3)), f32(4, 3), roundings=256
    ),
    program(
        "norms, rank, condition",
        lambda a: (
            jnp.linalg.norm(a, 2),
            jnp.linalg.norm(a, "nuc"),
            jnp.linalg.norm(a, "fro"),
            jnp.linalg.matrix_rank(a),
            jnp.linalg.cond(dominant(a)),
        ),
        f32(4, 4),
        roundings=64,
    ),
    program("polar", lambda a: jsl.polar(a, method="svd"), f32(4, 3), roundings=128),
)

kind(
    "functions of matrices",
    program("expm", lambda a: jsl.expm(a), f32(4, 4), roundings=256),
    program("large expm", lambda a: jsl.expm(a * 8), f32(4, 4), roundings=4096),
    program("gradient of expm", jax.grad(lambda a: jnp.sum(jsl.expm(a))), f32(3, 3), roundings=256),
    program("sqrtm", lambda a: jsl.sqrtm(definite(a)), f32(3, 3), roundings=1024),
    program("funm", lambda a: jsl.funm(definite(a), jnp.log, disp=False)[0], f32(3, 3), roundings=1024),
    program(
        "toeplitz and friends", lambda x: (jsl.toeplitz(x), jsl.hilbert(4), jsl.block_diag(x[None], x[:, None])), f32(4)
    ),
    program(
        "sylvester",
        lambda a, b, c: jsl.solve_sylvester(dominant(a), dominant(b), c),
        f32(3, 3),
        f32(2, 2),
        f32(3, 2),
        roundings=1024,
    ),
)

kind(
    "iterative solvers",
    program(
        "conjugate gradients",
        lambda a, b: sparse.cg(lambda x: definite(a) @ x, b)[0],
        f32(5, 5),
        f32(5),
        roundings=4096,
    ),
    program(
        "gmres", lambda a, b: sparse.gmres(lambda x: dominant(a) @ x, b, tol=1e-6)[0], f32(5, 5), f32(5), roundings=4096
    ),
    program(
        "bicgstab",
        lambda a, b: sparse.bicgstab(lambda x: dominant(a) @ x, b, tol=1e-6)[0],
        f32(5, 5),
        f32(5),
        roundings=4096,
    ),
    program(
        "power iteration",
        lambda a: lax.fori_loop(0, 60, lambda i, v: (lambda w: w / jnp.linalg.norm(w))(definite(a) @ v), jnp.ones(4)),
        f32(4, 4),
        roundings=512,
    ),
    program(
        "tridiagonal solve",
        lambda a, d, u, b: lax.linalg.tridiagonal_solve(a, d + 4, u, b),
        f32(6),
        f32(6),
        f32(6),
        f32(6, 2),
        roundings=64,
    ),
)

kind(
    "products and einsum",
    program(
        "einsum forms",
        lambda a, b: (
            jnp.einsum("ij,jk", a, b),
            jnp.einsum("ij,jk->ki", a, b),
            jnp.einsum("ij->", a),
            jnp.einsum("ii->i", a @ b),
        ),
        f32(4, 5),
        f32(5, 4),
        roundings=16,
    ),
    program(
        "einsum of three",
        lambda a, b, c: jnp.einsum("bij,bjk,kl->bil", a, b, c),
        f32(2, 3, 4),
        f32(2, 4, 5),
        f32(5, 2),
        roundings=32,
    ),
    program(
        "tensordot, kron, outer, vdot",
        lambda a, b: (jnp.tensordot(a, b, 2), jnp.kron(a[0], b[0]), jnp.outer(a, b), jnp.vdot(a, b), jnp.inner(a, a)),
        f32(3, 4),
        f32(3, 4),
        roundings=16,
    ),
    program(
        "precision",
        lambda a, b: [jnp.dot(a, b, precision=p) for p in ("default", "high", "highest")],
        f32(5, 6),
        f32(6, 7),
        roundings=16,
    ),
    program(
        "preferred type",
        lambda a, b: (lax.dot(a, b, preferred_element_type=jnp.float32), lax.dot(a, b)),
        typed("bfloat16", 5, 6),
        typed("bfloat16", 6, 7),
    ),
    program(
        "integers",
        lambda a, b: (a @ b, lax.dot(a, b, preferred_element_type=jnp.int32)),
        typed("int8", 5, 6, low=-9, high=9),
        typed("int8", 6, 7, low=-9, high=9),
    ),
    program(
        "dot_general",
        lambda a, b: lax.dot_general(a, b, (((3, 1), (0, 2)), ((0,), (3,)))),
        f32(2, 3, 4, 5),
        f32(5, 6, 3, 2),
        roundings=32,
    ),
    program(
        "cross, trace, multi_dot",
        lambda a, b: (jnp.cross(a, b), jnp.trace(a), jnp.linalg.multi_dot([a, b, a])),
        f32(3, 3),
        f32(3, 3),
        roundings=32,
    ),
    program(
        "ragged_dot",
        lambda a, b, n: lax.ragged_dot(a, b, n),
        f32(7, 3),
        f32(3, 3, 4),
        typed("int32", 3, low=1, high=3),
        roundings=16,
    ),
    program(
        "gradient of einsum",
        jax.grad(lambda a, b: jnp.sum(jnp.einsum("bqhd,bkhd->bhqk", a, b) ** 2), (0, 1)),
        f32(2, 3, 2, 4),
        f32(2, 5, 2, 4),
        roundings=32,
    ),
)
