"""Writes ops as MLIR text: in the pretty form where the op table has one, else in the generic form."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from xla_core.errors import ResourceExhaustedError
from xla_core.stablehlo import ir
from xla_core.stablehlo.bytecode.properties import layouts
from xla_core.stablehlo.ir.attribute_text import dictionary_text, location_text
from xla_core.stablehlo.ir.garbage_collection import without_collector
from xla_core.stablehlo.table.assembly_format import words_of
from xla_core.stablehlo.text.assembly_format import assembly_of
from xla_core.stablehlo.text.attribute_groups import ATTRIBUTE_GROUPS
from xla_core.stablehlo.text.custom_assembly import type_of_value
from xla_core.stablehlo.text.directives import ATTRIBUTES, NotPretty
from xla_core.stablehlo.text.type_directives import SIGNATURES, functional_text
from xla_core.stablehlo.translate.release import for_release
from xla_core.stablehlo.translate.text.custom_assembly import CUSTOM
from xla_core.stablehlo.translate.text.region_writer import RegionWriter
from xla_core.stablehlo.vhlo.versions import Version

_SEGMENTS = frozenset(("operandSegmentSizes", "resultSegmentSizes"))


def write_text(
    module: ir.Module, *, version: Version | str | None = None, generic: bool = False, locations: bool = False
) -> str:
    """Writes a module as MLIR text, from which StableHLO's parser and `parse_text` read the same module.

    Args:
        module: a module from a reader or `from_hlo`.
        version: a release of StableHLO, 0.9.0 to 1.20.0. Ops that it lacks are replaced by others of the same meaning.
        generic: whether to write MLIR's generic form ("stablehlo.add"(%0, %1) : ...), which changes least.
        locations: whether to write the ops' locations: `loc(...)`.

    A location keeps its place (the first file location, the innermost frame of a call stack) and its outermost name.
    Other frames, inner names, ranges, and other parts of fused locations are lost.

    Values are renamed in order. Raises VersionError, with the op's location, for an op that needs a later release.
    """
    ir.require_module(module)
    if version is not None:
        module = for_release(module, Version.parse(version))
    writer = OpWriter(generic=generic, locations=locations)
    try:
        with without_collector():
            return writer.module(module)
    except RecursionError as error:
        raise ResourceExhaustedError("the program is nested too deeply to be written") from error


class OpWriter(RegionWriter):
    def module(self, module: ir.Module) -> str:
        block = ir.Block()
        block.ops = [*module.others, *module.functions.values()]
        name = {"sym_name": module.name} if module.name else {}
        whole = ir.Op("builtin.module", [], (), {**name, **module.attributes}, [ir.Region([block])])
        return self._body(whole, "") + "\n"

    def op(self, op: ir.Op, indent: str) -> str:
        is_function = op.name in ("func.func", "builtin.module")
        names = "" if is_function else self._new_results(op)
        text = names + self._body(op, indent)
        return f"{text} {location_text(op.location)}" if self.with_locations else text

    def _body(self, op: ir.Op, indent: str) -> str:
        form = assembly_of(op.name)
        if form is not None and not (self.generic and op.name != "builtin.module"):
            state = self._next_result, dict(self._next_argument)
            try:
                return self._pretty(op, form, indent)
            except NotPretty:
                self._next_result, self._next_argument = state
        return self._generic(op, indent)

    def _generic(self, op: ir.Op, indent: str) -> str:
        if op.name == "func.func":
            self.begin_function()
        inherent = _inherent(op.name)
        dialect = _enum_dialect(op)
        properties = {name: value for name, value in op.attributes.items() if name in inherent}
        rest = {name: value for name, value in op.attributes.items() if name not in inherent}
        parts = [f'"{op.name}"({self.values(op.operands)})']
        if properties:
            parts.append(f"<{dictionary_text(properties, dialect)}>")
        if op.regions:
            parts.append(self.regions(op, indent))
        if rest:
            parts.append(dictionary_text(rest, dialect))
        return f"{' '.join(parts)} : {functional_text(op.operands, op.results)}"

    def _pretty(self, op: ir.Op, form: str, indent: str) -> str:
        state = _State(self, op, indent)
        tokens = [token for step in _steps(form) if (token := step(state))]
        if state.attributes or (state.operand < len(op.operands) and not state.has_custom):
            raise NotPretty
        return _joined(["module" if op.name == "builtin.module" else op.name, *tokens])


class _State:
    """The attributes and operands of an op that are still to be written."""

    __slots__ = ("attributes", "has_custom", "indent", "op", "operand", "writer")

    def __init__(self, writer: OpWriter, op: ir.Op, indent: str) -> None:
        self.writer = writer
        self.op = op
        self.indent = indent
        self.attributes = dict(op.attributes)
        self.operand = 0
        self.has_custom = False

    def rest(self) -> list[str]:
        first, self.operand = self.operand, len(self.op.operands)
        return [self.writer.value(value) for value in self.op.operands[first:]]


_Step = Callable[[_State], str]


@functools.cache
def _steps(form: str) -> tuple[_Step, ...]:
    return tuple([_step(word) if isinstance(word, str) else _optional(word) for word in words_of(form)])


def _optional(words: list[str]) -> _Step:
    """Writes an optional group if one of its attributes is present."""
    names = [word.partition(":")[0] for word in words if ":" in word]
    inner = _steps(" ".join(words))

    def step(state: _State) -> str:
        if not any(name in state.attributes for name in names):
            return ""
        return _joined([token for part in inner if (token := part(state))])

    return step


def _step(word: str) -> _Step:
    name, _, kind = word.rpartition(":")
    if word == "%":
        return _operand
    if word == "%*":
        return lambda state: ", ".join(state.rest())
    if word == "%,*":
        return lambda state: " ".join([f"{value}," for value in state.rest()])
    if word == "attr-dict":
        return _dictionary
    if word in ATTRIBUTE_GROUPS:
        write_group = ATTRIBUTE_GROUPS[word].write
        return lambda state: write_group(state.attributes)
    if word in CUSTOM:
        return _custom(word)
    if word == ":value:":
        return _value_types
    if word.startswith(":") and len(word) > 1:
        signature = SIGNATURES[word[1:-1]].write
        return lambda state: signature(state.op.operands, state.op.results)
    if name:
        return _attribute(name, ATTRIBUTES[kind].write)
    return lambda state: word


def _operand(state: _State) -> str:
    if state.operand >= len(state.op.operands):
        raise NotPretty
    state.operand += 1
    return state.writer.value(state.op.operands[state.operand - 1])


def _dictionary(state: _State) -> str:
    if not state.attributes:
        return ""
    text = dictionary_text(state.attributes, _enum_dialect(state.op))
    state.attributes.clear()
    return text


def _custom(word: str) -> _Step:
    write = CUSTOM[word]

    def step(state: _State) -> str:
        state.has_custom = True
        return write(state.writer, state.op, state.attributes, state.indent)

    return step


def _value_types(state: _State) -> str:
    """Writes nothing: the value gives the operands' type."""
    type = type_of_value(state.op.attributes.get("value"))
    if any(operand.type != type for operand in state.op.operands):
        raise NotPretty
    return ""


def _attribute(name: str, write: Callable[[Any], str]) -> _Step:
    def step(state: _State) -> str:
        if name not in state.attributes:
            raise NotPretty
        return write(state.attributes.pop(name))

    return step


def _joined(tokens: Sequence[str]) -> str:
    """Joins tokens with spaces where MLIR's printer has them."""
    text = last = tokens[0]
    if len(tokens) > 1 and tokens[1].startswith("("):
        text, last = text + tokens[1], tokens[1]
        tokens = tokens[1:]
    for token in tokens[1:]:
        is_close = token in ("(", "[", ")", "]", "}") or token[0] == "," or last in ("(", "[", "{")
        text += token if is_close else f" {token}"
        last = token
    return text


@functools.cache
def _inherent(name: str) -> frozenset[str]:
    """Returns the names of the attributes that belong to the op itself."""
    found = layouts(name)
    return frozenset([key for key, _ in found[0]] if found else ()) | _SEGMENTS


def _enum_dialect(op: ir.Op) -> str:
    return "chlo" if op.name.startswith("chlo.") else "stablehlo"
