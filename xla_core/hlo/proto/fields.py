"""The fields of HloInstructionProto that hold each attribute. (XLA: xla/service/hlo.proto, xla/xla_data.proto.)

This table has the field numbers; the attribute's kind in the op table determines how the field is decoded.
"""

from __future__ import annotations

from collections.abc import Mapping

from xla_core.hlo.table.opcode import Opcode

Path = tuple[int, ...]

_FIELDS: Mapping[str, Path] = {
    "algorithm": (51, 2),
    "api_version": (77,),
    "async_execution_thread": (79,),
    "backend_config": (43,),
    "batch_group_count": (58,),
    "channel_id": (26,),
    "collapsed_slice_dims": (33, 2),
    "constrain_layout": (56,),
    "conv_kind": (97,),
    "cross_program_prefetch_index": (80,),
    "custom_call_has_side_effect": (65,),
    "custom_call_target": (28,),
    "delta": (66,),
    "dim_labels": (16,),
    "dimensions": (14,),
    "direction": (63,),
    "distribution": (23,),
    "dynamic_slice_sizes": (20,),
    "epsilon": (24,),
    "exponent_bits": (18,),
    "feature_group_count": (50,),
    "feature_index": (25,),
    "fft_length": (32,),
    "fft_type": (31,),
    "frontend_attributes": (68,),
    "has_dynamic_root": (100,),
    "index": (13,),
    "index_vector_dim": (33, 4),
    "indices_are_sorted": (67,),
    "infeed_config": (27,),
    "input_batching_dims": (48, 5),
    "inserted_window_dims": (48, 2),
    "iota_dimension": (14,),
    "is_associative": (96,),
    "is_composite": (89,),
    "is_host_transfer": (47,),
    "is_reverse": (94,),
    "is_stable": (60,),
    "k": (81,),
    "kind": (11,),
    "largest": (85,),
    "left_side": (59, 1),
    "lhs_batch_dims": (30, 3),
    "lhs_contracting_dims": (30, 1),
    "lhs_ragged_dims": (90, 2),
    "literal": (8,),
    "lower": (62, 1),
    "mantissa_bits": (19,),
    "num_carries": (95,),
    "offset_dims": (33, 1),
    "operand_batching_dims": (33, 5),
    "operand_layout_constraints": (57,),
    "operand_precision": (51, 1),
    "outfeed_config": (22,),
    "outfeed_shape": (29,),
    "output_to_operand_aliasing": (74,),
    "padding": (21,),
    "padding_type": (75,),
    "parameter_number": (9,),
    "parameter_replication": (61, 1),
    "replica_groups": (49,),
    "rhs_batch_dims": (30, 4),
    "rhs_contracting_dims": (30, 2),
    "rhs_group_dims": (90, 3),
    "scatter_dims_to_operand_dims": (48, 3),
    "scatter_indices_batching_dims": (48, 6),
    "schedule": (76,),
    "sharding": (40,),
    "slice": (17,),
    "slice_sizes": (34,),
    "source_target_pairs": (52,),
    "start_index_map": (33, 3),
    "start_indices_batching_dims": (33, 6),
    "transpose_a": (59, 4),
    "type": (72,),
    "unique_indices": (69,),
    "unit_diagonal": (59, 3),
    "update_window_dims": (48, 1),
    "use_global_device_ids": (71,),
    "window": (15,),
}
"""Attribute -> the field numbers that lead to it.

Computations are listed together, in field 38. Attributes that are missing here have no field (`inferred_dimension`), or
only XLA's own passes set them (`result_accuracy`).
"""

_FIELDS_OF_OP: Mapping[tuple[str, str], Path] = {
    (Opcode.RAGGED_DOT, "lhs_batch_dims"): (90, 1, 3),
    (Opcode.RAGGED_DOT, "lhs_contracting_dims"): (90, 1, 1),
    (Opcode.RAGGED_DOT, "rhs_batch_dims"): (90, 1, 4),
    (Opcode.RAGGED_DOT, "rhs_contracting_dims"): (90, 1, 2),
    (Opcode.RNG_BIT_GENERATOR, "algorithm"): (70,),
    (Opcode.SCATTER, "index_vector_dim"): (48, 4),
    (Opcode.TRIANGULAR_SOLVE, "lower"): (59, 2),
}
"""(opcode, attribute) -> field numbers, where they differ from those of other ops."""

_RANDOM_ALGORITHMS = ("rng_default", "rng_three_fry", "rng_philox")

ENUMS: Mapping[str, tuple[str, ...]] = {
    "algorithm": (
        "",
        "dot_any_f8_any_f8_f32",
        "dot_any_f8_any_f8_f32_fast_accum",
        "dot_f16_f16_f16",
        "dot_f16_f16_f32",
        "dot_bf16_bf16_bf16",
        "dot_bf16_bf16_f32",
        "dot_bf16_bf16_f32_x3",
        "dot_bf16_bf16_f32_x6",
        "dot_tf32_tf32_f32",
        "dot_tf32_tf32_f32_x3",
        "dot_f32_f32_f32",
        "dot_f64_f64_f64",
        "dot_bf16_bf16_f32_x9",
    ),
    "api_version": (
        "",
        "",  # API_VERSION_ORIGINAL, which the text leaves out
        "API_VERSION_STATUS_RETURNING",
        "API_VERSION_STATUS_RETURNING_UNIFIED",
        "API_VERSION_TYPED_FFI",
    ),
    "conv_kind": ("", "fprop", "dgrad", "wgrad"),
    "distribution": ("", "rng_uniform", "rng_normal"),
    "fft_type": ("FFT", "IFFT", "RFFT", "IRFFT"),
    "operand_precision": ("default", "high", "highest"),
    "padding_type": ("", "PADDING_VALID", "PADDING_SAME"),
    Opcode.RNG_BIT_GENERATOR: _RANDOM_ALGORITHMS,
    "schedule": ("", "SCHEDULE_LATEST", "SCHEDULE_EARLIEST"),
    "transpose_a": ("", "NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"),
}
"""Attribute -> HLO text's names of an enum's numbers. "" stands for a number that means no value."""


def field_path(opcode: Opcode, attribute: str) -> Path | None:
    """Returns the field numbers that lead to an op's attribute; None where the proto has no such field."""
    return _FIELDS_OF_OP.get((opcode, attribute)) or _FIELDS.get(attribute)
