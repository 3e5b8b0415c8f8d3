"""Signals, images, linear algebra, sparse matrices, searches, and networks written as loops over blocks."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from jax import Array, lax

from .networks import NHWC, weights
from .registry import f32, i32, model, typed


def u32(*shape: int) -> Any:
    return typed("uint32", *shape, low=0, high=2**32)


@model(f32(2, 12, 4), f32(1, 3, 3, 3, 2))
def vocoder_with_transposed_convolutions(x: Array, volume: Array) -> Any:
    def group_norm(x: Array, groups: int) -> Array:
        y = x.reshape(*x.shape[:-1], groups, -1)
        axes = (*range(1, x.ndim - 1), x.ndim)
        mean, var = y.mean(axes, keepdims=True), y.var(axes, keepdims=True)
        return ((y - mean) * lax.rsqrt(var + 1e-5)).reshape(x.shape)

    for n, stride in enumerate((4, 3)):
        kernel = weights(f"{n}.k", 2 * stride, x.shape[-1], 4)
        x = lax.conv_transpose(x, kernel, (stride,), "SAME", dimension_numbers=("NWC", "WIO", "NWC"))
        x = group_norm(jnp.sin(x) ** 2 + x, 2)
    v = lax.conv_transpose(
        volume,
        weights("v", 2, 3, 2, 2, 4),
        (2, 1, 2),
        "VALID",
        rhs_dilation=(1, 2, 1),
        dimension_numbers=("NDHWC", "DHWIO", "NDHWC"),
    )
    return x, group_norm(v, 2), jax.nn.celu(v).sum((1, 2, 3))


@model(f32(64), f32(3, 16), rtol=1e-3, atol=1e-4)
def cosine_transforms_and_spectrogram(x: Array, rows: Array) -> Any:
    spectrum = jax.scipy.fft.dct(rows, norm="ortho")
    _, _, z = jax.scipy.signal.stft(x, nperseg=16)
    _, back = jax.scipy.signal.istft(z, nperseg=16)
    welch = jax.scipy.signal.welch(x, nperseg=16)[1]
    analytic = jnp.fft.ifft(jnp.fft.fft(x) * jnp.where(jnp.arange(64) < 33, 2.0, 0.0))
    return (
        spectrum,
        jax.scipy.fft.idct(spectrum, norm="ortho"),
        z,
        back,
        welch,
        jnp.abs(analytic),
        jax.scipy.signal.detrend(x),
    )


@model(f32(6), typed("complex64", 8), rtol=1e-4, atol=1e-5)
def quantum_circuit(angles: Array, start: Array) -> Any:
    state = (start / jnp.linalg.norm(start)).reshape(2, 2, 2)
    for n, angle in enumerate(angles):
        gate = jnp.array([[jnp.cos(angle), -1j * jnp.sin(angle)], [-1j * jnp.sin(angle), jnp.cos(angle)]])
        state = jnp.moveaxis(jnp.tensordot(gate, state, ((1,), (n % 3,))), 0, n % 3)
        state = state.at[1, :, :].multiply(jnp.exp(1j * angle))
    flat = state.reshape(8)
    rho = jnp.outer(flat, flat.conj())
    return flat, rho, jnp.trace(rho), jnp.linalg.eigvalsh(rho), jnp.abs(flat) ** 2, jnp.vdot(start, flat)


@model(typed("int32", 40, low=0, high=4), i32(5, high=4), typed("uint8", 9, 9, low=0, high=2))
def searches_in_while_loops(text: Array, pattern: Array, maze: Array) -> Any:
    def found(i: Array) -> Array:
        return (lax.dynamic_slice(text, (i,), (5,)) == pattern).all()

    first = lax.while_loop(lambda i: (i < 36) & ~found(jnp.minimum(i, 35)), lambda i: i + 1, 0)
    ordered = jnp.sort(text)

    def halve(s: Any) -> Any:
        low, high = s
        middle = (low + high) // 2
        return lax.cond(ordered[middle] < pattern[0], lambda: (middle + 1, high), lambda: (low, middle))

    place = lax.while_loop(lambda s: s[0] < s[1], halve, (0, 40))[0]
    walls = (maze == 1).at[0, 0].set(False)

    def flood(s: Any) -> Any:
        d, _ = s
        around = jnp.full((11, 11), 127, jnp.int8).at[1:-1, 1:-1].set(d)
        best = jnp.minimum(
            jnp.minimum(around[:-2, 1:-1], around[2:, 1:-1]), jnp.minimum(around[1:-1, :-2], around[1:-1, 2:])
        )
        new = jnp.where(walls, 127, jnp.minimum(d, jnp.where(best < 127, best + 1, 127)))
        return new, (new != d).any()

    start = jnp.full((9, 9), 127, jnp.int8).at[0, 0].set(0)

    def queen(s: Any) -> Any:
        q, row, count, steps = s
        column = q[row]
        rows = jnp.arange(6)
        bad = (((q == column) | (jnp.abs(q - column) == row - rows)) & (rows < row)).any() | (column >= 6)

        def back() -> Any:
            return lax.cond(
                column >= 6,
                lambda: (q.at[row].set(0).at[jnp.maximum(row - 1, 0)].add(1), row - 1, count),
                lambda: (q.at[row].add(1), row, count),
            )

        def on() -> Any:
            return lax.cond(
                row == 5, lambda: (q.at[row].add(1), row, count + 1), lambda: (q.at[row + 1].set(0), row + 1, count)
            )

        q, row, count = lax.cond(bad, back, on)
        return q, row, count, steps + 1

    queens = lax.while_loop(lambda s: (s[1] >= 0) & (s[3] < 5000), queen, (jnp.zeros(6, jnp.int32), 0, 0, 0))
    return first, place, lax.while_loop(lambda s: s[1], flood, (start, True))[0], queens[2:]


@model(f32(2, 4, 4), typed("complex64", 3, 3), f32(6, 4), f32(5), rtol=2e-3, atol=2e-3)
def decompositions(a: Array, z: Array, tall: Array, x: Array) -> Any:
    sym = a @ a.swapaxes(1, 2) + jnp.eye(4)
    lu, pivots, perm = lax.linalg.lu(a)
    u, s, vh = jnp.linalg.svd(tall, full_matrices=False)
    full_u = jnp.linalg.svd(tall)[0]
    herm = z @ z.conj().T
    zq, zr = jnp.linalg.qr(z)
    tri = lax.linalg.tridiagonal_solve(jnp.ones(5), 4 + x, jnp.ones(5), x[:, None])
    return (
        jnp.linalg.cholesky(sym),
        lu,
        pivots,
        perm,
        (u * s) @ vh,
        s,
        jnp.abs(full_u.T @ full_u),
        jnp.linalg.eigvalsh(herm),
        zq @ zr,
        jnp.linalg.pinv(tall),
        jnp.linalg.matrix_rank(tall),
        jnp.linalg.cond(tall),
        tri,
        jnp.linalg.det(a),
        jax.scipy.linalg.toeplitz(x),
        jax.scipy.linalg.polar(a[0])[1],
        jnp.linalg.norm(tall, 2),
        jnp.linalg.svd(z, compute_uv=False),
        jnp.linalg.inv(herm + jnp.eye(3)),
        jnp.linalg.solve(z, z.T),
        jax.scipy.linalg.lu_solve(jax.scipy.linalg.lu_factor(sym[1]), tall[:4, 0]),
        lax.linalg.triangular_solve(sym, a, left_side=False, transpose_a=True, unit_diagonal=True),
    )


@model(f32(30), i32(30, high=8), i32(30, high=6), f32(6, 3), f32(8))
def sparse_matrices(data: Array, rows: Array, columns: Array, dense_side: Array, left: Array) -> Any:
    from jax.experimental import sparse

    m = sparse.BCOO((data, jnp.stack([rows, columns], 1)), shape=(8, 6))
    seg = jax.ops
    return (
        m @ dense_side,
        left @ m,
        m.todense(),
        (m.T @ left[:, None]),
        seg.segment_min(data, rows, 8),
        seg.segment_prod(data, rows, 8),
        jnp.argsort(rows, descending=True),
        jax.ops.segment_sum((jnp.abs(data) > 0.5).astype(jnp.int8), columns, 6),
        m.sum_duplicates(nse=30).data.sum(),
        jnp.zeros((8, 6)).at[rows, columns].max(data),
        jnp.zeros((8, 6)).at[rows, columns].mul(data, mode="drop"),
    )


@model(u32(2), rtol=1e-3, atol=1e-4)
def more_random_numbers(key: Array) -> Any:
    keys = jax.random.split(key, 10)
    rbg = jax.random.wrap_key_data(jnp.concatenate([key, key]), impl="rbg")
    return (
        jax.random.randint(keys[0], (9,), -5, 200),
        jax.random.exponential(keys[1], (5,)),
        jax.random.beta(keys[2], 2.0, 3.0, (4,)),
        jax.random.laplace(keys[3], (5,)),
        jax.random.categorical(keys[4], jnp.arange(12.0).reshape(3, 4)),
        jax.random.gumbel(keys[5], (4,)),
        jax.random.multivariate_normal(keys[6], jnp.zeros(2), jnp.eye(2)),
        jax.random.bits(keys[7], (5,), jnp.uint8),
        jax.random.bits(keys[7], (5,), jnp.uint16),
        jax.random.normal(keys[8], (4,), jnp.bfloat16),
        jax.random.ball(keys[9], 3, shape=(2,)),
        jax.random.rademacher(keys[0], (7,)),
        jax.random.bits(rbg, (6,)),
        jax.random.uniform(rbg, (5,)),
        jax.random.key_data(jax.random.split(rbg, 2)),
        jax.random.orthogonal(keys[1], 3),
        jax.random.t(keys[2], 3.0, (4,)),
        jax.random.randint(keys[0], (4,), 0, 255, jnp.uint8),
        jax.random.permutation(keys[3], jnp.arange(12).reshape(4, 3), axis=1, independent=True),
    )


@model(f32(2, 8, 8, 4), f32(2, 10), rtol=1e-3, atol=1e-4)
def convolutional_training_step(images: Array, labels: Array) -> Any:
    params = {
        "a": weights("a", 3, 3, 2, 8),
        "b": weights("b", 3, 3, 1, 8),
        "c": weights("c", 128, 10),
        "g": jnp.ones(8),
    }

    def loss(p: Any) -> Any:
        x = lax.conv_general_dilated(images, p["a"], (1, 1), "SAME", feature_group_count=2, dimension_numbers=NHWC)
        mean, var = x.mean((0, 1, 2)), x.var((0, 1, 2))
        x = jax.nn.gelu((x - mean) * lax.rsqrt(var + 1e-5) * p["g"])
        x = lax.reduce_window(x, -jnp.inf, lax.max, (1, 3, 3, 1), (1, 2, 2, 1), "SAME")
        x = lax.conv_general_dilated(
            x, p["b"], (1, 1), "SAME", rhs_dilation=(2, 2), feature_group_count=8, dimension_numbers=NHWC
        )
        x = lax.reduce_window(x, 0.0, lax.add, (1, 1, 1, 2), (1, 1, 1, 2), "VALID")
        x = jnp.concatenate([x, x * x], -1).reshape(2, 128)
        return -(jax.nn.log_softmax(x @ p["c"]) * jax.nn.softmax(labels)).sum(), mean

    (value, mean), slopes = jax.value_and_grad(loss, has_aux=True)(params)
    return value, mean, slopes


@model(f32(2, 12, 2, 8), f32(2, 12, 2, 8), f32(2, 12, 2, 8), rtol=1e-3, atol=1e-4)
def flash_attention_by_blocks(q: Array, k: Array, v: Array) -> Any:
    def block(state: Any, n: Array) -> Any:
        top, total, out = state
        kb, vb = (lax.dynamic_slice_in_dim(a, n * 4, 4, 1) for a in (k, v))
        s = jnp.einsum("bqhd,bkhd->bhqk", q, kb) / 8**0.5
        place = n * 4 + jnp.arange(4)
        s = jnp.where(place <= jnp.arange(12)[:, None], s - 0.1 * (jnp.arange(12)[:, None] - place), -jnp.inf)
        new = jnp.maximum(top, s.max(-1))
        old = jnp.exp(top - new)
        p = jnp.exp(s - new[..., None])
        return (new, total * old + p.sum(-1), out * old[..., None] + jnp.einsum("bhqk,bkhd->bhqd", p, vb)), None

    start = (jnp.full((2, 2, 12), -1e30), jnp.zeros((2, 2, 12)), jnp.zeros((2, 2, 12, 8)))
    _, total, out = lax.scan(block, start, jnp.arange(3))[0]
    return (
        out / total[..., None],
        jax.nn.dot_product_attention(q, k, v, is_causal=True),
        jax.nn.dot_product_attention(q, k[:, :, :1], v[:, :, :1], local_window_size=3),
    )


@model(f32(16, 16), rtol=1e-3, atol=1e-4)
def multigrid(f: Array) -> Any:
    def smooth(u: Array, f: Array) -> Array:
        for parity in (0, 1):
            p = jnp.pad(u, 1)
            new = 0.25 * (p[:-2, 1:-1] + p[2:, 1:-1] + p[1:-1, :-2] + p[1:-1, 2:] + f)
            mask = (jnp.indices(u.shape).sum(0) % 2) == parity
            u = jnp.where(mask, new, u)
        return u

    def cycle(u: Array, f: Array) -> Array:
        u = smooth(u, f)
        if u.shape[0] > 2:
            p = jnp.pad(u, 1)
            r = f - (4 * u - p[:-2, 1:-1] - p[2:, 1:-1] - p[1:-1, :-2] - p[1:-1, 2:])
            coarse = lax.reduce_window(r, 0.0, lax.add, (2, 2), (2, 2), "VALID")
            e = cycle(jnp.zeros_like(coarse), coarse)
            u = u + jax.image.resize(e, u.shape, "linear")
            u = u.at[::2, 1::2].add(0.0).at[1::2].multiply(1.0)
        return smooth(u, f)

    return lax.fori_loop(0, 3, lambda _, u: cycle(u, f), jnp.zeros_like(f))


@model(f32(10), f32(7, low=0.0, high=9.0), rtol=1e-3, atol=1e-4)
def solvers_and_interpolation(y: Array, at: Array) -> Any:
    x = jnp.arange(10.0)
    root = lax.custom_root(
        lambda t: t**3 + t - y[0],
        0.5,
        lambda f, t: lax.fori_loop(0, 30, lambda _, t: t - f(t) / (3 * t * t + 1), t),
        lambda g, b: b / g(1.0),
    )
    solved = lax.custom_linear_solve(
        lambda v: 3 * v + jnp.roll(v, 1), y, lambda mv, b: jax.scipy.sparse.linalg.gmres(mv, b, maxiter=10)[0]
    )
    quad = jax.scipy.integrate.trapezoid(y, x)
    return (
        root,
        jax.grad(
            lambda s: lax.custom_root(
                lambda t: t**3 + t - s,
                0.5,
                lambda f, t: lax.fori_loop(0, 30, lambda _, t: t - f(t) / (3 * t * t + 1), t),
                lambda g, b: b / g(1.0),
            )
        )(y[1]),
        solved,
        jnp.interp(at, x, y),
        jnp.polyfit(x / 10, y, 3),
        quad,
        jnp.select([at < 2, at < 5], [at, at * at], -at),
        jnp.piecewise(at, [at < 3], [jnp.sin, jnp.cos]),
        jnp.convolve(y, at),
        jnp.correlate(y, at, "full"),
        jnp.trapezoid(y),
    )


@model(typed("uint8", 10, 12, 3, low=0, high=256), f32(2, 3), rtol=1e-3, atol=1e-3)
def camera_pipeline(raw: Array, move: Array) -> Any:
    x = raw.astype(jnp.float32) / 255
    linear = jnp.where(x <= 0.04045, x / 12.92, ((x + 0.055) / 1.055) ** 2.4)
    ycc = linear @ jnp.array([[0.299, -0.169, 0.5], [0.587, -0.331, -0.419], [0.114, 0.5, -0.081]])
    scaled = jax.image.scale_and_translate(
        ycc, (15, 7, 3), (0, 1), jnp.array([1.5, 0.6]), jnp.array([0.2, -0.1]), "lanczos3"
    )
    y, xx = jnp.mgrid[:10, :12]
    source = jnp.stack(
        [move[0, 0] + (1 + move[0, 1]) * y + move[0, 2] * xx, move[1, 0] + move[1, 1] * y + (1 + move[1, 2]) * xx]
    )
    warped = jnp.stack(
        [jax.scipy.ndimage.map_coordinates(linear[..., c], source, order=1, mode="reflect") for c in range(3)], -1
    )
    histogram = jnp.zeros((3, 8), jnp.int32).at[jnp.arange(3), (raw >> 5).astype(jnp.int32)].add(1)
    equal = jnp.cumsum(histogram, 1).astype(jnp.float32)[jnp.arange(3), raw >> 5] / 120
    median = jnp.median(jnp.stack([jnp.roll(raw, (a, b), (0, 1)) for a in (-1, 0, 1) for b in (-1, 0, 1)]), 0).astype(
        jnp.uint8
    )
    return (
        scaled,
        warped,
        histogram,
        equal,
        median,
        jnp.pad(raw, ((2, 1), (1, 2), (0, 0)), mode="reflect"),
        jnp.pad(raw, ((1, 1), (1, 1), (0, 0)), mode="edge"),
        raw[::-1, ::-1],
        (255 - raw),
        jnp.clip(raw.astype(jnp.int16) * 2 - 100, 0, 255).astype(jnp.uint8),
    )
