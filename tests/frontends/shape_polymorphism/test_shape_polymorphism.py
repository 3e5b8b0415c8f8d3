"""`jax.export` with symbolic shapes: the text and the bytecode run unmodified, and agree with JAX for several sizes."""

from __future__ import annotations

import importlib

import numpy as np
import pytest

import xla_core as xla
from tests.roundings import assert_within
from xla_core.errors import InvalidArgumentError

jax = pytest.importorskip("jax")
export = pytest.importorskip("jax.export")
jnp = pytest.importorskip("jax.numpy")
PROGRAMS = importlib.import_module("tests.frontends.shape_polymorphism.programs").PROGRAMS


@pytest.fixture(scope="module")
def client():
    with xla.Client("cpu") as made:
        yield made


def exported(function, shapes, dtypes=None, constraints=(), platforms=("cpu",)):
    scope = export.SymbolicScope(constraints)
    symbolic = [export.symbolic_shape(text, scope=scope) if text else () for text in shapes]
    dtypes = dtypes or [np.float32] * len(shapes)
    arguments = [jax.ShapeDtypeStruct(s, d) for s, d in zip(symbolic, dtypes, strict=True)]
    return export.export(jax.jit(function), platforms=list(platforms))(*arguments)


def check(results, expected, roundings=4):
    expected = [np.asarray(leaf) for leaf in jax.tree.leaves(expected)]
    for number, (got, want) in enumerate(zip(results, expected, strict=True)):
        assert_within(roundings, np.asarray(got), want, f"result {number}")


@pytest.mark.parametrize("program", PROGRAMS, ids=str)
def test_agrees_with_jax(client, program):
    made = exported(program.function, program.shapes, program.dtypes, program.constraints)
    text, bytecode = made.mlir_module(), made.mlir_module_serialized
    of_text = client.compile(text, file=program.name)
    for number, sizes in enumerate(program.sizes):
        arguments = program.arguments(sizes)
        expected = made.call(*arguments)
        check(of_text(*arguments), expected, program.roundings)
        check(of_text(*arguments), expected, program.roundings)
        if number == 0:
            check(client.compile(bytecode)(*arguments), expected, program.roundings)
        else:
            check(xla.evaluate(bytecode, *arguments), expected, program.roundings)
    assert len(of_text.signatures()) == len(program.sizes)


def test_sizes_that_the_specification_excludes(client):
    made = exported(lambda x: x.sum(0), ["b, 2*k+1"], constraints=("b >= 2", "mod(b, 2) == 0"))
    exe = client.compile(made.mlir_module())
    good = np.ones((4, 3), np.float32)
    check(exe(good), made.call(good))
    for shape, message in (
        ((4, 4), r"Division had remainder 1 when computing the value of 'k'.*\(= 4\)"),
        ((4, 1), r"Expected value >= 1 for dimension variable 'k'.*'k' = 0 from specification"),
        ((0, 3), r"Expected value >= 1 for dimension variable 'b'.*'b' = 0"),
        ((3, 3), r"constraint 2\*floordiv\(b, 2\) == b\. Expected .* to be equal to 0, but found -1\."),
    ):
        with pytest.raises(InvalidArgumentError, match=message) as raised:
            exe(np.ones(shape, np.float32))
        assert raised.value.location is not None
        assert raised.value.location.name == "shape_assertion"
    assert len(exe.signatures()) == 1
    check(exe(good), made.call(good))


def test_a_program_for_several_platforms_takes_the_number_of_its_platform(client):
    def by_platform(x):
        return jax.lax.platform_dependent(x, cpu=jnp.sin, tpu=jnp.cos) * x.shape[0] + jnp.arange(x.shape[0])

    for shapes in (["b"], ["5"]):
        made = exported(by_platform, shapes, platforms=("cpu", "tpu"))
        x = np.linspace(0, 1, 5, dtype=np.float32)
        expected = [f(x.astype(np.float64)) * 5 + np.arange(5) for f in (np.sin, np.cos)]
        for options in (xla.CompileOptions(), xla.CompileOptions(static_arguments=(0,))):
            exe = client.compile(made.mlir_module_serialized, options)
            for index, want in enumerate(expected):
                check(exe(np.int32(index), x), want.astype(np.float32))
            assert len(exe.signatures()) == (2 if options.static_arguments else 1)
        one = exe.specialize(0, x)
        assert "cosine" not in one.as_text()  # the other platform's branch is gone
        assert "cosine(" in client.compile(made.mlir_module()).specialize((), (5,)).as_text()


def test_the_gradient_of_an_exported_program(client):
    def loss(x, w):
        return jnp.tanh(x @ w).sum()

    scope = export.SymbolicScope()
    shapes = [jax.ShapeDtypeStruct(export.symbolic_shape(s, scope=scope), np.float32) for s in ("b, k", "k, 3")]
    gradient = export.export(jax.jit(loss), platforms=["cpu"])(*shapes).vjp()
    exe = client.compile(gradient.mlir_module_serialized)
    for b, k in ((2, 3), (4, 1)):
        random = np.random.default_rng(b)
        x, w = random.normal(size=(b, k)).astype(np.float32), random.normal(size=(k, 3)).astype(np.float32)
        check(exe(x, w, np.float32(1)), jax.grad(loss, (0, 1))(x, w))
