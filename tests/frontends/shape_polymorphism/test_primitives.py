"""`jax.export` of one primitive over symbolic sizes: evaluator and CPU backend agree with JAX at both sizes."""

from __future__ import annotations

import importlib
import random

import numpy as np
import pytest

import xla_core as xla
from tests.roundings import assert_within

jax = pytest.importorskip("jax")
export = pytest.importorskip("jax.export")
PRIMITIVES = importlib.import_module("tests.frontends.shape_polymorphism.primitives").PRIMITIVES
SAMPLE = random.Random(1).sample(PRIMITIVES, 12)


@pytest.fixture(scope="module")
def client():
    with xla.Client("cpu") as made:
        yield made


@pytest.mark.parametrize(
    "program",
    [pytest.param(p, id=str(p), marks=() if p in SAMPLE else pytest.mark.slow) for p in PRIMITIVES],
)
def test_agrees_with_jax(client, program):
    scope = export.SymbolicScope(program.constraints)
    shapes = [export.symbolic_shape(text, scope=scope) if text else () for text in program.shapes]
    arguments = [jax.ShapeDtypeStruct(s, d) for s, d in zip(shapes, program.dtypes, strict=True)]
    made = export.export(jax.jit(program.function), platforms=["cpu"])(*arguments)
    exe = client.compile(made.mlir_module_serialized, file=program.name)
    for sizes in program.sizes:
        given = program.arguments(sizes)
        expected = [np.asarray(leaf) for leaf in jax.tree.leaves(made.call(*given))]
        for results in (xla.evaluate(made.mlir_module(), *given), exe(*given)):
            for number, (got, want) in enumerate(zip(results, expected, strict=True)):
                assert_within(program.roundings, np.asarray(got), want, f"{program}, result {number}")
    assert len(exe.signatures()) == len(program.sizes)


def test_every_program_has_a_name_of_its_own():
    assert len({str(p) for p in PRIMITIVES}) == len(PRIMITIVES) > 60
