"""The pages of ops: one a file of the op tables, written when the site is built, from the tables.

`pages()` gives them all by their path within `docs/`. What a page says of an op is in its entry, in the source of its
rule and meaning, in its example, which is run here, and in what was measured (`docs/data`).
"""

from __future__ import annotations

import functools
import importlib
import inspect
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import FunctionType
from typing import Any

import numpy as np
from xla_conformance.accuracy import Row
from xla_conformance.accuracy.report import from_json

from xla_core import hlo, stablehlo
from xla_core.errors import XlaError
from xla_core.hlo import HloModule, OpDef, Trait
from xla_core.hlo.op_table import REQUIRED
from xla_core.passes import PASSES, OpExpander, create_pass
from xla_core.passes.legalization import DECOMPOSITIONS
from xla_core.stablehlo import OpReference, op_example, op_reference

__all__ = ["TITLES", "index", "pages"]

ROOT = Path(__file__).parents[1]
DATA = ROOT / "docs" / "data"
_SHOWN_REFUSALS = 40

TITLES: Mapping[str, str] = {
    "async_ops": "Asynchronous ops",
    "batch_norm": "Batch normalization",
    "broadcasts": "Broadcasts",
    "channels": "Infeed, outfeed, send, receive",
    "chlo": "CHLO, element by element",
    "chlo_structured": "CHLO: top_k, scan, ragged_dot",
    "collective_reductions": "Collectives that reduce",
    "collectives": "Collectives",
    "constants": "Constants",
    "contraction": "Dot products",
    "control_flow": "Control flow",
    "conversion": "Conversion of types",
    "convolution": "Convolution",
    "custom_calls": "Custom calls and composites",
    "data_movement": "Movement of data",
    "deprecated": "Deprecated ops",
    "device_ids": "Device ids",
    "dynamism": "Shapes as operands",
    "elementwise": "Elementwise ops",
    "gather": "Gather",
    "host_transfer": "Infeed, outfeed, send, receive",
    "indexing": "Gather and scatter",
    "linalg": "Linear algebra and Fourier transforms",
    "movement": "Movement of data",
    "quantization": "Quantization",
    "random": "Random numbers",
    "reduction": "Reductions, map, sort",
    "rng": "Random numbers",
    "scatter": "Scatter",
    "selection": "Comparison, select, clamp",
    "sharding": "Shardings",
    "slices": "Slices",
    "tuples": "Tuples",
    "sorting": "Sorting",
    "structure": "Parameters, constants, tuples, tokens",
    "window": "Windows",
}


def title(group: str) -> str:
    """A group's name in words."""
    return TITLES.get(group) or group.replace("_", " ").capitalize()


def pages() -> dict[str, str]:
    """Path within docs/ -> Markdown."""
    made = {}
    for group, dialect_ops in _groups(stablehlo.OPS).items():
        sections = [_dialect_section(op_reference(name)) for name in dialect_ops]
        made[f"ops/{group}.md"] = _page(title(group), f"xla_core.stablehlo.ops.{group}", sections)
    for group, opcodes in _groups(hlo.OPS).items():
        sections = [_hlo_section(hlo.OPS[name]) for name in opcodes]
        made[f"ops/hlo/{group}.md"] = _page(f"HLO: {title(group)}", f"xla_core.hlo.ops.{group}", sections)
    return made


def _groups(table: Mapping[str, Any]) -> dict[str, list[str]]:
    groups: dict[str, list[str]] = {}
    for name, op in table.items():
        groups.setdefault(op.group, []).append(name)
    return dict(sorted(groups.items(), key=lambda item: title(item[0])))


def index() -> str:
    """What `ops/index.md` lists."""
    parts = ["## StableHLO and CHLO"]
    for group, names in _groups(stablehlo.OPS).items():
        rows = [(f"[`{n}`]({group}.md#{n})", stablehlo.OPS[n].doc) for n in names]
        parts += [f"### [{title(group)}]({group}.md)", _table(("op", "meaning"), rows)]
    parts.append("## HLO")
    for group, names in _groups(hlo.OPS).items():
        rows = [(f"[`{n}`](hlo/{group}.md#{n})", hlo.OPS[n].doc) for n in names]
        parts += [f"### [{title(group)}](hlo/{group}.md)", _table(("op", "meaning"), rows)]
    return "\n\n".join(parts)


def _page(title: str, module: str, sections: Iterable[str]) -> str:
    documented = inspect.getdoc(importlib.import_module(module)) or ""
    return "\n\n".join([f"# {title}", documented, *sections]) + "\n"


# -- StableHLO ---------------------------------------------------------------------------------------------------------


def _dialect_section(op: OpReference) -> str:
    parts = [f"## {op.name} {{ #{op.name} }}", op.doc, _fenced("mlir", op.syntax)]
    for head, rows in (("operand", op.operands), ("result", op.results)):
        if rows:
            named = [(f"`{name}`", "; ".join(filter(None, (types, how)))) for name, how, types in rows]
            parts.append(_table((head, "type"), named))
    if op.attributes:
        parts.append(_table(("attribute", "kind", ""), [(f"`{n}`", kind, text) for n, kind, text in op.attributes]))
    notes = []
    if op.regions:
        notes.append(f"Regions: {op.regions}.")
    if op.traits:
        notes.append(f"Traits: {', '.join(op.traits)}.")
    if notes:
        parts.append(" ".join(notes))
    if op.agreements:
        parts.append("In common:\n\n" + "\n".join(f"- {text}" for text in op.agreements))
    if op.refused:
        messages = "\n".join(f"- `{m}`" for m in op.refused[:_SHOWN_REFUSALS])
        parts.append(f"The verifier refuses, besides wrong operands and attributes:\n\n{messages}")
    parts += ["**Example**", _fenced("mlir", op.example)]
    values = _values(op)
    if values:
        parts.append(_fenced("text", values))
    parts += list(_becomes(op))
    parts += list(_evaluators(op))
    parts += list(_measured(op.name, _opcodes(op.hlo)))
    parts.append(_tests(op.name))
    return "\n\n".join(parts)


def _becomes(op: OpReference) -> Iterator[str]:
    lowered = f"Becomes {_linked(op.lowering)}" if op.lowering else "Becomes HLO."
    yield lowered if lowered.endswith(".") else lowered + "."
    if op.hlo is not None:
        text = re.sub(r", metadata=\{[^}]*\}", "", op.hlo.to_text()).strip()
        yield _details("note", "The example in HLO", _fenced("text", text))


def _linked(text: str) -> str:
    """Opcodes as links to their pages."""

    def link(found: re.Match[str]) -> str:
        op = hlo.OPS.get(found[1])
        return f"[`{found[1]}`](hlo/{op.group}.md#{op.opcode})" if op is not None else found[0]

    return re.sub(r"`([\w-]+)`", link, text)


def _opcodes(module: HloModule | None) -> list[str]:
    """What an example is made of, apart from what only arranges values."""
    if module is None:
        return []
    found = [i for c in module.computations for i in c.instructions if Trait.NOP not in i.op.traits]
    return list(dict.fromkeys(i.opcode for i in found))


def _evaluators(op: OpReference) -> Iterator[str]:
    sources = [f"[`{o}`](hlo/{hlo.OPS[o].group}.md#{o})" for o in _opcodes(op.hlo)]
    places = [_place(f) for f in (op.lower,) if f is not None]
    text = f"Lowered in {', '.join(filter(None, places))}. " if any(places) else ""
    if sources:
        yield f"{text}Its example is evaluated by {', '.join(sources)}."
    elif text:
        yield text.strip()


def _values(op: OpReference) -> str:
    """What the example gives, by the reference evaluator: arguments, then results. "" for what needs a host."""
    example = op_example(op.name)
    if op.hlo is None or example.devices > 1 or example.infeed or example.is_random:
        return ""
    shapes = op.hlo.parameter_shapes
    given = [example_array(shape, number in example.positive) for number, shape in enumerate(shapes)]
    try:
        with np.errstate(all="ignore"):
            results = hlo.evaluate(op.hlo, *given)
    except XlaError:  # a custom call that only backends have
        return ""
    named = [(p.name, a) for p, a in zip(op.hlo.entry.parameters, given, strict=True)]
    lines = [f"{name} = {_array(a)}" for name, a in named]
    return "\n".join([*lines, *(f"-> {_array(np.asarray(r))}" for r in results)])


def example_array(shape: Any, positive: bool) -> np.ndarray:
    """Small numbers, different ones for each element."""
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


# -- HLO ---------------------------------------------------------------------------------------------------------------


def _hlo_section(op: OpDef) -> str:
    least, most = (op.arity, op.arity) if isinstance(op.arity, int) else op.arity
    operands = str(least) if least == most else f"{least} or more" if most is None else f"{least} to {most}"
    parts = [f"## {op.opcode} {{ #{op.opcode} }}", op.doc, f"Operands: {operands}."]
    if op.attributes:
        rows = [
            (f"`{n}`", a.kind.value, "required" if a.default is REQUIRED else f"default `{a.default!r}`")
            for n, a in op.attributes.items()
        ]
        parts.append(_table(("attribute", "kind", ""), rows))
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
        place, source = _place(function), _source(function)
        if source:
            parts.append(_details("note", f"Its meaning: {place}", _fenced("python", source)))
    parts.append(_tests(op.opcode))
    return "\n\n".join(parts)


def _decompositions(opcode: str) -> Iterator[str]:
    yield from (f"the pass `{name}`" for name, opcodes in _expanders().items() if opcode in opcodes)
    if DECOMPOSITIONS.get(opcode):
        yield "legalization (" + ", ".join(filter(None, map(_place, DECOMPOSITIONS[opcode]))) + ")"


@functools.cache
def _expanders() -> dict[str, frozenset[str]]:
    made = {name: create_pass(name) for name in PASSES}
    return {name: frozenset(p.opcodes) for name, p in made.items() if isinstance(p, OpExpander)}


def _meaning(evaluate: Callable[..., Any]) -> Callable[..., Any]:
    """The function of arrays behind an entry that only hands arrays to it."""
    for cell in getattr(evaluate, "__closure__", None) or ():
        if isinstance(cell.cell_contents, FunctionType):
            return cell.cell_contents
    return evaluate


# -- what was measured -------------------------------------------------------------------------------------------------


def _measured(name: str, opcodes: Sequence[str]) -> Iterator[str]:
    support = {subject: cells for subject, ops in _support().items() if (cells := ops.get(name))}
    alike: dict[tuple[str, ...], list[str]] = {}
    for column in dict.fromkeys(c for cells in support.values() for c in cells):
        alike.setdefault(tuple(_MARKS[cells.get(column, "")] for cells in support.values()), []).append(column)
    if alike:
        rows = [(" ".join(f"`{c}`" for c in columns), *marks) for marks, columns in alike.items()]
        yield _table(("in these types", *support), rows)
    errors = [row for row in _accuracy() if _is_about(row, name)]
    for unit in dict.fromkeys(row.unit for row in errors):
        some = [row for row in errors if row.unit == unit]
        types = list(dict.fromkeys(row.element_type for row in some))
        cell = {(row.function, row.subject, row.element_type): row for row in some}
        lines = [
            (f, s, *(_error(cell.get((f, s, t))) for t in types))
            for f, s in dict.fromkeys((row.function, row.subject) for row in some)
        ]
        yield f"Largest error, in {unit} ([how it is measured](../accuracy.md)):\n\n" + _table(
            ("function", "", *(f"`{t}`" for t in types)), lines
        )


def _is_about(row: Row, name: str) -> bool:
    """Whether what was measured is this op: by its name, or by the group or first word of several forms of it."""
    op, function = name.rpartition(".")[2], row.function.replace("-", "_")
    if op in ("fft", "convert"):
        return row.group == op
    first = re.split(r"[ ,]", function)[0]
    return (
        op == function
        or (op in ("reduce", "reduce_window") and first == op)
        or (op == "dot_general" and first == "dot")
    )


def _error(row: Row | None) -> str:
    return "" if row is None else f"{row.measured.error:.3g}" if row.measured is not None else "–"


_MARKS = {"pass": "✓", "unsupported": "not supported", "wrong": "**wrong**", "error": "**error**", "": ""}


@functools.cache
def _support() -> dict[str, dict[str, dict[str, str]]]:
    """Subject -> op -> element type -> state."""
    found = [json.loads(f.read_text()) for f in (DATA / "support").glob("*.json")]
    return {d["subject"]: d["ops"] for d in sorted(found, key=lambda d: (d["subject"] != "evaluator", d["subject"]))}


@functools.cache
def _accuracy() -> list[Row]:
    files = sorted((DATA / "accuracy").glob("*/accuracy.json"))
    return [row for file in files for row in from_json(json.loads(file.read_text()))]


# -- places ------------------------------------------------------------------------------------------------------------


@functools.cache
def _mentions() -> dict[str, list[str]]:
    """Op -> test files that have it: StableHLO's ops by full name, HLO's as an opcode of HLO text or in quotes."""
    found: dict[str, list[str]] = {}
    opcodes = re.compile(r"(?<![\w.-])(" + "|".join(sorted(map(re.escape, hlo.OPS), key=len, reverse=True)) + r")[(\"]")
    for file in sorted([*(ROOT / "tests").rglob("*.py"), *(ROOT / "conformance").rglob("*.hlo")]):
        text = file.read_text()
        names = {n for n in re.findall(r"(?:stablehlo|chlo)\.[\w-]*\w", text) if n in stablehlo.OPS}
        for name in names | set(opcodes.findall(text)):
            found.setdefault(name, []).append(file.relative_to(ROOT).as_posix())
    return found


def _tests(name: str) -> str:
    always = "tests/xla_core/stablehlo/test_op_examples.py" if name in stablehlo.OPS else "tests/xla_core/hlo"
    files = list(dict.fromkeys([always, *_mentions().get(name, [])]))
    shown = ", ".join(f"`{f}`" for f in files[:8])
    more = f" and {len(files) - 8} more" if len(files) > 8 else ""
    return f"Tests: {shown}{more}."


def _place(function: Callable[..., Any]) -> str:
    """`xla_core/hlo/ops/movement.py:120`; "" for what has no source of ours."""
    try:
        file = Path(inspect.getsourcefile(function) or "").resolve()
        line = inspect.getsourcelines(function)[1]
        return f"`{file.relative_to(ROOT).as_posix()}:{line}`"
    except (OSError, TypeError, ValueError):
        return ""


def _source(function: Callable[..., Any]) -> str:
    try:
        return inspect.cleandoc("\n" + inspect.getsource(function))
    except (OSError, TypeError):
        return ""


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *([cell.replace("|", "\\|") for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def _fenced(language: str, text: str) -> str:
    return f"```{language}\n{text.strip()}\n```"


def _details(kind: str, title: str, body: str) -> str:
    """Folded away until it is asked for."""
    indented = "\n".join(f"    {line}" if line else "" for line in body.splitlines())
    quoted = title.replace('"', "'")
    return f'??? {kind} "{quoted}"\n\n{indented}'
