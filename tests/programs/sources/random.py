"""Random numbers: threefry is arithmetic, so its bits are exact."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from jax import Array

from .registry import f32, i32, program, u32

Tree = Any


@program(u32(2), frames=0)
def random_bits(key: Array) -> Tree:
    first, second = jax.random.split(key)
    return (
        jax.random.bits(first, (7,)),
        jax.random.bits(second, (3, 3), jnp.uint8),
        jax.random.fold_in(key, 42),
        jax.random.split(key, 3),
        jax.random.bits(jax.random.key_data(jax.random.wrap_key_data(key)), (5,), jnp.uint16),
    )


@program(u32(2), rtol=2e-5, frames=0)
def random_floats(key: Array) -> Tree:
    keys = jax.random.split(key, 5)
    return (
        jax.random.uniform(keys[0], (3, 5), minval=-2.0, maxval=3.0),
        jax.random.normal(keys[1], (4, 4)),
        jax.random.truncated_normal(keys[2], -1.0, 1.0, (6,)),
        jax.random.exponential(keys[3], (5,)),
        jax.random.normal(keys[4], (5,), jnp.bfloat16).astype(jnp.float32),
    )


@program(u32(2), f32(3, 6), i32(8, high=50), frames=0)
def random_integers_and_choices(key: Array, logits: Array, values: Array) -> Tree:
    keys = jax.random.split(key, 5)
    return (
        jax.random.randint(keys[0], (9,), -5, 17),
        jax.random.permutation(keys[1], values),
        jax.random.categorical(keys[2], logits),
        jax.random.bernoulli(keys[3], 0.3, (10,)),
        jax.random.choice(keys[4], values, (4,), replace=False),
    )


@program(u32(2), frames=0)
def random_glorot_init(key: Array) -> Tree:
    """Initializers by vmapped keys, as layers stacked for a scan have them."""
    initialize = jax.nn.initializers.glorot_uniform()
    return jax.vmap(lambda key: initialize(key, (4, 6)))(jax.random.split(key, 3))


@program(u32(2), f32(20), frames=0)
def monte_carlo(key: Array, x: Array) -> Tree:
    def step(key: Array, _: None) -> tuple[Array, Array]:
        key, use = jax.random.split(key)
        points = jax.random.uniform(use, (64, 2))
        return key, jnp.mean(jnp.sum(points**2, axis=1) < 1.0)

    return jax.lax.scan(step, key, length=5), jax.random.permutation(key, x, independent=True)
