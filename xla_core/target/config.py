"""TargetConfig: everything that the compiler knows of a target."""

from __future__ import annotations

import dataclasses
import enum
import functools
import hashlib
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, Field

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
        """A digest of what compiled code depends on: all fields but `fusion`, which decides only how fast it is.

        Functions among them (constraints, layout rules) count by their names and what they close over.
        """
        fields = {name: getattr(self, name) for name in TargetConfig.model_fields if name != "fusion"}
        return hashlib.sha256(_stable_text(fields).encode()).hexdigest()[:16]


@functools.lru_cache(maxsize=64)
def _stable_set(values: frozenset[Any]) -> str:
    """Most ops of a table have the same set of element types."""
    return "<" + ",".join(sorted(map(_stable_text, values))) + ">"


def _stable_text(value: Any) -> str:
    """The same text for equal values, in any process."""
    if isinstance(value, BaseModel):
        value = {name: getattr(value, name) for name in type(value).model_fields}
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        value = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return "{" + ",".join(sorted(f"{_stable_text(k)}:{_stable_text(v)}" for k, v in value.items())) + "}"
    if isinstance(value, (tuple, list)):
        return "[" + ",".join(map(_stable_text, value)) + "]"
    if isinstance(value, frozenset):
        return _stable_set(value)
    if isinstance(value, enum.Enum):
        return f"{type(value).__name__}.{value.name}"
    if isinstance(value, functools.partial):
        return _stable_text((value.func, value.args, value.keywords))
    if callable(value):
        cells = [cell.cell_contents for cell in getattr(value, "__closure__", None) or ()]
        name = f"{getattr(value, '__module__', '')}.{getattr(value, '__qualname__', type(value).__qualname__)}"
        return name + (_stable_text(cells) if cells else "")
    return repr(value) if value is None or isinstance(value, (str, bytes, int, float)) else type(value).__qualname__
