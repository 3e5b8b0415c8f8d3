"""`xla ops`: prints entries of the op tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from xla_core.cli import output

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rich.console import Console

    from xla_core.hlo import OpDef
    from xla_core.stablehlo import OpReference


def ops(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="stablehlo.add, chlo.erf, add. Without it, lists all ops.")
    ] = None,
) -> None:
    """Print what an op of StableHLO, CHLO or HLO means, its operands and attributes, and its lowering."""
    from xla_core import hlo, stablehlo

    console = output.console()
    if name is None:
        _list(console)
        return
    dialects = [n for n in (name, f"stablehlo.{name}", f"chlo.{name}", f"func.{name}") if n in stablehlo.OPS]
    opcodes = [n for n in dict.fromkeys((name, name.replace("_", "-"))) if n in hlo.OPS]
    if not dialects and not opcodes:
        raise _unknown(name, [*stablehlo.OPS, *hlo.OPS])
    shown = [_dialect_op(stablehlo.op_reference(n)) for n in dialects] + [_hlo_op(hlo.lookup(n)) for n in opcodes]
    console.print("\n\n".join(shown), markup=False, soft_wrap=True)


def _unknown(name: str, known: list[str]) -> Exception:
    import difflib

    from xla_core.errors import NotFoundError

    bare = {n.rpartition(".")[2]: n for n in known}
    near = [bare[n] for n in difflib.get_close_matches(name.rpartition(".")[2], bare, 3)]
    hint = f"did you mean {', '.join(near)}?" if near else "`xla ops` lists all ops"
    return NotFoundError(f"there is no op {name!r}", hint=hint)


def _list(console: Console) -> None:
    from rich.table import Table

    from xla_core import hlo, stablehlo

    for title, entries in (
        ("StableHLO and CHLO", [(o.name, o.doc) for o in stablehlo.OPS.values()]),
        ("HLO", [(o.opcode, o.doc) for o in hlo.OPS.values()]),
    ):
        table = Table("op", "meaning", title=f"{title}: {len(entries)} ops", title_justify="left", box=None)
        for name, doc in entries:
            table.add_row(name, doc, end_section=False)
        console.print(table, markup=False)


def _dialect_op(op: OpReference) -> str:
    lines = [op.name, "", *_wrapped(op.doc), "", f"  {op.syntax}"]
    for title, rows in (("operands", op.operands), ("results", op.results), ("attributes", op.attributes)):
        lines += _section(title, rows)
    for structure, fields, known in op.structures:
        if fields:
            lines += ["", *_wrapped(f"{structure}: {', '.join(fields)}")]
        if known:
            lines += _wrapped(f"known, by XLA's names: {', '.join(known)}")
    if op.regions:
        lines += ["", f"regions: {op.regions}"]
    if op.type_traits:
        lines += ["", "type traits:", *(f"  {text}" for text in op.type_traits)]
    if op.lowering:
        lines += ["", *_wrapped(f"becomes {op.lowering}")]
    lines += ["", "example:", *(f"  {line}" for line in op.example.rstrip().splitlines())]
    return "\n".join(lines)


def _hlo_op(op: OpDef) -> str:
    arity = str(op.arity) if isinstance(op.arity, int) else f"{op.arity[0]} or more"
    if not isinstance(op.arity, int) and op.arity[1] is not None:
        arity = f"{op.arity[0]} to {op.arity[1]}"
    lines = [f"{op.opcode} (HLO)", "", *_wrapped(op.doc), "", f"operands: {arity}", *_hlo_attributes(op)]
    traits = sorted(t.name.lower().replace("_", " ") for t in op.traits)
    if traits:
        lines += ["", f"traits: {', '.join(traits)}"]
    return "\n".join(lines)


def _hlo_attributes(op: OpDef) -> list[str]:
    """Of each attribute a line with its meaning, then one with its form."""
    from xla_core.hlo.table.op_table import REQUIRED

    lines = ["", "attributes:"] if op.attributes else []
    width = max(map(len, op.attributes), default=0)
    for name, attribute in op.attributes.items():
        if attribute.default is REQUIRED:
            presence = "required"
        else:
            presence = "optional" if attribute.default in (None, ()) else f"default {attribute.default}"
        form = " | ".join(attribute.values) if attribute.values else attribute.kind.form
        said = [attribute.doc, f"{presence}; {form}"] if attribute.doc else [f"{presence}; {form}"]
        lines += [f"  {head:<{width}}  {text}" for head, text in zip((name, ""), said, strict=False)]
    return lines


def _section(title: str, rows: Iterable[tuple[str, str, str]]) -> list[str]:
    given = list(rows)
    if not given:
        return []
    width = max(len(name) for name, _, _ in given)
    return ["", f"{title}:", *(f"  {n:<{width}}  {', '.join(filter(None, (b, a)))}" for n, a, b in given)]


def _wrapped(text: str) -> list[str]:
    import textwrap

    return textwrap.wrap(text, 100)
