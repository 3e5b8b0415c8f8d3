"""VHLO as text reads as the StableHLO that it stands for."""

from __future__ import annotations

import random

import pytest

from tests.xla_core.stablehlo.reading import refusal, tree
from tests.xla_core.stablehlo.text.test_parser_fuzz import check, mutate
from xla_core.errors import XlaError
from xla_core.stablehlo import parse_text
from xla_core.stablehlo.ir.attributes import AxisRef, Mesh, ReplicaGroupMeshAxes, SymbolRef, TypeExtensions
from xla_core.stablehlo.table.op_table import OPS
from xla_core.stablehlo.vhlo.ops import vhlo_ops

VHLO = """
module @m attributes {mhlo.num_partitions = 1 : i32} {
  vhlo.func_v1 @main(%arg0: !vhlo.tensor_v1<4x?x!vhlo.f32_v1, #vhlo.type_extensions_v1<bounds = [?, 8]>>, \
%arg1: !vhlo.tensor_v1<4x!vhlo.f32_v1>, %arg2: !vhlo.tuple_v1<!vhlo.token_v1, !vhlo.tensor_v1<!vhlo.bool_v1>>) \
-> (!vhlo.tensor_v1<!vhlo.f32_v1>) {
    %0 = "vhlo.constant_v1"() <{value = #vhlo.tensor_v1<dense<0.000000e+00> : tensor<f32>>}> \
: () -> !vhlo.tensor_v1<!vhlo.f32_v1>
    %1 = "vhlo.exponential_v1"(%arg1) : (!vhlo.tensor_v1<4x!vhlo.f32_v1>) -> !vhlo.tensor_v1<4x!vhlo.f32_v1>
    %2 = "vhlo.exponential_v2"(%1) <{result_accuracy = #vhlo.result_accuracy_v1<atol = 0.000000e+00, \
rtol = 1.000000e-03, ulps = 2, mode = #vhlo<result_accuracy_mode_v1 TOLERANCE>>}> \
: (!vhlo.tensor_v1<4x!vhlo.f32_v1>) -> !vhlo.tensor_v1<4x!vhlo.f32_v1>
    %3 = "vhlo.dot_general_v2"(%1, %2) <{accumulation_type = #vhlo.type_v1<!vhlo.f32_v1>, \
allow_imprecise_accumulation = #vhlo.bool_v1<false>, lhs_batching_dimensions = #vhlo.tensor_v1<dense<> : tensor<0xi64>>, \
lhs_component_count = #vhlo.integer_v1<1 : i64>, lhs_contracting_dimensions = #vhlo.tensor_v1<dense<0> : tensor<1xi64>>, \
lhs_precision_type = #vhlo.type_v1<!vhlo.tf31_v1>, num_primitive_operations = #vhlo.integer_v1<1 : i64>, \
precision_config = #vhlo.array_v1<[#vhlo<precision_v1 DEFAULT>, #vhlo<precision_v1 HIGHEST>]>, \
rhs_batching_dimensions = #vhlo.tensor_v1<dense<> : tensor<0xi64>>, rhs_component_count = #vhlo.integer_v1<1 : i64>, \
rhs_contracting_dimensions = #vhlo.tensor_v1<dense<0> : tensor<1xi64>>, rhs_precision_type = \
#vhlo.type_v1<!vhlo.tf31_v1>}> : (!vhlo.tensor_v1<4x!vhlo.f32_v1>, !vhlo.tensor_v1<4x!vhlo.f32_v1>) \
-> !vhlo.tensor_v1<!vhlo.f32_v1>
    %4 = "vhlo.reduce_v1"(%2, %0) <{dimensions = #vhlo.tensor_v1<dense<0> : tensor<1xi64>>}> ({
    ^bb0(%a: !vhlo.tensor_v1<!vhlo.f32_v1>, %b: !vhlo.tensor_v1<!vhlo.f32_v1>):
      %c = "vhlo.add_v1"(%a, %b) : (!vhlo.tensor_v1<!vhlo.f32_v1>, !vhlo.tensor_v1<!vhlo.f32_v1>) \
-> !vhlo.tensor_v1<!vhlo.f32_v1>
      "vhlo.return_v1"(%c) : (!vhlo.tensor_v1<!vhlo.f32_v1>) -> ()
    }) : (!vhlo.tensor_v1<4x!vhlo.f32_v1>, !vhlo.tensor_v1<!vhlo.f32_v1>) -> !vhlo.tensor_v1<!vhlo.f32_v1>
    %5 = builtin.unrealized_conversion_cast %4 : !vhlo.tensor_v1<!vhlo.f32_v1> to tensor<f32>
    %6 = chlo.erf %5 : tensor<f32> -> tensor<f32>
    %7 = builtin.unrealized_conversion_cast %6 : tensor<f32> to !vhlo.tensor_v1<!vhlo.f32_v1>
    %8 = "vhlo.custom_call_v1"(%7) <{api_version = #vhlo<api_version_v1 API_VERSION_TYPED_FFI>, \
backend_config = #vhlo.dict_v1<{#vhlo.string_v1<"a"> = #vhlo.float_v1<1.000000e-01 : !vhlo.f32_v1>}>, \
call_target_name = #vhlo.string_v1<"target">, called_computations = #vhlo.array_v1<[#vhlo.string_v1<"main">]>, \
has_side_effect = #vhlo.bool_v1<false>, operand_layouts = #vhlo.array_v1<[]>, output_operand_aliases = \
#vhlo.array_v1<[#vhlo.output_operand_alias_v1<outputTupleIndices = [], operandIndex = 0, operandTupleIndices = []>]>, \
result_layouts = #vhlo.array_v1<[]>}> : (!vhlo.tensor_v1<!vhlo.f32_v1>) -> !vhlo.tensor_v1<!vhlo.f32_v1>
    %9 = "vhlo.all_reduce_v1"(%8) <{channel_id = #vhlo.integer_v1<3 : i64>, replica_groups = \
#vhlo.tensor_v1<dense<0> : tensor<1x1xi64>>, use_global_device_ids = #vhlo.bool_v1<true>}> ({
    ^bb0(%a: !vhlo.tensor_v1<!vhlo.f32_v1>, %b: !vhlo.tensor_v1<!vhlo.f32_v1>):
      "vhlo.return_v1"(%a) : (!vhlo.tensor_v1<!vhlo.f32_v1>) -> ()
    }) : (!vhlo.tensor_v1<!vhlo.f32_v1>) -> !vhlo.tensor_v1<!vhlo.f32_v1>
    "vhlo.return_v1"(%9) : (!vhlo.tensor_v1<!vhlo.f32_v1>) -> ()
  } {arg_attrs = #vhlo.array_v1<[#vhlo.dict_v1<{#vhlo.string_v1<"x"> = #vhlo.bool_v1<true>}>, #vhlo.dict_v1<{}>, \
#vhlo.dict_v1<{}>]>, res_attrs = #vhlo.array_v1<[]>, sym_visibility = #vhlo.string_v1<"public">}
}
"""

STABLEHLO = """
module @m attributes {mhlo.num_partitions = 1 : i32} {
  func.func public @main(%arg0: tensor<4x?xf32, #stablehlo.bounds<?, 8>> {x = true}, %arg1: tensor<4xf32>, \
%arg2: tuple<!stablehlo.token, tensor<i1>>) -> tensor<f32> {
    %0 = stablehlo.constant dense<0.0> : tensor<f32>
    %1 = stablehlo.exponential %arg1 : tensor<4xf32>
    %2 = stablehlo.exponential %1 {result_accuracy = #stablehlo.result_accuracy<rtol = 1.0e-3, ulps = 2, \
mode = #stablehlo.result_accuracy_mode<TOLERANCE>>} : tensor<4xf32>
    %3 = stablehlo.dot_general %1, %2, contracting_dims = [0] x [0], precision = [DEFAULT, HIGHEST], algorithm = \
<lhs_precision_type = tf32, rhs_precision_type = tf32, accumulation_type = f32, lhs_component_count = 1, \
rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false> \
: (tensor<4xf32>, tensor<4xf32>) -> tensor<f32>
    %4 = stablehlo.reduce(%2 init: %0) applies stablehlo.add across dimensions = [0] \
: (tensor<4xf32>, tensor<f32>) -> tensor<f32>
    %5 = chlo.erf %4 : tensor<f32> -> tensor<f32>
    %6 = stablehlo.custom_call @target(%5) {api_version = 4 : i32, backend_config = {a = 1.000000e-01 : f32}, \
called_computations = [@main], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], \
operand_index = 0, operand_tuple_indices = []>]} : (tensor<f32>) -> tensor<f32>
    %7 = "stablehlo.all_reduce"(%6) <{channel_handle = #stablehlo.channel_handle<handle = 3, type = 0>, \
replica_groups = dense<0> : tensor<1x1xi64>, use_global_device_ids}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      stablehlo.return %a : tensor<f32>
    }) : (tensor<f32>) -> tensor<f32>
    return %7 : tensor<f32>
  }
}
"""


def test_a_program() -> None:
    assert tree(parse_text(VHLO)) == tree(parse_text(STABLEHLO))


def test_the_table_has_every_op_of_stablehlo() -> None:
    known = {op.name for op in vhlo_ops().values()}
    outside = {"func.call", "func.func"}
    missing = {name for name in OPS if name.startswith("stablehlo.")} - known
    assert missing == set(), missing
    assert known - outside <= set(OPS)


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("#vhlo.integer_v1<-3 : i64>", -3),
        # MLIR reads the bits of any float as those of an f64.
        ("#vhlo.float_v1<0x7FF0000000000000 : !vhlo.f32_v1>", float("inf")),
        ("#vhlo.float_v1<0x7F800000 : !vhlo.f32_v1>", 0.0),
        ('#vhlo.string_v1<"a">', "a"),
        ("#vhlo.type_extensions_v1<bounds = [1, ?]>", TypeExtensions((1, None))),
        (
            '#vhlo.replica_group_mesh_axes_v1<mesh = #vhlo.string_v1<"m">, axes = #vhlo.array_v1<['
            '#vhlo.axis_ref_v1<name = #vhlo.string_v1<"x">>, #vhlo.axis_ref_v1<name = #vhlo.string_v1<"y">,'
            " sub_axis_info = #vhlo.sub_axis_info_v1<pre_size = 1, size = 2>>]>>",
            ReplicaGroupMeshAxes(SymbolRef("m"), (AxisRef("x"), AxisRef("y", 1, 2))),
        ),
        (
            '#vhlo.mesh_v1<axes = #vhlo.array_v1<[#vhlo.mesh_axis_v1<name = #vhlo.string_v1<"x">, size = 2>]>>',
            Mesh((("x", 2),)),
        ),
    ],
)
def test_attributes(text: str, want: object) -> None:
    assert parse_text(f"module attributes {{a.b = {text}}} {{}}").attributes["a.b"] == want


@pytest.mark.parametrize(
    ("type", "want"),
    [
        ("!vhlo.i4_v1", "i4"),
        ("!vhlo.complex_v1<!vhlo.f64_v1>", "complex<f64>"),
        ("!vhlo.func_v1<(!vhlo.i1_v1) -> ()>", None),
        ("!vhlo.func_v1<(!vhlo.f32_v1) -> ()>", "(f32) -> ()"),
        ("!vhlo.func_v1<() -> !vhlo.f32_v1, !vhlo.i8_v1>", "() -> (f32, i8)"),
        ("!vhlo.future_v1<!vhlo.f32_v1>", "!stablehlo.future<f32>"),
        ("!vhlo.unranked_tensor_v1<!vhlo.f32_v1>", "tensor<*xf32>"),
        ("!vhlo.buffer_v1<2x?x!vhlo.f32_v1>", "memref<2x?xf32>"),
        ("!vhlo.witness_v1", "!shape.witness"),
        ("!vhlo.tensor_v1<2x!vhlo.quant_v1<!vhlo.i8_v1:!vhlo.f32_v1, 5.000000e-01:3, -128:127, 1>>",
         "tensor<2x!quant.uniform<i8:f32, 5.000000e-01:3>>"),
        ("!vhlo.tensor_v1<2x!vhlo.quant_per_axis_v1<!vhlo.i8_v1:!vhlo.f32_v1, 0, [1.0, 2.0], [0, 7], 0:255, 0>>",
         "tensor<2x!quant.uniform<u8:f32:0, {1.000000e+00,2.000000e+00:7}>>"),
        ("!vhlo.tensor_v1<!vhlo.tuple_v1<>>", None),
        ("!vhlo.f32_v2", None),
        ("!vhlo.other_v1<>", None),
    ],
)  # fmt: skip
def test_types(type: str, want: str | None) -> None:
    text = f"module attributes {{a.b = #vhlo.type_v1<{type}>}} {{}}"
    if want is None:
        refusal(text)
    else:
        assert str(parse_text(text).attributes["a.b"]) == want


def test_errors_say_where() -> None:
    for old, new, message in (
        ('"vhlo.exponential_v2"', '"vhlo.exponential_v3"', "unknown op 'vhlo.exponential_v3': there is vhlo.exp"),
        ("dimensions = #vhlo.tensor_v1<dense<0> : tensor<1xi64>>", "dimensions = #vhlo.bool_v1<true>", "dimensions: "),
        ("#vhlo.bool_v1<false>, lhs_b", '#vhlo.string_v1<"">, lhs_b', "malformed algorithm"),
        ("channel_id = #vhlo.integer_v1<3 : i64>", 'channel_id = #vhlo.string_v1<"a">', "channel_id: "),
        ("callee", "callee", ""),
    ):
        if message:
            assert old in VHLO
            with pytest.raises(XlaError, match=message) as caught:
                parse_text(VHLO.replace(old, new), "test.mlir")
            assert caught.value.location is not None
            assert caught.value.location.file == "test.mlir"


def test_mutations() -> None:
    rng = random.Random(0)
    mutants = [mutate(VHLO, rng) for _ in range(400)]
    for text in mutants:
        try:
            parse_text(text)
        except XlaError as error:
            place = error.location
        else:
            assert check(text)
            continue
        assert place is not None, text
