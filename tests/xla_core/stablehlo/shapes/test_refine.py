from __future__ import annotations

import numpy as np
import pytest

from xla_core.errors import InvalidArgumentError, ResourceExhaustedError, UnimplementedError
from xla_core.hlo.evaluator import evaluate
from xla_core.stablehlo import lower, parse_text, refine, verify
from xla_core.stablehlo.ir import TensorType
from xla_core.stablehlo.shapes.refine import has_dynamic_types

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


def test_a_failed_shape_assertion_may_speak_of_vectors():
    text = """
    func.func @main(%a: tensor<?xf32>) -> tensor<?xf32> {
      %n = stablehlo.get_dimension_size %a, dim = 0 : (tensor<?xf32>) -> tensor<i32>
      %four = stablehlo.constant dense<4> : tensor<i32>
      %sizes = stablehlo.constant dense<[4, 5]> : tensor<2xi32>
      %ok = stablehlo.compare EQ, %n, %four : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.custom_call @shape_assertion(OPERANDS) {error_message = "{1} is not of {0}", has_side_effect = true}
          : (TYPES) -> ()
      return %a : tensor<?xf32>
    }"""
    filled = text.replace("OPERANDS", "%ok, %sizes, %n").replace("TYPES", "tensor<i1>, tensor<2xi32>, tensor<i32>")
    refine(parse_text(filled), [TensorType((4,), "f32")])
    with pytest.raises(InvalidArgumentError, match=r"3 is not of \[4, 5\]"):
        refine(parse_text(filled), [TensorType((3,), "f32")])
    with pytest.raises(InvalidArgumentError, match=r"takes a flag .* but has 0 operands") as raised:
        refine(parse_text(text.replace("OPERANDS", "").replace("TYPES", "")), [TensorType((3,), "f32")])
    assert raised.value.location is not None


def doubling(depth: int) -> str:
    """Each function calls the next with 2k and 2k + 1: 2^depth pairs of a function and a constant."""
    t = "(tensor<?xf32>, tensor<i32>) -> tensor<?xf32>"
    functions = [
        f"""
    func.func private @f{i}(%a: tensor<?xf32>, %k: tensor<i32>) -> tensor<?xf32> {{
      %one = stablehlo.constant dense<1> : tensor<i32>
      %l = stablehlo.add %k, %k : tensor<i32>
      %r = stablehlo.add %l, %one : tensor<i32>
      %0 = func.call @f{i + 1}(%a, %l) : {t}
      %1 = func.call @f{i + 1}(%0, %r) : {t}
      return %1 : tensor<?xf32>
    }}"""
        for i in range(depth)
    ]
    return f"""
    func.func @main(%a: tensor<?xf32>) -> tensor<?xf32> {{
      %k = stablehlo.constant dense<0> : tensor<i32>
      %0 = func.call @f0(%a, %k) : {t}
      return %0 : tensor<?xf32>
    }}
    func.func private @f{depth}(%a: tensor<?xf32>, %k: tensor<i32>) -> tensor<?xf32> {{ return %a : tensor<?xf32> }}
    {"".join(functions)}"""


def test_functions_for_ever_more_constants_are_bounded():
    refined = refine(parse_text(doubling(6)), [TensorType((3,), "f32")])
    assert len(refined.functions) == 2**7
    with pytest.raises(ResourceExhaustedError, match=r"becomes more than [0-9,]+ ops") as raised:
        refine(parse_text(doubling(40)), [TensorType((3,), "f32")])
    assert raised.value.location is not None
    assert "constants" in raised.value.hint


def test_recursion_is_named_as_where_types_are_static():
    text = """
    func.func @main(%a: tensor<SIZExf32>, %k: tensor<i32>) -> tensor<SIZExf32> {
      %0 = func.call @next(%a, %k) : (tensor<SIZExf32>, tensor<i32>) -> tensor<SIZExf32>
      return %0 : tensor<SIZExf32>
    }
    func.func private @next(%a: tensor<SIZExf32>, %k: tensor<i32>) -> tensor<SIZExf32> {
      %one = stablehlo.constant dense<1> : tensor<i32>
      %0 = func.call @next(%a, %one) : (tensor<SIZExf32>, tensor<i32>) -> tensor<SIZExf32>
      return %0 : tensor<SIZExf32>
    }"""
    errors = []
    for size in ("3", "?"):
        with pytest.raises(InvalidArgumentError, match="function @next calls itself") as raised:
            lower(parse_text(text.replace("SIZE", size)))
        errors.append((raised.value.message, raised.value.location, raised.value.hint))
    assert errors[0] == errors[1]
    assert errors[0][1].line == 8


LOOPS = """
func.func @main(%a: tensor<?xf32>) -> tensor<?xf32> {{
  %one = stablehlo.constant dense<1> : tensor<i32>
  {loops}
  return %a : tensor<?xf32>
}}"""
ENDLESS = """
  %k{0} = stablehlo.constant dense<{0}> : tensor<i32>
  %w{0} = stablehlo.while(%i = %k{0}) : tensor<i32>
  cond {{
    %p = stablehlo.compare GE, %one, %one : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }} do {{
    %n = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %n : tensor<i32>
  }}"""


def test_loops_that_end_late_or_never_are_left_alone():
    """A loop of known values may say a size; that all of them together take bounded time is what this tests."""
    text = LOOPS.format(loops="".join(ENDLESS.format(i) for i in range(100)))
    refined = refine(parse_text(text), [TensorType((3,), "f32")])
    assert sum(op.name == "stablehlo.while" for op in refined.walk()) == 100


def test_what_differs_between_devices_is_not_known():
    text = """
    func.func @main(%a: tensor<?xf32>) -> tensor<ui32> {
      %zero = stablehlo.constant dense<0> : tensor<i32>
      %0 = "stablehlo.case"(%zero) ({
        %id = stablehlo.partition_id : tensor<ui32>
        stablehlo.return %id : tensor<ui32>
      }) : (tensor<i32>) -> tensor<ui32>
      return %0 : tensor<ui32>
    }"""
    refined = refine(parse_text(text), [TensorType((3,), "f32")])
    assert [op.name for op in refined.walk() if op.name == "stablehlo.partition_id"]


HEAD = """
func.func @main(%x: tensor<?xf32>, %z: tensor<f32>) -> tensor<?xf32> {
  %n = stablehlo.constant dense<2> : tensor<1xi64>
  %q"""
TAIL = "\n  return %x : tensor<?xf32>\n}\nfunc.func private @declared(tensor<f32>, tensor<f32>) -> tensor<f32>"
WINDOW = "tensor<?xf32>, tensor<f32>" + ", tensor<1xi64>" * 5
MALFORMED = {
    "no operands": ("= stablehlo.custom_call @stablehlo.dynamic_reduce_window() : () -> tensor<?xf32>", "7 operands"),
    "padding that is no pairs": (
        f"= stablehlo.custom_call @stablehlo.dynamic_reduce_window(%x, %z, %n, %n, %n, %n, %n) : ({WINDOW}) -> tensor<?xf32>",
        "pairs of numbers",
    ),
    "no state": (
        ":2 = stablehlo.custom_call @stablehlo.dynamic_rng_bit_generator(%x) : (tensor<?xf32>) -> (tensor<2xui64>, tensor<?xui32>)",
        "2 operands",
    ),
    "no algorithm": (
        ":2 = stablehlo.custom_call @stablehlo.dynamic_rng_bit_generator(%n, %n) : (tensor<1xi64>, tensor<1xi64>)"
        " -> (tensor<1xi64>, tensor<?xui32>)",
        "rng_algorithm",
    ),
    "one result of top_k": (
        "= stablehlo.custom_call @stablehlo.dynamic_top_k(%x, %n) : (tensor<?xf32>, tensor<1xi64>) -> tensor<?xf32>",
        "gives 2 results",
    ),
    "an operand that isn't there": (
        "= stablehlo.custom_call @acme(%x, %n) {indices_of_shape_operands = dense<5> : tensor<1xi64>}"
        " : (tensor<?xf32>, tensor<1xi64>) -> tensor<?xf32>",
        "indices_of_shape_operands",
    ),
    "no numbers": (
        "= stablehlo.custom_call @acme(%x, %n) {indices_of_shape_operands = 1 : i64}"
        " : (tensor<?xf32>, tensor<1xi64>) -> tensor<?xf32>",
        "indices_of_shape_operands",
    ),
}


@pytest.mark.parametrize("case", MALFORMED)
def test_custom_calls_that_stand_for_ops_are_checked(case: str):
    op, message = MALFORMED[case]
    with pytest.raises(InvalidArgumentError, match=message) as raised:
        refine(parse_text(HEAD + op + TAIL), [TensorType((3,), "f32"), TensorType((), "f32")])
    assert raised.value.location is not None
    assert raised.value.location.line == 4


@pytest.mark.parametrize("called", ["", "called_computations = [@nowhere]", "called_computations = [@declared]"])
def test_a_window_by_a_custom_call_needs_a_function(called: str):
    op = (
        "  %p = stablehlo.constant dense<0> : tensor<1x2xi64>\n"
        f"  %q = stablehlo.custom_call @stablehlo.dynamic_reduce_window(%x, %z, %n, %n, %n, %n, %p) {{{called}}}"
        f" : ({WINDOW.removesuffix('tensor<1xi64>')}tensor<1x2xi64>) -> tensor<?xf32>"
    )
    text = HEAD.removesuffix("  %q") + op + TAIL
    with pytest.raises(InvalidArgumentError, match="needs one function of the module in called_computations"):
        refine(parse_text(text), [TensorType((3,), "f32"), TensorType((), "f32")])
