"""Entries whose parameters and results are one device's shards."""

from __future__ import annotations

import pytest

from xla_core.errors import InvalidArgumentError, UnimplementedError
from xla_core.hlo import HloModule, Opcode
from xla_core.passes.simplifiers.hlo_dce import HloDce
from xla_core.spmd.sharding import sharding_text
from xla_core.stablehlo import lower, read
from xla_core.stablehlo.sharding.entry_shardings import entry_shardings

HEAD = """
module @m attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["a"=2, "b"=2]>
"""


def lowered(body: str) -> HloModule:
    module = lower(read(f"{HEAD}{body}\n}}"), entry_shards=True)
    HloDce().run(module)
    return module


def count(module: HloModule, opcode: Opcode) -> int:
    return sum(instruction.opcode == opcode for instruction in module.entry.instructions)


def test_a_manual_computation_takes_and_gives_the_shards_themselves() -> None:
    module = lowered("""
  func.func public @main(%x: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {"b"}]>})
      -> (tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {"b"}]>}) {
    %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"a"}, {"b"}]>] out_shardings=[<@mesh, [{"a"}, {"b"}]>]
        manual_axes={"a", "b"} (%y: tensor<2x4xf32>) {
      %1 = stablehlo.negate %y : tensor<2x4xf32>
      sdy.return %1 : tensor<2x4xf32>
    } : (tensor<4x8xf32>) -> tensor<4x8xf32>
    return %0 : tensor<4x8xf32>
  }""")
    assert [str(shape.without_layout()) for shape in module.parameter_shapes] == ["f32[2,4]"]
    assert module.entry.root.opcode == Opcode.NEGATE
    assert module.entry.root.operand(0).opcode == Opcode.PARAMETER


def test_other_ops_compute_with_whole_arrays() -> None:
    module = lowered("""
  func.func public @main(%x: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {"b"}]>})
      -> (tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"a", "b"}]>}) {
    %0 = stablehlo.negate %x : tensor<4x8xf32>
    return %0 : tensor<4x8xf32>
  }""")
    assert str(module.result_shape.without_layout()) == "f32[4,2]"
    assert count(module, Opcode.ALL_GATHER) == 2


def test_another_sharding_of_the_same_array_is_sliced_from_the_whole() -> None:
    module = lowered("""
  func.func public @main(%x: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}]>})
      -> (tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"b"}]>}) {
    return %x : tensor<4xf32>
  }""")
    assert count(module, Opcode.ALL_GATHER) == 1
    assert module.entry.root.opcode == Opcode.DYNAMIC_SLICE


def test_a_dimension_that_cannot_be_split_evenly_is_an_error() -> None:
    with pytest.raises(InvalidArgumentError, match=r"dimension 0 of f32\[5\].* can't be split evenly into 2 shards"):
        lowered("""
  func.func public @main(%x: tensor<5xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}]>}) -> tensor<5xf32> {
    return %x : tensor<5xf32>
  }""")


def test_a_donor_whose_shard_has_another_size_gives_its_buffer_to_any_result() -> None:
    module = lowered("""
  func.func public @main(%x: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}]>, tf.aliasing_output = 0 : i32})
      -> (tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}) {
    return %x : tensor<4xf32>
  }""")
    assert module.input_output_aliases == []
    assert module.buffer_donors == [(0, ())]


@pytest.mark.parametrize(
    ("text", "shard", "expected"),
    [
        ("{devices=[4,1]<=[4]}", "f32[1,8]", "{devices=[4,1]0,1,2,3}"),
        ("{devices=[2,2]0,2,1,3}", "f32[2,4]", "{devices=[2,2]0,2,1,3}"),
        ("{devices=[2,2]<=[2,2]T(1,0)}", "f32[2,4]", "{devices=[2,2]0,2,1,3}"),
        (
            "{devices=[1,2,2]<=[4] last_tile_dim_replicate}",
            "f32[4,4]",
            "{devices=[1,2,2]0,1,2,3 last_tile_dim_replicate}",
        ),
        (
            "{devices=[1,1,4]<=[4] last_tile_dims={unreduced}}",
            "f32[4,8]",
            "{devices=[1,1,4]0,1,2,3 last_tile_dims={unreduced}}",
        ),
        ("{replicated}", "f32[4,8]", "{replicated}"),
        ("{maximal device=0}", "f32[4,8]", "{replicated}"),
    ],
)
def test_shards_of_an_mhlo_sharding(text: str, shard: str, expected: str) -> None:
    program = f"""
  func.func public @main(%x: tensor<4x8xf32> {{mhlo.sharding = "{text}"}}) -> tensor<4x8xf32> {{
    return %x : tensor<4x8xf32>
  }}"""
    assert str(lowered(program).parameter_shapes[0].without_layout()) == shard
    module = read(f"{HEAD}{program}\n}}")
    shardings = entry_shardings(module, module.functions["main"])
    assert [sharding_text(s) for s in (*shardings.arguments, *shardings.results)] == [expected] * 2


def test_other_kinds_of_mhlo_sharding_are_refused() -> None:
    with pytest.raises(UnimplementedError, match=r"the sharding {manual} is not supported"):
        lowered("""
  func.func public @main(%x: tensor<4xf32> {mhlo.sharding = "{manual}"}) -> tensor<4xf32> {
    return %x : tensor<4xf32>
  }""")


@pytest.mark.parametrize(
    ("sharding", "text"),
    [
        ('[{"a"}, {"b"}]', "{devices=[2,2]0,1,2,3}"),
        ('[{"b"}, {"a"}]', "{devices=[2,2]0,2,1,3}"),
        ('[{"b"}, {}]', "{devices=[2,1,2]0,2,1,3 last_tile_dim_replicate}"),
        ('[{}, {"b", "a"}]', "{devices=[1,4]0,2,1,3}"),
        ("[{}, {}]", "{replicated}"),
    ],
)
def test_shardings_as_hlo_text(sharding: str, text: str) -> None:
    module = read(
        f"{HEAD}  func.func public @main(%x: tensor<4x4xf32> {{sdy.sharding = #sdy.sharding<@mesh, {sharding}>}})"
        " -> tensor<4x4xf32> { return %x : tensor<4x4xf32> }\n}"
    )
    (found,) = entry_shardings(module, module.functions["main"]).arguments
    assert sharding_text(found) == text
