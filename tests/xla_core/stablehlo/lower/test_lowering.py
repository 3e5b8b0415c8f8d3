from __future__ import annotations

import re

import numpy as np
import pytest

from xla_core.errors import InvalidArgumentError, UnimplementedError
from xla_core.hlo.evaluator import evaluate
from xla_core.hlo.ir.module import HloModule, InputOutputAlias
from xla_core.hlo.table.attributes import OutputToOperandAlias
from xla_core.stablehlo import (
    lower,
    parse_bytecode,
    parse_text,
    to_hlo,
    verify,
    write_portable_artifact,
    write_text,
)


def hlo(text: str) -> HloModule:
    module = parse_text(text, "test.mlir")
    verify(module)
    return lower(module)


def opcodes(module: HloModule) -> list[str]:
    return [i.opcode for i in module.entry.instructions]


def find(module: HloModule, opcode: str):
    return next(i for c in module.computations for i in c.instructions if i.opcode == opcode)


# -- the boundary ----------------------------------------------------------------------------------------------------


def test_one_result_is_the_root_and_several_make_a_tuple():
    one = hlo("func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> { return %a : tensor<2xf32> }")
    assert one.entry.root.opcode == "parameter"
    text = "func.func @main(%a: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {\n"
    two = hlo(text + "  return %a, %a : tensor<2xf32>, tensor<2xf32>\n}")
    assert str(two.result_shape) == "(f32[2], f32[2])"


def test_tuples_are_taken_apart_and_tokens_vanish():
    module = hlo("""
    func.func @main(%t: tuple<tensor<2xf32>, tuple<tensor<i32>>>, %k: !stablehlo.token)
        -> (tuple<tensor<2xf32>, tuple<tensor<i32>>>, !stablehlo.token) {
      return %t, %k : tuple<tensor<2xf32>, tuple<tensor<i32>>>, !stablehlo.token
    }""")
    assert [str(s) for s in module.parameter_shapes] == ["f32[2]", "s32[]"]
    assert str(module.result_shape) == "(f32[2], s32[])"
    x, y = evaluate(module, np.ones(2, np.float32), np.int32(3))
    assert x.tolist() == [1, 1]
    assert y == 3


def test_donation_and_devices_come_from_attributes():
    module = hlo("""
    module @jit_step attributes {mhlo.num_partitions = 2 : i32, mhlo.num_replicas = 3 : i32} {
      func.func public @main(%a: tensor<2xf32> {tf.aliasing_output = 1 : i32},
                             %b: tensor<2xf32> {jax.buffer_donor = true},
                             %c: tensor<2xf32> {mhlo.sharding = "{replicated}"}) -> (tensor<2xf32>, tensor<2xf32>) {
        return %b, %a : tensor<2xf32>, tensor<2xf32>
      }
    }""")
    assert module.name == "jit_step"
    assert (module.num_replicas, module.num_partitions) == (3, 2)
    assert module.input_output_aliases == [InputOutputAlias((1,), 0)]
    assert module.buffer_donors == [(1, ())]
    assert module.entry.parameters[2].attributes["sharding"] == "{replicated}"


def test_the_only_public_function_is_the_entry_where_there_is_no_main():
    private = "func.func private @g(%a: tensor<f32>) -> tensor<f32> { return %a : tensor<f32> }\n"
    text = private + "func.func @f(%a: tensor<f32>) -> tensor<f32> {\n"
    text += "  %0 = call @g(%a) : (tensor<f32>) -> tensor<f32>\n  return %0 : tensor<f32>\n}"
    assert opcodes(hlo(text)) == ["parameter", "call"]
    with pytest.raises(InvalidArgumentError, match="no function @main and 2 public"):
        hlo(text.replace("private ", ""))
    with pytest.raises(InvalidArgumentError, match="no function @h"):
        lower(parse_text(text), "h")


def test_a_function_is_lowered_once_and_recursion_is_refused():
    text = """
    func.func @main(%a: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
      %0:2 = call @pair(%a) : (tensor<f32>) -> (tensor<f32>, tensor<f32>)
      %1:2 = call @pair(%0#1) : (tensor<f32>) -> (tensor<f32>, tensor<f32>)
      return %1#0, %1#1 : tensor<f32>, tensor<f32>
    }
    func.func private @pair(%a: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
      %0 = stablehlo.negate %a : tensor<f32>
      return %a, %0 : tensor<f32>, tensor<f32>
    }"""
    module = hlo(text)
    assert len(module.computations) == 2
    assert [float(x) for x in evaluate(module, np.float32(2))] == [-2, 2]
    recursive = "func.func @main(%a: tensor<f32>) -> tensor<f32> {\n  %0 = call @main(%a) : (tensor<f32>) -> "
    with pytest.raises(InvalidArgumentError, match="calls itself"):
        hlo(recursive + "tensor<f32>\n  return %0 : tensor<f32>\n}")


def test_every_instruction_has_the_users_location():
    module = to_hlo(
        'func.func @main(%a: tensor<f32>) -> tensor<f32> {\n  %0 = stablehlo.negate %a : tensor<f32> loc("net/neg"('
        '"model.py":7:3))\n  return %0 : tensor<f32>\n}',
        "test.mlir",
    )
    metadata = module.entry.root.metadata
    assert (metadata.op_name, metadata.source_file, metadata.source_line) == ("net/neg", "model.py", 7)
    plain = to_hlo(
        "func.func @main(%a: tensor<f32>) -> tensor<f32> {\n  %0 = stablehlo.negate %a : tensor<f32>\n"
        "  return %0 : tensor<f32>\n}",
        "test.mlir",
    )
    assert (plain.entry.root.metadata.source_file, plain.entry.root.metadata.source_line) == ("test.mlir", 2)


# -- constants -------------------------------------------------------------------------------------------------------


def test_a_splat_costs_one_element_whatever_its_type_claims():
    module = hlo("""
    func.func @main() -> tensor<1024x1048576xf32> {
      %0 = stablehlo.constant dense<2.5> : tensor<1024x1048576xf32>
      return %0 : tensor<1024x1048576xf32>
    }""")
    literal = module.entry.root.literal
    assert literal.is_splat
    assert literal.array.strides == (0, 0)


# -- regions ---------------------------------------------------------------------------------------------------------

WHILE = """
func.func @main(%n: tensor<i32>, %x: tensor<3xf32>, %y: tensor<3xf32>) -> tensor<3xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %0:2 = stablehlo.while(%i = %zero, %s = %x) : tensor<i32>, tensor<3xf32>
  cond {
    %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %next = stablehlo.add %i, %one : tensor<i32>
    %sum = stablehlo.add %s, %y : tensor<3xf32>
    stablehlo.return %next, %sum : tensor<i32>, tensor<3xf32>
  }
  return %0#1 : tensor<3xf32>
}
"""


def test_a_while_carries_what_its_regions_take_from_outside():
    module = hlo(WHILE)
    loop = find(module, "while")
    # i, s, then the captured n and y; the captured constant is created again inside.
    assert str(loop.shape) == "(s32[], f32[3], s32[], f32[3])"
    body = loop.attributes["body"]
    assert [i.opcode for i in body.instructions].count("constant") == 1
    (result,) = evaluate(module, np.int32(4), np.zeros(3, np.float32), np.arange(3, dtype=np.float32))
    assert result.tolist() == [0, 4, 8]


def test_branches_take_what_they_need():
    module = hlo("""
    func.func @main(%p: tensor<i1>, %x: tensor<f32>, %y: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
      %0:2 = "stablehlo.if"(%p) ({
        %s = stablehlo.add %x, %y : tensor<f32>
        stablehlo.return %s, %x : tensor<f32>, tensor<f32>
      }, {
        %c = stablehlo.constant dense<7.0> : tensor<f32>
        stablehlo.return %c, %y : tensor<f32>, tensor<f32>
      }) : (tensor<i1>) -> (tensor<f32>, tensor<f32>)
      return %0#0, %0#1 : tensor<f32>, tensor<f32>
    }""")
    conditional = find(module, "conditional")
    assert [str(o.shape) for o in conditional.operands[1:]] == ["(f32[], f32[])", "(f32[])"]
    x, y = np.float32(2), np.float32(3)
    assert [float(v) for v in evaluate(module, np.True_, x, y)] == [5, 2]
    assert [float(v) for v in evaluate(module, np.False_, x, y)] == [7, 3]


def test_an_index_out_of_range_takes_the_last_branch():
    branch = "{{\n %{0} = stablehlo.constant dense<{0}> : tensor<i64>\n stablehlo.return %{0} : tensor<i64>\n}}"
    branches = ", ".join(branch.format(i) for i in range(3))
    module = hlo(
        f'func.func @main(%i: tensor<i32>) -> tensor<i64> {{\n  %r = "stablehlo.case"(%i) ({branches}) : (tensor<i32>)'
        " -> tensor<i64>\n  return %r : tensor<i64>\n}"
    )
    assert [int(evaluate(module, np.int32(i))[0]) for i in (-1, 0, 1, 2, 9)] == [2, 0, 1, 2, 2]


REDUCE = """
func.func @main(%x: tensor<2x3xf32>, %k: tensor<f32>) -> tensor<2xf32> {{
  %c = stablehlo.constant dense<2.0> : tensor<f32>
  %d = stablehlo.multiply %c, %c : tensor<f32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = "stablehlo.reduce"(%x, %zero) ({{
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.multiply %b, {outer} : tensor<f32>
    %t = stablehlo.add %a, %s : tensor<f32>
    stablehlo.return %t : tensor<f32>
  }}) {{dimensions = array<i64: 1>}} : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}}
"""


def test_a_reducer_is_closed_over_what_follows_from_constants():
    module = hlo(REDUCE.format(outer="%d"))
    assert evaluate(module, np.ones((2, 3), np.float32), np.float32(0))[0].tolist() == [12, 12]
    with pytest.raises(UnimplementedError, match="%k is computed outside of a region"):
        hlo(REDUCE.format(outer="%k"))


def test_reducers_of_one_op_are_shared():
    reduce = "%{0} = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [{1}] : "
    types = "(tensor<2x3xf32>, tensor<f32>) -> tensor<{}xf32>\n"
    module = hlo(
        "func.func @main(%x: tensor<2x3xf32>, %z: tensor<f32>) -> (tensor<3xf32>, tensor<2xf32>) {\n"
        + reduce.format("a", 0)
        + types.format(3)
        + reduce.format("b", 1)
        + types.format(2)
        + "return %a, %b : tensor<3xf32>, tensor<2xf32>\n}"
    )
    assert len(module.computations) == 2


# -- ops with a form of their own ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("shape", "result", "dims"),
    [((3,), (2, 3), [1]), ((3, 1), (2, 3, 4), [1, 2]), ((4, 2), (2, 3, 4), [2, 0]), ((), (2,), []), ((1,), (5,), [0])],
)
def test_broadcast_in_dim(shape: tuple[int, ...], result: tuple[int, ...], dims: list[int]):
    a, r = ("x".join([*map(str, s), "f32"]) for s in (shape, result))
    module = hlo(
        f"func.func @main(%a: tensor<{a}>) -> tensor<{r}> {{\n  %0 = stablehlo.broadcast_in_dim %a, dims = {dims} : "
        f"(tensor<{a}>) -> tensor<{r}>\n  return %0 : tensor<{r}>\n}}"
    )
    x = np.random.default_rng(0).normal(size=shape).astype(np.float32)
    placed = np.ones(len(result), int)
    placed[dims] = shape
    order = np.argsort(dims) if dims else []
    expected = np.broadcast_to(x.transpose(order).reshape(placed), result)
    np.testing.assert_array_equal(evaluate(module, x)[0], expected)


def test_custom_call_keeps_what_it_says():
    module = hlo("""
    func.func @main(%a: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<i32>) {
      %0:2 = stablehlo.custom_call @acme(%a) {
        api_version = 4 : i32, has_side_effect = true, backend_config = {n = 3 : i32, uplo = 76 : ui8},
        operand_layouts = [dense<[0, 1]> : tensor<2xindex>],
        result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<> : tensor<0xindex>],
        output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0,
          operand_tuple_indices = []>]
      } : (tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<i32>)
      return %0#0, %0#1 : tensor<2x3xf32>, tensor<i32>
    }""")
    call = find(module, "custom-call")
    assert call.attributes["custom_call_target"] == "acme"
    assert call.attributes["api_version"] == "API_VERSION_TYPED_FFI"
    assert call.attributes["backend_config"] == "{n = 3 : i32, uplo = 76 : ui8}"
    assert call.attributes["custom_call_has_side_effect"] is True
    assert call.attributes["output_to_operand_aliasing"] == (OutputToOperandAlias((0,), 0, ()),)
    assert [str(s) for s in call.attributes["operand_layout_constraints"]] == ["f32[2,3]{0,1}"]
    assert str(call.shape) == "(f32[2,3]{0,1}, s32[]{})"


def test_a_composite_is_a_call_that_keeps_its_name():
    module = hlo("""
    func.func private @impl(%a: tensor<f32>) -> tensor<f32> { return %a : tensor<f32> }
    func.func @main(%a: tensor<f32>) -> tensor<f32> {
      %0 = stablehlo.composite "acme.gelu" %a {composite_attributes = {approximate = true}, decomposition = @impl,
        version = 2 : i32} : (tensor<f32>) -> tensor<f32>
      return %0 : tensor<f32>
    }""")
    call = find(module, "call")
    assert call.attributes["is_composite"] is True
    assert dict(call.attributes["frontend_attributes"]) == {
        "composite.name": "acme.gelu",
        "composite.attributes": "{approximate = true}",
        "composite.version": "2",
    }


COLLECTIVE = """
func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "stablehlo.all_reduce"(%a) ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %s = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) {replica_groups = dense<[[0, 1], [2, -1]]> : tensor<2x2xi64>,
      channel_handle = #stablehlo.channel_handle<handle = 5, type = 1>, use_global_device_ids}
    : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
"""


def test_collectives_keep_groups_and_channels():
    reduce = find(hlo(COLLECTIVE), "all-reduce")
    assert reduce.attributes["replica_groups"] == ((0, 1), (2,))
    assert reduce.attributes["channel_id"] == 5
    assert reduce.attributes["use_global_device_ids"] is True


def test_groups_by_mesh_axes_are_written_out():
    module = hlo("""
    func.func @main(%a: tensor<4xf32>) -> tensor<8xf32> {
      %0 = "stablehlo.all_gather"(%a) {all_gather_dim = 0 : i64, replica_groups =
        #stablehlo.replica_group_mesh_axes<mesh = #stablehlo.mesh<axes = [#stablehlo.mesh_axis<name = "x", size = 2>,
        #stablehlo.mesh_axis<name = "y", size = 2>]>, axes = [#stablehlo.axis_ref<name = "x">]>}
        : (tensor<4xf32>) -> tensor<8xf32>
      return %0 : tensor<8xf32>
    }""")
    assert find(module, "all-gather").attributes["replica_groups"] == ((0, 2), (1, 3))


def test_host_transfers():
    module = hlo("""
    func.func @main(%a: tensor<2xf32>, %t: !stablehlo.token) -> (tensor<2xf32>, !stablehlo.token) {
      %0:2 = "stablehlo.infeed"(%t) {infeed_config = "c"} : (!stablehlo.token) -> (tensor<2xf32>, !stablehlo.token)
      %1 = "stablehlo.outfeed"(%0#0, %0#1) : (tensor<2xf32>, !stablehlo.token) -> !stablehlo.token
      %2 = "stablehlo.send"(%a, %1) {channel_handle = #stablehlo.channel_handle<handle = 3, type = 2>,
        is_host_transfer = true} : (tensor<2xf32>, !stablehlo.token) -> !stablehlo.token
      %3:2 = "stablehlo.recv"(%2) {channel_handle = #stablehlo.channel_handle<handle = 4, type = 3>,
        is_host_transfer = true} : (!stablehlo.token) -> (tensor<2xf32>, !stablehlo.token)
      return %3#0, %3#1 : tensor<2xf32>, !stablehlo.token
    }""")
    names = [o for o in opcodes(module) if o in ("infeed", "outfeed", "send", "send-done", "recv", "recv-done")]
    assert names == ["infeed", "outfeed", "send", "send-done", "recv", "recv-done"]
    assert find(module, "send").attributes["channel_id"] == 3
    assert str(module.result_shape) == "f32[2]"


def test_shape_operands_that_follow_from_constants_become_static():
    module = hlo("""
    func.func @main(%a: tensor<4x6xf32>) -> tensor<?x?xf32> {
      %n = "stablehlo.get_dimension_size"(%a) {dimension = 0 : i64} : (tensor<4x6xf32>) -> tensor<i32>
      %two = stablehlo.constant dense<2> : tensor<i32>
      %h = stablehlo.divide %n, %two : tensor<i32>
      %h1 = stablehlo.reshape %h : (tensor<i32>) -> tensor<1xi32>
      %k = stablehlo.constant dense<12> : tensor<1xi32>
      %s = stablehlo.concatenate %h1, %k, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
      %0 = stablehlo.dynamic_reshape %a, %s : (tensor<4x6xf32>, tensor<2xi32>) -> tensor<?x?xf32>
      return %0 : tensor<?x?xf32>
    }""")
    assert str(module.result_shape) == "f32[2,12]"


def test_a_shape_that_only_the_run_knows_is_an_error_at_its_place():
    with pytest.raises(UnimplementedError, match="must be a constant") as caught:
        hlo(
            "func.func @main(%s: tensor<1xi32>) -> tensor<?xf32> {\n  %0 = stablehlo.dynamic_iota %s, dim = 0 : "
            "(tensor<1xi32>) -> tensor<?xf32>\n  return %0 : tensor<?xf32>\n}"
        )
    assert caught.value.location is not None
    assert caught.value.location.line == 2


@pytest.mark.parametrize(
    "config", ["ij,jk->ik", "bij,bjk->bik", "ij,kj->ki", "ij,ij->", "i,j->ij", "bij,jk->kib", "iij,j->ij"]
)
def test_einsum(config: str):
    sizes = dict(zip("bijk", (2, 3, 4, 5), strict=True))
    left, right, out = re.split(",|->", config)
    rng = np.random.default_rng(1)
    a, b = (rng.normal(size=[sizes[c] for c in labels]) for labels in (left, right))
    types = ["tensor<" + "x".join([*(str(sizes[c]) for c in labels), "f64"]) + ">" for labels in (left, right, out)]
    module = hlo(
        f"func.func @main(%a: {types[0]}, %b: {types[1]}) -> {types[2]} {{\n  %0 = "
        f'"stablehlo.einsum"(%a, %b) {{einsum_config = "{config}"}} : ({types[0]}, {types[1]}) -> {types[2]}\n'
        f"  return %0 : {types[2]}\n}}"
    )
    np.testing.assert_allclose(evaluate(module, a, b)[0], np.einsum(config, a, b), rtol=1e-12)


@pytest.mark.parametrize(("dim", "batch"), [(0, 0), (1, 0), (2, 0), (1, 1), (2, 1)])
def test_torch_index_select(dim: int, batch: int):
    rng = np.random.default_rng(2)
    operand = rng.normal(size=(2, 4, 5)).astype(np.float32)
    index = rng.integers(0, 2, size=(2, 3)).astype(np.int32)
    if batch:
        expected = np.stack([np.take(operand[i], index[i], axis=dim - 1) for i in range(2)])
    else:
        expected = np.take(operand, index, axis=dim)
    result = "tensor<" + "x".join([*map(str, expected.shape), "f32"]) + ">"
    module = hlo(
        f"func.func @main(%a: tensor<2x4x5xf32>, %i: tensor<2x3xi32>) -> {result} {{\n  %0 = "
        f'"stablehlo.torch_index_select"(%a, %i) {{dim = {dim} : i64, batch_dims = {batch} : i64}} : '
        f"(tensor<2x4x5xf32>, tensor<2x3xi32>) -> {result}\n  return %0 : {result}\n}}"
    )
    np.testing.assert_array_equal(evaluate(module, operand, index)[0], expected)


@pytest.mark.parametrize(("split", "concat"), [(0, 0), (0, 1), (1, 0)])
def test_all_to_all_along_two_dimensions(split: int, concat: int):
    from xla_core.hlo.evaluator import evaluate_replicas

    shape = [4, 4]
    shape[split] //= 2
    shape[concat] *= 2
    result = f"tensor<{shape[0]}x{shape[1]}xi32>"
    module = hlo(
        f"func.func @main(%a: tensor<4x4xi32>) -> {result} {{\n  %0 = "
        f'"stablehlo.all_to_all"(%a) {{split_dimension = {split} : i64, concat_dimension = {concat} : i64, '
        f"split_count = 2 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}} : (tensor<4x4xi32>) -> {result}\n"
        f"  return %0 : {result}\n}}"
    )
    inputs = [np.arange(16, dtype=np.int32).reshape(4, 4) + 100 * i for i in range(2)]
    outputs = evaluate_replicas(module, [[x] for x in inputs])
    for device in range(2):
        parts = [np.split(x, 2, axis=split)[device] for x in inputs]
        np.testing.assert_array_equal(outputs[device][0], np.concatenate(parts, axis=concat))


@pytest.mark.parametrize(
    ("module", "argument", "name"),
    [
        ('{mhlo.num_replicas = "two"}', "{}", "mhlo.num_replicas"),
        ("{mhlo.num_partitions = [1]}", "{}", "mhlo.num_partitions"),
        ("{}", "{tf.aliasing_output = @f}", "tf.aliasing_output"),
    ],
)
def test_attributes_of_the_boundary_must_be_integers(module: str, argument: str, name: str) -> None:
    text = f"""module attributes {module} {{
  func.func @main(%a: tensor<2xf32> {argument}) -> tensor<2xf32> {{ return %a : tensor<2xf32> }}
}}"""
    with pytest.raises(InvalidArgumentError, match=f"{name} must be an integer"):
        to_hlo(text)


@pytest.mark.parametrize(
    "copy",
    [
        "mhlo.copy %x : tensor<3xf32>",
        '"mhlo.copy"(%x) : (tensor<3xf32>) -> tensor<3xf32>',
        '"mhlo.copy"(%x) <{cross_program_prefetch_index = 0 : i32}> : (tensor<3xf32>) -> tensor<3xf32>',
    ],
)
def test_a_copy_that_tensorflow_leaves_in_stablehlo(copy: str) -> None:
    text = f"func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {{\n  %y = {copy}\n  return %y : tensor<3xf32>\n}}"
    module = hlo(text)
    assert "copy" in opcodes(module)
    (y,) = evaluate(module, np.arange(3, dtype=np.float32))
    assert y.tolist() == [0, 1, 2]
    written = parse_bytecode(write_portable_artifact(parse_text(text)))
    assert [op.name for op in written.functions["main"].regions[0].block.ops] == ["func.return"]
    assert "mhlo.copy" in write_text(parse_text(text))
