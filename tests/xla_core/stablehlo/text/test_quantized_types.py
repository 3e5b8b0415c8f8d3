"""Invalid quantized types are errors with their location, in the words of MLIR, and with the right cause."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.xla_core.stablehlo.reading import refusal
from xla_core.errors import InvalidArgumentError
from xla_core.stablehlo import parse_bytecode, parse_text, verify, write_portable_artifact
from xla_core.stablehlo.translate.bytecode.builtin_encoding import float_bits

PROGRAM = """\
func.func @main(%x: tensor<3xf32>) -> tensor<3x!quant.uniform<TYPE>> {
  %0 = stablehlo.uniform_quantize %x : (tensor<3xf32>) -> tensor<3x!quant.uniform<TYPE>>
  return %0 : tensor<3x!quant.uniform<TYPE>>
}
"""
F32 = "out of expressed type range [1.401298e-45, 3.402823e+38]"
TYPES = {
    "i8:f32, 0.0:-3": f"scale 0.000000e+00 {F32}",
    "i8:f32, -0.5": f"scale -5.000000e-01 {F32}",
    "i8:f32, 1.0e-60": f"scale 1.000000e-60 {F32}",
    "i8:f32, 1.0e39": f"scale 1.000000e+39 {F32}",
    "i8:f16, 1.0e5": "scale 1.000000e+05 out of expressed type range [5.960464e-08, 6.550400e+04]",
    "i8:bf16, 1.0e-42": "scale 1.000000e-42 out of expressed type range [9.183550e-41, 3.389531e+38]",
    "i8:f8E4M3FN, 500.0": "scale 5.000000e+02 out of expressed type range [1.953125e-03, 4.480000e+02]",
    "i8:f32:0, {0.5, 0.5:1, -0.5}": f"scale -5.000000e-01 {F32}",
    "i8:f32:{0:1}, {0.5, 0.5, 0.0}": f"scale 0.000000e+00 {F32}",
    "i8<10:-10>:f32, 0.5": "illegal storage min and storage max: (10:-10)",
    "i8<10:10>:f32, 0.5": "illegal storage min and storage max: (10:10)",
    "i8<-300:10>:f32, 0.5": "illegal storage type minimum: -300",
    "u8<0:300>:f32, 0.5": "illegal storage type maximum: 300",
    "i8:f32:-1, {0.5, 0.5, 0.5}": "illegal quantized dimension: -1",
    "i8:f32:{0:0}, {0.5, 0.5, 0.5}": "illegal block size: 0",
    "i33:f32, 0.5": "illegal storage type size: 33",
    "i0:f32, 0.5": "illegal storage type size: 0",
    "f8:f32, 0.5": "illegal storage type prefix",
    "i8:i32, 0.5": "invalid kind of type specified",
    "i8:f32:0, {}": "expected",
}


@pytest.mark.parametrize("type", TYPES)
def test_a_type_that_there_is_not_is_refused_where_it_stands(type: str) -> None:
    error = refusal(PROGRAM.replace("TYPE", type))
    assert error.message.startswith(TYPES[type])
    assert error.location is not None
    head = PROGRAM.index("!quant") + 1
    assert error.location.line == 1
    assert head <= error.location.column <= head + len("!quant.uniform<") + len(type)


def test_the_caret_is_below_the_scale() -> None:
    error = refusal(PROGRAM.replace("TYPE", "i8:f32:0, {0.5, 0.5:1, -0.5}"))
    line, caret = str(error.snippet).splitlines()
    assert line[caret.index("^") :].startswith("-0.5}")
    assert error.hint == "a scale is a positive number that f32 can hold"


@pytest.mark.parametrize(
    "type",
    ["i8:f32, 1.5e-45", "i8:f32, 3.4028234e38", "i32:f32, 0.5:2147483647", "i8:f32, 0.5:-128", "u8:f32, 0.5:255"],
)
def test_extreme_types_that_there_are(type: str) -> None:
    verify(parse_text(PROGRAM.replace("TYPE", type)))


@pytest.mark.parametrize(
    ("type", "hint"),
    [
        ("i8:f32, 0.5:128", "the zero point 128 is none of the integers that are stored, -128 to 127"),
        ("u8<1:10>:f32, 0.5:-300", "the zero point -300 is none of the integers that are stored, 1 to 10"),
        ("i8:f32:0, {0.5, 0.5:200, 0.5}", "the zero point 200 is none"),
        ("i8:f32:0, {0.5, 0.5}", "dimension 0 needs a scale for each of its 3 elements, not 2"),
        ("i8:f32:1, {0.5, 0.5, 0.5}", "the quantized dimension is 1, but the tensor has only 1, counted from 0"),
        ("i5:f32, 0.5", "the storage type of tensors is i2, i4, i8, i16, i32 or unsigned as u8, not i5"),
        ("si8:f32, 0.5", "the storage type of tensors is i2, i4, i8, i16, i32 or unsigned as u8, not si8"),
        ("f8E4M3FN:f32, 0.5", "the storage type of tensors is i2, i4, i8, i16, i32 or unsigned as u8, not f8E4M3FN"),
        ("i8:f32:{0:1}, {0.5, 0.5, 0.5}", "no op takes tensors that are quantized by blocks"),
    ],
)
def test_types_that_no_op_takes_are_refused_with_the_cause(type: str, hint: str) -> None:
    with pytest.raises(InvalidArgumentError, match=r"result #0 must be ranked tensor of") as caught:
        verify(parse_text(PROGRAM.replace("TYPE", type)))
    assert str(caught.value.hint).startswith(hint)


@pytest.mark.parametrize("type", [t for t in TYPES if not TYPES[t].startswith(("expected", "illegal storage type p"))])
def test_mlir_says_the_same(type: str, capfd: Any) -> None:
    stablehlo = pytest.importorskip("jaxlib.mlir.dialects.stablehlo")
    with pytest.raises(Exception, match="failed to serialize module"):
        stablehlo.serialize_portable_artifact_str(PROGRAM.replace("TYPE", type), "1.17.0")
    (theirs,) = re.findall(r"error: (.*)", capfd.readouterr().err)
    assert refusal(PROGRAM.replace("TYPE", type)).message.startswith(theirs)


def test_artifacts_are_held_to_the_same() -> None:
    artifact = write_portable_artifact(parse_text(PROGRAM.replace("TYPE", "i8:f32, 0.7:-3")))
    good, bad = (float_bits(scale, "f64") for scale in (0.7, -0.7))
    assert artifact.count(good) == 1
    assert len(good) == len(bad)
    with pytest.raises(InvalidArgumentError, match=re.escape(f"scale -7.000000e-01 {F32}")):
        parse_bytecode(artifact.replace(good, bad))
