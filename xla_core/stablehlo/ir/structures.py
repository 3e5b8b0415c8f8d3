"""Attributes that are structures: dimension numbers, dot algorithms, channels, aliases, accuracies."""

from __future__ import annotations

import dataclasses
import enum

__all__ = [
    "ChannelHandle",
    "ChannelType",
    "ConvDimensionNumbers",
    "DotAlgorithm",
    "DotDimensionNumbers",
    "GatherDimensionNumbers",
    "OutputOperandAlias",
    "RaggedDotDimensionNumbers",
    "ResultAccuracy",
    "ScatterDimensionNumbers",
]


@dataclasses.dataclass(frozen=True, slots=True)
class GatherDimensionNumbers:
    """`#stablehlo.gather<...>`."""

    offset_dims: tuple[int, ...] = ()
    collapsed_slice_dims: tuple[int, ...] = ()
    operand_batching_dims: tuple[int, ...] = ()
    start_indices_batching_dims: tuple[int, ...] = ()
    start_index_map: tuple[int, ...] = ()
    index_vector_dim: int = 0


@dataclasses.dataclass(frozen=True, slots=True)
class ScatterDimensionNumbers:
    """`#stablehlo.scatter<...>`."""

    update_window_dims: tuple[int, ...] = ()
    inserted_window_dims: tuple[int, ...] = ()
    input_batching_dims: tuple[int, ...] = ()
    scatter_indices_batching_dims: tuple[int, ...] = ()
    scatter_dims_to_operand_dims: tuple[int, ...] = ()
    index_vector_dim: int = 0


@dataclasses.dataclass(frozen=True, slots=True)
class ConvDimensionNumbers:
    """`#stablehlo.conv<[b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1]>`."""

    input_batch_dimension: int = 0
    input_feature_dimension: int = 0
    input_spatial_dimensions: tuple[int, ...] = ()
    kernel_input_feature_dimension: int = 0
    kernel_output_feature_dimension: int = 0
    kernel_spatial_dimensions: tuple[int, ...] = ()
    output_batch_dimension: int = 0
    output_feature_dimension: int = 0
    output_spatial_dimensions: tuple[int, ...] = ()


@dataclasses.dataclass(frozen=True, slots=True)
class DotDimensionNumbers:
    """`#stablehlo.dot<...>`."""

    lhs_batching_dimensions: tuple[int, ...] = ()
    rhs_batching_dimensions: tuple[int, ...] = ()
    lhs_contracting_dimensions: tuple[int, ...] = ()
    rhs_contracting_dimensions: tuple[int, ...] = ()


@dataclasses.dataclass(frozen=True, slots=True)
class RaggedDotDimensionNumbers:
    """`#chlo.ragged_dot<...>`."""

    lhs_batching_dimensions: tuple[int, ...] = ()
    rhs_batching_dimensions: tuple[int, ...] = ()
    lhs_contracting_dimensions: tuple[int, ...] = ()
    rhs_contracting_dimensions: tuple[int, ...] = ()
    lhs_ragged_dimensions: tuple[int, ...] = ()
    rhs_group_dimensions: tuple[int, ...] = ()


@dataclasses.dataclass(frozen=True, slots=True)
class DotAlgorithm:
    """`#stablehlo.dot_algorithm<...>`; the types are element types by name ("f32", "tf32")."""

    lhs_precision_type: str
    rhs_precision_type: str
    accumulation_type: str
    lhs_component_count: int
    rhs_component_count: int
    num_primitive_operations: int
    allow_imprecise_accumulation: bool


class ChannelType(enum.IntEnum):
    """The two ends of a channel. Programs may contain other numbers, which collectives ignore."""

    DEVICE_TO_DEVICE = 1
    DEVICE_TO_HOST = 2
    HOST_TO_DEVICE = 3


@dataclasses.dataclass(frozen=True, slots=True)
class ChannelHandle:
    """`#stablehlo.channel_handle<handle = 0, type = 0>`; `type` is the number of a ChannelType."""

    handle: int
    type: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "type", int(self.type))  # as readers make it: writers look at the class


@dataclasses.dataclass(frozen=True, slots=True)
class OutputOperandAlias:
    """`#stablehlo.output_operand_alias<...>`."""

    output_tuple_indices: tuple[int, ...] = ()
    operand_index: int = 0
    operand_tuple_indices: tuple[int, ...] = ()


@dataclasses.dataclass(frozen=True, slots=True)
class ResultAccuracy:
    """`#stablehlo.result_accuracy<...>`; `mode` is DEFAULT, HIGHEST or TOLERANCE."""

    atol: float = 0.0
    rtol: float = 0.0
    ulps: int = 0
    mode: str = "DEFAULT"

    @property
    def problem(self) -> str | None:
        if min(self.atol, self.rtol, self.ulps) < 0:
            return "Negative tolerance"
        if self.mode != "TOLERANCE" and (self.atol, self.rtol, self.ulps) != (0, 0, 0):
            return f"Invalid tolerances for ResultAccuracyAttr with mode {self.mode}, must be all zero."
        return None
