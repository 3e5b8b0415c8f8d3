"""Shardings of results that the program does not give."""

from __future__ import annotations

import numpy as np
import pytest

from xla_core.hlo import Opcode, evaluate_replicas
from xla_core.spmd.sharding import sharding_text
from xla_core.stablehlo import lower, read
from xla_core.stablehlo.sharding.entry_shardings import entry_shardings

HEAD = """
module @m attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["a"=2, "b"=2]>
"""
X = '%x: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {"b"}]>}'
SPLIT = "{devices=[2,2]0,1,2,3}"


def shardings(program: str) -> list[str]:
    module = read(f"{HEAD}{program}\n}}")
    return [sharding_text(s) for s in entry_shardings(module, module.functions["main"]).results]


@pytest.mark.parametrize(
    ("ops", "type", "expected"),
    [
        ("%0 = stablehlo.negate %x : tensor<4x8xf32>", "4x8", SPLIT),
        (
            "%c = stablehlo.constant dense<1.0> : tensor<4x8xf32>\n%0 = stablehlo.add %c, %x : tensor<4x8xf32>",
            "4x8",
            SPLIT,
        ),
        (
            "%0 = stablehlo.transpose %x, dims = [1, 0] : (tensor<4x8xf32>) -> tensor<8x4xf32>",
            "8x4",
            "{devices=[2,2]0,2,1,3}",
        ),
        (
            "%0 = stablehlo.broadcast_in_dim %x, dims = [1, 2] : (tensor<4x8xf32>) -> tensor<3x4x8xf32>",
            "3x4x8",
            "{devices=[1,2,2]0,1,2,3}",
        ),
        (
            "%c = stablehlo.constant dense<0.0> : tensor<f32>\n%0 = stablehlo.reduce(%x init: %c) applies stablehlo.add "
            "across dimensions = [1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>",
            "4",
            "{devices=[2,2]0,1,2,3 last_tile_dim_replicate}",
        ),
        (
            '%0 = sdy.sharding_constraint %x <@mesh, [{}, {"a"}]> : tensor<4x8xf32>',
            "4x8",
            "{devices=[1,2,2]0,1,2,3 last_tile_dim_replicate}",
        ),
        ("%0 = stablehlo.reshape %x : (tensor<4x8xf32>) -> tensor<32xf32>", "32", "{replicated}"),
        (
            "%i = stablehlo.constant dense<2> : tensor<1xi32>\n"
            '%0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [0], '
            "collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 0>, indices_are_sorted = false, "
            "slice_sizes = array<i64: 1, 8>}> : (tensor<4x8xf32>, tensor<1xi32>) -> tensor<8xf32>",
            "8",
            "{devices=[2,2]0,2,1,3 last_tile_dim_replicate}",
        ),
        (
            "%0 = stablehlo.reshape %x : (tensor<4x8xf32>) -> tensor<4x1x8xf32>",
            "4x1x8",
            "{devices=[2,1,2]0,1,2,3}",
        ),
        (
            "%0 = stablehlo.slice %x [0:3, 0:8] : (tensor<4x8xf32>) -> tensor<3x8xf32>",
            "3x8",
            "{devices=[1,2,2]0,2,1,3 last_tile_dim_replicate}",
        ),
    ],
)
def test_a_result_keeps_what_the_ops_keep(ops: str, type: str, expected: str) -> None:
    assert shardings(f"""
  func.func public @main({X}) -> tensor<{type}xf32> {{
    {ops}
    return %0 : tensor<{type}xf32>
  }}""") == [expected]


def test_calls_arguments_and_constants() -> None:
    assert shardings(f"""
  func.func public @main({X}, %y: tensor<4x8xf32>) -> (tensor<8x4xf32>, tensor<4x8xf32>, tensor<4x8xf32>) {{
    %0:2 = func.call @f(%x, %y) : (tensor<4x8xf32>, tensor<4x8xf32>) -> (tensor<8x4xf32>, tensor<4x8xf32>)
    return %0#0, %0#1, %x : tensor<8x4xf32>, tensor<4x8xf32>, tensor<4x8xf32>
  }}
  func.func private @f(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> (tensor<8x4xf32>, tensor<4x8xf32>) {{
    %0 = stablehlo.transpose %x, dims = [1, 0] : (tensor<4x8xf32>) -> tensor<8x4xf32>
    return %0, %y : tensor<8x4xf32>, tensor<4x8xf32>
  }}""") == ["{devices=[2,2]0,2,1,3}", "{replicated}", SPLIT]


def test_what_the_program_says_stays() -> None:
    assert shardings(f"""
  func.func public @main({X}) -> (tensor<4x8xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{{}}, {{}}]>}}) {{
    return %x : tensor<4x8xf32>
  }}""") == ["{replicated}"]


def test_shards_of_a_manual_computation_are_not_gathered() -> None:
    module = lower(
        read(f"""{HEAD}
  func.func public @main({X}) -> tensor<4x8xf32> {{
    %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{{"a"}}, {{"b"}}]>] out_shardings=[<@mesh, [{{"a"}}, {{"b"}}]>]
        manual_axes={{"a", "b"}} (%y: tensor<2x4xf32>) {{
      %1 = stablehlo.negate %y : tensor<2x4xf32>
      sdy.return %1 : tensor<2x4xf32>
    }} : (tensor<4x8xf32>) -> tensor<4x8xf32>
    return %0 : tensor<4x8xf32>
  }}
}}"""),
        entry_shards=True,
    )
    assert [i.opcode for i in module.entry.instructions] == [Opcode.PARAMETER, Opcode.NEGATE]


def test_shards_pass_between_manual_computations_of_a_called_function() -> None:
    manual = """sdy.manual_computation(%{0}) in_shardings=[<@mesh, [{{"a"}}, {{"b"}}]>]
        out_shardings=[<@mesh, [{{"a"}}, {{"b"}}]>] manual_axes={{"a", "b"}} (%y: tensor<2x4xf32>) {{
      %9 = stablehlo.negate %y : tensor<2x4xf32>
      sdy.return %9 : tensor<2x4xf32>
    }} : (tensor<4x8xf32>) -> tensor<4x8xf32>"""
    program = f"""{HEAD}
  func.func public @main({X}) -> tensor<4x8xf32> {{
    %0 = func.call @twice(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
    return %0 : tensor<4x8xf32>
  }}
  func.func private @twice(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {{
    %0 = {manual.format("x")}
    %1 = {manual.format("0")}
    return %1 : tensor<4x8xf32>
  }}
}}"""
    called = next(c for c in lower(read(program), entry_shards=True).computations if c.name.startswith("twice"))
    assert sum(i.opcode == Opcode.ALL_GATHER for i in called.instructions) == 2  # of the result, one for each dimension
    shards = [np.arange(32, dtype="f").reshape(4, 8)[r : r + 2, c : c + 4] for r in (0, 2) for c in (0, 4)]
    for (result,), shard in zip(evaluate_devices(program, [[s] for s in shards]), shards, strict=True):
        np.testing.assert_array_equal(result, shard)


def test_terms_of_a_sum_are_kept_and_added_where_the_whole_is_used() -> None:
    program = f"""{HEAD}
  func.func public @main(%x: tensor<4xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{{"b"}}], unreduced={{"a"}}>}})
      -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{{}}], unreduced={{"b"}}>}}) {{
    %0 = stablehlo.sine %x : tensor<4xf32>
    return %x, %0, %0 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  }}
}}"""
    module = read(program)
    texts = [sharding_text(s) for s in entry_shardings(module, module.functions["main"]).results]
    assert texts == [
        "{devices=[2,2]0,2,1,3 last_tile_dims={unreduced}}",
        "{devices=[2,2]0,2,1,3 last_tile_dim_replicate}",
        "{devices=[1,2,2]0,1,2,3 last_tile_dims={replicated, unreduced}}",
    ]
    rows = [[np.array([1, 2], "f")], [np.array([3, 4], "f")], [np.array([10, 20], "f")], [np.array([30, 40], "f")]]
    kept, sines, terms = (np.stack(column) for column in zip(*evaluate_devices(program, rows), strict=True))
    whole = np.sin(np.array([11, 22, 33, 44], "f"))
    np.testing.assert_array_equal(kept, np.concatenate(rows))
    np.testing.assert_allclose(sines, [whole[:2], whole[2:], whole[:2], whole[2:]], rtol=1e-5)
    np.testing.assert_allclose(terms, [whole, whole * 0, whole, whole * 0], rtol=1e-5)


def evaluate_devices(program: str, rows: list[list[np.ndarray]]) -> list[tuple[np.ndarray, ...]]:
    module = lower(read(program), entry_shards=True)
    return list(evaluate_replicas(module, rows))
