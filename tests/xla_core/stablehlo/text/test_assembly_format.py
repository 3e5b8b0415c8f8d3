"""Every pretty form gives the op that its generic form gives."""

from __future__ import annotations

import pytest

from tests.xla_core.stablehlo.reading import first_op, in_function, tree
from xla_core.stablehlo import parse_text
from xla_core.stablehlo.text import op_reader
from xla_core.stablehlo.text.assembly_format import assembly_of, known_names

F, J, P = "tensor<f32>", "tensor<i32>", "tensor<i1>"
V, C, T = "tensor<4xf32>", "tensor<4xcomplex<f32>>", "!stablehlo.token"
ARGUMENTS = (
    f"%f: {F}, %i: {J}, %p: {P}, %v: {V}, %c: {C}, %t: {T}, %m: tensor<2x4xf32>, %n: tensor<4x3xf32>,"
    f" %x: tuple<{F}, {J}>, %w: tensor<1x8x8x3xf32>, %k: tensor<3x3x3x5xf32>, %s: tensor<1xi64>, %u: tensor<2xui64>,"
    " %q: tensor<2x2xf32>, %r: tensor<3x4x2xf32>"
)

UNARY = (
    "abs cbrt ceil convert cosine count_leading_zeros exponential exponential_minus_one floor imag log log_plus_one"
    " logistic negate not popcnt real round_nearest_afz round_nearest_even rsqrt sign sine sqrt tan tanh"
    " uniform_dequantize uniform_quantize"
)
BINARY = (
    "add and atan2 divide maximum minimum multiply or power remainder shift_left shift_right_arithmetic"
    " shift_right_logical subtract xor"
)
CHLO_UNARY = (
    "_asin_acos_kernel acos acosh asin asinh atan atanh bessel_i1e conj cosh digamma erf erf_inv erfc is_inf is_neg_inf"
    " is_pos_inf lgamma sinh square tan"
)
CHLO_BROADCAST = (
    "add and atan2 compare complex divide maximum minimum multiply next_after or polygamma power remainder shift_left"
    " shift_right_arithmetic shift_right_logical subtract xor zeta"
)

# op, the rest of the pretty form, the rest of the generic form
PAIRS: list[tuple[str, str, str]] = [
    *((f"stablehlo.{n}", f"%v : {V}", f"(%v) : ({V}) -> {V}") for n in UNARY.split()),
    *((f"stablehlo.{n}", f"%v, %v : {V}", f"(%v, %v) : ({V}, {V}) -> {V}") for n in BINARY.split()),
    *((f"chlo.{n}", f"%v : {V} -> {V}", f"(%v) : ({V}) -> {V}") for n in CHLO_UNARY.split()),
    *((f"chlo.{n}", f"%v, %v : {V}, {V} -> {V}", f"(%v, %v) : ({V}, {V}) -> {V}")
      for n in ("mulhi", "next_after", "polygamma", "zeta")),
    *((f"chlo.broadcast_{n}", f"%f, %v : ({F}, {V}) -> {V}", f"(%f, %v) : ({F}, {V}) -> {V}")
      for n in CHLO_BROADCAST.split()),
    ("stablehlo.add", f"%v, %v {{x = 1 : i32}} : ({V}, {V}) -> tensor<?xf32>",
     f"(%v, %v) {{x = 1 : i32}} : ({V}, {V}) -> tensor<?xf32>"),
    ("stablehlo.exponential", f"%v {{result_accuracy = #stablehlo.result_accuracy<ulps = 10, mode ="
     f" #stablehlo.result_accuracy_mode<TOLERANCE>>}} : {V}",
     "(%v) <{result_accuracy = #stablehlo.result_accuracy<atol = 0.0, rtol = 0.0, ulps = 10, mode ="
     f" #stablehlo.result_accuracy_mode<TOLERANCE>>}}> : ({V}) -> {V}"),
    ("stablehlo.convert", f"%v : ({V}) -> tensor<4xi8>", f"(%v) : ({V}) -> tensor<4xi8>"),
    ("stablehlo.bitcast_convert", f"%v : ({V}) -> tensor<4xi32>", f"(%v) : ({V}) -> tensor<4xi32>"),
    ("stablehlo.dynamic_pad", f"%v, %f, %s, %s, %s : ({V}, {F}, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> {V}",
     f"(%v, %f, %s, %s, %s) : ({V}, {F}, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> {V}"),
    ("stablehlo.dynamic_reshape", f"%v, %s : ({V}, tensor<1xi64>) -> {V}", f"(%v, %s) : ({V}, tensor<1xi64>) -> {V}"),
    ("stablehlo.dynamic_update_slice", f"%v, %v, %i : ({V}, {V}, {J}) -> {V}",
     f"(%v, %v, %i) : ({V}, {V}, {J}) -> {V}"),
    ("stablehlo.is_finite", f"%v : ({V}) -> tensor<4xi1>", f"(%v) : ({V}) -> tensor<4xi1>"),
    ("stablehlo.real_dynamic_slice", f"%v, %s, %s, %s : ({V}, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> {V}",
     f"(%v, %s, %s, %s) : ({V}, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> {V}"),
    ("stablehlo.reshape", f"%v : ({V}) -> tensor<2x2xf32>", f"(%v) : ({V}) -> tensor<2x2xf32>"),
    ("stablehlo.after_all", f"%t, %t : {T}", f"(%t, %t) : ({T}, {T}) -> {T}"),
    ("stablehlo.after_all", f": {T}", f"() : () -> {T}"),
    ("stablehlo.broadcast", f"%v, sizes = [1, 2] : ({V}) -> tensor<1x2x4xf32>",
     f"(%v) <{{broadcast_sizes = array<i64: 1, 2>}}> : ({V}) -> tensor<1x2x4xf32>"),
    ("stablehlo.broadcast_in_dim", f"%v, dims = [1] : ({V}) -> tensor<2x4xf32>",
     f"(%v) <{{broadcast_dimensions = array<i64: 1>}}> : ({V}) -> tensor<2x4xf32>"),
    ("stablehlo.broadcast_in_dim", f"%f, dims = [] : ({F}) -> tensor<2x4xf32>",
     f"(%f) <{{broadcast_dimensions = array<i64>}}> : ({F}) -> tensor<2x4xf32>"),
    ("stablehlo.cholesky", "%q, lower = true : tensor<2x2xf32>",
     "(%q) <{lower = true}> : (tensor<2x2xf32>) -> tensor<2x2xf32>"),
    ("stablehlo.cholesky", "%q : tensor<2x2xf32>", "(%q) : (tensor<2x2xf32>) -> tensor<2x2xf32>"),
    ("stablehlo.clamp", f"%f, %v, %f : ({F}, {V}, {F}) -> {V}", f"(%f, %v, %f) : ({F}, {V}, {F}) -> {V}"),
    ("stablehlo.compare", f"LT, %v, %v : ({V}, {V}) -> tensor<4xi1>",
     f"(%v, %v) <{{comparison_direction = #stablehlo<comparison_direction LT>}}> : ({V}, {V}) -> tensor<4xi1>"),
    ("stablehlo.compare", f" NE, %v, %v,  TOTALORDER : ({V}, {V}) -> tensor<4xi1>",
     "(%v, %v) <{comparison_direction = #stablehlo<comparison_direction NE>, compare_type ="
     f" #stablehlo<comparison_type TOTALORDER>}}> : ({V}, {V}) -> tensor<4xi1>"),
    ("stablehlo.complex", f"%v, %v : {C}", f"(%v, %v) : ({V}, {V}) -> {C}"),
    ("stablehlo.composite", f'"ns.op" %f, %i {{composite_attributes = {{n = 1 : i32}}, decomposition = @g,'
     f" version = 1 : i32}} : ({F}, {J}) -> {F}",
     '(%f, %i) <{composite_attributes = {n = 1 : i32}, decomposition = @g, name = "ns.op", version = 1 : i32}> :'
     f" ({F}, {J}) -> {F}"),
    ("stablehlo.concatenate", f"%v, %v, dim = 0 : ({V}, {V}) -> tensor<8xf32>",
     f"(%v, %v) <{{dimension = 0 : i64}}> : ({V}, {V}) -> tensor<8xf32>"),
    ("stablehlo.constant", "dense<[1.0, 2.0]> : tensor<2xf32>",
     "() <{value = dense<[1.0, 2.0]> : tensor<2xf32>}> : () -> tensor<2xf32>"),
    ("stablehlo.constant", "{x = 1 : i32} dense<true> : tensor<4xi1>",
     "() <{value = dense<true> : tensor<4xi1>}> {x = 1 : i32} : () -> tensor<4xi1>"),
    ("stablehlo.constant", "() {value = dense<1> : tensor<i8>} : () -> tensor<!quant.uniform<i8:f32, 1.0>>",
     "() <{value = dense<1> : tensor<i8>}> : () -> tensor<!quant.uniform<i8:f32, 1.0>>"),
    ("stablehlo.constant", "() <{value = dense<1> : tensor<i8>}> : () -> tensor<i8>",
     "() <{value = dense<1> : tensor<i8>}> : () -> tensor<i8>"),
    ("stablehlo.convolution", "(%w, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {"
     "stride = [2, 1], pad = [[0, 1], [2, 3]], lhs_dilate = [1, 1], rhs_dilate = [1, 2], reverse = [false, true]}"
     " {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>]}"
     " : (tensor<1x8x8x3xf32>, tensor<3x3x3x5xf32>) -> tensor<1x4x9x5xf32>",
     "(%w, %k) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1,"
     " f]>, feature_group_count = 1 : i64, lhs_dilation = array<i64: 1, 1>, padding = dense<[[0, 1], [2, 3]]> :"
     " tensor<2x2xi64>, precision_config = [#stablehlo<precision DEFAULT>], rhs_dilation = array<i64: 1, 2>,"
     " window_reversal = array<i1: false, true>, window_strides = array<i64: 2, 1>}> : (tensor<1x8x8x3xf32>,"
     " tensor<3x3x3x5xf32>) -> tensor<1x4x9x5xf32>"),
    ("stablehlo.create_token", f": {T}", f"() : () -> {T}"),
    ("stablehlo.custom_call", '@"a b"(%f, %i) {has_side_effect = true, called_computations = [@f]} :'
     f" ({F}, {J}) -> ()",
     f'(%f, %i) <{{call_target_name = "a b", called_computations = [@f], has_side_effect = true}}> : ({F}, {J}) -> ()'),
    ("stablehlo.custom_call", f"@t() : () -> {F}", f'() <{{call_target_name = "t"}}> : () -> {F}'),
    ("stablehlo.dot", "%m, %n, precision = [HIGH, HIGHEST] : (tensor<2x4xf32>, tensor<4x3xf32>) -> tensor<2x3xf32>",
     "(%m, %n) <{precision_config = [#stablehlo<precision HIGH>, #stablehlo<precision HIGHEST>]}> : (tensor<2x4xf32>,"
     " tensor<4x3xf32>) -> tensor<2x3xf32>"),
    ("stablehlo.dot", "%m, %n : (tensor<2x4xf32>, tensor<4x3xf32>) -> tensor<2x3xf32>",
     "(%m, %n) : (tensor<2x4xf32>, tensor<4x3xf32>) -> tensor<2x3xf32>"),
    ("stablehlo.dot_general", "%r, %r, batching_dims = [0] x [0], contracting_dims = [2] x [2], precision = [DEFAULT,"
     " DEFAULT], algorithm = <lhs_precision_type = tf32, rhs_precision_type = tf32, accumulation_type = f32,"
     " lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation ="
     " false> : (tensor<3x4x2xf32>, tensor<3x4x2xf32>) -> tensor<3x4x4xf32>",
     "(%r, %r) <{algorithm = #stablehlo.dot_algorithm<lhs_precision_type = tf32, rhs_precision_type = tf32,"
     " accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1,"
     " allow_imprecise_accumulation = false>, dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0],"
     " rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [2]>,"
     " precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<3x4x2xf32>,"
     " tensor<3x4x2xf32>) -> tensor<3x4x4xf32>"),
    ("stablehlo.dot_general", "%m, %n, contracting_dims = [1] x [0] : (tensor<2x4xf32>, tensor<4x3xf32>) ->"
     " tensor<2x3xf32>",
     "(%m, %n) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions ="
     " [0]>}> : (tensor<2x4xf32>, tensor<4x3xf32>) -> tensor<2x3xf32>"),
    ("stablehlo.dynamic_broadcast_in_dim", f"%v, %s, dims = [0] {{known_expanding_dimensions = array<i64>}} : ({V},"
     f" tensor<1xi64>) -> {V}",
     "(%v, %s) <{broadcast_dimensions = array<i64: 0>, known_expanding_dimensions = array<i64>}> : "
     f"({V}, tensor<1xi64>) -> {V}"),
    ("stablehlo.dynamic_iota", f"%s, dim = 0 : (tensor<1xi64>) -> {V}",
     f"(%s) <{{iota_dimension = 0 : i64}}> : (tensor<1xi64>) -> {V}"),
    ("stablehlo.dynamic_slice", f"%m, %i, %i, sizes = [1, 4] : (tensor<2x4xf32>, {J}, {J}) -> tensor<1x4xf32>",
     f"(%m, %i, %i) <{{slice_sizes = array<i64: 1, 4>}}> : (tensor<2x4xf32>, {J}, {J}) -> tensor<1x4xf32>"),
    ("stablehlo.einsum", '%m, %n, config = "ij,jk->ik" : (tensor<2x4xf32>, tensor<4x3xf32>) -> tensor<2x3xf32>',
     '(%m, %n) <{einsum_config = "ij,jk->ik"}> : (tensor<2x4xf32>, tensor<4x3xf32>) -> tensor<2x3xf32>'),
    ("stablehlo.fft", f"%c, type = FFT, length = [4] : ({C}) -> {C}",
     f"(%c) <{{fft_length = array<i64: 4>, fft_type = #stablehlo<fft_type FFT>}}> : ({C}) -> {C}"),
    ("stablehlo.get_dimension_size", f"%m, dim = 1 : (tensor<2x4xf32>) -> {J}",
     f"(%m) <{{dimension = 1 : i64}}> : (tensor<2x4xf32>) -> {J}"),
    ("stablehlo.get_tuple_element", f"%x[1] : (tuple<{F}, {J}>) -> {J}",
     f"(%x) <{{index = 1 : i32}}> : (tuple<{F}, {J}>) -> {J}"),
    ("stablehlo.iota", f"dim = 0 : {V}", f"() <{{iota_dimension = 0 : i64}}> : () -> {V}"),
    ("stablehlo.optimization_barrier", f"%f, %i : {F}, {J}", f"(%f, %i) : ({F}, {J}) -> ({F}, {J})"),
    ("stablehlo.optimization_barrier", "()", "() : () -> ()"),
    ("stablehlo.pad", f"%v, %f, low = [-1], high = [2], interior = [0] : ({V}, {F}) -> tensor<5xf32>",
     "(%v, %f) <{edge_padding_high = array<i64: 2>, edge_padding_low = array<i64: -1>, interior_padding = array<i64:"
     f" 0>}}> : ({V}, {F}) -> tensor<5xf32>"),
    ("stablehlo.partition_id", ": tensor<ui32>", "() : () -> tensor<ui32>"),
    ("stablehlo.replica_id", ": tensor<ui32>", "() : () -> tensor<ui32>"),
    ("stablehlo.reduce", f"(%v init: %f) applies stablehlo.maximum across dimensions = [0] {{x = 1 : i32}} : ({V}, {F})"
     f" -> {F}",
     "(%v, %f) <{dimensions = array<i64: 0>}> ({\n"
     f'^bb0(%0: {F}, %1: {F}):\n %2 = "stablehlo.maximum"(%0, %1) : ({F}, {F}) -> {F}\n'
     f' "stablehlo.return"(%2) : ({F}) -> ()\n}}) {{x = 1 : i32}} : ({V}, {F}) -> {F}'),
    ("stablehlo.reduce_precision", f"%v, format = e5m10 : {V}",
     f"(%v) <{{exponent_bits = 5 : i32, mantissa_bits = 10 : i32}}> : ({V}) -> {V}"),
    ("stablehlo.return", f"%f, %i : {F}, {J}", f"(%f, %i) : ({F}, {J}) -> ()"),
    ("stablehlo.return", "", "() : () -> ()"),
    ("stablehlo.reverse", f"%v, dims = [0] : {V}", f"(%v) <{{dimensions = array<i64: 0>}}> : ({V}) -> {V}"),
    ("stablehlo.rng", f"%f, %f, %s, distribution = NORMAL : ({F}, {F}, tensor<1xi64>) -> {V}",
     f"(%f, %f, %s) <{{rng_distribution = #stablehlo<rng_distribution NORMAL>}}> : ({F}, {F}, tensor<1xi64>) -> {V}"),
    ("stablehlo.rng_bit_generator", f"%u, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, {V})",
     f"(%u) <{{rng_algorithm = #stablehlo<rng_algorithm THREE_FRY>}}> : (tensor<2xui64>) -> (tensor<2xui64>, {V})"),
    ("stablehlo.select", f"%p, %v, %v : {P}, {V}", f"(%p, %v, %v) : ({P}, {V}, {V}) -> {V}"),
    ("stablehlo.select", f"%p, %v, %v : ({P}, {V}, {V}) -> tensor<?xf32>",
     f"(%p, %v, %v) : ({P}, {V}, {V}) -> tensor<?xf32>"),
    ("stablehlo.set_dimension_size", f"%v, %i, dim = 0 : ({V}, {J}) -> tensor<?xf32, #stablehlo.bounds<4>>",
     f"(%v, %i) <{{dimension = 0 : i64}}> : ({V}, {J}) -> tensor<?xf32, #stablehlo.bounds<4>>"),
    ("stablehlo.slice", "%m [0:1, 1:4:2] : (tensor<2x4xf32>) -> tensor<1x2xf32>",
     "(%m) <{limit_indices = array<i64: 1, 4>, start_indices = array<i64: 0, 1>, strides = array<i64: 1, 2>}> :"
     " (tensor<2x4xf32>) -> tensor<1x2xf32>"),
    ("stablehlo.transpose", "%m, dims = [1, 0] : (tensor<2x4xf32>) -> tensor<4x2xf32>",
     "(%m) <{permutation = array<i64: 1, 0>}> : (tensor<2x4xf32>) -> tensor<4x2xf32>"),
    ("stablehlo.tuple", f"%f, %i : tuple<{F}, {J}>", f"(%f, %i) : ({F}, {J}) -> tuple<{F}, {J}>"),
    ("stablehlo.unary_einsum", '%m, config = "ij->i" : (tensor<2x4xf32>) -> tensor<2xf32>',
     '(%m) <{einsum_config = "ij->i"}> : (tensor<2x4xf32>) -> tensor<2xf32>'),
    ("stablehlo.while", f"(%j = %i, %y = %v) : {J}, {V} attributes {{x = 1 : i32}}\n cond {{\n stablehlo.return"
     f" %p : {P}\n}} do {{\n stablehlo.return %j, %y : {J}, {V}\n}}",
     f'(%i, %v) ({{\n^bb0(%j: {J}, %y: {V}):\n "stablehlo.return"(%p) : ({P}) -> ()\n}}, {{\n^bb0(%j: {J}, %y: {V}):\n'
     f' "stablehlo.return"(%j, %y) : ({J}, {V}) -> ()\n}}) {{x = 1 : i32}} : ({J}, {V}) -> ({J}, {V})'),
    ("chlo.broadcast_select", f"%p, %v, %f : ({P}, {V}, {F}) -> {V}", f"(%p, %v, %f) : ({P}, {V}, {F}) -> {V}"),
    ("chlo.constant", "dense<1> : tensor<4xi32>", "() <{value = dense<1> : tensor<4xi32>}> : () -> tensor<4xi32>"),
    ("chlo.scan", f"(%v) inits (%f) dimension=0 attributes {{is_reverse = true}} {{\n^bb0(%0: {F}, %1: {F}):\n"
     f" stablehlo.return %0, %1 : {F}, {F}\n}} : ({V}, {F}) -> ({V}, {F})",
     "(%v, %f) <{dimension = 0 : i64, is_reverse = true, operandSegmentSizes = array<i32: 1, 1>, resultSegmentSizes ="
     f' array<i32: 1, 1>}}> ({{\n^bb0(%0: {F}, %1: {F}):\n "stablehlo.return"(%0, %1) : ({F}, {F}) -> ()\n}}) :'
     f" ({V}, {F}) -> ({V}, {F})"),
    ("chlo.top_k", f"(%v, k = 2) : {V} -> (tensor<2xf32>, tensor<2xi32>)",
     f"(%v) <{{k = 2 : i64}}> : ({V}) -> (tensor<2xf32>, tensor<2xi32>)"),
    ("chlo.top_k", f"(%v, k = 2, is_stable = true) : {V} -> (tensor<2xf32>, tensor<2xi32>)",
     f"(%v) <{{is_stable = true, k = 2 : i64}}> : ({V}) -> (tensor<2xf32>, tensor<2xi32>)"),
    ("check.expect_almost_eq", f"%v, %v, tolerance = 0.1 : {V}",
     f"(%v, %v) <{{tolerance = 0.1 : f64}}> : ({V}, {V}) -> ()"),
    ("check.expect_almost_eq_const", f"%v, dense<1.0> : {V}", f"(%v) <{{value = dense<1.0> : {V}}}> : ({V}) -> ()"),
    ("check.expect_close", f"%v, %v, max_ulp_difference = 18446744073709551615, min_ulp_difference = 1 : {V}, {V}",
     "(%v, %v) <{max_ulp_difference = 18446744073709551615 : ui64, min_ulp_difference = 1 : ui64}> :"
     f" ({V}, {V}) -> ()"),
    ("check.expect_eq", f"%v, %v : {V}", f"(%v, %v) : ({V}, {V}) -> ()"),
    ("check.expect_eq_const", f"%v, dense<1.0> : {V}", f"(%v) <{{value = dense<1.0> : {V}}}> : ({V}) -> ()"),
    ("check.expect_serialized_eq", f'%v, probe_id = "a", iter = 2 : {V}',
     f'(%v) <{{iteration = 2 : ui32, probe_id = "a"}}> : ({V}) -> ()'),
    ("func.call", f"@g(%f, %i) : ({F}, {J}) -> {F}", f"(%f, %i) <{{callee = @g}}> : ({F}, {J}) -> {F}"),
    ("arith.constant", "7 : index", "() <{value = 7 : index}> : () -> index"),
    ("interpreter.print", f"%v : {V}", f"(%v) : ({V}) -> ()"),
    ("interpreter.probe", f'%v, probe_id = "a" : {V}', f'(%v) <{{probe_id = "a"}}> : ({V}) -> {V}'),
    ("tensor.cast", f"%v : {V} to tensor<?xf32>", f"(%v) : ({V}) -> tensor<?xf32>"),
]  # fmt: skip


@pytest.mark.parametrize(("op", "pretty", "generic"), PAIRS, ids=[pair[0] for pair in PAIRS])
def test_pretty_and_generic_give_one_tree(op: str, pretty: str, generic: str, monkeypatch: pytest.MonkeyPatch) -> None:
    want = tree(parse_text(in_function(f'"{op}"{generic}', ARGUMENTS)))
    text = in_function(f"{op} {pretty}", ARGUMENTS)
    assert tree(parse_text(text)) == want
    tight = text.replace(f"{op} ", f"{op}", 1) if pretty[:1] in ("(", "") else text
    assert tree(parse_text(tight)) == want
    monkeypatch.setattr(op_reader, "LINE_START", lambda source, position: None)
    assert tree(parse_text(text)) == want
    assert tree(parse_text(in_function(f'"{op}"{generic}', ARGUMENTS))) == want


def test_every_pretty_form_has_a_pair() -> None:
    custom = {"mhlo.copy", "func.func", "func.return", "builtin.module"}  # in test_parser.py
    others = {n for n in known_names() if n.startswith(("sdy.", "shape.", "arith.index", "builtin.un", "vhlo."))}
    assert {name for name in known_names() if assembly_of(name)} - custom - others == {pair[0] for pair in PAIRS}


@pytest.mark.parametrize(
    "name", [name for name in known_names() if assembly_of(name) is None and not name.startswith("sdy.")]
)
def test_ops_of_the_generic_form_alone(name: str) -> None:
    assert first_op(f'"{name}"(%a) {{x}} : (tensor<f32>) -> tensor<f32>').name == name


def test_composite_with_regions() -> None:
    op = first_op(
        '%0 = stablehlo.composite "a.b" %a ({\n stablehlo.return %a : tensor<f32>\n}, {\n}) {decomposition = @g}'
        " : (tensor<f32>) -> tensor<f32>"
    )
    assert len(op.regions) == 2
    assert op.attributes == {"name": "a.b", "decomposition": "g"}


def test_shardy() -> None:
    text = (
        'sdy.mesh @mesh = <["x"=2, "y"=2]> {z = 1 : i32}\n'
        'func.func @f(%a: tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<4x4xf32> {\n'
        '  %0 = sdy.sharding_constraint %a <@mesh, [{"x"}, {}]> : tensor<4x4xf32>\n'
        '  %1 = sdy.manual_computation(%0) in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{"x"}, {}]>]'
        ' manual_axes={"x"} (%b: tensor<2x4xf32> loc("b")) {\n'
        "    sdy.return %b : tensor<2x4xf32>\n"
        "  } : (tensor<4x4xf32>) -> tensor<4x4xf32>\n"
        "  return %1 : tensor<4x4xf32>\n}\n"
    )
    module = parse_text(text)
    mesh = module.others[0]
    assert (mesh.name, mesh.attributes["sym_name"], mesh.attributes["z"]) == ("sdy.mesh", "mesh", 1)
    constraint, computation, _ = module.functions["f"].regions[0].block.ops
    assert str(constraint.attributes["sharding"]) == '#sdy.sharding<@mesh, [{"x"}, {}]>'
    assert str(computation.attributes["manual_axes"]) == '#sdy<manual_axes{"x"}>'
    assert computation.regions[0].block.ops[0].name == "sdy.return"

    mlir = pytest.importorskip("jax._src.interpreters.mlir")
    ir = pytest.importorskip("jaxlib.mlir.ir")
    text += (
        'func.func @g(%a: tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {"x"}]>}) {\n'
        '  %0 = sdy.all_gather [{}, {"x"}] %a out_sharding=<@mesh, [{"y"}, {}]> : tensor<4x4xf32>\n'
        '  %1 = sdy.reshard %a <@mesh, [{"y"}, {}]> : tensor<4x4xf32>\n'
        "  sdy.sharding_group %a group_id=3 : tensor<4x4xf32>\n  return\n}\n"
    )
    with mlir.make_ir_context() as context:
        generic = ir.Module.parse(text, context).operation.get_asm(print_generic_op_form=True)
    assert tree(parse_text(generic)) == tree(parse_text(text))


@pytest.mark.parametrize(
    ("body", "name", "value"),
    [
        ('stablehlo.custom_call @foo(%a) {call_target_name = "bar"} : (tensor<f32>) -> ()', "call_target_name", "bar"),
        ("%0 = stablehlo.iota dim = 0 {iota_dimension = 1 : i64} : tensor<2x3xf32>", "iota_dimension", 1),
        (
            '%0 = "stablehlo.iota"() <{iota_dimension = 1 : i64}> {iota_dimension = 0 : i64} : () -> tensor<2x3xf32>',
            "iota_dimension",
            1,
        ),
    ],
)
def test_of_two_values_of_one_attribute_the_one_that_counts_in_mlir_counts(body: str, name: str, value: object) -> None:
    assert first_op(body).attributes[name] == value
