"""Benchmark programs of elementwise ops, reductions, movement, sorting, scans and loops."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import Array, lax

from benchmarks.sources.registry import Tree, bf16, f32, i32, program, weights
from benchmarks.suite import ArraySpec

# --- elementwise


@program("elementwise", f32(2048, 2048), f32(2048, 2048), f32(2048))
def elementwise_chain(x: Array, y: Array, scale: Array) -> Array:
    return jnp.maximum(x * scale + y, 0.1 * x) - y * y


@program("elementwise", f32(2048, 2048, low=-4, high=4))
def gelu_tanh(x: Array) -> Array:
    return jax.nn.gelu(x)


@program("elementwise", f32(1024, 1024, low=-4, high=4))
def gelu_erf(x: Array) -> Array:
    return jax.nn.gelu(x, approximate=False)


@program("elementwise", f32(1 << 20, low=0.1, high=8))
def exp_log_sin_sqrt(x: Array) -> Array:
    return jnp.exp(-x) + jnp.log(x) * jnp.sin(x) - jnp.sqrt(x)


@program("elementwise", bf16(2048, 1024), bf16(1024))
def bf16_silu(x: Array, bias: Array) -> Array:
    return jax.nn.silu(x + bias)


@program("elementwise", ArraySpec((2,), "uint32", 0, 2**32))
def random_uniform(key: Array) -> Array:
    return jax.random.uniform(key, (512, 1024))


# --- reductions


@program("reduction", f32(4096, 2048))
def reduce_all(x: Array) -> Array:
    return jnp.sum(x * x)


@program("reduction", f32(4096, 2048))
def reduce_rows(x: Array) -> Tree:
    return jnp.sum(x, axis=1), jnp.max(x, axis=1)


@program("reduction", f32(4096, 2048))
def reduce_columns(x: Array) -> Array:
    return jnp.mean(x, axis=0)


@program("reduction", f32(2048, 1024))
def argmax_rows(x: Array) -> Array:
    return jnp.argmax(x, axis=1)


# --- softmax and norms


@program("norm", f32(1024, 2048, low=-4, high=4))
def softmax(x: Array) -> Array:
    return jax.nn.softmax(x)


@program("norm", f32(2048, 1024), f32(1024), f32(1024))
def layer_norm(x: Array, scale: Array, shift: Array) -> Array:
    mean = jnp.mean(x, axis=-1, keepdims=True)
    variance = jnp.var(x, axis=-1, keepdims=True)
    return (x - mean) * lax.rsqrt(variance + 1e-5) * scale + shift


@program("norm", f32(1024, 1024), f32(1024), f32(1024), f32(1024, 1024))
def layer_norm_grad(x: Array, scale: Array, shift: Array, cotangent: Array) -> Tree:
    return jax.vjp(layer_norm, x, scale, shift)[1](cotangent)


@program("norm", f32(32, 28, 28, 64), f32(64), f32(64))
def batch_norm_train(x: Array, scale: Array, shift: Array) -> Tree:
    mean, variance = jnp.mean(x, (0, 1, 2)), jnp.var(x, (0, 1, 2))
    return jax.nn.relu((x - mean) * lax.rsqrt(variance + 1e-5) * scale + shift), mean, variance


# --- data movement and indexing


@program("movement", f32(2048, 2048))
def transpose(x: Array) -> Array:
    return x.T + 1.0


@program("movement", f32(16, 56, 56, 64))
def transpose_nhwc_to_nchw(x: Array) -> Array:
    return x.transpose(0, 3, 1, 2)


@program("movement", f32(2048, 2048), f32(2048, 512))
def concatenate_pad_slice(x: Array, y: Array) -> Array:
    return jnp.pad(jnp.concatenate([x, y], axis=1)[:, 3::2], ((1, 1), (2, 2)))


@program("indexing", f32(20000, 256), i32(16384, high=20000))
def embedding(table: Array, tokens: Array) -> Array:
    return table[tokens]


@program("indexing", i32(32768, high=4000), f32(32768, 128))
def embedding_grad(tokens: Array, updates: Array) -> Array:
    return jnp.zeros((4000, 128)).at[tokens].add(updates)


@program("sort", f32(1 << 17))
def sort(x: Array) -> Array:
    return jnp.sort(x)


@program("sort", f32(256, 512))
def argsort_rows(x: Array) -> Array:
    return jnp.argsort(x, axis=1)


# --- scans and loops


@program("scan", f32(512, 1024))
def cumsum(x: Array) -> Array:
    return jnp.cumsum(x, axis=1)


@program("scan", f32(64, 32, 128), f32(32, 128), weights(128, 128), weights(128, 128))
def rnn_scan(x: Array, h: Array, w: Array, recurrent: Array) -> Tree:
    def cell(h: Array, x: Array) -> tuple[Array, Array]:
        h = jnp.tanh(x @ w + h @ recurrent)
        return h, h

    return lax.scan(cell, h, x)


@program("scan", f32(32, 16, 64), weights(128, 256), f32(256))
def lstm_scan_grad(x: Array, w: Array, bias: Array) -> Tree:
    def loss(w: Array, bias: Array) -> Array:
        def cell(state: tuple[Array, Array], x: Array) -> tuple[tuple[Array, Array], Array]:
            h, c = state
            i, f, g, o = jnp.split(jnp.concatenate([x, h], axis=1) @ w + bias, 4, axis=1)
            c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
            h = jax.nn.sigmoid(o) * jnp.tanh(c)
            return (h, c), h

        zeros = jnp.zeros((16, 64))
        return jnp.mean(lax.scan(cell, (zeros, zeros), x)[1] ** 2)

    return jax.grad(loss, argnums=(0, 1))(w, bias)


@program("scan", f32(256, 256))
def while_jacobi(x: Array) -> Tree:
    """Computes the steady state of heat flow, in a loop whose end depends on data. Here it ends after 100 sweeps."""

    def unfinished(state: tuple[Array, Array, Array]) -> Array:
        sweep, _, change = state
        return (sweep < 100) & (change > 1e-12)

    def body(state: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
        sweep, x, _ = state
        inner = 0.25 * (x[:-2, 1:-1] + x[2:, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:])
        updated = x.at[1:-1, 1:-1].set(inner)
        return sweep + 1, updated, jnp.max(jnp.abs(updated - x))

    return lax.while_loop(unfinished, body, (jnp.int32(0), x, jnp.float32(1)))
