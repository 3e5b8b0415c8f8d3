"""Marks instructions that the host runs for a device (XLA: xla/side_effect_util.h, kXlaComputeTypeHost)."""

from __future__ import annotations

from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.opcode import Opcode

HOST_COMPUTE = ("_xla_compute_type", "host")
"""The frontend attribute of a fusion that the host runs as a whole. Such a fusion has the kind kCustom."""


def is_host_compute(instruction: HloInstruction) -> bool:
    """Whether an instruction is a fusion that the host runs. It may contain any instruction, control flow too."""
    return instruction.opcode == Opcode.FUSION and HOST_COMPUTE in instruction.attribute("frontend_attributes")
