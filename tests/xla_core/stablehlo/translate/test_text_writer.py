"""Written text is read back as the same tree, and MLIR parses it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from tests.programs import PROGRAMS, Program
from tests.xla_core.stablehlo.reading import PROGRAM, stablehlo_tests, tree
from xla_core.errors import SourceLocation, XlaError
from xla_core.hlo.values.scalar_types import DTYPES
from xla_core.stablehlo import DenseElements, Module, TensorType, parse_text, split_modules, write_text
from xla_core.stablehlo.ir.attribute_text import attribute_text
from xla_core.stablehlo.ir.attributes import DenseArray, EnumAttribute, SymbolRef, TypedFloat, TypedInt
from xla_core.stablehlo.text.op_reader import OpReader

FORMS: list[dict[str, Any]] = [{}, {"generic": True}, {"locations": True}]


def check(module: Module) -> None:
    for form in FORMS:
        text = write_text(module, **form)
        assert tree(parse_text(text)) == tree(module), text
    written = parse_text(write_text(module, locations=True))
    assert tree(written, locations=True)[2:] == tree(module, locations=True)[2:]


def test_everything_reads_back() -> None:
    check(parse_text(PROGRAM))


def test_shape_of_the_text() -> None:
    text = """\
module @m attributes {mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x3xf32> {jax.buffer_donor = true}) -> tensor<2xf32> {
    %0 = stablehlo.constant dense<0.0> : tensor<f32>
    %1:2 = stablehlo.while(%iterArg0 = %arg0, %iterArg1 = %0) : tensor<2x3xf32>, tensor<f32>
    cond {
      %2 = stablehlo.constant dense<1.5> : tensor<f32>
      %3 = stablehlo.compare LT, %iterArg1, %2 : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %3 : tensor<i1>
    } do {
      %4 = stablehlo.add %iterArg1, %iterArg1 : tensor<f32>
      stablehlo.return %iterArg0, %4 : tensor<2x3xf32>, tensor<f32>
    }
    %5 = stablehlo.reduce(%1#0 init: %1#1) applies stablehlo.add across dimensions = [1] \
: (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
    %6 = stablehlo.slice %5 [0:2] : (tensor<2xf32>) -> tensor<2xf32>
    func.return %6 : tensor<2xf32>
  }
}
"""
    assert write_text(parse_text(text)) == text


@pytest.mark.parametrize("program", PROGRAMS, ids=str)
def test_programs_read_back(program: Program) -> None:
    check(parse_text(program.text))


def parts(folder: str) -> list[tuple[Path, Module]]:
    found = []
    for path in sorted((stablehlo_tests() / folder).rglob("*.mlir")):
        for part in split_modules(path.read_text()):
            try:
                found.append((path, parse_text(part)))
            except XlaError:  # wrong on purpose
                assert folder == "verify"
    return found


@pytest.mark.parametrize("folder", ["chlo", "interpret", "verify", "vhlo"])
def test_stablehlos_files_read_back(folder: str) -> None:
    for path, module in parts(folder):
        for form in FORMS[:2]:
            assert tree(parse_text(write_text(module, **form))) == tree(module), path


@pytest.mark.slow
@pytest.mark.parametrize("folder", ["testdata", "math"])
def test_all_of_stablehlos_files_read_back(folder: str) -> None:
    test_stablehlos_files_read_back(folder)


def test_locations() -> None:
    text = """\
func.func @f(%a: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.abs %a : tensor<f32> loc("jit(f)/abs"("my \\22 file.py":3:4))
  %1 = stablehlo.abs %0 : tensor<f32> loc("named")
  %2 = stablehlo.abs %1 : tensor<f32> loc("x.py":1:2)
  return %2 : tensor<f32>
}
"""
    module = parse_text(write_text(parse_text(text), locations=True))
    places = [op.location for op in module.functions["f"].regions[0].block.ops[:3]]
    assert places == [
        SourceLocation('my " file.py', 3, 4, "jit(f)/abs"),
        SourceLocation(name="named"),
        SourceLocation("x.py", 1, 2),
    ]
    assert "loc(" not in write_text(module)


# Attributes


def read_attribute(text: str) -> Any:
    reader = OpReader(text, "<test>")
    value = reader.attribute()
    reader.skip()
    assert reader.position == len(text), text
    return value


ELEMENTS = sorted(set(DTYPES) - {"index"})


@pytest.mark.parametrize("element", ELEMENTS)
def test_every_bit_pattern_of_a_constant_reads_back(element: str) -> None:
    """All of them for 8 and 16 bits; of wider types, random ones with the special values among them."""
    dtype = DTYPES[element]
    rng = np.random.default_rng(7)
    if element == "i1":
        data = np.array([False, True, True])
    elif element in ("i2", "i4", "ui2", "ui4"):
        bits = int(element.lstrip("ui"))
        first = -(1 << (bits - 1)) if element[0] == "i" else 0
        data = np.arange(first, first + (1 << bits)).astype(dtype)
    elif element[:2] in ("f4", "f6"):
        data = np.arange(1 << int(element[1])).astype(np.uint8).view(dtype)
    elif dtype.itemsize <= 2:
        data = np.arange(1 << (8 * dtype.itemsize)).astype(f"uint{8 * dtype.itemsize}").view(dtype)
    else:
        data = rng.integers(0, 256, 40 * dtype.itemsize, np.uint8).view(dtype).copy()
        if dtype.kind in "fc":
            data[:5] = [np.inf, -np.inf, np.nan, -0.0, 1e-40]
    for array in (data, *(data[i : i + 3] for i in range(0, min(len(data), 90), 3)), *data[:70]):
        array = np.array(array)
        value = DenseElements(TensorType(array.shape, element), array)
        assert read_attribute(attribute_text(value)) == value


def test_splats_and_empty_constants_stay_small() -> None:
    splat = DenseElements(TensorType((1000, 1000), "f32"), np.array(np.float32(1.1)))
    assert attribute_text(splat) == "dense<1.100000023841858> : tensor<1000x1000xf32>"
    nan = DenseElements(TensorType((2,), "bf16"), np.array(np.nan, ml_dtypes.bfloat16))
    assert attribute_text(nan) == "dense<0x7FC0> : tensor<2xbf16>"
    empty = DenseElements(TensorType((0, 3), "i32"), np.zeros((0, 3), np.int32))
    assert attribute_text(empty) == "dense<> : tensor<0x3xi32>"
    large = DenseElements(TensorType((100,), "i32"), np.arange(100, dtype=np.int32))
    assert attribute_text(large).startswith('dense<"0x000000000100000002000000')


PLAIN = st.one_of(
    st.booleans(),
    st.integers(-(1 << 63), (1 << 63) - 1),
    st.floats(allow_nan=False),
    st.text(max_size=20),
    st.builds(TypedInt, st.integers(-(1 << 31), (1 << 31) - 1), st.just("i32")),
    st.builds(TypedFloat, st.floats(width=32, allow_nan=False), st.just("f32")),
    st.builds(SymbolRef, st.text(min_size=1, max_size=10).filter(lambda text: "::@" not in text)),
    st.lists(st.integers(-5, 5), max_size=4).map(lambda values: DenseArray(values, "i64")),
    st.sampled_from(["LT", "GE"]).map(lambda value: EnumAttribute(value, "comparison_direction")),
    arrays.arrays(np.float32, arrays.array_shapes(max_dims=3, max_side=3)).map(
        lambda data: DenseElements(TensorType(data.shape, "f32"), data)
    ),
)
NESTED = st.recursive(
    PLAIN,
    lambda inner: st.lists(inner, max_size=3).map(tuple) | st.dictionaries(st.text(min_size=1, max_size=8), inner),
    max_leaves=8,
)


@settings(max_examples=150, deadline=None)
@given(NESTED)
def test_any_attribute_reads_back(value: Any) -> None:
    assert read_attribute(attribute_text(value)) == value


# MLIR itself


def parses(mlir: Any, context: Any, text: str) -> str:
    """MLIR's errors for a text."""
    with context:
        try:
            mlir.Module.parse(text)
        except Exception as error:
            return str(error)
    return ""


@pytest.fixture(scope="module")
def mlir() -> tuple[Any, Any]:
    pytest.importorskip("jax")
    from jax.interpreters import mlir
    from jaxlib.mlir import ir

    return ir, mlir.make_ir_context()


@pytest.mark.parametrize("form", FORMS, ids=["pretty", "generic", "with locations"])
def test_jaxlib_reads_what_is_written(mlir: tuple[Any, Any], form: dict[str, Any]) -> None:
    for program in PROGRAMS:
        assert not parses(*mlir, write_text(parse_text(program.text), **form)), program.name


@pytest.mark.parametrize("folder", ["chlo", "interpret"])
def test_jaxlib_reads_stablehlos_files_as_written_here(mlir: tuple[Any, Any], folder: str) -> None:
    count = 0
    for path in sorted((stablehlo_tests() / folder).rglob("*.mlir")):
        for part in split_modules(path.read_text()):
            if parses(*mlir, part):  # newer than this jaxlib, or with ops of StableHLO's own tools
                continue
            count += 1
            for form in FORMS:
                assert not parses(*mlir, write_text(parse_text(part), **form)), path
    assert count
