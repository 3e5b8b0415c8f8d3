"""Looks up the assembly format of an op, and turns it into steps, each of which reads one word of the format."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from typing import Any

from xla_core.stablehlo.table.assembly_format import words_of
from xla_core.stablehlo.table.op_table import OPS, has_properties
from xla_core.stablehlo.table.other_dialects import OTHER_OPS
from xla_core.stablehlo.text.attribute_groups import ATTRIBUTE_GROUPS, attribute_dictionary
from xla_core.stablehlo.text.custom_assembly import CUSTOM, generic_regions, value_types
from xla_core.stablehlo.text.directives import ATTRIBUTES
from xla_core.stablehlo.text.region_reader import OpState, RegionReader
from xla_core.stablehlo.text.type_directives import SIGNATURES
from xla_core.stablehlo.verify.attribute_constraints import attribute_problem

Step = Callable[[RegionReader, OpState], None]

_WORD = re.compile(r"[a-z_]+\Z").match


@functools.cache
def steps_of(form: str) -> tuple[Step, ...]:
    return tuple(
        [_step(w) if isinstance(w, str) else _optional(w[0], steps_of(" ".join(w[1:]))) for w in words_of(form)]
    )


def _step(word: str) -> Step:
    name, _, kind = word.rpartition(":")
    if word == "%":
        return lambda reader, state: reader.operand(state)
    if word == "%*":
        return lambda reader, state: reader.operands(state)
    if word == "%,*":
        return _operands_with_commas
    if word == "attr-dict":
        return _checked_dictionary
    if word in ATTRIBUTE_GROUPS:
        return _attribute_group(word)
    if word in CUSTOM:
        return CUSTOM[word]
    if word == ":value:":
        return value_types
    if word.startswith(":") and len(word) > 1:
        return _signature(word[1:-1])
    if name:
        return _attribute(name, kind)
    if _WORD(word):
        return lambda reader, state: reader.expect_word(word)
    return lambda reader, state: reader.expect(word, f"in {state.name}")


def _optional(first: str, rest: tuple[Step, ...]) -> Step:
    def step(reader: RegionReader, state: OpState) -> None:
        if reader.accept(first):
            for inner in rest:
                inner(reader, state)

    return step


def _operands_with_commas(reader: RegionReader, state: OpState) -> None:
    while reader.at("%"):
        reader.operand(state)
        reader.expect(",", "after the operand")


def _attribute(name: str, kind: str) -> Step:
    read = ATTRIBUTES[kind].read

    def step(reader: RegionReader, state: OpState) -> None:
        state.attributes[name] = read(reader)

    return step


def _attribute_group(kind: str) -> Step:
    read: Callable[[Any], dict[str, Any]] = ATTRIBUTE_GROUPS[kind].read

    def step(reader: RegionReader, state: OpState) -> None:
        for name, value in read(reader).items():
            state.attributes.setdefault(name, value)  # a property wins over an attribute, as in MLIR

    return step


def _checked_dictionary(reader: RegionReader, state: OpState) -> None:
    """Reads the dictionary of a pretty form. As in MLIR, its attributes are checked where it stands."""
    start = reader.skip()
    values = attribute_dictionary(reader)
    state.attributes.update(values)  # the later of two values wins, as in MLIR
    problem = dictionary_problem(state.name, values)
    if problem is not None:
        raise reader.form_error(f"'{state.name}' op {problem}", start)


def dictionary_problem(op: str, values: dict[str, Any]) -> str | None:
    """Returns what is wrong with the first illegal attribute, or None."""
    definition = OPS.get(op)
    if definition is None:
        return None
    for name, value in values.items():
        attribute = definition.attributes.get(name)
        problem = None if attribute is None else attribute_problem(name, attribute, value)
        if problem is not None:
            return problem
    return None


def _signature(kind: str) -> Step:
    read = SIGNATURES[kind].read

    def step(reader: RegionReader, state: OpState) -> None:
        state.operand_types, state.result_types = read(reader, len(state.operands))

    return step


def _properties(reader: RegionReader, state: OpState) -> None:
    """Reads properties. As in MLIR, an op without attributes of its own has none, not even empty ones."""
    if not reader.at("<"):
        return
    if not has_properties(state.name):
        text = f"invalid properties for op {state.name}: this operation has empty properties"
        hint = "attributes of any name can be in a dictionary without < >, after the operands"
        raise reader.error(text, state.start, hint=hint)
    _attribute_group("<properties>")(reader, state)


GENERIC_STEPS: tuple[Step, ...] = (
    lambda reader, state: reader.expect("(", "to start operand list"),
    *steps_of("%*"),
    lambda reader, state: reader.expect(")", "to end operand list"),
    _properties,
    generic_regions,
    _attribute_group("attr-dict"),
    *steps_of(": :functional:"),
)
"""The steps that read the generic form after the quoted name of an op."""


BARE_NAMES = {"call": "func.call", "func": "func.func", "module": "builtin.module", "return": "func.return"}
"""Names that may stand without their dialect."""

KNOWN_DIALECTS = ("stablehlo", "chlo")
"""Dialects whose every op is in the table."""


def assembly_of(name: str) -> str | None:
    """Returns an op's assembly format; None for an unknown op, or one that has only the generic form."""
    op = OPS.get(name) or OTHER_OPS.get(name)
    return None if op is None else op.assembly


def known_names() -> list[str]:
    return [*(name for name in OPS if "." in name), *OTHER_OPS]


def is_known(name: str) -> bool:
    """Tells whether an op may be written in the generic form, as any op of dialects that aren't in the table may."""
    dialect, _, rest = name.partition(".")
    return name in OPS if dialect in KNOWN_DIALECTS else bool(rest)
