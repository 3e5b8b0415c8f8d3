"""The ops of the dialect vhlo, and what each is in StableHLO: one table, and the rules for attributes by their names.

VHLO is StableHLO with every attribute spelled out and every op under a version. Going back, defaults are left out,
lists of integers become arrays, and attributes that were taken apart are put together. An attribute that a version of
an op lacks has its default. Source: openxla/stablehlo, stablehlo/dialect/VhloOps.td and
stablehlo/transforms/VhloLegalizeToStablehlo.cpp.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from typing import Any

from xla_core.stablehlo.attributes import (
    UNIT,
    ChannelHandle,
    ConvDimensionNumbers,
    DenseArray,
    DenseElements,
    DotAlgorithm,
    DotDimensionNumbers,
    GatherDimensionNumbers,
    ResultAccuracy,
    ScatterDimensionNumbers,
    SymbolRef,
)

__all__ = ["VHLO_OPS", "ConversionError", "VhloOp", "convert_attributes", "find_vhlo_op"]

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

_WITH_ACCURACY = """
cbrt cosine exponential exponential_minus_one log log_plus_one logistic rsqrt sine sqrt tan tanh
"""

_ATTRIBUTES: dict[str, str] = {
    **dict.fromkeys(_PLAIN.split(), ""),
    **dict.fromkeys(_WITH_ACCURACY.split(), "result_accuracy?@2"),
    "all_gather": f"all_gather_dim {_COLLECTIVE} use_global_device_ids? @2",
    "all_reduce": f"{_COLLECTIVE} use_global_device_ids? @2",
    "all_to_all": f"split_dimension concat_dimension split_count {_COLLECTIVE} @2",
    "batch_norm_grad": "epsilon feature_index",
    "batch_norm_inference": "epsilon feature_index",
    "batch_norm_training": "epsilon feature_index",
    "broadcast": "broadcast_sizes",
    "broadcast_in_dim": "broadcast_dimensions",
    "call": "callee",
    "cholesky": "lower?",
    "collective_broadcast": f"{_COLLECTIVE} has_dynamic_root?@2",
    "collective_permute": "source_target_pairs channel_id?",
    "collective_reduce": f"{_COLLECTIVE} use_global_device_ids? has_dynamic_root?",
    "compare": "comparison_direction compare_type?",
    "composite": "name composite_attributes? decomposition version? @2",
    "concatenate": "dimension",
    "constant": "value",
    "convolution": f"{_CONVOLUTION} padding?",
    "cross-replica-sum": "replica_groups",
    "custom_call": "call_target_name has_side_effect? backend_config? api_version? called_computations?"
    " operand_layouts result_layouts output_operand_aliases? result_tilings?@2",
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
    "reduce": "dimensions",
    "reduce_precision": "exponent_bits mantissa_bits",
    "reduce_scatter": f"scatter_dimension {_COLLECTIVE} use_global_device_ids?",
    "reduce_window": "window_dimensions window_strides? base_dilations? window_dilations? padding?",
    "reverse": "dimensions",
    "rng": "rng_distribution",
    "rng_bit_generator": "rng_algorithm",
    "scatter": "update_window_dims inserted_window_dims input_batching_dims@2 scatter_indices_batching_dims@2"
    " scatter_dims_to_operand_dims index_vector_dim indices_are_sorted? unique_indices?",
    "select_and_scatter": "window_dimensions window_strides? padding?",
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
version 1 alone, and StableHLO does without it. `@2` by itself: there is a version 2 with the same attributes."""

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
    """

    name: str
    attributes: tuple[str, ...]
    optional: frozenset[str]
    dropped: frozenset[str]
    structs: tuple[tuple[str, Any], ...]


def _versions(op: str, text: str) -> dict[str, VhloOp]:
    words = [word.partition("@") for word in text.split()]
    found = {}
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
        )
    return found


VHLO_OPS: dict[str, VhloOp] = {
    name: op for base, text in _ATTRIBUTES.items() for name, op in _versions(base, text).items()
}
"""Every version of every op, by its name in VHLO."""


# Values


def _array(value: Any, element: str) -> DenseArray:
    if not isinstance(value, DenseElements) or value.type.element != element:
        raise ConversionError(f"expected a tensor of {element}")
    if value.size > _MAX_LIST:
        raise ConversionError(f"a list of {value.size} numbers is too long")
    return DenseArray(value.array.reshape(-1).tolist(), element)


def _integers(value: Any) -> DenseArray:
    return _array(value, "i64")


def _symbol(value: Any) -> SymbolRef:
    if not isinstance(value, str):
        raise ConversionError("expected a string that names a function")
    return SymbolRef(value)


def _symbols(value: Any) -> tuple[SymbolRef, ...]:
    if not isinstance(value, tuple):
        raise ConversionError("expected an array of strings that name functions")
    return tuple([_symbol(item) for item in value])


def _unit(value: Any) -> Any:
    if not isinstance(value, bool):
        raise ConversionError("expected true or false")
    return UNIT


_MAX_LIST = 1 << 16

_LISTS = """
base_dilations broadcast_dimensions broadcast_sizes dimensions edge_padding_high edge_padding_low fft_length
interior_padding known_expanding_dimensions known_nonexpanding_dimensions lhs_dilation limit_indices permutation
rhs_dilation slice_sizes start_indices strides window_dilations window_dimensions window_strides
"""

_CONVERSIONS: dict[str, Callable[[Any], Any]] = {
    **dict.fromkeys(_LISTS.split(), _integers),
    "window_reversal": lambda value: _array(value, "i1"),
    "callee": _symbol,
    "decomposition": _symbol,
    "called_computations": _symbols,
    "has_dynamic_root": _unit,
    "use_global_device_ids": _unit,
}
"""Attributes that StableHLO writes in another way, by their names; any other is what it is."""


def _splat(number: int) -> Callable[[Any], bool]:
    """Whether a tensor holds one number, over and over."""

    def check(value: Any) -> bool:
        if not isinstance(value, DenseElements) or not value.size or not value.data.size:
            return False
        return bool((value.data == number).all())

    return check


def _empty(value: Any) -> bool:
    return isinstance(value, DenseElements) and value.size == 0


def _is(default: Any) -> Callable[[Any], bool]:
    """Whether a value is the default, and of its kind (True is not 1)."""
    kind = bool if isinstance(default, bool) else int if isinstance(default, int) else type(default)
    return lambda value: isinstance(value, kind) and value == default


_DEFAULTS: dict[str, Callable[[Any], bool]] = {
    **dict.fromkeys(("arg_attrs", "res_attrs", "called_computations", "layout", "output_operand_aliases"), _is(())),
    "result_tilings": _is(()),
    **dict.fromkeys(
        ("base_dilations", "lhs_dilation", "rhs_dilation", "window_dilations", "window_strides"), _splat(1)
    ),
    **dict.fromkeys(("padding", "window_reversal"), _splat(0)),
    **dict.fromkeys(("has_dynamic_root", "has_side_effect", "indices_are_sorted", "is_host_transfer"), _is(False)),
    **dict.fromkeys(("is_stable", "lower", "unique_indices", "use_global_device_ids"), _is(False)),
    **dict.fromkeys(("known_expanding_dimensions", "known_nonexpanding_dimensions", "source_target_pairs"), _empty),
    **dict.fromkeys(("infeed_config", "outfeed_config", "sym_visibility"), _is("")),
    **dict.fromkeys(("channel_id", "version"), _is(0)),
    "api_version": _is(1),
    "backend_config": lambda value: value in ("", {}),
    "compare_type": _is("NOTYPE"),
    "composite_attributes": _is({}),
    "dimension": _is(-1),
    "precision_config": lambda value: isinstance(value, tuple) and all(item == "DEFAULT" for item in value),
    "result_accuracy": _is(ResultAccuracy()),
}
"""Whether an attribute has its default, by its name."""


# Ops


@functools.cache
def find_vhlo_op(name: str) -> VhloOp:
    """The op of a name. Raises ConversionError when there is none."""
    op = VHLO_OPS.get(name)
    if op is None:
        base = name.rpartition("_v")[0]
        known = ", ".join(other for other in VHLO_OPS if other.rpartition("_v")[0] == base)
        raise ConversionError(f"unknown op '{name}'" + (f": there is {known}" if known else ""))
    return op


def convert_attributes(op: VhloOp, values: dict[str, Any]) -> dict[str, Any]:
    """What the attributes of an op of vhlo are in StableHLO. Raises ConversionError, which names the attribute."""
    result: dict[str, Any] = {}
    rest = dict(values)
    for name in op.dropped:
        rest.pop(name, None)
    for name, cls in op.structs:
        struct = _struct(cls, rest)
        if struct is not None:
            result[name] = struct
    if "channel_id" in rest and ("channel_type" in rest or not _is(0)(rest["channel_id"])):
        channel = rest.pop("channel_id"), rest.pop("channel_type", 0)
        if not all(type(number) is int for number in channel):
            raise ConversionError("channel_id: expected an integer")
        result["channel_handle"] = ChannelHandle(*channel)
    if rest.get("operand_layouts") == () == rest.get("result_layouts"):
        del rest["operand_layouts"], rest["result_layouts"]
    for name, value in rest.items():
        if name in op.optional and _DEFAULTS[name](value):
            continue
        convert = _CONVERSIONS.get(name) if name in op.attributes else None
        try:
            result[name] = value if convert is None else convert(value)
        except ConversionError as error:
            raise ConversionError(f"{name}: {error}") from None
    return result


def _struct(cls: Any, values: dict[str, Any]) -> Any:
    """A struct from the attributes named as its fields, which are taken away; None where all are types called none."""
    fields = {name: values.pop(name, None) for name in cls.__dataclass_fields__}
    if cls is DotAlgorithm:
        if all(value is None or value == "none" for value in fields.values()):
            return None
        if any(value is None or value == "none" for value in fields.values()):
            raise ConversionError("an algorithm of dot_general must have all of its attributes")
        return DotAlgorithm(**{name: str(v) if isinstance(v, str) else v for name, v in fields.items()})
    for name, field in cls.__dataclass_fields__.items():
        value = fields[name]
        is_list = isinstance(field.default, tuple)
        if is_list and value is None and "batching" in name:  # version 1 of the op has none
            fields[name] = ()
        elif is_list:
            try:
                fields[name] = tuple(_integers(value))
            except ConversionError as error:
                raise ConversionError(f"{name}: {error}") from None
        elif type(value) is not int:
            raise ConversionError(f"{name}: expected an integer")
    return cls(**fields)
