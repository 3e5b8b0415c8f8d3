"""Devices that compute in 32-bit types alone take arguments and give results of narrower types."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np
import pytest
from xla_backend_template.compiler import TemplateCompiler

import xla_core as xla
from tests.xla_core.passes.legalization.devices import PRIMITIVES
from xla_core.analysis import place_instructions
from xla_core.hlo.values.element_type import ElementType
from xla_core.hlo.values.shape import Layout
from xla_core.hlo.verifier import verify
from xla_core.passes import PassContext, default_pipeline
from xla_core.target import Capabilities, LayoutRules, TargetConfig

T = ElementType
TARGET = TargetConfig(name="primitive", capabilities=Capabilities().with_ops(PRIMITIVES, [T.F32, T.S32, T.PRED]))
KINDS = tuple(t for t in T if t.is_array and 1 < t.bit_width <= 16)
IN_MEMORY = {"parameter", "constant", "bitcast", "reshape", "copy", "slice", "concatenate", "tuple"}


def legal(text: str, fixed: bool = False, target: TargetConfig = TARGET) -> xla.HloModule:
    module = xla.parse(text)
    module.entry_layouts_fixed = fixed
    PassContext(invariants=[verify]).run(default_pipeline(target), module, ())
    for i in (i for c in module.computations for i in c.instructions):
        assert i.opcode in IN_MEMORY or not {leaf.element_type for leaf in i.shape.leaves()} & set(KINDS)
    return module


def random_bits(kind: T, *dimensions: int) -> np.ndarray:
    size = math.prod(dimensions) * kind.byte_width
    x = np.random.default_rng(size).integers(0, 1 << min(kind.bit_width, 8), size, np.uint8)
    x = x.view(kind.dtype).reshape(dimensions)
    return np.where(np.isnan(x.astype(np.float32)), kind.dtype.type(1), x)


def check_equal(found: np.ndarray, wanted: np.ndarray) -> None:
    """NaNs are equal, which those of narrow types are not for numpy."""
    np.testing.assert_array_equal(found.astype(np.float64), wanted.astype(np.float64))


ARRAYS = [
    *(((*d,), "") for d in ([64], [3, 5], [2, 4], [2, 3, 7], [], [1], [0, 3])),
    ((3, 5), "{0,1}"),
    ((4, 2), "{0,1}"),
]


def _with_each(kinds: Sequence[T], number: int) -> list[object]:
    """Each kind with each array. Every `number`-th one isn't slow, which are others for each kind."""
    pairs = itertools.product(enumerate(kinds), enumerate(ARRAYS))
    return [
        pytest.param(kind, *array, marks=[pytest.mark.slow] if (i + j) % number else [])
        for (i, kind), (j, array) in pairs
    ]


@pytest.mark.parametrize(("kind", "dimensions", "order"), _with_each(KINDS, 3), ids=str)
def test_arguments_and_results_are_words(kind: T, dimensions: tuple[int, ...], order: str) -> None:
    shape = f"{kind}[{','.join(map(str, dimensions))}]{order}"
    op = "negate" if kind.is_floating else "not"
    text = f"HloModule m\nENTRY e {{ x = {shape} parameter(0)\n y = {shape} {op}(x)\n ROOT t = ({shape}, {shape}) tuple(x, y) }}"
    x = random_bits(kind, *dimensions)
    for found, wanted in zip(xla.evaluate(legal(text), x), xla.evaluate(xla.parse(text), x), strict=True):
        assert found.dtype == wanted.dtype
        check_equal(found, wanted)


@pytest.mark.parametrize("kind", ["u8", "s16", "bf16", "u32", "u4", "f8e4m3fn"])
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


OWN_LAYOUTS = """HloModule m
ENTRY e {
  x = s8[3,5] parameter(0)
  n = u32[3,5] parameter(1)
  y = s8[3,5] add(x, x)
  m = u32[3,5] add(n, n)
  ROOT t = (s8[3,5], u32[3,5]) tuple(y, m)
}
"""


def test_the_layouts_of_a_target_are_kept() -> None:
    columns = LayoutRules(default=lambda shape: Layout(tuple(range(shape.rank))))
    own = {"layouts": columns, "capabilities": TARGET.capabilities.with_ops(["reshape", "copy"], [T.S32, T.PRED])}
    module = legal(OWN_LAYOUTS, target=TARGET.model_copy(update=own))
    assert str(module.entry.parameters[0].shape) == "s8[3,5]{0,1}"
    x, n = np.arange(15, dtype=np.int8).reshape(3, 5), np.arange(15, dtype=np.uint32).reshape(3, 5) + 2**31
    for found, wanted in zip(xla.evaluate(module, x, n), xla.evaluate(xla.parse(OWN_LAYOUTS), x, n), strict=True):
        np.testing.assert_array_equal(found, wanted)


def test_what_reads_and_writes_words_has_the_place_of_its_argument_or_result() -> None:
    placed = place_instructions(legal(OWN_LAYOUTS), TARGET)
    assert {p.location.line for p in placed if p.location is not None} == {3, 4, 5, 6}
    assert all(p.location is not None for p in placed)


def test_tiles_are_not_words() -> None:
    tiles = LayoutRules(default=lambda shape: Layout(tuple(range(shape.rank))[::-1], ((2, 4),) * (shape.rank == 2)))
    with pytest.raises(
        xla.UnimplementedError, match="its arrays are read as words of s32 where their layout has no tiles"
    ):
        legal(OWN_LAYOUTS, target=TARGET.model_copy(update={"layouts": tiles}))


@pytest.mark.parametrize("kind", [t for t in KINDS if t.is_floating], ids=str)
def test_every_number_is_read_and_written(kind: T) -> None:
    count = 1 << kind.bit_width
    text = f"""HloModule m
ENTRY e {{
  x = {kind}[{count}] parameter(0)
  wide = f32[{count}] convert(x)
  narrow = {kind}[{count}] convert(wide)
  ROOT both = (f32[{count}], {kind}[{count}]) tuple(wide, narrow)
}}"""
    x = np.arange(count, dtype=f"u{kind.byte_width}").view(kind.dtype)
    with np.errstate(all="ignore"):
        found, wanted = xla.evaluate(legal(text), x), xla.evaluate(xla.parse(text), x)
    # NaNs of 8 bits may change their bits
    same = ~np.isnan(wanted[0]) | (kind.bit_width == 16)
    np.testing.assert_array_equal(found[0].view(np.uint32)[same], wanted[0].view(np.uint32)[same])
    np.testing.assert_array_equal(np.isnan(found[0]), np.isnan(wanted[0]))
    np.testing.assert_array_equal(found[1].astype(np.float32), wanted[1].astype(np.float32))
    np.testing.assert_array_equal(np.signbit(found[1]), np.signbit(wanted[1]))


@pytest.mark.parametrize(
    ("kind", "size"),
    [
        *((kind, size) for kind in (T.S8, T.U8, T.S16, T.U16, T.BF16, T.F16) for size in (1, 2, 3, 5, 8, 1001)),
        *((kind, size) for kind in (T.S2, T.U4, T.F8E4M3FN, T.F4E2M1FN) for size in (1, 3, 7, 8, 1001)),
    ],
    ids=str,
)
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
        check_equal(one, other)


def test_a_device_that_says_what_it_holds_is_not_given_more() -> None:
    own = TARGET.capabilities.model_copy(update={"storage_types": frozenset({T.F32, T.S32, T.PRED})})
    module = xla.parse("HloModule m\nENTRY e { x = s8[4] parameter(0)\n ROOT y = s32[4] convert(x) }")
    with pytest.raises(xla.XlaError, match="the device holds no s8"):
        PassContext().run(default_pipeline(TargetConfig(name="own", capabilities=own)), module, ())
