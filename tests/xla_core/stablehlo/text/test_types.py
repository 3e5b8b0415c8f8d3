"""Types: read, print, and read again."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.xla_core.stablehlo.reading import in_function, refusal
from xla_core.hlo.values.scalar_types import DTYPES
from xla_core.stablehlo import FunctionType, TensorType, TokenType, TupleType, parse_text
from xla_core.stablehlo.ir import OpaqueType, QuantizedType, ScalarType


def read(text: str, head: str = "") -> Any:
    return parse_text(in_function("", f"%a: {text}", head)).functions["f"].attributes["function_type"].inputs[0]


@pytest.mark.parametrize("element", [*DTYPES, "i3", "i128", "si8", "tf32"])
def test_every_element_type(element: str) -> None:
    assert read(f"tensor<2x?x{element}>") == TensorType((2, -1), element)
    assert read(f"tensor<{element}>") == TensorType((), element)


def test_dimensions() -> None:
    assert read("tensor<0x1x9223372036854775807xf32>").shape == (0, 1, 2**63 - 1)
    assert read("tensor<?x?xf32>").is_static is False
    assert read("tensor< 2x3xf32 >") == TensorType((2, 3), "f32")


def test_bounds_in_both_spellings() -> None:
    want = TensorType((-1, 4), "f32", (3, None))
    assert read("tensor<?x4xf32, #stablehlo.bounds<3, ?>>") == want
    assert read("tensor<?x4xf32, #stablehlo.type_extensions<bounds = [3, ?]>>") == want
    assert str(want) == "tensor<?x4xf32, #stablehlo.bounds<3, ?>>"


def test_quantized() -> None:
    assert read("tensor<2x!quant.uniform<i8:f32, 0.5:-20>>").element == QuantizedType("i8", "f32", (0.5,), (-20,))
    per_axis = read("tensor<2x2x!quant.uniform<u8<1:254>:f32:1, {0.1:1, 2.0e-2}>>").element
    assert per_axis == QuantizedType("u8", "f32", (0.1, 0.02), (1, 0), 1, 1, 254)
    blocks = read("tensor<2x2x!quant.uniform<i8:f32:{0:1, 1:2}, {{0.1:1}, {0.2:2}}>>").element
    assert blocks == QuantizedType("i8", "f32", (0.1, 0.2), (1, 2), block_sizes=((0, 1), (1, 2)))


def test_quantized_range_of_the_storage_type_says_nothing() -> None:
    assert read("tensor<!quant.uniform<i8<-128:127>:f32, 1.0>>") == read("tensor<!quant.uniform<i8:f32, 1.0>>")


def test_other_types() -> None:
    assert read("!stablehlo.token") == TokenType()
    assert read("tuple<>") == TupleType(())
    assert read("tuple<tensor<f32>, tuple<!stablehlo.token>>") == TupleType(
        (TensorType((), "f32"), TupleType((TokenType(),)))
    )
    assert read("!stablehlo.future<tensor<2xf32>, tensor<i1>>").elements == (
        TensorType((2,), "f32"),
        TensorType((), "i1"),
    )
    assert read("index") == ScalarType("index")
    assert read("complex<f32>") == ScalarType("complex<f32>")
    assert read("memref<2x?xf32, strided<[1, ?]>>") == OpaqueType("memref<2x?xf32, strided<[1, ?]>>")
    assert read("tensor<*xf32>") == OpaqueType("tensor<*xf32>")
    assert read('!other.kind<a -> [b], "]">') == OpaqueType('!other.kind<a -> [b], "]">')
    assert read("tensor<2x!other.kind<1>>") == TensorType((2,), "!other.kind<1>")
    assert read("(tensor<f32>) -> ()") == FunctionType((TensorType((), "f32"),), ())


def test_aliases() -> None:
    assert read("tuple<!t, !t>", "!t = tensor<2xf32>\n") == TupleType((TensorType((2,), "f32"),) * 2)
    assert "undefined symbol alias id" in refusal(in_function("", "%a: !t")).message


@pytest.mark.parametrize(
    ("text", "message", "column"),
    [
        ("tensor<2xf33>", "expected non-function type as element type, found 'f33'", 29),
        ("tensor<2x", "expected non-function type as element type", 29),
        ("tensor<2xf32", "expected '>' in tensor type", 32),
        ("tensor<9223372036854775808xf32>", "doesn't fit in 64 bits", 27),
        ("tensor<?x?xf32, #stablehlo.bounds<3>>", "Bounds length is 1, expected to be equal to rank(2)", 20),
        ("tensor<3xf32, #stablehlo.bounds<3>>", "Static dimension 0 cannot have a bound", 20),
        ("!stablehlo.tokens", "unknown stablehlo type: tokens", 20),
        ("tensor<tensor<f32>>", "invalid tensor element type", 27),
        ("tensor<1x!quant.uniform<i8:f32>>", "expected ',' before the scales", 50),
        ("%b", "expected non-function type, found '%'", 20),
    ],
)
def test_refusals(text: str, message: str, column: int) -> None:
    error = refusal(in_function("", f"%aaaaa: {text}"))
    assert message in error.message
    assert error.location is not None
    assert error.location.line == 1
    assert error.location.column in range(column, column + 3)


SCALES = st.floats(1e-3, 1e3).map(lambda x: float(f"{x:.6g}"))
QUANTIZED = st.one_of(
    st.builds(lambda s, z: QuantizedType("i8", "f32", (s,), (z,)), SCALES, st.integers(-128, 127)),
    st.builds(
        lambda s, a: QuantizedType("i8", "f32", tuple(s), (0,) * len(s), a, -100, 100),
        st.lists(SCALES, min_size=1, max_size=4),
        st.integers(0, 3),
    ),
)
ELEMENTS = st.one_of(st.sampled_from([*DTYPES]), QUANTIZED)
TENSORS = st.builds(
    lambda shape, element: TensorType(tuple(shape), element),
    st.lists(st.one_of(st.just(-1), st.integers(0, 2**40)), max_size=5),
    ELEMENTS,
)
TYPES = st.recursive(
    st.one_of(TENSORS, st.just(TokenType()), st.just(ScalarType("i64"))),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(lambda types: TupleType(tuple(types))),
        st.builds(
            lambda a, b: FunctionType(tuple(a), tuple(b)), st.lists(inner, max_size=3), st.lists(inner, max_size=3)
        ),
    ),
    max_leaves=8,
)


@given(TYPES)
def test_a_printed_type_reads_back(type: Any) -> None:
    assert read(str(type)) == type
