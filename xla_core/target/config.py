"""TargetConfig: all data that the compiler has about a target."""

from __future__ import annotations

import hashlib

from pydantic import Field

from xla_core.checked_model import CheckedModel
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.values.shape import Shape
from xla_core.sizes import round_up
from xla_core.target.capabilities import Capabilities
from xla_core.target.device import DeviceDescription, MemorySpace
from xla_core.target.fusion import FusionPreferences
from xla_core.target.host import HostCosts
from xla_core.target.layout_rules import LayoutRules, array_size_bytes, is_plain
from xla_core.target.parallel import ParallelModel
from xla_core.target.stable_text import stable_text
from xla_core.target.support import Lack, Support, Unsupported


class AlignmentRules(CheckedModel):
    """Alignments in bytes.

    Attributes:
        buffer: alignment of each value within an arena.
        allocation: alignment of the memory that the runtime supplies.
        size: the size of an array is rounded up to a multiple of it.
    """

    buffer: int = Field(default=64, ge=1)
    allocation: int = Field(default=64, ge=1)
    size: int = Field(default=1, ge=1)


class TargetConfig(CheckedModel):
    """The target of a compilation, as immutable data; a module can be compiled without the device.

    Attributes:
        name: the platform's name.
        triple: the target triple of the code generator (of LLVM, for example), or "".
        device: figures of the device.
        capabilities: the instructions that the device runs.
        layouts, alignment, memory_spaces: how arrays are stored in the device's memory.
        fusion: the limits and costs by which instructions are fused.
        parallel: how work is divided among threads.
        host: the costs of running parts of a program on the host, with fallback="host".
        features: names of the processor's features; they are part of the fingerprint.
        flushes_products: whether products of matrices and convolutions may read and write zeros in place of denormals.
        reorders_sums: whether two runs of a program may add floats in another order.
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
    host: HostCosts = HostCosts()
    features: tuple[str, ...] = ()
    flushes_products: bool = False
    reorders_sums: bool = False

    def supports(self, instruction: HloInstruction) -> Support:
        """Whether the target runs `instruction`, or why not."""
        if instruction.opcode == Opcode.RESHAPE and Opcode.RESHAPE not in self.capabilities.ops:
            shapes = map(self.layouts.with_layout, (instruction.operand(0).shape, instruction.shape))
            if not all(map(is_plain, shapes)):  # in row-major order the core runs it
                lack = Lack(Opcode.RESHAPE, instruction.shape.element_type)
                return Unsupported("there is no reshape of arrays in tiles or in another order", (lack,))
        answer = self.capabilities.check(instruction)
        if isinstance(answer, Unsupported) and instruction.opcode == Opcode.CONVERT:
            return self._explained(answer, instruction)
        return answer

    def _explained(self, answer: Unsupported, convert: HloInstruction) -> Unsupported:
        """Names the layout as a reason where the core would read arrays in words of s32 if they had no tiles."""
        lacking = {lack.element_type for lack in answer.lacks if lack.opcode == Opcode.CONVERT}
        in_words = lacking & self.capabilities.word_types
        for shape in map(self.layouts.with_layout, (convert.operand(0).shape, convert.shape)):
            if shape.element_type in in_words and shape.layout is not None and shape.layout.tiles:
                what = "its arrays are read as words of s32 where their layout has no tiles"
                return Unsupported(f"{answer.reason}; {what}", answer.lacks)
        return answer

    def shape_size_bytes(self, shape: Shape) -> int:
        """Bytes of an array of `shape`, or of all leaves of a tuple, with padding, tiles and packing."""
        unit = self.alignment.size
        total = 0
        for leaf in shape.leaves():
            total += round_up(array_size_bytes(self.layouts.with_layout(leaf)), unit)
        return total

    def fingerprint(self) -> str:
        """A digest of the fields that compiled code depends on. What changes only the speed is left out.

        That is `fusion`, `host`, and how much a device runs at once: `parallel.units` and `parallel.resident_threads`.

        Functions in the fields (constraints, layout rules) contribute their names, their default arguments, the values
        that they close over, and the objects whose methods they are.
        """
        fields = {name: getattr(self, name) for name in TargetConfig.model_fields if name not in ("fusion", "host")}
        fields["parallel"] = self.parallel.model_copy(update={"units": 1, "resident_threads": 0})
        return hashlib.sha256(stable_text(fields).encode()).hexdigest()[:16]
