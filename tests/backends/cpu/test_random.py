"""rng: the state of an executable advances with every use."""

from __future__ import annotations

import numpy as np
import pytest

import xla_core as xla


def program(element_type: str, distribution: str, count: int, low: str = "0", high: str = "1") -> str:
    return f"""HloModule m
ENTRY e {{
  a = {element_type}[] constant({low})
  b = {element_type}[] constant({high})
  x = {element_type}[{count}] rng(a, b), distribution={distribution}
  y = {element_type}[{count}] rng(a, b), distribution={distribution}
  ROOT t = ({element_type}[{count}], {element_type}[{count}]) tuple(x, y)
}}
"""


@pytest.fixture(scope="module")
def cpu():
    with xla.Client("cpu") as client:
        yield client


def test_each_use_and_each_run_draws_other_numbers(cpu):
    exe = cpu.compile(program("f32", "rng_uniform", 100))
    drawn = [np.asarray(x).tobytes() for _ in range(3) for x in exe()]
    assert len(set(drawn)) == 6


def test_a_deserialized_executable_draws_from_the_start(cpu):
    exe = cpu.compile(program("f32", "rng_uniform", 10))
    first = np.asarray(exe()[0])
    again = cpu.deserialize(exe.serialize())
    np.testing.assert_array_equal(np.asarray(again()[0]), first)


@pytest.mark.parametrize("element_type", ["f32", "f64", "f16", "bf16"])
def test_moments(cpu, element_type):
    """The mean of n numbers of deviation s lies within 5 s / sqrt(n) of theirs."""
    n = 40_000
    uniform = np.concatenate(
        [np.asarray(x, np.float64) for x in cpu.compile(program(element_type, "rng_uniform", n, "-1", "3"))()]
    )
    assert uniform.min() >= -1
    assert uniform.max() < 3
    assert abs(uniform.mean() - 1) < 5 * (4 / 12**0.5) / (2 * n) ** 0.5 + 2.0**-7
    normal = np.concatenate(
        [np.asarray(x, np.float64) for x in cpu.compile(program(element_type, "rng_normal", n, "2", "3"))()]
    )
    assert abs(normal.mean() - 2) < 5 * 3 / (2 * n) ** 0.5 + 2.0**-7
    assert abs(normal.std() - 3) < 5 * 3 / (4 * n) ** 0.5 + 2.0**-6


def test_integers_fill_their_interval(cpu):
    drawn = np.concatenate([np.asarray(x) for x in cpu.compile(program("s32", "rng_uniform", 4000, "-3", "4"))()])
    values, counts = np.unique(drawn, return_counts=True)
    assert values.tolist() == list(range(-3, 4))
    assert (abs(counts - 8000 / 7) < 5 * (8000 / 7) ** 0.5).all()


def test_the_state_starts_where_the_evaluators_does(cpu):
    """The state starts at XLA's number, and advances as in XLA."""
    text = """HloModule m
ENTRY e {
  a = u64[2] rng-get-and-update-state(), delta=7
  b = u64[2] rng-get-and-update-state(), delta=1, control-predecessors={a}
  ROOT t = (u64[2], u64[2]) tuple(a, b)
}
"""
    results = [np.asarray(x).tolist() for x in cpu.compile(text)()]
    assert results == [[0x7012395, 0], [0x7012395 + 7, 0]]
    assert results == [x.tolist() for x in xla.evaluate(xla.parse(text))]
