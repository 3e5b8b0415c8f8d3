"""Devices that compute in 32-bit types alone take arguments and give results of 8- and 16-bit types."""

from __future__ import annotations

import math

import numpy as np
import pytest
from xla_backend_template.compiler import TemplateCompiler

import xla_core as xla
from tests.xla_core.passes.legalization.devices import PRIMITIVES
from xla_core.hlo.values.element_type import ElementType
from xla_core.hlo.verifier import verify
from xla_core.passes import PassContext, default_pipeline
from xla_core.target import Capabilities, TargetConfig

T = ElementType
TARGET = TargetConfig(name="primitive", capabilities=Capabilities().with_ops(PRIMITIVES, [T.F32, T.S32, T.PRED]))
KINDS = (T.S8, T.U8, T.S16, T.U16, T.BF16, T.F16)
IN_MEMORY = {"parameter", "constant", "bitcast", "reshape", "copy", "slice", "concatenate", "tuple"}


def legal(text: str, fixed: bool = False) -> xla.HloModule:
    module = xla.parse(text)
    module.entry_layouts_fixed = fixed
    PassContext(invariants=[verify]).run(default_pipeline(TARGET), module, ())
    for i in (i for c in module.computations for i in c.instructions):
        assert i.opcode in IN_MEMORY or not {leaf.element_type for leaf in i.shape.leaves()} & set(KINDS)
    return module


def random_bits(kind: T, *dimensions: int) -> np.ndarray:
    size = math.prod(dimensions) * kind.byte_width
    x = np.random.default_rng(size).integers(0, 256, size, np.uint8).view(kind.dtype).reshape(dimensions)
    return np.where(np.isnan(x.astype(np.float32)), kind.dtype.type(1), x)


@pytest.mark.parametrize("kind", KINDS, ids=str)
@pytest.mark.parametrize(
    ("dimensions", "order"),
    [*(((*d,), "") for d in ([64], [3, 5], [2, 4], [2, 3, 7], [], [1], [0, 3])), ((3, 5), "{0,1}"), ((4, 2), "{0,1}")],
    ids=str,
)
def test_arguments_and_results_are_words(kind: T, dimensions: tuple[int, ...], order: str) -> None:
    shape = f"{kind}[{','.join(map(str, dimensions))}]{order}"
    op = "negate" if kind.is_floating else "not"
    text = f"HloModule m\nENTRY e {{ x = {shape} parameter(0)\n y = {shape} {op}(x)\n ROOT t = ({shape}, {shape}) tuple(x, y) }}"
    x = random_bits(kind, *dimensions)
    for found, wanted in zip(xla.evaluate(legal(text), x), xla.evaluate(xla.parse(text), x), strict=True):
        assert found.dtype == wanted.dtype
        np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("kind", ["u8", "s16", "bf16"])
def test_fixed_layouts_are_kept(kind: str) -> None:
    shapes = [f"{kind}[3,5]{{0,1}}", f"{kind}[3,5]{{1,0}}"]
    text = f"""HloModule m, entry_computation_layout={{({shapes[0]})->({", ".join(shapes)})}}
ENTRY e {{
  x = {shapes[0]} parameter(0)
  y = {shapes[0]} add(x, x)
  z = {shapes[1]} add(x, x)
  ROOT t = ({", ".join(shapes)}) tuple(y, z)
}}"""
    x = np.arange(15).reshape(3, 5).astype(xla.parse(text).parameter_shapes[0].dtype)
    module = legal(text, fixed=True)
    assert [str(s) for s in module.result_shape.tuple_shapes] == shapes
    for found in xla.evaluate(module, x):
        np.testing.assert_array_equal(found, x + x)


@pytest.mark.parametrize("kind", [T.BF16, T.F16], ids=str)
def test_every_number_is_read_and_written(kind: T) -> None:
    text = f"""HloModule m
ENTRY e {{
  x = {kind}[65536] parameter(0)
  wide = f32[65536] convert(x)
  narrow = {kind}[65536] convert(wide)
  ROOT both = (f32[65536], {kind}[65536]) tuple(wide, narrow)
}}"""
    x = np.arange(1 << 16, dtype=np.uint16).view(kind.dtype)
    with np.errstate(all="ignore"):
        found, wanted = xla.evaluate(legal(text), x), xla.evaluate(xla.parse(text), x)
    np.testing.assert_array_equal(found[0].view(np.uint32), wanted[0].view(np.uint32))
    np.testing.assert_array_equal(found[1].astype(np.float32), wanted[1].astype(np.float32))
    np.testing.assert_array_equal(np.signbit(found[1]), np.signbit(wanted[1]))


@pytest.mark.parametrize("kind", KINDS, ids=str)
@pytest.mark.parametrize("size", [1, 2, 3, 5, 8, 1001])
def test_a_device_without_slices_of_memory_takes_any_size(monkeypatch: pytest.MonkeyPatch, kind: T, size: int) -> None:
    own = {"capabilities": TARGET.capabilities}
    config = TemplateCompiler().target_config.model_copy(update=own)
    monkeypatch.setattr(TemplateCompiler, "target_config", config)
    op = "negate" if kind.is_floating else "not"
    text = f"""HloModule m
ENTRY e {{
  x = {kind}[{size}] parameter(0)
  y = {kind}[{size}] parameter(1)
  a = {kind}[{size}] add(x, y)
  b = {kind}[{size}] {op}(a)
  c = {kind}[{size}] {op}(b)
  ROOT t = ({kind}[{size}], {kind}[{size}], {kind}[{size}]) tuple(a, b, c)
}}"""
    x, y = random_bits(kind, size), random_bits(kind, size)[::-1].copy()
    with xla.Client("template") as client:
        found = [np.asarray(result) for result in client.compile(xla.parse(text))(x, y)]
    with np.errstate(all="ignore"):
        wanted = xla.evaluate(xla.parse(text), x, y)
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_device_that_says_what_it_holds_is_not_given_more() -> None:
    own = TARGET.capabilities.model_copy(update={"storage_types": frozenset({T.F32, T.S32, T.PRED})})
    module = xla.parse("HloModule m\nENTRY e { x = s8[4] parameter(0)\n ROOT y = s32[4] convert(x) }")
    with pytest.raises(xla.XlaError, match="the device holds no s8"):
        PassContext().run(default_pipeline(TargetConfig(name="own", capabilities=own)), module, ())
