"""Training and inference of models, optimizers, and JAX's minimization functions."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import jax.scipy.optimize
from jax import lax

from tests.frontends.jax_programs.table import boolean, f32, i32, kind, program, typed


def mlp(params, x):
    for w, b in params[:-1]:
        x = jax.nn.relu(x @ w + b)
    w, b = params[-1]
    return x @ w + b


def cross_entropy(params, x, y):
    return -jnp.mean(jnp.sum(jax.nn.log_softmax(mlp(params, x)) * jax.nn.one_hot(y, 4), -1))


def sgd(w1, b1, w2, b2, x, y):
    params = [(w1, b1), (w2, b2)]
    value, grads = jax.value_and_grad(cross_entropy)(params, x, y)
    return value, jax.tree.map(lambda p, g: p - 0.1 * g, params, grads)


def adam(p, m, v, t, g, lr=1e-2, b1=0.9, b2=0.999):
    m, v, t = b1 * m + (1 - b1) * g, b2 * v + (1 - b2) * g * g, t + 1
    return p - lr * (m / (1 - b1**t)) / (jnp.sqrt(v / (1 - b2**t)) + 1e-8), m, v, t


PARAMETERS = (f32(6, 8), f32(8), f32(8, 4), f32(4), f32(5, 6), i32(5, high=4))

kind(
    "training steps",
    program("sgd", sgd, *PARAMETERS, roundings=64, donate=(0, 1, 2, 3)),
    program("adam", adam, f32(9), f32(9), f32(9, low=0, high=1), f32(low=1, high=5), f32(9), roundings=64),
    program(
        "momentum and clipping",
        lambda p, m, g: (lambda g: (p - 0.1 * (0.9 * m + g), 0.9 * m + g))(
            g * jnp.minimum(1.0, 0.5 / jnp.linalg.norm(g))
        ),
        f32(9),
        f32(9),
        f32(9),
        roundings=32,
    ),
    program(
        "rmsprop and adagrad",
        lambda p, s, g: (p - 0.1 * g / (jnp.sqrt(0.9 * s + 0.1 * g * g) + 1e-6), p - 0.1 * g / jnp.sqrt(s + g * g)),
        f32(9),
        f32(9, low=0.1, high=1),
        f32(9),
        roundings=64,
    ),
    program(
        "many steps in a loop",
        lambda w, x, y: lax.fori_loop(
            0, 20, lambda i, w: w - 0.1 * jax.grad(lambda w: jnp.mean((x @ w - y) ** 2))(w), w
        ),
        f32(4),
        f32(9, 4),
        f32(9),
        roundings=256,
    ),
    program(
        "label smoothing and weight decay",
        lambda w, x, y: jax.value_and_grad(
            lambda w: (
                -jnp.mean(jnp.sum((jax.nn.one_hot(y, 4) * 0.9 + 0.025) * jax.nn.log_softmax(x @ w), -1))
                + 1e-2 * jnp.sum(w**2)
            )
        )(w),
        f32(6, 4),
        f32(5, 6),
        i32(5, high=4),
        roundings=64,
    ),
    program(
        "gradient accumulation",
        lambda w, x: lax.scan(
            lambda g, x: (g + jax.grad(lambda w: jnp.sum(jnp.tanh(x @ w)))(w), None), jnp.zeros_like(w), x
        )[0],
        f32(4),
        f32(3, 5, 4),
        roundings=64,
    ),
    program(
        "bfgs",
        lambda x: (
            jax.scipy.optimize.minimize(lambda x: jnp.sum((x - 1) ** 2 * jnp.array([1.0, 2.0])), x, method="BFGS").x
        ),
        f32(2),
        roundings=1e4,
    ),
)


def layer_norm(x, g, b):
    m = x.mean(-1, keepdims=True)
    return (x - m) * lax.rsqrt(((x - m) ** 2).mean(-1, keepdims=True) + 1e-5) * g + b


def attention(q, k, v, mask=None):
    s = jnp.einsum("bqhd,bkhd->bhqk", q, k) / jnp.sqrt(jnp.float32(q.shape[-1]))
    if mask is not None:
        s = jnp.where(mask, s, -1e9)
    return jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(s), v)


def block(x, wqkv, wo, w1, w2, g, b):
    y = layer_norm(x, g, b)
    q, k, v = jnp.split((y @ wqkv).reshape(*x.shape[:2], 2, -1), 3, -1)
    causal = jnp.tril(jnp.ones((x.shape[1], x.shape[1]), bool))
    x = x + attention(q, k, v, causal).reshape(x.shape) @ wo
    return x + jax.nn.gelu(layer_norm(x, g, b) @ w1) @ w2


BLOCK = (f32(2, 5, 8), f32(8, 24), f32(8, 8), f32(8, 16), f32(16, 8), f32(8), f32(8))


def decode(prompt, keys, values, wq, wk, wv, wo, steps=4):
    """Greedy decoding with a key-value cache of a fixed size."""

    def step(carry, i):
        x, keys, values = carry
        at = 3 + i
        keys = lax.dynamic_update_slice(keys, (x @ wk)[None], (at, 0))
        values = lax.dynamic_update_slice(values, (x @ wv)[None], (at, 0))
        s = keys @ (x @ wq) / jnp.sqrt(8.0)
        p = jax.nn.softmax(jnp.where(jnp.arange(keys.shape[0]) <= at, s, -jnp.inf))
        logits = (p @ values) @ wo
        return (jnp.tanh(logits), keys, values), jnp.argmax(logits)

    return lax.scan(step, (prompt, keys, values), jnp.arange(steps))


def rotary(x):
    angle = jnp.arange(x.shape[0])[:, None] / 10000 ** (jnp.arange(x.shape[1] // 2) / (x.shape[1] // 2))
    a, b = jnp.split(x, 2, -1)
    return jnp.concatenate([a * jnp.cos(angle) - b * jnp.sin(angle), a * jnp.sin(angle) + b * jnp.cos(angle)], -1)


kind(
    "transformers",
    program("a block", block, *BLOCK, roundings=64),
    program(
        "gradient of a block", jax.grad(lambda *a: jnp.sum(block(*a) ** 2), tuple(range(7))), *BLOCK, roundings=256
    ),
    program(
        "decoding with a key-value cache",
        decode,
        f32(8),
        f32(9, 8),
        f32(9, 8),
        f32(8, 8),
        f32(8, 8),
        f32(8, 8),
        f32(8, 8),
        roundings=64,
    ),
    program(
        "dot_product_attention",
        lambda q, k, v: (jax.nn.dot_product_attention(q, k, v), jax.nn.dot_product_attention(q, k, v, is_causal=True)),
        f32(2, 5, 2, 4),
        f32(2, 6, 2, 4),
        f32(2, 6, 2, 4),
        roundings=32,
    ),
    program("rotary embedding", rotary, f32(6, 8), roundings=16),
    program(
        "grouped queries",
        lambda q, k, v: jax.nn.dot_product_attention(q, k, v),
        f32(2, 5, 4, 4),
        f32(2, 5, 2, 4),
        f32(2, 5, 2, 4),
        roundings=32,
    ),
    program(
        "mixture of experts",
        lambda x, g, w: (lambda p: jnp.einsum("te,ted->td", p, jnp.einsum("td,edf->tef", x, w)))(
            jax.nn.softmax(jnp.where((x @ g) >= lax.top_k(x @ g, 2)[0][:, -1:], x @ g, -jnp.inf))
        ),
        f32(6, 4),
        f32(4, 3),
        f32(3, 4, 5),
        roundings=64,
    ),
    program(
        "scan over layers with remat",
        jax.grad(lambda x, w: lax.scan(jax.checkpoint(lambda x, w: (x + jax.nn.gelu(x @ w), None)), x, w)[0].sum()),
        f32(4, 8),
        f32(3, 8, 8),
        roundings=64,
    ),
)

kind(
    "convolutional networks",
    program(
        "a residual block",
        lambda x, k: (
            x + jax.nn.relu(lax.conv_general_dilated(x, k, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")))
        ),
        f32(2, 6, 6, 4),
        f32(3, 3, 4, 4),
        roundings=32,
    ),
    program(
        "batch norm and its gradient",
        jax.value_and_grad(
            lambda x, g: jnp.sum(((x - x.mean((0, 1, 2))) * lax.rsqrt(x.var((0, 1, 2)) + 1e-5) * g) ** 3), (0, 1)
        ),
        f32(2, 4, 4, 3),
        f32(3),
        roundings=512,
    ),
    program(
        "autoencoder",
        jax.grad(lambda w, v, x: jnp.mean((jax.nn.sigmoid(jnp.tanh(x @ w) @ v) - x) ** 2), (0, 1)),
        f32(8, 3),
        f32(3, 8),
        f32(5, 8),
        roundings=64,
    ),
    program(
        "graph convolution",
        lambda x, s, r, w: jax.ops.segment_sum((x @ w)[s], r, 6),
        f32(6, 4),
        i32(9, high=6),
        i32(9, high=6),
        f32(4, 3),
        roundings=32,
    ),
)

kind(
    "classical algorithms",
    program(
        "kalman filter",
        lambda m, z: lax.scan(
            lambda c, z: (lambda k: ((c[0] + k * (z - c[0]), (1 - k) * c[1] + 0.1), c[0]))(c[1] / (c[1] + 0.5)),
            (m, 1.0),
            z,
        ),
        f32(),
        f32(9),
        roundings=32,
    ),
    program(
        "viterbi",
        lambda t, e: lax.scan(lambda s, e: (lambda x: (x.max(0) + e, x.argmax(0)))(s[:, None] + t), e[0], e[1:]),
        f32(4, 4),
        f32(7, 4),
    ),
    program(
        "k-means",
        lambda x, c: lax.fori_loop(
            0,
            5,
            lambda i, c: (lambda a: (a.T @ x) / (a.sum(0)[:, None] + 1e-6))(
                jax.nn.one_hot(jnp.argmin(((x[:, None] - c) ** 2).sum(-1), 1), 3)
            ),
            c,
        ),
        f32(20, 2),
        f32(3, 2),
        roundings=64,
    ),
    program(
        "gaussian process",
        lambda x, y: jnp.linalg.solve(jnp.exp(-((x[:, None] - x) ** 2)) + 0.1 * jnp.eye(8), y),
        f32(8),
        f32(8),
        roundings=512,
    ),
    program(
        "dynamic programming",
        lambda a, b: lax.scan(
            lambda row, x: (lambda new: (new, new[-1]))(
                lax.associative_scan(jnp.minimum, jnp.where(b == x, row, row + 1))
            ),
            jnp.arange(6.0),
            a,
        )[0],
        i32(5, high=3),
        i32(6, high=3),
    ),
    program(
        "hamiltonian step",
        lambda q, p: lax.fori_loop(
            0,
            10,
            lambda i, s: (lambda p: (s[0] + 0.1 * p, p))(s[1] - 0.1 * jax.grad(lambda q: jnp.sum(q**4 / 4))(s[0])),
            (q, p),
        ),
        f32(3),
        f32(3),
        roundings=128,
    ),
    program(
        "masked loss",
        lambda x, m: jnp.sum(jnp.where(m, x**2, 0)) / jnp.maximum(m.sum(), 1),
        f32(4, 5),
        boolean(4, 5),
        roundings=32,
    ),
    program(
        "quantize and dequantize",
        lambda x: (lambda q: (q, q.astype(jnp.float32) * 0.1))(
            jnp.clip(jnp.round(x / 0.1), -128, 127).astype(jnp.int8)
        ),
        f32(30, low=-20, high=20),
    ),
    program(
        "fixed-point in int16",
        lambda a, b: ((a.astype(jnp.int32) * b.astype(jnp.int32)) >> 8).astype(jnp.int16),
        typed("int16", 20, low=-999, high=999),
        typed("int16", 20, low=-999, high=999),
    ),
)
