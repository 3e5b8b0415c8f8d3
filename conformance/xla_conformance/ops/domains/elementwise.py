"""Domains of elementwise ops, made from the op table: arity and shape rule say which operands an op takes."""

from __future__ import annotations

from typing import Any

from xla_conformance.ops.choices import Choice
from xla_conformance.ops.comparison import rule_for
from xla_conformance.ops.domain import domain
from xla_conformance.ops.domains.movement import RANKS
from xla_conformance.ops.program import Program
from xla_conformance.ops.sizes import dimensions
from xla_conformance.ops.values import moderate, special
from xla_core.hlo import OPS, HloInstruction, Opcode, OpDef

_OF_THEIR_OWN = {Opcode.MAP, Opcode.COPY, Opcode.CONVERT, Opcode.BITCAST_CONVERT, Opcode.COMPARE, Opcode.SELECT}
_OF_THEIR_OWN |= {Opcode.CLAMP, Opcode.REDUCE_PRECISION, Opcode.STOCHASTIC_CONVERT}


def _define(op: OpDef) -> None:
    names = [name for name in op.attributes if name == "result_accuracy"]
    axes: dict[str, Any] = dict.fromkeys(names, (None, "{mode=highest}", "{mode=default}"))

    @domain(op.opcode, rank=RANKS, pairs=False, rule=lambda element_type: rule_for(op, element_type), **axes)
    def _elementwise(p: Program, c: Choice) -> HloInstruction:
        assert isinstance(op.arity, int)
        sizes = dimensions(c.rank, c.size, c.place)
        fill = moderate if p.type.is_complex else special
        attributes = {name: getattr(c, name) for name in names}
        return p.add(op.opcode, *(p.parameter(sizes, fill=fill) for _ in range(op.arity)), **attributes)


for _op in OPS.values():
    if _op.is_elementwise and isinstance(_op.arity, int) and _op.opcode not in _OF_THEIR_OWN:
        _define(_op)
