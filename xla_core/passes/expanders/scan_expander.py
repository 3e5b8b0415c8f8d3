"""scan_expander: expands scans that are cumulative sums and the like to reduce-windows.

Legalization expands other scans to loops. (XLA: xla/service/scan_expander.h.)
"""

from __future__ import annotations

from xla_core.hlo.decompositions.scan import decompose_scan, is_cumulative
from xla_core.hlo.ir.builder import Builder
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.opcode import Opcode
from xla_core.passes.expanders.expander import OpExpander


class ScanExpander(OpExpander):
    """Rewrites the scans that are `is_cumulative`."""

    opcodes = frozenset({Opcode.SCAN})

    def matches(self, instruction: HloInstruction) -> bool:
        return is_cumulative(instruction)

    def expand(self, instruction: HloInstruction, b: Builder) -> HloInstruction:
        return decompose_scan(instruction, b)
