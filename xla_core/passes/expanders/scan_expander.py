"""scan_expander: expands scan to a while loop over slices."""

from __future__ import annotations

from xla_core.hlo.builder import Builder
from xla_core.hlo.decompositions.scan import decompose_scan
from xla_core.hlo.instruction import HloInstruction
from xla_core.hlo.opcode import Opcode
from xla_core.passes.expanders.expander import OpExpander


class ScanExpander(OpExpander):
    """Expands scan to a loop with one iteration for each element of the scanned dimension."""

    name = "scan-expander"
    opcodes = frozenset({Opcode.SCAN})

    def expand(self, instruction: HloInstruction, b: Builder) -> HloInstruction:
        return decompose_scan(instruction, b)
