"""Exports the three programs of this example from JAX to StableHLO text. Needs JAX; the results are committed.

    python examples/digits/export.py [DIRECTORY]

A convolutional network in plain jax.numpy, trained by Adam. All training state is a flat list of arrays: parameters,
first moments, second moments, and the number of steps taken. The data set stays on the device, and a step takes only
the indices of its images.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import jax
import jax.numpy as jnp
from jax import Array, lax

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]

BATCH = 64
TRAINING_IMAGES, HELD_OUT_IMAGES = 1437, 360
LEARNING_RATE, DECAY_MEAN, DECAY_SQUARE, EPSILON = 1e-3, 0.9, 0.999, 1e-8
PARAMETERS: dict[str, tuple[int, ...]] = {
    "conv1.kernel": (3, 3, 1, 32),
    "conv1.bias": (32,),
    "conv2.kernel": (3, 3, 32, 64),
    "conv2.bias": (64,),
    "dense.kernel": (4 * 4 * 64, 128),
    "dense.bias": (128,),
    "logits.kernel": (128, 10),
    "logits.bias": (10,),
}
COUNT = len(PARAMETERS)


def network(parameters: list[Array], images: Array) -> Array:
    """Logits [n, 10] of uint8 images [n, 8, 8]."""
    kernel1, bias1, kernel2, bias2, dense, dense_bias, out, out_bias = parameters
    x = images[..., None].astype(jnp.float32) / 16.0
    with jax.named_scope("conv1"):
        x = jax.nn.relu(convolve(x, kernel1) + bias1)
    with jax.named_scope("conv2"):
        x = jax.nn.relu(convolve(x, kernel2) + bias2)
    with jax.named_scope("pool"):
        x = lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
    with jax.named_scope("dense"):
        x = jax.nn.relu(x.reshape(x.shape[0], -1) @ dense + dense_bias)
    with jax.named_scope("logits"):
        return x @ out + out_bias


def convolve(x: Array, kernel: Array) -> Array:
    return lax.conv_general_dilated(x, kernel, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))


def cross_entropy(parameters: list[Array], images: Array, labels: Array) -> Array:
    log_probabilities = jax.nn.log_softmax(network(parameters, images))
    return -jnp.mean(jnp.take_along_axis(log_probabilities, labels[:, None].astype(jnp.int32), axis=1))


def init(key: Array) -> list[Array]:
    """The whole state from a key uint32[2]: He-normal kernels, zero biases and moments, step 0."""
    parameters = []
    for layer_key, shape in zip(jax.random.split(key, COUNT), PARAMETERS.values(), strict=True):
        fan_in = 1
        for size in shape[:-1]:
            fan_in *= size
        is_bias = len(shape) == 1
        parameters.append(jnp.zeros(shape) if is_bias else jax.random.normal(layer_key, shape) * (2 / fan_in) ** 0.5)
    return [*parameters, *(jnp.zeros(shape) for shape in 2 * list(PARAMETERS.values())), jnp.int32(0)]


def train_step(*arguments: Array) -> list[Array]:
    """(*state, images, labels, indices) -> (*new state, loss): one step of Adam on the images at `indices`."""
    *state, images, labels, indices = arguments
    parameters, means, squares = state[:COUNT], state[COUNT : 2 * COUNT], state[2 * COUNT : 3 * COUNT]
    step = state[-1] + 1
    loss, gradients = jax.value_and_grad(cross_entropy)(parameters, images[indices], labels[indices])
    time = step.astype(jnp.float32)
    rate = LEARNING_RATE * jnp.sqrt(1 - DECAY_SQUARE**time) / (1 - DECAY_MEAN**time)
    means = [DECAY_MEAN * m + (1 - DECAY_MEAN) * g for m, g in zip(means, gradients, strict=True)]
    squares = [DECAY_SQUARE * v + (1 - DECAY_SQUARE) * g * g for v, g in zip(squares, gradients, strict=True)]
    parameters = [p - rate * m / (jnp.sqrt(v) + EPSILON) for p, m, v in zip(parameters, means, squares, strict=True)]
    return [*parameters, *means, *squares, step, loss]


def predict(*arguments: Array) -> tuple[Array, Array]:
    """(*parameters, images) -> (label int32[n], probability of each digit float32[n, 10])."""
    *parameters, images = arguments
    probabilities = jax.nn.softmax(network(parameters, images))
    return jnp.argmax(probabilities, axis=1).astype(jnp.int32), probabilities


def texts() -> dict[str, str]:
    """The text of each file that `main` writes."""
    jax.config.update("jax_hlo_source_file_canonicalization_regex", f"{ROOT}/")

    def shape(*sizes: int, dtype: object = jnp.float32) -> jax.ShapeDtypeStruct:
        return jax.ShapeDtypeStruct(sizes, dtype)

    parameters = [shape(*sizes) for sizes in PARAMETERS.values()]
    state = [*parameters, *parameters, *parameters, shape(dtype=jnp.int32)]
    images = shape(TRAINING_IMAGES, 8, 8, dtype=jnp.uint8)
    labels = shape(TRAINING_IMAGES, dtype=jnp.uint8)
    programs = {
        "init": jax.jit(init).trace(shape(2, dtype=jnp.uint32)),
        "train_step": jax.jit(train_step, donate_argnums=tuple(range(len(state)))).trace(
            *state, images, labels, shape(BATCH, dtype=jnp.int32)
        ),
        "predict": jax.jit(predict).trace(*parameters, shape(HELD_OUT_IMAGES, 8, 8, dtype=jnp.uint8)),
    }
    header = f"// Written by examples/digits/export.py with JAX {jax.__version__}.\n"
    files = {
        f"{name}.mlir": header + traced.lower(lowering_platforms=("cpu",)).as_text(debug_info=True)
        for name, traced in programs.items()
    }
    files["signature.json"] = (
        json.dumps({"batch": BATCH, "parameters": list(PARAMETERS), "state": len(state)}, indent=2) + "\n"
    )
    return files


def main(directory: Path) -> None:
    for name, text in texts().items():
        (directory / name).write_text(text, encoding="utf-8")
        print(f"{directory / name}: {len(text.splitlines()):,} lines")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE)
