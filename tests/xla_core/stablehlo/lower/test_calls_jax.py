"""Custom calls and composites between StableHLO and HLO, as XLA itself takes them across: by jaxlib's converters."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import xla_core as xla
from tests.xla_core.hlo.structural_equality import structurally_equal
from xla_core.stablehlo import from_hlo, lower, parse_text, write_portable_artifact, write_text

jax = pytest.importorskip("jax")
_jax = pytest.importorskip("jaxlib._jax")
_hlo = pytest.importorskip("jaxlib._hlo", reason="this jaxlib has no HLO reader")
mlir = pytest.importorskip("jax._src.interpreters.mlir")
xla_client = pytest.importorskip("jaxlib.xla_client")
ir = pytest.importorskip("jaxlib.mlir.ir")
stablehlo = pytest.importorskip("jaxlib.mlir.dialects.stablehlo")

CALL = """\
func.func @main(%x: tensor<3x3xf32>) -> tensor<3x3xf32> {{
  %0 = stablehlo.custom_call @target(%x) {{{0}}} : (tensor<3x3xf32>) -> tensor<3x3xf32>
  return %0 : tensor<3x3xf32>
}}
"""
COMPOSITE = """\
func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0:2 = stablehlo.composite "acme.two" %x {composite_attributes = {k = 3 : i32}, decomposition = @two,\
 version = 2 : i32} : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return %0#0, %0#1 : tensor<4xf32>, tensor<4xf32>
}
func.func private @two(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = stablehlo.add %x, %x : tensor<4xf32>
  %1 = stablehlo.multiply %x, %x : tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}
"""


def exported(text: str) -> str:
    """The HLO text that XLA makes of a program."""
    return _jax.mlir.mlir_module_to_xla_computation(text, use_tuple_args=False, return_tuple=False).as_hlo_text()


def imported(hlo: str) -> str:
    """The StableHLO text that XLA makes of HLO text."""
    proto = _hlo.hlo_module_from_text(hlo).as_serialized_hlo_module_proto()
    serialized = _jax.mlir.xla_computation_to_mlir_module(_hlo.XlaComputation(proto))
    with mlir.make_ir_context(), ir.Location.unknown():
        return str(ir.Module.parse(serialized))


def run(text: str, *arguments: Any) -> list[np.ndarray]:
    """The results of XLA for StableHLO text."""
    device = jax.devices("cpu")[0]
    executable = device.client.compile_and_load(text, xla_client.DeviceList((device,)), xla_client.CompileOptions())
    return [np.asarray(out) for out in executable.execute([jax.device_put(a, device) for a in arguments])]


def configuration(hlo: str) -> dict[str, str]:
    """What a custom call says of its version and configuration."""
    (line,) = (line for line in hlo.splitlines() if "custom_call_target=" in line)
    return dict(re.findall(r"\b(api_version|backend_config)=(\w+|\{.*?\}|\".*?\")(?=,|$)", line))


def first_op(module: Any) -> Any:
    return module.functions["main"].regions[0].block.ops[0]


@pytest.mark.parametrize(
    "attributes",
    [
        'backend_config = "", mhlo.backend_config = {uplo = 76 : ui8}',
        "mhlo.backend_config = {uplo = 76 : ui8}",
        "mhlo.backend_config = {}",
        "api_version = 1 : i32, mhlo.backend_config = {a = true}",
        "api_version = 2 : i32, mhlo.backend_config = {a = true}",
        "api_version = 4 : i32, backend_config = {b = 2 : i16}, mhlo.backend_config = {a = true}",
        "api_version = 4 : i32, backend_config = {}",
        "api_version = 4 : i32, mhlo.backend_config = {a = true}",
        "api_version = 4 : i32",
        "api_version = 3 : i32",
        "has_side_effect = true",
    ],
)
def test_versions_and_configurations_are_those_that_xla_exports(attributes: str) -> None:
    text = CALL.format(attributes)
    hlo = xla.parse(text)
    assert configuration(hlo.to_text()) == configuration(exported(text))
    assert configuration(lower(parse_text(write_text(from_hlo(hlo)))).to_text()) == configuration(exported(text))


def test_a_dictionary_comes_back_as_one() -> None:
    """JAX's form of a typed call: with the version ORIGINAL, and the dictionary in `mhlo.backend_config`."""
    hlo = xla.parse(CALL.format('backend_config = "", mhlo.backend_config = {uplo = 76 : ui8}'))
    call = first_op(from_hlo(hlo))
    assert (call.attributes["api_version"], call.attributes["backend_config"]) == (4, {"uplo": 76})
    assert structurally_equal(lower(from_hlo(hlo)), hlo)
    for text in (hlo.to_text(), exported(write_text(from_hlo(hlo)))):
        assert first_op(parse_text(imported(text))).attributes["backend_config"] == {"uplo": 76}


def linear_algebra(x: Any) -> Any:
    a = x @ x.T + 4 * np.eye(4, dtype=np.float32)
    return jax.numpy.linalg.cholesky(a), jax.numpy.linalg.qr(x), jax.numpy.linalg.eigh(a), jax.numpy.linalg.inv(a)


@pytest.mark.parametrize("has_locations", [False, True])
def test_xla_runs_jaxs_linear_algebra_from_our_hlo_and_stablehlo(has_locations: bool) -> None:
    x = np.random.default_rng(0).standard_normal((4, 4)).astype(np.float32)
    text = jax.jit(linear_algebra).lower(x).as_text(debug_info=has_locations)
    want = [np.asarray(leaf) for leaf in jax.tree.leaves(jax.jit(linear_algebra)(x))]
    hlo = xla.parse(text)
    older = write_portable_artifact(parse_text(text), "0.9.0")
    with mlir.make_ir_context() as context:
        read = str(stablehlo.deserialize_portable_artifact(context, older))
    for program in (imported(hlo.to_text()), write_text(from_hlo(hlo)), read):
        for got, expected in zip(run(program, x), want, strict=True):
            np.testing.assert_allclose(got, expected, rtol=1e-6, atol=1e-6)


def test_a_composite_of_several_results_goes_to_xla_and_stays_one_here() -> None:
    x = np.arange(4, dtype=np.float32)
    hlo = xla.parse(COMPOSITE)
    for got, expected in zip(run(imported(hlo.to_text()), x), (x + x, x * x), strict=True):
        np.testing.assert_array_equal(got, expected)
    for module in (hlo, xla.parse(hlo.to_text()), xla.parse(exported(COMPOSITE))):
        composite = first_op(from_hlo(module))
        assert (composite.name, composite.attributes["name"]) == ("stablehlo.composite", "acme.two")
        assert (composite.attributes["composite_attributes"], composite.attributes["version"]) == ({"k": 3}, 2)
        assert "mhlo.frontend_attributes" not in composite.attributes
