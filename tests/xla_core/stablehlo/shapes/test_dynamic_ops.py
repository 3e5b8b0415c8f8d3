"""Every op whose sizes are operands, and CHLO's, with sizes that only the arguments have: against numpy."""

from __future__ import annotations

import numpy as np
import pytest

import xla_core as xla

F = np.float32
X = np.arange(12, dtype=F).reshape(4, 3)
V = np.array([3, 1, 2, 5, 4], F)


def sizes(name: str, *dims: int, type: str = "tensor<?x?xf32>") -> str:
    """The sizes of %name along dims as a vector %name_shape."""
    lines = []
    for d in dims:
        lines.append(f"%{name}_{d} = stablehlo.get_dimension_size %{name}, dim = {d} : ({type}) -> tensor<i32>")
        lines.append(f"%{name}_v{d} = stablehlo.reshape %{name}_{d} : (tensor<i32>) -> tensor<1xi32>")
    parts = ", ".join(f"%{name}_v{d}" for d in dims)
    types = ", ".join(["tensor<1xi32>"] * len(dims))
    lines.append(f"%{name}_shape = stablehlo.concatenate {parts}, dim = 0 : ({types}) -> tensor<{len(dims)}xi32>")
    return "\n".join(lines)


CASES = {
    "dynamic_reshape": (
        f"""func.func @main(%a: tensor<?x?xf32>) -> tensor<?x?xf32> {{
        {sizes("a", 1, 0)}
        %0 = stablehlo.dynamic_reshape %a, %a_shape : (tensor<?x?xf32>, tensor<2xi32>) -> tensor<?x?xf32>
        return %0 : tensor<?x?xf32> }}""",
        [X],
        [X.reshape(3, 4)],
    ),
    "dynamic_broadcast_in_dim": (
        f"""func.func @main(%a: tensor<?x?xf32>, %b: tensor<?xf32>) -> tensor<?x?xf32> {{
        {sizes("a", 0, 1)}
        %0 = stablehlo.dynamic_broadcast_in_dim %b, %a_shape, dims = [1] : (tensor<?xf32>, tensor<2xi32>) -> tensor<?x?xf32>
        return %0 : tensor<?x?xf32> }}""",
        [X, V[:3]],
        [np.broadcast_to(V[:3], (4, 3))],
    ),
    "dynamic_broadcast_in_dim, expanding": (
        f"""func.func @main(%a: tensor<?x?xf32>, %b: tensor<?xf32>) -> tensor<?x?xf32> {{
        {sizes("a", 0, 1)}
        %0 = stablehlo.dynamic_broadcast_in_dim %b, %a_shape, dims = [0] : (tensor<?xf32>, tensor<2xi32>) -> tensor<?x?xf32>
        return %0 : tensor<?x?xf32> }}""",
        [X, V[:1]],
        [np.full((4, 3), 3, F)],
    ),
    "dynamic_iota": (
        f"""func.func @main(%a: tensor<?x?xf32>) -> tensor<?x?xi32> {{
        {sizes("a", 0, 1)}
        %0 = stablehlo.dynamic_iota %a_shape, dim = 1 : (tensor<2xi32>) -> tensor<?x?xi32>
        return %0 : tensor<?x?xi32> }}""",
        [X],
        [np.tile(np.arange(3, dtype=np.int32), (4, 1))],
    ),
    "dynamic_pad": (
        f"""func.func @main(%a: tensor<?x?xf32>, %p: tensor<f32>) -> tensor<?x?xf32> {{
        {sizes("a", 0, 1)}
        %one = stablehlo.constant dense<1> : tensor<2xi32>
        %zero = stablehlo.constant dense<[0, 2]> : tensor<2xi32>
        %0 = stablehlo.dynamic_pad %a, %p, %one, %a_shape, %zero : (tensor<?x?xf32>, tensor<f32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<?x?xf32>
        return %0 : tensor<?x?xf32> }}""",
        [X[:2, :2], F(7)],
        [np.array([[7, 7, 7, 7, 7, 7, 7], [7, 0, 7, 7, 1, 7, 7], [7, 3, 7, 7, 4, 7, 7], [7] * 7, [7] * 7], F)],
    ),
    "real_dynamic_slice": (
        f"""func.func @main(%a: tensor<?x?xf32>) -> tensor<?x?xf32> {{
        {sizes("a", 0, 1)}
        %start = stablehlo.constant dense<[1, 0]> : tensor<2xi32>
        %step = stablehlo.constant dense<[2, 1]> : tensor<2xi32>
        %0 = stablehlo.real_dynamic_slice %a, %start, %a_shape, %step : (tensor<?x?xf32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<?x?xf32>
        return %0 : tensor<?x?xf32> }}""",
        [X],
        [X[1::2]],
    ),
    "real_dynamic_slice, start an argument": (
        """func.func @main(%a: tensor<?xf32>, %n: tensor<1xi32>) -> tensor<2xf32> {
        %one = stablehlo.constant dense<1> : tensor<1xi32>
        %two = stablehlo.constant dense<2> : tensor<1xi32>
        %limit = stablehlo.add %n, %two : tensor<1xi32>
        %0 = stablehlo.real_dynamic_slice %a, %n, %limit, %one : (tensor<?xf32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<2xf32>
        return %0 : tensor<2xf32> }""",
        [V, np.array([2], np.int32)],
        [V[2:4]],
    ),
    "dynamic_gather": (
        f"""func.func @main(%a: tensor<?x?xf32>, %i: tensor<?x1xi32>) -> tensor<?x?xf32> {{
        {sizes("a", 1)}
        %one = stablehlo.constant dense<1> : tensor<1xi32>
        %slice = stablehlo.concatenate %one, %a_v1, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
        %0 = "stablehlo.dynamic_gather"(%a, %i, %slice) {{dimension_numbers = #stablehlo.gather<offset_dims = [1],
          collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false}} :
          (tensor<?x?xf32>, tensor<?x1xi32>, tensor<2xi32>) -> tensor<?x?xf32>
        return %0 : tensor<?x?xf32> }}""",
        [X, np.array([[2], [0], [2]], np.int32)],
        [X[[2, 0, 2]]],
    ),
    "dynamic_conv": (
        f"""func.func @main(%a: tensor<1x?x1xf32>, %k: tensor<2x1x1xf32>) -> tensor<1x?x1xf32> {{
        {sizes("a", 1, type="tensor<1x?x1xf32>")}
        %both = stablehlo.concatenate %a_v1, %a_v1, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
        %pad = stablehlo.reshape %both : (tensor<2xi32>) -> tensor<1x2xi32>
        %0 = "stablehlo.dynamic_conv"(%a, %k, %pad) {{batch_group_count = 1 : i64, feature_group_count = 1 : i64,
          dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>}} :
          (tensor<1x?x1xf32>, tensor<2x1x1xf32>, tensor<1x2xi32>) -> tensor<1x?x1xf32>
        return %0 : tensor<1x?x1xf32> }}""",
        [V[:3].reshape(1, 3, 1), np.array([1, 10], F).reshape(2, 1, 1)],
        [np.correlate(np.pad(V[:3], 3), np.array([1, 10], F)).reshape(1, 8, 1)],
    ),
    "get_dimension_size": (
        """func.func @main(%a: tensor<?x?xf32>) -> tensor<i32> {
        %0 = stablehlo.get_dimension_size %a, dim = 1 : (tensor<?x?xf32>) -> tensor<i32>
        return %0 : tensor<i32> }""",
        [X],
        [np.int32(3)],
    ),
    "set_dimension_size": (
        """func.func @main(%a: tensor<?x?xf32>) -> tensor<?x?xf32> {
        %n = stablehlo.get_dimension_size %a, dim = 1 : (tensor<?x?xf32>) -> tensor<i32>
        %0 = stablehlo.set_dimension_size %a, %n, dim = 0 : (tensor<?x?xf32>, tensor<i32>) -> tensor<?x?xf32>
        return %0 : tensor<?x?xf32> }""",
        [X],
        [X[:3]],
    ),
    "custom calls with shapes": (
        """func.func @main(%a: tensor<?xf32>) -> (tensor<2xui64>, tensor<?xui32>) {
        %n = stablehlo.get_dimension_size %a, dim = 0 : (tensor<?xf32>) -> tensor<i32>
        %shape = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
        %state = stablehlo.constant dense<[1, 2]> : tensor<2xui64>
        %0:2 = stablehlo.custom_call @stablehlo.dynamic_rng_bit_generator(%state, %shape) {
          rng_algorithm = #stablehlo<rng_algorithm THREE_FRY>} : (tensor<2xui64>, tensor<1xi32>) -> (tensor<2xui64>, tensor<?xui32>)
        return %0#0, %0#1 : tensor<2xui64>, tensor<?xui32> }""",
        [V[:4]],
        None,
    ),
    "real_dynamic_slice from a start that is not known": (
        """func.func @main(%a: tensor<?x?xf32>, %i: tensor<2xi32>) -> tensor<1x?xf32> {
        %n = stablehlo.get_dimension_size %a, dim = 1 : (tensor<?x?xf32>) -> tensor<i32>
        %v = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
        %one = stablehlo.constant dense<1> : tensor<1xi32>
        %size = stablehlo.concatenate %one, %v, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
        %end = stablehlo.add %i, %size : tensor<2xi32>
        %steps = stablehlo.constant dense<1> : tensor<2xi32>
        %0 = stablehlo.real_dynamic_slice %a, %i, %end, %steps :
          (tensor<?x?xf32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<1x?xf32>
        return %0 : tensor<1x?xf32> }""",
        [X, np.array([2, 0], np.int32)],
        [X[2:3]],
    ),
    "approximate top k": (
        """func.func @main(%a: tensor<?x?xf32>) -> (tensor<?x?xf32>, tensor<?x?xi32>) {
        %k = stablehlo.get_dimension_size %a, dim = 1 : (tensor<?x?xf32>) -> tensor<i32>
        %v = stablehlo.reshape %k : (tensor<i32>) -> tensor<1xi32>
        %shape = stablehlo.concatenate %v, %v, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
        %i = stablehlo.iota dim = 0 : tensor<3x3xi32>
        %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
        %none = stablehlo.constant dense<-1> : tensor<i32>
        %0:2 = stablehlo.custom_call @stablehlo.dynamic_approx_top_k(%a, %i, %low, %none, %k, %shape, %shape) {
          called_computations = [@larger], indices_of_shape_operands = dense<[5, 6]> : tensor<2xi64>,
          mhlo.backend_config = {aggregate_to_topk = true, recall_target = 9.5e-1 : f32, reduction_dim = 0 : i64}
        } : (tensor<?x?xf32>, tensor<3x3xi32>, tensor<f32>, tensor<i32>, tensor<i32>, tensor<2xi32>, tensor<2xi32>) ->
            (tensor<?x?xf32>, tensor<?x?xi32>)
        return %0#0, %0#1 : tensor<?x?xf32>, tensor<?x?xi32> }
        func.func private @larger(%a: tensor<f32>, %b: tensor<f32>, %i: tensor<i32>, %j: tensor<i32>) -> tensor<i1> {
        %0 = stablehlo.compare GT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
        return %0 : tensor<i1> }""",
        [X[:3]],
        [X[2::-1], np.tile(np.array([[2], [1], [0]], np.int32), (1, 3))],
    ),
    "chlo.broadcast_add": (
        """func.func @main(%a: tensor<?x?xf32>, %b: tensor<?xf32>) -> tensor<?x?xf32> {
        %0 = chlo.broadcast_add %a, %b : (tensor<?x?xf32>, tensor<?xf32>) -> tensor<?x?xf32>
        return %0 : tensor<?x?xf32> }""",
        [X, V[:3]],
        [X + V[:3]],
    ),
    "chlo.broadcast_compare and select": (
        """func.func @main(%a: tensor<?x?xf32>, %b: tensor<?xf32>) -> tensor<?x?xf32> {
        %0 = chlo.broadcast_compare %a, %b {comparison_direction = #chlo<comparison_direction GT>} : (tensor<?x?xf32>, tensor<?xf32>) -> tensor<?x?xi1>
        %1 = chlo.broadcast_select %0, %a, %b : (tensor<?x?xi1>, tensor<?x?xf32>, tensor<?xf32>) -> tensor<?x?xf32>
        return %1 : tensor<?x?xf32> }""",
        [X, V[:3]],
        [np.maximum(X, V[:3])],
    ),
    "chlo.constant_like": (
        """func.func @main(%a: tensor<?x?xf32>) -> tensor<?x?xf32> {
        %0 = "chlo.constant_like"(%a) {value = 2.5 : f32} : (tensor<?x?xf32>) -> tensor<?x?xf32>
        return %0 : tensor<?x?xf32> }""",
        [X],
        [np.full((4, 3), 2.5, F)],
    ),
    "chlo.top_k": (
        """func.func @main(%a: tensor<?x?xf32>) -> (tensor<?x?xf32>, tensor<?x?xi32>) {
        %0:2 = chlo.top_k(%a, k=2) : tensor<?x?xf32> -> (tensor<?x?xf32>, tensor<?x?xi32>)
        return %0#0, %0#1 : tensor<?x?xf32>, tensor<?x?xi32> }""",
        [X],
        [X[:, :0:-1], np.tile(np.array([2, 1], np.int32), (4, 1))],
    ),
    "chlo.ragged_dot": (
        """func.func @main(%a: tensor<?x?xf32>, %b: tensor<2x?x2xf32>, %g: tensor<2xi64>) -> tensor<?x2xf32> {
        %0 = "chlo.ragged_dot"(%a, %b, %g) {ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_batching_dimensions = [],
          rhs_batching_dimensions = [], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1],
          lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>} : (tensor<?x?xf32>, tensor<2x?x2xf32>, tensor<2xi64>) -> tensor<?x2xf32>
        return %0 : tensor<?x2xf32> }""",
        [X, np.arange(12, dtype=F).reshape(2, 3, 2), np.array([1, 3])],
        [
            np.concatenate(
                [X[:1] @ np.arange(6, dtype=F).reshape(3, 2), X[1:] @ np.arange(6, 12, dtype=F).reshape(3, 2)]
            )
        ],
    ),
    "composite": (
        """func.func @main(%a: tensor<?xf32>) -> tensor<?xf32> {
        %0 = stablehlo.composite "acme.twice" %a {decomposition = @twice} : (tensor<?xf32>) -> tensor<?xf32>
        return %0 : tensor<?xf32> }
        func.func private @twice(%a: tensor<?xf32>) -> tensor<?xf32> {
        %0 = stablehlo.add %a, %a : tensor<?xf32>
        return %0 : tensor<?xf32> }""",
        [V],
        [2 * V],
    ),
    "sort": (
        """func.func @main(%a: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xi32>) {
        %n = stablehlo.get_dimension_size %a, dim = 0 : (tensor<?xf32>) -> tensor<i32>
        %shape = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
        %i = stablehlo.dynamic_iota %shape, dim = 0 : (tensor<1xi32>) -> tensor<?xi32>
        %0:2 = "stablehlo.sort"(%a, %i) <{dimension = 0 : i64, is_stable = true}> ({
        ^bb0(%x: tensor<f32>, %y: tensor<f32>, %p: tensor<i32>, %q: tensor<i32>):
          %c = stablehlo.compare LT, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1>
          stablehlo.return %c : tensor<i1>
        }) : (tensor<?xf32>, tensor<?xi32>) -> (tensor<?xf32>, tensor<?xi32>)
        return %0#0, %0#1 : tensor<?xf32>, tensor<?xi32> }""",
        [V],
        [np.sort(V), np.argsort(V).astype(np.int32)],
    ),
    "while": (
        """func.func @main(%a: tensor<?xf32>) -> tensor<?xf32> {
        %n = stablehlo.get_dimension_size %a, dim = 0 : (tensor<?xf32>) -> tensor<i32>
        %zero = stablehlo.constant dense<0> : tensor<i32>
        %one = stablehlo.constant dense<1> : tensor<i32>
        %0:2 = stablehlo.while(%i = %zero, %x = %a) : tensor<i32>, tensor<?xf32>
        cond {
          %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
          stablehlo.return %c : tensor<i1>
        } do {
          %j = stablehlo.add %i, %one : tensor<i32>
          %y = stablehlo.add %x, %a : tensor<?xf32>
          stablehlo.return %j, %y : tensor<i32>, tensor<?xf32>
        }
        return %0#1 : tensor<?xf32> }""",
        [V],
        [6 * V],
    ),
    "if": (
        """func.func @main(%p: tensor<i1>, %a: tensor<?xf32>) -> tensor<?xf32> {
        %0 = "stablehlo.if"(%p) ({
          %1 = stablehlo.negate %a : tensor<?xf32>
          stablehlo.return %1 : tensor<?xf32>
        }, {
          stablehlo.return %a : tensor<?xf32>
        }) : (tensor<i1>) -> tensor<?xf32>
        return %0 : tensor<?xf32> }""",
        [np.bool_(True), V],
        [-V],
    ),
    "bounded, a size that is a value": (
        """func.func @main(%a: tensor<5xf32>, %n: tensor<i32>) -> (tensor<?xf32, #stablehlo.bounds<5>>, tensor<f32>, tensor<i32>) {
        %0 = stablehlo.set_dimension_size %a, %n, dim = 0 : (tensor<5xf32>, tensor<i32>) -> tensor<?xf32, #stablehlo.bounds<5>>
        %1 = stablehlo.add %0, %0 : tensor<?xf32, #stablehlo.bounds<5>>
        %zero = stablehlo.constant dense<0.0> : tensor<f32>
        %2 = stablehlo.reduce(%1 init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<?xf32, #stablehlo.bounds<5>>, tensor<f32>) -> tensor<f32>
        %3 = stablehlo.get_dimension_size %1, dim = 0 : (tensor<?xf32, #stablehlo.bounds<5>>) -> tensor<i32>
        return %1, %2, %3 : tensor<?xf32, #stablehlo.bounds<5>>, tensor<f32>, tensor<i32> }""",
        [V, np.int32(3)],
        [2 * V[:3], 2 * V[:3].sum(), np.int32(3)],
    ),
    "bounded iota and broadcast": (
        """func.func @main(%n: tensor<1xi32>, %a: tensor<f32>) -> (tensor<?xf32, #stablehlo.bounds<8>>) {
        %0 = stablehlo.dynamic_iota %n, dim = 0 : (tensor<1xi32>) -> tensor<?xf32, #stablehlo.bounds<8>>
        %1 = stablehlo.dynamic_broadcast_in_dim %a, %n, dims = [] : (tensor<f32>, tensor<1xi32>) -> tensor<?xf32, #stablehlo.bounds<8>>
        %2 = stablehlo.multiply %0, %1 : tensor<?xf32, #stablehlo.bounds<8>>
        return %2 : tensor<?xf32, #stablehlo.bounds<8>> }""",
        [np.array([6], np.int32), F(2)],
        [2 * np.arange(6, dtype=F)],
    ),
    "bounded argument and a size that is a value": (
        """func.func @main(%a: tensor<?xf32, #stablehlo.bounds<9>>, %n: tensor<i32>) -> tensor<?xf32, #stablehlo.bounds<9>> {
        %0 = stablehlo.set_dimension_size %a, %n, dim = 0 : (tensor<?xf32, #stablehlo.bounds<9>>, tensor<i32>) -> tensor<?xf32, #stablehlo.bounds<9>>
        %1 = stablehlo.negate %0 : tensor<?xf32, #stablehlo.bounds<9>>
        return %1 : tensor<?xf32, #stablehlo.bounds<9>> }""",
        [V, np.int32(2)],
        [-V[:2]],
    ),
}
PLATFORMS = ("evaluator", "cpu")


@pytest.fixture(scope="module")
def client():
    if "cpu" not in xla.backends():
        pytest.skip("no backend named cpu is installed")
    with xla.Client("cpu") as made:
        yield made


@pytest.mark.parametrize("platform", PLATFORMS)
@pytest.mark.parametrize("name", CASES)
def test_op(name: str, platform: str, request: pytest.FixtureRequest) -> None:
    text, arguments, expected = CASES[name]
    if platform == "evaluator":
        results = xla.evaluate(text, *arguments)
    else:
        results = [np.asarray(r) for r in request.getfixturevalue("client").compile(text)(*arguments)]
    if expected is None:  # against the op of static shape that it stands for
        static = """func.func @main(%a: tensor<4xf32>) -> (tensor<2xui64>, tensor<4xui32>) {
        %state = stablehlo.constant dense<[1, 2]> : tensor<2xui64>
        %0:2 = stablehlo.rng_bit_generator %state, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<4xui32>)
        return %0#0, %0#1 : tensor<2xui64>, tensor<4xui32> }"""
        expected = xla.evaluate(static, *arguments)
    assert len(results) == len(expected)
    for got, want in zip(results, expected, strict=True):
        assert (got.dtype, got.shape) == (want.dtype, want.shape)
        np.testing.assert_array_equal(got, want)
