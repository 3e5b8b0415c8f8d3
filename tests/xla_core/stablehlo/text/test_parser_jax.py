"""Programs that JAX writes: the training step of a transformer in every form that JAX prints, and how fast it reads."""

from __future__ import annotations

import functools
import time
from pathlib import Path
from typing import Any

import pytest

from tests.xla_core.stablehlo.reading import tree
from xla_core.stablehlo import parse_text

jax = pytest.importorskip("jax")
jnp = jax.numpy

LAYERS, WIDTH, HEADS, WORDS, LENGTH, BATCH = 12, 64, 4, 96, 32, 2


def normalize(x: Any, p: Any) -> Any:
    mean = x.mean(-1, keepdims=True)
    variance = ((x - mean) ** 2).mean(-1, keepdims=True)
    return (x - mean) * jax.lax.rsqrt(variance + 1e-5) * p["g"] + p["b"]


def block(x: Any, p: Any, key: Any) -> Any:
    h = normalize(x, p["ln1"])
    split = (BATCH, LENGTH, HEADS, WIDTH // HEADS)
    q, k, v = (a.reshape(split) for a in jnp.split(h @ p["qkv"], 3, -1))
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / 4.0
    scores = jnp.where(jnp.tril(jnp.ones((LENGTH, LENGTH), bool)), scores, -1e9)
    out = jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores), v).reshape(x.shape) @ p["o"]
    out = jnp.where(jax.random.bernoulli(key, 0.9, out.shape), out / 0.9, 0)
    x = x + out
    h = normalize(x, p["ln2"])
    return x + jax.nn.gelu(h @ p["w1"] + p["b1"]) @ p["w2"] + p["b2"]


def loss(parameters: Any, tokens: Any, key: Any) -> Any:
    x = parameters["embedding"][tokens] + parameters["position"]
    for p, k in zip(parameters["layers"], jax.random.split(key, LAYERS), strict=True):
        x = block(x, p, k)
    scores = jax.nn.log_softmax((normalize(x, parameters["ln"]) @ parameters["embedding"].T)[:, :-1])
    return -jnp.take_along_axis(scores, tokens[:, 1:, None], -1).mean()


def step(parameters: Any, m: Any, v: Any, t: Any, tokens: Any, key: Any) -> Any:
    value, gradient = jax.value_and_grad(loss)(parameters, tokens, key)
    t = t + 1
    m = jax.tree.map(lambda a, g: 0.9 * a + 0.1 * g, m, gradient)
    v = jax.tree.map(lambda a, g: 0.999 * a + 0.001 * g * g, v, gradient)

    def update(p: Any, a: Any, b: Any) -> Any:
        return p - 1e-3 * (a / (1 - 0.9**t)) / (jnp.sqrt(b / (1 - 0.999**t)) + 1e-8)

    return jax.tree.map(update, parameters, m, v), m, v, t, value


@functools.cache
def lowered() -> Any:
    def shape(*dims: int) -> Any:
        return jax.ShapeDtypeStruct(dims, jnp.float32)

    norm = {"g": shape(WIDTH), "b": shape(WIDTH)}
    layer = {
        "ln1": norm,
        "ln2": norm,
        "qkv": shape(WIDTH, 3 * WIDTH),
        "o": shape(WIDTH, WIDTH),
        "w1": shape(WIDTH, 4 * WIDTH),
        "b1": shape(4 * WIDTH),
        "w2": shape(4 * WIDTH, WIDTH),
        "b2": shape(WIDTH),
    }
    parameters = {
        "embedding": shape(WORDS, WIDTH),
        "position": shape(LENGTH, WIDTH),
        "layers": [layer] * LAYERS,
        "ln": norm,
    }
    tokens = jax.ShapeDtypeStruct((BATCH, LENGTH), jnp.int32)
    key = jax.ShapeDtypeStruct((2,), jnp.uint32)
    return jax.jit(step).lower(parameters, parameters, parameters, shape(), tokens, key)


def test_every_form_gives_one_tree() -> None:
    pretty = tree(parse_text(lowered().as_text()))
    assert tree(parse_text(lowered().as_text(debug_info=True))) == pretty
    operation = lowered().compiler_ir().operation
    assert tree(parse_text(operation.get_asm(print_generic_op_form=True))) == pretty
    assert tree(parse_text(operation.get_asm(print_generic_op_form=True, enable_debug_info=True))) == pretty


def test_locations_name_the_user_s_code() -> None:
    module = parse_text(lowered().as_text(debug_info=True))
    ops = [op for op in module.functions["main"].walk() if op.name == "stablehlo.rsqrt"]
    assert ops
    for op in ops:
        assert op.location is not None
        assert Path(op.location.file).resolve() == Path(__file__).resolve()  # JAX may give the path from here
        assert "rsqrt" in op.location.name
    arguments = module.functions["main"].regions[0].block
    assert arguments.argument_locations[0] is not None
    assert arguments.argument_locations[0].name == "parameters['embedding']"


@pytest.mark.parametrize("debug_info", [False, True])
def test_a_training_step_reads(debug_info: bool) -> None:
    text = lowered().as_text(debug_info=debug_info)
    assert text.count("\n") > 8000
    ops = [op.name for function in parse_text(text).functions.values() for op in function.walk()]
    assert ops.count("stablehlo.dot_general") == text.count(" stablehlo.dot_general ")


def test_large_constants_are_not_read_by_element() -> None:
    table = jnp.arange(1 << 20, dtype=jnp.float32)
    text = (
        jax.jit(lambda x: x + table)
        .lower(jnp.zeros(1 << 20))
        .compiler_ir()
        .operation.get_asm(large_elements_limit=None)
    )
    start = time.thread_time()
    module = parse_text(text)
    assert time.thread_time() - start < 2
    [constant] = [op for op in module.functions["main"].walk() if op.name == "stablehlo.constant"]
    assert (constant.attributes["value"].array == table).all()


@pytest.mark.parametrize(
    ("function", "shapes"),
    [
        (lambda a: jnp.linalg.svd(a), [(4, 4)]),
        (lambda a: jnp.sort(a)[::-1], [(8,)]),
        (lambda a: jax.lax.top_k(a, 2), [(8,)]),
        (lambda a: jax.lax.cond(a[0] > 0, jnp.sin, jnp.cos, a), [(4,)]),
        (lambda a: jax.lax.scan(lambda c, x: (c + x, c * x), 0.0, a), [(4,)]),
        (lambda a: jnp.fft.rfft(a), [(8,)]),
        (lambda a, b: jax.lax.conv_general_dilated(a, b, (1, 2), "SAME"), [(1, 3, 8, 8), (5, 3, 3, 3)]),
        (lambda a: jax.lax.reduce_window(a, -jnp.inf, jax.lax.max, (2,), (1,), "VALID"), [(8,)]),
        (lambda a: jax.random.normal(jax.random.key(0), a.shape), [(8,)]),
        (lambda a: a.astype(jnp.float8_e4m3fn) + jnp.asarray(1, jnp.float8_e4m3fn), [(8,)]),
        (lambda a: a.at[jnp.array([1, 2])].add(1.0), [(8,)]),
        (lambda a: jax.scipy.special.erf(a) + jax.lax.lgamma(a), [(8,)]),
        (lambda a: jax.grad(lambda x: jax.checkpoint(jnp.sin)(x).sum())(a), [(8,)]),
    ],
)
def test_kinds_of_programs(function: Any, shapes: list[tuple[int, ...]]) -> None:
    program = jax.jit(function).lower(*[jax.ShapeDtypeStruct(shape, jnp.float32) for shape in shapes])
    operation = program.compiler_ir().operation
    pretty = tree(parse_text(program.as_text()))
    assert tree(parse_text(operation.get_asm(print_generic_op_form=True))) == pretty
    assert tree(parse_text(program.as_text(debug_info=True))) == pretty
