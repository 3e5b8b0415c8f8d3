"""Benchmark programs of products, linear algebra and convolutions."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import Array, lax

from benchmarks.sources.registry import Tree, bf16, f32, program, weights
from benchmarks.suite import ArraySpec

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


def convolve(x: Array, kernel: Array, strides: tuple[int, int] = (1, 1), groups: int = 1) -> Array:
    numbers = ("NHWC", "HWIO", "NHWC")
    return lax.conv_general_dilated(x, kernel, strides, "SAME", dimension_numbers=numbers, feature_group_count=groups)


@program("convolution", f32(8, 28, 28, 64), weights(3, 3, 64, 64), f32(64))
def conv_3x3(x: Array, kernel: Array, bias: Array) -> Array:
    return jax.nn.relu(convolve(x, kernel) + bias)


@program("convolution", f32(8, 28, 28, 128), weights(1, 1, 128, 256))
def conv_1x1(x: Array, kernel: Array) -> Array:
    return convolve(x, kernel)


@program("convolution", f32(4, 112, 112, 3), weights(7, 7, 3, 64))
def conv_7x7_stride_2(x: Array, kernel: Array) -> Array:
    return convolve(x, kernel, (2, 2))


@program("convolution", f32(4, 28, 28, 64), weights(3, 3, 1, 64))
def conv_depthwise(x: Array, kernel: Array) -> Array:
    return convolve(x, kernel, groups=64)


@program("convolution", f32(8, 28, 28, 32), weights(3, 3, 32, 64), f32(8, 28, 28, 64))
def conv_grad(x: Array, kernel: Array, cotangent: Array) -> Tree:
    return jax.vjp(convolve, x, kernel)[1](cotangent)


@program("convolution", f32(16, 56, 56, 32))
def max_pool_grad(x: Array) -> Array:
    def pool(x: Array) -> Array:
        return jnp.sum(lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID") ** 2)

    return jax.grad(pool)(x)
