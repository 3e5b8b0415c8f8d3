"""Reads regions, blocks and operands, and keeps the values in scope. `OpReader` reads the ops in them."""

from __future__ import annotations

import re
from typing import Any

from xla_core.checks import did_you_mean
from xla_core.errors import SourceLocation
from xla_core.stablehlo import ir
from xla_core.stablehlo.text.dialect_attributes import DialectAttributeReader

_VALUE = re.compile(r"%([\w$.\-]+)(#[0-9]{1,9})?", re.ASCII).match
_NAME = re.compile(r"%([\w$.\-]+)", re.ASCII).match
_LABEL = re.compile(r"\^[\w$.\-]+", re.ASCII).match


class OpState:
    """The parts of an op that have been read so far."""

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
        self.operands: list[ir.Value] = []
        self.offsets: list[int] = []
        self.attributes: dict[str, Any] = {}
        self.regions: list[ir.Region] = []
        self.operand_types: tuple[ir.Type, ...] = ()
        self.result_types: tuple[ir.Type, ...] = ()
        self.location: SourceLocation | ir.LazyLocation | None = None  # where the pretty form has its own place for it


Argument = tuple[str, int, ir.Type, Any]
"""A block argument: name, its offset, type, location."""


class RegionReader(DialectAttributeReader):
    """Reads the regions of ops, and keeps the values in scope."""

    def __init__(self, source: str, file: str) -> None:
        super().__init__(source, file)
        self.values: dict[str, ir.Value] = {}
        self.defined: list[str] = []
        self.symbols: set[str] = set()

    def ops(self, ops: list[ir.Op]) -> None:
        """Appends the ops up to `}`, a label or the end of the text."""
        raise NotImplementedError

    # Values

    def operand(self, state: OpState) -> None:
        """Reads `%name` or `%name#1`, which must be defined."""
        match = self.take(_VALUE, "SSA operand such as %0")
        name = match[1] + (match[2] or "")
        value = self.values.get(name)
        if value is None and match[2] == "#0":
            value = self.values.get(match[1])
        if value is None:
            if match[2] and (match[1] in self.values or f"{match[1]}#0" in self.values):
                raise self.error(f"reference to invalid result number: %{name}", match.start())
            known = [f"%{value}" for value in self.defined[-200:] if len(value) < 100]
            hint = did_you_mean(f"%{name}", known, 1, 0.7) or (
                f"defined before it: {', '.join(known[-5:])}" if known else None
            )
            raise self.error(f"use of undeclared SSA value name %{name}", match.start(), hint=hint)
        state.operands.append(value)
        state.offsets.append(match.start())

    def operands(self, state: OpState) -> None:
        """Reads operands with commas between them, or none."""
        if self.at("%"):
            self.operand(state)
            while self.accept(","):
                self.operand(state)

    def define(self, name: str, value: ir.Value, offset: int) -> None:
        if name in self.values:
            raise self.error(f"redefinition of SSA value '%{name}'", offset)
        self.values[name] = value
        self.defined.append(name)

    def name(self, what: str) -> tuple[str, int]:
        """Reads `%name` of a new value; returns the name and its offset."""
        match = self.take(_NAME, what)
        return match[1], match.start()

    def argument(self) -> Argument:
        """Reads `%name: type loc(...)`."""
        name, offset = self.name("SSA operand such as %arg0")
        self.expect(":", "and the argument's type")
        return name, offset, self.type(), self.accept_location()

    # Regions

    def region(self, arguments: list[Argument] | None = None, is_isolated: bool = False) -> ir.Region:
        """Reads `{ ops }`. `arguments` are those of the first block if the op has them outside of the braces."""
        self.enter()
        self.expect("{", "to begin a region")
        outer = self.values, self.defined
        if is_isolated:
            self.values, self.defined = {}, []
        mark = len(self.defined)
        region = ir.Region()
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

    def labeled_block(self) -> ir.Block:
        """Reads `^label(arguments): ops`."""
        self.take(_LABEL, "a block's label such as ^bb0")
        arguments: list[Argument] = []
        if self.at("("):
            self.list_of("(", ")", lambda: arguments.append(self.argument()))
        self.expect(":", "after block name")
        return self.block(arguments)

    def block(self, arguments: list[Argument]) -> ir.Block:
        """Reads a block with these arguments, up to the first token that begins no op."""
        block = ir.Block([argument[2] for argument in arguments])
        for (name, offset, _, _), value in zip(arguments, block.arguments, strict=True):
            value.name = name
            self.define(name, value, offset)
        if any(argument[3] is not None for argument in arguments):
            block.argument_locations = [argument[3] for argument in arguments]
        self.ops(block.ops)
        return block

    # Checks

    def check_operands(self, state: OpState, types: tuple[ir.Type, ...]) -> None:
        """Raises an error for an operand whose type differs from the written one."""
        for value, type, place in zip(state.operands, types, state.offsets, strict=True):
            if value.type is not type and value.type != type:
                used = f"use of value '%{value.name}' expects different type than prior uses"
                raise self.error(f"{used}: '{type}' vs '{value.type}'", place)

    def add_attributes(self, state: OpState, values: dict[str, Any], offset: int) -> None:
        """Adds attributes to the op. Raises an error for one that it has already."""
        for name in values:
            if name in state.attributes:
                raise self.form_error(f"attribute '{name}' occurs more than once in the attribute list", offset)
        state.attributes.update(values)
