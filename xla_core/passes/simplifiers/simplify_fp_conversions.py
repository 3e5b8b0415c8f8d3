"""simplify_fp_conversions: removes pairs of float conversions that narrow and widen again.

(XLA: xla/service/simplify_fp_conversions.h.)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xla_core.hlo.builder import Builder
from xla_core.hlo.instruction import HloInstruction
from xla_core.hlo.opcode import Opcode
from xla_core.passes.rewriter import RewritePass, Rule


def _merge(i: HloInstruction, b: Builder) -> HloInstruction | None:
    x = i.operands[0]
    if x.opcode != Opcode.CONVERT:
        return None
    source = x.operands[0]
    if not all(v.shape.element_type.is_floating for v in (i, x, source)):
        return None
    return b.convert(source, i.shape)


class SimplifyFpConversions(RewritePass):
    """Rewrites convert(convert(x)) of floats to convert(x), even if the inner conversion rounds.

    Results gain precision and therefore change, so the pass is for programs that allow that, after types were widened
    for a target.
    """

    name = "simplify-fp-conversions"
    rules: Mapping[Opcode, Sequence[Rule]] = {Opcode.CONVERT: [_merge]}
