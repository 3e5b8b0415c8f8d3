"""Attributes: what each spelling becomes, and constants against numpy."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.xla_core.stablehlo.reading import refusal
from xla_core.errors import InvalidArgumentError, ResourceExhaustedError, SourceLocation
from xla_core.hlo.values.scalar_types import DTYPES
from xla_core.stablehlo import ir as A
from xla_core.stablehlo import parse_text
from xla_core.stablehlo.ir import FunctionType, ScalarType, TensorType
from xla_core.stablehlo.ir.attribute_text import attribute_text


def read(text: str, head: str = "", tail: str = "") -> Any:
    return parse_text(f"{head}module attributes {{a = {text}}} {{}}{tail}").attributes["a"]


def bad(text: str) -> str:
    return refusal(f"module attributes {{a = {text}}} {{}}").message


@pytest.mark.parametrize(
    ("text", "want", "kind", "type"),
    [
        ("5", 5, int, None),
        ("-5 : i64", -5, int, None),
        ("0xFF", 255, int, None),
        ("5 : i32", 5, A.TypedInt, "i32"),
        ("255 : i8", -1, A.TypedInt, "i8"),
        ("255 : ui8", 255, A.TypedInt, "ui8"),
        ("18446744073709551615 : ui64", 2**64 - 1, A.TypedInt, "ui64"),
        ("7 : index", 7, A.TypedInt, "index"),
        ("true", True, bool, None),
        ("false", False, bool, None),
        ("1 : i1", True, bool, None),
        ("2.5", 2.5, float, None),
        ("-2.5e-3 : f64", -2.5e-3, float, None),
        ("0.1 : f32", float(np.float32(0.1)), A.TypedFloat, "f32"),
        ("0.1 : bf16", float(ml_dtypes.bfloat16(0.1)), A.TypedFloat, "bf16"),
        ("0x7F800000 : f32", float("inf"), A.TypedFloat, "f32"),
        ("0x3FF0000000000000 : f64", 1.0, float, None),
        ('"a\\22b\\\\c\\n\\t\\41"', 'a"b\\c\n\tA', str, None),
        ('"\\E2\\80\\99"', "\u2019", str, None),
        ("unit", A.UNIT, A.Unit, None),
        ("[]", (), tuple, None),
        ("[1, [2.0], \"x\"]", (1, (2.0,), "x"), tuple, None),
        ("{}", {}, dict, None),
        ('{b, c = 1, "d-e" = {f}}', {"b": A.UNIT, "c": 1, "d-e": {"f": A.UNIT}}, dict, None),
        ("@f", "f", A.SymbolRef, None),
        ('@"a b"', "a b", A.SymbolRef, None),
        ("@a::@b", "a::@b", A.SymbolRef, None),
        ("array<i64: 1, -2>", (1, -2), A.DenseArray, None),
        ("array<i1: true, false>", (True, False), A.DenseArray, None),
        ("array<f32: 1.5>", (1.5,), A.DenseArray, None),
        ("array<i64>", (), A.DenseArray, None),
        ("i32", "i32", ScalarType, None),
        ("tensor<2xf32>", TensorType((2,), "f32"), TensorType, None),
        ("(tensor<f32>) -> tensor<f32>", FunctionType((TensorType((), "f32"),) * 1, (TensorType((), "f32"),)),
         FunctionType, None),
        ("#stablehlo<precision HIGHEST>", "HIGHEST", A.EnumAttribute, None),
        ("#stablehlo.result_accuracy_mode<TOLERANCE>", "TOLERANCE", A.EnumAttribute, None),
        ("#chlo<comparison_direction LT>", "LT", A.EnumAttribute, None),
        ("affine_map<(d0, d1) -> (d0 * 2)>", A.OpaqueAttribute("affine_map<(d0, d1) -> (d0 * 2)>"),
         A.OpaqueAttribute, None),
        ('#sdy.sharding<@mesh, [{"x"}, {}]>', A.OpaqueAttribute('#sdy.sharding<@mesh, [{"x"}, {}]>'),
         A.OpaqueAttribute, None),
        ('#sdy.op_sharding_rule<([i, j])->([k]) {i=4}, custom>',
         A.OpaqueAttribute("#sdy.op_sharding_rule<([i, j])->([k]) {i=4}, custom>"), A.OpaqueAttribute, None),
    ],
)  # fmt: skip
def test_values(text: str, want: Any, kind: type, type: str | None) -> None:
    value = read(text)
    assert value == want
    assert value.__class__ is kind
    if type is not None:
        assert value.type == type


def test_structs() -> None:
    assert read("#stablehlo.gather<offset_dims = [1, 2], index_vector_dim = 1,>") == A.GatherDimensionNumbers(
        offset_dims=(1, 2), index_vector_dim=1
    )
    assert read(
        "#stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0]>"
    ) == A.ScatterDimensionNumbers((1,), (0,), scatter_dims_to_operand_dims=(0,))
    assert read("#stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>") == (
        A.DotDimensionNumbers(lhs_contracting_dimensions=(1,), rhs_contracting_dimensions=(0,))
    )
    conv = A.ConvDimensionNumbers(0, 3, (1, 2), 2, 3, (0, 1), 0, 1, (2, 3))
    assert read("#stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, f, 0, 1]>") == conv
    raw = (
        "#stablehlo.conv<raw input_batch_dimension = 0, input_feature_dimension = 3, input_spatial_dimensions = [1, 2],"
        " kernel_input_feature_dimension = 2, kernel_output_feature_dimension = 3, kernel_spatial_dimensions = [0, 1],"
        " output_batch_dimension = 0, output_feature_dimension = 1, output_spatial_dimensions = [2, 3]>"
    )
    assert read(raw) == conv
    assert read("#stablehlo.channel_handle<handle = 1, type = 2>") == A.ChannelHandle(1, 2)
    assert read(
        "#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 1, operand_tuple_indices = []>"
    ) == A.OutputOperandAlias((0,), 1, ())
    assert read(
        "#stablehlo.dot_algorithm<lhs_precision_type = tf32, rhs_precision_type = tf32, accumulation_type = f32,"
        " lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 3,"
        " allow_imprecise_accumulation = false>"
    ) == A.DotAlgorithm("tf32", "tf32", "f32", 1, 1, 3, False)
    assert read(
        "#stablehlo.result_accuracy<atol = 1.0e-5, rtol = 0.000000e+00, ulps = 1,"
        " mode = #stablehlo.result_accuracy_mode<TOLERANCE>>"
    ) == A.ResultAccuracy(1e-5, 0.0, 1, "TOLERANCE")
    assert read("#stablehlo.bounds<4, ?>") == A.TypeExtensions((4, None))
    assert read("#chlo.ragged_dot<lhs_ragged_dimensions = [0], rhs_group_dimensions = [1]>") == (
        A.RaggedDotDimensionNumbers(lhs_ragged_dimensions=(0,), rhs_group_dimensions=(1,))
    )
    assert read(
        '#stablehlo.replica_group_mesh_axes<mesh = @m, axes = [#stablehlo.axis_ref<name = "x", sub_axis_info = (1)2>]>'
    ) == A.ReplicaGroupMeshAxes(A.SymbolRef("m"), (A.AxisRef("x", 1, 2),))
    assert read('#stablehlo.mesh<axes = [<name = "x", size = 2>]>') == A.Mesh((("x", 2),))


def test_aliases_and_locations_as_attributes() -> None:
    assert read("[#x, #x]", "#x = 5 : i32\n") == (5, 5)
    assert read('loc("f.py":1:2)').resolve() == SourceLocation("f.py", 1, 2)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("256 : i8", "integer constant out of range for attribute: 256 for i8"),
        ("-129 : i8", "integer constant out of range for attribute: -129 for i8"),
        ("-1 : ui8", "negative integer literal not valid for unsigned integer type: -1 for ui8"),
        ("128 : si8", "integer constant out of range for attribute: 128 for si8"),
        ("2 : i1", "integer constant out of range for attribute: 2 for i1"),
        ("18446744073709551616", "integer constant out of range for attribute"),
        ("9" * 2000, "too many digits"),
        ("1." + "9" * 2000, "too many digits"),
        ("1.5 : i32", "floating point value not valid for specified type: 1.5 for i32"),
        ("1 : f32", "unexpected decimal integer literal for a floating point value"),
        ("array<i1: 0, 1>", "expected 'true' or 'false' values for i1 type"),
        ("array<i8: 1.5>", "expected integer literal"),
        ("array<i8: 300>", "integer constant out of range"),
        ('opaque<"foo", "0x01"> : tensor<1xi8>', "expected attribute value"),
        ("0x1FFFFFFFF : f32", "hexadecimal float constant out of range for type"),
        ("1 : tensor<f32>", "integer literal not valid for specified type"),
        ('"abc', "expected a string"),
        ("{x = 1, x = 2}", "duplicate key 'x' in dictionary attribute"),
        ("[1, 2", "expected ']' or ','"),
        ("#unknown", "undefined symbol alias id 'unknown'"),
        (
            "#stablehlo<precision HIGHER>",
            "expected ::mlir::stablehlo::Precision to be one of: DEFAULT, HIGH, HIGHEST; found 'HIGHER'",
        ),
        ("#stablehlo.gathers<>", "unknown StableHLO attribute 'gathers'"),
        ("#stablehlo.gather<offset_dims = [0], offset_dims = [1]>", "duplicated `offset_dims` entry"),
        ("#stablehlo.channel_handle<handle = 1>", "expected ','"),
        ("#stablehlo.conv<[b, 0, c]x[i, o, 0]->[b, f, 0]>", "Unexpected dimension c, expecting f"),
        ("#stablehlo.conv<[b, f, 1]x[i, o, 0]->[b, f, 0]>", "Expected spatial dimensions 0 not specified"),
        ("#foo.bar<[}>", "unbalanced '}'"),
        ("#foo.bar<[", "unbalanced '}'"),
        ("", "expected attribute value"),
        ("@", "expected valid '@'-identifier"),
    ],
)
def test_refusals(text: str, message: str) -> None:
    assert message in bad(text)


# Constants


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("dense<5> : tensor<2x3xi32>", np.full((2, 3), 5, np.int32)),
        ("dense<[[1, 2], [3, 4]]> : tensor<2x2xi64>", np.array([[1, 2], [3, 4]])),
        ("dense<[1, 0xFF, 255, -1]> : tensor<4xi8>", np.array([1, -1, -1, -1], np.int8)),
        ("dense<[true, false]> : tensor<2xi1>", np.array([True, False])),
        ("dense<[1, 0]> : tensor<2xi1>", np.array([True, False])),
        ("dense<true> : tensor<i1>", np.array(True)),
        ("dense<[7, -8, 15]> : tensor<3xi4>", np.array([7, -8, -1], ml_dtypes.int4)),
        ("dense<[15, 0]> : tensor<2xui4>", np.array([15, 0], ml_dtypes.uint4)),
        ("dense<[-2, 1]> : tensor<2xi2>", np.array([-2, 1], ml_dtypes.int2)),
        ("dense<18446744073709551615> : tensor<ui64>", np.array(2**64 - 1, np.uint64)),
        ("dense<[-1, 18446744073709551615]> : tensor<2xi64>", np.array([-1, -1])),
        ("dense<[1.5, -0.0, 0x7F800000]> : tensor<3xf32>", np.array([1.5, -0.0, np.inf], np.float32)),
        ("dense<1.0e+00> : tensor<f8E4M3FN>", np.array(1, ml_dtypes.float8_e4m3fn)),
        ("dense<0x7E> : tensor<f8E4M3FN>", np.array(448, ml_dtypes.float8_e4m3fn)),
        ("dense<[1.0, 0x3F80]> : tensor<2xbf16>", np.array([1, 1], ml_dtypes.bfloat16)),
        ("dense<(1.0, -2.0)> : tensor<2xcomplex<f32>>", np.full(2, 1 - 2j, np.complex64)),
        ("dense<[(0x7F800000, 1.0), (0.0, 2.0)]> : tensor<2xcomplex<f32>>",
         np.array([complex(np.inf, 1), 2j], np.complex64)),
        ('dense<"0x01000000FFFFFFFF"> : tensor<2xi32>', np.array([1, -1], np.int32)),
        ('dense<"0x000000000000F03F000000000000F0BF"> : tensor<1xcomplex<f64>>', np.array([1 - 1j])),
        ('dense<"0x05"> : tensor<10xi1>', None),
        ('dense<"0x0503"> : tensor<10xi1>', np.array([1, 0, 1, 0, 0, 0, 0, 0, 1, 1], bool)),
        ('dense<"0x0000803F"> : tensor<1000xf32>', np.ones(1000, np.float32)),
        ("dense<> : tensor<0x3xf32>", np.zeros((0, 3), np.float32)),
        ("dense<3> : tensor<2xindex>", np.array([3, 3])),
        ('dense_resource<w> : tensor<2xf32>', np.array([1, 2], np.float32)),
    ],
)  # fmt: skip
def test_constants(text: str, want: np.ndarray | None) -> None:
    tail = '\n{-#\n  dialect_resources: {\n    builtin: {\n      w: "0x040000000000803F00000040"\n    }\n  }\n#-}\n'
    value = read(text, tail=tail if "resource" in text else "")
    assert isinstance(value, A.DenseElements)
    if want is not None:
        assert value.array.dtype == want.dtype
        assert value.array.shape == want.shape == value.type.shape
        assert value.array.tobytes() == want.tobytes()
    assert not value.array.flags.writeable


def test_splat_of_any_size_costs_nothing() -> None:
    value = read("dense<1.0> : tensor<1152921504606846976xf32>")
    assert value.is_splat
    assert value.size == 2**60
    assert value.array.strides == (0,)
    with pytest.raises(ResourceExhaustedError):
        _ = read("dense<1.0> : tensor<1152921504606846976x1152921504606846976xf32>").array


def test_equality_looks_at_the_elements() -> None:
    assert read("dense<[2, 2]> : tensor<2xi32>") == read("dense<2> : tensor<2xi32>")
    assert read("dense<[2, 3]> : tensor<2xi32>") != read("dense<2> : tensor<2xi32>")
    assert read("dense<2> : tensor<2xi32>") != read("dense<2> : tensor<2xi64>")
    assert read("dense<0.0> : tensor<f32>") != read("dense<-0.0> : tensor<f32>")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "dense<[1.0, 2.0]> : tensor<1152921504606846976xf32>",
            "inferred shape of elements literal ([2]) does not match type",
        ),
        (
            'dense<"0x0102030405060708"> : tensor<1152921504606846976xf32>',
            "elements hex data size is invalid for provided type: 'tensor<1152921504606846976xf32>'",
        ),
        (
            "dense<> : tensor<1152921504606846976xf32>",
            "parsed zero elements, but type ('tensor<1152921504606846976xf32>') expected at least 1",
        ),
        (
            "dense<[[1, 2], [3]]> : tensor<2x2xi32>",
            "tensor literal is invalid; ranks are not consistent between elements",
        ),
        (
            "dense<[[1, 2], [3, 4]]> : tensor<4xi32>",
            "inferred shape of elements literal ([2, 2]) does not match type ([4])",
        ),
        ("dense<[1, [2]]> : tensor<2xi32>", "tensor literal is invalid; ranks are not consistent between elements"),
        ("dense<[1, 2]> : tensor<2xf32>", "unexpected decimal integer literal for a floating point value"),
        ("dense<true> : tensor<2xf32>", "expected floating point literal"),
        ("dense<-1> : tensor<ui8>", "expected unsigned integer elements, but parsed negative value"),
        ("dense<2> : tensor<i1>", "integer constant out of range for type"),
        ("dense<-0x1> : tensor<f32>", "hexadecimal float literal should not have a leading minus"),
        ("dense<nan> : tensor<f32>", "expected element literal of primitive type"),
        ("dense<1.5> : tensor<i32>", "expected integer elements, but parsed floating-point"),
        ("dense<300> : tensor<i8>", "integer constant out of range for type i8: 300"),
        ("dense<[1, 99999999999999999999]> : tensor<2xi64>", "integer constant out of range for type"),
        ("dense<true> : tensor<i32>", "expected i1 type for 'true' or 'false' values"),
        ("dense<[1, 2> : tensor<2xi32>", "expected ']'"),
        ("dense<[1, x]> : tensor<2xi32>", "expected element literal of primitive type"),
        ("dense<null> : tensor<i32>", "expected element literal of primitive type"),
        ("dense<(1.0, 2.0)> : tensor<f32>", "a pair in parentheses is complex"),
        ("dense<1.0> : tensor<complex<f32>>", "parsed 1 elements, but type ('complex<f32>') expected 2 elements"),
        (
            "dense<[1.0, 2.0]> : tensor<complex<f32>>",
            "inferred shape of elements literal ([2]) does not match type ([])",
        ),
        ("dense<(1.0, 2.0> : tensor<complex<f32>>", "expected ')' after complex elements"),
        ("dense<(1.0, 2.0, 3.0)> : tensor<complex<f32>>", "expected ')' after complex elements"),
        ("dense<(1.0)> : tensor<complex<f32>>", "expected ',' between complex elements"),
        (
            "sparse<[[5]], [1]> : tensor<3xi32>",
            "sparse index #0 is not contained within the value shape, with index=[5], and type='tensor<3xi32>'",
        ),
        (
            "sparse<[[1], [0]], [1, 2, 3]> : tensor<3xi32>",
            "expected shape ([3]); inferred shape of indices literal ([2, 1]); inferred shape of values literal ([3])",
        ),
        ("sparse<1.0, 1> : tensor<3xi32>", "expected integer elements, but parsed floating-point"),
        ("sparse<0, 1> : i32", "elements literal must be a shaped type"),
        ("sparse<0, 1> : tensor<1152921504606846976xi32>", "too many for a sparse literal"),
        ("dense<1> : tensor<?xi32>", "elements literal type must have static shape"),
        ("dense<1> : tensor<i3>", "can't have the element type i3"),
        ('dense<"0x0"> : tensor<i8>', "expected string containing hex digits starting with `0x`"),
        ('dense<"00"> : tensor<i8>', "expected string containing hex digits starting with `0x`"),
        ("dense<1 : tensor<i8>", "expected '>' to end the literal"),
        ("dense_resource<w> : f32", "`dense_resource` expected a shaped type"),
        ("dense<" + "[" * 100_000, "expected '>' to end the literal"),
        ("dense<" + "[" * 100_000 + "]" * 100_000 + "> : tensor<1xf32>", "nested too deeply"),
        ("dense<" + "9" * 100_000 + "> : tensor<i64>", "too many digits"),
    ],
)
def test_constants_that_are_wrong(text: str, message: str) -> None:
    assert message in bad(text)


DTYPE_NAMES = sorted(DTYPES)


@st.composite
def arrays(draw: Any) -> tuple[str, np.ndarray]:
    element = draw(st.sampled_from(DTYPE_NAMES))
    dtype = DTYPES[element]
    shape = tuple(draw(st.lists(st.integers(0, 4), max_size=3)))
    count = int(np.prod(shape, dtype=int))
    data = draw(st.binary(min_size=count * dtype.itemsize, max_size=count * dtype.itemsize))
    if element == "i1":
        return element, (np.frombuffer(data, np.uint8) % 2).astype(bool).reshape(shape)
    if dtype.itemsize == 1 and not element.endswith("8") and not element.startswith("f8"):
        bits = {"i2": 2, "ui2": 2, "i4": 4, "ui4": 4, "f4E2M1FN": 4, "f6E2M3FN": 6, "f6E3M2FN": 6}[element]
        values = np.frombuffer(data, np.uint8) % (1 << bits)
        if element in ("i2", "i4"):
            values = np.where(values >= 1 << (bits - 1), values.astype(int) - (1 << bits), values)
            return element, values.astype(np.int8).astype(dtype).reshape(shape)
        return element, values.astype(np.uint8).view(dtype).reshape(shape)
    return element, np.frombuffer(data, dtype).reshape(shape)


def number(item: Any, dtype: np.dtype[Any]) -> str:
    if dtype == np.bool_:
        return str(bool(item)).lower()
    if dtype.kind == "c":
        part = np.dtype(np.float32 if dtype == np.complex64 else np.float64)
        return f"({number(item.real, part)}, {number(item.imag, part)})"
    if dtype.kind in "iu" or dtype.name.startswith(("int", "uint")):
        return str(int(item))
    return f"0x{int.from_bytes(np.array(item, dtype).tobytes(), 'little'):X}"  # every bit, NaN's too


def nested(array: np.ndarray) -> str:
    if array.ndim == 0:
        return number(array[()], array.dtype)
    return f"[{', '.join(nested(row) for row in array)}]"


@given(arrays())
def test_a_printed_constant_reads_back(drawn: tuple[str, np.ndarray]) -> None:
    element, array = drawn
    type = "x".join([*map(str, array.shape), element])
    texts = [f"dense<{nested(array) if array.size else ''}> : tensor<{type}>"]
    if element != "i1" and array.size:
        texts.append(f'dense<"0x{array.tobytes().hex().upper()}"> : tensor<{type}>')
    for text in texts:
        value = read(text)
        assert value.type == TensorType(array.shape, element)
        assert value.array.dtype == array.dtype
        assert value.array.tobytes() == array.tobytes()


@given(st.floats(width=32, allow_nan=False, allow_infinity=False))
def test_decimal_floats(value: float) -> None:
    text = f"{value:.9e}"
    assert read(f"dense<{text}> : tensor<f32>").array == np.float32(float(text))
    assert read(f"{text} : f32") == float(np.float32(float(text)))


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_strings(text: str) -> None:
    escaped = "".join(chr(b) if 32 <= b < 127 and b not in b'"\\' else f"\\{b:02X}" for b in text.encode())
    assert read(f'"{escaped}"') == text


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("sparse<[[0, 1], [1, 1]], [1.0, 2.0]> : tensor<2x3xf32>", [[0, 1, 0], [0, 2, 0]]),
        ("sparse<[[0, 1], [1, 1]], 1.0> : tensor<2x3xf32>", [[0, 1, 0], [0, 1, 0]]),
        ("sparse<1, 7> : tensor<2x2xi32>", [[0, 0], [0, 7]]),
        ("sparse<[1], 1> : tensor<3xi32>", [0, 1, 0]),
        ("sparse<[[0], [0]], [1, 2]> : tensor<3xi32>", [1, 0, 0]),
        ("sparse<> : tensor<3xi32>", [0, 0, 0]),
        ("sparse<[[1]], [(1.0, 2.0)]> : tensor<2xcomplex<f32>>", [0, 1 + 2j]),
    ],
)
def test_sparse_constants(text: str, values: Any) -> None:
    np.testing.assert_array_equal(read(text).array, values)


def test_a_resource_of_a_type_that_no_op_has_stays_text() -> None:
    text = "dense_resource<w> : tensor<2xcomplex<i32>>"
    assert attribute_text(read(text, tail='\n{-# dialect_resources: {builtin: {w: "0x0400000001000000"}} #-}')) == text


def test_a_resource_is_missed_only_by_who_asks_for_its_data() -> None:
    missing = read("dense_resource<w> : tensor<2xf32>")
    assert missing == read("dense_resource<w> : tensor<2xf32>")
    assert attribute_text(missing) == "dense_resource<w> : tensor<2xf32>"
    with pytest.raises(InvalidArgumentError, match="the resource 'w' is not defined") as caught:
        missing.tolist()
    assert caught.value.location is not None


@pytest.mark.parametrize(
    "text",
    [
        "affine_set<(d0) : (d0 >= 0, d0 == 1)>",
        "affine_set<(d0)[s0] : (d0 <= s0)>",
        "affine_map<(d0) -> (d0)>",
        "dense<(1, 2)> : tensor<1xcomplex<i32>>",
        'sparse<[[0]], "foo"> : tensor<1x!foo.bar>',
    ],
)
def test_attributes_that_no_op_reads_are_kept(text: str) -> None:
    assert read(text) == A.OpaqueAttribute(text)
