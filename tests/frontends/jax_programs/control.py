"""Loops, branches, scans, recurrent networks."""

from __future__ import annotations

import jax
import jax.experimental.ode
import jax.numpy as jnp
from jax import lax

from tests.frontends.jax_programs.table import boolean, c64, f32, i32, kind, program, typed

kind(
    "scan",
    program("running sum", lambda x: lax.scan(lambda c, x: (c + x, c), 0.0, x), f32(12)),
    program(
        "reverse, no input", lambda x: lax.scan(lambda c, _: (c * 0.5, c + 1), x, None, length=5, reverse=True), f32(3)
    ),
    program("unrolled", lambda x: lax.scan(lambda c, x: (c * x, c + x), 1.0, x, unroll=4), f32(10)),
    program("fully unrolled", lambda x: lax.scan(lambda c, x: (c * x, c + x), 1.0, x, unroll=True), f32(6)),
    program(
        "gradient", jax.grad(lambda x: lax.scan(lambda c, x: (jnp.sin(c + x), c), 0.5, x)[0]), f32(12), roundings=16
    ),
    program("nested", lambda x: lax.scan(lambda c, r: lax.scan(lambda d, v: (d + v, d * v), c, r), 0.0, x), f32(4, 5)),
    program(
        "tuples",
        lambda x, n: lax.scan(lambda c, p: ((c[0] + p[0], c[1] * 3 % 7), (c, p[1])), (0.0, jnp.int32(1)), (x, n)),
        f32(6),
        i32(6),
    ),
    program("jvp of scan", lambda x: jax.jvp(lambda x: lax.scan(lambda c, v: (c * v, c), 1.0, x), (x,), (x,)), f32(6)),
    program("vmap of scan", jax.vmap(lambda x: lax.scan(lambda c, v: (c + v, c), 0.0, x)), f32(3, 6)),
    program("no steps", lambda x: lax.scan(lambda c, v: (c + v.sum(), c), 1.0, x), f32(0, 3)),
    program("lax.map", lambda x: lax.map(lambda r: jnp.sum(r) * r, x), f32(4, 5)),
    program("lax.map in batches", lambda x: lax.map(lambda r: jnp.sum(r) * r, x, batch_size=3), f32(7, 5)),
)

kind(
    "while_loop and fori_loop",
    program(
        "while",
        lambda x: lax.while_loop(lambda c: c[1] < 100, lambda c: (c[0] + 1, c[1] * 2), (0, x)),
        f32(low=1, high=2),
    ),
    program("fori", lambda x: lax.fori_loop(0, 10, lambda i, c: c + i * x, x), f32(5), roundings=16),
    program(
        "fori with a traced bound",
        lambda n, x: lax.fori_loop(0, n, lambda i, c: c * x[i], 1.0),
        i32(low=3, high=6),
        f32(9),
    ),
    program(
        "collatz",
        jax.vmap(
            lambda n: lax.while_loop(
                lambda c: c[0] > 1, lambda c: (jnp.where(c[0] % 2, 3 * c[0] + 1, c[0] // 2), c[1] + 1), (n, 0)
            )[1]
        ),
        i32(9, low=1, high=99),
    ),
    program(
        "newton",
        lambda a: lax.while_loop(lambda x: jnp.abs(x * x - a) > 1e-5, lambda x: 0.5 * (x + a / x), a),
        f32(low=2, high=9),
    ),
    program(
        "jvp of while",
        lambda x: jax.jvp(lambda x: lax.while_loop(lambda c: c < 10, lambda c: c * 2.5, x), (x,), (1.0,)),
        f32(low=1, high=2),
    ),
    program(
        "gradient of a static fori",
        jax.grad(lambda x: lax.fori_loop(0, 5, lambda i, c: jnp.sin(c) * x, x)),
        f32(),
        roundings=32,
    ),
    program(
        "a body that is never run",
        lambda x: lax.while_loop(lambda c: c[0] < 0, lambda c: (c[0] - 1, c[1] * 2), (0, x)),
        f32(3),
    ),
    program("arrays carried", lambda x: lax.fori_loop(0, 6, lambda i, a: a.at[i].set(a[i - 1] + a[i]), x), f32(6)),
)

kind(
    "cond and switch",
    program("cond", lambda p, x: lax.cond(p, lambda x: x * 2, lambda x: x - 1, x), boolean(), f32(4)),
    program("switch", lambda i, x: lax.switch(i, [jnp.sin, jnp.cos, jnp.tan, jnp.exp], x), i32(low=0, high=4), f32(4)),
    program(
        "switch out of range",
        lambda x: [lax.switch(i, [jnp.sin, jnp.cos, jnp.exp], x) for i in (jnp.int32(-7), jnp.int32(9))],
        f32(4),
    ),
    program(
        "gradient of cond",
        jax.grad(lambda x, p: lax.cond(p, lambda x: jnp.sum(x**2), lambda x: jnp.sum(x**3), x)),
        f32(4),
        boolean(),
    ),
    program(
        "cond in scan",
        lambda x: lax.scan(lambda c, v: lax.cond(v > 0, lambda c: (c + v, c), lambda c: (c - v, -c), c), 0.0, x),
        f32(9),
    ),
    program(
        "different effects of branches",
        lambda p, x, y: lax.cond(p, lambda: (x, y), lambda: (y, x)),
        boolean(),
        f32(3),
        f32(3),
    ),
    program(
        "select",
        lambda i, x, y: (lax.select_n(i, x, y, x * y), jnp.select([x > 0, y > 0], [x, y], 7.0)),
        i32(5, high=3),
        f32(5),
        f32(5),
    ),
    program("piecewise", lambda x: jnp.piecewise(x, [x < -0.5, x > 0.5], [lambda x: -x, jnp.sin, 3.0]), f32(9)),
    program("platform_dependent", lambda x: lax.platform_dependent(x, cpu=jnp.sin, default=jnp.cos), f32(3)),
)

kind(
    "associative_scan",
    program("sums", lambda x: lax.associative_scan(jnp.add, x), f32(13), roundings=16),
    program("reverse", lambda x: lax.associative_scan(jnp.multiply, x, reverse=True, axis=1), f32(3, 7)),
    program("matrix products", lambda x: lax.associative_scan(jnp.matmul, x), f32(6, 3, 3), roundings=32),
    program(
        "linear recurrence",
        lambda a, b: lax.associative_scan(lambda a, b: (a[0] * b[0], b[0] * a[1] + b[1]), (a, b)),
        f32(9),
        f32(9),
        roundings=16,
    ),
    program(
        "gradient",
        jax.grad(lambda x: jnp.sum(lax.associative_scan(jnp.multiply, x) ** 2)),
        f32(9, low=0.5, high=1.5),
        roundings=64,
    ),
    program(
        "cumulative functions",
        lambda x: (lax.cumsum(x), lax.cumprod(x, 1), lax.cummax(x, reverse=True), lax.cummin(x), lax.cumlogsumexp(x)),
        f32(6, 5),
        roundings=16,
    ),
)


def rnn(params, x):
    w, u, b = params

    def step(h, x):
        h = jnp.tanh(x @ w + h @ u + b)
        return h, h

    return lax.scan(step, jnp.zeros((x.shape[1], u.shape[0])), x)


def lstm(w, u, b, x):
    def step(carry, x):
        h, c = carry
        i, f, g, o = jnp.split(x @ w + h @ u + b, 4, axis=-1)
        c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
        h = jax.nn.sigmoid(o) * jnp.tanh(c)
        return (h, c), h

    zero = jnp.zeros((x.shape[1], u.shape[0]))
    return lax.scan(step, (zero, zero), x)


def gru(w, u, x):
    def step(h, x):
        wr, wz, wn = jnp.split(x @ w, 3, axis=-1)
        ur, uz, un = jnp.split(h @ u, 3, axis=-1)
        r, z = jax.nn.sigmoid(wr + ur), jax.nn.sigmoid(wz + uz)
        h = (1 - z) * jnp.tanh(wn + r * un) + z * h
        return h, h

    return lax.scan(step, jnp.zeros((x.shape[1], u.shape[0])), x)


kind(
    "recurrent networks",
    program("RNN", lambda w, u, b, x: rnn((w, u, b), x), f32(3, 4), f32(4, 4), f32(4), f32(5, 2, 3), roundings=32),
    program(
        "gradient of an LSTM",
        jax.grad(lambda w, u, b, x: lstm(w, u, b, x)[0][0].sum(), (0, 1, 2)),
        f32(3, 16),
        f32(4, 16),
        f32(16),
        f32(5, 2, 3),
        roundings=32,
    ),
    program("GRU", gru, f32(3, 12), f32(4, 12), f32(5, 2, 3), roundings=32),
    program(
        "beam-like greedy loop",
        lambda w, t: lax.fori_loop(1, 8, lambda i, t: t.at[i].set(jnp.argmax(w[t[i - 1]]).astype(t.dtype)), t),
        f32(10, 10),
        i32(8),
    ),
)

kind(
    "ODE and fixed-step integration",
    program("runge-kutta", lambda y: lax.fori_loop(0, 20, lambda i, y: rk4(y, 0.05), y), f32(2), roundings=64),
    program(
        "odeint",
        lambda y: jax.experimental.ode.odeint(lambda y, t: -y + jnp.sin(t), y, jnp.linspace(0.0, 1.0, 5)),
        f32(2),
        roundings=2e3,
    ),
    program(
        "game of life", lambda g: lax.fori_loop(0, 5, lambda i, g: life(g), g), typed("int32", 9, 9, low=0, high=2)
    ),
    program(
        "mandelbrot",
        lambda c: lax.fori_loop(
            0,
            10,
            lambda i, s: (jnp.where(abs(s[0]) < 2, s[0] ** 2 + c, s[0]), s[1] + (abs(s[0]) < 2)),
            (c, jnp.zeros(c.shape, jnp.int32)),
        )[1],
        c64(5, 5),
    ),
)


def rk4(y, h):
    def f(y):
        return jnp.stack([y[1], -jnp.sin(y[0])])

    a = f(y)
    b = f(y + h / 2 * a)
    c = f(y + h / 2 * b)
    return y + h / 6 * (a + 2 * b + 2 * c + f(y + h * c))


def life(g):
    n = sum(jnp.roll(g, (i, j), (0, 1)) for i in (-1, 0, 1) for j in (-1, 0, 1)) - g
    return jnp.where((n == 3) | ((n == 2) & (g == 1)), 1, 0)
