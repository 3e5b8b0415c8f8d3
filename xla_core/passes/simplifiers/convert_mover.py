"""convert_mover: moves conversions so that data is moved in the narrower type (XLA: xla/service/convert_mover.h)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xla_core.hlo.ir.builder import Builder
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.op_table import OPS
from xla_core.hlo.table.opcode import Opcode
from xla_core.passes.patterns import is_one_use
from xla_core.passes.rewriter import RewritePass, Rule


def _is_wider(wide: HloInstruction, narrow: HloInstruction) -> bool:
    return wide.shape.element_type.bit_width > narrow.shape.element_type.bit_width


def _widen_later(i: HloInstruction, b: Builder) -> HloInstruction | None:
    x = i.operands[0]
    if x.opcode != Opcode.CONVERT or not is_one_use(x) or not _is_wider(x, x.operands[0]):
        return None
    source = x.operands[0]
    shape = source.shape.with_dimensions(i.shape.dimensions)
    return b.convert(b.clone(i, [source], shape=shape), i.shape)


def _widen_concatenated(i: HloInstruction, b: Builder) -> HloInstruction | None:
    first = i.operands[0]
    for x in i.operands:
        if x.opcode != Opcode.CONVERT or not is_one_use(x) or not _is_wider(x, x.operands[0]):
            return None
        if x.operands[0].shape.element_type is not first.operands[0].shape.element_type:
            return None
    sources = [x.operands[0] for x in i.operands]
    return b.convert(b.add(Opcode.CONCATENATE, *sources, dimensions=i.attribute("dimensions")), i.shape)


def _narrow_earlier(i: HloInstruction, b: Builder) -> HloInstruction | None:
    x = i.operands[0]
    if not x.op.rearranges or not is_one_use(x) or not _is_wider(x, i):
        return None
    return b.clone(x, [b.convert(x.operands[0], i.shape)], shape=i.shape.without_layout())


class ConvertMover(RewritePass):
    """Rewrites move(widen(x)) to widen(move(x)) and narrow(move(x)) to move(narrow(x)), also for concatenates."""

    rules: Mapping[Opcode, Sequence[Rule]] = {
        # The operand of a broadcast is smaller than its result, so that the conversion stays before it.
        **{op.opcode: [_widen_later] for op in OPS.values() if op.rearranges and op.opcode != Opcode.BROADCAST},
        Opcode.CONCATENATE: [_widen_concatenated],
        Opcode.CONVERT: [_narrow_earlier],
    }
