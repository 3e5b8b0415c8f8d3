"""convert_mover: moves conversions so that data is moved in the narrower type (XLA: xla/service/convert_mover.h)."""

from __future__ import annotations

from collections.abc import Callable

from xla_core.hlo.instruction import HloInstruction
from xla_core.hlo.module import HloModule
from xla_core.hlo.op_table import OPS
from xla_core.hlo.opcode import Opcode
from xla_core.passes.pass_manager import HloPass
from xla_core.passes.patterns import is_dynamic, is_one_use
from xla_core.passes.rewriter import Builder, Rewriter, Rule

__all__ = ["ConvertMover"]


class ConvertMover(HloPass):
    """Rewrites move(widen(x)) to widen(move(x)) and narrow(move(x)) to move(narrow(x)), also for concatenates."""

    name = "convert-mover"

    def __init__(self, accept: Callable[[HloInstruction], bool] | None = None) -> None:
        """`accept` decides whether an instruction may be added; None accepts all."""
        self._accept = accept

    def run(self, module: HloModule) -> bool:
        moves: dict[Opcode | None, list[Rule]] = {op.opcode: [_widen_later] for op in OPS.values() if op.rearranges}
        del moves[Opcode.BROADCAST]  # its operand is smaller than its result, so that the conversion stays before it
        rules = moves | {Opcode.CONCATENATE: [_widen_concatenated], Opcode.CONVERT: [_narrow_earlier]}
        changed = False
        for computation in module.post_order():
            changed |= Rewriter(computation, rules, accept=self._accept, skip=is_dynamic).run()
        return changed


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
    return b.convert(b.add(Opcode.CONCATENATE, *sources, dimensions=i.attributes["dimensions"]), i.shape)


def _narrow_earlier(i: HloInstruction, b: Builder) -> HloInstruction | None:
    x = i.operands[0]
    if not x.op.rearranges or not is_one_use(x) or not _is_wider(x, i):
        return None
    return b.clone(x, [b.convert(x.operands[0], i.shape)], shape=i.shape.without_layout())
