"""Benchmark programs of layers, training steps and whole models."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import Array, lax

from benchmarks.sources.products import convolve
from benchmarks.sources.registry import Function, Tree, f32, i32, program, weights

# --- models


def _attention(q: Array, k: Array, v: Array) -> Array:
    length = q.shape[1]
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) * q.shape[-1] ** -0.5
    scores = jnp.where(jnp.tril(jnp.ones((length, length), bool)), scores, -1e9)
    return jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores), v)


@program("attention", *[f32(2, 256, 8, 64)] * 3)
def attention(q: Array, k: Array, v: Array) -> Array:
    return _attention(q, k, v)


@program("attention", *[f32(2, 128, 8, 64)] * 3)
def attention_grad(q: Array, k: Array, v: Array) -> Tree:
    return jax.grad(lambda q, k, v: jnp.sum(_attention(q, k, v) ** 2), argnums=(0, 1, 2))(q, k, v)


def _cross_entropy(logits: Array, labels: Array) -> Array:
    return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(logits), labels[..., None], axis=-1))


def _descend(loss: Function, parameters: Tree) -> Tree:
    value, gradients = jax.value_and_grad(loss)(parameters)
    return jax.tree.map(lambda p, g: p - 0.01 * g, parameters, gradients), value


@program(
    "training",
    *(weights(784, 512), f32(512), weights(512, 512), f32(512), weights(512, 10), f32(10)),
    *(f32(128, 784), i32(128, high=10)),
)
def mlp_train_step(*arguments: Array) -> Tree:
    *parameters, x, labels = arguments

    def loss(parameters: list[Array]) -> Array:
        w1, b1, w2, b2, w3, b3 = parameters
        hidden = jax.nn.relu(jax.nn.relu(x @ w1 + b1) @ w2 + b2)
        return _cross_entropy(hidden @ w3 + b3, labels)

    return _descend(loss, parameters)


@program(
    "training",
    *(weights(3, 3, 3, 32), f32(32), weights(3, 3, 32, 64), f32(64), weights(4096, 128), weights(128, 10)),
    *(f32(16, 32, 32, 3), i32(16, high=10)),
)
def convnet_train_step(*arguments: Array) -> Tree:
    *parameters, x, labels = arguments

    def pool(x: Array) -> Array:
        return lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")

    def loss(parameters: list[Array]) -> Array:
        k1, b1, k2, b2, w1, w2 = parameters
        y = pool(jax.nn.relu(convolve(x, k1) + b1))
        y = pool(jax.nn.relu(convolve(y, k2) + b2))
        return _cross_entropy(jax.nn.relu(y.reshape(16, -1) @ w1) @ w2, labels)

    return _descend(loss, parameters)


@program(
    "training",
    *(weights(256, 768), weights(256, 256), weights(256, 1024), weights(1024, 256), f32(1000, 256), f32(256)),
    i32(4, 65, high=1000),
)
def transformer_train_step(*arguments: Array) -> Tree:
    *parameters, tokens = arguments

    def norm(x: Array, scale: Array) -> Array:
        return x * lax.rsqrt(jnp.mean(x * x, axis=-1, keepdims=True) + 1e-6) * scale

    def loss(parameters: list[Array]) -> Array:
        qkv, out, up, down, table, scale = parameters
        x = table[tokens[:, :-1]]
        q, k, v = jnp.split((norm(x, scale) @ qkv).reshape(4, 64, 24, 32), 3, axis=2)
        x = x + _attention(q, k, v).reshape(x.shape) @ out
        x = x + jax.nn.gelu(norm(x, scale) @ up) @ down
        return _cross_entropy(x @ table.T, tokens[:, 1:])

    return _descend(loss, parameters)


_GPT2_LAYER = (
    *(f32(768, low=0.9, high=1.1), f32(768), weights(768, 2304), f32(2304), weights(768, 768), f32(768)),
    *(f32(768, low=0.9, high=1.1), f32(768), weights(768, 3072), f32(3072), weights(3072, 768), f32(768)),
)


@program(
    "model",
    i32(1, 256, high=50257),
    *(f32(50257, 768, low=-0.03, high=0.03), f32(1024, 768, low=-0.03, high=0.03)),
    *(f32(768, low=0.9, high=1.1), f32(768), *_GPT2_LAYER * 12),
)
def gpt2_forward(tokens: Array, table: Array, positions: Array, scale: Array, shift: Array, *layers: Array) -> Array:
    """GPT-2 of 124 million parameters: the logits of 256 tokens."""

    def norm(x: Array, scale: Array, shift: Array) -> Array:
        mean = jnp.mean(x, -1, keepdims=True)
        variance = jnp.mean((x - mean) ** 2, -1, keepdims=True)
        return (x - mean) * lax.rsqrt(variance + 1e-5) * scale + shift

    x = table[tokens] + positions[: tokens.shape[1]]
    for i in range(0, len(layers), len(_GPT2_LAYER)):
        s1, b1, qkv, qkv_bias, out, out_bias, s2, b2, up, up_bias, down, down_bias = layers[i : i + len(_GPT2_LAYER)]
        q, k, v = jnp.split((norm(x, s1, b1) @ qkv + qkv_bias).reshape(*x.shape[:2], 36, 64), 3, axis=2)
        x = x + _attention(q, k, v).reshape(x.shape) @ out + out_bias
        x = x + jax.nn.gelu(norm(x, s2, b2) @ up + up_bias) @ down + down_bias
    return norm(x, scale, shift) @ table.T


@program("training", *[f32(1024, 1024)] * 3, f32(1024, 1024, low=0, high=1), f32(low=1, high=9))
def adam_update(p: Array, g: Array, m: Array, v: Array, step: Array) -> Tree:
    m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g
    rate = 1e-3 * jnp.sqrt(1 - 0.999**step) / (1 - 0.9**step)
    return p - rate * m / (jnp.sqrt(v) + 1e-8), m, v


@program("dispatch", f32(4))
def trivial(x: Array) -> Array:
    return x + 1.0
