"""Defines the benchmark programs in JAX and writes programs/*.mlir: `python -m benchmarks.export [NAME ...]`.

The sizes are chosen so that JAX takes 1 to 50 ms on two cores. The texts are committed: running them needs no JAX.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from benchmarks.suite import PROGRAMS, ArraySpec

Tree = Any
Function = Callable[..., Any]

SOURCES: dict[str, tuple[str, Function, tuple[ArraySpec, ...]]] = {}


def program(group: str, *arguments: ArraySpec) -> Callable[[Function], Function]:
    """Registers the decorated function under its own name."""

    def register(function: Function) -> Function:
        SOURCES[function.__name__] = (group, function, arguments)
        return function

    return register


def f32(*shape: int, low: float = -1.0, high: float = 1.0) -> ArraySpec:
    return ArraySpec(shape, "float32", low, high)


def bf16(*shape: int) -> ArraySpec:
    return ArraySpec(shape, "bfloat16", -1.0, 1.0)


def i32(*shape: int, high: int) -> ArraySpec:
    return ArraySpec(shape, "int32", 0, high)


def weights(*shape: int) -> ArraySpec:
    """Values that keep activations of the next layer near one."""
    bound = (3.0 / np.prod(shape[:-1])) ** 0.5
    return f32(*shape, low=-bound, high=bound)


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


# --- contractions


@program("matmul", f32(768, 768), f32(768, 768))
def matmul_square(a: Array, b: Array) -> Array:
    return a @ b


@program("matmul", f32(16384, 64), f32(64, 64), f32(64))
def matmul_tall_skinny(a: Array, b: Array, bias: Array) -> Array:
    return jax.nn.relu(a @ b + bias)


@program("matmul", f32(64, 128, 128), f32(64, 128, 128))
def matmul_batched(a: Array, b: Array) -> Array:
    return jnp.einsum("bij,bkj->bik", a, b)


@program("matmul", bf16(512, 512), bf16(512, 512))
def matmul_bf16(a: Array, b: Array) -> Array:
    return a @ b


@program("matmul", f32(4096, 2048), f32(2048))
def matrix_vector(a: Array, x: Array) -> Array:
    return a @ x


@program("matmul", f32(2048), f32(2048, 5000))
def vector_matrix(x: Array, a: Array) -> Array:
    return x @ a


@program("matmul", f32(4, 4096), f32(4096, 4096))
def matmul_decode(x: Array, a: Array) -> Array:
    return x @ a


@program("matmul", f32(256, 768), f32(6284, 768))
def matmul_vocabulary(a: Array, b: Array) -> Array:
    return a @ b.T


@program("matmul", f32(255, 257), f32(257, 259))
def matmul_odd(a: Array, b: Array) -> Array:
    return a @ b


@program("matmul", f32(8, 768), f32(3072, 768))
def matmul_few_rows(a: Array, b: Array) -> Array:
    return a @ b.T


@program("matmul", ArraySpec((512, 512), "int8", -128, 128), ArraySpec((512, 512), "int8", -128, 128))
def matmul_int8(a: Array, b: Array) -> Array:
    return lax.dot(a, b, preferred_element_type=jnp.int32)


@program("sort", f32(64, 1000))
def top_k_rows(x: Array) -> Tree:
    return lax.top_k(x, 10)


@program("sort", f32(8, 32000))
def top_k_vocabulary(x: Array) -> Tree:
    return lax.top_k(x, 40)


@program("linear algebra", f32(8, 8))
def eigh_small(x: Array) -> Tree:
    return jnp.linalg.eigh(x)


@program("linear algebra", f32(8, 8))
def eigh_scan(x: Array) -> Array:
    """Applies a function of a symmetric matrix 20 times, because eigenvectors alone have no definite sign."""

    def step(x: Array, _: None) -> tuple[Array, None]:
        values, vectors = jnp.linalg.eigh(x)
        return (vectors * jnp.tanh(values)) @ vectors.T, None

    return lax.scan(step, x, None, 20)[0]


def _convolve(x: Array, kernel: Array, strides: tuple[int, int] = (1, 1), groups: int = 1) -> Array:
    numbers = ("NHWC", "HWIO", "NHWC")
    return lax.conv_general_dilated(x, kernel, strides, "SAME", dimension_numbers=numbers, feature_group_count=groups)


@program("convolution", f32(8, 28, 28, 64), weights(3, 3, 64, 64), f32(64))
def conv_3x3(x: Array, kernel: Array, bias: Array) -> Array:
    return jax.nn.relu(_convolve(x, kernel) + bias)


@program("convolution", f32(8, 28, 28, 128), weights(1, 1, 128, 256))
def conv_1x1(x: Array, kernel: Array) -> Array:
    return _convolve(x, kernel)


@program("convolution", f32(4, 112, 112, 3), weights(7, 7, 3, 64))
def conv_7x7_stride_2(x: Array, kernel: Array) -> Array:
    return _convolve(x, kernel, (2, 2))


@program("convolution", f32(4, 28, 28, 64), weights(3, 3, 1, 64))
def conv_depthwise(x: Array, kernel: Array) -> Array:
    return _convolve(x, kernel, groups=64)


@program("convolution", f32(8, 28, 28, 32), weights(3, 3, 32, 64), f32(8, 28, 28, 64))
def conv_grad(x: Array, kernel: Array, cotangent: Array) -> Tree:
    return jax.vjp(_convolve, x, kernel)[1](cotangent)


@program("convolution", f32(16, 56, 56, 32))
def max_pool_grad(x: Array) -> Array:
    def pool(x: Array) -> Array:
        return jnp.sum(lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID") ** 2)

    return jax.grad(pool)(x)


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
        y = pool(jax.nn.relu(_convolve(x, k1) + b1))
        y = pool(jax.nn.relu(_convolve(y, k2) + b2))
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


def text_of(name: str) -> str:
    """The StableHLO text of a program, without locations."""
    _, function, arguments = SOURCES[name]
    shapes = [jax.ShapeDtypeStruct(spec.shape, np.dtype(spec.dtype)) for spec in arguments]
    lowered = jax.jit(function, keep_unused=True).trace(*shapes).lower(lowering_platforms=("cpu",))
    text: str = lowered.as_text()
    return f"// Written by benchmarks/export.py with JAX {jax.__version__}.\n{text}"


def main(names: list[str]) -> None:
    jax.config.update("jax_platforms", "cpu")
    PROGRAMS.mkdir(exist_ok=True)
    lines = []
    for name, (group, _, arguments) in SOURCES.items():
        entry = {
            "group": group,
            "arguments": [[list(spec.shape), spec.dtype, spec.low, spec.high] for spec in arguments],
        }
        lines.append(f"  {json.dumps(name)}: {json.dumps(entry)}")
        if names and name not in names:
            continue
        (PROGRAMS / f"{name}.mlir").write_text(text_of(name))
        print(name)
    (PROGRAMS / "manifest.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
