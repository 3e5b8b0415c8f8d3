"""JAX's lax functions in every element type: what they lower to gives what XLA gives, evaluated and compiled."""

from __future__ import annotations

import random
import warnings

import ml_dtypes
import numpy as np
import pytest

import xla_core as xla
from tests.xla_core.stablehlo.ops.lax_cases import LaxCase, cases
from xla_core.hlo import Tolerance, compare_arrays

jax = pytest.importorskip("jax")
pytest.importorskip("xla_backend_cpu")

CASES = list(cases(jax.lax, jax.numpy, jax))
SAMPLE = sorted(random.Random(3).sample(range(len(CASES)), 40))


def check(case: LaxCase, client: xla.Client) -> None:
    arguments = case.values()
    with jax.enable_x64(True), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        jitted = jax.jit(case.function)
        text = jitted.lower(*arguments).as_text()
        wanted = [np.asarray(x) for x in jax.tree.leaves((case.oracle or jitted)(*arguments))]
    for name, results in (
        ("evaluator", xla.evaluate(xla.parse(text), *arguments)),
        ("cpu", client.compile(text)(*arguments)),
    ):
        for got, want in zip(results, wanted, strict=True):
            exact = want.dtype.kind in "iub"
            epsilon = 0.0 if exact else float(ml_dtypes.finfo(want.real.dtype).eps)
            difference = compare_arrays(np.asarray(got), want, Tolerance(ulp=case.ulp, scaled=case.scaled * epsilon))
            assert difference.equal, f"{name}: {difference}"


@pytest.fixture(scope="module")
def client():
    with xla.Client("cpu") as made:
        yield made


@pytest.mark.parametrize("number", SAMPLE, ids=lambda i: CASES[i].id)
def test_a_sample(number: int, client: xla.Client):
    check(CASES[number], client)


@pytest.mark.slow
@pytest.mark.parametrize("number", sorted(set(range(len(CASES))) - set(SAMPLE)), ids=lambda i: CASES[i].id)
def test_the_rest(number: int, client: xla.Client):
    check(CASES[number], client)


def test_it_has_every_element_type_and_many_functions():
    assert {case.dtype for case in CASES} >= {"bool", "int8", "uint64", "bfloat16", "float16", "complex128"}
    assert len({case.name for case in CASES}) > 200
    assert len(CASES) > 2000
