"""Analyses of HLO modules: dataflow, aliasing, live ranges, buffer assignment, cost."""

from xla_core.analysis.buffer_assignment import (
    AllocationKind,
    BufferAllocation,
    BufferAssignment,
    BufferSlice,
    assign_buffers,
)
from xla_core.analysis.buffer_sharing import CanShare, can_share_buffer
from xla_core.analysis.control_flow import control_flow_callees, reachable_sequences, sequential_computations
from xla_core.analysis.cost_analysis import Cost, HloCostAnalysis
from xla_core.analysis.dataflow import HloDataflowAnalysis
from xla_core.analysis.hlo_value import HloValue, ValueKind
from xla_core.analysis.host_costs import PlacementCosts, format_seconds
from xla_core.analysis.memory_map import plot_memory_map
from xla_core.analysis.placement import InstructionPlacement, host_summary, place_instructions, placement_text
from xla_core.analysis.while_loop import known_trip_count

__all__ = [
    "AllocationKind",
    "BufferAllocation",
    "BufferAssignment",
    "BufferSlice",
    "CanShare",
    "Cost",
    "HloCostAnalysis",
    "HloDataflowAnalysis",
    "HloValue",
    "InstructionPlacement",
    "PlacementCosts",
    "ValueKind",
    "assign_buffers",
    "can_share_buffer",
    "control_flow_callees",
    "format_seconds",
    "host_summary",
    "known_trip_count",
    "place_instructions",
    "placement_text",
    "plot_memory_map",
    "reachable_sequences",
    "sequential_computations",
]
