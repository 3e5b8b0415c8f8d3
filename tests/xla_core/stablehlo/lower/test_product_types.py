"""Products whose result is of another category than their operands (JAX's preferred_element_type): what XLA computes."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import xla_core as xla
from xla_core.hlo import Tolerance, compare_arrays

jax = pytest.importorskip("jax")
pytest.importorskip("xla_backend_cpu")
lax = jax.lax

CATEGORIES = {
    "pred": ("bool",),
    "integer": ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"),
    "float": ("bfloat16", "float16", "float32", "float64"),
    "complex": ("complex64", "complex128"),
}
TYPES = {name: category for category, names in CATEGORIES.items() for name in names}
SATURATED = "uint32", "uint64"
"""XLA leaves it open what a complex number with a negative real part is in these; here it is 0."""


SAMPLE = "int32", "uint64", "bfloat16", "complex64"
SOURCES = [pytest.param(t, marks=[pytest.mark.slow] * (t not in SAMPLE)) for t in TYPES]
INTEGRAL = [s for s in SOURCES if TYPES[s.values[0]] in ("pred", "integer")]


def width(name: str) -> int:
    """As JAX counts: a complex number is as wide as its parts."""
    bits = np.dtype(name).itemsize * 8
    return {"pred": 1, "complex": bits // 2}.get(TYPES[name], bits)


def targets(source: str) -> list[str]:
    """The types of other categories that JAX lets a dot of this type have: floats any, others none that is narrower."""
    found = [t for t, category in TYPES.items() if category != TYPES[source]]
    if TYPES[source] == "complex":
        found = [t for t in found if t not in SATURATED]
    return [t for t in found if TYPES[source] == "float" or width(t) >= width(source)]


def dot(preferred: str) -> Callable[..., Any]:
    return lambda x, y: lax.dot_general(x, y, (((2,), (1,)), ((0,), (0,))), preferred_element_type=preferred)


def convolution(preferred: str) -> Callable[..., Any]:
    return lambda x, y: lax.conv_general_dilated(x, y, (1,), "SAME", preferred_element_type=preferred)


def ragged_dot(preferred: str) -> Callable[..., Any]:
    sizes = np.array([1, 2], np.int32)
    return lambda x, y: lax.ragged_dot(x[0], y, sizes, preferred_element_type=preferred)


def values(dtype: str, shape: tuple[int, ...], seed: int) -> np.ndarray:
    """Small numbers with fractions and signs, where the type has them."""
    random = np.random.default_rng(seed)
    if dtype == "bool":
        return random.integers(0, 2, shape).astype(bool)
    real = random.integers(0 if dtype.startswith("u") else -9, 10, shape) / (1 if "int" in dtype else 4)
    return (real + 1j * random.integers(-9, 10, shape) / 4 if "complex" in dtype else real).astype(dtype)


def check(functions: Sequence[Callable[..., Any]], x: np.ndarray, y: np.ndarray, client: xla.Client) -> None:
    """All functions in one program, evaluated, evaluated from HLO text, and compiled."""
    with jax.enable_x64(True), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        jitted = jax.jit(lambda x, y: [f(x, y) for f in functions])
        text = jitted.lower(x, y).as_text()
        wanted = [np.asarray(r) for r in jitted(x, y)]
    module = xla.parse(text)
    for name, results in (
        ("evaluator", xla.evaluate(module, x, y)),
        ("HLO text", xla.evaluate(xla.parse(module.to_text()), x, y)),
        ("cpu", client.compile(text)(x, y)),
    ):
        for got, want in zip(results, wanted, strict=True):
            epsilon = 0.0 if want.dtype.kind in "iub" else float(ml_dtypes.finfo(want.real.dtype).eps)
            difference = compare_arrays(np.asarray(got), want, Tolerance(scaled=epsilon))
            assert difference.equal, f"{name}, {want.dtype}: {difference}"


@pytest.fixture(scope="module")
def client():
    with xla.Client("cpu") as made:
        yield made


@pytest.mark.parametrize("source", SOURCES)
def test_dot(source: str, client: xla.Client):
    check([dot(t) for t in targets(source)], values(source, (2, 3, 4), 0), values(source, (2, 4, 5), 1), client)


@pytest.mark.parametrize("source", INTEGRAL)
def test_convolution(source: str, client: xla.Client):
    """JAX has those of integers with floating results, and of pred with any."""
    kinds = ("float",) if source != "bool" else tuple(CATEGORIES)
    found = [t for t in targets(source) if TYPES[t] in kinds]
    check([convolution(t) for t in found], values(source, (2, 2, 5), 2), values(source, (3, 2, 3), 3), client)


@pytest.mark.parametrize("source", ["bool", "int8"])
def test_ragged_dot(source: str, client: xla.Client):
    found = [ragged_dot(t) for t in ("float32", "float64")]
    check(found, values(source, (1, 3, 4), 4), values(source, (2, 4, 5), 5), client)


@pytest.mark.parametrize(("left", "right"), [("bool", "int32"), ("int8", "bfloat16"), ("complex64", "int32")])
def test_operands_of_two_categories(left: str, right: str, client: xla.Client):
    check([dot("complex64")], values(left, (2, 3, 4), 6), values(right, (2, 4, 5), 7), client)


def test_integers_that_the_result_rounds(client: xla.Client):
    """The operands are rounded to the result's type, and then multiplied."""
    text = """func.func @main(%x: tensor<1x1xi64>) -> tensor<1x1xf32> {
      %0 = stablehlo.dot_general %x, %x, contracting_dims = [1] x [0]
        : (tensor<1x1xi64>, tensor<1x1xi64>) -> tensor<1x1xf32>
      return %0 : tensor<1x1xf32> }"""
    x = np.full((1, 1), (1 << 40) + 1, np.int64)
    for (got,) in (xla.evaluate(xla.parse(text), x), client.compile(text)(x)):
        assert np.asarray(got) == np.float32(2.0**80)
