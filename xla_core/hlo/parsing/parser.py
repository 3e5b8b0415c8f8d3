"""The parser of HLO text, as printed by XLA, JAX's `as_text(dialect="hlo")` and this package.

XLA: xla/hlo/parser/hlo_parser.cc. The op table says how each attribute is read; `text/attribute_text.py` has the
spelling of each kind.
"""

from __future__ import annotations

import dataclasses
import functools
import re
from typing import Any

from xla_core.checks import did_you_mean, require
from xla_core.errors import XlaError
from xla_core.hlo.ir.computation import HloComputation
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.ir.module import HloModule
from xla_core.hlo.parsing.header import Header, read_header, read_metadata
from xla_core.hlo.table import op_table
from xla_core.hlo.table.attributes import OpMetadata
from xla_core.hlo.table.op_table import AttributeKind, OpDef
from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.text.attribute_text import ATTRIBUTE_TEXT
from xla_core.hlo.text.cursor import Cursor, braced_list
from xla_core.hlo.text.literals import read_literal
from xla_core.hlo.text.shapes import read_shape
from xla_core.hlo.values.shape import Shape

_NAME = r"%?([A-Za-z_][\w.\-]*)"
_INSTRUCTION = re.compile(rf"(ROOT\s+)?{_NAME}\s*=\s*")
_OPCODE = re.compile(r"([a-z][a-z0-9\-]*)\s*(?=\()")
_OPERANDS = re.compile(r"\(\s*+((?:%?[A-Za-z_][\w.\-]*+\s*+,\s*+)*+%?[A-Za-z_][\w.\-]*+)?+\s*+\)\s*")
_SHAPE_AHEAD = re.compile(r"\(|[a-z][a-z0-9]*\[")
_ATTRIBUTE = re.compile(r",\s*([A-Za-z_][\w\-]*)=[ \t]*")
_COMPUTATION = re.compile(rf"(ENTRY\s+)?{_NAME}\s*(?=[({{])")
_PARAMETER = re.compile(r"[^\s:,()]+\s*:\s*")

_NOT_KEPT = frozenset({"origin", "original_value", "statistics", "outer_dimension_partitions"})
"""Attributes that XLA prints and this IR ignores."""


def parse_hlo(text: str, *, file: str = "") -> HloModule:
    """Parses a module.

    Shapes are taken as written (the verifier checks them) and inferred where the text leaves them out.

    Raises:
        InvalidArgumentError: for text that is not HLO; it shows the place, the line and a caret.
    """
    require("text", text, str, "HLO text")
    return _ModuleReader(Cursor(text.removeprefix("\ufeff"), file)).read()


class _ModuleReader:
    def __init__(self, cursor: Cursor) -> None:
        self.cursor = cursor
        self.computations: dict[str, HloComputation] = {}
        self.metadata: dict[str, OpMetadata] = {}
        self.header = Header()
        self.orders: dict[HloComputation, list[HloInstruction]] = {}
        # A parameter's number can't exceed their count, so a wild number must not make a list of that length.
        self.most_parameters = cursor.text.count("parameter(")

    def read(self) -> HloModule:
        cursor = self.cursor
        module, self.header = read_header(cursor)
        entry: HloComputation | None = None
        last: HloComputation | None = None
        while not cursor.at_end:
            start = cursor.position
            match = cursor.take(_COMPUTATION, "a computation: [ENTRY] name (parameters) -> shape { ... }")
            if match[2] in self.computations:
                raise cursor.error(f"computation {match[2]!r} is defined twice", position=start)
            last = _ComputationReader(self, match[2]).read()
            self.computations[match[2]] = last
            if match[1]:
                if entry is not None:
                    raise cursor.error("a second ENTRY computation", position=start)
                entry = last
        entry = entry or last
        if entry is None:
            raise cursor.error("expected an ENTRY computation")
        for computation in self.computations.values():
            module.add_computation(computation, entry=computation is entry)
        if self.header.is_scheduled:
            fused = {
                id(c)
                for o in self.orders.values()
                for i in o
                if i.opcode == Opcode.FUSION
                for c in i.called_computations
            }
            module.schedule = {c: order for c, order in self.orders.items() if id(c) not in fused}
        self._apply_layout(module)
        return module

    def _apply_layout(self, module: HloModule) -> None:
        if self.header.layout is not None:
            try:
                module.set_entry_layout(*self.header.layout)
            except XlaError as error:
                raise self.cursor.error(error.message, position=self.header.layout_position) from None


class _ComputationReader:
    """Reads a computation; the cursor is just behind its name."""

    def __init__(self, module: _ModuleReader, name: str) -> None:
        self.module = module
        self.cursor = module.cursor
        self.computation = HloComputation(name)
        self.instructions: dict[str, HloInstruction] = {}
        self.parameters: set[int] = set()

    def read(self) -> HloComputation:
        cursor, computation = self.cursor, self.computation
        start = cursor.position
        self._skip_signature()
        cursor.expect("{", "before a computation's instructions")
        root: HloInstruction | None = None
        while not cursor.accept("}"):
            at = cursor.position
            match = cursor.take(_INSTRUCTION, "an instruction, [ROOT] name = shape opcode(operands), or '}'")
            if match[2] in self.instructions:
                raise cursor.error(f"instruction {match[2]!r} is defined twice", position=at)
            instruction = self._instruction(match[2], at)
            if match[1]:
                if root is not None:
                    raise cursor.error(f"computation {computation.name} has a second ROOT", position=at)
                root = instruction
        while cursor.match(_ATTRIBUTE):  # execution_thread
            cursor.skip_value()
        if not self.instructions:
            raise cursor.error(f"computation {computation.name} has no instructions", position=start)
        if self.parameters != set(range(len(self.parameters))):
            raise cursor.error(
                f"the parameters of {computation.name} are not numbered 0..{len(self.parameters) - 1}", position=start
            )
        computation.set_root(root or next(reversed(self.instructions.values())))
        self.module.orders[computation] = list(self.instructions.values())
        return computation

    def _skip_signature(self) -> None:
        """Skips the signature `(p0: f32[2], p1: f32[]) -> f32[2]`, which the instructions repeat."""
        cursor = self.cursor
        if not cursor.starts_with("("):
            return

        def parameter() -> None:
            if not cursor.match(_PARAMETER):
                raise cursor.error("expected a parameter such as p0: f32[2]")
            read_shape(cursor)

        braced_list(cursor, parameter, "a list of parameters", ("(", ")"))
        cursor.expect("->", "before the result's shape")
        read_shape(cursor)

    def _instruction(self, name: str, at: int) -> HloInstruction:
        cursor = self.cursor
        shape = read_shape(cursor) if _SHAPE_AHEAD.match(cursor.text, cursor.position) else None
        opcode_at = cursor.position
        match = cursor.take(_OPCODE, "an opcode and its operands" if shape else "a shape or an opcode")
        op = op_table.find(match[1])
        if op is None:
            hint = did_you_mean(match[1], op_table.OPS) or "`xla ops` lists the opcodes of HLO"
            raise cursor.error(f"unknown opcode {match[1]!r}", position=opcode_at, hint=hint)
        attributes: dict[str, Any] = {}
        operands = self._operands(op, shape, attributes)
        if wrong := op.wrong_arity(len(operands)):
            raise cursor.error(wrong, position=opcode_at)
        metadata, predecessors = self._attributes(op, attributes)
        if missing := op.missing_attribute(attributes):
            raise cursor.error(missing, position=opcode_at)
        if shape is None:
            try:
                shape = op.shape([o.shape for o in operands], attributes, None)
            except XlaError as error:
                raise cursor.error(error.message, position=at) from None
        instruction = HloInstruction(op.opcode, shape, operands, attributes)
        if metadata is None:
            instruction.metadata = OpMetadata(text_location=functools.partial(cursor.location, at))
        elif metadata.source_file:
            instruction.metadata = metadata
        else:
            place = functools.partial(cursor.location, at)
            instruction.metadata = dataclasses.replace(metadata, text_location=place)
        instruction.control_predecessors = predecessors
        self.computation.add_instruction(instruction, name)
        self.instructions[name] = instruction
        return instruction

    def _operands(self, op: OpDef, shape: Shape | None, attributes: dict[str, Any]) -> list[HloInstruction]:
        cursor = self.cursor
        for key, attribute in op.attributes.items():
            if attribute.kind is AttributeKind.LITERAL and op.opcode == Opcode.CONSTANT:
                if shape is None:
                    raise cursor.error("a constant needs a shape before its opcode")
                cursor.expect("(")
                attributes[key] = read_literal(cursor, shape)
                cursor.expect(")", "after the constant's value")
                return []
            if attribute.kind is AttributeKind.OPERAND_TEXT:
                cursor.expect("(")
                attributes[key] = self._number(op.opcode)
                cursor.expect(")")
                return []
        start = cursor.position
        if match := cursor.match(_OPERANDS):
            if match[1] is None:
                return []
            operands = []
            for text in match[1].split(","):
                operand = self.instructions.get(text.strip().removeprefix("%"))
                if operand is None:
                    return self._careful_operands(start)
                operands.append(operand)
            return operands
        return self._careful_operands(start)

    def _careful_operands(self, start: int) -> list[HloInstruction]:
        """Reads operands that have shapes before them, or reports what is wrong with them."""
        cursor = self.cursor
        cursor.position = start

        def operand() -> HloInstruction:
            if _SHAPE_AHEAD.match(cursor.text, cursor.position):
                read_shape(cursor)
            return self._reference()

        return list(braced_list(cursor, operand, "an operand list", ("(", ")")))

    def _reference(self) -> HloInstruction:
        start = self.cursor.position
        name = self.cursor.name("an operand's name")
        found = self.instructions.get(name)
        if found is None:
            raise self.cursor.error(
                f"instruction {name!r} is not defined above in {self.computation.name}",
                position=start,
                hint=did_you_mean(name, self.instructions),
            )
        return found

    def _number(self, opcode: Opcode) -> int:
        start = self.cursor.position
        number = self.cursor.integer("a number")
        if opcode == Opcode.PARAMETER:
            if not 0 <= number < self.module.most_parameters:
                raise self.cursor.error(f"parameter number {number} is out of range", position=start)
            if number in self.parameters:
                raise self.cursor.error(f"parameter {number} is defined twice", position=start)
            self.parameters.add(number)
        return number

    def _attributes(self, op: OpDef, attributes: dict[str, Any]) -> tuple[OpMetadata | None, list[HloInstruction]]:
        cursor, computations = self.cursor, self.module.computations
        metadata: OpMetadata | None = None
        predecessors: list[HloInstruction] = []
        while match := cursor.match(_ATTRIBUTE):
            key = match[1]
            attribute = op.attribute(key)
            if key in attributes:
                raise cursor.error(f"attribute {key} is given twice", position=match.start(1))
            if attribute is not None:
                attributes[key] = ATTRIBUTE_TEXT[attribute.kind].read(cursor, computations)
            elif key == "metadata":
                metadata = read_metadata(cursor, self.module.header, self.module.metadata)
            elif key == "control-predecessors":
                predecessors = list(braced_list(cursor, self._reference))
            elif key in _NOT_KEPT:
                cursor.skip_value()
            else:
                known = [*op.attributes, *op_table.COMMON_ATTRIBUTES, "metadata", "control-predecessors"]
                raise cursor.error(
                    f"{op.opcode} has no attribute {key}", position=match.start(1), hint=did_you_mean(key, known)
                )
            cursor.skip()
        return metadata, predecessors
