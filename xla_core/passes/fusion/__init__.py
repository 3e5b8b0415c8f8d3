"""Fusion passes, which combine instructions into kernels."""

from xla_core.passes.fusion.fusion_node import create_fusion, replace_with_fusion
from xla_core.passes.fusion.instruction_fusion import InstructionFusion
from xla_core.passes.fusion.multi_output_fusion import MultiOutputFusion
from xla_core.passes.fusion.policy import FusionPolicy

__all__ = [
    "FusionPolicy",
    "InstructionFusion",
    "MultiOutputFusion",
    "create_fusion",
    "replace_with_fusion",
]
