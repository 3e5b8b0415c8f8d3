"""The example of every op: it is read, it is about its op, and XLA gives what the evaluator gives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from xla_core.errors import NotFoundError
from xla_core.hlo import HloModule, evaluate, evaluate_replicas
from xla_core.stablehlo import OPS, op_example, op_reference, parse_text
from xla_core.stablehlo.reference import refusals

NOT_FOR_XLA = {
    "stablehlo.get_tuple_element": "JAX passes no tuples",
    "stablehlo.outfeed": "gives a value to the outfeed",
    "stablehlo.return": "ends a function here, only regions there",
    "stablehlo.rng": "no two runs give the same",
}


def arguments_of(name: str, module: HloModule) -> list[np.ndarray]:
    """Small numbers, different ones for each element."""
    made = []
    positive = op_example(name).positive
    for number, shape in enumerate(module.parameter_shapes):
        count = np.arange(shape.num_elements) + 1
        if shape.element_type.is_floating or shape.element_type.is_complex:
            values = count / 4 if number in positive else np.where(count % 2, -1, 1) * count / 4
        else:
            values = count % 2 if shape.dtype == bool else count
        made.append(values.reshape(shape.dimensions).astype(shape.dtype))
    return made


def _ops_within(op: Any) -> set[str]:
    names = {op.name}
    for region in op.regions:
        for block in region.blocks if hasattr(region, "blocks") else [region.block]:
            for inner in block.ops:
                names |= _ops_within(inner)
    return names


@pytest.mark.parametrize("name", OPS)
def test_an_example_is_about_its_op(name: str) -> None:
    reference = op_reference(name)
    assert reference.hlo is not None, reference.example
    assert len(reference.doc) > 8
    source = parse_text(reference.example)
    used: set[str] = set()
    for function in source.functions.values():
        used |= _ops_within(function)
    assert {name, f"func.{name}", name.removeprefix("func.")} & used
    assert "$" not in reference.example


@pytest.mark.parametrize("name", OPS)
def test_an_example_runs_and_xla_agrees(name: str) -> None:
    reference = op_reference(name)
    assert reference.hlo is not None
    example, module = op_example(name), reference.hlo
    given = arguments_of(name, module)
    if example.infeed or name == "stablehlo.custom_call":
        pytest.skip("needs a host that feeds it, or a library")
    if example.devices > 1:
        rows = evaluate_replicas(module, [[a + r for a in given] for r in range(example.devices)], timeout=20)
        assert len(rows) == example.devices
        return
    ours = evaluate(module, *given)
    if name in NOT_FOR_XLA:
        pytest.skip(NOT_FOR_XLA[name])
    theirs = _by_xla(reference.example, given)
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(a, b, rtol=2e-5, atol=1e-6)


def _by_xla(text: str, arguments: list[np.ndarray]) -> list[np.ndarray]:
    jax = pytest.importorskip("jax")
    from jax.extend.backend import get_backend

    client = get_backend("cpu")
    device = client.local_devices()[0]
    from jaxlib import xla_client

    try:
        executable = client.compile_and_load(text, xla_client.DeviceList((device,)), xla_client.CompileOptions())
    except jax.errors.JaxRuntimeError as error:  # an op that is newer, deprecated, dynamic, quantized, ...
        pytest.skip(f"XLA takes no such program: {str(error)[:200]}")
    with jax.enable_x64(True):
        placed = [jax.device_put(a, device) for a in arguments]
        return [np.asarray(out) for out in executable.execute(placed)]


def test_examples_take_other_types() -> None:
    text = op_example("stablehlo.slice").program("complex<f64>")
    assert "tensor<3x8xcomplex<f64>>" in text
    assert "dense<[[(0.0, 0.0)" in op_example("stablehlo.constant").program("complex<f32>")
    with pytest.raises(NotFoundError):
        op_example("stablehlo.slices")


def test_refusals_are_the_messages_of_the_rule() -> None:
    found = list(refusals(OPS["stablehlo.transpose"].rule))
    assert any(m.startswith("attribute permutation must be a permutation of [") for m in found)
    assert not any("{" in m for m in found)
