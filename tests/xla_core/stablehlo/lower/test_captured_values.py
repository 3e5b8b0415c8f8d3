"""Values that regions with closed computations take from outside: computed again inside, unless it may not happen
twice.
"""

from __future__ import annotations

import numpy as np
import pytest

from xla_core.errors import ResourceExhaustedError, UnimplementedError, XlaError
from xla_core.hlo import Environment, HloModule, evaluate
from xla_core.stablehlo import to_hlo

SUM = """
  %{name} = "stablehlo.reduce"(%x, %zero) ({{
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    %t = stablehlo.add %s, {outer} : tensor<f32>
    stablehlo.return %t : tensor<f32>
  }}) {{dimensions = array<i64: 0>}} : (tensor<3xf32>, tensor<f32>) -> tensor<f32>"""


def program(before: str, after: str, result: str, type: str = "tensor<f32>") -> str:
    return f"""
func.func @main(%x: tensor<3xf32>) -> {type} {{
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %one = stablehlo.constant dense<1.0> : tensor<f32>
{before}
{after}
  return {result} : {type}
}}
func.func private @drawn() -> tensor<f32> {{
  %low = stablehlo.constant dense<0.0> : tensor<f32>
  %high = stablehlo.constant dense<1.0> : tensor<f32>
  %shape = stablehlo.constant dense<> : tensor<0xi64>
  %0 = stablehlo.rng %low, %high, %shape, distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<0xi64>) -> tensor<f32>
  return %0 : tensor<f32>
}}"""


RNG = """
  %shape = stablehlo.constant dense<> : tensor<0xi64>
  %r = stablehlo.rng %zero, %one, %shape, distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<0xi64>) -> tensor<f32>"""
INFEED = """
  %token = stablehlo.create_token : !stablehlo.token
  %r, %after = "stablehlo.infeed"(%token) {infeed_config = ""}
      : (!stablehlo.token) -> (tensor<f32>, !stablehlo.token)"""
CALLED = "  %r = call @drawn() : () -> tensor<f32>"
COLLECTIVE = """
  %r = "stablehlo.collective_broadcast"(%one) {replica_groups = dense<[[0]]> : tensor<1x1xi64>}
      : (tensor<f32>) -> tensor<f32>"""
EFFECT = "  %r = stablehlo.custom_call @clock(%one) {has_side_effect = true} : (tensor<f32>) -> tensor<f32>"
FOLLOWS = RNG.replace("%r =", "%drawn =") + "\n  %r = stablehlo.negate %drawn : tensor<f32>"


def find(module: HloModule, opcode: str):
    return [i for c in module.computations for i in c.instructions if i.opcode == opcode]


@pytest.mark.parametrize(
    ("outer", "line", "opcode"),
    [
        (RNG, 7, "rng"),
        (INFEED, 7, "infeed"),
        (CALLED, 5, "call"),
        (COLLECTIVE, 6, "collective-broadcast"),
        (EFFECT, 5, "custom-call"),
        (FOLLOWS, 7, "rng"),
    ],
    ids=["rng", "infeed", "call", "collective", "custom call", "what follows from it"],
)
def test_what_may_not_happen_twice_is_refused(outer: str, line: int, opcode: str):
    text = program(outer, SUM.format(name="y", outer="%r"), "%y")
    with pytest.raises(UnimplementedError, match=f"result of this {opcode}.* must not run again") as raised:
        to_hlo(text)
    assert raised.value.location is not None
    assert raised.value.location.line == line
    assert raised.value.hint == "pass it as an operand of the op that has the region"


SCATTER = """
  %i = stablehlo.constant dense<[[1]]> : tensor<1x1xi32>
  %u = stablehlo.constant dense<2.0> : tensor<1xf32>
  %y = "stablehlo.scatter"(%x, %i, %u) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %r : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) {scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0],
      index_vector_dim = 1>} : (tensor<3xf32>, tensor<1x1xi32>, tensor<1xf32>) -> tensor<3xf32>"""
SORT = """
  %y = "stablehlo.sort"(%x) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %r : tensor<f32>
    %p = stablehlo.compare LT, %s, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }) {dimension = 0 : i64} : (tensor<3xf32>) -> tensor<3xf32>"""
WINDOW = """
  %y = "stablehlo.reduce_window"(%x, %zero) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %r : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) {window_dimensions = array<i64: 1>} : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32>"""
SELECT = """
  %y = "stablehlo.select_and_scatter"(%x, %x, %zero) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %p = stablehlo.compare LT, %a, %r : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }, {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) {window_dimensions = array<i64: 1>} : (tensor<3xf32>, tensor<3xf32>, tensor<f32>) -> tensor<3xf32>"""
ALL_REDUCE = """
  %y = "stablehlo.all_reduce"(%x) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %r : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) {replica_groups = dense<[[0]]> : tensor<1x1xi64>} : (tensor<3xf32>) -> tensor<3xf32>"""
BRANCH_IN_A_REDUCER = """
  %z = "stablehlo.reduce"(%x, %zero) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %p = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %s = "stablehlo.if"(%p) ({
      stablehlo.return %r : tensor<f32>
    }, {
      stablehlo.return %b : tensor<f32>
    }) : (tensor<i1>) -> tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) {dimensions = array<i64: 0>} : (tensor<3xf32>, tensor<f32>) -> tensor<f32>
  %y = stablehlo.broadcast_in_dim %z, dims = [] : (tensor<f32>) -> tensor<3xf32>"""
ONE_BY_ONE = [SCATTER, SORT, WINDOW, SELECT, ALL_REDUCE, BRANCH_IN_A_REDUCER]


@pytest.mark.parametrize("op", ONE_BY_ONE, ids=["scatter", "sort", "window", "select", "all-reduce", "branch"])
def test_every_closed_region_refuses_it(op: str):
    with pytest.raises(UnimplementedError, match="result of this rng"):
        to_hlo(program(RNG, op, "%y", "tensor<3xf32>"))


@pytest.mark.parametrize("op", ONE_BY_ONE, ids=["scatter", "sort", "window", "select", "all-reduce", "branch"])
def test_every_closed_region_takes_what_follows_from_constants(op: str):
    module = to_hlo(program("  %r = stablehlo.add %one, %one : tensor<f32>", op, "%y", "tensor<3xf32>"))
    assert evaluate(module, np.float32([1, 2, 3]))[0].shape == (3,)


MAP = """
  %m = "stablehlo.map"(%x) ({
  ^bb0(%a: tensor<f32>):
    %s = stablehlo.add %a, %r : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) {dimensions = array<i64: 0>} : (tensor<3xf32>) -> tensor<3xf32>
  %b = stablehlo.broadcast_in_dim %r, dims = [] : (tensor<f32>) -> tensor<3xf32>
  %y = stablehlo.subtract %m, %b : tensor<3xf32>"""


def test_a_map_takes_a_scalar_from_outside_as_an_operand():
    module = to_hlo(program(RNG, MAP, "%y", "tensor<3xf32>"))
    assert len(find(module, "rng")) == 1
    (result,) = evaluate(module, np.float32([256, 512, 1024]))
    np.testing.assert_allclose(result, [256, 512, 1024], rtol=1e-6)

    module = to_hlo(program(INFEED, MAP, "%y", "tensor<3xf32>"))
    assert len(find(module, "infeed")) == 1
    environment = Environment()
    environment.infeed.append((np.array(4, np.float32),))
    assert evaluate(module, np.float32([1, 2, 3]), environment=environment)[0].tolist() == [1, 2, 3]


def test_a_map_takes_an_argument_from_outside():
    text = """
    func.func @main(%x: tensor<2xf32>, %k: tensor<i32>) -> tensor<2xf32> {
      %y = "stablehlo.map"(%x) ({
      ^bb0(%a: tensor<f32>):
        %f = stablehlo.convert %k : (tensor<i32>) -> tensor<f32>
        %s = stablehlo.multiply %a, %f : tensor<f32>
        stablehlo.return %s : tensor<f32>
      }) {dimensions = array<i64: 0>} : (tensor<2xf32>) -> tensor<2xf32>
      return %y : tensor<2xf32>
    }"""
    assert evaluate(to_hlo(text), np.float32([1, 2]), np.int32(3))[0].tolist() == [3, 6]


def test_a_loop_carries_what_may_not_happen_twice():
    loop = """
  %y = stablehlo.while(%i = %zero) : tensor<f32>
  cond {
    %p = stablehlo.compare LT, %i, %r : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %s = stablehlo.add %i, %r : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }
  %d = stablehlo.subtract %y, %r : tensor<f32>"""
    module = to_hlo(program(RNG, loop, "%d"))
    assert len(find(module, "rng")) == 1
    assert evaluate(module, np.zeros(3, np.float32))[0] == 0


def test_a_long_chain_is_computed_anew_without_recursion():
    chain = "\n".join(f"  %c{i + 1} = stablehlo.add %c{i}, %one : tensor<f32>" for i in range(2000))
    before = f"  %c0 = stablehlo.constant dense<0.0> : tensor<f32>\n{chain}"
    module = to_hlo(program(before, SUM.format(name="y", outer="%c2000"), "%y"))
    assert evaluate(module, np.float32([1, 2, 3]))[0] == 6006


def test_chains_in_many_regions_are_bounded():
    chain = "\n".join(f"  %c{i + 1} = stablehlo.add %c{i}, %one : tensor<f32>" for i in range(200))
    before = f"  %c0 = stablehlo.constant dense<0.0> : tensor<f32>\n{chain}"
    regions = "".join(SUM.format(name=f"y{i}", outer="%c200") for i in range(200))
    with pytest.raises(ResourceExhaustedError, match="more than 20,000 ops would be computed again") as raised:
        to_hlo(program(before, regions, "%y0"))
    assert raised.value.location is not None


def test_ops_around_a_region_keep_their_own_attributes():
    outer = """
  %r = stablehlo.add %one, %one {mhlo.frontend_attributes = {of = "outer"}} : tensor<f32>"""
    inner = SUM.format(name="y", outer="%r").replace(
        "add %s, %r :", 'add %s, %r {mhlo.frontend_attributes = {of = "inner"}} :'
    )
    after = "  %n = stablehlo.negate %y : tensor<f32>"
    module = to_hlo(program(outer, f"{inner}\n{after}", "%n"))
    marked = [(i.opcode, i.attributes.get("frontend_attributes")) for i in find(module, "add") + find(module, "negate")]
    assert marked == [
        ("add", (("of", "outer"),)),  # outside of the region; then inside
        ("add", None),
        ("add", (("of", "outer"),)),
        ("add", (("of", "inner"),)),
        ("negate", None),
    ]


@pytest.mark.parametrize("size", ["tensor<f32>", "tensor<?xf32>"])
def test_regions_and_calls_together_are_bounded(size: str):
    """Forty functions that call each other out of ten branches each."""
    functions = []
    for i in range(40):
        opening = "".join(f'%r{r} = "stablehlo.if"(%p) ({{\n' for r in range(10))
        inner = f"%c = func.call @f{i + 1}(%a, %p) : ({size}, tensor<i1>) -> {size}\nstablehlo.return %c : {size}\n"
        closing = "".join(
            f"}}, {{ stablehlo.return %a : {size} }}) : (tensor<i1>) -> {size}\n"
            + (f"stablehlo.return %r{r} : {size}\n" if r else "")
            for r in reversed(range(10))
        )
        head = f"func.func private @f{i}" if i else "func.func @main"
        functions.append(
            f"{head}(%a: {size}, %p: tensor<i1>) -> {size} {{\n{opening}{inner}{closing}return %r0 : {size} }}\n"
        )
    last = f"func.func private @f40(%a: {size}, %p: tensor<i1>) -> {size} {{ return %a : {size} }}"
    with pytest.raises(XlaError, match="regions and calls are nested more than 120 deep") as raised:
        to_hlo("".join(functions) + last)
    assert raised.value.location is not None
