"""Domains of elementwise ops, made from the op table: arity and shape rule say which operands an op takes.

`ops/elementwise.py` has the cases of their values.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xla_conformance.ops.choices import Choice
from xla_conformance.ops.comparison import rule_for
from xla_conformance.ops.domain import domain
from xla_conformance.ops.domains.movement import RANKS
from xla_conformance.ops.program import Program
from xla_conformance.ops.sizes import SIZES, dimensions
from xla_conformance.ops.values import moderate, special
from xla_core.hlo import OPS, HloInstruction, Opcode, OpDef

_OF_THEIR_OWN = {Opcode.MAP, Opcode.COPY, Opcode.CONVERT, Opcode.BITCAST_CONVERT, Opcode.COMPARE, Opcode.SELECT}
_OF_THEIR_OWN |= {Opcode.CLAMP, Opcode.REDUCE_PRECISION, Opcode.STOCHASTIC_CONVERT}

_TOGETHER = 4097


def _define(op: OpDef) -> None:
    names = [name for name in op.attributes if name == "result_accuracy"]
    axes: dict[str, Any] = dict.fromkeys(names, (None, "{mode=highest}", "{mode=default}"))

    @domain(op.opcode, rank=RANKS, pairs=False, rule=lambda t: rule_for(op, t), **axes)
    def _elementwise(p: Program, c: Choice) -> HloInstruction:
        assert isinstance(op.arity, int)
        fill = moderate if p.type.is_complex else special
        attributes = {name: getattr(c, name) for name in names}
        results = []
        for size in _alike(c.size):
            sizes = dimensions(c.rank, size, c.place)
            operands = [p.parameter(sizes, fill=fill) for _ in range(op.arity)]
            results.append(p.add(op.opcode, *operands, **attributes))
        return results[0] if len(results) == 1 else p.add(Opcode.TUPLE, *results)


def _alike(size: int) -> Sequence[int]:
    """Returns the size and its neighbours in its group, each of which an instruction of the module has."""
    group = next((g for g in SIZES if size in g), (size,))
    return [n for n in group if abs(n - size) <= 2] if size <= _TOGETHER else (size,)


for _op in OPS.values():
    if _op.is_elementwise and isinstance(_op.arity, int) and _op.opcode not in _OF_THEIR_OWN:
        _define(_op)
