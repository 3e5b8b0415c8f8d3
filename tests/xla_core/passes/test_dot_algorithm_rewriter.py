"""Dots with an algorithm: plain dots of operands that are rounded as the algorithm's types say."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import xla_core as xla
from xla_core.target import Capabilities

RNG = np.random.default_rng(0)
X, Y = RNG.standard_normal((4, 6)).astype(np.float32), RNG.standard_normal((6, 5)).astype(np.float32)


def tf32(x: np.ndarray) -> np.ndarray:
    """To 10 bits of mantissa, to nearest even."""
    bits = x.view(np.uint32)
    rounded = bits + 0x0FFF + ((bits >> 13) & 1)
    return (rounded & np.uint32(0xFFFFE000)).view(np.float32)


ROUNDED = {
    "dot_bf16_bf16_f32": lambda x: x.astype(ml_dtypes.bfloat16),
    "dot_f16_f16_f32": lambda x: x.astype(np.float16),
    "dot_tf32_tf32_f32": tf32,
    "dot_bf16_bf16_f32_x3": lambda x: x,
    "dot_f32_f32_f32": lambda x: x,
}


def text(algorithm: str) -> str:
    return f"""x = f32[4,6] parameter(0)
      y = f32[6,5] parameter(1)
      ROOT r = f32[4,5] dot(x, y), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}, algorithm={algorithm}"""


@pytest.mark.parametrize("backend", ["cpu", "template"])
@pytest.mark.parametrize("algorithm", ROUNDED)
def test_backends_round_the_operands(backend, algorithm):
    a, b = (ROUNDED[algorithm](v).astype(np.float64) for v in (X, Y))
    with xla.Client(backend) as client:
        (result,) = client.compile(f"HloModule m\nENTRY e {{ {text(algorithm)} }}")(X, Y)
        got = np.asarray(result)
    error = np.abs(got - a @ b)
    assert (error <= 6 * 2**-24 * (np.abs(a) @ np.abs(b))).all()  # k roundings of f32


def test_a_target_that_has_the_algorithm_keeps_it():
    dot = xla.parse(f"HloModule m\nENTRY e {{ {text('dot_bf16_bf16_f32')} }}").entry.root
    assert not Capabilities.all_of().check(dot)
    assert Capabilities.all_of().model_copy(update={"dot_algorithms": frozenset({"dot_bf16_bf16_f32"})}).check(dot)


@pytest.mark.parametrize("backend", ["cpu", "template"])
@pytest.mark.parametrize("dtype", [np.float32, np.float16, ml_dtypes.bfloat16])
def test_backends_accumulate_in_f64(backend, dtype):
    """Two large terms cancel, beside which a narrower sum loses the others."""
    kind = {"float32": "f32", "float16": "f16", "bfloat16": "bf16"}[np.dtype(dtype).name]
    large = 2.0**15 if dtype is np.float16 else 2.0**24
    x = np.array([[large, 1, 1, -large]]).astype(dtype)
    y = np.array([[large], [1], [1], [large]]).astype(dtype)
    with xla.Client(backend) as client:
        program = client.compile(
            f"HloModule m\nENTRY e {{ x = {kind}[1,4] parameter(0)\n y = {kind}[4,1] parameter(1)\n"
            f"ROOT r = {kind}[1,1] dot(x, y), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}, "
            "algorithm=dot_f64_f64_f64 }"
        )
        (result,) = program(x, y)
        assert np.asarray(result).astype(np.float64).tolist() == [[2.0]]
