"""Reads ops, blocks and regions: the patient reader, which takes any spacing and says what is wrong."""

from __future__ import annotations

import re
from typing import Any

from xla_core.errors import SourceLocation, UnimplementedError, XlaError
from xla_core.stablehlo.ir import Block, LazyLocation, Op, Region, Type, Value
from xla_core.stablehlo.table.op_table import OTHER_DIALECT_HINT, PROGRAMS_HINT, namesakes
from xla_core.stablehlo.text import assembly_format as forms
from xla_core.stablehlo.text.cursor import TextLocation
from xla_core.stablehlo.text.dialect_attributes import DialectAttributeReader
from xla_core.stablehlo.text.fast_path import LINE_START, FastForm, fast_form
from xla_core.stablehlo.text.formats import BARE_NAMES, FORMATS, KNOWN_DIALECTS

__all__ = ["Argument", "OpReader", "OpState"]

_VALUE = re.compile(r"%([\w$.\-]+)(#[0-9]{1,9})?", re.ASCII).match
_NAME = re.compile(r"%([\w$.\-]+)", re.ASCII).match
_RESULTS = re.compile(r"%([\w$.\-]+)(?::([0-9]{1,6}))?", re.ASCII).match
_LABEL = re.compile(r"\^[\w$.\-]+", re.ASCII).match


class OpState:
    """What has been read of an op."""

    __slots__ = (
        "attributes",
        "location",
        "name",
        "offsets",
        "operand_types",
        "operands",
        "regions",
        "result_types",
        "start",
    )

    def __init__(self, name: str, start: int) -> None:
        self.name = name
        self.start = start
        self.operands: list[Value] = []
        self.offsets: list[int] = []
        self.attributes: dict[str, Any] = {}
        self.regions: list[Region] = []
        self.operand_types: tuple[Type, ...] = ()
        self.result_types: tuple[Type, ...] = ()
        self.location: SourceLocation | LazyLocation | None = None  # where the form has a place of its own for it


Name = tuple[str, int, int]
"""What results are called: name, how many have it, its offset."""

Argument = tuple[str, int, Type, Any]
"""A block argument: name, its offset, type, location."""


class OpReader(DialectAttributeReader):
    """Reads ops with their regions, and knows the values in scope."""

    def __init__(self, source: str, file: str) -> None:
        super().__init__(source, file)
        self.values: dict[str, Value] = {}
        self.defined: list[str] = []
        self.symbols: set[str] = set()
        self.fast_forms: tuple[dict[str, FastForm | None], dict[str, FastForm | None]] = ({}, {})  # pretty, generic

    # Values

    def operand(self, state: OpState) -> None:
        """`%name` or `%name#1`, which must be defined already."""
        match = self.take(_VALUE, "SSA operand such as %0")
        name = match[1] + (match[2] or "")
        value = self.values.get(name)
        if value is None and match[2] == "#0":
            value = self.values.get(match[1])
        if value is None:
            if match[2] and (match[1] in self.values or f"{match[1]}#0" in self.values):
                raise self.error(f"reference to invalid result number: %{name}", match.start())
            known = [f"%{value}" for value in self.defined[-200:] if len(value) < 100]
            hint = self.nearest(f"%{name}", known) or (f"defined before it: {', '.join(known[-5:])}" if known else None)
            raise self.error(f"use of undeclared SSA value name %{name}", match.start(), hint=hint)
        state.operands.append(value)
        state.offsets.append(match.start())

    def operands(self, state: OpState) -> None:
        """Operands with commas between them, or none."""
        if self.at("%"):
            self.operand(state)
            while self.accept(","):
                self.operand(state)

    def define(self, name: str, value: Value, offset: int) -> None:
        """Make `%name` known."""
        if name in self.values:
            raise self.error(f"redefinition of SSA value '%{name}'", offset)
        self.values[name] = value
        self.defined.append(name)

    def name(self, what: str) -> tuple[str, int]:
        """`%name`, to be defined: the name and its offset."""
        match = self.take(_NAME, what)
        return match[1], match.start()

    def argument(self) -> Argument:
        """`%name: type loc(...)`."""
        name, offset = self.name("SSA operand such as %arg0")
        self.expect(":", "and the argument's type")
        return name, offset, self.type(), self.accept_location()

    # Regions

    def region(self, arguments: list[Argument] | None = None, is_isolated: bool = False) -> Region:
        """`{ ops }`; with `arguments` (written elsewhere) for the first block."""
        self.enter()
        self.expect("{", "to begin a region")
        outer = self.values, self.defined
        if is_isolated:
            self.values, self.defined = {}, []
        mark = len(self.defined)
        region = Region()
        if arguments is not None or not (self.at("^") or self.at("}")):
            seen: set[str] = set()
            for name, offset, _, _ in arguments or []:
                if name in self.values or name in seen:
                    raise self.error(f"region entry argument '%{name}' is already in use", offset)
                seen.add(name)
            region.blocks.append(self.block(arguments or []))
        while self.at("^"):
            region.blocks.append(self.labeled_block())
        if not self.accept("}"):
            raise self.error(f"expected operation name in quotes, an op's pretty form or '}}', found {self.found()}")
        if is_isolated:
            self.values, self.defined = outer
        else:
            for name in self.defined[mark:]:
                del self.values[name]
            del self.defined[mark:]
        self.leave()
        return region

    def labeled_block(self) -> Block:
        """`^label(arguments): ops`."""
        self.take(_LABEL, "a block's label such as ^bb0")
        arguments: list[Argument] = []
        if self.at("("):
            self.list_of("(", ")", lambda: arguments.append(self.argument()))
        self.expect(":", "after block name")
        return self.block(arguments)

    def block(self, arguments: list[Argument]) -> Block:
        """The ops of a block up to what isn't one."""
        block = Block([argument[2] for argument in arguments])
        for (name, offset, _, _), value in zip(arguments, block.arguments, strict=True):
            value.name = name
            self.define(name, value, offset)
        if any(argument[3] is not None for argument in arguments):
            block.argument_locations = [argument[3] for argument in arguments]
        self.ops(block.ops)
        return block

    def ops(self, ops: list[Op]) -> None:
        """Ops up to `}`, a label or the end of the text."""
        while True:
            start = LINE_START(self.source, self.position)
            if start is not None:
                name, is_generic = (start[3], False) if start[3] is not None else (start[4], True)
                forms_by_name = self.fast_forms[is_generic]
                form = forms_by_name.get(name)
                if form is None and name not in forms_by_name:
                    form = forms_by_name[name] = fast_form(self, name, is_generic)
                if form is not None:
                    op = form.read(start, start.start(4) - 1 if is_generic else start.start(3))
                    if op is not None:
                        ops.append(op)
                        continue
            self.skip()
            if self.source[self.position : self.position + 1] in ("}", "^", ""):
                return
            ops.append(self.operation())

    # Ops

    def operation(self) -> Op:
        """One op, its results' names before it and its location behind it."""
        self.nodes = 0
        self.deepest = self.depth
        names: list[Name] = []
        if self.at("%"):
            while True:
                match = self.take(_RESULTS, "a result's name")
                names.append((match[1], int(match[2] or 1), match.start()))
                if not self.accept(","):
                    break
            self.expect("=", "after SSA name")
        self.skip()
        offset = self.position
        if self.at_string():
            state = OpState(self.string(), offset)
            if not self.is_known(state.name):
                raise self.unknown_op(state.name, offset)
            steps = forms.GENERIC_STEPS
            pretty_op = ""
        else:
            try:
                word = self.word("operation name in quotes, or an op's pretty form")
            except XlaError as error:
                error.hint = error.hint or self._program_hint(offset)
                raise
            state = OpState(BARE_NAMES.get(word, word), offset)
            form = FORMATS.get(state.name)
            if form is None:
                raise self.unknown_op(state.name, offset, is_pretty=True)
            steps = forms.steps_of(form)
            pretty_op = state.name
        outer, self.pretty_op = self.pretty_op, pretty_op
        try:
            for step in steps:
                step(self, state)
            return self.finish(state, names, offset)
        except XlaError as error:
            error.op = error.op or state.name
            raise
        finally:
            self.pretty_op = outer

    def is_known(self, name: str) -> bool:
        """Whether an op may be written in the generic form: any op of a dialect whose ops we don't list, too."""
        dialect, _, rest = name.partition(".")
        return name in FORMATS if dialect in KNOWN_DIALECTS else bool(rest)

    def unknown_op(self, name: str, offset: int, is_pretty: bool = False) -> XlaError:
        """The error for an op that isn't there, or isn't there in the pretty form."""
        error = self._unknown_op(name, offset, is_pretty)
        error.op = name  # not the op around it
        return error

    def _unknown_op(self, name: str, offset: int, is_pretty: bool) -> XlaError:
        if name in FORMATS:
            hint = f'write the generic form: "{name}"(...)'
            return self.error(f"custom op '{name}' has no custom assembly form", offset, hint=hint)
        if "." not in name:
            near = self.nearest(name, BARE_NAMES) or self._program_hint(offset)
            short = name[:40]
            return self.error(f"custom op '{short}' is unknown (tried 'func.{short}' as well)", offset, hint=near)
        same = namesakes(name, FORMATS)
        near = f"did you mean {same[0]}?" if same else self.nearest(name, FORMATS)
        dialect = name.partition(".")[0]
        if is_pretty and dialect in KNOWN_DIALECTS:
            return self.error(f"custom op '{name}' is unknown", offset, hint=near)
        if is_pretty:
            message = f"Dialect `{dialect}' not found for custom op '{name}'"
        else:
            message = (
                f"unregistered operation '{name}' found in dialect ('{dialect}') that does not allow unknown operations"
            )
        error = self.error(message, offset, hint=near)
        if near or dialect in KNOWN_DIALECTS:
            return error
        return UnimplementedError(  # as for its generic form, which the verifier refuses
            error.message, location=error.location, snippet=error.snippet, hint=OTHER_DIALECT_HINT
        )

    def _program_hint(self, offset: int) -> str | None:
        """What to read instead, where a text begins with what no program begins with."""
        return None if self.source[:offset].strip() else PROGRAMS_HINT

    def finish(self, state: OpState, names: list[Name], offset: int) -> Op:
        """Check what was read of an op, make it, and define its results."""
        types = state.operand_types
        if len(types) != len(state.operands):
            if not self.pretty_op:
                plural = "" if len(state.operands) == 1 else "s"
                raise self.error(f"expected {len(state.operands)} operand type{plural} but had {len(types)}", offset)
            counts = f"got {len(state.operands)} operands and {len(types)} types"
            raise self.form_error(f"number of operands and types do not match: {counts}", offset)
        self.check_operands(state, types)
        count = sum(n for _, n, _ in names)
        if names and count != len(state.result_types):
            message = f"operation defines {len(state.result_types)} results but was provided {count} to bind"
            raise self.error(message if state.result_types else "cannot name an operation with no results", offset)
        if state.name == "func.func":
            for key in ("arg_attrs", "res_attrs"):  # none at all may be written as an empty dictionary for each
                if not any(state.attributes.get(key, ())):
                    state.attributes.pop(key, None)
        location = state.location or self.accept_location() or TextLocation(self.text, state.start)
        op = Op(state.name, state.operands, state.result_types, state.attributes, state.regions, location)
        index = 0
        for name, n, place in names:
            if n == 0:
                raise self.error("expected named operation to have at least 1 result", place)
            self.define(name, op.results[index], place)
            for i in range(n):
                value = op.results[index + i]
                value.name = name
                if n > 1:
                    self.define(f"{name}#{i}", value, place)
            index += n
        symbol = state.attributes.get("sym_name")
        if isinstance(symbol, str):
            if symbol in self.symbols:
                raise self.error(f"redefinition of symbol named '{symbol}'", offset)
            self.symbols.add(symbol)
        return op

    def check_operands(self, state: OpState, types: tuple[Type, ...]) -> None:
        """Operands must have the types that are written."""
        for value, type, place in zip(state.operands, types, state.offsets, strict=True):
            if value.type is not type and value.type != type:
                used = f"use of value '%{value.name}' expects different type than prior uses"
                raise self.error(f"{used}: '{type}' vs '{value.type}'", place)

    def add_attributes(self, state: OpState, values: dict[str, Any], offset: int) -> None:
        """Attributes that were read together; none may be there already."""
        for name in values:
            if name in state.attributes:
                raise self.form_error(f"attribute '{name}' occurs more than once in the attribute list", offset)
        state.attributes.update(values)
