"""Functions of JAX, their gradients among them, evaluated here and by JAX's own CPU compiler."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from xla_core.hlo import evaluate, verify
from xla_core.stablehlo import to_hlo

jax = pytest.importorskip("jax")
jnp, lax = jax.numpy, jax.lax

RNG = np.random.default_rng(0)


def floats(*shape: int) -> np.ndarray:
    return RNG.normal(size=shape).astype(np.float32)


def of_window(function: Callable, start: float, **window: Any) -> Callable:
    return jax.grad(lambda x: (lax.reduce_window(x, start, function, **window) ** 2).sum())


X = floats(4, 6, 5)
POOL = {"window_dimensions": (1, 3, 2), "window_strides": (1, 2, 1), "padding": "SAME"}
ANGLES = np.linspace(0.1, 20, 50, dtype=np.float32)
Z = (floats(20) + 1j * floats(20)).astype(np.complex64)

CASES: dict[str, tuple[Callable, tuple, float]] = {
    "max_pool_gradient": (of_window(lax.max, -np.inf, **POOL), (X,), 1e-5),
    "average_pool_gradient": (of_window(lax.add, 0.0, **POOL), (X,), 1e-5),
    "dilated_min_pool": (
        lambda x: lax.reduce_window(
            x, np.inf, lax.min, (1, 3, 2), (1, 2, 1), ((0, 0), (1, 2), (0, 1)), (2, 1, 1), (1, 2, 1)
        ),
        (X,),
        0,
    ),
    "window_products": (lambda x: lax.reduce_window(x, 1.0, lax.mul, (2, 3, 2), (1, 2, 1), "VALID"), (X,), 1e-5),
    "gather_gradient": (jax.grad(lambda x, i: (x[i] ** 3).sum()), (X, np.array([0, 2, 2, 3, 9, -1])), 1e-5),
    "segment_max": (lambda d, i: jax.ops.segment_max(d, i, 5), (floats(30), RNG.integers(0, 5, 30)), 0),
    "scatter_bodies": (
        lambda x, i, u: (x.at[i].multiply(u), x.at[i].min(u), x.at[i].max(u), x.at[i].apply(jnp.sin)),
        (floats(9), np.array([1, 1, 3, 8]), floats(4)),
        1e-6,
    ),
    "sort_by_two_keys": (
        lambda a, b, c: lax.sort((a, b, c), num_keys=2, dimension=0),
        (RNG.integers(0, 4, 20), floats(20), floats(20)),
        0,
    ),
    "top_k": (lambda x: (lax.top_k(x, 3), lax.approx_max_k(x, 3)), (X,), 0),
    "cumulative_logsumexp": (lambda x: lax.cumlogsumexp(x, 1), (X,), 1e-5),
    "convolution_gradients": (
        jax.grad(
            lambda x, k: (
                lax.conv_general_dilated(x, k, (2, 1), "SAME", rhs_dilation=(1, 2), feature_group_count=2) ** 2
            ).sum(),
            (0, 1),
        ),
        (floats(2, 4, 9, 8), floats(6, 2, 3, 3)),
        1e-4,
    ),
    "transposed_convolution": (
        lambda x, k: lax.conv_transpose(x, k, (2, 2), "SAME"),
        (floats(2, 5, 5, 3), floats(3, 3, 3, 4)),
        1e-4,
    ),
    "fft": (lambda x: jnp.fft.irfft2(jnp.fft.rfft2(x) * 2), (X,), 1e-5),
    "special_functions": (
        lambda x: (lax.lgamma(x), lax.digamma(x), lax.igamma(x, x + 1), lax.bessel_i1e(x)),
        (ANGLES,),
        3e-5,
    ),
    "integers": (
        lambda a, b: (a // b, a % b, lax.div(a, b), lax.rem(a, b), lax.population_count(a), lax.clz(a), a**3),
        (RNG.integers(-1000, 1000, 50).astype(np.int32), RNG.integers(1, 9, 50).astype(np.int32)),
        0,
    ),
    "rounding": (
        lambda x: (jnp.round(x), lax.round(x), jnp.floor(x), jnp.nextafter(x, x + 1), lax.reduce_precision(x, 5, 3)),
        (X,),
        0,
    ),
    "complex_functions": (
        lambda z: (jnp.exp(z), jnp.log(z), jnp.sqrt(z), jnp.tanh(z), jnp.arccos(z), z**2.5, 1 / z),
        (Z,),
        1e-4,
    ),
    "random": (
        lambda k: (jax.random.normal(k, (7,)), jax.random.permutation(k, 11), jax.random.choice(k, 9, (4,))),
        (np.array([0, 3], np.uint32),),
        1e-5,
    ),
    "switch": (lambda i, x: lax.switch(i, [jnp.sin, jnp.cos, jnp.tanh], x), (np.int32(2), X), 1e-6),
    "scan_gradient": (
        jax.grad(lambda w, xs: lax.scan(lambda c, x: (jnp.tanh(c @ w + x), c.sum()), jnp.zeros(5), xs)[0].sum()),
        (floats(5, 5), floats(6, 5)),
        1e-5,
    ),
    "small_types": (
        lambda a: (
            a.astype(jnp.float8_e4m3fn).astype(jnp.float32),
            a.astype(jnp.float8_e5m2).astype(jnp.float32),
            a.astype(jnp.float16),
            a.astype(jnp.int8),
            a.astype(jnp.int4).astype(jnp.int32),
        ),
        (floats(40) * 5,),
        0,
    ),
    "ragged_dot": (lax.ragged_dot, (floats(6, 4), floats(3, 4, 5), np.array([2, 1, 3], np.int32)), 1e-5),
    "vmapped_dynamic_slice": (
        jax.vmap(lambda a, j: lax.dynamic_slice(a, (j,), (2,))),
        (floats(4, 6), np.array([0, 5, 2, -1])),
        0,
    ),
    "pad": (lambda x: lax.pad(x, 0.5, ((1, -1, 2), (0, 0, 0), (-1, 3, 1))), (X,), 0),
    "arg_reductions": (lambda x: (jnp.argmax(x, 1), jnp.argmin(x, 2), jnp.nanargmax(x)), (X,), 0),
    "statistics": (lambda x: (jnp.median(x), jnp.var(x, 0), jnp.histogram(x, 5)[0]), (X,), 1e-5),
    "bits": (lambda x: lax.bitcast_convert_type(x, jnp.uint8), (X,), 0),
}


@pytest.mark.parametrize("name", CASES)
def test_agrees_with_jax(name: str) -> None:
    function, arguments, tolerance = CASES[name]
    arrays = [np.asarray(jnp.asarray(a)) for a in arguments]
    with jax.default_device(jax.devices("cpu")[0]):
        jitted = jax.jit(function, keep_unused=True)
        expected = [np.asarray(leaf) for leaf in jax.tree.leaves(jitted(*arrays))]
        module = to_hlo(jitted.lower(*arrays).as_text(), name)
    verify(module)
    for result, want in zip(evaluate(module, *arrays), expected, strict=True):
        assert (result.dtype, result.shape) == (want.dtype, want.shape)
        wide = np.complex128 if want.dtype.kind == "c" else np.float64
        np.testing.assert_allclose(result.astype(wide), want.astype(wide), rtol=tolerance, atol=tolerance)
