"""TargetConfig: everything that the compiler knows of a target."""

from __future__ import annotations

import hashlib

from pydantic import Field

from xla_core.checked_model import CheckedModel
from xla_core.hlo.instruction import HloInstruction
from xla_core.hlo.shape import Shape
from xla_core.target.capabilities import Capabilities, Support
from xla_core.target.device import DeviceDescription, MemorySpace
from xla_core.target.fusion import FusionPreferences
from xla_core.target.layout_rules import LayoutRules, array_size_bytes
from xla_core.target.parallel import ParallelModel

__all__ = ["AlignmentRules", "TargetConfig"]


class AlignmentRules(CheckedModel):
    """Bytes. `buffer`: of each value within an arena; `allocation`: of memory that the runtime supplies; `size`: what
    an array's size is rounded up to.
    """

    buffer: int = Field(default=64, ge=1)
    allocation: int = Field(default=64, ge=1)
    size: int = Field(default=1, ge=1)


class TargetConfig(CheckedModel):
    """What is compiled for, as data; nothing here needs the device. Frozen.

    Attributes:
        name: the platform's name.
        triple: of the code generator (LLVM's, say), where there is one.
        device: figures of the device that is compiled for.
        capabilities: what it computes.
        layouts, alignment, memory_spaces: how values lie in its memory.
        fusion: what may be fused, and the costs that decide whether it is.
        parallel: when more than one thread is worth it.
        features: of the processor, by name; part of the fingerprint.
    """

    name: str
    triple: str = ""
    device: DeviceDescription = DeviceDescription(name="unknown")
    capabilities: Capabilities = Capabilities()
    layouts: LayoutRules = LayoutRules()
    alignment: AlignmentRules = AlignmentRules()
    memory_spaces: tuple[MemorySpace, ...] = (MemorySpace(number=0, name="device"),)
    fusion: FusionPreferences = FusionPreferences()
    parallel: ParallelModel = ParallelModel()
    features: tuple[str, ...] = ()

    def supports(self, instruction: HloInstruction) -> Support:
        """Whether the target runs `instruction`, or why not."""
        return self.capabilities.supports(instruction)

    def shape_size_bytes(self, shape: Shape) -> int:
        """Bytes of an array of `shape`, or of all leaves of a tuple: padding, tiles and packing included."""
        unit = self.alignment.size
        total = 0
        for leaf in shape.leaves():
            total += -(-array_size_bytes(self.layouts.with_layout(leaf)) // unit) * unit
        return total

    def fingerprint(self) -> str:
        """A digest of what compiled code depends on."""
        parts = (self.name, self.triple, self.features, self.device.model_dump_json(), self.alignment.model_dump_json())
        return hashlib.sha256(repr(parts).encode()).hexdigest()[:16]
