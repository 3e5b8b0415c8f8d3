"""Composites and CHLO ops are kept for a target that declares them, and decomposed for others."""

from __future__ import annotations

import numpy as np
import pytest

import xla_core as xla
from xla_core.hlo import ElementType, HloInstruction, HloModule
from xla_core.passes import run_hlo_passes
from xla_core.target import Capabilities, TargetConfig

COMPOSITE = """
func.func private @halves(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = stablehlo.add %x, %x : tensor<4xf32>
  %1 = stablehlo.negate %x : tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}
func.func private @gelu(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.cosine %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %0 = stablehlo.composite "acme.gelu" %x {composite_attributes = {approximate = true, scale = 2.5 : f32},
    decomposition = @gelu, version = 3 : i32} : (tensor<4xf32>) -> tensor<4xf32>
  %1:2 = stablehlo.composite "acme.halves" %0 {decomposition = @halves} : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  %2 = stablehlo.composite "acme.other" %x {decomposition = @gelu} : (tensor<4xf32>) -> tensor<4xf32>
  return %1#0, %1#1, %2 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
"""
EVERYTHING = Capabilities.all_of()
X = np.array([1, 2, -1, 0.5], np.float32)

PLUGIN = """
from functools import cached_property

from xla_backend_template.compiler import TemplateCompiler
from xla_backend_template.executable import TemplateExecutable
from xla_backend_template.executor import TemplateExecutor
from xla_backend_template.platform import TemplatePlatform
from xla_core.backend import BackendSpec, hookimpl


class AcmeCompiler(TemplateCompiler):
    @cached_property
    def target_config(self):
        config = super().target_config
        composites = frozenset({"acme.gelu", "acme.halves"})
        return config.model_copy(update={"capabilities": config.capabilities.model_copy(update={"composites": composites})})


class AcmePlatform(TemplatePlatform):
    def create_compiler(self):
        return AcmeCompiler()


@hookimpl
def xla_backend():
    return BackendSpec(version="1.0", contract_versions=((1, 0),), platform=AcmePlatform, compiler=AcmeCompiler,
                       executable=TemplateExecutable, stream_executor=TemplateExecutor)
"""


def opcodes(module: HloModule) -> list[str]:
    return [i.opcode for c in module.computations for i in c.instructions]


@pytest.mark.parametrize("level", [0, 1, 2])
def test_a_declared_composite_becomes_a_custom_call_of_its_name(level: int) -> None:
    target = TargetConfig(
        name="acme",
        capabilities=EVERYTHING.without_ops("cosine").model_copy(
            update={"composites": frozenset({"acme.gelu", "acme.other"})}
        ),
    )
    module = run_hlo_passes(xla.parse(COMPOSITE), target, xla.CompileOptions(optimization_level=level))
    calls = {
        i.attribute("custom_call_target"): i
        for c in module.computations
        for i in c.instructions
        if i.opcode == "custom-call"
    }
    assert set(calls) == {"acme.gelu", "acme.other"}
    gelu = calls["acme.gelu"]
    assert gelu.attribute("backend_config") == "{approximate = true, scale = 2.5 : f32}"
    assert dict(gelu.attribute("frontend_attributes"))["composite.version"] == "3"
    assert "call" not in opcodes(module)
    assert "cosine" not in opcodes(module)


def test_what_is_not_declared_is_written_out() -> None:
    module = run_hlo_passes(xla.parse(COMPOSITE), TargetConfig(name="plain", capabilities=EVERYTHING))
    assert "custom-call" not in opcodes(module)
    want = (2 * np.cos(X), -np.cos(X), np.cos(X))
    for got, expected in zip(xla.evaluate(module, X), want, strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-6)


def test_a_composite_of_another_element_type_is_its_decomposition() -> None:
    def only_f32(instruction: HloInstruction) -> str | None:
        kinds = {s.element_type for s in (instruction.shape, *(o.shape for o in instruction.operands))}
        return None if kinds == {ElementType.F32} else "it takes f32 only"

    own = EVERYTHING.model_copy(update={"composites": frozenset({"acme.gelu"})})
    target = TargetConfig(name="acme", capabilities=own.with_constraint("custom-call", only_f32))
    for kind, is_call in (("f32", True), ("bf16", False)):
        module = run_hlo_passes(xla.parse(COMPOSITE.replace("f32>", f"{kind}>")), target)
        assert ("custom-call" in opcodes(module)) == is_call


def test_a_backend_runs_its_own_composites(install) -> None:
    """A backend made of public names; what it computes shows that the decomposition was not used."""
    from xla_core.hlo import is_custom_call_registered, register_custom_call

    if not is_custom_call_registered("acme.gelu"):
        register_custom_call("acme.gelu")(lambda context, instruction, values: values[0] + np.float32(10))
        register_custom_call("acme.halves")(lambda context, instruction, values: (values[0] * 2, values[0] * 3))
    install("xla-backend-acme", "acme", PLUGIN)
    with xla.Client("acme") as client:
        executable = client.compile(COMPOSITE)
        assert executable.as_text().count("custom-call(") == 2
        outs = [np.asarray(r) for r in executable(X)]
    np.testing.assert_array_equal(outs[0], (X + 10) * 2)
    np.testing.assert_array_equal(outs[1], (X + 10) * 3)
    np.testing.assert_allclose(outs[2], np.cos(X), rtol=1e-6)


CHLO = {
    "topk": "%0:2 = chlo.top_k(%x, k = 2) : tensor<3x4xf32> -> (tensor<3x2xf32>, tensor<3x2xi32>)\n  return %0#0 : tensor<3x2xf32>",
    "erf": "%0 = chlo.erf %x : tensor<3x4xf32> -> tensor<3x4xf32>\n  return %0 : tensor<3x4xf32>",
    "asinh": "%0 = chlo.asinh %x : tensor<3x4xf32> -> tensor<3x4xf32>\n  return %0 : tensor<3x4xf32>",
}


@pytest.mark.parametrize("opcode", CHLO)
def test_an_op_of_chlo_is_whole_where_the_target_has_it(opcode: str) -> None:
    body = CHLO[opcode]
    result = body.rpartition(": ")[2]
    text = f"func.func @main(%x: tensor<3x4xf32>) -> {result} {{\n  {body}\n}}"
    whole = run_hlo_passes(xla.parse(text), TargetConfig(name="acme", capabilities=EVERYTHING))
    assert opcode in opcodes(whole)


def test_top_k_is_written_out_where_the_target_lacks_it() -> None:
    text = f"func.func @main(%x: tensor<3x4xf32>) -> tensor<3x2xf32> {{\n  {CHLO['topk']}\n}}"
    x = np.random.default_rng(1).normal(size=(3, 4)).astype(np.float32)
    module = run_hlo_passes(xla.parse(text), TargetConfig(name="plain", capabilities=EVERYTHING.without_ops("topk")))
    assert "topk" not in opcodes(module)
    np.testing.assert_array_equal(xla.evaluate(module, x)[0], -np.sort(-x)[:, :2])


def test_nothing_is_declared_by_default() -> None:
    assert Capabilities().composites == frozenset()
    assert ElementType.F32 in EVERYTHING.ops["erf"]
