"""The ops of the dialect vhlo, and what each is in StableHLO: one table, and the rules for attributes by their names.

VHLO is StableHLO with every attribute spelled out and every op under a version. Going back, defaults are left out,
lists of integers become arrays, and attributes that were taken apart are put together. An attribute that a version of
an op lacks has its default. Source: openxla/stablehlo, stablehlo/dialect/VhloOps.td and
stablehlo/transforms/VhloLegalizeToStablehlo.cpp.
"""

from __future__ import annotations

import dataclasses
import functools
from typing import Any

from xla_core.stablehlo.ir.attributes import (
    ConvDimensionNumbers,
    DotAlgorithm,
    DotDimensionNumbers,
    GatherDimensionNumbers,
    ScatterDimensionNumbers,
)

__all__ = ["BY_OPERANDS", "VHLO_OPS", "WITH_ACCURACY", "ConversionError", "VhloOp", "find_vhlo_op"]

_CONVOLUTION = (
    "input_batch_dimension input_feature_dimension input_spatial_dimensions kernel_input_feature_dimension"
    " kernel_output_feature_dimension kernel_spatial_dimensions output_batch_dimension output_feature_dimension"
    " output_spatial_dimensions feature_group_count batch_group_count precision_config? window_strides? lhs_dilation?"
    " rhs_dilation? window_reversal?"
)
_GATHER = (
    "offset_dims collapsed_slice_dims operand_batching_dims@2 start_indices_batching_dims@2 start_index_map"
    " index_vector_dim indices_are_sorted?"
)
_TRANSFER = "channel_id channel_type is_host_transfer? source_target_pairs?@2"
_COLLECTIVE = "replica_groups channel_id?"

_PLAIN = """
abs add after_all and async_done async_start atan2 bitcast_convert case ceil clamp complex convert count_leading_zeros
create_token divide dynamic_pad dynamic_reshape dynamic_update_slice floor if imag is_finite maximum minimum multiply
negate not optimization_barrier or partition_id popcnt power real real_dynamic_slice remainder replica_id reshape return
round_nearest_afz round_nearest_even select shift_left shift_right_arithmetic shift_right_logical sign subtract tuple
uniform_dequantize uniform_quantize while xor
"""

WITH_ACCURACY = """
cbrt cosine exponential exponential_minus_one log log_plus_one logistic rsqrt sine sqrt tan tanh
"""
"""Ops that have a result_accuracy since their second version."""

_ATTRIBUTES: dict[str, str] = {
    **dict.fromkeys(_PLAIN.split(), ""),
    **dict.fromkeys(WITH_ACCURACY.split(), "result_accuracy?@2"),
    "all_gather": f"all_gather_dim {_COLLECTIVE} use_global_device_ids? @2 &",
    "all_reduce": f"{_COLLECTIVE} use_global_device_ids? @2 & ^",
    "all_to_all": f"split_dimension concat_dimension split_count {_COLLECTIVE} @2 &",
    "batch_norm_grad": "epsilon feature_index",
    "batch_norm_inference": "epsilon feature_index",
    "batch_norm_training": "epsilon feature_index",
    "broadcast": "broadcast_sizes",
    "broadcast_in_dim": "broadcast_dimensions",
    "call": "callee",
    "cholesky": "lower?",
    "collective_broadcast": f"{_COLLECTIVE} has_dynamic_root?@2 &",
    "collective_permute": "source_target_pairs channel_id?",
    "collective_reduce": f"{_COLLECTIVE} use_global_device_ids? has_dynamic_root?",
    "compare": "comparison_direction compare_type?",
    "composite": "name composite_attributes? decomposition version? @2 &",
    "concatenate": "dimension",
    "constant": "value",
    "convolution": f"{_CONVOLUTION} padding?",
    "cross-replica-sum": "replica_groups",
    "custom_call": "call_target_name has_side_effect? backend_config? api_version? called_computations?"
    " operand_layouts result_layouts output_operand_aliases? result_tilings?@2 &",
    "dot": "precision_config?",
    "dot_general": "lhs_batching_dimensions rhs_batching_dimensions lhs_contracting_dimensions"
    " rhs_contracting_dimensions precision_config? lhs_precision_type@2 rhs_precision_type@2 accumulation_type@2"
    " lhs_component_count@2 rhs_component_count@2 num_primitive_operations@2 allow_imprecise_accumulation@2",
    "dynamic_broadcast_in_dim": "broadcast_dimensions known_expanding_dimensions? known_nonexpanding_dimensions?",
    "dynamic_conv": f"{_CONVOLUTION} padding! @2",
    "dynamic_gather": _GATHER,
    "dynamic_iota": "iota_dimension",
    "dynamic_slice": "slice_sizes",
    "einsum": "einsum_config",
    "fft": "fft_type fft_length",
    "func": "sym_name function_type sym_visibility? arg_attrs? res_attrs?",
    "gather": f"{_GATHER} slice_sizes",
    "get_dimension_size": "dimension",
    "get_tuple_element": "index",
    "infeed": "infeed_config? layout?",
    "iota": "iota_dimension",
    "map": "dimensions",
    "outfeed": "outfeed_config?",
    "pad": "edge_padding_low edge_padding_high interior_padding",
    "recv": _TRANSFER,
    "reduce": "dimensions & ^",
    "reduce_precision": "exponent_bits mantissa_bits",
    "reduce_scatter": f"scatter_dimension {_COLLECTIVE} use_global_device_ids? & ^",
    "reduce_window": "window_dimensions window_strides? base_dilations? window_dilations? padding? & ^",
    "reverse": "dimensions",
    "rng": "rng_distribution",
    "rng_bit_generator": "rng_algorithm",
    "scatter": "update_window_dims inserted_window_dims input_batching_dims@2 scatter_indices_batching_dims@2"
    " scatter_dims_to_operand_dims index_vector_dim indices_are_sorted? unique_indices? & ^",
    "select_and_scatter": "window_dimensions window_strides? padding? & ^",
    "send": _TRANSFER,
    "set_dimension_size": "dimension",
    "slice": "start_indices limit_indices strides",
    "sort": "dimension? is_stable?",
    "torch_index_select": "dim batch_dims",
    "transpose": "permutation",
    "triangular_solve": "left_side lower unit_diagonal transpose_a",
    "unary_einsum": "einsum_config",
}
"""Ops and their attributes. `?`: left out where it has its default; `@2`: there from the op's version 2 on; `!`: in
version 1 alone, and StableHLO does without it. `@2` by itself: there is a version 2 with the same attributes. `&`: what
the op is at a release depends on its operands, results or regions too. `^`: release 0.17 brought results of other
element types than the operands'."""

_FIRST: dict[str, str] = {
    "all_gather": "0.9 1.5",
    "all_reduce": "0.9 1.5",
    "all_to_all": "0.9 1.5",
    "async_done": "1.15",
    "async_start": "1.15",
    "collective_broadcast": "0.16 1.20",
    "collective_reduce": "1.19",
    "composite": "0.19 1.14",
    "custom_call": "0.9 1.18",
    "dot_general": "0.9 1.6",
    "dynamic_conv": "0.9 0.20",
    "dynamic_gather": "0.9 1.1",
    "gather": "0.9 1.1",
    "recv": "0.9 1.12",
    "scatter": "0.9 1.1",
    "send": "0.9 1.12",
    **dict.fromkeys(WITH_ACCURACY.split(), "0.9 1.10"),
    "exponential": "0.9 1.9",
    "tan": "1.4 1.10",
}
"""The releases of StableHLO that brought the versions of an op, where it isn't the first release."""

_ELSEWHERE = {"call": "func.call", "func": "func.func"}

_STRUCTS: dict[str, tuple[tuple[str, Any], ...]] = {
    "convolution": (("dimension_numbers", ConvDimensionNumbers),),
    "dynamic_conv": (("dimension_numbers", ConvDimensionNumbers),),
    "dot_general": (("dot_dimension_numbers", DotDimensionNumbers), ("algorithm", DotAlgorithm)),
    "dynamic_gather": (("dimension_numbers", GatherDimensionNumbers),),
    "gather": (("dimension_numbers", GatherDimensionNumbers),),
    "scatter": (("scatter_dimension_numbers", ScatterDimensionNumbers),),
}
"""Attributes that are put together, each from those with the names of its fields."""


class ConversionError(ValueError):
    """Why an op of vhlo has no meaning in StableHLO."""


@dataclasses.dataclass(frozen=True)
class VhloOp:
    """An op of one version.

    Attributes:
        name: what it is in StableHLO ("stablehlo.add", "func.call").
        attributes: what it is written with, in the order of its properties.
        optional: those that are left out where they have their default.
        dropped: those that StableHLO does without.
        structs: what is put together.
        first: the release of StableHLO that brought it: (major, minor).
        written: its name in VHLO.
        by_operands: whether more than its attributes says what it is at a release.
        promotes: whether later releases let its results have other element types than its operands.
    """

    name: str
    attributes: tuple[str, ...]
    optional: frozenset[str]
    dropped: frozenset[str]
    structs: tuple[tuple[str, Any], ...]
    first: tuple[int, int]
    written: str
    by_operands: bool
    promotes: bool


def _versions(op: str, text: str) -> dict[str, VhloOp]:
    marks = {"&", "^"}.intersection(text.split())
    words = [word.partition("@") for word in text.split() if word not in marks]
    found = {}
    releases = [release.split(".") for release in _FIRST.get(op, "0.9 0.9").split()]
    for version in range(1, 1 + ("@2" in text) + 1):
        present = [
            word
            for word, _, first in words
            if word and int(first or 1) <= version and (version == 1 or word[-1] != "!")
        ]
        found[f"vhlo.{op}_v{version}"] = VhloOp(
            _ELSEWHERE.get(op, f"stablehlo.{op}"),
            tuple(sorted(word.rstrip("?!") for word in present)),
            frozenset(word[:-1] for word in present if word[-1] == "?"),
            frozenset(word[:-1] for word in present if word[-1] == "!"),
            _STRUCTS.get(op, ()),
            (int(releases[version - 1][0]), int(releases[version - 1][1])),
            f"vhlo.{op}_v{version}",
            "&" in marks,
            "^" in marks,
        )
    return found


VHLO_OPS: dict[str, VhloOp] = {
    name: op for base, text in _ATTRIBUTES.items() for name, op in _versions(base, text).items()
}
"""Every version of every op, by its name in VHLO."""

BY_OPERANDS = frozenset(op.name for op in VHLO_OPS.values() if op.by_operands)
"""Ops of StableHLO of which more than the attributes says what they are at a release."""


@functools.cache
def find_vhlo_op(name: str) -> VhloOp:
    """The op of a name. Raises ConversionError when there is none."""
    op = VHLO_OPS.get(name)
    if op is None:
        base = name.rpartition("_v")[0]
        known = ", ".join(other for other in VHLO_OPS if other.rpartition("_v")[0] == base)
        raise ConversionError(f"unknown op '{name}'" + (f": there is {known}" if known else ""))
    return op
