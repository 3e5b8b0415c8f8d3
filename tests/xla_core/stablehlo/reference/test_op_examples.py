"""The example of every op: it is read, it is about its op, and XLA gives what the evaluator gives."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.roundings import assert_within
from xla_core.errors import NotFoundError
from xla_core.hlo import HloModule, evaluate, evaluate_replicas
from xla_core.stablehlo import OPS, op_example, op_reference, parse_text

NOT_FOR_XLA = {
    "stablehlo.get_tuple_element": "JAX passes no tuples",
    "stablehlo.outfeed": "gives a value to the outfeed",
    "stablehlo.return": "ends a function here, only regions there",
    "stablehlo.rng": "no two runs give the same",
}

REFUSED_BY_XLA = {
    "chlo.ragged_dot": "HLO opcode `ragged-dot` is not supported by XLA:CPU",
    "stablehlo.dynamic_conv": "op can't be translated to XLA HLO",
    "stablehlo.dynamic_iota": "op can't be translated to XLA HLO",
    "stablehlo.dynamic_reshape": "op expected bounded result",
    "stablehlo.unary_einsum": "op can't be translated to XLA HLO",
    "stablehlo.uniform_dequantize": "op can't be translated to XLA HLO",
    "stablehlo.uniform_quantize": "op can't be translated to XLA HLO",
}
"""The errors of XLA's CPU compiler for the examples that it can't compile. A refusal of any other is a wrong example.
"""

ON_TWO: dict[str, Callable[..., tuple[Any, Any]]] = {
    "sdy.manual_computation": lambda a, b: ([a[1], a[0], b[3], b[2]],) * 2,
    "sdy.return": lambda a, b: (a, b),
    "stablehlo.all_gather": lambda a, b: (np.concatenate([a, b]),) * 2,
    "stablehlo.all_reduce": lambda a, b: (a + b,) * 2,
    "stablehlo.all_to_all": lambda a, b: (np.concatenate([a[:, :2], b[:, :2]]), np.concatenate([a[:, 2:], b[:, 2:]])),
    "stablehlo.collective_broadcast": lambda a, b: (b, b),
    "stablehlo.collective_permute": lambda a, b: (np.zeros(4), a),
    "stablehlo.collective_reduce": lambda a, b: (a + b, np.zeros(4)),
    "stablehlo.cross-replica-sum": lambda a, b: (a + b,) * 2,
    "stablehlo.recv": lambda a, b: (b, a),
    "stablehlo.reduce_scatter": lambda a, b: ((a + b)[:2], (a + b)[2:]),
    "stablehlo.replica_id": lambda: (0, 1),
    "stablehlo.send": lambda a, b: (b, a),
}
"""What the two devices of an example give, by the specification, where they are given `a` and `b`."""


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
        rows = [[a + a.dtype.type(r) for a in given] for r in range(example.devices)]
        gave = evaluate_replicas(module, rows, timeout=20)
        for (result,), want in zip(gave, ON_TWO[name](*(a for row in rows for a in row)), strict=True):
            np.testing.assert_array_equal(result, want)
        return
    ours = evaluate(module, *given)
    if name in NOT_FOR_XLA:
        pytest.skip(NOT_FOR_XLA[name])
    if name in REFUSED_BY_XLA:
        _refused_by_xla(reference.example, REFUSED_BY_XLA[name])
        return
    jax = pytest.importorskip("jax")
    try:
        theirs = _by_xla(reference.example, given)
    except jax.errors.JaxRuntimeError as error:
        if f"custom op '{name}' is unknown" not in str(error):
            raise
        pytest.skip("an op that XLA doesn't have: conform compares it with the evaluator")
    for a, b in zip(ours, theirs, strict=True):
        assert_within(8, np.asarray(a), np.asarray(b), name)


def _by_xla(text: str, arguments: list[np.ndarray]) -> list[np.ndarray]:
    jax = pytest.importorskip("jax")
    from jax.extend.backend import get_backend
    from jaxlib import xla_client

    client = get_backend("cpu")
    device = client.local_devices()[0]
    executable = client.compile_and_load(text, xla_client.DeviceList((device,)), xla_client.CompileOptions())
    with jax.enable_x64(True):
        placed = [jax.device_put(a, device) for a in arguments]
        return [np.asarray(out) for out in executable.execute(placed)]


def _refused_by_xla(text: str, reason: str) -> None:
    jax = pytest.importorskip("jax")
    with pytest.raises(jax.errors.JaxRuntimeError, match=re.escape(reason)):
        _by_xla(text, [])


def test_examples_take_other_types() -> None:
    text = op_example("stablehlo.slice").program("complex<f64>")
    assert "tensor<3x8xcomplex<f64>>" in text
    assert "dense<[[(0.0, 0.0)" in op_example("stablehlo.constant").program("complex<f32>")
    with pytest.raises(NotFoundError):
        op_example("stablehlo.slices")
