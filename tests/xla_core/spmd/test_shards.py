"""The instructions that a device runs for its shard of a result: from shards where the ops allow it."""

from __future__ import annotations

import numpy as np
import pytest

from xla_core.errors import InvalidArgumentError
from xla_core.hlo import HloModule, Opcode, evaluate, evaluate_replicas
from xla_core.stablehlo import lower, read

WHOLE = (4, 6)
SPLIT = '{sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {"b"}]>}'
BODIES = {  # %x: tensor<4x6xf32>, split in 2 by 2; %s: tensor<f32>
    "elementwise": "%r = stablehlo.sine %x : tensor<4x6xf32>",
    "scalar operands": "%r = stablehlo.clamp %s, %x, %s : (tensor<f32>, tensor<4x6xf32>, tensor<f32>) -> tensor<4x6xf32>",
    "splat": """%c = stablehlo.constant dense<2.0> : tensor<4x6xf32>
        %r = stablehlo.multiply %x, %c : tensor<4x6xf32>""",
    "iota of rows": """%i = stablehlo.iota dim = 0 : tensor<4x6xf32>
        %r = stablehlo.add %x, %i : tensor<4x6xf32>""",
    "iota of columns": """%i = stablehlo.iota dim = 1 : tensor<4x6xui8>
        %f = stablehlo.convert %i : (tensor<4x6xui8>) -> tensor<4x6xf32>
        %r = stablehlo.add %x, %f : tensor<4x6xf32>""",
    "broadcast of a scalar": """%b = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<4x6xf32>
        %r = stablehlo.divide %x, %b : tensor<4x6xf32>""",
    "broadcast of a row": """%c = stablehlo.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]> : tensor<6xf32>
        %b = stablehlo.broadcast_in_dim %c, dims = [1] : (tensor<6xf32>) -> tensor<4x6xf32>
        %r = stablehlo.subtract %x, %b : tensor<4x6xf32>""",
    "slice": """%b = stablehlo.broadcast_in_dim %x, dims = [1, 2] : (tensor<4x6xf32>) -> tensor<3x4x6xf32>
        %c = stablehlo.slice %b [1:2, 0:4, 0:6] : (tensor<3x4x6xf32>) -> tensor<1x4x6xf32>
        %r = stablehlo.reshape %c : (tensor<1x4x6xf32>) -> tensor<4x6xf32>""",
    "dynamic slice": """%b = stablehlo.broadcast_in_dim %x, dims = [1, 2] : (tensor<4x6xf32>) -> tensor<3x4x6xf32>
        %i = stablehlo.convert %s : (tensor<f32>) -> tensor<i32>
        %c = stablehlo.dynamic_slice %b, %i, %i, %i, sizes = [1, 4, 6]
          : (tensor<3x4x6xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x4x6xf32>
        %r = stablehlo.reshape %c : (tensor<1x4x6xf32>) -> tensor<4x6xf32>""",
    "gather": """%b = stablehlo.broadcast_in_dim %x, dims = [1, 2] : (tensor<4x6xf32>) -> tensor<3x4x6xf32>
        %i = stablehlo.constant dense<2> : tensor<1xi32>
        %r = "stablehlo.gather"(%b, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [0, 1],
          collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 0>, indices_are_sorted = false,
          slice_sizes = array<i64: 1, 4, 6>}> : (tensor<3x4x6xf32>, tensor<1xi32>) -> tensor<4x6xf32>""",
    "lookup": """%t = stablehlo.iota dim = 0 : tensor<5x6xf32>
        %i = stablehlo.constant dense<[[4], [0], [3], [1]]> : tensor<4x1xi32>
        %g = "stablehlo.gather"(%t, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1],
          collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false,
          slice_sizes = array<i64: 1, 6>}> : (tensor<5x6xf32>, tensor<4x1xi32>) -> tensor<4x6xf32>
        %r = stablehlo.add %g, %x : tensor<4x6xf32>""",
    "call": """%c = stablehlo.constant dense<1.0> : tensor<2xf32>
        %p:2 = func.call @f(%x, %s, %c) : (tensor<4x6xf32>, tensor<f32>, tensor<2xf32>) -> (tensor<f32>, tensor<4x6xf32>)
        %r = stablehlo.negate %p#1 : tensor<4x6xf32>""",
}
CALLED = """
  func.func private @f(%x: tensor<4x6xf32>, %s: tensor<f32>, %k: tensor<2xf32>) -> (tensor<f32>, tensor<4x6xf32>) {
    %0 = stablehlo.slice %k [1:2] : (tensor<2xf32>) -> tensor<1xf32>
    %1 = stablehlo.reshape %0 : (tensor<1xf32>) -> tensor<f32>
    %2 = stablehlo.add %s, %1 : tensor<f32>
    %3 = func.call @g(%x, %2) : (tensor<4x6xf32>, tensor<f32>) -> tensor<4x6xf32>
    return %2, %3 : tensor<f32>, tensor<4x6xf32>
  }
  func.func private @g(%x: tensor<4x6xf32>, %s: tensor<f32>) -> tensor<4x6xf32> {
    %0 = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<4x6xf32>
    %1 = stablehlo.add %x, %0 : tensor<4x6xf32>
    return %1 : tensor<4x6xf32>
  }"""


def program(body: str, x: str = SPLIT, result: str = SPLIT, type: str = "4x6") -> str:
    return f"""module @m attributes {{mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32}} {{
  sdy.mesh @mesh = <["a"=2, "b"=2]>
  func.func public @main(%x: tensor<4x6xf32> {x}, %s: tensor<f32>) -> (tensor<{type}xf32> {result}) {{
    {body}
    return %r : tensor<{type}xf32>
  }}{CALLED}
}}"""


def shards(array: np.ndarray) -> list[np.ndarray]:
    """The quarters in the order of the devices."""
    rows, columns = (size // 2 for size in array.shape)
    return [array[r : r + rows, c : c + columns] for r in (0, rows) for c in (0, columns)]


def check(source: str, divided: bool = True) -> HloModule:
    """Runs the program on four devices and compares with one device that has everything."""
    whole = read(source.replace("mhlo.num_partitions = 4", "mhlo.num_partitions = 1"))
    x = np.random.default_rng(1).uniform(-2, 2, WHOLE).astype(np.float32)
    s = np.float32(0.7)
    (expected,) = evaluate(lower(whole), x, s)
    module = lower(read(source), entry_shards=True)
    arguments = shards(x) if divided else [x] * 4
    for (made,), wanted in zip(
        evaluate_replicas(module, [[part, s] for part in arguments]), shards(np.asarray(expected)), strict=True
    ):
        np.testing.assert_array_equal(made, wanted)
    return module


def opcodes(module: HloModule) -> list[Opcode]:
    return [i.opcode for computation in module.computations for i in computation.instructions]


@pytest.mark.parametrize("name", BODIES)
def test_a_shard_is_computed_from_shards(name: str) -> None:
    module = check(program(BODIES[name]))
    assert Opcode.ALL_GATHER not in opcodes(module)
    assert not any(i.shape.dimensions == WHOLE for i in module.entry.instructions)


@pytest.mark.parametrize(
    ("name", "body", "result"),
    [
        ("transpose", "%r = stablehlo.transpose %x, dims = [1, 0] : (tensor<4x6xf32>) -> tensor<6x4xf32>", "6x4"),
        (
            "reduce",
            "%y = stablehlo.broadcast_in_dim %x, dims = [0, 2] : (tensor<4x6xf32>) -> tensor<4x5x6xf32>\n"
            "%r = stablehlo.reduce(%y init: %s) applies stablehlo.add across dimensions = [1] : "
            "(tensor<4x5x6xf32>, tensor<f32>) -> tensor<4x6xf32>",
            "4x6",
        ),
    ],
)
def test_dimensions_that_move_keep_their_shards(name: str, body: str, result: str) -> None:
    sharding = SPLIT if result == "4x6" else '{sdy.sharding = #sdy.sharding<@mesh, [{"b"}, {"a"}]>}'
    source = program(body, result=sharding, type=result)
    if result == "4x6":
        assert Opcode.ALL_GATHER not in opcodes(check(source))
        return
    module = lower(read(source), entry_shards=True)
    assert Opcode.ALL_GATHER not in opcodes(module)
    x = np.arange(24, dtype=np.float32).reshape(WHOLE)
    rows = evaluate_replicas(module, [[part, np.float32(0)] for part in shards(x)])
    for (made,), part in zip(rows, shards(x), strict=True):
        np.testing.assert_array_equal(made, part.T)


def test_an_op_that_is_not_divided_takes_the_whole() -> None:
    module = check(
        program("%y = stablehlo.reverse %x, dims = [0] : tensor<4x6xf32>\n%r = stablehlo.sine %y : tensor<4x6xf32>")
    )
    assert opcodes(module).count(Opcode.ALL_GATHER) == 2
    (sine,) = (i for i in module.entry.instructions if i.opcode == Opcode.SINE)
    assert sine.shape.dimensions == (2, 3)


def test_a_call_that_needs_the_whole_is_called_with_it() -> None:
    source = (
        program("%r = func.call @h(%x) : (tensor<4x6xf32>) -> tensor<4x6xf32>").rstrip("}")
        + """
  func.func private @h(%x: tensor<4x6xf32>) -> tensor<4x6xf32> {
    %0 = stablehlo.reverse %x, dims = [1] : tensor<4x6xf32>
    %1 = stablehlo.sine %0 : tensor<4x6xf32>
    return %1 : tensor<4x6xf32>
  }
}"""
    )
    check(source)


def test_arguments_that_are_whole_are_sliced() -> None:
    module = check(program(BODIES["iota of rows"], x=""), divided=False)
    (add,) = (i for i in module.entry.instructions if i.opcode == Opcode.ADD and i.shape.element_type.is_floating)
    assert add.shape.dimensions == (2, 3)


def test_long_chains_do_not_exhaust_the_stack() -> None:
    chain = "%v0 = stablehlo.negate %x : tensor<4x6xf32>\n" + "\n".join(
        f"%v{n + 1} = stablehlo.negate %v{n} : tensor<4x6xf32>" for n in range(3000)
    )
    module = lower(read(program(f"{chain}\n%r = stablehlo.negate %v3000 : tensor<4x6xf32>")), entry_shards=True)
    assert Opcode.ALL_GATHER not in opcodes(module)


def test_a_result_that_cannot_be_split_is_refused() -> None:
    source = program("%r = stablehlo.slice %x [0:3, 0:6] : (tensor<4x6xf32>) -> tensor<3x6xf32>", type="3x6")
    with pytest.raises(InvalidArgumentError, match=r"dimension 0 .* can't be split evenly into 2 shards"):
        lower(read(source), entry_shards=True)
