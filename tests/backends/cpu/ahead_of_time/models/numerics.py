"""Simulations, estimation, linear algebra, signals and searches."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from .registry import f32, i32, model, typed


def f64(*shape: int, low: float = -1.0, high: float = 1.0) -> Any:
    return typed("float64", *shape, low=low, high=high)


@model(f32(8, 3), f32(8, 3), f32(8, low=0.5, high=1.5), rtol=1e-3, atol=1e-4)
def n_bodies(positions: Array, velocities: Array, masses: Array) -> Any:
    def force(x: Array) -> Array:
        offset = x[None] - x[:, None]
        return (offset * masses[None, :, None] * ((offset**2).sum(-1) + 0.1)[..., None] ** -1.5).sum(1)

    def step(_: Array, state: Any) -> Any:
        x, v = state
        v = v + 0.005 * force(x)
        x = x + 0.01 * v
        return x, v + 0.005 * force(x)

    return lax.fori_loop(0, 20, step, (positions, velocities))


@model(f32(16, 16, low=0.0, high=1.0))
def lattice_boltzmann(density: Array) -> Any:
    directions = np.array([[0, 0], [1, 0], [0, 1], [-1, 0], [0, -1], [1, 1], [-1, 1], [-1, -1], [1, -1]])
    share = jnp.array([4 / 9] + 4 * [1 / 9] + 4 * [1 / 36])

    def balance(rho: Array, u: Array) -> Array:
        along = jnp.einsum("kd,xyd->xyk", directions.astype(np.float32), u)
        return rho[..., None] * share * (1 + 3 * along + 4.5 * along**2 - 1.5 * (u**2).sum(-1)[..., None])

    def step(f: Array, _: Any) -> Any:
        f = jnp.stack([jnp.roll(f[..., k], tuple(directions[k]), (0, 1)) for k in range(9)], -1)
        rho = f.sum(-1)
        u = jnp.einsum("xyk,kd->xyd", f, directions.astype(np.float32)) / rho[..., None]
        return f + (balance(rho, u) - f) / 0.6, rho[8, 8]

    f, probe = lax.scan(step, balance(1 + 0.1 * density, jnp.zeros((16, 16, 2))), None, length=10)
    return f.sum(-1), probe


@model(f64(4), x64=True, rtol=1e-9, atol=1e-9)
def pendulum_with_adaptive_steps(start: Array) -> Any:
    def slope(y: Array) -> Array:
        a, b, p, q = y
        return jnp.stack([p, q, -jnp.sin(a) - 0.3 * (a - b), -jnp.sin(b) - 0.3 * (b - a)])

    def attempt(state: Any) -> Any:
        y, t, h, count = state
        k1 = slope(y)
        k2 = slope(y + h * k1 / 2)
        k3 = slope(y + h * 3 * k2 / 4)
        new = y + h * (2 * k1 + 3 * k2 + 4 * k3) / 9
        error = jnp.abs(h * (-5 * k1 / 72 + k2 / 12 + k3 / 9 - slope(new) / 8)).max()
        fits = error < 1e-6
        h = h * jnp.clip(0.9 * (1e-6 / (error + 1e-30)) ** (1 / 3), 0.2, 5)
        return jnp.where(fits, new, y), jnp.where(fits, t + state[2], t), h, count + 1

    return lax.while_loop(lambda s: (s[1] < 3) & (s[3] < 500), attempt, (start, 0.0, 0.1, 0))


@model(f32(12, 2), rtol=1e-3, atol=1e-4)
def kalman_filter(measured: Array) -> Any:
    move = jnp.eye(4) + 0.1 * jnp.eye(4, k=2)
    see, noise, drift = jnp.eye(2, 4), 0.1 * jnp.eye(2), 0.01 * jnp.eye(4)

    def step(state: Any, z: Array) -> Any:
        x, p = move @ state[0], move @ state[1] @ move.T + drift
        factor = jax.scipy.linalg.cho_factor(see @ p @ see.T + noise)
        gain = jax.scipy.linalg.cho_solve(factor, see @ p).T
        x = x + gain @ (z - see @ x)
        p = (jnp.eye(4) - gain @ see) @ p
        return (x, p), (x, jnp.trace(p))

    return lax.scan(step, (jnp.zeros(4), jnp.eye(4)), measured)


@model(f64(20, 2), f64(20), f64(6, 2), x64=True, rtol=1e-8, atol=1e-8)
def gaussian_process(x: Array, y: Array, at: Array) -> Any:
    def kernel(a: Array, b: Array) -> Array:
        return jnp.exp(-((a[:, None] - b[None]) ** 2).sum(-1))

    factor = jnp.linalg.cholesky(kernel(x, x) + 0.1 * jnp.eye(20))
    weight = jax.scipy.linalg.solve_triangular(factor, y, lower=True)
    across = jax.scipy.linalg.solve_triangular(factor, kernel(x, at), lower=True)
    evidence = -0.5 * weight @ weight - jnp.log(jnp.diag(factor)).sum()
    return across.T @ weight, kernel(at, at) - across.T @ across, evidence


@model(f32(30, 6), rtol=1e-3, atol=1e-3)
def principal_components(x: Array) -> Any:
    centered = x - x.mean(0)
    values, vectors = jnp.linalg.eigh(centered.T @ centered / 29)
    singular = jnp.linalg.svd(centered, compute_uv=False)
    return values, jnp.abs(vectors), singular, jnp.abs(centered @ vectors[:, -2:])


@model(f32(5, 5), f32(5, 3), f32(9, 4), f32(9), rtol=1e-3, atol=1e-3)
def linear_algebra(a: Array, b: Array, tall: Array, right: Array) -> Any:
    a = a + 3 * jnp.eye(5)
    q, r = jnp.linalg.qr(tall)
    sign, log = jnp.linalg.slogdet(a)
    return jnp.linalg.solve(a, b), jnp.linalg.inv(a), sign, log, jnp.abs(r), q @ r, jnp.linalg.lstsq(tall, right)[0]


@model(f32(4, 4), rtol=1e-4, atol=1e-4)
def matrix_exponential(a: Array) -> Any:
    return jax.scipy.linalg.expm(a), jnp.linalg.matrix_power(a, 5), jnp.kron(a, a)


@model(f32(12, 12), f32(12), rtol=1e-3, atol=1e-3)
def conjugate_gradient(a: Array, b: Array) -> Any:
    return jax.scipy.sparse.linalg.cg(a @ a.T + 4 * jnp.eye(12), b, maxiter=25)[0]


@model(f32(16, 24), f32(5, 5), rtol=1e-3, atol=1e-4)
def convolution_by_fourier(image: Array, kernel: Array) -> Any:
    padded = jnp.zeros((16, 24)).at[:5, :5].set(kernel)
    smooth = jnp.fft.irfft2(jnp.fft.rfft2(image) * jnp.fft.rfft2(padded), (16, 24))
    waves = jnp.fft.fftfreq(16)[:, None] ** 2 + jnp.fft.fftfreq(24) ** 2
    poisson = jnp.fft.ifft2(jnp.where(waves > 0, jnp.fft.fft2(image) / (waves + 1e-9), 0)).real
    return smooth, poisson, jnp.fft.fftshift(jnp.abs(jnp.fft.fftn(image[:15, :21])))


@model(f32(60, 2), i32(4, high=60))
def k_means(points: Array, first: Array) -> Any:
    def step(state: Any) -> Any:
        centers, _, count = state
        nearest = ((points[:, None] - centers) ** 2).sum(-1).argmin(1)
        total = jnp.zeros((4, 2)).at[nearest].add(points)
        number = jnp.zeros(4).at[nearest].add(1.0)
        new = jnp.where(number[:, None] > 0, total / jnp.maximum(number, 1)[:, None], centers)
        return new, jnp.abs(new - centers).max(), count + 1

    start = points[:4] + 0 * first[:, None]
    return lax.while_loop(lambda s: (s[1] > 1e-6) & (s[2] < 30), step, (start, jnp.inf, 0))


@model(f32(50, 4), f32(6, 4), i32(50, high=3))
def nearest_neighbours(known: Array, asked: Array, labels: Array) -> Any:
    distance = ((asked[:, None] - known) ** 2).sum(-1)
    least, place = lax.top_k(-distance, 7)
    votes = jax.nn.one_hot(labels[place], 3).sum(1)
    return votes.argmax(1), -least, place


@model(f32(100), i32(100, high=12), f32(3, 31))
def order_statistics(x: Array, groups: Array, rows: Array) -> Any:
    edges = jnp.linspace(-1, 1, 9)
    order = jnp.lexsort((x, groups))
    return (
        jnp.median(rows, 1), jnp.percentile(x, jnp.array([5.0, 50.0, 95.0])), jnp.histogram(x, edges)[0],
        jnp.searchsorted(jnp.sort(x), edges), jnp.bincount(groups, length=12), groups[order], x[order],
        jnp.unique(groups, size=12, fill_value=-1), jnp.cumsum(rows, 1), lax.cummax(rows, 1), jnp.digitize(x, edges),
    )  # fmt: skip


@model(typed("uint8", 16, 16, low=0, high=2))
def game_of_life(board: Array) -> Any:
    def step(board: Array, _: Any) -> Any:
        around = sum(jnp.roll(board, (dy, dx), (0, 1)) for dy in (-1, 0, 1) for dx in (-1, 0, 1)) - board
        board = ((around == 3) | ((around == 2) & (board == 1))).astype(jnp.uint8)
        return board, board.sum(dtype=jnp.int32)

    return lax.scan(step, board, None, length=12)


@model(typed("uint8", 40, low=0, high=256))
def checksums(data: Array) -> Any:
    def crc(state: Array, byte: Array) -> Any:
        def bit(_: Array, c: Array) -> Array:
            return jnp.where(c & 1, (c >> 1) ^ jnp.uint32(0xEDB88320), c >> 1)

        return lax.fori_loop(0, 8, bit, state ^ byte), None

    def fnv(state: Array, byte: Array) -> Any:
        return (state ^ byte) * jnp.uint32(16777619), None

    wide = data.astype(jnp.uint32)
    return ~lax.scan(crc, jnp.uint32(0xFFFFFFFF), wide)[0], lax.scan(fnv, jnp.uint32(2166136261), wide)[0]


@model(typed("uint32", 2, low=0, high=2**32), rtol=1e-3, atol=1e-3)
def hamiltonian_sampler(key: Array) -> Any:
    def energy(q: Array) -> Array:
        return (100 * (q[1:] - q[:-1] ** 2) ** 2 / 50 + (1 - q[:-1]) ** 2).sum()

    def sample(state: Any, key: Array) -> Any:
        q = state
        first, second = jax.random.split(key)
        p = jax.random.normal(first, q.shape)

        def leap(_: Array, s: Any) -> Any:
            q, p = s
            p = p - 0.01 * jax.grad(energy)(q)
            q = q + 0.02 * p
            return q, p - 0.01 * jax.grad(energy)(q)

        new, end = lax.fori_loop(0, 5, leap, (q, p))
        change = energy(q) + 0.5 * p @ p - energy(new) - 0.5 * end @ end
        q = jnp.where(jnp.log(jax.random.uniform(second)) < change, new, q)
        return q, q

    return lax.scan(sample, jnp.zeros(4), jax.random.split(key, 8))[1]


@model(typed("uint32", 2, low=0, high=2**32))
def random_numbers(key: Array) -> Any:
    keys = jax.random.split(key, 7)
    return (
        jax.random.permutation(keys[0], 20), jax.random.choice(keys[1], 30, (10,), replace=False),
        jax.random.gamma(keys[2], 2.5, (6,)), jax.random.poisson(keys[3], 4.0, (6,)),
        jax.random.truncated_normal(keys[4], -1, 2, (6,)), jax.random.bernoulli(keys[5], 0.3, (20,)),
        jax.random.dirichlet(keys[6], jnp.array([1.0, 2.0, 3.0])),
    )  # fmt: skip


@model(f64(16, low=50.0, high=150.0), f64(16, low=0.1, high=0.5), x64=True, rtol=1e-10, atol=1e-10)
def option_prices(spot: Array, volatility: Array) -> Any:
    def price(s: Array, v: Array) -> Array:
        d = (jnp.log(s / 100) + (0.02 + v * v / 2)) / v
        return s * jax.scipy.stats.norm.cdf(d) - 100 * jnp.exp(-0.02) * jax.scipy.stats.norm.cdf(d - v)

    greeks = [jax.vmap(jax.grad(price, argnums=n))(spot, volatility) for n in (0, 1)]
    return price(spot, volatility), *greeks, jax.vmap(jax.grad(jax.grad(price)))(spot, volatility)


@model(i32(12, high=4), i32(10, high=4))
def edit_distance(a: Array, b: Array) -> Any:
    def row(before: Array, letter: Array) -> Any:
        def cell(left: Array, inputs: Any) -> Any:
            up, corner, other = inputs
            best = jnp.minimum(jnp.minimum(left, up) + 1, corner + (letter != other))
            return best, best

        first = before[0] + 1
        rest = lax.scan(cell, first, (before[1:], before[:-1], b))[1]
        return jnp.concatenate([first[None], rest]), None

    return lax.scan(row, jnp.arange(11), a)[0]


@model(typed("complex64", 12, 12))
def mandelbrot(c: Array) -> Any:
    def step(state: Any) -> Any:
        z, count, n = state
        inside = jnp.abs(z) < 2
        return jnp.where(inside, z * z + c, z), count + inside, n + 1

    _z, count, _ = lax.while_loop(lambda s: s[2] < 25, step, (jnp.zeros_like(c), jnp.zeros(c.shape, jnp.int32), 0))
    return count, jnp.abs(jnp.exp(c)), jnp.angle(c), jnp.sqrt(c)


@model(f32(8, 10), f32(8), f32(10))
def optimal_transport(cost: Array, a: Array, b: Array) -> Any:
    log_a, log_b = jax.nn.log_softmax(a), jax.nn.log_softmax(b)

    def step(_: Array, state: Any) -> Any:
        f, _g = state
        g = log_b - jax.nn.logsumexp(f[:, None] - cost / 0.2, axis=0)
        return log_a - jax.nn.logsumexp(g[None] - cost / 0.2, axis=1), g

    f, g = lax.fori_loop(0, 20, step, (jnp.zeros(8), jnp.zeros(10)))
    plan = jnp.exp(f[:, None] + g[None] - cost / 0.2)
    ordered = jnp.sort(a)[::-1]
    theta = (jnp.cumsum(ordered) - 1) / jnp.arange(1, 9)
    return plan, jnp.maximum(a - theta[(ordered > theta).sum() - 1], 0)


@model(f32(5), f32(2), atol=1e-4)
def robot_arm(angles: Array, goal: Array) -> Any:
    """Newton's steps amplify roundings: random ones of half an ulp in each operation move results by up to 4.5e-5."""

    def tip(q: Array) -> Array:
        total = jnp.cumsum(q)
        return jnp.stack([jnp.cos(total).sum(), jnp.sin(total).sum()])

    def step(q: Array, _: Any) -> Any:
        j = jax.jacfwd(tip)(q)
        return q + j.T @ jnp.linalg.solve(j @ j.T + 0.1 * jnp.eye(2), goal - tip(q)), tip(q)

    return lax.scan(step, angles, None, length=8)


@model(f32(16, 6), i32(7, 15, high=6), f32(7, 15), f32(7, 16))
def tree_ensemble(x: Array, features: Array, limits: Array, leaves: Array) -> Any:
    def of_tree(row: Array, feature: Array, limit: Array, leaf: Array) -> Array:
        def down(_: Array, node: Array) -> Array:
            return 2 * node + 1 + (row[feature[node]] > limit[node])

        return leaf[lax.fori_loop(0, 4, down, 0) - 15]

    trees = jax.vmap(of_tree, (None, 0, 0, 0))
    return jax.vmap(lambda row: trees(row, features, limits, leaves).sum())(x)


@model(f32(20, 20, low=0.0, high=1.0), rtol=1e-3, atol=1e-4)
def image_processing(image: Array) -> Any:
    blur = jnp.exp(-(jnp.arange(-2.0, 3.0) ** 2))
    smooth = jax.scipy.signal.convolve2d(image, jnp.outer(blur, blur) / blur.sum() ** 2, mode="same")
    gy, gx = jnp.gradient(smooth)
    strength = jnp.hypot(gx, gy)
    y, x = jnp.mgrid[:20, :20].astype(jnp.float32) - 9.5
    turned = [0.9 * y - 0.4 * x + 9.5, 0.4 * y + 0.9 * x + 9.5]
    warped = jax.scipy.ndimage.map_coordinates(image, turned, order=1, mode="nearest")
    largest = lax.reduce_window(strength, -jnp.inf, lax.max, (3, 3), (1, 1), "SAME")
    return smooth, jnp.arctan2(gy, gx) * (strength == largest), warped, jnp.cumsum(jnp.cumsum(image, 0), 1)


@model(f32(6, 16), rtol=2e-2, atol=2e-2)
def narrow_types(x: Array) -> Any:
    weights = np.random.default_rng(5).integers(-8, 8, (16, 8)).astype(np.int8)
    packed = jnp.asarray(weights).astype(jnp.int4)
    eight = x.astype(jnp.float8_e4m3fn).astype(jnp.float32)
    half = (x.astype(jnp.float16) @ packed.astype(jnp.float16)).astype(jnp.float32)
    return eight @ packed.astype(jnp.float32), half, x.astype(jnp.float8_e5m2).astype(jnp.bfloat16)


@model(f32(24, low=0.2, high=3.0), rtol=1e-3, atol=1e-5)
def special_functions(x: Array) -> Any:
    special = jax.scipy.special
    return (
        special.i0e(x), special.i1(x), special.gammainc(x, 1.3), special.gammaincc(1.7, x), special.digamma(x),
        special.betainc(1.2, x, 0.4), special.ndtri(x / 4), special.polygamma(1, x), special.erfinv(x / 4),
        special.gammaln(x), special.zeta(x + 1.5, 2.0), special.expi(x), special.logit(x / 4), special.xlogy(x, x),
    )  # fmt: skip


@model(f32(12, 12, low=0.1, high=2.0))
def shortest_paths(distance: Array) -> Any:
    def through(k: Array, d: Array) -> Array:
        return jnp.minimum(d, d[:, k][:, None] + d[k])

    return lax.fori_loop(0, 12, through, distance * (1 - jnp.eye(12)))


@model(f32(3, low=0.1, high=0.5), rtol=1e-3, atol=1e-4)
def epidemic(rates: Array) -> Any:
    from jax.experimental.ode import odeint

    def slope(y: Array, t: Array, rates: Array) -> Array:
        s, i, _ = y
        new, healed = rates[0] * 4 * s * i, rates[1] * i
        return jnp.stack([-new, new - healed, healed])

    start = jnp.array([0.99, 0.01, 0.0])
    return odeint(slope, start, jnp.linspace(0.0, 10.0, 6), rates)


@model(f32(64))
def wavelets_and_filters(x: Array) -> Any:
    bands = []
    low = x
    for _ in range(4):
        even, odd = low[::2], low[1::2]
        bands.append((even - odd) / jnp.sqrt(2.0))
        low = (even + odd) / jnp.sqrt(2.0)

    def biquad(state: Array, x: Array) -> Any:
        y = 0.2 * x + 0.3 * state[0] - 0.1 * state[1]
        return jnp.stack([y, state[0]]), y

    return *bands, low, lax.scan(biquad, jnp.zeros(2), x)[1], jnp.convolve(x, jnp.hanning(7), mode="valid")


@model(f32(4, 3), f32(4), rtol=1e-3, atol=1e-4)
def newton_with_hessian(x: Array, y: Array) -> Any:
    def loss(w: Array) -> Array:
        return jnp.logaddexp(0.0, -jnp.sign(y) * (x @ w)).sum() + 0.1 * w @ w

    def step(w: Array, _: Any) -> Any:
        slope, curve = jax.grad(loss)(w), jax.hessian(loss)(w)
        return w - jax.scipy.linalg.solve(curve, slope, assume_a="pos"), loss(w)

    return lax.scan(step, jnp.zeros(3), None, length=6)


@model(i32(9, low=-20, high=20), typed("int64", 9, low=-(2**40), high=2**40), x64=True)
def whole_numbers(small: Array, large: Array) -> Any:
    def step(pair: Any) -> Any:
        a, b = pair
        return jnp.where(b != 0, b, a), jnp.where(b != 0, lax.rem(a, jnp.where(b == 0, 1, b)), 0)

    start = (jnp.abs(large), jnp.abs(small).astype(jnp.int64) + 1)
    gcd = lax.while_loop(lambda pair: (pair[1] != 0).any(), step, start)
    bits = lax.population_count(large), lax.clz(large), large >> 3, lax.shift_right_logical(large, jnp.int64(5))
    return gcd[0], *bits, large // (small + 21), large % (small + 21), jnp.sort(large), small.astype(jnp.uint8)
