"""Whole steps: loss, gradients and optimizer, with donated state; and decoding loops."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from jax import Array, lax

from .registry import f32, i32, program, typed, u32

Tree = Any


def _cross_entropy(logits: Array, labels: Array) -> Array:
    return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(logits), labels[:, None], axis=1))


@program(f32(8, 16), f32(16), f32(16, 4), f32(4), f32(6, 8), i32(6, high=4), donate=(0, 1, 2, 3))
def mlp_sgd_step(w1: Array, b1: Array, w2: Array, b2: Array, x: Array, labels: Array) -> Tree:
    def loss(parameters: tuple[Array, ...]) -> Array:
        w1, b1, w2, b2 = parameters
        return _cross_entropy(jax.nn.relu(x @ w1 + b1) @ w2 + b2, labels)

    parameters = (w1, b1, w2, b2)
    value, gradients = jax.value_and_grad(loss)(parameters)
    return jax.tree.map(lambda p, g: p - 0.1 * g, parameters, gradients), value


@program(
    f32(5, 3),
    f32(3),
    f32(5, 3, low=-0.1, high=0.1),
    f32(3, low=-0.1, high=0.1),
    f32(5, 3, low=0, high=0.1),
    f32(3, low=0, high=0.1),
    i32(low=1, high=9),
    f32(7, 5),
    i32(7, high=3),
    donate=(0, 1, 2, 3, 4, 5, 6),
)
def adam_step(
    w: Array, b: Array, mw: Array, mb: Array, vw: Array, vb: Array, step: Array, x: Array, labels: Array
) -> Tree:
    value, gradients = jax.value_and_grad(lambda p: _cross_entropy(x @ p[0] + p[1], labels))((w, b))
    step = step + 1
    time = step.astype(jnp.float32)
    means = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, (mw, mb), gradients)
    squares = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g * g, (vw, vb), gradients)
    rate = 1e-3 * jnp.sqrt(1 - 0.999**time) / (1 - 0.9**time)
    parameters = jax.tree.map(lambda p, m, v: p - rate * m / (jnp.sqrt(v) + 1e-8), (w, b), means, squares)
    return parameters, means, squares, step, value


@program(f32(6, 6), f32(6, 6), f32(4, 6, low=-9, high=9), f32(), donate=(0, 1))
def momentum_clip_decay_step(w: Array, velocity: Array, x: Array, learning_rate: Array) -> Tree:
    gradient = jax.grad(lambda w: jnp.sum((x @ w - jnp.flip(x, 1)) ** 2))(w)
    norm = jnp.sqrt(jnp.sum(gradient**2))
    gradient = gradient * jnp.minimum(1.0, 1.0 / norm) + 1e-2 * w
    velocity = 0.9 * velocity + gradient
    return w - learning_rate * velocity, velocity, norm


@program(f32(6, 8), f32(8, 8), f32(8, 4), f32(6, 4), rtol=2e-2, atol=2e-2, donate=(1, 2))
def mixed_precision_step(x: Array, w1: Array, w2: Array, target: Array) -> Tree:
    def loss(w1: Array, w2: Array) -> Array:
        hidden = jax.nn.relu(x.astype(jnp.bfloat16) @ w1.astype(jnp.bfloat16))
        y = (hidden @ w2.astype(jnp.bfloat16)).astype(jnp.float32)
        return jnp.mean((y - target) ** 2) * 128.0

    value, gradients = jax.value_and_grad(loss, argnums=(0, 1))(w1, w2)
    finite = jnp.all(jnp.array([jnp.all(jnp.isfinite(g)) for g in gradients]))
    updated = [jnp.where(finite, w - 0.01 / 128.0 * g, w) for w, g in zip((w1, w2), gradients, strict=True)]
    return value / 128.0, updated, finite


def _block(x: Array, qkv: Array, out: Array, up: Array, down: Array) -> Array:
    def norm(x: Array) -> Array:
        return (x - jnp.mean(x, -1, keepdims=True)) * lax.rsqrt(jnp.var(x, -1, keepdims=True) + 1e-5)

    batch, length, width = x.shape
    q, k, v = jnp.split((norm(x) @ qkv).reshape(batch, length, 3 * 2, width // 2), 3, axis=2)
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) * (width // 2) ** -0.5
    scores = jnp.where(jnp.tril(jnp.ones((length, length), bool)), scores, -jnp.inf)
    attended = jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores), v).reshape(x.shape)
    x = x + attended @ out
    return x + jax.nn.gelu(norm(x) @ up) @ down


@program(
    f32(11, 8),
    f32(8, 24),
    f32(8, 8),
    f32(8, 16),
    f32(16, 8),
    i32(2, 6, high=11),
    donate=(0, 1, 2, 3, 4),
    atol=1e-4,
    rtol=1e-4,
    frames=2,
)
def transformer_step(table: Array, qkv: Array, out: Array, up: Array, down: Array, tokens: Array) -> Tree:
    parameters = (table, qkv, out, up, down)

    def loss(parameters: tuple[Array, ...]) -> Array:
        table, *weights = parameters
        logits = _block(table[tokens[:, :-1]], *weights) @ table.T
        return _cross_entropy(logits.reshape(-1, 11), tokens[:, 1:].reshape(-1))

    value, gradients = jax.value_and_grad(loss)(parameters)
    return jax.tree.map(lambda p, g: p - 0.05 * g, parameters, gradients), value


@program(f32(3, 8, 24), f32(3, 8, 8), f32(3, 8, 16), f32(3, 16, 8), f32(2, 5, 8), atol=1e-4, rtol=1e-4, frames=0)
def transformer_scan_layers_grad(qkv: Array, out: Array, up: Array, down: Array, x: Array) -> Tree:
    def loss(weights: tuple[Array, ...]) -> Array:
        def layer(x: Array, weights: tuple[Array, ...]) -> tuple[Array, None]:
            return jax.checkpoint(_block)(x, *weights), None

        return jnp.mean(lax.scan(layer, x, weights)[0] ** 2)

    return jax.value_and_grad(loss)((qkv, out, up, down))


@program(f32(13, 8), f32(8, 8), f32(8, 8), f32(8, 8), i32(2, high=13))
def greedy_decode(table: Array, wq: Array, wk: Array, wv: Array, first: Array) -> Tree:
    """A cache that grows by dynamic_update_slice, argmax, and an early exit."""
    steps = 6

    def body(state: Tree) -> Tree:
        position, token, keys, values, tokens = state
        x = table[token]
        keys = lax.dynamic_update_slice(keys, (x @ wk)[:, None], (0, position, 0))
        values = lax.dynamic_update_slice(values, (x @ wv)[:, None], (0, position, 0))
        scores = jnp.einsum("bd,btd->bt", x @ wq, keys)
        weights = jax.nn.softmax(jnp.where(jnp.arange(steps) <= position, scores, -1e30))
        token = jnp.argmax((x + jnp.einsum("bt,btd->bd", weights, values)) @ table.T, axis=1).astype(jnp.int32)
        return position + 1, token, keys, values, tokens.at[:, position].set(token)

    def unfinished(state: Tree) -> Array:
        return (state[0] < steps) & jnp.any(state[1] != 0)

    cache = jnp.zeros((2, steps, 8))
    state = (jnp.int32(0), first, cache, cache, jnp.full((2, steps), -1))
    return lax.while_loop(unfinished, body, state)


@program(u32(2), f32(4, 6), f32(6, 4), f32(2, 6), f32(5, 6), donate=(1, 2, 3), atol=1e-4)
def variational_autoencoder_step(key: Array, encoder: Array, scale: Array, decoder: Array, x: Array) -> Tree:
    parameters = (encoder, scale, decoder)

    def loss(parameters: tuple[Array, ...]) -> Array:
        encoder, scale, decoder = parameters
        mean, log_variance = jnp.split(x @ scale + x @ encoder.T, 2, axis=1)
        latent = mean + jnp.exp(0.5 * log_variance) * jax.random.normal(key, mean.shape)
        logits = latent @ decoder
        likelihood = -jnp.sum(jnp.logaddexp(0.0, -logits * jnp.sign(x)))
        divergence = -0.5 * jnp.sum(1 + log_variance - mean**2 - jnp.exp(log_variance))
        return divergence - likelihood

    value, gradients = jax.value_and_grad(loss)(parameters)
    return jax.tree.map(lambda p, g: p - 0.01 * g, parameters, gradients), value


@program(typed("float32", 4, 3), f32(3, 3), i32(4, high=3), donate=(1,))
def many_steps_in_one_loop(x: Array, w: Array, labels: Array) -> Tree:
    def step(w: Array, _: None) -> tuple[Array, Array]:
        value, gradient = jax.value_and_grad(lambda w: _cross_entropy(x @ w, labels))(w)
        return w - 0.5 * gradient, value

    return lax.scan(step, w, length=20)
