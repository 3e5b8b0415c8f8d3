"""What a device is, as data: figures, capabilities, layouts, alignment, memory spaces, wishes for fusion."""

from xla_core.target.capabilities import Capabilities, Constraint, Ok, Support, Unsupported
from xla_core.target.config import AlignmentRules, TargetConfig
from xla_core.target.device import CacheLevel, DeviceDescription, MemorySpace
from xla_core.target.device_layout import from_device_layout, to_device_layout
from xla_core.target.fusion import FusionDecision, FusionPreferences
from xla_core.target.layout_rules import InstructionLayouts, LayoutRules, array_size_bytes

__all__ = [
    "AlignmentRules",
    "CacheLevel",
    "Capabilities",
    "Constraint",
    "DeviceDescription",
    "FusionDecision",
    "FusionPreferences",
    "InstructionLayouts",
    "LayoutRules",
    "MemorySpace",
    "Ok",
    "Support",
    "TargetConfig",
    "Unsupported",
    "array_size_bytes",
    "from_device_layout",
    "to_device_layout",
]
