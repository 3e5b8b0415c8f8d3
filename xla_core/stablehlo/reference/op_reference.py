"""Describes an op as text, for `xla ops` and the documentation.

Everything comes from the op's entry in the table and from the HLO of its example.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from typing import Any

from xla_core.errors import NotFoundError, XlaError
from xla_core.hlo.ir.module import HloModule
from xla_core.hlo.table.opcode import Opcode
from xla_core.stablehlo import ir
from xla_core.stablehlo.ir.dot_algorithms import KNOWN_ALGORITHMS
from xla_core.stablehlo.reference.examples import op_example
from xla_core.stablehlo.shapes.lowering import lower
from xla_core.stablehlo.table.op_table import OPS, REQUIRED, Arity, Attribute, Kind, Trait, Values
from xla_core.stablehlo.text.parser import parse_text
from xla_core.stablehlo.verify.verifier import verify
from xla_core.wording import counted

_ELEMENTS = ("f32", "complex<f32>", "i32", "i1", "!quant.uniform<i8:f32, 5.000000e-01:-1>")
"""An example is shown in the first of these element types that the op accepts."""


@dataclasses.dataclass(frozen=True, slots=True)
class OpReference:
    """The reference of an op, as text.

    Attributes:
        group: the file of `xla_core/stablehlo/ops` that defines the op.
        syntax: the generic form.
        operands, results: (name, arity, types) of each.
        attributes: (name, kind, default) of each.
        structures: (name, fields, known values by name) of each structure among the attributes.
        regions: the number of regions; "" for none.
        type_traits: the relations between the types of operands, results and attributes.
        lowering: a description of the HLO that the op is lowered to.
        example: a small program with the op.
        hlo: the example, lowered to HLO; None if it can't be lowered.
        rule, lower: the functions in the op's entry of the table.
    """

    name: str
    group: str
    doc: str
    syntax: str
    operands: tuple[tuple[str, str, str], ...]
    results: tuple[tuple[str, str, str], ...]
    attributes: tuple[tuple[str, str, str], ...]
    structures: tuple[tuple[str, tuple[str, ...], tuple[str, ...]], ...]
    regions: str
    type_traits: tuple[str, ...]
    traits: tuple[str, ...]
    lowering: str
    example: str
    hlo: HloModule | None
    rule: Callable[..., Any]
    lower: Callable[..., Any] | None


@functools.lru_cache(maxsize=256)
def op_reference(name: str) -> OpReference:
    """Returns the reference of an op. Raises NotFoundError for an unknown op."""
    op = OPS.get(name)
    if op is None:
        raise NotFoundError(f"there is no op {name!r}")
    example, hlo = _example(name)
    return OpReference(
        name=name,
        group=op.group,
        doc=op.doc,
        syntax=_syntax(name),
        operands=tuple(_values(v) for v in op.operands),
        results=tuple(_values(v) for v in op.results),
        attributes=tuple((n, _kind(a), _default(a)) for n, a in op.attributes.items()),
        structures=tuple(_structure(c) for a in op.attributes.values() for c in a.classes),
        regions={None: "any number", 0: ""}.get(op.regions, str(op.regions)),
        type_traits=tuple(map(_type_trait, op.type_traits)),
        traits=tuple(t.name.lower().replace("_", " ") for t in Trait if t in op.traits),
        lowering=_opcodes(hlo) if hlo is not None and op.lowering == op.doc else op.lowering,
        example=example,
        hlo=hlo,
        rule=op.rule,
        lower=op.lower,
    )


def _example(name: str) -> tuple[str, HloModule | None]:
    example = op_example(name)
    for element in (example.shown,) if example.shown else example.types or _ELEMENTS:
        text = example.program(element)
        try:
            module = parse_text(text)
            verify(module)
            return text, lower(module)
        except XlaError:
            continue
    return example.program(), None


def _values(values: Values) -> tuple[str, str, str]:
    count = {Arity.ONE: "", Arity.OPTIONAL: "optional", Arity.VARIADIC: "any number"}[values.arity]
    known = "known when compiled" if values.static else ""
    return values.name, ", ".join(filter(None, (count, known))), str(values.types)


def _kind(attribute: Attribute) -> str:
    if attribute.cases:
        return f"{'list of ' if attribute.kind is Kind.PRECISIONS else ''}{', '.join(attribute.cases)}"
    text = attribute.kind.value
    if attribute.classes:
        text = " or ".join(c.__name__ for c in attribute.classes)
    return text if attribute.minimum is None else f"{text}, at least {attribute.minimum}"


def _structure(structure: type) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
    fields = tuple(f.name for f in dataclasses.fields(structure)) if dataclasses.is_dataclass(structure) else ()
    return structure.__name__, fields, KNOWN_ALGORITHMS if structure is ir.DotAlgorithm else ()


def _opcodes(module: HloModule) -> str:
    """Describes the HLO of the example, for an op whose lowering has only the op's meaning as its documentation."""
    computing = [
        i for c in module.computations for i in c.instructions if i.opcode not in (Opcode.PARAMETER, Opcode.TUPLE)
    ]
    names = ", ".join(f"`{opcode}`" for opcode in sorted({i.opcode for i in computing}))
    return f"{counted(len(computing), 'instruction')} of HLO, in the example: {names}."


def _default(attribute: Attribute) -> str:
    if attribute.default is REQUIRED:
        return "required"
    return "optional" if attribute.default is None else f"default {_literal(attribute.default)}"


def _literal(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return "[]" if value == () else f'"{value}"' if isinstance(value, str) else str(value)


def _type_trait(trait: str) -> str:
    kind, _, names = trait.partition(": ")
    what = kind.removeprefix("pairwise-").replace("-", " ")
    if names:
        return f"{', '.join(names.split())}: the same {what}"
    if kind.startswith("pairwise-"):
        return f"each operand and its result: the same {what}"
    if kind == "elementwise":
        return "all operands and results: the same shape"
    among = "all operands" if kind.endswith("operands") else "all operands and results"
    what = {"compatible-operands": "compatible element types"}.get(kind, what.removesuffix(" of operands"))
    return f"{among}: {'the ' if what.startswith('same') else ''}{what}"


def _syntax(name: str) -> str:
    """`%result = "stablehlo.slice"(%operand) <{...}> : (...) -> ...`"""
    op = OPS[name]
    operands = ", ".join(f"%{v.name}{'...' if v.arity is Arity.VARIADIC else ''}" for v in op.operands)
    results = ", ".join(f"%{v.name}{'...' if v.arity is Arity.VARIADIC else ''}" for v in op.results)
    attributes = ", ".join(n for n, a in op.attributes.items() if a.default is REQUIRED)
    optional = ", ".join(f"[{n}]" for n, a in op.attributes.items() if a.default is not REQUIRED)
    words = ", ".join(filter(None, (attributes, optional)))
    regions = {None: " ({...}, ...)", 0: ""}.get(op.regions, f" ({', '.join(['{...}'] * (op.regions or 0))})")
    types = f"({', '.join('type' for _ in op.operands)}) -> {'(types)' if len(op.results) != 1 else 'type'}"
    head = f"{results} = " if results else ""
    return f'{head}"{name}"({operands}){f" <{{{words}}}>" if words else ""}{regions} : {types}'
