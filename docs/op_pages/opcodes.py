"""Describes an op of HLO."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from types import FunctionType
from typing import Any

from xla_core.hlo import OpDef, Trait
from xla_core.hlo.table.op_table import REQUIRED
from xla_core.passes import PASSES, OpExpander, create_pass
from xla_core.passes.legalization import decompositions_of

from .markdown import details, fenced, table
from .places import place_of, source_of, tests_of

__all__ = ["hlo_section"]


def hlo_section(op: OpDef) -> str:
    least, most = (op.arity, op.arity) if isinstance(op.arity, int) else op.arity
    operands = str(least) if least == most else f"{least} or more" if most is None else f"{least} to {most}"
    parts = [f"## {op.opcode} {{ #{op.opcode} }}", op.doc, f"Operands: {operands}."]
    if op.attributes:
        rows = [
            (f"`{n}`", a.kind.value, "required" if a.default is REQUIRED else f"default `{a.default!r}`")
            for n, a in op.attributes.items()
        ]
        parts.append(table(("attribute", "kind", ""), rows))
    traits = sorted(t.name.lower().replace("_", " ") for t in op.traits)
    if traits:
        parts.append(f"Traits: {', '.join(traits)}.")
    ways = list(_decompositions(op.opcode))
    if ways:
        parts.append(f"A target that lacks it has it written out by {', '.join(ways)}.")
    elif Trait.PRIMITIVE in op.traits:
        parts.append("It is a primitive: what a target lacks is written out in ops such as this.")
    if op.evaluate is not None:
        function = _meaning(op.evaluate)
        place, source = place_of(function), source_of(function)
        if source:
            parts.append(details("note", f"Its meaning: {place}", fenced("python", source)))
    parts.append(tests_of(op.opcode))
    return "\n\n".join(parts)


def _decompositions(opcode: str) -> Iterator[str]:
    yield from (f"the pass `{name}`" for name, opcodes in _expanders().items() if opcode in opcodes)
    rules = decompositions_of(opcode)
    if rules:
        yield "legalization (" + ", ".join(filter(None, map(place_of, rules))) + ")"


@functools.cache
def _expanders() -> dict[str, frozenset[str]]:
    made = {name: create_pass(name) for name in PASSES}
    return {name: frozenset(p.opcodes) for name, p in made.items() if isinstance(p, OpExpander)}


def _meaning(evaluate: Callable[..., Any]) -> Callable[..., Any]:
    """Returns the function of arrays that an entry's evaluation calls, if it does nothing else."""
    for cell in getattr(evaluate, "__closure__", None) or ():
        if isinstance(cell.cell_contents, FunctionType):
            return cell.cell_contents
    return evaluate
