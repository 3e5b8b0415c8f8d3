"""How each op is written: the pretty form of every op, as data.

A format is a list of words:

| word | reads |
|---|---|
| `%` | one operand |
| `%*` | operands with commas between them, or none |
| `%,*` | operands with a comma after each |
| `name:kind` | the attribute `name`; the kinds are in `fragments.py` |
| `<kind>` | several attributes, or regions, at once; also in `fragments.py` |
| `attr-dict` | `{name = value, ...}`, or nothing |
| `:kind:` | the types of operands and results; the kinds are in `signatures.py` |
| `(?` ... `?)` | what stands between, if its first word is there |
| any other | itself |

From one format come two readers: a patient one, which reads anything and says what is wrong (`op_reader.py`), and a
regular expression for an op that stands on one line in the way that MLIR prints it (`fast_path.py`).
"""

from __future__ import annotations

__all__ = ["BARE_NAMES", "FORMATS", "GENERIC_FORMAT", "KNOWN_DIALECTS", "is_known"]

GENERIC_FORMAT = "( %* ) <properties> attr-dict : :functional:"
"""What follows the quoted name of an op without regions."""

BARE_NAMES = {"call": "func.call", "func": "func.func", "module": "builtin.module", "return": "func.return"}
"""Names that may stand without their dialect."""

KNOWN_DIALECTS = ("stablehlo", "chlo")
"""Dialects whose every op is in the table."""

_UNARY = "% attr-dict : :same:"
_BINARY = "% , % attr-dict : :same:"
_FUNCTIONAL = "%* attr-dict : :functional:"
_CHLO_UNARY = "% attr-dict : :arrow:"
_CHLO_BINARY = "% , % attr-dict : :arrow:"
_CHLO_BROADCAST = "% , % attr-dict : :functional:"
_CAST = "%* attr-dict : :cast:"
_DIM = "dim = dimension:int attr-dict : :functional:"
_RETURN = "%* attr-dict :return:"


def _same(dialect: str, names: str, form: str | None) -> dict[str, str | None]:
    return {f"{dialect}.{name}": form for name in names.split()}


FORMATS: dict[str, str | None] = {
    **_same(
        "stablehlo",
        "abs cbrt ceil convert cosine count_leading_zeros exponential exponential_minus_one floor imag log log_plus_one"
        " logistic negate not popcnt real round_nearest_afz round_nearest_even rsqrt sign sine sqrt tan tanh"
        " uniform_dequantize uniform_quantize",
        _UNARY,
    ),
    **_same(
        "stablehlo",
        "add and atan2 divide maximum minimum multiply or power remainder shift_left shift_right_arithmetic"
        " shift_right_logical subtract xor",
        _BINARY,
    ),
    **_same(
        "stablehlo",
        "bitcast_convert dynamic_pad dynamic_reshape dynamic_update_slice is_finite real_dynamic_slice reshape",
        _FUNCTIONAL,
    ),
    **_same(
        "stablehlo",
        "all_gather all_reduce all_to_all async_done async_start batch_norm_grad batch_norm_inference"
        " batch_norm_training case collective_broadcast collective_permute collective_reduce cross-replica-sum"
        " dynamic_conv dynamic_gather gather if infeed map outfeed recv reduce_scatter reduce_window scatter"
        " select_and_scatter send sort torch_index_select triangular_solve",
        None,  # generic form only
    ),
    "stablehlo.after_all": "%* attr-dict : :same:",
    "stablehlo.broadcast": "% , sizes = broadcast_sizes:dims attr-dict : :functional:",
    "stablehlo.broadcast_in_dim": "% , dims = broadcast_dimensions:dims attr-dict : :functional:",
    "stablehlo.cholesky": "% (? , lower = lower:bool ?) attr-dict : :same:",
    "stablehlo.clamp": "% , % , % attr-dict : :same:",
    "stablehlo.compare": "comparison_direction:comparison_direction , % , % (? , compare_type:comparison_type ?)"
    " attr-dict : :functional:",
    "stablehlo.complex": "%* attr-dict : :complex:",
    "stablehlo.composite": "name:string %* <parenthesized_regions> attr-dict : :functional:",
    "stablehlo.concatenate": f"%,* {_DIM}",
    "stablehlo.constant": "<constant>",
    "stablehlo.convolution": "( %* ) dim_numbers = dimension_numbers:convolution , window = { <window> } attr-dict"
    " : :functional:",
    "stablehlo.create_token": "attr-dict : :results:",
    "stablehlo.custom_call": "call_target_name:symbol_name ( %* ) attr-dict : :functional:",
    "stablehlo.dot": "% , % <precision> attr-dict : :functional:",
    "stablehlo.dot_general": "% , % , dot_dimension_numbers:dot_dimensions <precision_and_algorithm> attr-dict"
    " : :functional:",
    "stablehlo.dynamic_broadcast_in_dim": "% , % , dims = broadcast_dimensions:dims attr-dict : :functional:",
    "stablehlo.dynamic_iota": "% , dim = iota_dimension:int attr-dict : :functional:",
    "stablehlo.dynamic_slice": "% , %,* sizes = slice_sizes:dims attr-dict : :functional:",
    "stablehlo.einsum": "% , % , config = einsum_config:string attr-dict : :functional:",
    "stablehlo.fft": "% , type = fft_type:fft_type , length = fft_length:dims attr-dict : :functional:",
    "stablehlo.get_dimension_size": f"% , {_DIM}",
    "stablehlo.get_tuple_element": "% [ index:i32 ] attr-dict : :functional:",
    "stablehlo.iota": "dim = iota_dimension:int attr-dict : :results:",
    "stablehlo.optimization_barrier": "attr-dict <barrier>",
    "stablehlo.pad": "% , % , low = edge_padding_low:dims , high = edge_padding_high:dims ,"
    " interior = interior_padding:dims attr-dict : :functional:",
    "stablehlo.partition_id": "attr-dict : :results:",
    "stablehlo.reduce": "<reduce>",
    "stablehlo.reduce_precision": "% , format = <exponent_mantissa> attr-dict : :same:",
    "stablehlo.replica_id": "attr-dict : :results:",
    "stablehlo.return": _RETURN,
    "stablehlo.reverse": "% , dims = dimensions:dims attr-dict : :same:",
    "stablehlo.rng": "% , % , % , distribution = rng_distribution:rng_distribution attr-dict : :functional:",
    "stablehlo.rng_bit_generator": "% , algorithm = rng_algorithm:rng_algorithm attr-dict : :functional:",
    "stablehlo.select": "%* attr-dict : :select:",
    "stablehlo.set_dimension_size": f"% , % , {_DIM}",
    "stablehlo.slice": "% <slice_ranges> attr-dict : :functional:",
    "stablehlo.transpose": "% , dims = permutation:dims attr-dict : :functional:",
    "stablehlo.tuple": "%* attr-dict : :tuple:",
    "stablehlo.unary_einsum": "% , config = einsum_config:string attr-dict : :functional:",
    "stablehlo.while": "<while>",
    **_same(
        "chlo",
        "broadcast_add broadcast_and broadcast_atan2 broadcast_complex broadcast_divide broadcast_maximum"
        " broadcast_minimum broadcast_multiply broadcast_next_after broadcast_or broadcast_polygamma broadcast_power"
        " broadcast_remainder broadcast_shift_left broadcast_shift_right_arithmetic broadcast_shift_right_logical"
        " broadcast_subtract broadcast_xor broadcast_zeta broadcast_compare",
        _CHLO_BROADCAST,
    ),
    **_same(
        "chlo",
        "_asin_acos_kernel acos acosh asin asinh atan atanh bessel_i1e conj cosh digamma erf erf_inv erfc is_inf"
        " is_neg_inf is_pos_inf lgamma sinh square tan",
        _CHLO_UNARY,
    ),
    **_same("chlo", "mulhi next_after polygamma zeta", _CHLO_BINARY),
    **_same("chlo", "constant_like ragged_dot", None),
    "chlo.broadcast_select": "% , % , % attr-dict : :functional:",
    "chlo.constant": "<constant>",
    "chlo.scan": "<scan>",
    "chlo.top_k": "( % , k = k:int (? , is_stable = is_stable:bool ?) ) attr-dict : :arrow:",
    "arith.constant": "<constant>",
    "arith.index_cast": _CAST,
    "builtin.unrealized_conversion_cast": _CAST,
    "shape.broadcast": "%* attr-dict : :arrow:",
    "shape.num_elements": _CHLO_UNARY,
    "shape.shape_of": _CHLO_UNARY,
    "tensor.cast": _CAST,
    "builtin.module": "<module>",
    "vhlo.func_v1": "<vhlo_function>",
    "check.expect_almost_eq": "% , % (? , tolerance = tolerance:f64 ?) attr-dict : :each:",
    "check.expect_almost_eq_const": "% , value:attribute (? , tolerance = tolerance:f64 ?) attr-dict :value:",
    "check.expect_close": "% , % , max_ulp_difference = max_ulp_difference:ui64"
    " (? , min_ulp_difference = min_ulp_difference:ui64 ?) attr-dict : :list:",
    "check.expect_eq": "% , % attr-dict : :each:",
    "check.expect_eq_const": "% , value:attribute attr-dict :value:",
    "check.expect_serialized_eq": "% , probe_id = probe_id:string (? , iter = iteration:ui32 ?) attr-dict : :each:",
    "func.call": "callee:symbol ( %* ) attr-dict : :functional:",
    "func.func": "<function>",
    "func.return": _RETURN,
    "interpreter.print": "% attr-dict : :each:",
    "interpreter.probe": "% , probe_id = probe_id:string attr-dict : :same:",
    "sdy.all_gather": "gathering_axes:axis_lists % out_sharding = out_sharding:sharding attr-dict : :same:",
    "sdy.manual_computation": "<manual_computation>",
    "sdy.mesh": "<mesh>",
    "sdy.reshard": "% sharding:sharding attr-dict : :same:",
    "sdy.return": _RETURN,
    "sdy.sharding_constraint": "% sharding:sharding attr-dict : :same:",
    "sdy.sharding_group": "% group_id = group_id:int attr-dict : :each:",
}
"""The pretty form of each op by its name; None where an op has the generic form alone."""


def is_known(name: str) -> bool:
    """Whether an op may be written in the generic form: any op of a dialect whose ops we don't list, too."""
    dialect, _, rest = name.partition(".")
    return name in FORMATS if dialect in KNOWN_DIALECTS else bool(rest)
