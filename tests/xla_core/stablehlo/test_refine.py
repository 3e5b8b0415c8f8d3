from __future__ import annotations

import numpy as np
import pytest

from xla_core.errors import InvalidArgumentError, UnimplementedError
from xla_core.hlo.evaluator import evaluate
from xla_core.stablehlo import lower, parse_text, refine, verify
from xla_core.stablehlo.ir import TensorType
from xla_core.stablehlo.refine import has_dynamic_types

DOUBLE = """
func.func @main(%a: tensor<?x3xf32>) -> tensor<?xf32> {
  %n = stablehlo.get_dimension_size %a, dim = 0 : (tensor<?x3xf32>) -> tensor<i32>
  %three = stablehlo.constant dense<3> : tensor<i32>
  %size = func.call @times(%n, %three) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  %shape = stablehlo.reshape %size : (tensor<i32>) -> tensor<1xi32>
  %flat = stablehlo.dynamic_reshape %a, %shape : (tensor<?x3xf32>, tensor<1xi32>) -> tensor<?xf32>
  %iota = stablehlo.dynamic_iota %shape, dim = 0 : (tensor<1xi32>) -> tensor<?xf32>
  %0 = stablehlo.add %flat, %iota : tensor<?xf32>
  return %0 : tensor<?xf32>
}
func.func private @times(%a: tensor<i32>, %b: tensor<i32>) -> tensor<i32> {
  %0 = stablehlo.multiply %a, %b : tensor<i32>
  return %0 : tensor<i32>
}
"""


def test_sizes_follow_from_the_arguments_through_calls():
    module = parse_text(DOUBLE)
    verify(module)
    assert has_dynamic_types(module)
    with pytest.raises(UnimplementedError, match="refine the program"):
        lower(module)
    for rows in (0, 1, 4):
        refined = refine(module, [TensorType((rows, 3), "f32")])
        verify(refined)
        assert not has_dynamic_types(refined)
        x = np.ones((rows, 3), np.float32)
        (result,) = evaluate(lower(refined), x)
        np.testing.assert_array_equal(result, 1 + np.arange(rows * 3))
    assert has_dynamic_types(module)  # it was not changed


CALLED = """
func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = stablehlo.custom_call @first(%x) {called_computations = [@larger]} : (tensor<?xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
func.func private @larger(%a: tensor<f32>, %b: tensor<f32>) -> tensor<i1> {
  %0 = func.call @compared(%b, %a) : (tensor<f32>, tensor<f32>) -> tensor<i1>
  return %0 : tensor<i1>
}
func.func private @compared(%a: tensor<f32>, %b: tensor<f32>) -> tensor<i1> {
  %0 = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
  return %0 : tensor<i1>
}
"""


def test_what_a_custom_call_names_is_kept():
    refined = refine(parse_text(CALLED), [TensorType((3,), "f32")])
    verify(refined)
    assert set(refined.functions) == {"main", "larger", "compared"}
    (call,) = [op for op in refined.walk() if op.name == "stablehlo.custom_call"]
    assert [str(name) for name in call.attributes["called_computations"]] == ["larger"]


def test_what_does_not_fit_is_refused():
    module = parse_text(DOUBLE)
    with pytest.raises(InvalidArgumentError, match="argument 0 of type"):
        refine(module, [TensorType((2, 4), "f32")])
    with pytest.raises(InvalidArgumentError, match="takes 1 argument, not 2"):
        refine(module, [TensorType((2, 3), "f32")] * 2)


def test_a_dimension_that_is_an_argument_may_be_given():
    module = parse_text("""
    func.func @main(%n: tensor<i32>) -> tensor<?xi32> {
      %s = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
      %0 = stablehlo.dynamic_iota %s, dim = 0 : (tensor<1xi32>) -> tensor<?xi32>
      return %0 : tensor<?xi32>
    }""")
    refined = refine(module, values={0: np.asarray(3, np.int32)})
    assert evaluate(lower(refined), np.int32(3))[0].tolist() == [0, 1, 2]


def test_a_failed_shape_assertion_says_its_message():
    module = parse_text("""
    func.func @main(%a: tensor<?xf32>) -> tensor<?xf32> {
      %n = stablehlo.get_dimension_size %a, dim = 0 : (tensor<?xf32>) -> tensor<i32>
      %two = stablehlo.constant dense<2> : tensor<i32>
      %ok = stablehlo.compare GE, %n, %two : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.custom_call @shape_assertion(%ok, %n) {api_version = 2 : i32, has_side_effect = true,
        error_message = "size must be 2 or more, but is {0}"} : (tensor<i1>, tensor<i32>) -> ()
      return %a : tensor<?xf32>
    }""")
    opcodes = [i.opcode for i in lower(refine(module, [TensorType((2,), "f32")])).entry.instructions]
    assert set(opcodes) == {"parameter", "constant"}
    with pytest.raises(InvalidArgumentError, match="size must be 2 or more, but is 1"):
        refine(module, [TensorType((1,), "f32")])


def test_sizes_may_follow_through_regions_and_floats():
    """Sums of constants, branches, loops and rounded floats: what programs compute sizes with."""
    module = parse_text("""
    func.func @main(%a: tensor<?x4xf32>) -> (tensor<?xi32>, tensor<?xi32>) {
      %n = stablehlo.get_dimension_size %a, dim = 0 : (tensor<?x4xf32>) -> tensor<i32>
      %m = stablehlo.get_dimension_size %a, dim = 1 : (tensor<?x4xf32>) -> tensor<i32>
      %n1 = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
      %m1 = stablehlo.reshape %m : (tensor<i32>) -> tensor<1xi32>
      %both = stablehlo.concatenate %n1, %m1, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
      %one = stablehlo.constant dense<1> : tensor<i32>
      %count = stablehlo.reduce(%both init: %one) applies stablehlo.multiply across dimensions = [0] : (tensor<2xi32>, tensor<i32>) -> tensor<i32>
      %big = stablehlo.compare GT, %count, %m : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %chosen = "stablehlo.if"(%big) ({
        %s = stablehlo.subtract %count, %one : tensor<i32>
        stablehlo.return %s : tensor<i32>
      }, {
        stablehlo.return %m : tensor<i32>
      }) : (tensor<i1>) -> tensor<i32>
      %c1 = stablehlo.reshape %chosen : (tensor<i32>) -> tensor<1xi32>
      %0 = stablehlo.dynamic_iota %c1, dim = 0 : (tensor<1xi32>) -> tensor<?xi32>
      %f = stablehlo.convert %n : (tensor<i32>) -> tensor<f32>
      %half = stablehlo.constant dense<0.5> : tensor<f32>
      %g = stablehlo.multiply %f, %half : tensor<f32>
      %h = stablehlo.ceil %g : tensor<f32>
      %i = stablehlo.convert %h : (tensor<f32>) -> tensor<i32>
      %i1 = stablehlo.reshape %i : (tensor<i32>) -> tensor<1xi32>
      %1 = stablehlo.dynamic_iota %i1, dim = 0 : (tensor<1xi32>) -> tensor<?xi32>
      %2 = stablehlo.add %1, %1 : tensor<?xi32>
      return %0, %2 : tensor<?xi32>, tensor<?xi32>
    }""")
    verify(module)
    for rows, chosen, half in ((1, 4, 1), (2, 7, 1), (5, 19, 3)):
        refined = refine(module, [TensorType((rows, 4), "f32")])
        verify(refined)
        assert not has_dynamic_types(refined)
        first, second = evaluate(lower(refined), np.zeros((rows, 4), np.float32))
        assert (first.tolist(), second.tolist()) == (list(range(chosen)), list(range(0, 2 * half, 2)))


def test_bounds_go_where_sizes_are_given():
    module = parse_text("""
    func.func @main(%a: tensor<?x2xf32, #stablehlo.bounds<4, ?>>) -> tensor<?x2xf32, #stablehlo.bounds<4, ?>> {
      %0 = stablehlo.negate %a : tensor<?x2xf32, #stablehlo.bounds<4, ?>>
      return %0 : tensor<?x2xf32, #stablehlo.bounds<4, ?>>
    }""")
    function = refine(module, [TensorType((3, 2), "f32")]).functions["main"]
    assert [str(t) for t in function.attributes["function_type"].results] == ["tensor<3x2xf32>"]
    with pytest.raises(InvalidArgumentError, match="doesn't fit"):
        refine(module, [TensorType((5, 2), "f32")])


def test_programs_that_jax_exports_with_symbolic_shapes():
    jax = pytest.importorskip("jax")
    from jax import export
    from jax import numpy as jnp

    def model(x, w):
        y = jnp.tanh(x @ w)
        y = jnp.concatenate([y, y[:, ::-1]], axis=1).reshape(-1, 2)
        z = jnp.where(jnp.arange(y.shape[0])[:, None] % 2 == 0, y, jnp.cumsum(y, 0))
        return jax.nn.softmax(z, 0), z.mean(), jax.lax.fori_loop(0, x.shape[0], lambda i, s: s + x[i].sum(), 0.0)

    b, k = export.symbolic_shape("b, k")
    shapes = (jax.ShapeDtypeStruct((b, 4), np.float32), jax.ShapeDtypeStruct((4, k), np.float32))
    text = export.export(jax.jit(model), platforms=["cpu"])(*shapes).mlir_module()
    module = parse_text(text)
    verify(module)
    rng = np.random.default_rng(0)
    for rows, columns in ((1, 1), (3, 2), (5, 7)):
        x, w = (rng.normal(size=s).astype(np.float32) for s in ((rows, 4), (4, columns)))
        refined = refine(module, [TensorType(x.shape, "f32"), TensorType(w.shape, "f32")])
        verify(refined)
        outputs = evaluate(lower(refined), x, w)
        for got, want in zip(outputs, jax.jit(model)(x, w), strict=True):
            np.testing.assert_allclose(got, np.asarray(want), rtol=2e-5, atol=1e-6)
