from __future__ import annotations

import math

import ml_dtypes
import numpy as np
import pytest

from xla_core.hlo.table.backend_config import parse_backend_config, read_backend_config


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", {}),
        ("{}", {}),
        ("{uplo = 76 : ui8, low = -1 : i32}", {"uplo": 76, "low": -1}),
        (
            '{s = "a\\22b, c", t = true, f = 2.500000e-01 : f32, unit}',
            {"s": 'a"b, c', "t": True, "f": 0.25, "unit": True},
        ),
        ("{a = array<i64: 1, 2>, e = array<i32>, l = [1 : i64, [true]]}", {"a": [1, 2], "e": [], "l": [1, [True]]}),
        ('{d = {x = 0x10 : i64}, "quoted key" = 3 : i8}', {"d": {"x": 16}, "quoted key": 3}),
        ('{"json": {"x": [1, 2.5]}}', {"json": {"x": [1, 2.5]}}),
        ('{s = "\\C3\\A9 é \\FF\\n\\t\\\\\\0A", "\\C3\\A9" = 1 : i64}', {"s": "é é \udcff\n\t\\\n", "é": 1}),
        (
            '{"s": "\\u00e9\\n\\"", "n": null, "l": [1e3, {"x": -2}]}',
            {"s": 'é\n"', "n": None, "l": [1000.0, {"x": -2}]},
        ),
        ("[1, 2]", {"": "[1, 2]"}),
        ("3", {"": "3"}),
        ("hello world", {"": "hello world"}),
        ("{unclosed = 3", {"": "{unclosed = 3"}),
        ("{foo bar}", {"": "{foo bar}"}),
        ("{a = 3, b = foo}", {"": "{a = 3, b = foo}"}),
        ("{a = @f(<]>)}", {"": "{a = @f(<]>)}"}),
        ('"a"', {"": '"a"'}),
        ("{a = " + "[" * 10_000, {"": "{a = " + "[" * 10_000}),
    ],
)
def test_parse(text, expected):
    assert dict(parse_backend_config(text)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0x7F800000 : f32", math.inf),
        ("0xFF800000 : f32", -math.inf),
        ("0x7FC00000 : f32", math.nan),
        ("0xFFF0000000000000 : f64", -math.inf),
        ("0x7F80 : bf16", math.inf),
        ("0x7C00 : f16", math.inf),
        ("0x7C : f8E5M2", math.inf),
        ("1.0e400 : f64", math.inf),
        ("1.0e400", math.inf),
        ("0.1 : f32", float(np.float32(0.1))),
        ("1e-50 : f32", 0.0),
        ("2 : f32", 2.0),
        ("255 : ui8", 255),
        ("18446744073709551615 : ui64", 2**64 - 1),
        ("0x7F800000 : i64", 0x7F800000),
        ("3 : index", 3),
        ("3 : i17", 3),
        ("255 : i8", -1),
        ("0xFE : i8", -2),
        ("131071 : i17", -1),
        ("-128 : si8", -128),
        ("1 : i1", 1),
    ],
)
def test_numbers_are_of_their_type(text, expected):
    for form in ("{d = {z = %s}, end}", "{d = [%s], end}"):
        attributes = parse_backend_config(form % text)
        value = attributes["d"][0] if form[5] == "[" else attributes["d"]["z"]
        assert type(value) is type(expected)
        assert value == expected or (math.isnan(value) and math.isnan(expected))
        assert attributes["end"] is True


def test_arrays_of_floats():
    array = parse_backend_config("{z = array<f32: 0x7F800000, 1.0, -0.1, 0x7FC00000>}")["z"]
    assert array[:3] == [math.inf, 1.0, float(np.float32(-0.1))]
    assert math.isnan(array[3])
    assert all(type(v) is float for v in array)
    assert parse_backend_config("{z = array<i1: true, false>}")["z"] == [True, False]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("dense<[1.0, 2.5]> : tensor<2xf32>", np.array([1, 2.5], np.float32)),
        ("dense<[0x7F800000, 1.0]> : tensor<2xf32>", np.array([np.inf, 1], np.float32)),
        ('dense<"0x0000807F0000803F"> : tensor<2xf32>', np.array([np.inf, 1], np.float32)),
        ("dense<0x7FF0000000000000> : tensor<f64>", np.array(np.inf)),
        ("dense<0xFF80> : tensor<2xbf16>", np.full(2, -np.inf, ml_dtypes.bfloat16)),
        ("dense<7> : tensor<2x3xi64>", np.full((2, 3), 7)),
        ('dense<"0x07"> : tensor<4xi8>', np.full(4, 7, np.int8)),
        ("dense<[[1, -2], [3, 4]]> : tensor<2x2xi32>", np.array([[1, -2], [3, 4]], np.int32)),
        ("dense<[255, 0]> : tensor<2xui8>", np.array([255, 0], np.uint8)),
        ("dense<[-1, 7]> : tensor<2xi4>", np.array([-1, 7], ml_dtypes.int4)),
        ("dense<[true, false]> : tensor<2xi1>", np.array([True, False])),
        ("dense<> : tensor<0x3xf32>", np.zeros((0, 3), np.float32)),
        ("dense<[(1.0, 2.0), (0x7F800000, 0.0)]> : tensor<2xcomplex<f32>>", np.array([1 + 2j, np.inf], np.complex64)),
        ("dense<[1, 2]> : vector<2xi32>", np.array([1, 2], np.int32)),
    ],
)
def test_dense_is_an_array(text, expected):
    attributes = parse_backend_config(f'{{a = {text}, l = [{text}, 1 : i32], n = 3 : i32, s = "q"}}')
    assert attributes["n"] == 3
    assert attributes["s"] == "q"
    assert attributes["l"][1] == 1
    for array in (attributes["a"], attributes["l"][0]):
        assert array.dtype == expected.dtype
        np.testing.assert_array_equal(array, expected, strict=True)
        assert not array.flags.writeable


def test_a_splat_takes_no_memory():
    array = parse_backend_config("{a = dense<0.0> : tensor<1000000x1000000xf64>}")["a"]
    assert array.shape == (1_000_000, 1_000_000)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("f32", np.dtype(np.float32)),
        ("ui8", np.dtype(np.uint8)),
        ("i1", np.dtype(bool)),
        ("bf16", np.dtype(ml_dtypes.bfloat16)),
        ("complex<f64>", np.dtype(np.complex128)),
        ("unit", True),
        ("@symbol", "symbol"),
        ('@"a, \\22b}"', 'a, "b}'),
        ('@"a, b}"::@c', "a, b}::@c"),
        ("@a::@b", "a::@b"),
        ('@a::@"::@b"::@c', "a::@::@b::@c"),
        ("#stablehlo<comparison_direction GE>", "#stablehlo<comparison_direction GE>"),
        ("#foo.bar<{a = [1, 2]}>", "#foo.bar<{a = [1, 2]}>"),
        ("affine_map<(d0) -> (d0)>", "affine_map<(d0) -> (d0)>"),
        ("affine_set<(d0) : (d0 >= 0)>", "affine_set<(d0) : (d0 >= 0)>"),
        ("affine_set<(d0, d1) : (d0 <= 5, d1 == 0)>", "affine_set<(d0, d1) : (d0 <= 5, d1 == 0)>"),
        ("#foo<a<b>=3>", "#foo<a<b>=3>"),
        ("#foo<a=<b>, (c<d>)>", "#foo<a=<b>, (c<d>)>"),
        ("tensor<2x?xf32>", "tensor<2x?xf32>"),
        ("!stablehlo.token", "!stablehlo.token"),
        ("(tensor<f32>) -> tensor<f32>", "(tensor<f32>) -> tensor<f32>"),
        ("i17", "i17"),
        ("none", "none"),
        ("dense_resource<r> : tensor<2xf32>", "dense_resource<r> : tensor<2xf32>"),
        ('dense<["a", "b"]> : tensor<2x!tf.string>', 'dense<["a", "b"]> : tensor<2x!tf.string>'),
        ("0x3FFF8000000000000000 : f80", "0x3FFF8000000000000000 : f80"),
        ("dense<-1> : tensor<2xui8>", "dense<-1> : tensor<2xui8>"),
        ("dense<[1, 2]> : tensor<3xi32>", "dense<[1, 2]> : tensor<3xi32>"),
        ('dense<"0x0"> : tensor<3xi32>', 'dense<"0x0"> : tensor<3xi32>'),
        (f"dense<1> : tensor<{'9' * 30}xi32>", f"dense<1> : tensor<{'9' * 30}xi32>"),
        (f"dense<1> : tensor<{'9' * 5000}xi32>", f"dense<1> : tensor<{'9' * 5000}xi32>"),
        ("array<i8: 1, 300>", "array<i8: 1, 300>"),
        ("300 : i8", "300 : i8"),
        ("-1 : ui8", "-1 : ui8"),
        ("-129 : i8", "-129 : i8"),
        ("128 : si8", "128 : si8"),
        ("1.5 : i32", "1.5 : i32"),
        ("0x1FF800000 : f32", "0x1FF800000 : f32"),
    ],
)
def test_other_kinds_leave_the_rest_readable(text, expected):
    for form in ("{a = 1 : i32, k = %s, z = 2 : i32}", "{a = 1 : i32, z = 2 : i32, k = [%s]}"):
        attributes = parse_backend_config(form % text)
        assert (attributes["a"], attributes["z"]) == (1, 2)
        value = attributes["k"]
        assert (value[0] if isinstance(value, list) else value) == expected


def test_arrays_of_integers_are_of_their_type():
    assert parse_backend_config("{z = array<i8: 1, 255, 0x80, -128>}")["z"] == [1, -1, -128, -128]


@pytest.mark.parametrize("text", ["{l = [1, [2]], d = {e = {f = [3]}}}", '{"l": [1, [2]], "d": {"e": {"f": [3]}}}'])
def test_what_one_caller_writes_the_next_does_not_see(text):
    for read in (parse_backend_config, read_backend_config):
        first = read(text)
        first["l"].append(4)
        first["l"][1].append(5)
        first["d"]["e"]["f"].clear()
        first["d"]["more"] = 6
        assert dict(read(text)) == {"l": [1, [2]], "d": {"e": {"f": [3]}}}


def test_deep_lists_are_given_again():
    text = '{"l": ' + "[" * 500 + "]" * 500 + "}"
    first, second = parse_backend_config(text)["l"], parse_backend_config(text)["l"]
    for _ in range(499):
        assert first is not second
        first, second = first[0], second[0]
    assert first == second == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", {}),
        (" ", {}),
        ("{}", {}),
        ("{a = 3 : i32}", {"a": 3}),
        ('{"" = "x"}', {"": "x"}),
        ("hello world", None),
        ("{foo bar}", None),
        ("[1, 2]", None),
    ],
)
def test_read_tells_what_is_no_dictionary(text, expected):
    assert read_backend_config(text) == expected
