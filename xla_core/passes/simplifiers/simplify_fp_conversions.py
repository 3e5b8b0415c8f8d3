"""simplify_fp_conversions: a float that is narrowed and widened again keeps its precision. (XLA:
xla/service/simplify_fp_conversions.h.)
"""

from __future__ import annotations

from xla_core.hlo.instruction import HloInstruction
from xla_core.hlo.module import HloModule
from xla_core.hlo.opcode import Opcode
from xla_core.passes.pass_manager import HloPass
from xla_core.passes.rewriter import Builder, Rewriter

__all__ = ["SimplifyFpConversions"]


class SimplifyFpConversions(HloPass):
    """convert(convert(x)) of floats -> convert(x), also where the first loses bits.

    Results gain precision, and so change: for programs that allow it, after types were widened for a target.
    """

    name = "simplify-fp-conversions"

    def run(self, module: HloModule) -> bool:
        changed = False
        for computation in module.post_order():
            changed |= Rewriter(computation, {Opcode.CONVERT: [_merge]}).run()
        return changed


def _merge(i: HloInstruction, b: Builder) -> HloInstruction | None:
    x = i.operands[0]
    if x.opcode != Opcode.CONVERT or i.shape.dynamic_dimensions:
        return None
    source = x.operands[0]
    if not all(v.shape.element_type.is_floating for v in (i, x, source)):
        return None
    return b.convert(source, i.shape)
