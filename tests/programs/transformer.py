"""Makes the text of a transformer's training step, for tests of the speed of reading and compiling."""

from __future__ import annotations

from typing import Any


def training_step_text(
    layers: int = 12,
    *,
    width: int = 128,
    heads: int = 4,
    batch: int = 2,
    length: int = 64,
    vocabulary: int = 512,
    debug_info: bool = True,
) -> str:
    """StableHLO of one Adam step of a decoder-only transformer, about 11,000 lines for 12 layers; needs JAX.

    Each layer is written out (no scan) and has its own attention, layer norms with scale and shift, biased dense
    layers and dropout, as a model in a library of layers has. `debug_info=False` leaves locations out (9,600 lines).
    """
    import jax
    import jax.numpy as jnp

    def norm(x: Any, p: Any) -> Any:
        mean = jnp.mean(x, -1, keepdims=True)
        variance = jnp.mean(jnp.square(x - mean), -1, keepdims=True)
        return (x - mean) * jax.lax.rsqrt(variance + 1e-5) * p["scale"] + p["shift"]

    def dense(x: Any, p: Any) -> Any:
        return x @ p["w"] + p["b"]

    def dropout(x: Any, key: Any) -> Any:
        return jnp.where(jax.random.bernoulli(key, 0.9, x.shape), x / 0.9, 0.0)

    def block(x: Any, p: Any, key: Any) -> Any:
        normed = norm(x, p["norm1"])
        q, k, v = (dense(normed, p[n]).reshape(batch, length, heads, width // heads) for n in ("q", "k", "v"))
        scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / jnp.sqrt(jnp.float32(width // heads))
        scores = jnp.where(jnp.tril(jnp.ones((length, length), bool)), scores, -1e9)
        attended = jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores), v).reshape(x.shape)
        first, second = jax.random.split(key)
        x = x + dropout(dense(attended, p["out"]), first)
        return x + dropout(dense(jax.nn.gelu(dense(norm(x, p["norm2"]), p["up"])), p["down"]), second)

    def loss(parameters: Any, tokens: Any, key: Any) -> Any:
        x = parameters["embedding"][tokens[:, :-1]] + parameters["positions"]
        for p, layer_key in zip(parameters["layers"], jax.random.split(key, layers), strict=True):
            x = block(x, p, layer_key)
        logits = norm(x, parameters["norm"]) @ parameters["embedding"].T
        picked = jnp.take_along_axis(jax.nn.log_softmax(logits), tokens[:, 1:, None], axis=-1)
        return -jnp.mean(picked)

    def step(parameters: Any, means: Any, squares: Any, count: Any, tokens: Any, key: Any) -> Any:
        value, gradients = jax.value_and_grad(loss)(parameters, tokens, key)
        count = count + 1
        means = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, means, gradients)
        squares = jax.tree.map(lambda v, g: 0.99 * v + 0.01 * g * g, squares, gradients)
        rate = 1e-3 * jnp.sqrt(1 - 0.99**count) / (1 - 0.9**count)
        parameters = jax.tree.map(lambda p, m, v: p - rate * m / (jnp.sqrt(v) + 1e-8), parameters, means, squares)
        return parameters, means, squares, count, value

    struct: Any = jax.ShapeDtypeStruct  # JAX doesn't say its arguments' types

    def array(*shape: int, dtype: Any = jnp.float32) -> Any:
        return struct(shape, dtype)

    def dense_shapes(inputs: int, outputs: int) -> Any:
        return {"w": array(inputs, outputs), "b": array(outputs)}

    norm_shapes = {"scale": array(width), "shift": array(width)}
    layer_shapes = {
        "norm1": norm_shapes,
        "norm2": norm_shapes,
        **{name: dense_shapes(width, width) for name in ("q", "k", "v", "out")},
        "up": dense_shapes(width, 4 * width),
        "down": dense_shapes(4 * width, width),
    }
    parameters = {
        "embedding": array(vocabulary, width),
        "positions": array(length, width),
        "norm": norm_shapes,
        "layers": [layer_shapes] * layers,
    }
    tokens, key = array(batch, length + 1, dtype=jnp.int32), array(2, dtype=jnp.uint32)
    traced = jax.jit(step, donate_argnums=(0, 1, 2)).trace(parameters, parameters, parameters, array(), tokens, key)
    text: str = traced.lower(lowering_platforms=("cpu",)).as_text(debug_info=debug_info)
    return text
