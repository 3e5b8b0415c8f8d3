"""Describes a device as data: figures, capabilities, layouts, alignment, memory spaces, fusion costs, threads."""

from xla_core.target.capabilities import Capabilities, Constraint
from xla_core.target.config import AlignmentRules, TargetConfig
from xla_core.target.device import CacheLevel, DeviceDescription, MemorySpace
from xla_core.target.device_layout import from_device_layout, to_device_layout
from xla_core.target.fusion import FusionCosts, FusionDecision, FusionPreferences
from xla_core.target.host import HostCosts
from xla_core.target.layout_rules import (
    InstructionLayouts,
    LayoutRules,
    array_size_bytes,
    copies_beginning,
    copies_bits,
    keeps_layout,
)
from xla_core.target.matrix_shape import Fragment, LanePlace, MatrixShape
from xla_core.target.parallel import ParallelModel
from xla_core.target.support import Lack, LackKind, Ok, Support, Unsupported

__all__ = [
    "AlignmentRules",
    "CacheLevel",
    "Capabilities",
    "Constraint",
    "DeviceDescription",
    "Fragment",
    "FusionCosts",
    "FusionDecision",
    "FusionPreferences",
    "HostCosts",
    "InstructionLayouts",
    "Lack",
    "LackKind",
    "LanePlace",
    "LayoutRules",
    "MatrixShape",
    "MemorySpace",
    "Ok",
    "ParallelModel",
    "Support",
    "TargetConfig",
    "Unsupported",
    "array_size_bytes",
    "copies_beginning",
    "copies_bits",
    "from_device_layout",
    "keeps_layout",
    "to_device_layout",
]
