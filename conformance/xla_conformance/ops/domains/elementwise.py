"""Domains of elementwise ops, made from the op table: arity and shape rule say which operands an op takes.

`ops/elementwise.py` has the cases of their values.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from xla_conformance.ops.choices import Choice, Group
from xla_conformance.ops.comparison import EXACT, rule_for
from xla_conformance.ops.domain import domain
from xla_conformance.ops.domains.movement import RANKS
from xla_conformance.ops.program import Program
from xla_conformance.ops.sizes import HIDING, PLACES, SIZES, dimensions
from xla_conformance.ops.values import moderate, special
from xla_core.hlo import OPS, ElementType, HloInstruction, Opcode, OpDef

_OF_THEIR_OWN = {Opcode.MAP, Opcode.COPY, Opcode.CONVERT, Opcode.BITCAST_CONVERT, Opcode.COMPARE, Opcode.SELECT}
_OF_THEIR_OWN |= {Opcode.CLAMP, Opcode.REDUCE_PRECISION, Opcode.STOCHASTIC_CONVERT}

_DIVISORS = (3, 7, 10, 25, 100, 127, 641, 1000, 65535, 1_000_003, 0x7FFF_FFFF, 6_700_417_000_003)
"""Divisors that compilers replace with multiplications, by other constants and shifts for each."""


def _define(op: OpDef) -> None:
    names = [name for name in op.attributes if name == "result_accuracy"]

    @domain(op.opcode, turn=(Group(*range(_TURNS)),), sizes=(), places=(), pairs=False, rule=lambda t: rule_for(op, t))
    def _elementwise(p: Program, c: Choice) -> HloInstruction:
        """An instruction for each group of sizes, scalars and empty arrays; ranks, places, accuracies take turns."""
        assert isinstance(op.arity, int)
        fill = moderate if p.type.is_complex else special
        results = []
        for number, sizes in enumerate(_shapes(c.turn), c.turn):
            attributes: dict[str, Any] = {name: _ACCURACIES[number % len(_ACCURACIES)] for name in names}
            operands = [p.parameter(sizes, fill=fill) for _ in range(op.arity)]
            results.append(p.add(op.opcode, *operands, **attributes))
        return p.add(Opcode.TUPLE, *results)


_ACCURACIES = (None, "{mode=highest}", "{mode=default}")
_MOST = 1 << 13
_LONGEST = max(map(len, SIZES))
_TURNS = len(RANKS) * _LONGEST
"""After so many, each size was there with each rank, and at each place among the others."""


def _shapes(turn: int) -> Iterator[tuple[int, ...]]:
    """Yields dimensions of each group of sizes and of each rank. `ops/elementwise.py` has large arrays of each type."""
    yield ()
    sizes = SIZES if turn % len(RANKS) == 0 else SIZES[:-1]
    for number, group in enumerate((HIDING[:1], HIDING[1:], *sizes)):
        member, rank = turn % len(group), RANKS[(turn // _LONGEST + number) % len(RANKS)]
        size, place = group[member], PLACES[(member + rank) % len(PLACES)]
        if place == "every" and size**rank > _MOST:
            place = "minor"
        yield dimensions(rank, size, "every" if size == 1 else place, _MOST)


for _op in OPS.values():
    if _op.is_elementwise and isinstance(_op.arity, int) and _op.opcode not in _OF_THEIR_OWN:
        _define(_op)


def _define_division(opcode: Opcode, *, signed: bool) -> None:
    types = [t for t in ElementType if t.is_integral and t.bit_width >= 8 and t.is_signed == signed]

    @domain(
        opcode,
        variant=f"by-constants-{'signed' if signed else 'unsigned'}",
        types=types,
        sizes=(300,),
        places=("every",),
        rule=EXACT,
    )
    def _by_constants(p: Program, c: Choice) -> HloInstruction:
        x = p.parameter((c.size,), fill=special)
        divisors = [d for d in _DIVISORS if d < 1 << (p.type.bit_width - signed)]
        results = []
        for divisor in (*divisors, *(-d for d in divisors if signed)):
            constant = p.entry.constant(np.asarray(divisor).astype(x.shape.dtype))
            wide = p.add(Opcode.BROADCAST, constant, shape=x.shape, dimensions=())
            results.append(p.add(opcode, x, wide))
        return p.add(Opcode.TUPLE, *results)


for _opcode in (Opcode.DIVIDE, Opcode.REMAINDER):
    for _signed in (True, False):
        _define_division(_opcode, signed=_signed)
