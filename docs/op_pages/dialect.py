"""Describes an op of StableHLO or CHLO."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np

from xla_core import hlo
from xla_core.errors import XlaError
from xla_core.hlo import HloModule, Trait
from xla_core.stablehlo import OpReference, op_example

from .markdown import details, fenced, table
from .measured import measured
from .places import place_of, tests_of

__all__ = ["dialect_section"]


def dialect_section(op: OpReference) -> str:
    parts = [f"## {op.name} {{ #{op.name} }}", op.doc, fenced("mlir", op.syntax)]
    for head, rows in (("operand", op.operands), ("result", op.results)):
        if rows:
            named = [(f"`{name}`", "; ".join(filter(None, (types, how)))) for name, how, types in rows]
            parts.append(table((head, "type"), named))
    if op.attributes:
        parts.append(table(("attribute", "kind", ""), [(f"`{n}`", kind, text) for n, kind, text in op.attributes]))
    notes = []
    if op.regions:
        notes.append(f"Regions: {op.regions}.")
    if op.traits:
        notes.append(f"Traits: {', '.join(op.traits)}.")
    if notes:
        parts.append(" ".join(notes))
    if op.type_traits:
        parts.append("Type traits:\n\n" + "\n".join(f"- {text}" for text in op.type_traits))
    parts += ["**Example**", fenced("mlir", op.example)]
    values = _values(op)
    if values:
        parts.append(fenced("text", values))
        if op_example(op.name).is_random:
            parts.append(_RANDOM)
    parts += list(_becomes(op))
    parts += list(_evaluators(op))
    parts += list(measured(op.name, _opcodes(op.hlo)))
    parts.append(tests_of(op.name))
    return "\n\n".join(parts)


_RANDOM = (
    "These are the numbers of one run on the reference evaluator; every backend, and every run, draws its own. So "
    "`xla run --check` compares only types and sizes of what depends on them, and says that it is not comparable."
)


def _becomes(op: OpReference) -> Iterator[str]:
    lowered = f"Becomes {_linked(op.lowering)}" if op.lowering else "Becomes HLO."
    yield lowered if lowered.endswith(".") else lowered + "."
    if op.hlo is not None:
        text = re.sub(r", metadata=\{[^}]*\}", "", op.hlo.to_text()).strip()
        yield details("note", "The example in HLO", fenced("text", text))


def _linked(text: str) -> str:
    """Opcodes as links to their pages."""

    def link(found: re.Match[str]) -> str:
        op = hlo.OPS.get(found[1])
        return f"[`{found[1]}`](hlo/{op.group}.md#{op.opcode})" if op is not None else found[0]

    return re.sub(r"`([\w-]+)`", link, text)


def _opcodes(module: HloModule | None) -> list[str]:
    """Returns the opcodes of an example, without those that only arrange values."""
    if module is None:
        return []
    found = [i for c in module.computations for i in c.instructions if Trait.NOP not in i.op.traits]
    return list(dict.fromkeys(i.opcode for i in found))


def _evaluators(op: OpReference) -> Iterator[str]:
    sources = [f"[`{o}`](hlo/{hlo.OPS[o].group}.md#{o})" for o in _opcodes(op.hlo)]
    places = [place_of(f) for f in (op.lower,) if f is not None]
    text = f"Lowered in {', '.join(filter(None, places))}. " if any(places) else ""
    if sources:
        yield f"{text}Its example is evaluated by {', '.join(sources)}."
    elif text:
        yield text.strip()


def _values(op: OpReference) -> str:
    """Prints the example's arguments, and its results by the reference evaluator. Empty if the example needs a host."""
    example = op_example(op.name)
    if op.hlo is None or example.devices > 1 or example.infeed:
        return ""
    shapes = op.hlo.parameter_shapes
    given = [example_array(shape, number in example.positive) for number, shape in enumerate(shapes)]
    try:
        with np.errstate(all="ignore"):
            results = hlo.evaluate(op.hlo, *given)
    except XlaError:  # a custom call that only backends define
        return ""
    named = [(p.name, a) for p, a in zip(op.hlo.entry.parameters, given, strict=True)]
    lines = [f"{name} = {_array(a)}" for name, a in named]
    return "\n".join([*lines, *(f"-> {_array(np.asarray(r))}" for r in results)])


def example_array(shape: Any, positive: bool) -> np.ndarray:
    """Makes an array of small numbers, different for each element."""
    count = np.arange(shape.num_elements) + 1
    values = count
    if shape.element_type.is_floating or shape.element_type.is_complex:
        values = count / 4 if positive else np.where(count % 2, -1, 1) * count / 4
    elif shape.dtype == np.bool_:
        values = count % 2
    return np.asarray(values).reshape(shape.dimensions).astype(shape.dtype)


def _array(array: np.ndarray) -> str:
    text = " ".join(np.array2string(array, precision=4, separator=", ", max_line_width=10_000).split())
    return re.sub(r"(?<=\[) | (?=[\],])", "", text)
