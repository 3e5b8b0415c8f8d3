"""Forward passes and gradients of the layers that models are made of."""

from __future__ import annotations

import functools
from typing import Any

import jax
import jax.numpy as jnp
from jax import Array, lax

from .registry import boolean, f32, i32, program, u32

Tree = Any


@program(f32(8, 12), f32(12, 32), f32(32), f32(32, 5), f32(5), frames=8)
def mlp(x: Array, w1: Array, b1: Array, w2: Array, b2: Array) -> Array:
    return jax.nn.softmax(jax.nn.gelu(x @ w1 + b1) @ w2 + b2)


@program(f32(6, 9), f32(9, 7), f32(9, 7), f32(7, 4))
def gated_mlp_grad(x: Array, w: Array, gate: Array, out: Array) -> Tree:
    def loss(w: Array, gate: Array, out: Array) -> Array:
        return jnp.mean((jax.nn.silu(x @ gate) * (x @ w)) @ out)

    return jax.value_and_grad(loss, argnums=(0, 1, 2))(w, gate, out)


@program(f32(2, 8, 8, 3), f32(3, 3, 3, 8, low=-0.3, high=0.3), f32(8), f32(128, 10, low=-0.2, high=0.2))
def convnet(images: Array, kernel: Array, bias: Array, dense: Array) -> Array:
    x = lax.conv_general_dilated(images, kernel, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
    x = jax.nn.relu(x + bias)
    x = lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
    return jax.nn.log_softmax(x.reshape(2, -1) @ dense)


@program(f32(2, 8, 8, 3), f32(3, 3, 3, 4), f32(3, 3, 4, 6), f32(24, 5), i32(2, high=5), atol=1e-4, rtol=1e-4)
def convnet_grad(images: Array, k1: Array, k2: Array, dense: Array, labels: Array) -> Tree:
    numbers = ("NHWC", "HWIO", "NHWC")

    def loss(k1: Array, k2: Array, dense: Array) -> Array:
        x = jax.nn.relu(lax.conv_general_dilated(images, k1, (1, 1), "SAME", dimension_numbers=numbers))
        x = lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
        x = jax.nn.relu(lax.conv_general_dilated(x, k2, (2, 2), "SAME", dimension_numbers=numbers))
        logits = x.reshape(2, -1) @ dense
        return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(logits), labels[:, None], axis=1))

    return jax.value_and_grad(loss, argnums=(0, 1, 2))(k1, k2, dense)


@program(f32(2, 6, 9, 9), f32(12, 1, 3, 3), f32(2, 12, 4, 4), atol=1e-4)
def depthwise_conv_grad(x: Array, kernel: Array, cotangent: Array) -> Tree:
    def layer(x: Array, kernel: Array) -> Array:
        return lax.conv_general_dilated(x, kernel, (2, 2), ((1, 1), (2, 0)), rhs_dilation=(2, 2), feature_group_count=6)

    y, pull = jax.vjp(layer, x, kernel)
    return y, pull(cotangent)


@program(f32(2, 5, 5, 4), f32(3, 3, 4, 6), f32(3, 3, 2, 8), atol=1e-4)
def conv_transpose_and_grouped(x: Array, up: Array, grouped: Array) -> Tree:
    numbers = ("NHWC", "HWIO", "NHWC")

    def layer(x: Array, up: Array) -> Array:
        return jnp.tanh(lax.conv_transpose(x, up, (2, 2), "SAME", dimension_numbers=numbers))

    y = lax.conv_general_dilated(x, grouped, (1, 1), "VALID", dimension_numbers=numbers, feature_group_count=2)
    return layer(x, up), y, jax.grad(lambda x, up: jnp.sum(layer(x, up) ** 2), argnums=(0, 1))(x, up)


@program(f32(2, 11, 3), f32(3, 3, 4), f32(1, 4, 5, 4, 2), f32(2, 2, 2, 2, 3), f32(4, 8, 8, 2), f32(3, 3, 2, 4))
def conv_1d_3d_batch_grouped(a: Array, ka: Array, b: Array, kb: Array, c: Array, kc: Array) -> Tree:
    one = lax.conv_general_dilated(a, ka, (1,), [(2, 0)], rhs_dilation=(2,), dimension_numbers=("NWC", "WIO", "NWC"))
    three = lax.conv_general_dilated(b, kb, (1, 2, 1), "SAME", dimension_numbers=("NDHWC", "DHWIO", "NDHWC"))
    grouped = lax.conv_general_dilated(
        c, kc, (1, 1), "VALID", dimension_numbers=("NHWC", "HWIO", "NHWC"), batch_group_count=2
    )
    return one, three, grouped


def _attention(q: Array, k: Array, v: Array) -> Array:
    length = q.shape[1]
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / jnp.sqrt(jnp.float32(q.shape[-1]))
    mask = jnp.tril(jnp.ones((length, length), dtype=bool))
    weights = jax.nn.softmax(jnp.where(mask, scores, -1e9), axis=-1)
    return jnp.einsum("bhqk,bkhd->bqhd", weights, v)


@program(f32(2, 10, 3, 8), f32(2, 10, 3, 8), f32(2, 10, 3, 8))
def attention(q: Array, k: Array, v: Array) -> Array:
    return _attention(q, k, v)


@program(f32(2, 7, 2, 4), f32(2, 7, 2, 4), f32(2, 7, 2, 4))
def attention_grad(q: Array, k: Array, v: Array) -> Tree:
    return jax.grad(lambda q, k, v: jnp.sum(jnp.square(_attention(q, k, v))), argnums=(0, 1, 2))(q, k, v)


@program(f32(2, 8, 4, 8), f32(2, 6, 2, 8), f32(2, 6, 2, 8), boolean(2, 1, 8, 6))
def grouped_query_attention(q: Array, k: Array, v: Array, mask: Array) -> Array:
    return jax.nn.dot_product_attention(q, k, v, mask=mask)


@program(f32(6, 16), f32(16), f32(16), f32(6, 16))
def layer_norm_grad(x: Array, scale: Array, shift: Array, cotangent: Array) -> Tree:
    def layer(x: Array, scale: Array, shift: Array) -> Array:
        mean = jnp.mean(x, axis=-1, keepdims=True)
        variance = jnp.var(x, axis=-1, keepdims=True)
        return (x - mean) * lax.rsqrt(variance + 1e-5) * scale + shift

    y, pull = jax.vjp(layer, x, scale, shift)
    return y, pull(cotangent)


@program(f32(4, 6, 12), f32(12), f32(2, 5, 5, 8))
def rms_and_group_norm(x: Array, scale: Array, images: Array) -> Tree:
    rms = x * lax.rsqrt(jnp.mean(jnp.square(x), axis=-1, keepdims=True) + 1e-6) * scale
    groups = images.reshape(2, 5, 5, 2, 4)
    mean, variance = jnp.mean(groups, (1, 2, 4), keepdims=True), jnp.var(groups, (1, 2, 4), keepdims=True)
    return rms, ((groups - mean) / jnp.sqrt(variance + 1e-5)).reshape(images.shape)


@program(f32(4, 5, 5, 6), f32(6), f32(6), f32(6), f32(6, low=0.5, high=2), atol=1e-4)
def batch_norm_train_grad(x: Array, scale: Array, shift: Array, running_mean: Array, running_var: Array) -> Tree:
    def layer(x: Array, scale: Array, shift: Array) -> tuple[Array, tuple[Array, Array]]:
        mean, variance = jnp.mean(x, (0, 1, 2)), jnp.var(x, (0, 1, 2))
        y = (x - mean) * lax.rsqrt(variance + 1e-5) * scale + shift
        state = (0.9 * running_mean + 0.1 * mean, 0.9 * running_var + 0.1 * variance)
        return jnp.sum(jax.nn.relu(y) ** 2), state

    return jax.value_and_grad(layer, argnums=(0, 1, 2), has_aux=True)(x, scale, shift)


@program(f32(4, 3, 6), f32(6), f32(6), f32(6), f32(6, low=0.5, high=2))
def batch_norm_inference(x: Array, scale: Array, shift: Array, mean: Array, variance: Array) -> Array:
    return (x - mean) * (scale / jnp.sqrt(variance + 1e-3)) + shift


@program(f32(20, 6), i32(3, 5, high=20), f32(3, 5, 6))
def embedding_grad(table: Array, tokens: Array, cotangent: Array) -> Tree:
    y, pull = jax.vjp(lambda table: table[tokens] * 2.0, table)
    return y, pull(cotangent)


@program(u32(2), f32(6, 20), f32(20, 8))
def dropout_grad(key: Array, x: Array, w: Array) -> Tree:
    def loss(w: Array) -> Array:
        hidden = jax.nn.relu(x @ w)
        keep = jax.random.bernoulli(key, 0.8, hidden.shape)
        return jnp.sum(jnp.where(keep, hidden / 0.8, 0.0) ** 2)

    return jax.value_and_grad(loss)(w)


@program(f32(7, 9, low=-8, high=8), i32(7, high=9))
def cross_entropy_grad(logits: Array, labels: Array) -> Tree:
    def loss(logits: Array) -> Array:
        picked = jnp.take_along_axis(logits, labels[:, None], axis=1)[:, 0]
        smooth = jnp.sum(jax.nn.one_hot(labels, 9) * logits, axis=1)
        return jnp.mean(jax.nn.logsumexp(logits, axis=1) - 0.9 * picked - 0.1 * smooth)

    return (
        jax.value_and_grad(loss)(logits),
        jnp.argmax(logits, axis=1),
        jnp.mean(jnp.argmax(logits, axis=1) % 2 == labels % 2),
    )


@program(f32(3, 4, 6), f32(4, 5), f32(5, 5), f32(6, 5))
def rnn_scan(x: Array, h: Array, recurrent: Array, w: Array) -> Tree:
    def cell(h: Array, x: Array) -> tuple[Array, Array]:
        h = jnp.tanh(x @ w + h @ recurrent)
        return h, h

    return lax.scan(cell, h, x)


@program(f32(6, 2, 3), f32(7, 16), f32(16), frames=4)
def lstm_grad(x: Array, w: Array, bias: Array) -> Tree:
    def loss(w: Array, bias: Array) -> Array:
        def cell(state: tuple[Array, Array], x: Array) -> tuple[tuple[Array, Array], Array]:
            h, c = state
            i, f, g, o = jnp.split(jnp.concatenate([x, h], axis=1) @ w + bias, 4, axis=1)
            c = jax.nn.sigmoid(f + 1.0) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
            h = jax.nn.sigmoid(o) * jnp.tanh(c)
            return (h, c), h

        zeros = jnp.zeros((2, 4))
        return jnp.mean(lax.scan(cell, (zeros, zeros), x)[1] ** 2)

    return jax.value_and_grad(loss, argnums=(0, 1))(w, bias)


@program(f32(5, 2, 3), f32(2, 4), f32(3, 12), f32(4, 12))
def gru_reverse_grad(x: Array, h: Array, w: Array, recurrent: Array) -> Tree:
    def loss(w: Array) -> Array:
        def cell(h: Array, x: Array) -> tuple[Array, Array]:
            xr, xz, xn = jnp.split(x @ w, 3, axis=1)
            hr, hz, hn = jnp.split(h @ recurrent, 3, axis=1)
            z = jax.nn.sigmoid(xz + hz)
            h = (1 - z) * jnp.tanh(xn + jax.nn.sigmoid(xr + hr) * hn) + z * h
            return h, h[:, 0]

        last, first_columns = lax.scan(cell, h, x, reverse=True, unroll=2)
        return jnp.sum(last**2) + jnp.sum(first_columns)

    return jax.grad(loss)(w)


@program(f32(4, 6), f32(3, 6, 6), f32(3, 6))
def remat_scan_grad(x: Array, weights: Array, biases: Array) -> Tree:
    @jax.checkpoint
    def layer(x: Array, parameters: tuple[Array, Array]) -> tuple[Array, None]:
        w, b = parameters
        return x + jnp.sin(x @ w + b), None

    def loss(weights: Array, biases: Array) -> Array:
        return jnp.sum(lax.scan(layer, x, (weights, biases))[0] ** 2)

    return jax.value_and_grad(loss, argnums=(0, 1))(weights, biases)


@program(f32(5, 7, low=-3, high=3), f32(5, 7))
def custom_derivatives(x: Array, y: Array) -> Tree:
    @jax.custom_vjp
    def clipped(x: Array) -> Array:
        return jnp.exp(x)

    clipped.defvjp(lambda x: (jnp.exp(x), x), lambda x, g: (jnp.clip(g * jnp.exp(x), -1.0, 1.0),))

    @jax.custom_jvp
    def soft(x: Array) -> Array:
        return jnp.log1p(jnp.exp(x))

    soft.defjvps(lambda t, _, x: t * jax.nn.sigmoid(x))
    return jax.grad(lambda x: jnp.sum(clipped(x) * soft(x * y)))(x)


@program(f32(3, 4), f32(4, 5), f32(5))
def per_example_and_second_order(x: Array, w: Array, v: Array) -> Tree:
    def loss(w: Array, row: Array) -> Array:
        return jnp.sum(jnp.tanh(row @ w) * v)

    per_example = jax.vmap(jax.grad(loss), in_axes=(None, 0))(w, x)
    hessian_vector = jax.jvp(jax.grad(functools.partial(loss, row=x[0])), (w,), (jnp.ones_like(w),))[1]
    return per_example, hessian_vector, jax.jacfwd(lambda v: jnp.cumprod(jnp.sin(v)))(v)


@program(f32(10, 6), f32(6, 4), f32(4, 6, 5))
def mixture_of_experts(x: Array, router: Array, experts: Array) -> Tree:
    gates, chosen = lax.top_k(jax.nn.softmax(x @ router), 2)
    gates = gates / jnp.sum(gates, axis=1, keepdims=True)
    dispatch = jnp.sum(jax.nn.one_hot(chosen, 4) * gates[..., None], axis=1)
    return jnp.einsum("te,td,edf->tf", dispatch, x, experts), jnp.bincount(chosen.ravel(), length=4)
