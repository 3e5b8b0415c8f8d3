"""CHLO ops against mpmath, scipy's definitions and numpy. An error is counted in units in the last place, or, near
zeros of the function, in absolute terms: a result passes if either is small.
"""

from __future__ import annotations

from collections.abc import Callable

import ml_dtypes
import numpy as np
import pytest

from xla_core.errors import InvalidArgumentError
from xla_core.hlo.evaluator import evaluate
from xla_core.stablehlo import parse_text, to_hlo, verify

mpmath = pytest.importorskip("mpmath")

_TYPES = {"float32": "f32", "float64": "f64", "bfloat16": "bf16", "float16": "f16", "int8": "i8", "uint8": "ui8"}
_TYPES |= {"int16": "i16", "int32": "i32", "int64": "i64", "uint32": "ui32", "uint64": "ui64", "bool": "i1"}
_TYPES |= {"complex64": "complex<f32>", "complex128": "complex<f64>"}


def tensor(shape: tuple[int, ...], dtype: np.dtype) -> str:
    return "tensor<" + "x".join([*map(str, shape), _TYPES[np.dtype(dtype).name]]) + ">"


def run(op: str, *arrays: np.ndarray, result: tuple[tuple[int, ...], np.dtype] | None = None, attributes: str = ""):
    types = [tensor(a.shape, a.dtype) for a in arrays]
    out = tensor(*(result or (arrays[0].shape, arrays[0].dtype)))
    arguments = ", ".join(f"%a{i}: {t}" for i, t in enumerate(types))
    uses = ", ".join(f"%a{i}" for i in range(len(arrays)))
    body = f'%0 = "{op}"({uses}) {attributes} : ({", ".join(types)}) -> {out}\n  return %0 : {out}'
    return evaluate(to_hlo(f"func.func @main({arguments}) -> {out} {{\n  {body}\n}}"), *arrays)[0]


def reference(function: Callable, *arrays: np.ndarray) -> np.ndarray:
    with mpmath.workdps(40):
        return np.array([float(function(*(mpmath.mpf(float(v)) for v in row))) for row in zip(*arrays, strict=True)])


def check(got: np.ndarray, want: np.ndarray, ulps: float, absolute: float) -> None:
    error = np.abs(got.astype(np.longdouble) - want)
    spacing = np.spacing(np.abs(want).astype(got.dtype)).astype(float)
    bad = (error > ulps * spacing) & (error > absolute)
    assert not bad.any(), (
        f"{error[bad][0] / spacing[bad][0]:.1f} ULP, {error[bad][0]:.2e}, at a value of {want[bad][0]}"
    )


# name, mpmath's function, ranges, ULP, and absolute error in units of the type's epsilon
_FUNCTIONS = {
    "lgamma": (lambda x: mpmath.loggamma(x).real, [(1e-4, 0.5), (0.5, 3), (3, 40), (-6, 0)], 5, 8),
    "digamma": (mpmath.digamma, [(0.1, 3), (3, 40), (-0.4, -0.1), (-2.9, -2.1)], 5, 64),
    "erfc": (mpmath.erfc, [(-5, 0), (0, 2), (2, 9)], 5, 0),
    "erf_inv": (mpmath.erfinv, [(-0.9, 0.9), (0.9, 0.99999)], 4, 0),
    "bessel_i1e": (lambda x: mpmath.exp(-abs(x)) * mpmath.besseli(1, x), [(-9, 9), (9, 300)], 6, 0),
}


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", _FUNCTIONS)
def test_functions_keep_their_digits(name: str, dtype: type):
    function, ranges, ulps, epsilons = _FUNCTIONS[name]
    rng = np.random.default_rng(3)
    x = np.concatenate([rng.uniform(low, high, 60) for low, high in ranges]).astype(dtype)
    check(run(f"chlo.{name}", x), reference(function, x), ulps, epsilons * float(np.finfo(dtype).eps))


@pytest.mark.parametrize("dtype", [ml_dtypes.bfloat16, np.float16])
@pytest.mark.parametrize("name", ["lgamma", "erfc", "erf_inv", "bessel_i1e"])
def test_narrow_types_go_through_float32(name: str, dtype: type):
    x = np.linspace(0.1, 0.9, 30).astype(dtype)
    want = reference(_FUNCTIONS[name][0], x.astype(np.float64)).astype(dtype)
    np.testing.assert_allclose(
        run(f"chlo.{name}", x).astype(float), want.astype(float), rtol=float(ml_dtypes.finfo(dtype).eps)
    )


@pytest.mark.parametrize(
    ("name", "points", "values"),
    [
        ("lgamma", [0, -1, -2, np.inf, -np.inf, np.nan, 1, 2], [np.inf] * 5 + [np.nan, 0, 0]),
        ("digamma", [0, -1, np.inf, -np.inf, np.nan], [np.nan, np.nan, np.inf, np.nan, np.nan]),
        ("erfc", [np.inf, -np.inf, np.nan, 0, 40], [0, 2, np.nan, 1, 0]),
        ("erf_inv", [-1, 1, 0, 2, np.nan], [-np.inf, np.inf, 0, np.nan, np.nan]),
    ],
)
def test_special_values(name: str, points: list[float], values: list[float]):
    np.testing.assert_array_equal(run(f"chlo.{name}", np.array(points, np.float32)), np.array(values, np.float32))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("s", [1.25, 2, 3.5, 9])
def test_zeta(s: float, dtype: type):
    q = np.random.default_rng(4).uniform(0.2, 20, 60).astype(dtype)
    x = np.full_like(q, s)
    check(run("chlo.zeta", x, q), reference(mpmath.zeta, x, q), 16, 0)


def test_zeta_at_its_poles():
    x, q = np.array([1, 0.5, 2, 3, 2.5], np.float32), np.array([2, 2, -3, -3, -2.5], np.float32)
    np.testing.assert_array_equal(
        run("chlo.zeta", x, q), np.array([np.inf, np.nan, np.inf, np.nan, np.nan], np.float32)
    )


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n", [0, 1, 2, 5, 10])
def test_polygamma(n: int, dtype: type):
    x = np.random.default_rng(5).uniform(2, 20, 60).astype(dtype)
    order = np.full_like(x, n)
    want = reference(lambda v: mpmath.polygamma(n, v), x)
    check(run("chlo.polygamma", order, x), want, 12, 4 * float(np.finfo(dtype).eps))


def test_polygamma_of_an_order_that_is_not_whole_is_nan():
    assert np.isnan(run("chlo.polygamma", np.float32([1.5, -1]), np.float32([2, 2]))).all()


@pytest.mark.parametrize("name", ["acos", "acosh", "asin", "asinh", "atan", "atanh", "cosh", "sinh", "tan"])
@pytest.mark.parametrize("dtype", [np.float32, np.complex128])
def test_elementary_functions_are_hlo_ops(name: str, dtype: type):
    x = np.linspace(1.1, 1.9, 9) if name == "acosh" else np.linspace(-0.9, 0.9, 9)
    x = (x + (0.3j if dtype is np.complex128 else 0)).astype(dtype)
    inverse = {"acos": "arccos", "acosh": "arccosh", "asin": "arcsin", "asinh": "arcsinh", "atan": "arctan"}
    function = getattr(np, (inverse | {"atanh": "arctanh"}).get(name, name))
    np.testing.assert_allclose(run(f"chlo.{name}", x), function(x), rtol=2e-6)


def test_square_and_conj():
    z = np.array([1 + 2j, 1e200 + 1e200j, -3j], np.complex128)
    np.testing.assert_array_equal(run("chlo.square", z), np.array([-3 + 4j, complex(0, np.inf), -9 - 0j]))
    np.testing.assert_array_equal(run("chlo.conj", z), np.conj(z))
    np.testing.assert_array_equal(run("chlo.square", np.arange(4, dtype=np.float32)), np.arange(4) ** 2)


def test_the_kernel_of_asin_and_acos():
    x, y = np.random.default_rng(6).normal(size=(2, 50))
    z = x + 1j * y
    w = run("chlo._asin_acos_kernel", z)
    np.testing.assert_allclose(np.arctan2(z.real, w.real) + 1j * np.sign(z.imag) * w.imag, np.arcsin(z), rtol=1e-12)
    np.testing.assert_allclose(np.arctan2(w.real, z.real) - 1j * np.sign(z.imag) * w.imag, np.arccos(z), rtol=1e-12)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16])
def test_next_after(dtype: type):
    tiny, inf = np.finfo(dtype).smallest_subnormal, np.inf
    x = np.array([0, -0.0, 1, 1, -1, tiny, -tiny, inf, -inf, np.nan, 2, 0], dtype)
    y = np.array([1, -1, 2, 0, 0, 0, 0, 0, 0, 1, 2, np.nan], dtype)
    np.testing.assert_array_equal(run("chlo.next_after", x, y), np.nextafter(x, y))


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32, np.uint32, np.int64, np.uint64])
def test_mulhi(dtype: type):
    info = np.iinfo(dtype)
    rng = np.random.default_rng(9)
    a, b = (rng.integers(info.min, info.max, 200, dtype, endpoint=True) for _ in range(2))
    a[:3], b[:3] = info.min, [info.min, info.max, 1]
    want = [(int(x) * int(y)) >> info.bits for x, y in zip(a, b, strict=True)]
    assert run("chlo.mulhi", a, b).tolist() == want


def test_predicates():
    x = np.array([1, np.inf, -np.inf, np.nan], np.float32)
    bools = ((4,), np.dtype(bool))
    assert run("chlo.is_inf", x, result=bools).tolist() == [False, True, True, False]
    assert run("chlo.is_pos_inf", x, result=bools).tolist() == [False, True, False, False]
    assert run("chlo.is_neg_inf", x, result=bools).tolist() == [False, False, True, False]


# -- broadcasting ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("a", "b"), [((2, 3), (3,)), ((2, 1), (1, 3)), ((), (2, 3)), ((4, 1, 3), (2, 1))])
def test_operands_are_broadcast_as_in_numpy(a: tuple[int, ...], b: tuple[int, ...]):
    rng = np.random.default_rng(10)
    x, y = rng.normal(size=a).astype(np.float32), rng.normal(size=b).astype(np.float32)
    want = x * y
    np.testing.assert_array_equal(run("chlo.broadcast_multiply", x, y, result=(want.shape, want.dtype)), want)
    less = "{comparison_direction = #chlo<comparison_direction LT>}"
    got = run("chlo.broadcast_compare", x, y, result=(want.shape, np.dtype(bool)), attributes=less)
    np.testing.assert_array_equal(got, x < y)


def test_broadcast_dimensions_place_the_smaller_operand():
    x, y = np.ones((2, 3), np.float32), np.arange(2, dtype=np.float32)
    got = run("chlo.broadcast_add", x, y, attributes="{broadcast_dimensions = array<i64: 0>}")
    np.testing.assert_array_equal(got, x + y[:, None])


def test_broadcast_select():
    p, x, y = np.array([True, False]), np.float32(1), np.arange(6, dtype=np.float32).reshape(3, 2)
    np.testing.assert_array_equal(run("chlo.broadcast_select", p, x, y, result=(y.shape, y.dtype)), np.where(p, x, y))


# -- structured ops --------------------------------------------------------------------------------------------------


def test_a_constant_is_like_its_operand_in_shape_only():
    f32 = ((2,), np.dtype(np.float32))
    got = run("chlo.constant_like", np.zeros(2, np.int64), result=f32, attributes="{value = 3.5 : f32}")
    assert got.dtype == np.float32
    assert got.tolist() == [3.5, 3.5]


def test_top_k_is_stable_and_puts_nan_first():
    x = np.array([[3, 1, 3, np.nan, 2], [0, -1, 5, 5, 5]], np.float32)
    text = """func.func @main(%a: tensor<2x5xf32>) -> (tensor<2x3xf32>, tensor<2x3xi32>) {
      %0:2 = chlo.top_k(%a, k = 3) : tensor<2x5xf32> -> (tensor<2x3xf32>, tensor<2x3xi32>)
      return %0#0, %0#1 : tensor<2x3xf32>, tensor<2x3xi32>
    }"""
    values, indices = evaluate(to_hlo(text), x)
    np.testing.assert_array_equal(values, [[np.nan, 3, 3], [5, 5, 5]])
    assert indices.tolist() == [[3, 0, 2], [2, 3, 4]]


@pytest.mark.parametrize("reverse", [False, True])
def test_scan(reverse: bool):
    extra = " attributes {is_reverse = true}" if reverse else ""
    text = f"""func.func @main(%x: tensor<2x4xf32>, %z: tensor<2xf32>) -> (tensor<2x4xf32>, tensor<2xf32>) {{
      %0:2 = chlo.scan(%x) inits(%z) dimension=1{extra} {{
      ^bb0(%a: tensor<2xf32>, %c: tensor<2xf32>):
        %k = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
        %s = stablehlo.add %a, %c : tensor<2xf32>
        %t = stablehlo.multiply %s, %k : tensor<2xf32>
        stablehlo.return %s, %t : tensor<2xf32>, tensor<2xf32>
      }} : (tensor<2x4xf32>, tensor<2xf32>) -> (tensor<2x4xf32>, tensor<2xf32>)
      return %0#0, %0#1 : tensor<2x4xf32>, tensor<2xf32>
    }}"""
    x, carry = np.arange(8, dtype=np.float32).reshape(2, 4), np.array([3, -1], np.float32)
    module = to_hlo(text)
    got = evaluate(module, x, carry)
    outputs = np.zeros_like(x)
    for i in range(3, -1, -1) if reverse else range(4):
        outputs[:, i] = x[:, i] + carry
        carry = outputs[:, i] * np.array([1, 2], np.float32)
    assert [i.opcode for i in module.entry.instructions].count("scan") == 1
    np.testing.assert_array_equal(got[0], outputs)
    np.testing.assert_array_equal(got[1], carry)


SCAN = """func.func @main(%x: tensor<4x2xf32>, %c: tensor<2xf32>, %k: tensor<2xf32>) {
  %0:2 = "chlo.scan"(%x, %c) <{dimension = 0 : i64, operandSegmentSizes = array<i32: 1, 1>,
    resultSegmentSizes = array<i32: 1, 1>}> ({
  ^bb0(%a: tensor<2xf32>, %b: tensor<2xf32>):
    %s = stablehlo.add %b, %b : tensor<2xf32>
    stablehlo.return %s, %s : tensor<2xf32>, tensor<2xf32>
  }) : (tensor<4x2xf32>, tensor<2xf32>) -> (tensor<4x2xf32>, tensor<2xf32>)
  return
}"""


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("dimension = 0", "dimension = -1", "64-bit signless integer attribute whose value is non-negative"),
        ("dimension = 0", "dimension = 2", "scan dimension of operand 0 is out of bounds"),
        ("dimension = 0", "scan_dim_size = 5 : i64, dimension = 0", "invalid scan dimension size of operand 0"),
        ("dimension = 0", "scan_dim_size = -5 : i64, dimension = 0", "'scan_dim_size' failed to satisfy constraint"),
        ("dimension = 0", "is_associative = 1 : i64, dimension = 0", "bool attribute"),
        ("operandSegmentSizes = array<i32: 1, 1>", "operandSegmentSizes = array<i32: 2, 1>",
         "operand count (2) does not match with the total size (3) specified in attribute 'operandSegmentSizes'"),
        ("resultSegmentSizes = array<i32: 1, 1>", "resultSegmentSizes = array<i32: 1, 2>",
         "result count (2) does not match with the total size (3) specified in attribute 'resultSegmentSizes'"),
        ("%a: tensor<2xf32>, %b: tensor<2xf32>", "%b: tensor<2xf32>", "expects 2 arguments in the body, but got 1"),
        ("%a: tensor<2xf32>, %b", "%a: tensor<3xf32>, %b", "operand and body argument 0 are incompatible"),
        ("-> (tensor<4x2xf32>", "-> (tensor<5x2xf32>", "inferred type(s) 'tensor<4x2xf32>', 'tensor<2xf32>' are"),
        ("add %b, %b", "add %b, %k", "using value defined outside the region"),
    ],
)  # fmt: skip
def test_scan_is_verified(old: str, new: str, message: str):
    verify(parse_text(SCAN))
    with pytest.raises(InvalidArgumentError) as caught:
        verify(parse_text(SCAN.replace(old, new)))
    assert message in str(caught.value)


def _ragged(lhs: str, rhs: str, out: str, dims: str) -> str:
    return f"""func.func @main(%a: {lhs}, %b: {rhs}, %g: tensor<3xi32>) -> {out} {{
      %0 = "chlo.ragged_dot"(%a, %b, %g) {{ragged_dot_dimension_numbers = #chlo.ragged_dot<{dims}>}}
        : ({lhs}, {rhs}, tensor<3xi32>) -> {out}
      return %0 : {out}
    }}"""


def test_ragged_dot_of_rows_in_groups():
    rng = np.random.default_rng(11)
    a, b, sizes = rng.normal(size=(7, 4)), rng.normal(size=(3, 4, 5)), np.array([2, 0, 4], np.int32)
    dims = "lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], "
    text = _ragged("tensor<7x4xf64>", "tensor<3x4x5xf64>", "tensor<7x5xf64>", dims + "rhs_group_dimensions = [0]")
    want = np.zeros((7, 5))
    want[:2], want[2:6] = a[:2] @ b[0], a[2:6] @ b[2]
    np.testing.assert_allclose(evaluate(to_hlo(text), a, b, sizes)[0], want, rtol=1e-12)


def test_ragged_dot_that_contracts_groups():
    rng = np.random.default_rng(12)
    a, b, sizes = rng.normal(size=(2, 4, 7)), rng.normal(size=(2, 7, 5)), np.array([2, 1, 4], np.int32)
    dims = "lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], "
    dims += "rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [2]"
    text = _ragged("tensor<2x4x7xf64>", "tensor<2x7x5xf64>", "tensor<3x2x4x5xf64>", dims)
    parts = [slice(0, 2), slice(2, 3), slice(3, 7)]
    want = np.stack([a[:, :, p] @ b[:, p] for p in parts])
    np.testing.assert_allclose(evaluate(to_hlo(text), a, b, sizes)[0], want, rtol=1e-12)
